"""Points that people give: taken in, kept, taken back, and never lost without a word."""

import pytest
from course.gradebook import Book
from course.sources import CourseError
from tiny_assignment import RIGHT
from tiny_course import KEY, NAME, texts

pytestmark = [pytest.mark.course, pytest.mark.sandbox]


@pytest.mark.usefixtures("never")
def test_points_given_by_hand_are_taken_in(course):
    course.set_points("ada", "2,5", "=well said")
    course.grade()
    assert course.points()["ada"] == ("3", "2", "2.5")
    [row] = [row for row in course.table() if row["student"] == "ada" and row["points"] == "2.5"]
    assert (row["status"], row["comment"]) == ("graded", "'=well said")
    assert [row["Grade"] for row in course.table("moodle.csv")] == ["7.5", "", ""]
    assert "well said" in course.page("ada")
    before = (course.out / "manual.csv").read_bytes()
    course.grade()
    assert (course.out / "manual.csv").read_bytes() == before
    course.set_points("ada", "1", "on second thoughts")
    course.grade()
    assert course.points()["ada"] == ("3", "2", "1")


def test_points_for_a_former_hand_in_are_kept_but_not_given(course):
    course.set_points("ada", "2")
    course.grade()
    course.hand_in("ada", texts(RIGHT) | {"a0-words": "Something else."})
    course.grade()
    assert course.points()["ada"] == ("3", "2", "")
    assert sorted(row["points"] for row in course.table("manual.csv")) == ["", "", "", "2"]


@pytest.mark.usefixtures("never")
def test_points_given_in_the_formgrader_are_kept(course):
    with Book(course.course) as book:
        book.give(KEY, NAME, "cleo", "a0-words", 1.5, "short")
        book.give(KEY, NAME, "cleo", "a0-spread-test-1", 1.0, "")
    course.grade()
    assert course.points()["cleo"] == ("3", "2", "1.5")
    told = [row["comment"] for row in course.table() if row["student"] == "cleo"]
    assert "points were changed by hand" in told[1]
    assert told[2] == "short"
    assert {row["cell"]: row["points"] for row in course.table("manual.csv") if row["points"]} == {
        "a0-words": "1.5",
        "a0-spread-test-1": "1",
    }


@pytest.mark.usefixtures("never")
def test_wrong_points_change_nothing(course):
    before = (course.out / "grades.csv").read_bytes()
    course.set_points("ada", "4")
    with pytest.raises(CourseError, match="4 points are not from 0 to 3"):
        course.grade()
    assert (course.out / "grades.csv").read_bytes() == before


def without_row(course, cell):
    """Delete a cell's row from the table."""
    path = course.out / "manual.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(line for line in lines if f",{cell}," not in line), encoding="utf-8")


def with_row(course, line):
    """Add a row to the table."""
    with open(course.out / "manual.csv", "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


@pytest.mark.usefixtures("never")
def test_points_that_are_cleared_are_taken_back(course):
    course.set_points("ada", "2", "good")
    with_row(course, "bo,a0-mean,a0-mean-test-1,2,2,typo only,")
    course.grade()
    assert (course.points()["ada"], course.points()["bo"]) == (("3", "2", "2"), ("3", "1", ""))
    course.set_points("ada", "")
    without_row(course, "a0-mean-test-1")
    for _ in range(2):
        course.grade()
        assert (course.points()["ada"], course.points()["bo"]) == (("3", "2", ""), ("1", "1", ""))
        assert not [row for row in course.table("manual.csv") if row["points"] or row["comment"]]
    assert "typo only" not in course.page("bo")


@pytest.mark.usefixtures("never")
def test_a_table_that_is_gone_takes_nothing_back(course):
    course.set_points("ada", "2", "good")
    with_row(course, "bo,a0-mean,a0-mean-test-1,2,2,typo only,")
    course.grade()
    before = course.table("manual.csv")
    (course.out / "manual.csv").unlink()
    course.grade()
    assert course.table("manual.csv") == before
    assert course.points()["bo"] == ("3", "1", "")


@pytest.mark.usefixtures("never")
def test_what_the_formgrader_changed_meanwhile_is_not_taken_back(course):
    course.set_points("ada", "2")
    course.grade()
    course.set_points("ada", "")
    with Book(course.course) as book:
        book.give(KEY, NAME, "ada", "a0-words", 1.0, "")
    course.grade()
    assert course.points()["ada"] == ("3", "2", "1")


@pytest.mark.usefixtures("never")
def test_what_is_said_of_a_test_reaches_the_student(course):
    with_row(course, "bo,a0-mean,a0-mean-test-1,1.5,2,typo only,")
    course.grade()
    told = next(row["comment"] for row in course.table() if row["student"] == "bo")
    assert told.endswith("points were changed by hand: typo only")
    assert "typo only" in course.page("bo")


@pytest.mark.usefixtures("never")
def test_points_for_nobody_are_told(course):
    with_row(course, "ZoÃ«,a0-words,a0-words,2,3,,abc")
    with_row(course, "Bo,a0-words,a0-words,,3,,abc")
    for _ in range(2):
        _, report = course.grade()
        assert [line for line in report if line.startswith("not used")] == [
            "not used: 2 points for a0-words of 'ZoÃ«' in manual.csv: "
            "nobody of this name has handed in"
        ]


@pytest.mark.usefixtures("never")
def test_tables_that_a_spreadsheet_opens_say_that_they_are_in_utf_8(course):
    for name in ("manual.csv", "grades.csv"):
        assert (course.out / name).read_bytes().startswith(b"\xef\xbb\xbfstudent,"), name
    for name in ("moodle.csv", "canvas.csv"):
        assert not (course.out / name).read_bytes().startswith(b"\xef"), name
    (course.out / "manual.csv").write_bytes("student,Zoë".encode("cp1252"))
    with pytest.raises(CourseError, match=r"manual\.csv is not in UTF-8: save it anew as CSV"):
        course.grade()

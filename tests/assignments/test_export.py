"""The tables: what spreadsheets, Moodle and Canvas make of them, and points given by hand."""

import csv
import re

import pytest
from course import export, manual
from course.marks import Row, Total
from course.sources import CourseError

WHEN = "2026-02-03T04:05:06+00:00"
TOTALS = [
    Total("ada", "Ada B", "12", "", 7.5, WHEN, "a0-mean: wrong, twice"),
    Total("bo", "bo", "", "34", None, WHEN, ""),
    Total("cleo", "=cleo", "", "", 0.0, WHEN, "-1 for nothing"),
]
TITLE = "Assignment 0: means, and spreads"


def table(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def test_grades_say_all_that_is_known(tmp_path):
    row = Row("ada", "a0", "a0-mean", None, 3, "=1+1", "to be graded by hand", WHEN)
    export.write_grades(tmp_path / "grades.csv", [row])
    head, line = table(tmp_path / "grades.csv")
    assert ",".join(head) == "student,assignment,question,points,max,comment,status,graded"
    assert line == ["ada", "a0", "a0-mean", "", "3", "'=1+1", "to be graded by hand", WHEN]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n=1"])
def test_no_text_is_a_formula(text):
    assert export.harmless(text) == f"'{text}"


def test_other_texts_stay(tmp_path):
    for text in ("right", "a=b", "1 of 2", "", "Zoë"):
        assert export.harmless(text) == text


def moodle_import(path, most):
    """What Moodle's importer takes from a worksheet: {participant: (grade, comment)}."""
    head, *lines = table(path)
    where = {name: head.index(name) for name in ("Identifier", "Grade", "Last modified (grade)")}
    taken = {}
    for line in lines:
        number = line[where["Identifier"]][len("Participant ") :]
        grade = line[where["Grade"]]
        if re.fullmatch(r"\d+", number) and grade and 0 <= float(grade) <= most:
            taken[number] = (float(grade), line[head.index("Feedback comments")])
    return taken


def test_moodle_takes_the_worksheet(tmp_path):
    export.write_moodle(tmp_path / "moodle.csv", TOTALS)
    assert moodle_import(tmp_path / "moodle.csv", 8) == {"12": (7.5, "a0-mean: wrong, twice")}
    assert table(tmp_path / "moodle.csv")[3][1] == "'=cleo"


def canvas_import(path):
    """What Canvas's importer takes: ({assignment: points possible}, {student: grade})."""
    head, *lines = table(path)
    assert len(head) > 3
    assert "Student" in head[0]
    assert "ID" in head[1]
    known = 3  # name, ID and Section
    if head[2] == "SIS User ID" and head[3] == "SIS Login ID":
        known += 2
    assert "Section" in head[known - 1]
    possible, grades = {}, {}
    for line in lines:
        for place, title in enumerate(head[known:], start=known):
            if "Points Possible" in line[0]:
                possible[title] = line[place]
            else:
                grades[line[1] or line[3]] = line[place]
    return possible, grades


def test_canvas_takes_the_table(tmp_path):
    export.write_canvas(tmp_path / "canvas.csv", TOTALS, TITLE, 8)
    possible, grades = canvas_import(tmp_path / "canvas.csv")
    assert possible == {TITLE: "8"}
    assert grades == {"34": "", "Ada B": "7.5", "'=cleo": "0"}


MAXIMA = {"a0-words": 3.0, "a0-mean-test-1": 2.0}
EMPTY = manual.Row("ada", "a0-words", "a0-words", None, 3.0, "", "abc123")
HEAD = ",".join(manual.COLUMNS)


def test_a_table_of_points_comes_back_as_it_was(tmp_path):
    path = tmp_path / "manual.csv"
    row = manual.Row("bo", "a0-words", "a0-words", 2.5, 3.0, "well, nearly", "def456")
    manual.write(path, [row, EMPTY])
    assert manual.read(path, MAXIMA) == [EMPTY, row]


@pytest.mark.parametrize("comma", [",", ";", "\t"])
def test_a_table_saved_by_a_spreadsheet_is_read(tmp_path, comma):
    path = tmp_path / "manual.csv"
    lines = (manual.COLUMNS, ("ada", "a0-words", "a0-words", '"2,5"', "3", "good", "abc123"), ())
    text = "\r\n".join(comma.join(line) for line in lines)
    path.write_text("\N{BYTE ORDER MARK}" + text, encoding="utf-8", newline="")
    [row] = manual.read(path, MAXIMA)
    assert (row.points, row.comment) == (2.5, "good")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ada,a0-words,a0-words,4,3,,abc", "line 2: 4 points are not from 0 to 3"),
        ("ada,a0-words,a0-words,-1,3,,abc", "line 2: -1 points are not from 0 to 3"),
        ("ada,a0-words,a0-words,nan,3,,abc", "line 2: nan points are not from 0 to 3"),
        ("ada,a0-words,a0-words,good,3,,abc", "line 2: 'good' is no number of points"),
        ("ada,a0-words,a0-word,1,3,,abc", "line 2: 'a0-word' is no graded cell"),
    ],
)
def test_wrong_points_are_told_with_their_line(tmp_path, line, told):
    path = tmp_path / "manual.csv"
    path.write_text(f"{HEAD}\n{line}\n")
    with pytest.raises(CourseError, match=re.escape(told)):
        manual.read(path, MAXIMA)


def test_a_table_without_its_columns_is_refused(tmp_path):
    path = tmp_path / "manual.csv"
    path.write_text("student,points\nada,1\n")
    with pytest.raises(CourseError, match="lacks question, cell, max, comment, submission"):
        manual.read(path, MAXIMA)


def test_joining_keeps_the_points_of_the_first_and_loses_none():
    given = manual.Row("ada", "a0-words", "a0-words", 2.0, 3.0, "good", "abc123")
    other = manual.Row("ada", "a0-words", "a0-words", 1.0, 3.0, "bad", "abc123")
    former = manual.Row("ada", "a0-words", "a0-words", 3.0, 3.0, "", "000000")
    assert manual.joined([EMPTY], [given]) == [given]
    assert manual.joined([given], [other]) == [given]
    assert set(manual.joined([EMPTY], [former])) == {EMPTY, former}

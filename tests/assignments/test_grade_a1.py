"""Assignment 1, graded once with all honest and hostile hand-ins: points, statuses, pages."""

import csv
import html
import sqlite3
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest
from course import sandbox
from course.collect import collect
from course.feedback import LEFT_OUT, hidden_lines
from course.grade import Settings, grade
from course.gradebook import Book
from course.mutation import answers
from course.release import release
from course.results import Store
from course.sources import find
from notebooks import ROOT, read
from submissions import CASES, LEFT, Case, replacing, write

pytestmark = [pytest.mark.course, pytest.mark.sandbox]

CELL = 8  # seconds, so that endless code does not take long here
PLANTED = "planted-by-a-student.txt"
Graded = namedtuple("Graded", "assignment out course rows report store cases students")


def known_answers():
    """Hand-ins with the known wrong and right answers, one to each question at a time."""
    cases = []
    for kind, texts in zip(("wrong", "right"), answers("a1"), strict=True):
        for n in range(max(map(len, texts.values()))):
            labels = {name: list(given)[n] for name, given in texts.items() if n < len(given)}
            change = {name.replace("-", "_"): texts[name][label] for name, label in labels.items()}
            left = {name: LEFT[name][label] for name, label in labels.items() if kind == "wrong"}
            cases.append(Case(f"{kind}-{n}", replacing(**change), left))
    return cases


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """All hand-ins, graded in one run."""
    folder = tmp_path_factory.mktemp("course")
    course, hand_ins, out = folder / "course", folder / "submissions", folder / "out"
    (assignment,) = find(["a1"])
    released = read(release(assignment, ROOT, course, folder / "handouts"))
    solutions = {one.name: one.solution.source for one in assignment.questions}
    cases = [*CASES, *known_answers()]
    for case in cases:
        write(case, hand_ins, released, solutions, course)
    (hand_ins / "link_a1_attention.ipynb").symlink_to(assignment.path)
    (hand_ins / "a1_attention.ipynb").write_text("{}")
    settings = Settings(course, limits=sandbox.Limits(cell=CELL), bar=False)
    complete, report = grade("a1", hand_ins, out, settings)
    assert complete, report
    with open(out / "grades.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    store = Store(course, "a1", assignment.name)
    found, _ = collect(hand_ins, assignment.name)
    students = {one.files[0].relative_to(hand_ins).as_posix(): one.student for one in found}
    students = {case.student: students[case.file()] for case in cases}
    return Graded(assignment, out, course, rows, report, store, cases, students)


def rows_of(graded, case):
    """The rows of a case's student, by question."""
    student = graded.students[case.student]
    return {row["question"]: row for row in graded.rows if row["student"] == student}


def test_every_hand_in_gets_the_points_stated_for_it(graded):
    largest = {one.name: one.points for one in graded.assignment.questions}
    stated = {case.student: largest | case.points for case in graded.cases}
    came = {
        case.student: {name: float(row["points"]) for name, row in rows_of(graded, case).items()}
        for case in graded.cases
    }
    assert came == stated


def test_every_question_gets_the_status_stated_for_it(graded):
    ordinary = dict.fromkeys((one.name for one in graded.assignment.questions), "graded")
    stated = {case.student: ordinary | case.status for case in graded.cases}
    came = {
        case.student: {name: row["status"] for name, row in rows_of(graded, case).items()}
        for case in graded.cases
    }
    assert came == stated


def test_wrong_answers_lose_points(graded):
    for question in graded.assignment.questions:
        assert max(LEFT[question.name].values()) < question.points


@pytest.mark.parametrize(
    ("student", "question", "words"),
    [
        ("endless", "a1-half-scores", f"took longer than {CELL} s"),
        ("ends-python", "a1-key-effects", "the code ended Python"),
        ("kills", "a1-scale", "the answer's own cell: the code ended Python"),
        ("100-gb", "a1-softmax", "MemoryError"),
        ("no-python", "a1-scale", "the answer's own cell: SyntaxError"),
        ("floods", "a1-half-scores", "printed more than 10 MB"),
        ("blank", "a1-zero-key", "not attempted"),
        ("patches", "a1-softmax", "the comparison functions were changed"),
        ("no-code", "a1-softmax", "the test did not run to its end"),
        ("edits-tests", "a1-half-scores", "a1-half-scores-test-1 had been edited"),
        ("deletes-tests", "a1-half-scores", "a1-half-scores-test-1 was missing"),
        ("deep", "a1-softmax", "it is no notebook"),
    ],
)
def test_the_reason_is_told(graded, student, question, words):
    (case,) = [case for case in CASES if case.student == student]
    assert words in rows_of(graded, case)[question]["comment"]


def test_what_was_left_aside_is_told(graded):
    aside = [line for line in graded.report if line.startswith("left aside")]
    assert aside == [
        "left aside: a1_attention.ipynb: its name tells no student",
        "left aside: link_a1_attention.ipynb: a link is not followed",
    ]


def test_students_names_cannot_lead_out_of_a_folder(graded):
    pages = {page.stem for page in (graded.out / "feedback").iterdir()}
    assert pages == set(graded.students.values())
    assert len(pages) == len(graded.cases)
    assert not [name for name in pages if set(name) & set('/\\=:"') or name.startswith(".")]


def test_no_cell_begins_as_a_formula(graded):
    for table in ("grades.csv", "moodle.csv", "canvas.csv"):
        with open(graded.out / table, newline="", encoding="utf-8") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert not [cell for cell in cells if cell.lstrip().startswith(tuple("=+-@"))]
    assert "'=HYPERLINK(1)" in (graded.out / "canvas.csv").read_text(encoding="utf-8")


def printed(graded, student):
    """All that the cells of a hand-in printed."""
    executed = graded.store.executed(graded.students[student])
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_spies_find_no_files(graded):
    assert "SEEN" in printed(graded, "spies")
    assert "FOUND" not in printed(graded, "spies")


def test_pages_show_no_hidden_test(graded):
    lines = hidden_lines(graded.assignment.notebook)
    spied = ""
    for student in graded.students.values():
        page = (graded.out / "feedback" / f"{student}.html").read_text(encoding="utf-8")
        plain = html.unescape(page)
        assert not [line for line in lines if line in plain]
        if student == graded.students["spies"]:
            spied = page
    assert LEFT_OUT in spied  # it had something to leave out


def test_pages_name_questions_by_their_headings_and_give_a_reason_once(graded):
    student = graded.students["100-gb"]
    page = (graded.out / "feedback" / f"{student}.html").read_text(encoding="utf-8")
    assert "<h2>1. Softmax along any axis</h2>" in page
    assert "a1-softmax</" not in page
    summary, tests = page.partition("</table>")[::2]
    (case,) = [case for case in CASES if case.student == "100-gb"]
    assert "MemoryError" in rows_of(graded, case)["a1-softmax"]["comment"]
    assert "MemoryError" not in summary
    assert "MemoryError" in tests
    edited = (graded.out / "feedback" / f"{graded.students['edits-tests']}.html").read_text("utf-8")
    assert edited.partition("</table>")[0].count("a1-half-scores-test-1 had been edited") == 1


def test_pages_run_no_code_of_students(graded):
    student = graded.students["=HYPERLINK(1)"]
    page = (graded.out / "feedback" / f"{student}.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_students_write_nothing_outside_their_box(graded):
    assert printed(graded, "writes") == "tried\n"
    places = [graded.course, graded.course.parent, ROOT, Path("/"), Path("/etc"), Path("/usr")]
    places += [Path("/tmp"), Path("/var/tmp"), Path.home()]
    assert not [place for place in places if (place / PLANTED).exists()]
    assert not list(graded.course.rglob(PLANTED))


def test_a_flood_is_not_kept(graded):
    for student in ("gigabyte", "floods"):
        path = graded.course / "autograded" / graded.students[student] / "a1"
        assert sum(file.stat().st_size for file in path.iterdir()) < 1_000_000


def test_the_gradebook_is_whole_and_says_the_same(graded):
    with closing(sqlite3.connect(graded.course / "gradebook.db")) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Book(graded.course) as book:
        assert book.students("a1") == sorted(graded.students.values())
        for case in graded.cases:
            scores = book.scores("a1", graded.assignment.name, graded.students[case.student])
            total = sum(float(row["points"]) for row in rows_of(graded, case).values())
            assert sum(score.points for score in scores.values()) == total


def test_platforms_get_the_numbers_of_their_users(graded):
    with open(graded.out / "moodle.csv", newline="", encoding="utf-8") as file:
        [moodle] = [line for line in csv.DictReader(file) if line["Identifier"]]
    assert (moodle["Identifier"], moodle["Full name"]) == ("Participant 4711", "Ada Lovelace")
    assert moodle["Grade"] == "20"
    with open(graded.out / "canvas.csv", newline="", encoding="utf-8") as file:
        canvas = [line for line in csv.DictReader(file) if line["ID"]]
    assert [(line["ID"], line["SIS Login ID"]) for line in canvas] == [("815", "")]
    assert canvas[0][graded.assignment.title] == "20"

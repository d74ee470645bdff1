"""Runs of the grader after one another: nothing twice, nothing stale, nothing lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import nbformat.v4 as v4
import psutil
import pytest
from course import attempt, grade, sandbox
from course.gradebook import Book
from course.marks import NOT_GRADED
from course.sources import CourseError
from notebooks import ROOT, read, to_text
from tiny_assignment import RIGHT, WRONG, tiny_assignment, write_tiny
from tiny_course import HAND_INS, KEY, NAME, POINTS, texts

pytestmark = [pytest.mark.course, pytest.mark.sandbox]


@pytest.fixture
def failing(monkeypatch):
    """Every attempt fails, as it does when no kernel starts."""
    monkeypatch.setattr(grade, "_finished", lambda *_: (grade._not_graded("no kernel"), None))


def test_the_first_run_gives_these_points(course):
    course.grade()
    assert course.points() == POINTS
    assert {row["status"] for row in course.table() if row["question"] == "a0-words"} == {
        "to be graded by hand"
    }
    assert [row["Grade"] for row in course.table("moodle.csv")] == ["", "", ""]


@pytest.mark.usefixtures("never")
def test_a_second_run_grades_nothing_and_writes_the_same(course):
    before = {path.name: path.read_bytes() for path in course.out.glob("*.*")}
    course.grade()
    assert {path.name: path.read_bytes() for path in course.out.glob("*.*")} == before
    assert len(before) == 7  # one is the copy of manual.csv


def test_another_course_gives_the_same_but_for_the_time(course):
    before = course.table()
    shutil.rmtree(course.course / "results")
    time.sleep(1.1)  # the time has seconds
    course.grade()
    after = course.table()
    assert all(one["graded"] < other["graded"] for one, other in zip(before, after, strict=True))
    assert [{**row, "graded": ""} for row in after] == [{**row, "graded": ""} for row in before]


def test_a_new_hand_in_is_graded_alone(course):
    before = {row["student"]: row["graded"] for row in course.table()}
    course.hand_in("bo", texts(RIGHT))
    time.sleep(1.1)
    course.grade()
    after = {row["student"]: row["graded"] for row in course.table()}
    assert course.points()["bo"] == ("3", "2", "")
    assert [student for student in before if before[student] != after[student]] == ["bo"]


@pytest.mark.usefixtures("failing")
def test_no_old_score_is_left_when_grading_fails(course):
    course.hand_in("ada", texts(WRONG))
    complete, report = course.grade()
    assert not complete
    assert course.points() == POINTS | {"ada": ("", "", "")}
    rows = [row for row in course.table() if row["student"] == "ada"]
    assert {(row["status"], row["comment"]) for row in rows} == {(NOT_GRADED, "no kernel")}
    assert report[0] == "ada: – of 8, no file; not graded; no kernel"
    with Book(course.course) as book:
        assert book.students(KEY) == ["bo", "cleo"]
    assert not (course.course / "autograded" / "ada" / KEY).exists()


@pytest.mark.usefixtures("failing")
def test_what_failed_is_tried_again(course, monkeypatch):
    course.hand_in("ada", texts(WRONG))
    course.grade()
    monkeypatch.undo()
    complete, _ = course.grade()
    assert complete
    assert course.points()["ada"] == ("1", "1", "")


KILLED = """
import sys
sys.path[:0] = [{tools!r}]
from pathlib import Path
from course.grade import Settings, grade
root = Path({root!r})
grade("a0", root / "submissions", root / "out", Settings(root / "_build" / "course", root))
"""


def test_a_run_that_was_killed_is_resumed(course):
    for n in range(6):
        course.hand_in(f"new{n}", texts(RIGHT))
    slow = {"a0-mean": "import time; time.sleep(120)"}
    course.hand_in("new0", texts(RIGHT) | slow)  # still running when the run is killed
    command = KILLED.format(tools=str(ROOT / "tools"), root=str(course.root))
    results = course.course / "results" / KEY
    with subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.DEVNULL) as process:
        _wait(lambda: len(list(results.glob("new*.json"))) >= 2 or process.poll() is not None)
        assert process.poll() is None
        family = psutil.Process(process.pid).children(recursive=True)
        assert family
        process.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(family, timeout=15)
    assert not alive  # neither graders nor boxes
    course.hand_in("new0", texts(RIGHT))
    done = {path.stem: json.loads(path.read_text())["graded"] for path in results.glob("*.json")}
    assert 5 <= len(done) < 9
    assert course.integrity() == "ok"
    complete, _ = course.grade()
    assert complete
    assert course.points() == POINTS | {f"new{n}": ("3", "2", "") for n in range(6)}
    for row in course.table():
        assert row["graded"] == done.get(row["student"], row["graded"])
    assert course.integrity() == "ok"


def _wait(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_half_written_record_is_graded_again(course):
    record = course.course / "results" / KEY / "ada.json"
    record.write_text(record.read_text()[:40])
    course.grade()
    assert course.points() == POINTS


def test_a_changed_assignment_is_graded_again(course):
    notebook = tiny_assignment()
    for cell in notebook.cells:
        if cell.id == "a0-mean-test-1":
            cell.metadata.nbgrader["points"] = 4
    write_tiny(course.root, notebook)
    course.grade()
    assert course.points() == {"ada": ("5", "2", ""), "bo": ("1", "1", ""), "cleo": ("5", "1", "")}


def test_no_answer_is_no_work_for_the_teacher(course):
    course.hand_in("dan", {})
    course.grade()
    assert course.points()["dan"] == ("0", "0", "0")
    assert [row["comment"] for row in course.table() if row["student"] == "dan"][2] == "no answer"
    assert "dan" not in {row["student"] for row in course.table("manual.csv")}


@pytest.mark.usefixtures("never")
def test_pages_are_held_until_asked_for(course):
    assert "2 of 2" in course.page("ada")
    course.grade(hold=True)
    assert [course.page(student) for student in HAND_INS] == [None, None, None]
    assert course.points() == POINTS
    course.grade()
    assert "Points: not complete yet" in course.page("ada")


def test_teachers_read_the_written_answers_on_one_page(course):
    page = (course.out / "answers.html").read_text(encoding="utf-8")
    assert page.count("The mean forgets &lt;b&gt;everything&lt;/b&gt;.") == 3


def test_no_script_of_a_student_reaches_the_formgrader(course):
    executed = course.course / "autograded" / "ada" / KEY / f"{NAME}.ipynb"
    words = next(cell for cell in read(executed).cells if cell.id == "a0-words")
    assert words.source == "The mean forgets &lt;b>everything&lt;/b>."


def test_of_several_notebooks_the_one_that_fits_is_taken(course):
    text = (course.hand_ins / f"ada_{NAME}.ipynb").read_text()
    folder = course.hand_ins / "eva"
    folder.mkdir()
    (folder / "a first.ipynb").write_text(text)
    (folder / "b second.ipynb").write_text(text)
    (folder / "c notes.ipynb").write_text('{"cells": [], "nbformat": 4, "metadata": {}}')
    _, report = course.grade()
    assert report[-1].startswith("eva: – of 8, b second.ipynb")
    assert course.points()["eva"] == ("3", "2", "")


def test_two_runs_at_once_are_refused(course):
    with grade._alone(course.course), pytest.raises(CourseError, match="being graded already"):
        course.grade()


def test_a_grader_that_hangs_does_not_stop_the_others(course, monkeypatch):
    course.hand_in("ada", texts(WRONG))
    monkeypatch.setattr(grade, "_START", "import time; time.sleep(60)")
    monkeypatch.setattr(grade, "SLACK", 1.0)
    complete, report = course.grade(limits=sandbox.Limits(submission=1.0))
    assert not complete
    assert report[0] == "ada: – of 8, no file; not graded; the grader gave up after 2 s"


def test_a_slow_machine_costs_no_points(tmp_path):
    notebook = tiny_assignment()
    notebook.cells.insert(2, v4.new_code_cell("import time\ntime.sleep(30)"))
    path = tmp_path / "ada.ipynb"
    path.write_text(to_text(notebook))
    limits = sandbox.Limits(cell=3.0)
    with pytest.raises(attempt.NoKernel, match="given took longer than 3 s: this machine may be"):
        attempt.grade_files([path], notebook, notebook, limits)


def test_without_a_sandbox_the_points_are_the_same(course):
    for student in ("ada", "cleo"):
        (course.hand_ins / f"{student}_{NAME}.ipynb").unlink()
    course.grade(unsafe=True)
    assert course.points() == {"bo": POINTS["bo"]}


def test_the_command_says_what_it_wrote(course, monkeypatch, capsys):
    from course.__main__ import main

    arguments = [KEY, str(course.hand_ins), "--out", str(course.out), "--hold"]
    monkeypatch.setattr(grade.run, "__defaults__", (course.root,))
    assert main(["grade", *arguments]) == 0
    told = capsys.readouterr().out
    assert f"ada: – of 8, ada_{NAME}.ipynb; graded, to be graded by hand" in told
    assert f"{course.out}: grades.csv and more" in told
    for wrong in ([KEY, os.devnull], [KEY, ""], ["", str(course.hand_ins)]):
        assert main(["grade", *wrong]) == 1

"""What the checks write down of a chapter, what is kept of it, and what is refused."""

import json
import shutil
import subprocess
import sys
from types import SimpleNamespace

import keep_health
import nbformat
import pytest
from check_reports import Recorder, assertions
from health import EXECUTED, KEPT, REPORTS, newest, read_kept, read_reports
from nbformat import v4
from notebooks import ROOT

RIGHT, WRONG = "07_right", "08_wrong"
CHECKS = """\
import pytest


def test_two(checked):
    checked("chapters/07_right.ipynb", "widgets", 2)
    checked("chapters/99_other", "widgets", 9)


@pytest.mark.parametrize("name", ["07_right", "08_wrong"])
def test_three(name, checked):
    checked(name, "widgets", 3)
    assert name == "07_right"
"""


def notebook(printed="1\n"):
    """Three code cells with two outputs that are compared, one that is not, two assertions."""
    cells = [
        v4.new_markdown_cell("# Small", id="title"),
        _cell("print(1)\nassert True", "one", printed),
        _cell("print(2)\nassert 2 > 1", "two", "2\n"),
        _cell("import time\nprint(time.time())", "time", "0\n"),
    ]
    cells[3].metadata["tags"] = ["nbval-ignore-output"]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return v4.new_notebook(cells=cells, metadata=metadata)


def _cell(source, name, text):
    output = v4.new_output("stream", name="stdout", text=text)
    return v4.new_code_cell(source, id=name, execution_count=1, outputs=[output])


def a_book(folder):
    """A book of two chapters, of which one prints what is stored, under this book's plugins."""
    for name in ("chapters", "book", "tools"):
        (folder / name).mkdir()
    for name in ("check_reports.py", "nbval_complete.py", "notebooks.py"):
        shutil.copy(ROOT / "tools" / name, folder / "tools")  # they look for chapters beside them
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = tools\n")
    (folder / "conftest.py").write_text('pytest_plugins = ["nbval_complete", "check_reports"]\n')
    (folder / "test_them.py").write_text(CHECKS)
    nbformat.write(notebook(), folder / "chapters" / f"{RIGHT}.ipynb")
    nbformat.write(notebook(printed="3\n"), folder / "chapters" / f"{WRONG}.ipynb")
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The reports of a run of nbval and the tests on two workers."""
    book = a_book(tmp_path_factory.mktemp("checked"))
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses=2", "--dist=loadfile"]
    command += ["--nbval", "--nbval-current-env", "--reports", REPORTS]
    done = subprocess.run(command, cwd=book, capture_output=True, text=True, timeout=300)
    assert "2 failed, 7 passed" in done.stdout, done.stdout
    return read_reports(book / REPORTS)


def test_a_right_run_is_written_down(found):
    assert set(found) == {RIGHT, WRONG}  # and nothing of a chapter that is not there
    run, widgets = found[RIGHT][EXECUTED], found[RIGHT]["widgets"]
    assert (run["cells"], run["count"], run["assertions"], run["failed"]) == (3, 2, 2, 0)
    assert run["seconds"] >= 0
    assert run["versions"]["python"] == sys.version.split()[0]
    assert run["versions"]["numpy"].count(".") == 2
    assert (widgets["count"], widgets["failed"]) == (3, 0)


def test_a_wrong_run_is_written_down(found):
    run, widgets = found[WRONG][EXECUTED], found[WRONG]["widgets"]
    assert (run["cells"], run["count"], run["assertions"], run["failed"]) == (3, 1, 1, 1)
    assert (widgets["count"], widgets["failed"]) == (3, 1)


@pytest.fixture
def recorded(tmp_path):
    """A book, and a function that records the named cells of a chapter as passed."""
    book = a_book(tmp_path)
    recorder = Recorder(book / REPORTS, book)

    def record(chapter, *cells):
        for cell in cells:
            name = f"chapters/{chapter}.ipynb::Cell {cell}"
            facts = {"when": "call", "duration": 0.25, "passed": True, "failed": False}
            recorder.pytest_runtest_logreport(
                SimpleNamespace(nodeid=name, user_properties=[], **facts)
            )
        return recorder

    return book, record


def test_a_chapter_that_ran_in_part_has_no_report(recorded):
    book, record = recorded
    record(RIGHT, 0, 2)
    record(WRONG, 0, 1, 2).pytest_sessionfinish()
    reports = read_reports(book / REPORTS)
    assert set(reports) == {WRONG}
    assert reports[WRONG][EXECUTED]["seconds"] == 0.8


def test_a_chapter_that_changes_while_it_is_checked_has_no_report(recorded):
    book, record = recorded
    recorder = record(RIGHT, 0, 1, 2)
    nbformat.write(notebook(printed="4\n"), book / "chapters" / f"{RIGHT}.ipynb")
    recorder.pytest_sessionfinish()
    assert read_reports(book / REPORTS) == {}


def test_a_verified_run_is_kept_and_chapters_that_went_are_dropped(recorded):
    book, record = recorded
    old = {"when": "2026-01-01T00:00:00+00:00", "failed": 0}
    kept = {"99_gone": {"links": old}, WRONG: {"links": old}, RIGHT: {EXECUTED: old}}
    (book / KEPT).write_text(json.dumps(kept))
    record(RIGHT, 0, 1, 2).pytest_sessionfinish()
    assert keep_health.keep(book) == []
    kept = read_kept(book / KEPT)
    assert kept == {WRONG: {"links": old}, RIGHT: read_reports(book / REPORTS)[RIGHT]}


def failed(book):
    file = book / REPORTS / EXECUTED / f"{RIGHT}.json"
    file.write_text(file.read_text().replace('"failed": 0', '"failed": 2'))


def changed(book):
    nbformat.write(notebook(printed="4\n"), book / "chapters" / f"{RIGHT}.ipynb")


def gone(book):
    (book / "chapters" / f"{RIGHT}.ipynb").unlink()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (failed, f"{RIGHT}: {EXECUTED}: 2 failed"),
        (changed, f"{RIGHT}: {EXECUTED}: the chapter has changed since"),
        (gone, f"{RIGHT}: there is no such chapter"),
    ],
)
def test_what_was_not_verified_is_refused_and_nothing_is_written(recorded, fault, words):
    book, record = recorded
    record(RIGHT, 0, 1, 2).pytest_sessionfinish()
    (book / KEPT).write_text("{}")
    fault(book)
    assert keep_health.keep(book) == [words]
    assert (book / KEPT).read_text() == "{}"


def test_without_reports_there_is_nothing_to_keep(recorded):
    assert keep_health.keep(recorded[0]) == ["no reports: make test"]


def test_the_newest_facts_are_taken():
    old, new = {"when": "2026-01-01T00:00:00+00:00"}, {"when": "2026-02-01T00:00:00+00:00"}
    both = {"a": {"x": new, "y": old}}
    assert newest({"a": {"x": new}}, {"a": {"x": old, "y": old}}) == both
    assert newest({"a": {"x": old, "y": old}}, {"a": {"x": new}}) == both


def test_assertions_in_strings_do_not_count():
    assert assertions('"""assert x"""\nprint("assert")\n%time assert 1') == 0

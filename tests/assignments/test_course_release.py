"""Student versions: what they have, what they lack, and when nothing is written."""

import json
import shutil
import sqlite3
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from course import release, validate
from course.__main__ import main
from course.hidden import CHANGED, course_secret, passed
from course.sources import CourseError, load
from notebooks import read
from setup_cell import repository
from tiny_assignment import MEAN, MEAN_TESTS, graded, write_tiny

pytestmark = pytest.mark.course
if find_spec("nbgrader"):
    from nbgrader.api import Gradebook


def cells(path):
    return {cell.id: cell for cell in read(path).cells}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A repository in which the tiny assignment was released; tests only read it."""
    root = tmp_path_factory.mktemp("done")
    release.release(load(write_tiny(root)), root)
    return root


@pytest.fixture
def released(done):
    """The student version of the tiny assignment."""
    return done / release.HANDOUTS / "a0_means.ipynb"


@pytest.fixture
def again(done, tmp_path):
    """A copy of that repository, for what changes it."""
    return Path(shutil.copytree(done, tmp_path / "again"))


def test_students_get_the_stub_the_check_and_the_comment(released):
    found = cells(released)
    stub = MEAN.partition("    ### BEGIN SOLUTION")[0] + f"    {release.STUB}"
    assert found["a0-mean"].source == stub
    assert found["a0-mean-check"].source == "bool(mean_of_rows([[1, 3]]) == [2.0])"
    assert found["a0-mean-test-1"].source == "# Grades two rows, within 1e-6."
    assert found["a0-words"].source == release.ANSWER
    assert found["a0-mean-test-1"].metadata.nbgrader.points == 2
    for name in ("a0-mean-check", "a0-mean-test-1"):
        assert found[name].metadata.editable is False
    for name in ("a0-mean", "a0-words"):
        assert "editable" not in found[name].metadata


def test_nothing_hidden_is_left(released, done):
    text = released.read_text(encoding="utf-8")
    for secret in ("totals_of_the_rows", MEAN_TESTS[0], "judge", "HIDDEN", "SOLUTION", CHANGED):
        assert secret not in text
    assert course_secret(done / release.COURSE) not in text


def test_a_link_opens_the_student_version_in_colab(released, done):
    second = list(cells(released).values())[1]
    # In two parts: an address of another book, typed here, would be taken for a forgotten one.
    address = "https://colab.research.google.com/github/" + (
        "ada/attention/blob/gh-pages/assignments/"
    )
    assert second.source == f"[**▶ Open in Colab**]({address}a0_means.ipynb)"
    assert repository(done)[0] == "https://github.com/ada/attention"


def test_the_copy_for_nbgrader_is_the_same_file(released, done):
    copied = done / release.COURSE / "release" / "a0" / "a0_means.ipynb"
    assert copied.read_bytes() == released.read_bytes()


def test_another_run_gives_the_same_bytes(again):
    file = again / release.HANDOUTS / "a0_means.ipynb"
    before = file.read_bytes()
    file.unlink()
    assert release.release(load(again / "assignments" / "a0_means.ipynb"), again) == file
    assert file.read_bytes() == before
    left = [p.name for p in (again / release.COURSE).iterdir()]
    assert sorted(left) == ["gradebook.db", "release", "secret.txt", "source"]


def test_another_course_gives_the_same_bytes(released, done, tmp_path):
    tiny = load(done / "assignments" / "a0_means.ipynb")
    other = release.release(tiny, done, tmp_path / "course", tmp_path / "handouts")
    assert other.read_bytes() == released.read_bytes()


def test_the_gradebook_knows_the_points(done):
    with sqlite3.connect(done / release.COURSE / "gradebook.db") as book:
        rows = book.execute(
            "select name, max_score from grade_cells join base_cell using (id) order by name"
        ).fetchall()
    assert rows == [
        ("a0-mean-test-1", 2.0),
        ("a0-mean-test-2", 1.0),
        ("a0-spread-test-1", 1.0),
        ("a0-spread-test-2", 1.0),
        ("a0-words", 3.0),
    ]


def test_a_refusal_leaves_the_released_files(again):
    file = again / release.HANDOUTS / "a0_means.ipynb"
    before = file.read_bytes()
    notebook = read(again / "assignments" / "a0_means.ipynb")
    del next(c for c in notebook.cells if c.id == "a0-mean-test-1").metadata.nbgrader["points"]
    broken = load(write_tiny(again, notebook))  # past our own checks, to nbgrader's
    with pytest.raises(CourseError, match=r"(?s)nbgrader made no student version.*points"):
        release.release(broken, again)
    assert file.read_bytes() == before
    kept = again / release.COURSE / "source" / "a0" / "a0_means.ipynb"
    assert '"points": 2' in kept.read_text(encoding="utf-8")
    assert not list((again / release.COURSE).glob(".release-*"))


def test_a_former_name_is_not_graded_any_more(again):
    old = again / "assignments" / "a0_means.ipynb"
    release.release(load(old.rename(old.with_name("a0_averages.ipynb"))), again)
    for step in ("source", "release"):
        left = [p.name for p in (again / release.COURSE / step / "a0").iterdir()]
        assert left == ["a0_averages.ipynb"]
    assert [p.name for p in (again / release.HANDOUTS).iterdir()] == ["a0_averages.ipynb"]


def test_cells_are_not_added_once_students_have_handed_in(again):
    with Gradebook(f"sqlite:///{again / release.COURSE / 'gradebook.db'}") as book:
        book.add_student("ada")
        book.add_submission("a0", "ada")
    tiny = load(again / "assignments" / "a0_means.ipynb")
    release.release(tiny, again)  # the same cells: the grades stay
    with Gradebook(f"sqlite:///{again / release.COURSE / 'gradebook.db'}") as book:
        assert [one.student.id for one in book.assignment_submissions("a0")] == ["ada"]
    more = graded("a0-spread-test-3", "Grades more.", "judge.close(spread([1, 2]), 1)")
    tiny.notebook.cells.insert(-2, more)
    with pytest.raises(CourseError, match="there are submissions associated with it"):
        release.release(tiny, again)


def test_the_command_runs_the_solutions_once(root, monkeypatch, capsys):
    monkeypatch.setattr(release.run, "__defaults__", (root,))
    assert main(["assignments"]) == 0
    assert "A0 · Means and spreads, 8 points (solutions ran in" in capsys.readouterr().out
    monkeypatch.setattr(validate, "execute", None)  # would raise if it ran again
    assert main(["assignments", "a0"]) == 0
    assert "8 points (unchanged)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("a0-mean", "/ len(row)", "/ 3", "a0-mean-test-2: AssertionError"),
        ("a0-mean-check", "[2.0]", "[2.5]", "a0-mean-check: the check does not say that the"),
        ("a0-mean-test-2", "judge.shape", "raise SystemExit\njudge.shape", "a0-mean-test-2: Sys"),
        ("a0-spread", "np.max", "np.maxx", "a0-spread-check: AttributeError"),
    ],
)
def test_a_wrong_solution_releases_nothing(name, old, new, said, root, monkeypatch, capsys):
    notebook = read(root / "assignments" / "a0_means.ipynb")
    cell = next(cell for cell in notebook.cells if cell.id == name)
    assert old in cell.source
    cell.source = cell.source.replace(old, new)
    if name == "a0-mean":
        other = next(cell for cell in notebook.cells if cell.id == "a0-mean-test-2")
        other.source = other.source.replace("judge.shape", "judge.close").replace("(3,)", "0")
    write_tiny(root, notebook)
    monkeypatch.setattr(release.run, "__defaults__", (root,))
    assert main(["assignments"]) == 1
    assert said in capsys.readouterr().err
    assert not (root / release.HANDOUTS).exists()


def test_a_kernel_that_dies_is_told(root, monkeypatch, capsys):
    notebook = read(root / "assignments" / "a0_means.ipynb")
    notebook.cells[4].source = "import os\n\nos._exit(1)"
    write_tiny(root, notebook)
    monkeypatch.setattr(release.run, "__defaults__", (root,))
    assert main(["assignments"]) == 1
    assert "Kernel died" in capsys.readouterr().err


def test_the_stamp_follows_all_that_counts(root, assignment):
    first = validate.stamp(assignment, root)
    assert validate.stamp(assignment, root) == first
    (root / "src").mkdir()
    (root / "src" / "library.py").write_text("softmax = None\n")
    second = validate.stamp(assignment, root)
    assignment.notebook.cells[3].source += "\n"
    assert len({first, second, validate.stamp(assignment, root)}) == 3


def test_the_graders_copy_passes_its_own_tests(root, assignment):
    """Run as a submission would be: the tokens of this course's secret are shown."""
    secret = course_secret(root / release.COURSE)
    notebook = release.graders_copy(assignment, secret, root)
    validate.execute(notebook, root, allow_errors=True)
    assert list(validate.problems_of(notebook, secret)) == []
    tests = [c for c in notebook.cells if "-test-" in c.id]
    assert [passed(cell, secret) for cell in tests] == [True] * 4
    assert [passed(cell, "another") for cell in tests] == [False] * 4


def test_no_student_version_without_nbgrader(root, assignment, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbgrader.apps.api", None)
    with pytest.raises(CourseError, match=r"needs Python 3.11 or newer"):
        release.release(assignment, root)


def test_student_versions_are_notebooks_of_today(released):
    stored = json.loads(released.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    assert stored["metadata"]["kernelspec"]["name"] == "python3"

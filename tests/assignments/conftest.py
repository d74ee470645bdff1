"""The tiny assignment, fresh for each test, a repository with nothing else, and a graded one."""

import shutil

import pytest
from course import grade
from course.release import release
from course.sources import load
from tiny_assignment import tiny_assignment, write_tiny
from tiny_course import HAND_INS, NAME, Course, texts


@pytest.fixture
def tiny():
    """The notebook of the tiny assignment."""
    return tiny_assignment()


@pytest.fixture
def root(tmp_path):
    """A repository with the tiny assignment."""
    write_tiny(tmp_path)
    return tmp_path


@pytest.fixture
def assignment(root):
    """The tiny assignment, read from that repository."""
    return load(root / "assignments" / "a0_means.ipynb")


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A repository with the tiny assignment, released, and three graded hand-ins."""
    root = tmp_path_factory.mktemp("repository")
    write_tiny(root)
    release(load(root / "assignments" / f"{NAME}.ipynb"), root)
    course = Course(root)
    for student, answers in HAND_INS.items():
        course.hand_in(student, texts(answers))
    complete, _ = course.grade()
    assert complete
    return root


@pytest.fixture
def course(base, tmp_path):
    """A copy of it."""
    shutil.copytree(base, tmp_path / "copy")
    return Course(tmp_path / "copy")


@pytest.fixture
def never(monkeypatch):
    """No submission may be run."""

    def attempt(*_):
        raise AssertionError("a submission was run again")

    monkeypatch.setattr(grade, "_finished", attempt)

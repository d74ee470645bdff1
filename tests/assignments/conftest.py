"""The tiny assignment, fresh for each test, and a repository that has nothing else."""

import pytest
from course.sources import load
from tiny_assignment import tiny_assignment, write_tiny


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

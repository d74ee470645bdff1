"""The tiny chapter, executed once for all tests of the notebook tools."""

import execute_chapters
import pytest
from notebooks import read, to_text
from tiny_chapter import tiny_chapter


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory):
    """The tiny chapter, executed and stored as `make chapters` does it."""
    path = tmp_path_factory.mktemp("tiny") / "00_tiny.ipynb"
    path.write_text(to_text(tiny_chapter()), encoding="utf-8")
    assert execute_chapters.run_chapter(path) is None
    return path


@pytest.fixture
def tiny(tiny_file):
    """A fresh copy of the executed tiny chapter in memory."""
    return read(tiny_file)

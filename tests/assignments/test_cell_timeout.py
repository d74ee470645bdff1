"""How long a cell may take: what the teacher says, or the assignment, or 30 seconds."""

import argparse

import pytest
from course import grade
from course.sources import find
from tiny_assignment import tiny_assignment, write_tiny


@pytest.mark.parametrize(
    ("metadata", "said", "seconds"),
    [
        ({}, [], 30),
        ({"cell_timeout": 120}, [], 120),
        ({"cell_timeout": 120}, ["--timeout", "7"], 7),
    ],
)
def test_the_limit_of_a_cell(metadata, said, seconds, tmp_path, monkeypatch):
    notebook = tiny_assignment()
    notebook.metadata["course"] = metadata
    write_tiny(tmp_path, notebook)
    seen = []

    def grade_nothing(key, submissions, out, settings):
        seen.append(settings.limits.cell)
        return True, []

    monkeypatch.setattr(grade, "grade", grade_nothing)
    parser = argparse.ArgumentParser()
    grade.add_arguments(parser)
    grade.run(parser.parse_args(["a0", str(tmp_path), *said]), tmp_path)
    assert seen == [seconds]


def test_the_assignments_that_train_have_the_time_they_promise():
    for assignment in find():
        text = "".join(cell.source for cell in assignment.notebook.cells)
        promised = 120 if "a cell may take 120" in text else 30
        assert assignment.cell_timeout == promised, assignment.key

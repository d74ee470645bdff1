"""Hand-ins come back to the form they were handed out in, whatever happened to them."""

import copy
import json

import nbformat.v4 as v4
import pytest
from course import hidden, normalise
from course.sources import BEGIN_SOLUTION, END_SOLUTION, grade_id, role
from notebooks import to_text

MEAN = "def mean_of_rows(table):\n    return [sum(row) / len(row) for row in table]"
SPREAD = "def spread(values):\n    return max(values) - min(values)"


@pytest.fixture
def released(tiny):
    """The student version of the tiny assignment, as nbgrader makes it."""
    notebook = copy.deepcopy(tiny)
    for cell in notebook.cells:
        if role(cell) == "solution":
            head, _, rest = cell.source.partition(f"    {BEGIN_SOLUTION}")
            cell.source = f"{head}    raise NotImplementedError{rest.partition(END_SOLUTION)[2]}"
        elif role(cell) == "test":
            cell.source = hidden.split(cell.source)[0]
        elif role(cell) == "manual":
            cell.source = "YOUR ANSWER HERE"
    return notebook


@pytest.fixture
def solved(released):
    """A student's answered notebook."""
    notebook = copy.deepcopy(released)
    texts = {"a0-mean": MEAN, "a0-spread": SPREAD, "a0-words": "Because."}
    for cell in notebook.cells:
        cell.source = texts.get(grade_id(cell), cell.source)
    return notebook


@pytest.fixture
def back(tmp_path, released, tiny):
    """Hand in a notebook or a text, and get what is graded: (cells by name, notes, all cells)."""

    def hand_in(notebook):
        path = tmp_path / "handed.ipynb"
        text = notebook if isinstance(notebook, str) else to_text(notebook)
        path.write_text(text, encoding="utf-8")
        normal = normalise.normalise(normalise.read_submission(path), released, tiny)
        cells = normal.notebook.cells
        return {grade_id(cell): cell for cell in cells}, normal.notes, cells

    return hand_in


def is_whole(found, cells, tiny):
    """Every graded cell is there once, tests are those of the source, after their answers."""
    order = [grade_id(cell) for cell in cells if grade_id(cell)]
    assert len(order) == len(set(order)) == len({cell.id for cell in cells if grade_id(cell)})
    for cell in tiny.cells:
        if role(cell) == "test":
            assert found[grade_id(cell)].source == cell.source
            assert found[grade_id(cell)].metadata.nbgrader == cell.metadata.nbgrader
    for question in ("a0-mean", "a0-spread"):
        tests = [name for name in order if name.startswith(f"{question}-test")]
        assert len(tests) == 2
        assert order.index(question) < min(map(order.index, tests))
    assert found["a0-mean"].source == MEAN
    assert found["a0-spread"].source == SPREAD
    return True


def without_names(notebook):
    """As a program saves it that knows neither nbgrader nor ids."""
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
        del cell["id"]
    notebook.nbformat_minor = 4
    return notebook


def test_an_untouched_notebook_gets_its_hidden_tests_and_no_note(back, solved, tiny):
    found, notes, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert found["a0-words"].source == "Because."
    assert notes == []


def test_lost_names_are_found_again(back, solved, tiny):
    found, notes, cells = back(without_names(solved))
    assert is_whole(found, cells, tiny)
    assert found["a0-words"].source == "Because."
    assert found["a0-words"].metadata.nbgrader.points == 3
    assert notes == ["names of 9 cells restored"]


def test_names_that_colab_moved_are_found_again(back, solved, tiny):
    text = json.loads(to_text(solved))
    for cell in text["cells"]:
        cell["metadata"] = {"id": cell.pop("id")}
    found, _, cells = back(json.dumps({**text, "nbformat_minor": 0}))
    assert is_whole(found, cells, tiny)


def test_deleted_tests_come_back_after_their_answer(back, solved, tiny):
    solved.cells = [cell for cell in solved.cells if role(cell) not in ("test", "check")]
    found, notes, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert "a0-spread-test-2 was missing: put back" in notes


def test_nothing_but_code_is_left(back, solved, tiny):
    kept = [cell for cell in solved.cells if grade_id(cell) in ("a0-mean", "a0-spread")]
    solved.cells = kept[::-1]
    found, _, cells = back(without_names(solved))
    assert is_whole(found, cells, tiny)


def test_edited_tests_come_back_as_they_were(back, solved, tiny):
    for cell in solved.cells:
        if grade_id(cell) == "a0-mean-test-1":
            cell.source = "# Grades two rows, within 1e-6.\nprint('it is fine')"
    found, notes, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert notes == ["a0-mean-test-1 had been edited: put back as it was"]


def test_edited_tests_without_names_are_no_code_of_the_student(back, solved, tiny):
    for cell in solved.cells:
        if grade_id(cell) == "a0-mean-test-1":
            cell.source += "\nassert True"
    found, _, cells = back(without_names(solved))
    assert is_whole(found, cells, tiny)
    assert not [cell for cell in cells if "assert True" in cell.source]


def test_moved_tests_go_after_their_answer(back, solved, tiny):
    tests = [cell for cell in solved.cells if role(cell) == "test"]
    solved.cells = tests + [cell for cell in solved.cells if role(cell) != "test"]
    found, _, cells = back(solved)
    assert is_whole(found, cells, tiny)


@pytest.mark.parametrize("stub_first", [True, False])
def test_of_copies_the_one_that_was_worked_on_counts(back, solved, released, tiny, stub_first):
    place = next(n for n, cell in enumerate(solved.cells) if grade_id(cell) == "a0-mean")
    stub = copy.deepcopy(next(c for c in released.cells if grade_id(c) == "a0-mean"))
    stub["id"] = "copied"
    solved.cells.insert(place if stub_first else place + 1, stub)
    found, notes, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert notes == ["1 copy of a given cell left out"]


def test_an_edited_copy_of_a_test_is_code_of_the_student(back, solved, tiny):
    place = next(n for n, cell in enumerate(solved.cells) if grade_id(cell) == "a0-mean-test-1")
    mine = copy.deepcopy(solved.cells[place])
    mine["id"], mine.source = "copied", "mine = mean_of_rows([[1, 3]])"
    solved.cells.insert(place + 1, mine)
    found, notes, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert notes == []
    assert [grade_id(cell) for cell in cells if cell.source == mine.source] == [None]


def test_an_answer_in_a_new_cell_counts(back, solved, released, tiny):
    """The stub is deleted and the function is written elsewhere, before its tests."""
    place = next(n for n, cell in enumerate(solved.cells) if grade_id(cell) == "a0-mean")
    solved.cells[place] = v4.new_code_cell(f"# mine\n{MEAN}")
    found, _, _ = back(solved)
    assert found["a0-mean"].source == f"# mine\n{MEAN}"


def test_cells_of_the_student_stay_where_they_are(back, solved):
    place = next(n for n, cell in enumerate(solved.cells) if grade_id(cell) == "a0-spread")
    solved.cells.insert(place, v4.new_code_cell("helper = 1"))
    _, _, cells = back(solved)
    sources = [cell.source for cell in cells]
    assert sources.index(MEAN) < sources.index("helper = 1") < sources.index(SPREAD)


def test_a_cell_that_takes_the_name_of_a_test_is_not_graded(back, solved, tiny):
    thief = v4.new_code_cell("points = 100", id="thief")
    thief.metadata["nbgrader"] = {"grade_id": "a0-mean-test-1", "points": 100, "grade": True}
    solved.cells.append(thief)
    found, _, cells = back(solved)
    assert is_whole(found, cells, tiny)
    assert sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells) == 8


def test_an_answer_that_was_made_text_is_code_again(back, solved):
    for cell in solved.cells:
        if grade_id(cell) == "a0-mean":
            cell["cell_type"] = "markdown"
            del cell["outputs"], cell["execution_count"]
    found, _, _ = back(solved)
    assert found["a0-mean"].cell_type == "code"


def test_outputs_of_the_student_are_left_out(back, solved):
    code = next(cell for cell in solved.cells if grade_id(cell) == "a0-mean-test-1")
    code.outputs = [v4.new_output("stream", text="Every check of this cell passed.")]
    _, _, cells = back(solved)
    assert not any(cell.get("outputs") for cell in cells)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is no notebook: cut off"),
        ("[]", "it is no notebook: there are no cells"),
        (
            '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
            "it is no notebook: there are no",
        ),
        ("[" * 10**5, "it is no notebook: cut off"),
        ("\x00\xff", "it is no notebook: cut off"),
        (to_text(v4.new_notebook(cells=[v4.new_code_cell("1")])), "no cell of this assignment"),
        (
            to_text(v4.new_notebook(cells=[v4.new_code_cell("1") for _ in range(1001)])),
            "more than 1000 cells",
        ),
    ],
    ids=["empty", "list", "cells", "deep", "bytes", "other", "long"],
)
def test_what_cannot_be_graded_is_refused(back, text, reason):
    with pytest.raises(normalise.Unreadable, match=reason):
        back(text)


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.ipynb"
    with open(path, "wb") as file:
        file.truncate(normalise.LARGEST + 1)
    with pytest.raises(normalise.Unreadable, match="larger than 50 MB"):
        normalise.read_submission(path)

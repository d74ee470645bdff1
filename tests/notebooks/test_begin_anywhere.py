"""A reader of chapter 15 can begin at any of its statements, as the chapter says."""

import pytest
from notebooks import ROOT, code_cells, read, tags

CHAPTER = ROOT / "chapters" / "15_misconceptions.ipynb"


def failing_alone(notebook):
    """What goes wrong, by cell, when each runs after the helpers alone, up to the exercises."""
    cells = {cell.id: cell for _, cell in code_cells(notebook)}
    assert list(cells)[:2] == ["setup", "helpers"]
    failing = {}
    for name, cell in list(cells.items())[2:]:
        if "exercise" in tags(cell):
            break
        space = {}
        exec(cells["helpers"].source, space)
        try:
            exec(cell.source, space)
        except Exception as error:
            failing[name] = str(error)
    return failing


@pytest.fixture
def chapter():
    return read(CHAPTER)


def test_every_cell_runs_after_the_helpers_alone(chapter):
    assert failing_alone(chapter) == {}


def test_a_cell_that_needs_another_is_found(chapter):
    helpers = next(cell for cell in chapter.cells if cell.id == "helpers")
    whole = helpers.source.splitlines()
    helpers.source = "\n".join(line for line in whole if "minitransformer.costs" not in line)
    assert failing_alone(chapter) == {
        "double": "name 'multiply_adds' is not defined",
        "grouped": "name 'multiply_adds' is not defined",
        "developer-code": "name 'multiply_adds' is not defined",
    }

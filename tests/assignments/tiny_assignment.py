"""A tiny assignment of two questions and a written one, made on the fly for tests of the engine."""

import nbformat.v4 as v4
import setup_cell
from notebooks import to_text

MEAN = """\
def mean_of_rows(table):
    \"\"\"The mean of each row of a table: (rows, columns) -> (rows,).\"\"\"
    ### BEGIN SOLUTION
    totals_of_the_rows = [sum(row) for row in table]
    return [total / len(row) for total, row in zip(totals_of_the_rows, table)]
    ### END SOLUTION"""

SPREAD = """\
import numpy as np


def spread(values):
    \"\"\"The largest less the smallest of some numbers; none is an error.\"\"\"
    ### BEGIN SOLUTION
    if len(values) == 0:
        raise ValueError("there are no values to take the spread of")
    return float(np.max(values) - np.min(values))
    ### END SOLUTION"""

MEAN_TESTS = (
    """judge.close(mean_of_rows([[1.0, 2.5, 4.0], [0.5, 0.5, 2.0]]), [2.5, 1.0])""",
    """judge.shape(mean_of_rows([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), (3,))""",
)
SPREAD_TESTS = (
    """judge.close(spread([3.25, -1.5, 2.0]), 4.75)""",
    """judge.raises(ValueError, spread, [])""",
)

WRONG = {
    "a0-mean": {
        "sum, not mean": "def mean_of_rows(table):\n    return [sum(row) for row in table]",
        "mean of all": "def mean_of_rows(table):\n    return sum(map(sum, table)) / 6",
        "endless": "def mean_of_rows(table):\n    while True:\n        pass",
        "ends Python": "import os\n\n\ndef mean_of_rows(table):\n    os._exit(0)",
    },
    "a0-spread": {
        "largest alone": "def spread(values):\n    return max(values)",
        "no error": "def spread(values):\n    values = values or [0]\n"
        "    return max(values) - min(values)",
    },
}
RIGHT = {
    "a0-mean": {
        "with NumPy": "import numpy as np\n\n\n"
        "def mean_of_rows(table):\n    return np.array(table).mean(axis=1)",
    },
    "a0-spread": {
        "sorted": "def spread(values):\n    if not values:\n        raise ValueError\n"
        "    ordered = sorted(values)\n    return ordered[-1] - ordered[0]",
    },
}


def marks(name, **changes):
    """nbgrader's metadata of a cell."""
    base = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    return {"nbgrader": {**base, "schema_version": 3, "grade_id": name, **changes}}


def solution(name, source):
    """A solution cell."""
    return v4.new_code_cell(source, id=name, metadata=marks(name, solution=True))


def check(name, source):
    """A visible check cell."""
    return v4.new_code_cell(source, id=name, metadata=marks(name, locked=True))


def graded(name, about, hidden, points=1):
    """A graded test cell."""
    source = f"# {about}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    metadata = marks(name, grade=True, locked=True, points=points)
    return v4.new_code_cell(source, id=name, metadata=metadata)


def tiny_assignment():
    """The notebook of the tiny assignment, as a teacher would write it."""
    manual = marks("a0-words", grade=True, solution=True, points=3)
    notebook = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# A0 · Means and spreads\n\nTwo questions.", id="title"),
            v4.new_code_cell(metadata={"tags": list(setup_cell.TAGS)}, id="setup"),
            v4.new_markdown_cell("## 1. Means\n\nWrite the mean of each row.", id="mean-task"),
            solution("a0-mean", MEAN),
            check("a0-mean-check", "bool(mean_of_rows([[1, 3]]) == [2.0])"),
            graded("a0-mean-test-1", "Grades two rows, within 1e-6.", MEAN_TESTS[0], 2),
            graded("a0-mean-test-2", "Grades the shape for three rows.", MEAN_TESTS[1]),
            v4.new_markdown_cell("## 2. Spread\n\nWrite the spread.", id="spread-task"),
            solution("a0-spread", SPREAD),
            check("a0-spread-check", "bool(spread([1, 3]) == 2)"),
            graded("a0-spread-test-1", "Grades one spread, within 1e-6.", SPREAD_TESTS[0]),
            graded("a0-spread-test-2", "Grades the error for no values.", SPREAD_TESTS[1]),
            v4.new_markdown_cell("## 3. In words\n\nWhy is it so?", id="words-task"),
            v4.new_markdown_cell(
                "The mean forgets how far the values lie apart from each other.",
                id="a0-words",
                metadata=manual,
            ),
        ]
    )
    setup_cell.with_setup(notebook)
    return notebook


def write_tiny(root, notebook=None):
    """A repository with the tiny assignment alone, in ``root``; the notebook's path."""
    config = "repository: {url: https://github.com/ada/attention, branch: main}\n"
    (root / "_config.yml").write_text(config)
    (root / "requirements-models.txt").write_text("")
    folder = root / "assignments"
    folder.mkdir(exist_ok=True)
    notebook = notebook or tiny_assignment()
    setup_cell.with_setup(notebook, root)
    path = folder / "a0_means.ipynb"
    path.write_text(to_text(notebook), encoding="utf-8")
    return path

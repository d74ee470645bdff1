"""What can be wrong with an instructor notebook, found before a student sees it.

Each check is a function of the notebook that yields ``(cell, message)``; the message says the way
out.
"""

import ast
import builtins
import re
from collections import Counter

from notebooks import ROOT, cell_tree, code_cells
from setup_cell import TAGS, setup_cell, setup_source

from . import hidden
from .sources import BEGIN_SOLUTION, END_SOLUTION, CourseError, find, grade_id, role

SCHEMA = 3
KEYS = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
TESTS = (2, 4)  # graded test cells of a question: one idea each

# A student's code can patch these; the judge is made afresh in front of every hidden test.
_PATCHED = re.compile(r"\b(testing\.\w+|allclose|isclose|array_equal|array_equiv)\b")


def find_checked(keys=(), root=ROOT):
    """The assignments with the given keys (all, without one), if they have no faults.

    Raises
    ------
    CourseError
        If a key fits no assignment, or there are faults; the message lists them.
    """
    found = find(keys, root)
    wrong = [f"{one.path.name}: {fault}" for one in found for fault in faults(one.notebook, root)]
    if wrong:
        raise CourseError("\n".join(wrong))
    return found


def faults(notebook, root=ROOT):
    """All faults of an instructor notebook as lines of text."""
    found = [
        f"{_place(notebook, cell)}{message}"
        for check in CHECKS
        for cell, message in check(notebook)
    ]
    return found + [f"{message}" for message in _setup(notebook, root)]


def no_outputs(notebook):
    """Sources are kept without outputs: what a cell printed may be a solution."""
    for _, cell in code_cells(notebook):
        if cell.outputs or cell.execution_count is not None:
            yield cell, "has outputs or an execution count: clear all outputs"


def names_are_unique(notebook):
    """Every cell known to nbgrader has a name of its own, and its id is that name."""
    ids = [grade_id(cell) for cell in notebook.cells if "nbgrader" in cell.metadata]
    for name, count in Counter(ids).items():
        if name and count > 1:
            yield None, f"{count} cells have the grade_id {name!r}: give each a name of its own"
    for name, count in Counter(cell.get("id") for cell in notebook.cells).items():
        if count > 1:
            yield None, f"{count} cells have the id {name!r}: give each a name of its own"
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata and grade_id(cell) != cell.get("id"):
            yield cell, f"its id and its grade_id {grade_id(cell)!r} must be the same"


def metadata_is_whole(notebook):
    """The metadata are those that nbgrader 0.9 writes."""
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if marks is None:
            continue
        missing = sorted(KEYS - set(marks))
        if missing or marks["schema_version"] != SCHEMA:
            lacks = f", which lack {', '.join(missing)}" if missing else ""
            yield cell, f"needs nbgrader metadata of schema {SCHEMA}{lacks}"
        if marks.get("task"):
            yield cell, "is a task cell: use a manual cell (grade and solution)"
        if role(cell) == "test" and not marks.get("locked"):
            yield cell, "is graded but not locked: students could change it"


def points_are_given(notebook):
    """Graded cells, and no others, carry points."""
    for cell in notebook.cells:
        points = cell.metadata.get("nbgrader", {}).get("points")
        graded = role(cell) in ("test", "manual")
        if graded and (not isinstance(points, int | float) or points <= 0):
            yield cell, "is graded and needs points above 0"
        if not graded and points:
            yield cell, f"carries {points} points but is not graded"


def tests_are_hidden(notebook):
    """A test cell says in a comment what it grades; the rest of it is hidden."""
    for cell in notebook.cells:
        if role(cell) != "test":
            if "HIDDEN TESTS" in cell.source:
                yield cell, "has a hidden region, but is no test cell (grade, locked, points)"
            continue
        try:
            seen, inside = hidden.split(cell.source)
        except ValueError as error:
            yield cell, str(error)
            continue
        if not re.match(r"#\s*\w", seen):
            yield cell, "its first line must be a comment that says what the cell grades"
        if not inside.strip():
            yield cell, "its hidden region is empty"
        elif "judge." not in inside:
            yield cell, "its hidden region never asks the judge, so it cannot fail"


def tests_use_the_judge(notebook):
    """Nothing that a student's code can patch decides about points."""
    for cell in notebook.cells:
        if role(cell) != "test":
            continue
        for name in sorted(set(_PATCHED.findall(cell.source))):
            yield cell, f"compares with {name}, which students can patch: use judge.close or equal"
        nodes = list(ast.walk(_parsed(cell.source)))
        if any(isinstance(node, ast.Assert) for node in nodes):
            yield cell, "uses assert: judge.true gives a message, and asserts can be switched off"
        if re.search(r'"""|\'\'\'', cell.source):
            yield cell, "has a string over several lines, which would be indented: write it in one"


def tests_import_what_they_need(notebook):
    """A hidden test knows what the question asks for, and what the check made; no other name."""
    known = set()
    for cell in notebook.cells:
        kind = role(cell)
        if kind == "solution":
            known = _made(cell.source)
        elif kind == "check":
            known |= _made(cell.source)
        elif kind == "test" and _parsed(cell.source).body:
            ours = {"judge", *hidden.LIBRARIES, *vars(builtins)}
            for name in sorted(hidden.free_names(cell.source) - known - ours):
                yield cell, f"uses {name}, which a student may have replaced: import it in the test"
            known |= _shared(cell.source)


def _made(source):
    """The names that a cell's own lines bind: functions, classes and what is assigned."""
    lines = _parsed(source).body
    kept = [line for line in lines if isinstance(line, ast.FunctionDef | ast.ClassDef)]
    assigned = [line for line in lines if isinstance(line, ast.Assign)]
    names = [node for line in assigned for node in ast.walk(line) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {line.name for line in kept} | stored


def _shared(source):
    """The names that a test leaves for the next one."""
    tree = ast.walk(_parsed(source))
    return {name for node in tree if isinstance(node, ast.Global) for name in node.names}


def solutions_are_marked(notebook):
    """What students must not see stands between the two marks, in solution cells alone."""
    for cell in notebook.cells:
        marks = [line.strip() for line in cell.source.split("\n") if " SOLUTION" in line]
        marks = [line for line in marks if "BEGIN SOLUTION" in line or "END SOLUTION" in line]
        pairs = [BEGIN_SOLUTION, END_SOLUTION] * (len(marks) // 2)
        if role(cell) == "solution" and (not marks or marks != pairs):
            yield cell, f"needs its solution between {BEGIN_SOLUTION!r} and {END_SOLUTION!r}"
        elif role(cell) != "solution" and marks:
            yield cell, "has a solution in it, but is no solution cell"
        if role(cell) == "manual" and cell.cell_type != "markdown":
            yield cell, "is graded by hand, so it must be a Markdown cell"


def questions_are_whole(notebook):
    """Each question has a check that students can run and two to four graded tests."""
    current, seen = None, {}
    for cell in notebook.cells:
        kind, name = role(cell), grade_id(cell) or ""
        if kind in ("solution", "manual"):
            current = cell
            seen[name] = (cell, Counter())
        elif kind in ("check", "test"):
            question = grade_id(current) if current else "no solution"
            if not name.startswith(f"{question}-"):
                yield cell, f"comes after {question!r}: its name must begin with that and a hyphen"
            else:
                seen[question][1][kind] += 1
    for cell, kinds in seen.values():
        if role(cell) == "manual":
            continue
        if not kinds["check"]:
            yield cell, "no check follows that students can run"
        if not TESTS[0] <= kinds["test"] <= TESTS[1]:
            yield cell, f"{kinds['test']} graded tests follow; it needs {TESTS[0]} to {TESTS[1]}"


def code_is_python(notebook):
    """Every code cell parses."""
    for _, cell in code_cells(notebook):
        try:
            _parsed(cell.source, strict=True)
        except SyntaxError as error:
            yield cell, f"is no Python: {error.msg}, line {error.lineno}"


CHECKS = (
    no_outputs,
    names_are_unique,
    metadata_is_whole,
    points_are_given,
    tests_are_hidden,
    tests_use_the_judge,
    tests_import_what_they_need,
    solutions_are_marked,
    questions_are_whole,
    code_is_python,
)


def _setup(notebook, root):
    found = setup_cell(notebook)
    if found is None or not set(TAGS) <= set(found[1].metadata.get("tags", [])):
        yield f"the first code cell must be the set-up cell, tagged {TAGS}"
    elif found[1].source != setup_source(notebook, root):
        yield "its set-up cell is not the current one: run `python tools/setup_cell.py`"


def _parsed(source, strict=False):
    """The syntax tree of a cell, magics included; an empty one if it does not parse."""
    try:
        return cell_tree(source)
    except SyntaxError:
        if strict:
            raise
        return ast.Module(body=[], type_ignores=[])


def _place(notebook, cell):
    if cell is None:
        return ""
    number = notebook.cells.index(cell) + 1
    return f"cell {number} ({grade_id(cell) or cell.get('id')}): "

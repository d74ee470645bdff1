"""Hand-ins for assignment 1, honest and hostile, with the points that each must get.

``CASES`` is the table. A case makes a notebook from the student version, answered with the
solutions or other texts; what is not named in ``points`` gets all points of its question. Nothing
is stored: the notebooks follow the assignment.
"""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import nbformat.v4 as v4
from course.sources import grade_id, role
from notebooks import ROOT, to_text

SOFTMAX, HALF, ZERO, EFFECTS, SCALE = (
    "a1-softmax",
    "a1-half-scores",
    "a1-zero-key",
    "a1-key-effects",
    "a1-scale",
)
NONE = dict.fromkeys((SOFTMAX, HALF, ZERO, EFFECTS, SCALE), 0)
STOPPED, UNREADABLE = "stopped", "unreadable"


@dataclass(frozen=True)
class Case:
    """One hand-in: who, what it does, and what comes of it."""

    student: str
    change: Callable = lambda notebook: None  # changes a solved notebook in place
    points: dict = field(default_factory=dict)  # by question, where not all of its points
    status: dict = field(default_factory=dict)  # by question, where not "graded"
    path: str = "{student}_a1_attention.ipynb"
    text: str | None = None  # the text of the file, where it is no notebook

    def file(self):
        """The path of the file in the folder of submissions."""
        return self.path.format(student=self.student)


def answered(released, answers):
    """A student version with ``answers``, texts by the names of solution cells."""
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        if grade_id(cell) in answers:
            cell.source = answers[grade_id(cell)].strip()
    return notebook


def write(case, folder, released, answers, course):
    """Write a case's file into ``folder``; it may know where the course folder is."""
    path = folder / case.file()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = case.text
    if text is None:
        notebook = answered(released, answers)
        text = case.change(notebook) or to_text(notebook)
    text = text.replace("{root}", str(ROOT)).replace("{course}", str(course))
    path.write_text(text, encoding="utf-8")


def replacing(**answers):
    """A change: other answers, by question with ``_`` for ``-``."""
    texts = {name.replace("_", "-"): text for name, text in answers.items()}

    def change(notebook):
        for cell in notebook.cells:
            cell.source = texts.get(grade_id(cell), cell.source)

    return change


def before(name, source, **answers):
    """A change: one more cell in front of the cell ``name``, and other answers."""

    def change(notebook):
        place = _place(notebook, name)
        notebook.cells.insert(place, v4.new_code_cell(source))
        replacing(**answers)(notebook)

    return change


def adding(name, source):
    """A change: some more code in the cell ``name``."""

    def change(notebook):
        notebook.cells[_place(notebook, name)].source += f"\n\n\n{source}"

    return change


def _place(notebook, name):
    return next(n for n, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def without_tests(notebook):
    """No cell that was given for testing is left."""
    notebook.cells = [cell for cell in notebook.cells if role(cell) not in ("test", "check")]


def edited_tests(notebook):
    """A wrong softmax, and tests that pass with it."""
    wrong = "def softmax_along(scores, axis, temperature):\n    return scores * 0"
    replacing(a1_softmax=wrong)(notebook)
    for cell in notebook.cells:
        if role(cell) == "test":
            cell.source = "# Nothing is wrong.\nassert True"


def copied(notebook):
    """Solution and test cells twice, as copying in Jupyter leaves them."""
    for name in (SOFTMAX, "a1-softmax-test-1", HALF):
        place = _place(notebook, name)
        twin = copy.deepcopy(notebook.cells[place])
        twin["id"] = v4.new_code_cell().id
        if name == HALF:
            twin.source = "def half_scores(query, key):\n    raise NotImplementedError"
            notebook.cells.insert(place, twin)
        else:
            notebook.cells.insert(place + 1, twin)


def by_colab(notebook):
    """As Colab saves: format 4.0, other ids in other places, outputs, none of nbgrader's data."""
    cells = []
    for n, cell in enumerate(notebook.cells):
        saved = {"cell_type": cell.cell_type, "metadata": {"id": f"Xy{n}_zK"}}
        saved["source"] = cell.source.splitlines(keepends=True)
        if cell.cell_type == "code":
            output = {"output_type": "stream", "name": "stdout", "text": ["warm\n"]}
            saved |= {"execution_count": n, "outputs": [output]}
            saved["metadata"]["outputId"] = f"out{n}"
        cells.append(saved)
    colab = {"colab": {"provenance": []}, "language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 0, "metadata": colab, "cells": cells})


def by_colab_without_tests(notebook):
    """All names lost, and all given cells deleted."""
    without_tests(notebook)
    return by_colab(notebook)


def renamed_variables(notebook):
    """Names and texts that are not ASCII, in code and prose."""
    for cell in notebook.cells:
        cell.source = re.sub(r"\bpowers\b", "potenzen_größer_幂", cell.source)
    notebook.cells.append(v4.new_markdown_cell("Schöne Grüße, 谢谢 🙂"))


# Whatever a grader might compare with, in this process and under the names it might use.
PATCHES = """
import builtins

def yes(*args, **named):
    return True

for name in ("allclose", "isclose", "array_equal", "array_equiv", "all", "any", "equal"):
    setattr(np, name, yes)
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *args, **named: None)
"""
NAMES = """
class AssertionError(Exception):
    pass

class judge:
    close = equal = shape = raises = true = staticmethod(lambda *args, **named: None)

check = abs = len = all = any = isinstance = lambda *args, **named: True
"""
EQUAL_TO_ALL = """
class Yes(float):
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __sub__ = __rsub__ = __abs__ = lambda self, *other: self
    __hash__ = float.__hash__

class Answer(list):
    shape = (2, 3, 4)
    dtype = "float64"
    tolist = lambda self: self
    __eq__ = lambda self, other: True

def softmax_along(scores, axis, temperature):
    if not temperature > 0:
        raise ValueError("temperature")
    return Answer([[[Yes(0.5)] * 4] * 3] * 2)
"""
NO_CODE = """
shell = get_ipython()
shell.input_transformers_post.append(
    lambda lines: ["pass\\n"] if any("HIDDEN" in line for line in lines) else lines
)
"""
NO_TREE = """
import ast

class Nothing(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.Pass()

get_ipython().ast_transformers.append(Nothing())
"""
NO_ERRORS = """
get_ipython().showtraceback = get_ipython().showsyntaxerror = lambda *args, **named: None
"""
VISIBLE_ALONE = """
def softmax_along(scores, axis, temperature):
    if not temperature > 0:
        raise ValueError("temperature")
    if scores.shape == (2, 1):
        return np.array([[0.25], [0.75]]) if temperature == 1 else np.array([[0.1], [0.9]])
    return np.full(scores.shape, 1 / scores.shape[axis])
"""
# Keeps the text of each cell that runs, hidden tests too, and looks for more in files.
SPY = """
import os

seen = []
get_ipython().events.register("pre_run_cell", lambda info: seen.append(info.raw_cell))
for start in ("/", "/proc/1/root", os.path.expanduser("~"), "{root}", "{course}"):
    for parent, folders, files in os.walk(start):
        folders[:] = [f for f in folders if f not in ("usr", "proc", "sys", "dev", "lib", "share")]
        for name in files:
            if "gradebook" in name or name.endswith((".ipynb", ".db", "secret.txt", "job.json")):
                print("FOUND", os.path.join(parent, name))
"""
TELLER = """
print("SEEN", *seen, sep="\\n")

def half_scores(query, key):
    return query / key.shape[-1] ** 0.5 @ np.swapaxes(key, -1, -2)
"""
WRITER = """
import os, pathlib, socket
places = ["{root}", "{course}", "/", "/etc", "/usr", "/tmp", os.path.expanduser("~"), "/var/tmp"]
for place in places + ["/proc/1/root{course}", "/proc/1/cwd"]:
    try:
        os.makedirs(place, exist_ok=True)
        pathlib.Path(place, "planted-by-a-student.txt").write_text("100 points")
    except OSError:
        pass
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
    print("CONNECTED")
except OSError:
    print("tried")
"""
ENDLESS = "def half_scores(query, key):\n    while True:\n        pass"
STUBBORN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
EXIT = "import sys\n\ndef attention_with_zero_key(query, key, value):\n    sys.exit(0)"
END = "import os\n\ndef key_effects(query, key, value):\n    os._exit(0)"
KILL = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
LARGE = "def softmax_along(scores, axis, temperature):\n    return np.ones(100_000_000_000 // 8)"
NO_PYTHON = "def scale_for_entropy(products, entropy)\n    return 1"
FLOOD = "def half_scores(query, key):\n    while True:\n        print('y' * 1000)"
SCRIPT = "print('<script>alert(1)</script>')\n"
# Answers that come back, with nothing but wrong numbers.
WRONG = {
    "a1_softmax": "def softmax_along(scores, axis, temperature):\n    return scores * 0",
    "a1_half_scores": "def half_scores(query, key):\n    return query @ key.swapaxes(-1, -2) * 0",
    "a1_zero_key": "def attention_with_zero_key(query, key, value):\n    return value * 0",
    "a1_key_effects": "def key_effects(query, key, value):\n    return query * 0",
    "a1_scale": "def scale_for_entropy(products, entropy):\n    return 1.0",
}
BLANK = {
    name: text.partition(":")[0] + ":\n    raise NotImplementedError"
    for name, text in WRONG.items()
}

CASES = [
    Case("right"),
    Case("blank", replacing(**BLANK), NONE),
    Case("no-python", replacing(a1_scale=NO_PYTHON), {SCALE: 0}),
    Case("endless", replacing(a1_half_scores=ENDLESS), {HALF: 0}, {HALF: STOPPED}),
    Case("stubborn", before(SCALE, STUBBORN)),
    Case("exits", replacing(a1_zero_key=EXIT), {ZERO: 0}),
    Case("quits", before(ZERO, "exit()")),
    Case("ends-python", replacing(a1_key_effects=END), {EFFECTS: 0}, {EFFECTS: STOPPED}),
    Case("kills", replacing(a1_scale=KILL), {SCALE: 0}, {SCALE: STOPPED}),
    Case("100-gb", replacing(a1_softmax=LARGE), {SOFTMAX: 0}),
    Case("deletes-tests", without_tests),
    Case("edits-tests", edited_tests, {SOFTMAX: 0}),
    Case("patches", before(SOFTMAX, PATCHES, **WRONG), NONE),
    Case("redefines", before(SOFTMAX, NAMES, **WRONG), NONE),
    Case("equal-to-all", replacing(a1_softmax=EQUAL_TO_ALL), {SOFTMAX: 0}),
    Case("no-code", before(SOFTMAX, NO_CODE, **WRONG), NONE),
    Case("no-tree", before(SOFTMAX, NO_TREE, **WRONG), NONE),
    Case("no-errors", before(SOFTMAX, NO_ERRORS, **WRONG), NONE),
    # Equal weights sum to 1 and do not change with a constant: that test, and the one of the error.
    Case("hard-codes", replacing(a1_softmax=VISIBLE_ALONE), {SOFTMAX: 2}),
    Case("gigabyte", before(SCALE, "for _ in range(10**6):\n    print('x' * 1000)")),
    Case("floods", replacing(a1_half_scores=FLOOD), {HALF: 0}, {HALF: STOPPED}),
    Case("spies", before(SOFTMAX, SPY, a1_half_scores=TELLER)),
    Case("writes", before(SOFTMAX, WRITER)),
    Case("copies", copied),
    Case("colab", by_colab),
    Case("colab-deletes", by_colab_without_tests),
    Case("Zoë_张伟", renamed_variables, path="{student}/Übung 1 – fertig (3).ipynb"),
    Case("=HYPERLINK(1)", adding(SOFTMAX, SCRIPT)),
    Case("..", path="..\\..\\x_a1_attention.ipynb"),
    Case("Ada Lovelace", path="{student}_4711_assignsubmission_file/a1.ipynb"),
    Case("lovelaceada", path="{student}_LATE_815_99_a1_attention-1.ipynb"),
    Case("no-notebook", points=NONE, status=dict.fromkeys(NONE, UNREADABLE), text="{}"),
    Case("deep", points=NONE, status=dict.fromkeys(NONE, UNREADABLE), text="[" * 10**6),
]

# Points that the known wrong answers get: the labels are those of mutants/a1.py.
LEFT = {
    SOFTMAX: {
        "divided before subtracting the maximum": 4,
        "maximum not subtracted": 4,
        "always the last axis": 1,
        "multiplied by the temperature": 1,
        "no temperature": 1,
        "temperature on the weights": 1,
        "the largest of all scores subtracted": 4,
        "axis lost in the sum": 1,
        "something small added to the sum": 1,
        "a bad temperature is not refused": 4,
        "a bad temperature is an assertion": 4,
    },
    HALF: {
        "divided after the product": 0,
        "divided after the product, by a float64": 0,
        "float64 comes back": 0,
        "the root is a float64": 0,
        "float32 comes back": 0,
        "divided by d_k": 0,
        "both divided by the root": 0,
        "no scale": 0,
        "always by four": 2,
        "clipped at the largest number": 0,
        "all axes turned round": 2,
        "divided by the root of the number of keys": 0,
    },
    ZERO: {
        "no extra key": 0,
        "one added after the maximum was subtracted": 0,
        "maximum not subtracted": 3,
        "no scale": 1,
        "the value of the extra key is one": 0,
        "the extra key is a mean of the others": 0,
        "weights instead of outputs": 0,
        "for matrices only": 3,
        "the zeros go to the wrong axis": 3,
    },
    EFFECTS: {
        "the weights": 0,
        "the value set to zero": 0,
        "the key set to zero": 1,
        "the length squared": 1,
        "the largest change of one number": 1,
        "keys before queries": 0,
        "everything but this key left out": 1,
        "for matrices only": 3,
        "a single key is not refused": 3,
    },
    SCALE: {
        "the temperature": 0,
        "entropy in bits": 0,
        "the interval ends at ten": 3,
        "a weight of 0 spoils the entropy": 0,
        "maximum not subtracted": 3,
        "the halves exchanged": 0,
        "a grid of a thousand scales": 0,
        "stops at four decimals of the entropy": 0,
        "an impossible entropy is not refused": 3,
        "equal products are overlooked": 3,
    },
}

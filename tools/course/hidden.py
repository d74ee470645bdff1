"""Hidden tests: the judge put in front of them, canaries, and the sign that they ran to the end.

Students' code and hidden tests share a process. So every hidden region of the grader's copy is a
function. It begins with the judge, executed afresh from its text, and has canaries before and after
the tests: bare statements in which a wrong answer must fail and a right one pass. It ends with a
token that only the grader's copy knows; a test cell whose output lacks it did not run to its end,
whatever else it shows. What the tests name stays within: it replaces no helper of a student's that
has the same name, and no answer finds ``expected`` among the global names. What was costly to make
and serves the next test as well, a trained model say, is declared ``global``. Nor does a test use a
``max``, ``np`` or ``softmax`` that a student has made: built-in names and those of two libraries
are imported into the function, and it imports itself whatever else it needs.
"""

import builtins
import hashlib
import hmac
import secrets
import symtable
import textwrap
from functools import cache
from pathlib import Path

from notebooks import write_atomically

BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
CHANGED = "the comparison functions were changed"
SECRET = "secret.txt"
TOKEN = "checked"  # the key of the token in the metadata of a cell's last output
LIBRARIES = {"np": "import numpy as np", "torch": "import torch"}

_JUDGE = """\
import builtins as _builtins
import types as _types

import numpy as _numpy

judge = _types.ModuleType("judge")
_builtins.exec(_builtins.compile({text!r}, "<judge>", "exec"), judge.__dict__)
"""

_MUST_FAIL = """\
try:
    {call}
except:
    pass
else:
    raise _builtins.RuntimeError({changed!r})
"""

_MUST_PASS = """\
try:
    {call}
except:
    raise _builtins.RuntimeError({changed!r}) from None
"""

WRONG = (
    "judge.close([[0.5, 0.25]], [[0.5, 0.251]])",
    "judge.close([[2.0, 3.0]], [[2.0, -3.0]])",
    'judge.close([0.5, float("nan")], [0.5, 0.25])',
    "judge.close([[1.0, 1.0]], [1.0, 1.0])",
    "judge.equal([[True, False]], [[True, True]])",
    "judge.shape([[1.0, 2.0]], (2, 1))",
    "judge.raises(ValueError, int, 3)",
    'judge.true(False, "wrong")',
    'judge.true(_numpy.all([True, False]), "not all")',
    'judge.true(_numpy.any([False, False]), "none")',
    'judge.true(_numpy.allclose([0.5, 0.25], [0.5, 0.251]), "not close")',
    'judge.true(_numpy.isclose(0.5, 0.501), "not close")',
    'judge.true(_numpy.array_equal([1, 2], [1, 3]), "not equal")',
    "_numpy.testing.assert_allclose([0.5, 0.25], [0.5, 0.251])",
    "_numpy.testing.assert_array_equal([1, 2], [1, 3])",
    "assert False",
)
RIGHT = (
    "judge.close([[0.5, 0.25]], [[0.5, 0.25]])",
    "judge.equal([[True, False]], [[True, False]])",
    "judge.shape([[1.0, 2.0]], (1, 2))",
    'judge.raises(ValueError, int, "x")',
    'judge.true(True, "right")',
    "judge.close(_numpy.sum([[0.5, 0.25], [1.0, 2.0]], axis=-1), [0.75, 3.0])",
    "judge.close(_numpy.abs([-0.5, 2.0]), [0.5, 2.0])",
    "judge.close([_numpy.max([0.5, 2.0]), _numpy.min([0.5, 2.0])], [2.0, 0.5])",
)

_SIGN = """\
from IPython.display import publish_display_data as _publish

_publish({{"text/plain": "Every check of this cell passed."}}, {{{key!r}: {token!r}}})
"""

_REGION = """\
{begin}
def _hidden_test():
{body}

_hidden_test()
{end}"""


@cache
def canaries():
    """Statements that raise if what compares was changed."""
    parts = [_MUST_FAIL.format(call=call, changed=CHANGED) for call in WRONG]
    parts += [_MUST_PASS.format(call=call, changed=CHANGED) for call in RIGHT]
    return "".join(parts)


@cache
def preamble():
    """The judge and its canaries, as the first statements of a hidden test."""
    text = Path(__file__).with_name("judge.py").read_text(encoding="utf-8")
    return _JUDGE.format(text=text) + canaries()


def split(source):
    """A test cell's source as (what students see, the hidden lines between the two marks).

    Raises
    ------
    ValueError
        If the marks are missing, doubled or the wrong way round, or if code follows the region.
    """
    lines = source.rstrip().split("\n")
    marks = [line.strip() for line in lines if "HIDDEN TESTS" in line]
    if marks != [BEGIN, END]:
        raise ValueError(f"needs one hidden region, between the lines {BEGIN!r} and {END!r}")
    if lines[-1] != END:
        raise ValueError(f"{END!r} must be the last line, without indentation")
    begin = next(n for n, line in enumerate(lines) if line.strip() == BEGIN)
    return "\n".join(lines[:begin]), "\n".join(lines[begin + 1 : -1])


def free_names(hidden):
    """The names that hidden lines, as a function, take from outside.

    >>> sorted(free_names("from os import path\\njudge.equal(path.join(*max(answer())), 3)"))
    ['answer', 'judge', 'max']
    """
    body = textwrap.indent(hidden or "pass", "    ")
    tables = symtable.symtable(f"def test():\n{body}", "<test>", "exec").get_children()
    found = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        symbols = (one for one in table.get_symbols() if one.is_global())
        found |= {one.get_name() for one in symbols if not one.is_declared_global()}
    return found


def _imports(hidden):
    """What a hidden test takes from Python and from its libraries, as statements."""
    names = sorted(free_names(hidden))
    built_in = [name for name in names if hasattr(builtins, name)]
    lines = [LIBRARIES[name] for name in names if name in LIBRARIES]
    return "\n".join([*lines, *(f"from builtins import {name}" for name in built_in)])


def guarded(source, token=None):
    """A test cell's source with its hidden region as a function, and at its end the token."""
    seen, hidden = split(source)
    sign = _SIGN.format(key=TOKEN, token=token) if token else ""
    lines = [_imports(hidden), preamble(), hidden, canaries(), sign]
    body = textwrap.indent("\n".join(lines), "    ").rstrip()
    return "\n".join([seen, _REGION.format(begin=BEGIN, body=body, end=END)]).lstrip("\n")


def course_secret(course):
    """The secret of a course folder, made on first use. Students' code must never see it."""
    path = Path(course) / SECRET
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, secrets.token_hex(16) + "\n")
        path.chmod(0o600)
    return path.read_text(encoding="utf-8").strip()


def token(secret, grade_id):
    """What the test cell ``grade_id`` shows when it ran to its end."""
    return hmac.new(secret.encode(), grade_id.encode(), hashlib.sha256).hexdigest()[:32]


def passed(cell, secret):
    """Whether an executed test cell earned its points: no error, and its token was shown.

    Whatever else stands in its outputs decides nothing: a warning on stderr costs no points, and
    a number that the cell displays gives none.
    """
    mine = token(secret, cell.metadata.nbgrader.grade_id)
    failed = any(output.output_type == "error" for output in cell.outputs)
    shown = [o.get("metadata", {}).get(TOKEN) for o in cell.outputs]
    return not failed and mine in shown

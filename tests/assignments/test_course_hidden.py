"""The judge says what is wrong but not all that is right, and notices when it was tampered with."""

import builtins

import numpy as np
import pytest
import torch
from course import hidden, judge
from nbformat import v4
from tiny_assignment import graded

FLAT = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


@pytest.mark.parametrize(
    "value",
    [FLAT, tuple(map(tuple, FLAT)), np.array(FLAT), [np.array(row) for row in FLAT],
     torch.tensor(FLAT, dtype=torch.float64, requires_grad=True), np.array(FLAT) + 9e-7],
    ids=["lists", "tuples", "array", "list of arrays", "tensor with gradient", "within tolerance"],
)  # fmt: skip
def test_close_takes_what_holds_numbers(value):
    judge.close(value, FLAT)
    judge.close(FLAT, value)


@pytest.mark.parametrize(
    ("value", "expected", "told"),
    [
        (np.array(FLAT)[0], FLAT, r"expected the shape (2, 3), got the shape (3,)"),
        ([[0.1, 0.2, 0.3]], FLAT, r"expected the shape (2, 3), got the shape (1, 3)"),
        (0.1, FLAT, r"expected the shape (2, 3), got the shape ()"),
        ([[0.1, 0.2], [0.3]], FLAT, "rows of different shapes"),
        (np.array(FLAT) + 2e-6, FLAT, "6 of 6 numbers are off by more than 1e-06, the first at [0"),
        ([[0.1, 0.2, 0.3], [0.4, 0.5, 0.7]], FLAT, "the first at [1, 2]: got 0.7, expected 0.6"),
        ([float("nan")], [0.5], "got nan, expected 0.5"),
        ([float("nan")], [float("nan")], "got nan, expected nan"),
        ([float("inf")], [float("inf")], "got inf, expected inf"),
        (["0.5"], [0.5], "expected numbers, got a str"),
        (np.array([0.5 + 0j]), [0.5], "expected numbers, got a complex"),
        (None, 0.5, "expected numbers, got a NoneType"),
        (..., 0.5, "expected numbers, got a ellipsis"),
    ],
)
def test_close_refuses(value, expected, told):
    with pytest.raises(AssertionError) as error:
        judge.close(value, expected)
    assert told in str(error.value)


def test_a_message_does_not_tell_the_whole_array():
    expected = np.arange(30.0).reshape(5, 6) + 0.125
    with pytest.raises(AssertionError) as error:
        judge.close(np.zeros((5, 6)), expected)
    assert str(error.value).count("125") == 1


@pytest.mark.parametrize("value", [True, np.True_, torch.tensor(True)])
def test_true_takes_booleans(value):
    judge.true(value, "must hold")


@pytest.mark.parametrize("value", [1, "yes", None, np.array([True, True]), False])
def test_true_refuses_what_is_only_truthy(value):
    with pytest.raises(AssertionError, match="must hold"):
        judge.true(value, "must hold")


def test_equal_is_exact_and_keeps_booleans_apart():
    judge.equal(np.array([3, 4]), [3, 4])
    judge.equal(np.array([[True, False]]), [[True, False]])
    judge.equal("float16", "float16")
    judge.equal([None, 2], (None, 2))
    for value, expected in [([1, 0], [True, False]), ([3, 5], [3, 4]), ("a", "b"), ([3], 3)]:
        with pytest.raises(AssertionError):
            judge.equal(value, expected)


def test_an_object_that_equals_everything_is_not_equal():
    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None

    with pytest.raises(AssertionError):
        judge.equal(Anything(), 3)
    with pytest.raises(AssertionError):
        judge.close([Anything()], [3.0])


def test_raises_tells_what_came():
    judge.raises((ValueError, TypeError), int, [])
    with pytest.raises(AssertionError, match="expected a ValueError, got a ZeroDivisionError: div"):
        judge.raises(ValueError, lambda: 1 / 0)
    with pytest.raises(AssertionError, match="expected a ValueError, but nothing was raised"):
        judge.raises(ValueError, lambda: 3)


def run(source, before="", **names):
    """Run a guarded test in a student's namespace."""
    namespace = dict(names)
    exec(before, namespace)
    exec(hidden.guarded(source), namespace)


TEST = graded("test", "Grades it.", "judge.close(answer(), [0.5, 0.25])").source
RIGHT, WRONG = "def answer():\n    return [0.5, 0.25]\n", "def answer():\n    return [0.5, 0.5]\n"


def test_a_guarded_test_judges():
    run(TEST, RIGHT)
    with pytest.raises(AssertionError, match=r"got 0.5, expected 0.25"):
        run(TEST, WRONG)


@pytest.mark.parametrize(
    "before",
    [
        "exec = compile = type = list = isinstance = zip = abs = len = None\n",
        "judge = None\n",
        "class AssertionError(Exception): pass\n",
        "np = numpy = None\n",
        "import types\nimport sys\n",
    ],
)
def test_a_student_may_use_any_name(before):
    """In one's own namespace, no name that the preamble uses is in the way or of any help."""
    run(TEST, RIGHT + before)
    with pytest.raises(BaseException, match=r"got 0.5, expected 0.25"):
        run(TEST, WRONG + before)


def test_a_hidden_test_uses_no_name_that_a_student_has_made():
    lines = (
        "expected = [max(0.5, 0.25), np.sum([0.25])]",
        "judge.close(answer(), expected)",
        "judge.raises(ValueError, int, 'x')",
    )
    source = graded("test", "Grades it.", "\n".join(lines)).source
    run(source, RIGHT + "max = sum\nnp = int = ValueError = None\n")
    with pytest.raises(AssertionError, match=r"got 0.5, expected 0.25"):
        run(source, WRONG + "from numpy import *\nnp = None\n")


PATCHES = {
    "abs": (builtins, "abs", lambda x: 0.0),
    "isinstance": (builtins, "isinstance", lambda *a: True),
    "enumerate": (builtins, "enumerate", lambda *a: []),
    "zip": (builtins, "zip", lambda *a, **k: []),
    "AssertionError": (builtins, "AssertionError", lambda *a: None),
    "float": (builtins, "float", lambda x: 1.0),
    "np.allclose": (np, "allclose", lambda *a, **k: True),
    "np.array_equal": (np, "array_equal", lambda *a, **k: True),
    "np.isclose": (np, "isclose", lambda *a, **k: np.True_),
    "np.all": (np, "all", lambda *a, **k: np.True_),
    "np.any": (np, "any", lambda *a, **k: np.True_),
    "np.sum": (np, "sum", lambda *a, **k: np.ones(2)),
    "np.abs": (np, "abs", lambda x: np.zeros(np.shape(x))),
    "np.max": (np, "max", lambda *a, **k: 0.0),
    "assert_allclose": (np.testing, "assert_allclose", lambda *a, **k: None),
    "assert_array_equal": (np.testing, "assert_array_equal", lambda *a, **k: None),
}


@pytest.mark.parametrize("name", PATCHES)
def test_patches_give_no_marks(name, monkeypatch):
    """A wrong answer stays wrong, and most patches are told apart from one."""
    code, wrong = compile(hidden.guarded(TEST), "<cell>", "exec"), {"answer": lambda: [0.5, 0.5]}
    monkeypatch.setattr(*PATCHES[name])
    failed = None
    try:
        exec(code, wrong)
    except BaseException as error:
        failed = error
    monkeypatch.undo()
    assert failed is not None
    if name != "AssertionError":
        assert hidden.CHANGED in str(failed)


def test_a_patch_made_by_an_answer_is_noticed():
    """An answer is called between the canaries; what it changes then shows in the last ones."""
    lines = (
        "import builtins",
        "def answer():",
        "    builtins.abs = lambda x: 0.0",
        "    return [1, 1]",
    )
    genuine = builtins.abs
    try:
        with pytest.raises(RuntimeError, match=hidden.CHANGED):
            run(TEST, "\n".join(lines))
    finally:
        builtins.abs = genuine


def test_an_answer_finds_neither_the_judge_nor_what_is_expected():
    source = graded(
        "test", "Grades it.", "expected = [0.5, 0.25]\njudge.close(answer(), expected)"
    ).source
    run(source, "def answer():\n    return [0.5, 0.25]\n")
    for greedy in ("return expected", "judge.close = print\n    return [0, 0]"):
        with pytest.raises(NameError):
            run(source, f"def answer():\n    {greedy}\n")


def test_a_hidden_test_replaces_no_helper_of_a_student():
    source = graded("test", "Grades it.", "half = 2\njudge.close(answer() * half, 1.0)").source
    run(source, "def half(x):\n    return x / 2\n\n\ndef answer():\n    return half(1.0)\n")
    namespace = {"answer": lambda: 0.5, "half": "mine", "judge": "mine"}
    exec(hidden.guarded(source), namespace)
    assert (namespace["half"], namespace["judge"]) == ("mine", "mine")
    assert set(namespace) == {"__builtins__", "answer", "half", "judge", "_hidden_test"}


def test_only_the_right_token_passes():
    cell = graded("a0-mean-test-1", "Grades it.", "judge.shape(1, ())")
    mine = hidden.token("s", "a0-mean-test-1")
    shown = v4.new_output("display_data", {"text/plain": "Done."}, metadata={hidden.TOKEN: mine})
    error = v4.new_output("error", ename="AssertionError", evalue="", traceback=[])
    stderr = v4.new_output("stream", name="stderr", text="a warning")
    number = v4.new_output("execute_result", {"text/plain": "2.0"}, execution_count=1)

    def passed(*outputs, secret="s"):
        cell.outputs = list(outputs)
        return hidden.passed(cell, secret)

    assert passed(shown)
    assert passed(stderr, shown)
    assert not passed()
    assert not passed(number)
    assert not passed(shown, error)
    assert not passed(shown, secret="another")


def test_the_secret_of_a_course_stays(tmp_path):
    secret = hidden.course_secret(tmp_path / "course")
    assert hidden.course_secret(tmp_path / "course") == secret
    assert (tmp_path / "course" / hidden.SECRET).stat().st_mode & 0o077 == 0
    assert hidden.course_secret(tmp_path / "other") != secret

"""No point without an answer: not for what a check shows, not for an error, not for a constant."""

import contextlib
import re

import pytest
from course import hidden
from course.play import run_cell
from test_what_checks_say import states

KEYS = ("a1", "a2", "a3")  # here a check takes the very function that the question asks for
MORE = ("a4", "a5", "a6")
NAMED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)

LOOKED_UP = """
from minitransformer.exercises._check import find


def {function}(*arguments):
    return find("{key}.{function}").solution(*arguments)
"""
EMPTY = {
    "an error": "def {function}(*arguments):\n    raise ValueError",
    "another error": "def {function}(*arguments):\n    raise TypeError",
    "nothing": "def {function}(*arguments):\n    return None",
    "zero": "def {function}(*arguments):\n    return 0.0",
    "yes": "def {function}(*arguments):\n    return True",
    "its first input": "def {function}(*arguments):\n    return arguments[0]",
}


def earned(key, name, text):
    """Whether the check passes, and the names of the tests that do."""
    question, before = states(key)[name]
    [check] = question.checks
    function = NAMED.search(question.solution.source)[1]
    space = dict(before)
    run_cell(text.format(key=key, function=function), space)
    passed = []
    for test in question.tests:
        with contextlib.suppress(Exception):
            run_cell(hidden.guarded(test.source), space)
            passed.append(test.id)
    checked = False
    with contextlib.suppress(Exception):
        checked = bool(run_cell(check.source, space))
    return checked, passed


def questions(keys):
    return [
        (key, name)
        for key in keys
        for name, (question, _) in states(key).items()
        if not question.manual
    ]


QUESTIONS = questions(KEYS)


@pytest.mark.parametrize(("key", "name"), QUESTIONS)
def test_the_answers_that_a_check_keeps_earn_nothing(key, name):
    assert earned(key, name, LOOKED_UP) == (True, [])


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize(("key", "name"), QUESTIONS + questions(MORE))
def test_an_empty_answer_earns_nothing(key, name, text):
    assert earned(key, name, text) == (False, [])


@pytest.mark.parametrize(("key", "name"), QUESTIONS)
def test_a_solution_earns_everything(key, name):
    question, _ = states(key)[name]
    source = question.solution.source.replace("{", "{{").replace("}", "}}")
    assert earned(key, name, source) == (True, [test.id for test in question.tests])

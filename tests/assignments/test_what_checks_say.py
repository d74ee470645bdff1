"""The visible checks of the assignments tell a student who went wrong what went wrong.

``TOLD`` in the files of wrong answers has, by question and label, words of the message; "" where
any will do, and None for an answer that the check lets pass and only the graded tests find.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from course.mutation import answers
from course.play import Player, run_cell
from course.sources import find

from minitransformer.exercises import CheckResult, check

MUTANTS = Path(__file__).with_name("mutants")
EXERCISES = Path(import_module("minitransformer.exercises").__file__).parent
KEYS = ("a1", "a2", "a3", "a4", "a5", "a6")


@cache
def states(key):
    """What a question's cells can use: a namespace for each question of an assignment."""
    [assignment] = find([key])
    player = Player(assignment.notebook)
    found = {}
    for question in assignment.questions:
        player.play_until(question.place)
        found[question.name] = question, dict(player._namespace)
    return found


def answer(key, name, text):
    """What the check of a question says to an answer; one that trains says True or False."""
    question, before = states(key)[name]
    space = dict(before)
    run_cell(text, space)
    try:
        said = run_cell(question.checks[0].source, space)
    except NotImplementedError:
        return CheckResult(name, "open", "")
    if isinstance(said, CheckResult):
        return said
    return CheckResult(name, "right" if said else "wrong", "")


def told(key):
    space = {}
    exec((MUTANTS / f"{key}.py").read_text(encoding="utf-8"), space)
    return space["TOLD"]


def given(kind):
    return [
        pytest.param(key, name, label, id=f"{name}: {label}")
        for key in KEYS
        for name, labels in answers(key)[kind].items()
        for label in labels
    ]


@pytest.mark.parametrize(("key", "name", "label"), given(0))
def test_wrong_answers_are_told_why(key, name, label):
    words = told(key)[name][label]
    result = answer(key, name, answers(key)[0][name][label])
    assert result.status == ("right" if words is None else "wrong"), repr(result)
    assert words is None or words in result.message


@pytest.mark.parametrize(("key", "name", "label"), given(1))
def test_right_answers_pass(key, name, label):
    result = answer(key, name, answers(key)[1][name][label])
    assert result, repr(result)


@pytest.mark.parametrize("key", KEYS)
def test_a_solution_passes_and_an_open_question_is_told_what_to_do(key):
    for name, (question, _) in states(key).items():
        if question.manual:
            continue
        source = question.solution.source
        assert answer(key, name, source), name
        begin, end = source.index("### BEGIN SOLUTION"), source.rindex("### END SOLUTION")
        stub = f"{source[:begin]}raise NotImplementedError\n{source[end:]}"
        assert answer(key, name, stub).status == "open", name


@pytest.mark.parametrize("key", KEYS)
def test_every_misconception_can_be_told(key):
    """None is right on all inputs, and none is hidden behind another one."""
    module = import_module(f"minitransformer.exercises.assignment_{key[1:]}")
    for exercise in module.EXERCISES:
        for misconception in exercise.misconceptions:
            result = check(f"{key}.{exercise.name}", misconception.formula)
            assert result.status == "wrong", misconception.explanation
            assert result.message.startswith(misconception.explanation), misconception.explanation


@pytest.mark.parametrize("key", KEYS)
def test_a_list_is_no_array(key):
    """Graded tests index what they get, so a check that took a list would cost points."""
    for exercise in import_module(f"minitransformer.exercises.assignment_{key[1:]}").EXERCISES:

        def listed(*inputs, known=exercise.solution):
            return known(*inputs).tolist()

        result = check(f"{key}.{exercise.name}", listed)
        whole = exercise.solution(*exercise.cases[0].arguments()).ndim == 0
        assert result.status == ("right" if whole else "wrong"), repr(result)
        assert whole or "they are in a list" in result.message


@pytest.mark.parametrize("key", KEYS)
def test_there_is_enough_of_both(key):
    wrong, right = answers(key)
    questions = {name for name, (question, _) in states(key).items() if not question.manual}
    assert set(wrong) == set(right) == set(told(key)) == questions
    for name in questions:
        assert len(wrong[name]) >= 5
        assert len(right[name]) >= 2
        assert set(told(key)[name]) == set(wrong[name])

"""What holds for the exercises of every chapter: right answers pass, wrong ones are told why.

The answers stand in the chapters' own test files (``RIGHT``) and in ``mutants`` (``MUTANTS``),
beside the tests that only one chapter has.
"""

from importlib import import_module
from pathlib import Path

import pytest

from minitransformer.exercises import check

FILES = sorted(Path(__file__).parent.glob("test_exercises_chapter_*.py"))
# A file that has a test of its own for something is not tested for it here as well.
CHAPTERS = [import_module(file.stem) for file in FILES]
OURS = [c for c in CHAPTERS if not hasattr(c, "test_right_answers_pass") and hasattr(c, "MUTANTS")]


def label(chapter):
    return chapter.__name__.removeprefix("test_exercises_")


def test_the_chapters_are_found():
    assert len(OURS) >= 9, [label(chapter) for chapter in OURS]


@pytest.mark.parametrize(
    ("name", "attempt"),
    [(name, attempt) for c in OURS for name in c.RIGHT for attempt in c.RIGHT[name]],
)
def test_right_answers_pass(name, attempt):
    result = check(name, attempt)
    assert result, repr(result)


@pytest.mark.parametrize(
    "mutant", [m for c in OURS for m in c.MUTANTS], ids=lambda mutant: mutant.attempt.__name__
)
def test_wrong_answers_are_told_why(mutant):
    result = check(mutant.exercise, mutant.attempt)
    assert result.status == "wrong"
    assert mutant.told in result.message


@pytest.mark.parametrize("chapter", OURS, ids=label)
def test_each_exercise_has_enough_of_both(chapter):
    wrong = [mutant.exercise for mutant in chapter.MUTANTS]
    assert set(chapter.RIGHT) == set(chapter.EXERCISES) == set(wrong)
    for name in chapter.EXERCISES:
        assert len(chapter.RIGHT[name]) >= 3
        assert wrong.count(name) >= 5


@pytest.mark.parametrize(
    "exercise", [e for c in OURS for e in c.EXERCISES.values()], ids=lambda e: e.name
)
def test_every_misconception_can_be_told(exercise):
    """None is right on all inputs, and none is hidden behind another one."""
    for misconception in exercise.misconceptions:
        result = check(exercise.name, misconception.formula)
        assert result.status == "wrong", misconception.explanation
        assert result.message.startswith(misconception.explanation), misconception.explanation

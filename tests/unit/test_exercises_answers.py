"""What holds for the exercises of every chapter: right answers pass, wrong ones are told why.

The answers stand in the chapters' own test files (``RIGHT``) and in ``mutants`` (``MUTANTS``),
beside the tests that only one chapter has.
"""

from importlib import import_module
from pathlib import Path

import pytest

from minitransformer.exercises import check

FILES = sorted(Path(__file__).parent.glob("test_exercises_chapter_*.py"))
CHAPTERS = [import_module(file.stem) for file in FILES]


def label(chapter):
    return chapter.__name__.removeprefix("test_exercises_")


def test_the_chapters_are_found():
    assert len(CHAPTERS) == 15, [label(chapter) for chapter in CHAPTERS]


@pytest.mark.parametrize(
    ("name", "attempt"),
    [(name, attempt) for c in CHAPTERS for name in c.RIGHT for attempt in c.RIGHT[name]],
)
def test_right_answers_pass(name, attempt):
    result = check(name, attempt)
    assert result, repr(result)


@pytest.mark.parametrize(
    "mutant", [m for c in CHAPTERS for m in c.MUTANTS], ids=lambda mutant: mutant.attempt.__name__
)
def test_wrong_answers_are_told_why(mutant):
    result = check(mutant.exercise, mutant.attempt)
    assert result.status == "wrong"
    assert mutant.told in result.message


@pytest.mark.parametrize("chapter", CHAPTERS, ids=label)
def test_each_exercise_has_enough_of_both(chapter):
    wrong = [mutant.exercise for mutant in chapter.MUTANTS]
    assert set(chapter.RIGHT) == set(chapter.EXERCISES) == set(wrong)
    for name in chapter.EXERCISES:
        assert len(chapter.RIGHT[name]) >= 3
        assert wrong.count(name) >= 5


@pytest.mark.parametrize(
    ("exercise", "also_called"),
    [(e, getattr(c, "ALSO_CALLED", {})) for c in CHAPTERS for e in c.EXERCISES.values()],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_misconception_can_be_told(exercise, also_called):
    """None is right on all inputs, and none is hidden behind another one, but those it names."""
    for misconception in exercise.misconceptions:
        told = misconception.explanation
        allowed = [
            other
            for (name, start), other in also_called.items()
            if name == exercise.name and told.startswith(start)
        ]
        result = check(exercise.name, misconception.formula)
        assert result.status == "wrong", told
        assert result.message.startswith((told, *allowed)), told

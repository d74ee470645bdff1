"""What an exercise is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["Case", "Exercise", "Misconception", "numbers", "same_input"]


@dataclass(frozen=True)
class Case:
    """One input that an attempt is tried on, and what is special about it.

    Attributes
    ----------
    about : str
        Completes the sentence "this was tried on ...".
    inputs : mapping of str to array, number or function
        The arguments, in the order in which the attempt takes them.
    """

    about: str
    inputs: Mapping[str, object]

    def arguments(self):
        """Fresh copies, so that nothing an attempt does to them outlives the call.

        A whole number comes as Python's: torch's ``chunk`` and others refuse an array without axes.
        """
        return [_copy(one) for one in self.inputs.values()]


@dataclass(frozen=True)
class Misconception:
    """A wrong formula that readers write, and what to tell them.

    Attributes
    ----------
    explanation : str
        Names the mistake and the way out, in a sentence or two.
    formula : callable
        Takes the same arguments as the attempt and computes what the mistake would give. Where the
        mistake ends in an exception, so does the formula.
    """

    explanation: str
    formula: Callable


@dataclass(frozen=True)
class Exercise:
    """A function that the reader writes.

    Attributes
    ----------
    task : str
        One sentence: what the function returns.
    solution : callable
        The answer that the book gives. It computes what is expected, and its source is what
        :func:`minitransformer.exercises.solution` shows.
    cases : tuple of Case
        From plain to special. The first that fails is the one the reader sees.
    misconceptions : tuple of Misconception
        The first that gives the reader's result is the one the reader sees.
    refused : tuple of (Case, kind of exception)
        Inputs that the attempt is to refuse, tried last; each is about "a single key", say.
    arrays : bool
        Whether nested lists will not do. Graded tests index what they get, as one does an array.
    """

    task: str
    solution: Callable
    cases: tuple
    misconceptions: tuple
    refused: tuple = ()
    arrays: bool = False

    @property
    def name(self):
        return self.solution.__name__

    @property
    def call(self):
        """How the function is called, for example ``softmax(scores)``."""
        return f"{self.name}({', '.join(self.cases[0].inputs)})"


def numbers(start, *shape):
    """An array of numbers from -2 to 2 with one decimal, the same everywhere.

    >>> numbers(1, 2, 3)
    array([[ 1.7,  0.9, -1.9],
           [-0.4,  2. , -0.2]])
    """
    return np.round(2 * np.sin(1.7 * np.arange(np.prod(shape)) + start), 1).reshape(shape)


def _copy(one):
    if not isinstance(one, np.ndarray):
        return one
    return one.item() if one.ndim == 0 and one.dtype.kind in "iu" else np.array(one)


def same_input(one, other):
    """Whether two inputs of a case are equal; NaN is equal to NaN here.

    >>> same_input(np.array([1.0, np.nan]), np.array([1.0, np.nan])), same_input(2, np.array([2]))
    (True, False)
    """
    if callable(one) or callable(other):
        return one is other
    one, other = np.asarray(one), np.asarray(other)
    return one.shape == other.shape and bool(
        np.all((one == other) | ((one != one) & (other != other)))
    )

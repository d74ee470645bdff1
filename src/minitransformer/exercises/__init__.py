"""Exercises that answer at once.

A chapter hands an attempt to :func:`check` and shows what comes back: a tick, or the input on which
the attempt fails, what came, what was expected, and the likely misconception.

>>> from minitransformer.exercises import check
>>> import numpy as np
>>> def softmax(scores):
...     return scores / scores.sum(axis=-1, keepdims=True)
>>> result = check("softmax", softmax)
>>> bool(result)
False
>>> print(result.message)
You divided the scores by their sum. Take exp of each score first: that makes them positive.

The book's own answer is one call away: :func:`solution`.

Each ``chapter_NN`` module holds the exercises of one chapter: solutions, inputs, misconceptions.
"""

from ._check import check, names
from ._result import CheckResult
from ._solution import Solution, solution

__all__ = ["CheckResult", "Solution", "check", "names", "solution"]

"""The book's own answers, shown when a reader asks for one."""

import inspect
import re
from dataclasses import dataclass
from importlib import import_module

from ._check import find

__all__ = ["Solution", "solution"]


@dataclass(frozen=True)
class Solution:
    """An answer to read, and to run where the attempt stood.

    Attributes
    ----------
    name : str
        The exercise.
    code : str
        The function under the name that the chapter's stub has.
    """

    name: str
    code: str

    def __repr__(self):
        return self.code

    def _repr_markdown_(self):
        return f"```python\n{self.code}\n```"


def solution(name):
    """The book's own answer to an exercise.

    It is the function that :func:`check` compares with, under the name of the reader's attempt:
    ``my_`` stands before the names of the chapter's exercises.

    Parameters
    ----------
    name : str
        The exercise, one of :func:`names`.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If there is no exercise of that name, or if it is a graded one.

    Examples
    --------
    >>> solution("attention")
    def my_attention(query, key, value):
        return my_attention_weights(query, key) @ value
    """
    exercise = find(name)
    module = import_module(exercise.solution.__module__)
    if not module.__name__.startswith(f"{__package__}.chapter_"):
        raise ValueError(f"{name!r} is graded: what is shown here are answers of the chapters")
    ours = "|".join(other.name for other in module.EXERCISES)
    code = inspect.getsource(exercise.solution).rstrip()
    return Solution(name, re.sub(rf"\b({ours})(?=\()", r"my_\1", code))

"""Try an attempt on every input of an exercise and say what came of it."""

import dataclasses
import difflib
import functools
import inspect
import linecache
import time
import traceback
from importlib import import_module
from pathlib import Path

import numpy as np

from . import _running
from ._diagnosis import as_answer, explain, same, shown, where_different, wrong_kind
from ._exercise import same_input
from ._result import CheckResult

__all__ = ["TIME_LIMIT", "check", "find", "names"]

TIME_LIMIT = 5.0  # seconds for all inputs of an exercise together


def names():
    """The names of all exercises, in the order of the chapters, then those of the assignments.

    >>> "softmax" in names(), "a1.softmax_along" in names()
    (True, True)
    """
    return [name for module in _modules() for name in _exercises(module)]


def check(name, attempt):
    """Try a reader's function and answer with a tick or with what is wrong.

    The function is called on copies of a few fixed inputs and compared in float64, shapes first; a
    number may be off by 1e-6, or by 1e-6 of itself if it is above 1. It may return whatever NumPy
    or torch can hold numbers in. Whatever it does - raise, loop, exit, print, return something else
    or change its inputs - is part of the answer, not an error of this function.

    Parameters
    ----------
    name : str
        The exercise, one of :func:`names`.
    attempt : function

    Returns
    -------
    CheckResult
        True if the attempt is right; false if it is wrong or only a stub (returns ``...`` or
        raises ``NotImplementedError``).

    Raises
    ------
    ValueError
        If there is no exercise of that name.

    Examples
    --------
    >>> import numpy as np
    >>> def softmax(scores):
    ...     exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    ...     return exponentials / exponentials.sum(axis=-1, keepdims=True)
    >>> check("softmax", softmax)
    ✓ softmax: right. All 4 inputs give what is expected.
    """
    exercise = find(name)
    if not callable(attempt):
        message = (
            "check takes your function itself, without brackets: "
            f"check({name!r}, {exercise.name}). "
            f"It got a {type(attempt).__name__}."
        )
        return CheckResult(name, "wrong", message)
    end = time.monotonic() + TIME_LIMIT
    trials = [(case, None) for case in exercise.cases] + list(exercise.refused)
    for case, refusal in trials:
        call = functools.partial(_try, attempt, case)
        outcome = _running.run(call, max(0, end - time.monotonic()))
        if refusal is None:
            result = _judge(exercise, case, attempt, outcome)
        else:
            result = _judge_refusal(exercise, case, attempt, outcome, refusal)
        if result is not None:
            return dataclasses.replace(result, name=name)
    return CheckResult(name, "right", f"All {len(trials)} inputs give what is expected.")


@functools.cache
def _modules():
    here = Path(__file__).parent
    kinds = "chapter_*.py", "assignment_*.py"
    return tuple(file.stem for kind in kinds for file in sorted(here.glob(kind)))


@functools.cache
def _exercises(module):
    """The exercises of a module by name; those of assignment 1 begin with ``a1.``"""
    kind, _, number = module.partition("_")
    prefix = f"a{number}." if kind == "assignment" else ""
    exercises = import_module(f"{__package__}.{module}").EXERCISES
    return {prefix + exercise.name: exercise for exercise in exercises}


def find(name):
    """The exercise of that name; where there is none, the error lists the near ones.

    Modules are imported one by one until it is found, an assignment's own first, so that one that
    cannot be imported takes no exercises with it but its own.
    """
    own = f"assignment_{str(name).partition('.')[0][1:]}"
    known, broken = [], ""
    for module in sorted(_modules(), key=lambda module: module != own):
        try:
            exercises = _exercises(module)
        except Exception as error:
            broken += f"{module} cannot be imported ({type(error).__name__}: {error}); "
            continue
        if name in exercises:
            return exercises[name]
        known += exercises
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(
        f"there is no exercise {name!r}; {broken}{hint}All of them: {', '.join(known)}"
    )


def _try(attempt, case):
    """Call the attempt; also find out which of its inputs it changed.

    Runs under the time limit, for reading a result may take as long as making it.
    """
    arguments = case.arguments()
    with np.errstate(all="ignore"):  # overflow shows in the result; a warning would come twice
        value = attempt(*arguments)
        unfinished = value is None or value is Ellipsis
        answer = value if unfinished else as_answer(value)
        parts = [as_answer(part) for part in value] if isinstance(value, tuple) else []
    changed = [
        name
        for (name, before), after in zip(case.inputs.items(), arguments, strict=True)
        if not same_input(before, after)
    ]
    return answer, parts, changed, isinstance(value, list)


def _judge(exercise, case, attempt, outcome):
    """The result if this case decides it, or None if the attempt is right so far."""
    if outcome.error is not None:
        return _judge_error(exercise, case, attempt, outcome)
    answer, parts, changed, listed = outcome.value
    if answer is Ellipsis or (answer is None and case is exercise.cases[0]):
        return _open(exercise, "" if answer is Ellipsis else "Your function returned None. ")
    expected = _expected(exercise, case)
    if answer is None:
        return _wrong(exercise, case, outcome, "Your function returned None: a return is missing.")
    if isinstance(answer, str):
        for number, part in enumerate(parts, start=1):
            if not isinstance(part, str) and same(part, expected):
                answer += f" Number {number} of yours is right: return it alone."
        return _wrong(exercise, case, outcome, answer)
    if not same(answer, expected):
        message = explain(answer, exercise, case, expected)
        if changed:
            message += f" Your function also changes its input {' and '.join(changed)}."
        return _wrong(exercise, case, outcome, message, *_compared(answer, expected))
    if message := wrong_kind(answer, expected, listed and exercise.arrays):
        return _wrong(exercise, case, outcome, message)
    if changed:
        message = (
            f"The result is right, but your function changes its input {' and '.join(changed)}, "
            "so that the caller's array is another one afterwards. Make a new array instead: "
            "x = x - 1, not x -= 1."
        )
        return _wrong(exercise, case, outcome, message)
    return None


def _judge_refusal(exercise, case, attempt, outcome, kind):
    """The result if an input was not refused that is to be, or None."""
    error = outcome.error
    if isinstance(error, kind):
        return None
    if isinstance(error, _running.TimeUp | SystemExit):
        return _judge_error(exercise, case, attempt, outcome)
    came = "a result came" if error is None else f"a {type(error).__name__} came"
    message = f"{case.about[:1].upper()}{case.about[1:]} is to be a {kind.__name__}, but {came}."
    return _wrong(exercise, case, outcome, message)


def _judge_error(exercise, case, attempt, outcome):
    error = outcome.error
    line, source = _place(error, attempt)
    if isinstance(error, NotImplementedError) and (not source or "raise" in source):
        return _open(exercise, "")
    at = f" in line {line}: {source}" if line else ""
    if isinstance(error, _running.TimeUp):
        message = f"Your function was not done after {TIME_LIMIT:g} seconds: does a loop never end?"
        if outcome.left_behind:
            message += " It could not be stopped and still runs; restarting Python ends it."
        return _wrong(exercise, case, outcome, message, ("Stopped", at.strip()))
    if isinstance(error, SystemExit):
        message = "Your function ends Python instead of returning: leave out exit()."
        return _wrong(exercise, case, outcome, message)
    told = traceback.format_exception_only(type(error), error)[-1].strip()[:500]
    message = explain(error, exercise, case, None) or "Your function raised an error."
    if line is None:
        message += f" It is called as {exercise.call}."
    return _wrong(
        exercise, case, outcome, message, ("The error", told + (f"\n{at.strip()}" if at else ""))
    )


def _place(error, attempt):
    """The innermost line of the reader's code that the error came through: its number and text."""
    code = getattr(inspect.unwrap(attempt), "__code__", None)
    found = None, ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if code is not None and frame.f_code.co_filename == code.co_filename:
            text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
            found = line, text
    return found


def _expected(exercise, case):
    return np.asarray(exercise.solution(*case.arguments()))


def _open(exercise, remark):
    message = f"{remark}{exercise.call} is to return {exercise.task}"
    return CheckResult(exercise.name, "open", message)


def _wrong(exercise, case, outcome, message, *details):
    given = "\n".join(f"{name} =\n{shown(array)}" for name, array in case.inputs.items())
    details = [(f"Tried on {case.about}", given), *((head, text) for head, text in details if text)]
    if outcome.printed:
        details.append(("Your function printed", outcome.printed))
    return CheckResult(exercise.name, "wrong", message, tuple(details))


def _digits(number):
    return str(number) if number.dtype == bool else f"{number:.7g}"


def _compared(answer, expected):
    """What came and what was expected, with the first number that differs."""
    first = ""
    if answer.shape == expected.shape and answer.ndim:
        at = tuple(int(i) for i in np.argwhere(where_different(answer, expected))[0])
        where = ", ".join(map(str, at))
        first = f"{_digits(answer[at])} came at [{where}], {_digits(expected[at])} was expected"
    return (
        (f"Yours, shape {answer.shape}", shown(answer)),
        (f"Expected, shape {expected.shape}", shown(expected)),
        ("First difference", first),
    )

"""From an attempt's result to what is probably wrong with it."""

import itertools

import numpy as np

__all__ = ["TOLERANCE", "as_answer", "explain", "shown", "where_different", "wrong_kind"]

# Both sides as float64 may differ by this much, or by this share of an expected number above 1.
TOLERANCE = 1e-6

_ROUNDED = 6e-3  # a result this close is right but for lost digits: two decimals are left


def as_answer(value):
    """The array that a function returned, or a sentence on why it is none.

    Parameters
    ----------
    value : anything
        Torch tensors are taken as well, on whatever device and with or without a gradient.

    Returns
    -------
    array of numbers or str
    """
    if isinstance(value, tuple):
        return f"Your function returned a tuple of {len(value)}; one array is expected."
    if hasattr(value, "__next__") or hasattr(value, "cr_frame"):
        if hasattr(value, "close"):
            value.close()
        return (
            f"Your function returned a {type(value).__name__}, which holds no numbers yet; "
            "an array is expected."
        )
    kind = type(value).__name__
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        array = np.asarray(value)
    except Exception as error:
        return f"NumPy cannot make an array of what your function returned, a {kind}: {error}"
    if array.dtype.kind not in "fiub":
        return (
            f"Your function returned a {kind} that NumPy reads as dtype {array.dtype}; "
            "an array of real numbers is expected."
        )
    return array


def where_different(got, expected):
    """A boolean array, ``True`` where the two differ by more than the tolerance.

    >>> where_different(np.array([0.5, 0.2500001]), np.array([0.4, 0.25]))
    array([ True, False])
    """
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        near = np.abs(got - expected) <= TOLERANCE * np.maximum(1, np.abs(expected))
        near &= np.isfinite(expected)  # infinity times the tolerance would allow everything
    return ~(near | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def same(got, expected):
    return got.shape == expected.shape and not where_different(got, expected).any()


def explain(answer, exercise, case, expected):
    """Say what is probably wrong with the answer to one case.

    Parameters
    ----------
    answer : array or Exception
        What came of the attempt.
    exercise : Exercise
    case : Case
    expected : array

    Returns
    -------
    str or None
        The explanation of the first misconception that gives the same result here and the right
        one on the cases before, which the attempt has passed; failing that, what can be
        seen from the numbers alone; None if an exception says all there is to say.
    """
    for misconception in exercise.misconceptions:
        if _outcome_is(answer, _result_of(misconception.formula, case)) and all(
            _outcome_is(
                _result_of(exercise.solution, passed), _result_of(misconception.formula, passed)
            )
            for passed in itertools.takewhile(lambda other: other is not case, exercise.cases)
        ):
            return misconception.explanation
    if isinstance(answer, BaseException):
        return None
    if answer.shape != expected.shape:
        return _about_shape(answer, expected)
    return _about_numbers(answer, expected)


def wrong_kind(answer, expected, listed):
    """Say what is wrong with the kind of an answer whose numbers are right; "" if nothing is."""
    if listed:
        return "The entries are right, but they are in a list; return an array: np.array(...)."
    if expected.dtype == bool != answer.dtype:
        return (
            f"The entries are right, but they are numbers ({answer.dtype}), and a mask is boolean: "
            "added to scores, or as an index, 0 and 1 mean something else. Compare, or use "
            ".astype(bool)."
        )
    if expected.dtype == np.float16 != answer.dtype:
        return (
            f"The numbers are right, but they are {answer.dtype}, and float16 is asked for. Did "
            "something else come into the product? A NumPy number, such as np.sqrt(4), takes a "
            "float16 array along; a Python number, 4**0.5, doesn't."
        )
    return ""


def _result_of(formula, case):
    """What a wrong formula gives: an array, or the exception it ends in."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(formula(*case.arguments()))
    except Exception as error:
        return error


def _outcome_is(answer, other):
    if isinstance(answer, BaseException) or isinstance(other, Exception):
        return type(answer) is type(other) and str(answer) == str(other)
    return same(answer, other)


def _about_shape(answer, expected):
    if answer.ndim >= 2 and same(np.swapaxes(answer, -1, -2), expected):
        return (
            "The numbers are right, but rows and columns are exchanged: "
            f"your shape is {answer.shape}, expected is {expected.shape}."
        )
    if answer.size == expected.size and same(answer.reshape(expected.shape), expected):
        return f"The numbers are right, but your shape is {answer.shape}, not {expected.shape}."
    return f"The shape is wrong: {answer.shape} came, {expected.shape} is expected."


def _about_numbers(answer, expected):
    sizes = np.asarray(answer, np.float64)
    if not np.isfinite(sizes).all() and np.isfinite(expected).all():
        return (
            f"Your result holds {_count_of_bad(sizes)}: somewhere exp became infinite, "
            "or 0 was divided by 0."
        )
    if answer.dtype.kind == "b" and expected.dtype.kind != "b":
        return "Your result holds only True and False; numbers are expected."
    if answer.ndim >= 2 and _square(answer) and same(np.swapaxes(answer, -1, -2), expected):
        return "The numbers are right, but rows and columns are exchanged (transposed)."
    if np.abs(sizes - expected).max() < _ROUNDED * max(1, np.abs(expected).max()):
        return _about_digits(answer)
    if (factor := _factor(sizes, expected)) is not None:
        return f"All your numbers are {factor:.4g} times what is expected."
    return _about_sums(sizes, expected) or _about_places(sizes, expected)


def _count_of_bad(sizes):
    counts = (np.isnan(sizes).sum(), "NaN"), (np.isinf(sizes).sum(), "infinity")
    return " and ".join(
        f"{word} in {count} of {sizes.size} places" for count, word in counts if count
    )


def _square(array):
    return array.shape[-1] == array.shape[-2]


def _about_digits(answer):
    if answer.dtype.kind == "f" and answer.dtype.itemsize < 8:
        return (
            f"Almost right, but digits were lost: your function calculates in {answer.dtype}, and "
            "the larger a score, the fewer of its decimals fit in there. Keep the input's float64."
        )
    return (
        "Almost right, but digits were lost on the way: was a number rounded "
        "(1.41 for √2), or something small added?"
    )


def _factor(sizes, expected):
    large = np.abs(expected) > 1e-3
    if large.sum() < 2:
        return None
    ratio = sizes[large] / expected[large]
    factor = ratio.mean()
    constant = (
        np.ptp(ratio) < 1e-5 * abs(factor) and not where_different(sizes, factor * expected).any()
    )
    return factor if constant else None


def _about_sums(sizes, expected):
    """Weights sum to 1 along the last axis; where those of the reader do not, that is the news."""
    if not _sums_to_one(expected):
        return None
    if (sizes < 0).any():
        return f"Weights are never negative; yours go down to {sizes.min():.4g}."
    if _sums_to_one(sizes):
        return None
    if sizes.ndim >= 2 and _sums_to_one(np.swapaxes(sizes, -1, -2)):
        return "Your rows do not sum to 1, but your columns do: something ran over the wrong axis."
    first = sizes.reshape(-1, sizes.shape[-1]).sum(axis=-1)[0]
    return f"Your weights do not sum to 1: those of the first row sum to {first:.4g}."


def _sums_to_one(array):
    return (
        array.ndim > 0 and not where_different(array.sum(axis=-1), np.ones(array.shape[:-1])).any()
    )


def _about_places(sizes, expected):
    wrong = where_different(sizes, expected)
    if wrong.size == 1:
        return "The answer is wrong."
    are = "is" if wrong.sum() == 1 else "are"
    return f"{wrong.sum()} of {wrong.size} numbers {are} wrong."


def shown(array):
    """An array as text, the same whatever the reader's print options are; a function as its name.

    >>> print(shown(np.array([[1.0, 1 / 3], [1000.1, np.nan]])))
    [[   1.0000    0.3333]
     [1000.1000       nan]]
    """
    if callable(array):
        return array.__name__
    with np.printoptions(formatter=None):
        return np.array2string(
            np.asarray(array),
            precision=4,
            suppress_small=True,
            floatmode="fixed",
            max_line_width=88,
            threshold=120,
            edgeitems=3,
            sign="-",
        )

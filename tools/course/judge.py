"""What hidden tests compare with: plain Python, and no word about the whole of what is expected.

Hidden tests do not import this module. Its text is put in front of each of them and executed in a
namespace of its own (see ``hidden.py``), so nothing that a student's code has patched is used: not
NumPy's comparisons, not torch's, only the ``shape`` and ``tolist`` of what came.
"""


def shape(value, expected):
    """Fail unless ``value`` has the shape ``expected``, a tuple.

    >>> shape([[1, 2, 3], [4, 5, 6]], (2, 3))
    >>> shape([1, 2], (2, 1))
    Traceback (most recent call last):
    ...
    AssertionError: expected the shape (2, 1), got the shape (2,)
    """
    _same_shape(_flat(value)[0], tuple(expected))


def close(value, expected, atol=1e-6):
    """Fail unless ``value`` has the shape and, within ``atol``, the numbers of ``expected``.

    Arrays, tensors, nested lists and single numbers do; booleans count as 0 and 1. NaN and infinity
    are close to nothing.

    >>> close([0.5, 0.25], (0.5, 0.2500001))
    >>> close([0.5, float("nan")], [0.5, 0.25])
    Traceback (most recent call last):
    ...
    AssertionError: 1 of 2 numbers is off by more than 1e-06, the first at [1]: got nan, \
expected 0.25
    """
    came, numbers = _flat(value)
    wanted, targets = _flat(expected)
    _same_shape(came, wanted)
    for number in numbers:
        if type(number) not in (bool, int, float):  # whose comparisons nobody has redefined
            raise AssertionError(f"expected numbers, got a {type(number).__name__}")
    far = [
        place
        for place, (number, target) in enumerate(zip(numbers, targets))  # noqa: B905
        if not (abs(float(number) - float(target)) <= atol) or target - target != 0
    ]
    if far:
        _differ(far, came, numbers, targets, f"off by more than {atol:g}", "number")


def equal(value, expected):
    """Fail unless ``value`` has the shape of ``expected`` and the very same entries.

    Entries are whole numbers, booleans, strings or None. True is not 1 here.

    >>> equal([[True, False]], [[True, False]])
    >>> equal([1, 0], [True, False])
    Traceback (most recent call last):
    ...
    AssertionError: 2 of 2 entries are different, the first at [0]: got 1, expected True
    """
    came, entries = _flat(value)
    wanted, targets = _flat(expected)
    _same_shape(came, wanted)
    other = [
        place
        for place, (entry, target) in enumerate(zip(entries, targets))  # noqa: B905
        if isinstance(entry, bool) is not isinstance(target, bool) or not _one(entry, target)
    ]
    if other:
        _differ(other, came, entries, targets, "different", "entry")


def raises(kind, function, *arguments, **named):
    """Fail unless ``function(*arguments, **named)`` raises a ``kind`` of exception.

    >>> raises(ValueError, int, "three")
    >>> raises(ValueError, int, "3")
    Traceback (most recent call last):
    ...
    AssertionError: expected a ValueError, but nothing was raised
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = " or ".join(one.__name__ for one in kinds)
    try:
        function(*arguments, **named)
    except kind:
        return
    except NotImplementedError:  # a question that was left open
        raise
    except Exception as error:
        came = type(error).__name__
        raise AssertionError(f"expected a {wanted}, got a {came}: {str(error)[:200]}") from None
    raise AssertionError(f"expected a {wanted}, but nothing was raised")


def true(condition, message):
    """Fail with ``message`` unless ``condition`` is True (of Python, NumPy or torch).

    >>> true(2 > 1, "two is more than one")
    >>> true("yes", "the answer is a boolean")
    Traceback (most recent call last):
    ...
    AssertionError: the answer is a boolean
    """
    if _listed(condition) is not True:
        raise AssertionError(message)


def _flat(value):
    """The shape of nested lists, an array or a tensor, and its entries as one list."""
    value = _listed(value)
    if not isinstance(value, (list, tuple)):
        return (), [value]
    rows = [_flat(row) for row in value]
    shapes = [row[0] for row in rows]
    if any(one != shapes[0] for one in shapes):
        raise AssertionError(f"expected an array, got rows of different shapes: {shapes[:4]}")
    return (len(rows), *(shapes[0] if rows else ())), [entry for row in rows for entry in row[1]]


def _listed(value):
    """An array or a tensor as nested lists of Python numbers; anything else as it is."""
    if hasattr(value, "detach"):
        value = value.detach()
    return value.tolist() if hasattr(value, "tolist") else value


def _one(entry, target):
    """Whether two entries are the same; one that cannot be compared is not."""
    return type(entry) in (bool, int, float, str, type(None)) and entry == target


def _same_shape(came, wanted):
    if came != wanted:
        raise AssertionError(f"expected the shape {wanted}, got the shape {came}")


def _differ(places, sizes, entries, targets, how, noun):
    """Fail, telling how many entries differ and only the first of them."""
    first = rest = places[0]
    index = []
    for size in sizes[::-1]:
        rest, at = divmod(rest, size)
        index.insert(0, at)
    got, wanted = (
        f"{one:.6g}" if isinstance(one, float) else repr(one)[:80]
        for one in (entries[first], targets[first])
    )
    nouns = noun if len(entries) == 1 else {"entry": "entries"}.get(noun, f"{noun}s")
    verb = "is" if len(places) == 1 else "are"
    where = f", the first at {index}" if index else ""
    raise AssertionError(
        f"{len(places)} of {len(entries)} {nouns} {verb} {how}{where}: got {got}, expected {wanted}"
    )

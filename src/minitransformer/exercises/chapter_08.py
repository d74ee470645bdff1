"""Chapter 8: sinusoidal positions, a rotary turn, half a block, top-p."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._position_mistakes import TURNED, WAVES

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def waves(positions, d_model):
    speeds = 10000 ** (-np.arange(0, d_model, 2) / d_model)
    angles = positions[:, None] * speeds
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(len(positions), -1)


def turned(x, angles):
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    pair = first * cos - second * sin, second * cos + first * sin
    return np.concatenate(pair, axis=-1)


def feed_forward_step(x, w_1, w_2):
    centred = x - x.mean(axis=-1, keepdims=True)
    normed = centred / centred.std(axis=-1, keepdims=True)
    return x + np.maximum(normed @ w_1, 0) @ w_2


def nucleus(probabilities, p):
    order = np.argsort(-probabilities, axis=-1)
    ordered = np.take_along_axis(probabilities, order, axis=-1)
    kept = np.where(np.cumsum(ordered, axis=-1) - ordered < p, ordered, 0)
    kept = np.take_along_axis(kept, np.argsort(order, axis=-1), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)


# --- what goes wrong with half a block -----------------------------------------------------------


def _norm(x, axis=-1):
    centred = x - x.mean(axis=axis, keepdims=True)
    return centred / centred.std(axis=axis, keepdims=True)


def _network(x, w_1, w_2):
    return np.maximum(x @ w_1, 0) @ w_2


def _sample_std(x, w_1, w_2):
    centred = x - x.mean(axis=-1, keepdims=True)
    return x + _network(centred / x.std(axis=-1, ddof=1, keepdims=True), w_1, w_2)


def _variance(x, w_1, w_2):
    centred = x - x.mean(axis=-1, keepdims=True)
    return x + _network(centred / x.var(axis=-1, keepdims=True), w_1, w_2)


def _rms(x, w_1, w_2):
    return x + _network(x / np.sqrt((x**2).mean(axis=-1, keepdims=True)), w_1, w_2)


STEP = (
    Misconception(
        "The residual is missing: this is what the step adds. Add it to x.",
        lambda x, w_1, w_2: _network(_norm(x), w_1, w_2),
    ),
    Misconception(
        "The norm is missing: the maps are to read norm(x).",
        lambda x, w_1, w_2: x + _network(x, w_1, w_2),
    ),
    Misconception(
        "This is post-norm, the norm of the sum. In pre-norm the stream x itself is not normed.",
        lambda x, w_1, w_2: _norm(x + _network(x, w_1, w_2)),
    ),
    Misconception(
        "You added the result to norm(x). The residual is x itself, or nothing runs past the norm.",
        lambda x, w_1, w_2: _norm(x) + _network(_norm(x), w_1, w_2),
    ),
    Misconception(
        "The bend is missing: without the ReLU, two maps are one.",
        lambda x, w_1, w_2: x + _norm(x) @ w_1 @ w_2,
    ),
    Misconception(
        "The ReLU stands behind both maps. It belongs between them, where it is wide.",
        lambda x, w_1, w_2: x + np.maximum(_norm(x) @ w_1 @ w_2, 0),
    ),
    Misconception(
        "You normed over all tokens together. Each token is normed on its own: axis=-1.",
        lambda x, w_1, w_2: x + _network((x - x.mean()) / x.std(), w_1, w_2),
    ),
    Misconception(
        "You normed each column over the tokens (as batch norm does). Layer norm runs over the "
        "numbers of one token: axis=-1.",
        lambda x, w_1, w_2: x + _network(_norm(x, axis=-2), w_1, w_2),
    ),
    Misconception(
        "You divided by the variance; it is its root, the standard deviation.",
        _variance,
    ),
    Misconception(
        "Your standard deviation divides by n - 1. Layer norm divides by n: ddof=0.",
        _sample_std,
    ),
    Misconception(
        "This is RMS norm, which does not subtract the mean. Layer norm does, first.",
        _rms,
    ),
)

# --- what goes wrong with top-p ------------------------------------------------------------------


def _ordered(probabilities):
    order = np.argsort(-probabilities, axis=-1)
    return order, np.take_along_axis(probabilities, order, axis=-1)


def _back(kept, order):
    return np.take_along_axis(kept, np.argsort(order, axis=-1), axis=-1)


def _shared(kept):
    return kept / kept.sum(axis=-1, keepdims=True)


def _kept(probabilities, p):
    order, ordered = _ordered(probabilities)
    return _back(np.where(np.cumsum(ordered, axis=-1) - ordered < p, ordered, 0), order)


def _too_few(probabilities, p):
    order, ordered = _ordered(probabilities)
    return _shared(_back(np.where(np.cumsum(ordered, axis=-1) <= p, ordered, 0), order))


def _not_back(probabilities, p):
    _, ordered = _ordered(probabilities)
    return _shared(np.where(np.cumsum(ordered, axis=-1) - ordered < p, ordered, 0))


def _unsorted(probabilities, p):
    before = np.cumsum(probabilities, axis=-1) - probabilities
    return _shared(np.where(before < p, probabilities, 0))


def _unlikeliest(probabilities, p):
    order = np.argsort(probabilities, axis=-1)
    ordered = np.take_along_axis(probabilities, order, axis=-1)
    return _shared(_back(np.where(np.cumsum(ordered, axis=-1) - ordered < p, ordered, 0), order))


def _order_as_places(probabilities, p):
    order, ordered = _ordered(probabilities)
    kept = np.where(np.cumsum(ordered, axis=-1) - ordered < p, ordered, 0)
    return _shared(np.take_along_axis(kept, order, axis=-1))


def _as_many(probabilities, p):
    _, ordered = _ordered(probabilities)
    n_kept = 1 + (np.cumsum(ordered[0]) < p).sum()
    return _shared(np.where(probabilities >= ordered[:, n_kept - 1 : n_kept], probabilities, 0))


NUCLEUS = (
    Misconception(
        "What is left does not sum to 1: divide each row by its sum.",
        _kept,
    ),
    Misconception(
        "The word that takes the sum to p or past it is missing: the kept words are to *reach* p. "
        "Ask whether the sum *before* a word is still below p.",
        _too_few,
    ),
    Misconception(
        "You counted the words to keep in the first text and kept as many in all. Each text needs "
        "a number of its own.",
        _as_many,
    ),
    Misconception(
        "Your result is sorted: the probabilities stand at the places of other words. Put them "
        "back where they came from.",
        _not_back,
    ),
    Misconception(
        "You added up from left to right. The likeliest come first, wherever they stand.",
        _unsorted,
    ),
    Misconception(
        "You began with the unlikeliest words. argsort sorts upwards: sort -probabilities.",
        _unlikeliest,
    ),
    Misconception(
        "You put the words back with the order itself. Back leads its inverse, argsort of order.",
        _order_as_places,
    ),
    Misconception(
        "You kept each word whose own probability is at least p. p is for the sum of all kept.",
        lambda probabilities, p: _shared(np.where(probabilities >= p, probabilities, 0)),
    ),
    Misconception(
        "You shared out anew with a softmax, which makes other numbers of probabilities: divide "
        "by the sum.",
        lambda probabilities, p: _shared(
            np.where(_kept(probabilities, p) > 0, np.exp(_kept(probabilities, p)), 0)
        ),
    ),
)

# --- inputs --------------------------------------------------------------------------------------

POSITIONS = (
    Case("places 0 to 4, width 6", {"positions": np.arange(5), "d_model": np.array(6)}),
    Case(
        "places that do not begin at 0, width 8",
        {"positions": np.array([7, 8, 40]), "d_model": np.array(8)},
    ),
)

_X = np.random.default_rng(20).normal(size=(2, 4)).round(2)
_ANGLES = np.array([[0.0, 0.0], [1.2, 0.3]])

PAIRS = (
    Case("two tokens of four numbers", {"x": _X, "angles": _ANGLES}),
    Case(
        "three heads, four tokens of six numbers",
        {
            "x": np.random.default_rng(21).normal(size=(3, 4, 6)).round(2),
            "angles": np.arange(4)[:, None] * np.array([1.0, 0.1, 0.01]),
        },
    ),
)


def _maps(seed, *shape):
    """x, w_1 and w_2 of matching sizes."""
    rng = np.random.default_rng(seed)
    up, down = rng.normal(size=(shape[-1], 7)), rng.normal(size=(7, shape[-1]))
    return {
        "x": rng.normal(1.0, 2.0, size=shape).round(2),
        "w_1": up.round(2),
        "w_2": down.round(2),
    }


TOKENS = (
    Case("three tokens of four numbers", _maps(22, 3, 4)),
    Case("two texts of five tokens of three numbers", _maps(23, 2, 5, 3)),
)

PROBABILITIES = (
    Case(
        "two texts, five words, p = 0.7",
        {
            "probabilities": np.array([[0.09, 0.45, 0.05, 0.3, 0.11], [0.08, 0.02, 0.6, 0.1, 0.2]]),
            "p": np.array(0.7),
        },
    ),
    Case(
        "p below the likeliest word's probability",
        {"probabilities": np.array([[0.25, 0.6, 0.15]]), "p": np.array(0.5)},
    ),
    Case(
        "p = 1: nothing is removed",
        {"probabilities": np.array([[0.5, 0.125, 0.375]]), "p": np.array(1.0)},
    ),
    Case(
        "texts that need two words, one and three",
        {
            "probabilities": np.array(
                [[0.5, 0.05, 0.25, 0.2], [0.1, 0.75, 0.03, 0.12], [0.15, 0.25, 0.32, 0.28]]
            ),
            "p": np.array(0.7),
        },
    ),
)

EXERCISES = (
    Exercise(
        "position vectors (position, d_model): sines in the even columns, cosines in the odd ones, "
        "columns 2i and 2i + 1 at the frequency 10000^(-2i/d_model).",
        waves,
        POSITIONS,
        WAVES,
    ),
    Exercise(
        "x with number i of its first half and number i of its second half turned as a pair by "
        "angle i.",
        turned,
        PAIRS,
        TURNED,
    ),
    Exercise(
        "x + relu(norm(x) @ w_1) @ w_2, where norm brings each token to mean 0 and variance 1.",
        feed_forward_step,
        TOKENS,
        STEP,
    ),
    Exercise(
        "the probabilities of the fewest words that reach p together, the likeliest first, shared "
        "out anew to sum to 1, and 0 for all others.",
        nucleus,
        PROBABILITIES,
        NUCLEUS,
    ),
)

"""Chapter 4: the size of dot products, what it does to weights, and temperature."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._formulas import bare_softmax as _softmax

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def product_std(query_std, key_std, d_k):
    return query_std * key_std * np.sqrt(d_k)


def effective_keys(weights):
    logarithms = np.log(np.where(weights > 0, weights, 1))
    return np.exp(-(weights * logarithms).sum(axis=-1))


def softmax_jacobian(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    diagonal = weights[..., :, None] * np.eye(weights.shape[-1])
    return diagonal - weights[..., :, None] * weights[..., None, :]


def tempered_softmax(scores, temperature):
    scores = scores / temperature
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


# --- what goes wrong -----------------------------------------------------------------------------

SIZES = (
    Misconception(
        "This is the variance. The standard deviation is its square root.",
        lambda query_std, key_std, d_k: d_k * query_std**2 * key_std**2,
    ),
    Misconception(
        "You multiplied by d_k. Variances add up to d_k times as much, so the standard deviation "
        "grows with the square root of d_k.",
        lambda query_std, key_std, d_k: query_std * key_std * d_k,
    ),
    Misconception(
        "The width is missing: a dot product adds d_k terms, and their variances add up.",
        lambda query_std, key_std, d_k: query_std * key_std,
    ),
    Misconception(
        "You divided by the square root of d_k. That is what attention does afterwards; the dot "
        "products themselves grow with it.",
        lambda query_std, key_std, d_k: query_std * key_std / np.sqrt(d_k),
    ),
    Misconception(
        "This holds for queries and keys with a standard deviation of 1 only. Each term is a "
        "number of the query times one of the key, so both sizes multiply it.",
        lambda query_std, key_std, d_k: np.sqrt(d_k) + 0 * query_std * key_std,
    ),
    Misconception(
        "You added up the sizes of query and key. Each term is a product, so its size is the "
        "product of the two.",
        lambda query_std, key_std, d_k: (query_std + key_std) * np.sqrt(d_k),
    ),
    Misconception(
        "You left out one of the two sizes: query and key both multiply the term.",
        lambda query_std, key_std, d_k: query_std * np.sqrt(d_k) + 0 * key_std,
    ),
    Misconception(
        "You left out one of the two sizes: query and key both multiply the term.",
        lambda query_std, key_std, d_k: key_std * np.sqrt(d_k) + 0 * query_std,
    ),
)


def _entropy(weights, log=np.log, axis=-1):
    return -(weights * log(np.where(weights > 0, weights, 1))).sum(axis=axis)


COUNTS = (
    Misconception(
        "This is the entropy. The effective number of keys is e to its power.",
        _entropy,
    ),
    Misconception(
        "The base of the logarithm and the base of the power differ: log2 goes with 2 to the "
        "power, the natural logarithm with exp.",
        lambda weights: np.exp(_entropy(weights, np.log2)),
    ),
    Misconception(
        "The base of the logarithm and the base of the power differ: log2 goes with 2 to the "
        "power, the natural logarithm with exp.",
        lambda weights: 2 ** _entropy(weights),
    ),
    Misconception(
        "The sign of the entropy is the wrong way round: ln of a weight is negative, so the sum "
        "takes a minus.",
        lambda weights: np.exp(-_entropy(weights)),
    ),
    Misconception(
        "The sum runs over the wrong axis, or over all weights at once. Each query has a number "
        "of its own: sum over the last axis.",
        lambda weights: np.exp(_entropy(weights, axis=0)),
    ),
    Misconception(
        "The sum runs over the wrong axis, or over all weights at once. Each query has a number "
        "of its own: sum over the last axis.",
        lambda weights: np.exp(_entropy(weights, axis=None)),
    ),
    Misconception(
        "You took the mean instead of the sum: an entropy adds up over the keys.",
        lambda weights: np.exp(_entropy(weights) / weights.shape[-1]),
    ),
    Misconception(
        "This is another measure, 1 over the sum of the squared weights. The one asked for is e "
        "to the power of the entropy.",
        lambda weights: 1 / (weights**2).sum(axis=-1),
    ),
    Misconception(
        "You counted the keys whose weight is not 0. A key with a tiny weight is to count little.",
        lambda weights: (weights > 0).sum(axis=-1),
    ),
    Misconception(
        "A weight of 0 gives 0 · ln 0, which a computer makes NaN. It adds nothing to the "
        "entropy: put 1 in its place inside the logarithm, and the term is 0.",
        lambda weights: np.exp(-(weights * np.log(weights)).sum(axis=-1)),
    ),
)


def _parts(scores):
    weights = _softmax(scores)
    outer = weights[..., :, None] * weights[..., None, :]
    return weights, weights[..., :, None] * np.eye(weights.shape[-1]), outer


def _on_the_diagonal(values):
    return values[..., :, None] * np.eye(values.shape[-1])


def _sigmoid_like(scores):
    weights, _, _ = _parts(scores)
    return _on_the_diagonal(weights * (1 - weights))


def _without_softmax(scores):
    return _on_the_diagonal(scores) - scores[..., :, None] * scores[..., None, :]


def _overflowing(scores):
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return _on_the_diagonal(weights) - weights[..., :, None] * weights[..., None, :]


def _one_row(scores):
    weights, _, _ = _parts(scores)
    return np.diag(weights) - np.outer(weights, weights)


SLOPES = (
    Misconception(
        "Only the diagonal is right. A higher score for one key takes weight from all others: "
        "entry (i, j) is −w_i · w_j there.",
        _sigmoid_like,
    ),
    Misconception(
        "The products w_i · w_j are missing: they are subtracted from the diagonal matrix.",
        lambda scores: _parts(scores)[1],
    ),
    Misconception(
        "The diagonal matrix of the weights is missing; these are only the products w_i · w_j.",
        lambda scores: -_parts(scores)[2],
    ),
    Misconception(
        "The diagonal matrix of the weights is missing; these are only the products w_i · w_j.",
        lambda scores: _parts(scores)[2],
    ),
    Misconception(
        "You added the products w_i · w_j; they are subtracted, for weights sum to 1 and one can "
        "only grow at the expense of others.",
        lambda scores: _parts(scores)[1] + _parts(scores)[2],
    ),
    Misconception(
        "The sign is the wrong way round: a higher score gives its own key more weight, so the "
        "diagonal is positive.",
        lambda scores: _parts(scores)[2] - _parts(scores)[1],
    ),
    Misconception(
        "You put the scores into the formula. It takes the weights: softmax comes first.",
        _without_softmax,
    ),
    Misconception(
        "exp overflows for large scores. Subtract the largest of each row first.",
        _overflowing,
    ),
    Misconception(
        "np.diag and np.outer are for a single row of scores. For a batch, write "
        "w[..., :, None] * np.eye(n) and w[..., :, None] * w[..., None, :].",
        _one_row,
    ),
)


def _without_maximum(scores, temperature):
    exponentials = np.exp(scores / temperature)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _maximum_too_early(scores, temperature):
    """The maximum of the undivided scores is taken off the divided ones."""
    exponentials = np.exp(scores / temperature - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _over_queries(scores, temperature):
    return np.swapaxes(_softmax(np.swapaxes(scores / temperature, -1, -2)), -1, -2)


TEMPERING = (
    Misconception(
        "The temperature has no effect: divide the scores by it before softmax.",
        lambda scores, temperature: _softmax(scores),
    ),
    Misconception(
        "You multiplied by the temperature, so that a high one sharpens. Divide by it.",
        lambda scores, temperature: _softmax(scores * temperature),
    ),
    Misconception(
        "You divided the weights, so that they no longer sum to 1. Divide the scores, before "
        "softmax.",
        lambda scores, temperature: _softmax(scores) / temperature,
    ),
    Misconception(
        "You divided by the square root of the temperature; here it is the temperature itself.",
        lambda scores, temperature: _softmax(scores / np.sqrt(temperature)),
    ),
    Misconception(
        "These are the scores divided by the temperature: softmax is missing.",
        lambda scores, temperature: scores / temperature,
    ),
    Misconception(
        "Weights to the power of 1 / temperature are right up to a factor: divide by their sum.",
        lambda scores, temperature: _softmax(scores) ** (1 / temperature),
    ),
    Misconception(
        "Softmax runs over the wrong axis: the columns sum to 1, not the rows.",
        _over_queries,
    ),
    Misconception(
        "You subtracted the largest score before it was divided by the temperature: at a low "
        "temperature exp still overflows. Divide first, then take the maximum.",
        _maximum_too_early,
    ),
    Misconception(
        "exp overflows: a low temperature makes scores large. Subtract the largest of each row "
        "after dividing.",
        _without_maximum,
    ),
)

# --- inputs --------------------------------------------------------------------------------------


def _array(*numbers):
    return np.array(numbers)


WIDTHS = tuple(
    Case(about, {"query_std": query_std, "key_std": key_std, "d_k": d_k})
    for about, query_std, key_std, d_k in (
        ("queries twice as large as keys", 1.6, 0.8, 64),
        ("small queries, narrow heads", 0.5, 1.2, 16),
        ("small keys, wide heads", 2.0, 0.4, 512),
        ("a width that is no square", 1.5, 3.0, 50),
    )
)
SHARES = (
    Case("three queries, four keys", {"weights": np.array([
        [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.94, 0.03, 0.02, 0.01]])}),
    Case("a weight of exactly 0", {"weights": np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])}),
    Case("a batch of two", {"weights": np.array([
        [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], [[0.05, 0.9, 0.05], [0.6, 0.1, 0.3]]])}),
)  # fmt: skip
ROWS = (
    Case("one row of scores", {"scores": _array(0.4, -0.3, 1.1)}),
    Case("scores far from 0", {"scores": _array(1000.2, 999.6, 1000.9, 1001.3)}),
    Case("a batch of two rows", {"scores": np.array([[0.9, -0.4, 0.1], [-0.2, 0.6, 1.3]])}),
)
TEMPERATURES = (
    Case(
        "two rows of scores, a temperature of 2.5",
        {
            "scores": np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4]]),
            "temperature": np.array(2.5),
        },
    ),
    Case(  # without any maximum exp overflows
        "scores far from 0",
        {
            "scores": np.array([[60.02, 60.0, 60.05, 59.97], [-60.0, -60.04, -59.99, -60.1]]),
            "temperature": np.array(0.08),
        },
    ),
    Case(  # here it must be the maximum of the divided scores
        "a low temperature",
        {
            "scores": np.array([[12.02, 12.0, 12.03, 11.99], [-15.0, -15.02, -15.01, -14.98]]),
            "temperature": np.array(0.01),
        },
    ),
)

EXERCISES = (
    Exercise(
        "the standard deviation of query · key, before any scaling, for independent numbers "
        "with mean 0 and the given standard deviations.",
        product_std,
        WIDTHS,
        SIZES,
    ),
    Exercise(
        "one number for each row of weights: e to the power of the entropy −Σ w · ln w, where a "
        "weight of 0 adds nothing.",
        effective_keys,
        SHARES,
        COUNTS,
    ),
    Exercise(
        "for each row of scores a matrix whose entry (i, j) says how weight i changes with score "
        "j: w_i · (1 − w_i) where i = j, and −w_i · w_j elsewhere.",
        softmax_jacobian,
        ROWS,
        SLOPES,
    ),
    Exercise(
        "softmax of scores / temperature along the last axis, without overflow.",
        tempered_softmax,
        TEMPERATURES,
        TEMPERING,
    ),
)

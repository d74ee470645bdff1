"""Chapter 14: two orders compared, distance of weights, weight times length, rollout."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._formulas import rescaled as _rows

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def rank_agreement(first, second):
    i, j = np.triu_indices(first.shape[1], 1)
    return (np.sign(first[:, i] - first[:, j]) * np.sign(second[:, i] - second[:, j])).mean(axis=1)


def divergence(first, second):
    def entropy(shares):
        return -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=-1)

    return entropy((first + second) / 2) - (entropy(first) + entropy(second)) / 2


def norm_shares(weights, value):
    brought = weights * np.linalg.norm(value, axis=-1)
    return brought / brought.sum(axis=-1, keepdims=True)


def rolled_out(weights):
    reached = np.eye(weights.shape[-1])
    for layer in weights:
        reached = (layer + np.eye(len(layer))) / 2 @ reached
    return reached


# --- what goes wrong -----------------------------------------------------------------------------


def _differences(x):
    i, j = np.triu_indices(x.shape[1], 1)
    return x[:, i] - x[:, j]


def _signs(x):
    return np.sign(_differences(x))


def _pearson(first, second):
    first = first - first.mean(axis=1, keepdims=True)
    second = second - second.mean(axis=1, keepdims=True)
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return (first * second).sum(axis=1) / size


AGREEMENT = (
    Misconception(
        "That is the share of pairs in the same order. Subtract the share in the opposite one, so "
        "that chance gives 0.",
        lambda first, second: (_signs(first) * _signs(second) > 0).mean(axis=1),
    ),
    Misconception(
        "This is the correlation of the numbers. τ looks at the order alone: signs of differences.",
        _pearson,
    ),
    Misconception(
        "You multiplied the differences themselves. Only their signs count: np.sign of each.",
        lambda first, second: (_differences(first) * _differences(second)).mean(axis=1),
    ),
    Misconception(
        "You added up the pairs instead of taking their mean. Divide by n (n − 1) / 2.",
        lambda first, second: (_signs(first) * _signs(second)).sum(axis=1),
    ),
    Misconception(
        "You counted the pairs of a place with itself: their difference is 0, and they make τ too "
        "small. Take pairs i < j.",
        lambda first, second: (
            np.sign(first[:, :, None] - first[:, None])
            * np.sign(second[:, :, None] - second[:, None])
        ).mean(axis=(1, 2)),
    ),
    Misconception(
        "You compared neighbours only. All pairs of places count.",
        lambda first, second: (
            np.sign(np.diff(first, axis=1)) * np.sign(np.diff(second, axis=1))
        ).mean(axis=1),
    ),
    Misconception(
        "Ties count 0: leave np.sign as it is, which is 0 where two numbers are equal.",
        lambda first, second: np.where(_signs(first) == _signs(second), 1.0, -1.0).mean(axis=1),
    ),
)


def _kullback_leibler(first, second):
    with np.errstate(all="ignore"):
        return np.where(first > 0, first * np.log(first / second), 0).sum(axis=-1)


def _with_nan(first, second):
    def entropy(shares):
        return -(shares * np.log(shares)).sum(axis=-1)

    return entropy((first + second) / 2) - (entropy(first) + entropy(second)) / 2


DIVERGENCE = (
    Misconception(
        "0 · log 0 is NaN in a computer. A weight of 0 adds nothing: put 1 into the logarithm.",
        _with_nan,
    ),
    Misconception(
        "That is in bits. For nats take the natural logarithm, np.log.",
        lambda first, second: divergence(first, second) / np.log(2),
    ),
    Misconception(
        "That is the Kullback-Leibler divergence, which depends on which comes first and can be "
        "infinite. Compare both with their mean.",
        _kullback_leibler,
    ),
    Misconception(
        "The root of it is the Jensen-Shannon distance. Leave the root out.",
        lambda first, second: np.sqrt(np.maximum(divergence(first, second), 0)),
    ),
    Misconception(
        "You subtracted the sum of the two entropies. Subtract their mean.",
        lambda first, second: divergence(first, second) - (_entropy(first) + _entropy(second)) / 2,
    ),
    Misconception(
        "The sign is the wrong way round: the entropy of the mean is the larger one.",
        lambda first, second: -divergence(first, second),
    ),
    Misconception(
        "That is the total variation, half the sum of absolute differences.",
        lambda first, second: np.abs(first - second).sum(axis=-1) / 2,
    ),
)


def _entropy(shares):
    return -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=-1)


SHARES = (
    Misconception(
        "You forgot to divide by the sum of the row: shares sum to 1.",
        lambda weights, value: weights * np.linalg.norm(value, axis=-1),
    ),
    Misconception(
        "These are the weights. Multiply each by the length of its own value first; one number "
        "for a whole row cancels out.",
        lambda weights, value: weights,
    ),
    Misconception(
        "You took the squared length. The length is its root.",
        lambda weights, value: _rows(weights * (value**2).sum(axis=-1)),
    ),
    Misconception(
        "You added up the sizes of the numbers of a value. Its length is the root of the sum of "
        "squares.",
        lambda weights, value: _rows(weights * np.abs(value).sum(axis=-1)),
    ),
    Misconception(
        "You divided by the sums of the columns. Each row is to sum to 1.",
        lambda weights, value: _rows(weights * np.linalg.norm(value, axis=-1), axis=-2),
    ),
    Misconception(
        "You divided by the sum of everything. Each row is to sum to 1.",
        lambda weights, value: (
            weights
            * np.linalg.norm(value, axis=-1)
            / (weights * np.linalg.norm(value, axis=-1)).sum()
        ),
    ),
)


def _rolled(weights, step, start=None):
    reached = np.eye(weights.shape[-1]) if start is None else start
    for layer in weights:
        reached = step((layer + np.eye(len(layer))) / 2, reached)
    return reached


ROLLOUT = (
    Misconception(
        "The order is turned round: a later layer reads what earlier ones made, so it stands on "
        "the left of the product.",
        lambda weights: _rolled(weights, lambda layer, reached: reached @ layer),
    ),
    Misconception(
        "The residual path is missing: half of what a layer hands on is the token itself.",
        lambda weights: np.linalg.multi_dot([*weights[::-1], np.eye(weights.shape[-1])]),
    ),
    Misconception(
        "You added the residual path without halving, so the rows sum to more than 1.",
        lambda weights: _rolled(weights, lambda layer, reached: 2 * layer @ reached),
    ),
    Misconception(
        "You averaged the layers. They are applied one after the other: multiply.",
        lambda weights: ((weights + np.eye(weights.shape[-1])) / 2).mean(axis=0),
    ),
    Misconception(
        "You multiplied entry by entry. Use the product of matrices, @.",
        lambda weights: _rolled(
            weights[1:],
            lambda layer, reached: layer * reached,
            (weights[0] + np.eye(weights.shape[-1])) / 2,
        ),
    ),
    Misconception(
        "This is the last layer alone. Multiply it by what the layers before it made.",
        lambda weights: (weights[-1] + np.eye(weights.shape[-1])) / 2,
    ),
)

# --- inputs --------------------------------------------------------------------------------------

_RNG = np.random.default_rng(14)


def _weights(*shape):
    return _rows(np.exp(2 * _RNG.normal(size=shape))).round(4)


ORDER_INPUTS = (
    Case(
        "two rows of four places",
        {
            "first": np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.15, 0.05]]),
            "second": np.array([[1.0, 3.0, 2.0, 9.0], [1.0, 5.0, 2.0, 1.5]]),
        },
    ),
    Case(
        "places with equal numbers",
        {
            "first": np.array([[0.25, 0.25, 0.3, 0.1, 0.1], [0.2, 0.2, 0.2, 0.3, 0.1]]),
            "second": np.array([[2.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 4.0, 1.0, 2.0]]),
        },
    ),
)

_ROWS = {
    "first": np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]),
    "second": np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
}

DIVERGENCE_INPUTS = (
    Case("two rows of three keys", _ROWS),
    Case(
        "rows that share no key, and rows that are equal",
        {
            "first": np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]),
            "second": np.array([[0.0, 0.5, 0.0, 0.5], [0.5, 0.5, 0.0, 0.0]]),
        },
    ),
)

SHARES_INPUTS = (
    Case(
        "two queries and three keys",
        {
            "weights": np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6]]),
            "value": np.array([[0.3, 0.4], [3.0, 4.0], [1.0, -1.0]]),
        },
    ),
    Case(
        "three queries, five keys, values of four numbers",
        {"weights": _weights(3, 5), "value": _RNG.normal(size=(5, 4)).round(1)},
    ),
)

ROLLOUT_INPUTS = (
    Case("two layers of three tokens", {"weights": _weights(2, 3, 3)}),
    Case("three layers of four tokens", {"weights": _weights(3, 4, 4)}),
)

EXERCISES = (
    Exercise(
        "for each row, of all pairs of places the share in the same order less the share in the "
        "opposite one; ties count 0.",
        rank_agreement,
        ORDER_INPUTS,
        AGREEMENT,
    ),
    Exercise(
        "for each row, the entropy of the mean of the two rows of weights less the mean of their "
        "entropies, in nats.",
        divergence,
        DIVERGENCE_INPUTS,
        DIVERGENCE,
    ),
    Exercise(
        "for each query, the share that each key brings: weight times length of its value, in rows "
        "that sum to 1.",
        norm_shares,
        SHARES_INPUTS,
        SHARES,
    ),
    Exercise(
        "which input tokens each place of the last layer is made of: the product of all layers, "
        "each half weights and half residual path.",
        rolled_out,
        ROLLOUT_INPUTS,
        ROLLOUT,
    ),
)

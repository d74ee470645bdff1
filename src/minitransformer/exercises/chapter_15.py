"""Chapter 15: a mask that comes too late, copies of a key, and what a key moves."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._formulas import bare_softmax as _softmax
from ._formulas import rescaled as _rescaled

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def late_mask(weights, mask):
    kept = np.where(mask, weights, 0)
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total == 0, 1, total)


def weight_of_a_copy(scores, times):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / (times * exponentials).sum(axis=-1, keepdims=True)


def influence(weights, value):
    output = weights @ value
    left = (output - weights[:, None] * value) / (1 - weights[:, None])
    return np.linalg.norm(left - output, axis=-1)


# --- what goes wrong -----------------------------------------------------------------------------


LATE = (
    Misconception(
        "The rows do not sum to 1: what was hidden is still in the denominator. Divide each row by "
        "what is left of it.",
        lambda weights, mask: np.where(mask, weights, 0),
    ),
    Misconception(
        "A row with nothing left became NaN, 0 / 0. Leave it at 0.",
        lambda weights, mask: _rescaled(np.where(mask, weights, 0)),
    ),
    Misconception(
        "You divided by the sums of the columns. Each row (last axis) is to sum to 1.",
        lambda weights, mask: _rescaled(np.where(mask, weights, 0), axis=-2),
    ),
    Misconception(
        "The mask is the wrong way round: True = may attend.",
        lambda weights, mask: late_mask(weights, ~mask),
    ),
    Misconception(
        "You took the softmax of weights. They have been through it; only divide them anew.",
        lambda weights, mask: _softmax(np.where(mask, weights, -np.inf)),
    ),
    Misconception(
        "You took the softmax of weights, with 0 for what is hidden, and e to the 0 is 1. They "
        "have been through it; only divide them anew.",
        lambda weights, mask: _softmax(np.where(mask, weights, 0)),
    ),
    Misconception(
        "You shared what was hidden equally among the keys that are left. Divide instead: a key "
        "with twice the weight gets twice the share.",
        lambda weights, mask: _shared_equally(weights, mask),
    ),
)


def _shared_equally(weights, mask):
    kept = np.where(mask, weights, 0)
    lost, seen = 1 - kept.sum(axis=-1, keepdims=True), mask.sum(axis=-1, keepdims=True)
    return np.where(mask, kept + lost / np.maximum(seen, 1), 0)


COPIES = (
    Misconception(
        "These are the weights without copies. Each copy stands in the denominator as well.",
        lambda scores, times: _softmax(scores),
    ),
    Misconception(
        "You divided each weight by its number of copies. The copies also take from all other "
        "keys: they belong into the sum of the exponentials.",
        lambda scores, times: _softmax(scores) / times,
    ),
    Misconception(
        "You multiplied the scores by the copies. A copy adds another exponential, it does not "
        "make the score larger.",
        lambda scores, times: _softmax(scores * times),
    ),
    Misconception(
        "This is what all copies of a key get together. Divide by times for one of them.",
        lambda scores, times: times * weight_of_a_copy(scores, times),
    ),
    Misconception(
        "You added the number of copies to the scores. As a score, n copies count as log n, and "
        "only in the denominator.",
        lambda scores, times: _softmax(scores + times),
    ),
    Misconception(
        "You divided by the sum over everything. Each row (last axis) has a sum of its own.",
        lambda scores, times: (
            np.exp(scores - scores.max()) / (times * np.exp(scores - scores.max())).sum()
        ),
    ),
    Misconception(
        "exp overflows for large scores. Subtract the largest score of each row first; that "
        "changes no weight.",
        lambda scores, times: np.exp(scores) / (times * np.exp(scores)).sum(axis=-1, keepdims=True),
    ),
)


def _moves(weights, value):
    """The moves as vectors: what is left of the output, less the output."""
    output = weights @ value
    return (output - weights[:, None] * value) / (1 - weights[:, None]) - output


INFLUENCE = (
    Misconception(
        "You gave back the weights. How far the output moves also depends on the values.",
        lambda weights, value: weights,
    ),
    Misconception(
        "This is the length of weight times value: what a key adds. Here it is taken away, and the "
        "others grow.",
        lambda weights, value: np.linalg.norm(weights[:, None] * value, axis=-1),
    ),
    Misconception(
        "You forgot to share the weight among the others: without the key, the weights left must "
        "sum to 1 again.",
        lambda weights, value: np.linalg.norm(value - weights @ value, axis=-1) * weights,
    ),
    Misconception(
        "You added up the sizes of the coordinates. A length is the root of the sum of squares.",
        lambda weights, value: np.abs(_moves(weights, value)).sum(axis=-1),
    ),
    Misconception(
        "The root is missing: this is the squared length.",
        lambda weights, value: (_moves(weights, value) ** 2).sum(axis=-1),
    ),
    Misconception(
        "These are the lengths of the outputs without each key, not of the moves. Subtract the "
        "output first.",
        lambda weights, value: np.linalg.norm(_moves(weights, value) + weights @ value, axis=-1),
    ),
    Misconception(
        "You took the distance from each value to the output. A key with a small weight moves "
        "little, however far its value lies.",
        lambda weights, value: np.linalg.norm(value - weights @ value, axis=-1),
    ),
)

# --- inputs --------------------------------------------------------------------------------------

_RNG = np.random.default_rng(15)

LATE_INPUTS = (
    Case(
        "two queries and three keys",
        {
            "weights": np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]),
            "mask": np.array([[True, True, False], [False, True, True]]),
        },
    ),
    Case(
        "a batch of two texts, three queries, four keys",
        {
            "weights": _softmax(_RNG.normal(size=(2, 3, 4)).round(1)),
            "mask": np.array(
                [[True, False, True, True], [False, True, True, True], [True, True, False, True]]
            ),
        },
    ),
    Case(
        "a query with nothing left",
        {
            "weights": np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]),
            "mask": np.array([[False, False, False], [True, True, False]]),
        },
    ),
)

COPY_INPUTS = (
    Case(
        "three keys, one of them twice",
        {"scores": np.array([1.5, 0.0, -0.5]), "times": np.array([2, 1, 1])},
    ),
    Case(
        "two queries and four keys",
        {"scores": _RNG.normal(size=(2, 4)).round(1), "times": np.array([3, 1, 2, 5])},
    ),
    Case(
        "scores near 1000",
        {"scores": np.array([1000.0, 999.0, 998.5]), "times": np.array([1, 4, 2])},
    ),
)

INFLUENCE_INPUTS = (
    Case(
        "three keys, values of two numbers",
        {
            "weights": np.array([0.7, 0.2, 0.1]),
            "value": np.array([[0.1, 0.0], [2.0, 3.0], [0.5, -0.5]]),
        },
    ),
    Case(
        "five keys, one of which has no weight",
        {
            "weights": np.array([0.4, 0.0, 0.3, 0.2, 0.1]),
            "value": _RNG.normal(size=(5, 3)).round(1),
        },
    ),
)

EXERCISES = (
    Exercise(
        "the weights with hidden keys at 0 and each row summing to 1 again; a row with nothing "
        "left is all 0.",
        late_mask,
        LATE_INPUTS,
        LATE,
    ),
    Exercise(
        "the weight of one copy of each key, if key j stands in the text times[j] times.",
        weight_of_a_copy,
        COPY_INPUTS,
        COPIES,
    ),
    Exercise(
        "for each key, how far the output moves when the key is taken away and the other weights "
        "are scaled up to sum to 1.",
        influence,
        INFLUENCE_INPUTS,
        INFLUENCE,
    ),
)

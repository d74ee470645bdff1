"""What goes wrong in attention: in the softmax, in the weights, in the output.

Each list holds the one before it, for whatever can go wrong in the weights can go wrong in the
output as well. The formulas take any leading dimensions and end in the exception that NumPy raises
where the mistake does.
"""

import numpy as np

from ..reference import softmax
from ._exercise import Misconception

__all__ = ["MIXING", "NORMALISING", "WEIGHING"]


def _over(axis):
    """Softmax over another axis; None is all of them."""

    def formula(scores):
        exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)

    return formula


def _without_maximum(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def _global_maximum(scores):
    return _without_maximum(scores - scores.max())


def _no_keepdims(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1)


def _hard(scores):
    return (scores == scores.max(axis=-1, keepdims=True)).astype(float)


def _products(query, key):
    return query @ np.swapaxes(key, -1, -2)


def _scores(query, key):
    return _products(query, key) / np.sqrt(key.shape[-1])


def _weights(query, key):
    return softmax(_scores(query, key))


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


UNDIVIDED = (
    "You took exp of each score but did not divide by the sum of its row, so the rows do not sum "
    "to 1."
)

HARD = (
    "A hard maximum: the largest score gets everything and the others nothing. Softmax gives every "
    "score a share, exp(score) divided by the sum of its row."
)

NORMALISING = (
    Misconception(
        "Softmax runs over the wrong axis: the columns sum to 1, not the rows. The scores of one "
        "row compete with one another, so the axis is the last one, -1.",
        _over(-2),
    ),
    Misconception(
        "Softmax runs over all scores at once, so that all weights together sum to 1. Each row "
        "is to sum to 1: give the sum an axis.",
        _over(None),
    ),
    Misconception(
        "You divided the scores by their sum. Take exp of each score first: that makes them "
        "positive.",
        lambda scores: scores / scores.sum(axis=-1, keepdims=True),
    ),
    Misconception(UNDIVIDED, np.exp),
    Misconception(UNDIVIDED, lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True))),
    Misconception(
        "These are the scores as they are: softmax is missing.",
        lambda scores: scores,
    ),
    Misconception(HARD, _hard),
    Misconception(HARD, lambda scores: np.eye(scores.shape[-1])[scores.argmax(axis=-1)]),
    Misconception(
        "The smallest score gets the largest weight: a sign is the wrong way round in exp.",
        lambda scores: softmax(-scores),
    ),
    Misconception(
        "These are logarithms of the weights: one exp is missing (or log_softmax was called).",
        lambda scores: np.log(softmax(scores)),
    ),
    Misconception(
        "You turned each score into a number from 0 to 1 on its own (a sigmoid). In a softmax the "
        "scores of a row compete: exp(score) divided by the sum of its row.",
        lambda scores: 1 / (1 + np.exp(-scores)),
    ),
    Misconception(
        "The sum of each row has lost its axis, so it does not line up with the rows: write "
        "sum(axis=-1, keepdims=True), and the same for max.",
        _no_keepdims,
    ),
    Misconception(
        "exp overflows for large scores, and for very negative ones all of them become 0. "
        "Subtract the largest score of each row first; that changes no weight.",
        _without_maximum,
    ),
    Misconception(
        "You subtracted the largest of all scores, so a row far below it becomes 0 everywhere and "
        "is divided by 0. Subtract from each row its own largest score.",
        _global_maximum,
    ),
    Misconception(
        "You subtracted from each column its largest score, which changes the differences within a "
        "row and with them the weights. Subtract from each row its own largest score.",
        lambda scores: _without_maximum(scores - scores.max(axis=-2, keepdims=True)),
    ),
    Misconception(
        "axis=1 is the last axis of a matrix only. With more dimensions or fewer it is another "
        "one, or none; axis=-1 is always the last.",
        _over(1),
    ),
    Misconception(
        "You normalise each matrix as a whole: for row in scores gives rows only if scores is a "
        "matrix. axis=-1 with keepdims=True works for any number of dimensions.",
        lambda scores: np.stack([_over(None)(row) for row in scores]),
    ),
)


TURNED = (
    "Rows and columns of the weights are exchanged: rows are queries and columns keys. The query "
    "comes first in the product, and the weights are not transposed."
)


def _after(inner, misconceptions):
    """The same mistakes, made in what ``inner`` computes first."""
    return tuple(
        Misconception(one.explanation, lambda *arrays, f=one.formula: f(inner(*arrays)))
        for one in misconceptions
    )


WEIGHING = (
    Misconception(
        "The scale is missing: divide the dot products by the square root of d_k, the width of a "
        "key.",
        lambda query, key: softmax(_products(query, key)),
    ),
    Misconception(
        "You divided by d_k; it is the square root of d_k.",
        lambda query, key: softmax(_products(query, key) / key.shape[-1]),
    ),
    Misconception(
        "You multiplied by the square root of d_k; divide by it.",
        lambda query, key: softmax(_products(query, key) * np.sqrt(key.shape[-1])),
    ),
    Misconception(
        "You scaled by the number of keys. The scale is the square root of d_k, the width of a "
        "key: key.shape[-1].",
        lambda query, key: softmax(_products(query, key) / np.sqrt(key.shape[-2])),
    ),
    Misconception(
        "You scaled by the number of queries. The scale is the square root of d_k, the width of a "
        "key: key.shape[-1].",
        lambda query, key: softmax(_products(query, key) / np.sqrt(query.shape[-2])),
    ),
    Misconception(
        "You divided by √2, which fits only keys that are 2 numbers wide. Take the width from the "
        "key itself: key.shape[-1].",
        lambda query, key: softmax(_products(query, key) / np.sqrt(2)),
    ),
    Misconception(
        "You divided by the lengths of the vectors, which compares directions only (the cosine). "
        "Divide the dot products by the square root of d_k instead: a longer key may count more.",
        lambda query, key: softmax(_products(_unit(query), _unit(key))),
    ),
    Misconception(
        "You scaled after softmax, so the rows no longer sum to 1. Divide the dot products by the "
        "square root of d_k before softmax.",
        lambda query, key: softmax(_products(query, key)) / np.sqrt(key.shape[-1]),
    ),
    Misconception(
        "key is not transposed: to compare every query with every key, its rows have to become "
        "columns, query @ key.T for matrices.",
        lambda query, key: query @ key,
    ),
    Misconception(
        TURNED,
        lambda query, key: _weights(key, query),
    ),
    Misconception(
        ".T turns round all axes, which is right for matrices only. With a batch in front, swap "
        "the last two: np.swapaxes(key, -1, -2).",
        lambda query, key: softmax(query @ key.T / np.sqrt(key.shape[-1])),
    ),
    Misconception(
        "shape[1] is d_k for a matrix only; with a batch in front it is the number of keys. "
        "shape[-1] is always the width.",
        lambda query, key: softmax(_products(query, key) / np.sqrt(key.shape[1])),
    ),
    *_after(_scores, NORMALISING),
)

MIXING = (
    Misconception(
        "These are the weights. The output is one step further: mix the values by them.",
        lambda query, key, value: _weights(query, key),
    ),
    Misconception(
        "You mixed the keys. Keys are only for comparing; what is mixed are the values.",
        lambda query, key, value: _weights(query, key) @ key,
    ),
    Misconception(
        "Values and keys are exchanged: queries are compared with keys, and values are mixed.",
        lambda query, key, value: _weights(query, value) @ key,
    ),
    Misconception(
        "You took softmax after mixing the values. It belongs between the scores and the mixing.",
        lambda query, key, value: softmax(_scores(query, key) @ value),
    ),
    Misconception(
        "Every query gets the plain mean of all values. The mean is to be weighted: each value "
        "times the weight of its key.",
        lambda query, key, value: np.broadcast_to(
            value.mean(axis=-2, keepdims=True), (*query.shape[:-1], value.shape[-1])
        ),
    ),
    Misconception(
        "You scaled by the width of the values. The scale is the square root of d_k, the width of "
        "a key.",
        lambda query, key, value: softmax(_products(query, key) / np.sqrt(value.shape[-1])) @ value,
    ),
    Misconception(
        TURNED,
        lambda query, key, value: np.swapaxes(_weights(query, key), -1, -2) @ value,
    ),
    *(
        Misconception(
            one.explanation, lambda query, key, value, f=one.formula: f(query, key) @ value
        )
        for one in WEIGHING
    ),
)

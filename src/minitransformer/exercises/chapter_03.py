"""Chapter 3: from scores to weights, to an output, to self-attention.

Each exercise builds on the one before it, and so do the solutions.
"""

import numpy as np

from ._attention_mistakes import MIXING, NORMALISING, WEIGHING
from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def attention_weights(query, key):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    return softmax(scores)


def attention(query, key, value):
    return attention_weights(query, key) @ value


def self_attention(x, w_q, w_k, w_v):
    return attention(x @ w_q, x @ w_k, x @ w_v)


# --- what goes wrong on the way to self-attention -----------------------------------------------


def _projected(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x @ w_v


PROJECTING = (
    Misconception(
        "The projections are missing: queries are x @ w_q, keys x @ w_k, values x @ w_v.",
        lambda x, w_q, w_k, w_v: attention(x, x, x),
    ),
    Misconception(
        "You mixed x itself. What is mixed are the values, x @ w_v.",
        lambda x, w_q, w_k, w_v: attention(x @ w_q, x @ w_k, x),
    ),
    Misconception(
        "You compared x itself. What is compared are the queries x @ w_q and the keys x @ w_k.",
        lambda x, w_q, w_k, w_v: attention(x, x, x @ w_v),
    ),
    Misconception(
        "w_q and w_k are exchanged: rows of the scores are queries, x @ w_q.",
        lambda x, w_q, w_k, w_v: attention(x @ w_k, x @ w_q, x @ w_v),
    ),
    Misconception(
        "You used w_q for the keys as well; they have a matrix of their own, w_k.",
        lambda x, w_q, w_k, w_v: attention(x @ w_q, x @ w_q, x @ w_v),
    ),
    Misconception(
        "You used w_k for the queries as well; they have a matrix of their own, w_q.",
        lambda x, w_q, w_k, w_v: attention(x @ w_k, x @ w_k, x @ w_v),
    ),
    Misconception(
        "You scaled by the width of x. The scale is the square root of d_k, the width of a key: "
        "that of x @ w_k.",
        lambda x, w_q, w_k, w_v: (
            softmax((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / np.sqrt(x.shape[-1])) @ x @ w_v
        ),
    ),
    Misconception(
        "The projection is transposed: a token is a row of x, so x @ w_q, without .T.",
        lambda x, w_q, w_k, w_v: x @ w_q.T,
    ),
    Misconception(  # NumPy has the same words for both
        "The shapes do not meet. Either a matrix stands before x: a token is a row of x, so "
        "x @ w_q, not w_q @ x. Or the keys are not transposed: query @ key.T for matrices.",
        lambda x, w_q, w_k, w_v: w_q @ x,
    ),
    *(
        Misconception(one.explanation, lambda *arrays, f=one.formula: f(*_projected(*arrays)))
        for one in MIXING
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ, so that no two can be mixed up unseen, and the weights stay well
# away from 0 and 1, so that a wrong scale shows.

SCORES = (
    Case("two rows of three scores", {"scores": np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4]])}),
    Case(
        "scores far from 0",
        {
            "scores": np.array(
                [[1000.1, 1000.6, 999.3, 1000.0], [-1000.4, -999.9, -1001.0, -1000.2]]
            )
        },
    ),
    Case(
        "a batch of two matrices",
        {
            "scores": np.array(
                [
                    [[0.3, -0.2, 0.8, 0.1], [1.2, 0.4, -0.6, 0.5], [-0.9, 0.7, 0.2, -0.1]],
                    [[-0.4, 0.6, 1.0, -0.7], [0.0, 0.9, -0.3, 1.1], [0.5, -0.8, 0.4, 1.3]],
                ]
            )
        },
    ),
    Case("a single row, no matrix", {"scores": np.array([0.35, 0.71, 1.06, 1.06, 0.88])}),
)

PLAIN = {
    "query": np.array([[0.9, -0.4, 1.3], [-0.7, 1.1, 0.2], [0.5, 0.8, -0.6], [1.2, 0.1, 0.7]]),
    "key": np.array(
        [[0.5, 1.2, -0.3], [1.0, -0.6, 0.8], [-0.9, 0.4, 1.1], [0.3, 0.7, 0.6], [0.8, -0.2, -0.5]]
    ),
    "value": np.array(
        [
            [2.0, -1.0, 0.5, 3.0, 1.0, -0.5],
            [-0.5, 1.5, 2.5, 0.0, -2.0, 1.0],
            [1.0, 0.5, -1.5, 2.0, 4.0, -1.0],
            [3.5, -2.0, 1.0, -1.0, 0.5, 2.5],
            [0.0, 3.0, -0.5, 1.5, -1.0, 2.0],
        ]
    ),
}
FAR = {  # dot products near 1600 and -1600
    "query": np.array([[40.0, 30.0], [-40.0, -30.0], [39.0, 31.0]]),
    "key": np.array([[25.0, 20.0], [25.02, 20.0], [25.01, 19.98], [24.99, 20.01]]),
    "value": np.array(
        [
            [1.0, -2.0, 0.5, 3.0, -1.0],
            [2.0, 1.5, -1.0, 0.0, 2.5],
            [-0.5, 1.0, 2.5, 4.0, 0.0],
            [3.0, 0.5, -1.5, 1.0, 2.0],
        ]
    ),
}
BATCH = {
    "query": np.array(
        [
            [[0.7, -1.1, 0.4, 0.9], [-0.3, 0.8, 1.2, -0.6], [1.0, 0.2, -0.5, 0.3]],
            [[-0.8, 0.6, 0.1, 1.1], [0.4, -0.9, 0.7, 0.5], [1.3, 0.3, -0.2, -0.7]],
        ]
    ),
    "key": np.array(
        [
            [
                [0.6, -0.4, 1.0, 0.2],
                [-0.9, 0.5, 0.3, 1.1],
                [0.8, 1.2, -0.7, 0.1],
                [-0.2, 0.9, 0.4, -1.0],
                [1.1, -0.6, 0.5, 0.7],
            ],
            [
                [-0.5, 0.3, 0.9, -0.8],
                [1.2, 0.1, -0.4, 0.6],
                [0.2, -1.1, 0.7, 0.4],
                [-0.7, 0.8, 1.0, 0.3],
                [0.9, 0.5, -0.3, -1.2],
            ],
        ]
    ),
    "value": np.array(
        [
            [
                [1.0, -2.0, 0.5, 3.0, -1.5, 2.0],
                [0.5, 3.0, -1.0, 0.0, 2.5, -0.5],
                [-1.5, 1.0, 2.0, 4.0, 0.0, 1.5],
                [2.5, 0.0, -0.5, 1.0, 3.5, -2.0],
                [4.0, -0.5, 1.5, -1.0, 0.5, 3.0],
            ],
            [
                [-1.0, 2.0, 3.0, 0.5, -2.5, 1.0],
                [3.5, 0.5, -2.0, 1.5, 0.0, -1.0],
                [0.0, -2.5, 1.0, 2.0, 4.0, 0.5],
                [1.5, 1.0, -1.5, 3.0, -0.5, 2.5],
                [-0.5, 4.0, 0.0, -1.0, 2.0, 3.5],
            ],
        ]
    ),
}
ATTENTION = (
    Case("four queries, five keys", PLAIN),
    Case("scores far from 0", FAR),
    Case("a batch of two", BATCH),
)
WEIGHTS = tuple(
    Case(case.about, {name: case.inputs[name] for name in ("query", "key")}) for case in ATTENTION
)

TOKENS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]])
PROJECTIONS = {
    "w_q": np.array([[0.8, -0.5, 1.1], [0.4, 0.9, -0.7]]),
    "w_k": np.array([[0.3, 1.2, 0.6], [-0.9, 0.5, 1.0]]),
    "w_v": np.array([[2.0, -1.0, 0.5, 1.5], [0.5, 3.0, -2.0, 1.0]]),
}
WIDE = {
    "w_q": np.array([[0.8, -0.5, 1.1, 0.3, -0.2], [0.4, 0.9, -0.7, 0.6, 1.0]]),
    "w_k": np.array([[0.3, 1.2, 0.6, -0.4, 0.7], [-0.9, 0.5, 1.0, 0.2, -0.6]]),
    "w_v": np.array([[2.0, -1.0, 0.5, 1.5, 0.0, 3.0], [0.5, 3.0, -2.0, 1.0, 2.5, -1.5]]),
}
THREE = np.array(
    [
        [[0.4, -0.8], [1.1, 0.3], [-0.6, 0.9], [0.2, 0.7]],
        [[-0.3, 1.0], [0.9, -0.5], [0.1, 0.6], [-1.2, 0.4]],
        [[0.8, 0.2], [-0.7, -0.4], [0.5, 1.3], [1.0, -0.1]],
    ]
)
# The last two numbers are the same for all tokens of a sequence; through them the dot products of
# the first sequence are near 2200, those of the second near -2200.
MARKS = np.array([[40.0, 0.0], [0.0, 40.0]])
MARKED = {
    "x": np.stack([np.column_stack([TOKENS, np.tile(mark, (5, 1))]) for mark in MARKS]),
    "w_q": np.array([[0.8, -0.5, 1.1], [0.4, 0.9, -0.7], [1.0, 0.5, 0.3], [1.0, 0.5, 0.3]]),
    "w_k": np.array(
        [[0.02, -0.01, 0.03], [-0.03, 0.02, 0.01], [1.0, 0.6, 0.2], [-1.0, -0.6, -0.2]]
    ),
    "w_v": np.array(
        [
            [2.0, -1.0, 0.5, 1.5, 0.0, 3.0],
            [0.5, 3.0, -2.0, 1.0, 2.5, -1.5],
            [0.02, 0.01, -0.01, 0.03, 0.0, -0.02],
            [-0.01, 0.02, 0.03, 0.0, 0.01, -0.03],
        ]
    ),
}
SEQUENCES = (
    Case("the five tokens of this chapter", {"x": TOKENS, **PROJECTIONS}),
    Case("three sequences of four tokens", {"x": THREE, **WIDE}),
    Case("two sequences with scores far from 0", MARKED),
)

EXERCISES = (
    Exercise(
        "the weights: positive, the same shape as scores, each row (last axis) summing to 1, for "
        "scores of any size and any number of dimensions.",
        softmax,
        SCORES,
        NORMALISING,
    ),
    Exercise(
        "the weights, a row for each query and a column for each key: softmax of the dot products "
        "divided by √d_k.",
        attention_weights,
        WEIGHTS,
        WEIGHING,
    ),
    Exercise(
        "the output, a row for each query: the values, each times the weight of its key, added up.",
        attention,
        ATTENTION,
        MIXING,
    ),
    Exercise(
        "the output of attention in which x gives queries, keys and values, each through its own "
        "matrix.",
        self_attention,
        SEQUENCES,
        PROJECTING,
    ),
)

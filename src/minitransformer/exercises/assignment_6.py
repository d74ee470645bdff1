"""Assignment 6: heads without which the loss rises, matched controls, weights tested by chance.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

import numpy as np

from ._exercise import Case, numbers
from ._report_mistakes import COMPARED, EFFECTS, TESTED
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


def _layer(about, start, sizes, n_classes, labels):
    n_texts, n_heads, n_places, d_head = sizes
    assert np.shape(labels) == (n_texts, n_places)
    inputs = {
        "z": numbers(start, *sizes) / 2,
        "w_o": numbers(start + 1, n_heads * d_head, n_classes) / 2,
        "labels": np.array(labels),
    }
    return Case(about, inputs)


EFFECTS_ANSWERS = (
    (
        _layer(
            "2 texts of 5 places, 4 heads of 3 numbers, 6 classes",
            1,
            (2, 4, 5, 3),
            6,
            [[0, 5, 2, 1, 3], [4, 4, 0, 2, 1]],
        ),
        [
            [-0.2161484, -0.681845, -0.9481919, -0.9040311],
            [-0.2135872, -0.6748762, -0.9385759, -0.8925152],
        ],
    ),
    (
        _layer(
            "3 texts with padding, 2 heads of 5 numbers, 7 classes",
            3,
            (3, 2, 4, 5),
            7,
            [[1, 3, -1, -1], [2, 0, 4, 1], [0, 4, 2, -1]],
        ),
        [[-0.1187823, -0.0559867], [-0.1315871, -0.0679059]],
    ),
)


def _heads(about, layers, shares, effects, head, tolerance):
    inputs = {
        "layers": np.array(layers),
        "shares": np.array(shares),
        "effects": np.array(effects),
        "head": head,
        "tolerance": tolerance,
    }
    return Case(about, inputs)


COMPARED_ANSWERS = (
    (
        _heads(
            "head 3 of 9, with three controls",
            [0, 0, 0, 1, 1, 1, 1, 1, 1],
            [0.5, 0.7, 0.88, 0.8, 0.7, 0.75, 0.9, 0.2, 0.98],
            [0.03, 0.01, 0.5, 0.3, 0.1, -0.02, 0.06, 0.35, 0.6],
            3,
            0.15,
        ),
        [3.0, 0.2533333, 0.0],
    ),
    (
        _heads(
            "head 0 of 8, with a control of the same effect and a negative one",
            [1, 0, 1, 0, 1, 1, 0, 1],
            [0.4, 0.5, 0.3, 0.45, 0.1, 0.8, 0.4, 0.5],
            [0.2, 0.9, 0.2, 0.1, 0.7, -0.05, 0.3, -0.5],
            0,
            0.12,
        ),
        [2.0, 0.35, 0.5],
    ),
)


def _tokens(about, weights, effects, orders):
    inputs = {
        "weights": np.array(weights),
        "effects": np.array(effects),
        "orders": np.array(orders),
    }
    return Case(about, inputs)


TESTED_ANSWERS = (
    (
        _tokens(
            "5 tokens, no two alike, and 7 orders",
            [0.4, 0.1, 0.3, 0.05, 0.15],
            [2.0, 0.5, 0.9, 0.6, -0.1],
            [
                [2, 4, 3, 0, 1],
                [4, 1, 2, 0, 3],
                [0, 2, 3, 4, 1],
                [0, 1, 2, 3, 4],
                [4, 2, 1, 3, 0],
                [4, 0, 3, 2, 1],
                [2, 4, 3, 0, 1],
            ],
        ),
        [0.6, 0.375],
    ),
    (
        _tokens(
            "6 tokens, some of them alike, and 4 orders",
            [0.25, 0.125, 0.25, 0.0, 0.125, 0.25],
            [0.5, 0.5, 1.5, -0.25, 0.75, 0.5],
            [
                [5, 1, 2, 3, 4, 0],
                [2, 0, 1, 5, 4, 3],
                [0, 4, 2, 3, 1, 5],
                [3, 2, 1, 4, 5, 0],
            ],
        ),
        [0.4918694, 0.6],
    ),
)

EXERCISES = (
    stored_exercise(
        "head_effects",
        "what the loss rises by without each head, (2, n_heads): zeros in row 0, means in row 1.",
        EFFECTS_ANSWERS,
        EFFECTS,
    ),
    stored_exercise(
        "against_controls",
        "three numbers: how many controls, the effect less their mean, the share of them with an "
        "effect at least as large.",
        COMPARED_ANSWERS,
        COMPARED,
    ),
    stored_exercise(
        "weight_test",
        "two numbers: the rank correlation, and the share of orders in which it is as large.",
        TESTED_ANSWERS,
        TESTED,
    ),
)

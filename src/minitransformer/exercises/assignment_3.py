"""Assignment 3: a fused matrix, another order of columns, cross-attention, a budget, moved heads.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

import numpy as np

from ._exercise import Case, numbers
from ._heads_mistakes import AFFORDED, CROSSED, FUSED, MATCHED, TURNED
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


def _counted(*shape):
    """0, 1, 2, ... so that every number tells where it came from."""
    return np.arange(float(np.prod(shape))).reshape(shape)


FUSED_ANSWERS = (
    (
        Case("2 tokens, 4 heads of 1 number", {"fused": _counted(2, 12), "n_heads": 4}),
        [
            [[[0.0], [12.0]], [[1.0], [13.0]], [[2.0], [14.0]], [[3.0], [15.0]]],
            [[[4.0], [16.0]], [[5.0], [17.0]], [[6.0], [18.0]], [[7.0], [19.0]]],
            [[[8.0], [20.0]], [[9.0], [21.0]], [[10.0], [22.0]], [[11.0], [23.0]]],
        ],
    ),
    (
        Case("a batch of 2, 4 tokens, 2 heads", {"fused": _counted(2, 4, 12), "n_heads": 2}),
        [
            [
                [
                    [[0.0, 1.0], [12.0, 13.0], [24.0, 25.0], [36.0, 37.0]],
                    [[2.0, 3.0], [14.0, 15.0], [26.0, 27.0], [38.0, 39.0]],
                ],
                [
                    [[48.0, 49.0], [60.0, 61.0], [72.0, 73.0], [84.0, 85.0]],
                    [[50.0, 51.0], [62.0, 63.0], [74.0, 75.0], [86.0, 87.0]],
                ],
            ],
            [
                [
                    [[4.0, 5.0], [16.0, 17.0], [28.0, 29.0], [40.0, 41.0]],
                    [[6.0, 7.0], [18.0, 19.0], [30.0, 31.0], [42.0, 43.0]],
                ],
                [
                    [[52.0, 53.0], [64.0, 65.0], [76.0, 77.0], [88.0, 89.0]],
                    [[54.0, 55.0], [66.0, 67.0], [78.0, 79.0], [90.0, 91.0]],
                ],
            ],
            [
                [
                    [[8.0, 9.0], [20.0, 21.0], [32.0, 33.0], [44.0, 45.0]],
                    [[10.0, 11.0], [22.0, 23.0], [34.0, 35.0], [46.0, 47.0]],
                ],
                [
                    [[56.0, 57.0], [68.0, 69.0], [80.0, 81.0], [92.0, 93.0]],
                    [[58.0, 59.0], [70.0, 71.0], [82.0, 83.0], [94.0, 95.0]],
                ],
            ],
        ],
    ),
)

TURNED_ANSWERS = (
    (
        Case("5 rows, 2 heads of 2 numbers", {"weight": _counted(5, 12), "n_heads": 2}),
        [
            [0.0, 1.0, 6.0, 7.0, 2.0, 3.0, 8.0, 9.0, 4.0, 5.0, 10.0, 11.0],
            [12.0, 13.0, 18.0, 19.0, 14.0, 15.0, 20.0, 21.0, 16.0, 17.0, 22.0, 23.0],
            [24.0, 25.0, 30.0, 31.0, 26.0, 27.0, 32.0, 33.0, 28.0, 29.0, 34.0, 35.0],
            [36.0, 37.0, 42.0, 43.0, 38.0, 39.0, 44.0, 45.0, 40.0, 41.0, 46.0, 47.0],
            [48.0, 49.0, 54.0, 55.0, 50.0, 51.0, 56.0, 57.0, 52.0, 53.0, 58.0, 59.0],
        ],
    ),
    (
        Case("a bias, 4 heads of 1 number", {"weight": _counted(12), "n_heads": 4}),
        [0.0, 3.0, 6.0, 9.0, 1.0, 4.0, 7.0, 10.0, 2.0, 5.0, 8.0, 11.0],
    ),
)


def _crossing(about, real, x, memory, w_q, w_kv, w_o, n_heads):
    return Case(
        about,
        {
            "x": x,
            "memory": memory,
            "real": np.array(real) == 1,
            "w_q": w_q,
            "w_kv": w_kv,
            "w_o": w_o,
            "n_heads": n_heads,
        },
    )


CROSSED_ANSWERS = (
    (
        _crossing(
            "3 queries, 5 keys, 2 heads of 3 numbers",
            [[1, 1, 1, 1, 1]],
            numbers(1, 1, 3, 4),
            numbers(2, 1, 5, 7),
            numbers(3, 4, 6) / 2,
            numbers(4, 7, 12) / 2,
            numbers(5, 6, 2),
            2,
        ),
        [[[-0.6260864, 6.5476197], [-0.5605112, 6.4515159], [-0.560624, 6.4515684]]],
    ),
    (
        _crossing(
            "a batch of 2, one with padding, 4 heads of 2 numbers",
            [[1, 1, 1, 1, 1], [1, 1, 0, 1, 0]],
            numbers(6, 2, 3, 6),
            numbers(7, 2, 5, 4),
            numbers(8, 6, 8) / 2,
            numbers(9, 4, 16) / 2,
            numbers(10, 8, 3),
            4,
        ),
        [
            [
                [16.1728723, 6.3616573, -17.6513681],
                [3.587059, -6.8781946, -1.9500633],
                [15.5880936, 6.4278882, -17.0839143],
            ],
            [
                [7.3225006, 8.2440666, -9.2641533],
                [-17.1697903, 0.6425693, 16.9869952],
                [4.0021354, 8.1944016, -5.9392367],
            ],
        ],
    ),
)


def _budget(about, budget, d_model, d_memory, d_head, bias):
    sizes = {"budget": budget, "d_model": d_model, "d_memory": d_memory, "d_head": d_head}
    return Case(about, {**sizes, "bias": bias})


AFFORDED_ANSWERS = (
    (_budget("500 parameters and no bias", 500, 7, 4, 2, False), 11.0),
    (_budget("500 parameters and a bias", 500, 7, 4, 2, True), 9.0),
    (_budget("a budget that is used up", 307, 7, 4, 2, True), 6.0),
)


def _moved(about, w_q, w_k, order, change):
    """Heads in another order and in other coordinates, which leave their products as they are."""
    back = np.linalg.inv(change).T
    others = {"other_q": w_q[order] @ change, "other_k": w_k[order] @ back}
    return Case(about, {"w_q": w_q, "w_k": w_k, **others})


MATCHED_ANSWERS = (
    (
        _moved(
            "4 heads in another order",
            numbers(1, 4, 5, 3),
            numbers(2, 4, 5, 3),
            [2, 3, 1, 0],
            np.eye(3),
        ),
        [3, 2, 0, 1],
    ),
    (
        _moved(
            "3 heads in another order and other coordinates",
            numbers(3, 3, 4, 2),
            numbers(4, 3, 4, 2),
            [1, 2, 0],
            np.array([[2.0, 1.0], [0.5, 0.75]]),
        ),
        [2, 0, 1],
    ),
)

EXERCISES = (
    stored_exercise(
        "split_fused",
        "queries, keys and values: (3, ..., n_heads, time, d_head).",
        FUSED_ANSWERS,
        FUSED,
    ),
    stored_exercise(
        "to_thirds",
        "the same columns: the queries of all heads, then all keys, then all values.",
        TURNED_ANSWERS,
        TURNED,
        (
            (
                Case("10 columns for 2 heads", {"weight": numbers(1, 3, 10), "n_heads": 2}),
                ValueError,
            ),
        ),
    ),
    stored_exercise(
        "cross_attention",
        "the output (batch, query, d_out) of x attending to the real tokens of memory.",
        CROSSED_ANSWERS,
        CROSSED,
    ),
    stored_exercise(
        "most_heads",
        "the largest number of heads with at most budget parameters, a whole number.",
        AFFORDED_ANSWERS,
        AFFORDED,
    ),
    stored_exercise(
        "match_heads",
        "for each head of the first file its number in the other one.",
        MATCHED_ANSWERS,
        MATCHED,
    ),
)

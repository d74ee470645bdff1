"""Assignment 5: unequal groups, heads in another order, a fused matrix, memory, a rolling cache.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

import numpy as np

from ._exercise import Case, numbers
from ._grouped_mistakes import GROUPED, LONGEST, MERGED, ROLLED, UNTILED
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


GROUPED_ANSWERS = (
    (
        Case(
            "3 tokens; heads 0, 1 and 2 share a key head, head 3 has the other",
            {
                "query": numbers(1, 4, 3, 2),
                "key": numbers(2, 2, 3, 2),
                "value": numbers(3, 2, 3, 2),
                "kv_of_head": np.array([0, 0, 0, 1]),
            },
        ),
        [
            [[0.3, -2.0], [0.202417, 1.8057363], [-0.0199508, -1.9189358]],
            [[0.3, -2.0], [0.299802, -1.9922769], [0.1986462, 1.8862072]],
            [[0.3, -2.0], [0.2004916, 1.8808284], [-0.4171623, -1.8349709]],
            [[1.2, 1.4], [-1.5550377, -0.9614609], [1.5715694, 0.7956139]],
        ],
    ),
    (
        Case(
            "the last 2 of 5 tokens; heads 0 and 2 share a key head",
            {
                "query": numbers(4, 3, 2, 4),
                "key": numbers(5, 2, 5, 4),
                "value": numbers(6, 2, 5, 2),
                "kv_of_head": np.array([1, 0, 1]),
            },
        ),
        [
            [[1.3621605, -0.5399771], [-1.3711156, 0.8720304]],
            [[-0.2785999, 0.4370409], [-0.0662449, 0.0009662]],
            [[-1.2400626, -0.6472194], [-1.1722124, -0.6131521]],
        ],
    ),
)

UNTILED_ANSWERS = (
    (
        Case(
            "6 query heads on 2 key heads",
            {"heads": np.arange(12).reshape(6, 2), "n_kv_heads": 2},
        ),
        [[0, 1], [4, 5], [8, 9], [2, 3], [6, 7], [10, 11]],
    ),
    (
        Case("12 query heads on 4 key heads", {"heads": np.arange(12), "n_kv_heads": 4}),
        [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11],
    ),
)

# The rows of the queries stay, so they are not written out again.
MERGED_ANSWERS = (
    (
        Case(
            "4 heads of width 1 into 2",
            {"weight": numbers(7, 12, 2), "n_heads": 4, "n_left": 2},
        ),
        [*numbers(7, 12, 2)[:4], [0.1, 0.25], [0.15, 0.15], [0.25, 0.05], [0.25, -0.1]],
    ),
    (
        Case(
            "3 heads of width 2 into 1",
            {"weight": numbers(8, 18, 2), "n_heads": 3, "n_left": 1},
        ),
        [
            *numbers(8, 18, 2)[:6],
            [-1.1, -1.3],
            [1.4333333, 0.9],
            [-1.4666667, 1.2666667],
            [1.1666667, -1.5333333],
        ],
    ),
)

_SIZES = (
    "n_bytes",
    "n_full",
    "n_windowed",
    "window",
    "n_kv_heads",
    "d_head",
    "bytes_per_number",
    "max_length",
)


def _sizes(*given):
    return dict(zip(_SIZES, given, strict=True))


LONGEST_ANSWERS = (
    (Case("400 thousand bytes and no windows", _sizes(400000, 5, 0, 1, 2, 6, 4, 8192)), 833),
    (Case("more room than the model can use", _sizes(50000, 5, 0, 1, 2, 6, 4, 50)), 50),
    (Case("20 of 30 layers with a window of 40", _sizes(1000000, 10, 20, 40, 3, 64, 2, 2000)), 50),
    (Case("a text shorter than the windows", _sizes(9000, 2, 4, 40, 2, 3, 4, 1000)), 31),
)


def _text(start, n_tokens, d_head, window):
    names = "queries", "keys", "values"
    parts = {name: numbers(start + i, n_tokens, d_head) for i, name in enumerate(names)}
    return {**parts, "window": window}


ROLLED_ANSWERS = (
    (
        Case("5 tokens, a window of 3", _text(1, 5, 2, 3)),
        [
            [0.3, -2.0],
            [0.202417, 1.8057363],
            [-0.0199508, -1.9189358],
            [0.4786113, 1.747959],
            [-0.9138927, -1.5914859],
        ],
    ),
    (
        Case("6 tokens, a window of 4", _text(4, 6, 3, 4)),
        [
            [-0.6, 2.0, 0.0],
            [-1.9161913, 0.589795, 1.7862596],
            [-0.9063209, -1.5809537, 1.4007596],
            [1.1953267, -1.6274488, -0.7158933],
            [0.2008956, 0.3143795, -0.2794602],
            [0.1939797, 1.9247101, -0.6735896],
        ],
    ),
)

EXERCISES = (
    stored_exercise(
        "grouped_attention",
        "the output (n_heads, n_queries, d_v), each query head reading the key head that "
        "kv_of_head names.",
        GROUPED_ANSWERS,
        GROUPED,
    ),
    stored_exercise(
        "untile",
        "the heads in the order in which neighbours share a key head.",
        UNTILED_ANSWERS,
        UNTILED,
    ),
    stored_exercise(
        "merge_fused",
        "the fused matrix of the grouped layer: the queries' rows, then n_left heads of keys and "
        "n_left of values.",
        MERGED_ANSWERS,
        MERGED,
    ),
    stored_exercise(
        "longest_text",
        "how many tokens fit, a whole number.",
        LONGEST_ANSWERS,
        LONGEST,
    ),
    stored_exercise(
        "rolled",
        "the outputs (token, d_head), each over the last window tokens.",
        ROLLED_ANSWERS,
        ROLLED,
    ),
)

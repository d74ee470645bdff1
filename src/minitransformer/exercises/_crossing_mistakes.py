"""What goes wrong when one sequence asks another: whose queries, keys and values they are."""

import numpy as np

from ..reference import softmax
from ._attention_mistakes import MIXING
from ._exercise import Misconception

__all__ = ["CROSSING"]


def _attended(query, key, value):
    return softmax(query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])) @ value


CROSSING = (
    Misconception(
        "This is self-attention of x: keys and values are to come from context.",
        lambda x, context, w_q, w_k, w_v: _attended(x @ w_q, x @ w_k, x @ w_v),
    ),
    Misconception(
        "This is self-attention of context: the queries are to come from x.",
        lambda x, context, w_q, w_k, w_v: _attended(context @ w_q, context @ w_k, context @ w_v),
    ),
    Misconception(
        "x and context have changed places: x asks, so it gives the queries, and there is one "
        "output for each token of x.",
        lambda x, context, w_q, w_k, w_v: _attended(context @ w_q, x @ w_k, x @ w_v),
    ),
    Misconception(
        "The values come from x. Keys and values go together, since a key leads to its value: both "
        "come from context.",
        lambda x, context, w_q, w_k, w_v: _attended(x @ w_q, context @ w_k, x @ w_v),
    ),
    Misconception(  # NumPy has the same words for both
        "The shapes do not meet. Either the keys come from x, which then is compared with itself: "
        "keys come from context, like values. Or rows and columns of the weights are exchanged: "
        "rows are queries, columns keys.",
        lambda x, context, w_q, w_k, w_v: _attended(x @ w_q, x @ w_k, context @ w_v),
    ),
    Misconception(
        "w_q and w_k are exchanged: w_q makes queries of x, w_k makes keys of context.",
        lambda x, context, w_q, w_k, w_v: _attended(x @ w_k, context @ w_q, context @ w_v),
    ),
    Misconception(
        "The projections are missing: queries are x @ w_q, keys context @ w_k, values "
        "context @ w_v.",
        lambda x, context, w_q, w_k, w_v: _attended(x, context, context),
    ),
    Misconception(
        "You scaled by the width of x. The scale is the square root of the width of a key.",
        lambda x, context, w_q, w_k, w_v: (
            softmax((x @ w_q) @ np.swapaxes(context @ w_k, -1, -2) / np.sqrt(x.shape[-1]))
            @ (context @ w_v)
        ),
    ),
    *(
        Misconception(
            one.explanation,
            lambda x, context, w_q, w_k, w_v, f=one.formula: f(
                x @ w_q, context @ w_k, context @ w_v
            ),
        )
        for one in MIXING
    ),
)

"""What goes wrong in assignment 3: the wrong formulas, and what their writers are told."""

import numpy as np

from ..reference import scaled_dot_product_attention
from ._exercise import Misconception
from .chapter_06 import INTERLEAVED, NO_SWAP, merge_heads, split_heads

__all__ = ["AFFORDED", "CROSSED", "FUSED", "MATCHED", "TURNED"]

# --- split_fused ---------------------------------------------------------------------------------


def _cut(x, *sizes):
    """The last axis cut into the given sizes; -1 is what is left."""
    return x.reshape(*x.shape[:-1], *sizes)


FUSED = (
    Misconception(
        "You reshaped straight to the result. That cuts the numbers in the order in which they lie "
        "in memory, so that parts and heads get numbers of different tokens. Cut the last axis "
        "alone, then move axes.",
        lambda fused, n_heads: fused.reshape(3, *fused.shape[:-2], n_heads, fused.shape[-2], -1),
    ),
    Misconception(
        NO_SWAP,
        lambda fused, n_heads: np.stack(
            [
                third.reshape(*third.shape[:-2], n_heads, third.shape[-2], -1)
                for third in np.split(fused, 3, axis=-1)
            ]
        ),
    ),
    Misconception(
        "You read the columns head by head. Here all queries come first, then all keys, then all "
        "values.",
        lambda fused, n_heads: np.moveaxis(_cut(fused, n_heads, 3, -1), (-2, -3), (0, -3)),
    ),
    Misconception(
        INTERLEAVED,
        lambda fused, n_heads: np.moveaxis(_cut(fused, 3, -1, n_heads), (-3, -1), (0, -3)),
    ),
    Misconception(
        "The head axis comes after the tokens; it belongs before them.",
        lambda fused, n_heads: np.moveaxis(_cut(fused, 3, n_heads, -1), -3, 0),
    ),
    Misconception(
        "You cut into parts of n_heads columns. There are n_heads parts, each d_head wide.",
        lambda fused, n_heads: np.moveaxis(_cut(fused, 3, -1, n_heads), (-3, -2), (0, -3)),
    ),
    Misconception(
        "Keys and values are exchanged.",
        lambda fused, n_heads: np.stack(
            [split_heads(third, n_heads) for third in np.split(fused, 3, axis=-1)]
        )[[0, 2, 1]],
    ),
    Misconception(
        "The axis of queries, keys and values comes first, before the batch.",
        lambda fused, n_heads: np.stack(
            [split_heads(third, n_heads) for third in np.split(fused, 3, axis=-1)], axis=-4
        ),
    ),
)

# --- to_thirds -----------------------------------------------------------------------------------

TURNED = (
    Misconception(
        "The columns stand where they stood: a reshape alone moves nothing.",
        lambda weight, n_heads: weight,
    ),
    Misconception(
        "You took every third column. The queries of a head are d_head columns side by side.",
        lambda weight, n_heads: np.concatenate([weight[..., p::3] for p in range(3)], axis=-1),
    ),
    Misconception(
        "The heads are mixed within a part: head 0 comes first with all of its columns.",
        lambda weight, n_heads: np.moveaxis(_cut(weight, n_heads, 3, -1), -3, -1).reshape(
            weight.shape
        ),
    ),
    Misconception(
        "The values come first here. The order is queries, keys, values.",
        lambda weight, n_heads: np.swapaxes(
            _cut(weight, n_heads, 3, -1)[..., ::-1, :], -2, -3
        ).reshape(weight.shape),
    ),
    Misconception(
        "That is the other way round: you read the columns as if they were ordered by part "
        "already. They come head by head.",
        lambda weight, n_heads: np.swapaxes(_cut(weight, 3, n_heads, -1), -2, -3).reshape(
            weight.shape
        ),
    ),
)

# --- cross_attention -----------------------------------------------------------------------------


def _halves(projected):
    return np.split(projected, 2, axis=-1)


def _all_heads(x, memory, w_q, w_kv, n_heads, split=split_heads):
    """Queries, keys and values, cut into heads."""
    return [split(part, n_heads) for part in (x @ w_q, *_halves(memory @ w_kv))]


def _unswapped(x, n_heads):
    return x.reshape(len(x), n_heads, x.shape[1], -1)


def _interleaved(x, n_heads):
    return np.moveaxis(_cut(x, -1, n_heads), -1, 1)


def _by_head(x, memory, w_q, w_kv, n_heads):
    return split_heads(x @ w_q, n_heads), *_halves(split_heads(memory @ w_kv, n_heads))


def _mixed(parts, real=None, scale=None):
    mask = None if real is None else real[:, None, None]
    return scaled_dot_product_attention(*parts, mask, scale)[0]


CROSSED = (
    Misconception(
        "That is one wide head: one softmax for all columns. Split queries, keys and values first.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            scaled_dot_product_attention(x @ w_q, *_halves(memory @ w_kv), real[:, None])[0] @ w_o
        ),
    ),
    Misconception(
        "The first half of w_kv makes the keys, the second one the values; yours are exchanged.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(
                _mixed(
                    _all_heads(x, memory, w_q, np.roll(w_kv, w_q.shape[1], axis=1), n_heads), real
                )
            )
            @ w_o
        ),
    ),
    Misconception(
        "You took keys and values from each head's columns in turn. w_kv has the keys of all heads "
        "first, then all values: halve it, then split.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_by_head(x, memory, w_q, w_kv, n_heads), real)) @ w_o
        ),
    ),
    Misconception(
        NO_SWAP,
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_all_heads(x, memory, w_q, w_kv, n_heads, _unswapped), real)) @ w_o
        ),
    ),
    Misconception(
        INTERLEAVED,
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_all_heads(x, memory, w_q, w_kv, n_heads, _interleaved), real)) @ w_o
        ),
    ),
    Misconception(
        "You joined the heads by a reshape alone, so a row holds parts of different tokens. Swap "
        "head and token first.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            _mixed(_all_heads(x, memory, w_q, w_kv, n_heads), real).reshape(*x.shape[:2], -1) @ w_o
        ),
    ),
    Misconception(
        "You scaled by the width of all heads together. A key of one head is d_head wide.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(
                _mixed(_all_heads(x, memory, w_q, w_kv, n_heads), real, w_q.shape[1] ** -0.5)
            )
            @ w_o
        ),
    ),
    Misconception(
        "w_o is missing: the heads stand side by side, and nothing mixes them yet.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: merge_heads(
            _mixed(_all_heads(x, memory, w_q, w_kv, n_heads), real)
        ),
    ),
    Misconception(
        "The padding is read: real hides keys, real[:, None, None, :].",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_all_heads(x, memory, w_q, w_kv, n_heads))) @ w_o
        ),
    ),
    Misconception(
        "The mask is the wrong way round: real is True for tokens that may be read.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_all_heads(x, memory, w_q, w_kv, n_heads), ~real)) @ w_o
        ),
    ),
    Misconception(
        "Padding of zeros is still read: a score of 0 is not a weight of 0. Mask it.",
        lambda x, memory, real, w_q, w_kv, w_o, n_heads: (
            merge_heads(_mixed(_all_heads(x, memory * real[..., None], w_q, w_kv, n_heads))) @ w_o
        ),
    ),
)

# --- most_heads ----------------------------------------------------------------------------------


def _afforded(budget, of_a_head, fixed=0):
    return np.array((budget - fixed) // of_a_head)


AFFORDED = (
    Misconception(
        "The output product is not counted: w_o has d_head · d_model numbers a head.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (d_model + 2 * d_memory + 3 * bias), bias * d_model
        ),
    ),
    Misconception(
        "You took keys and values to be made from x. They are made from memory, d_memory wide.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (4 * d_model + 3 * bias), bias * d_model
        ),
    ),
    Misconception(
        "You took everything to be as wide as memory. Queries come from x, d_model wide, and the "
        "output is as wide.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (4 * d_memory + 3 * bias), bias * d_model
        ),
    ),
    Misconception(
        "Keys or values are not counted: both are made from memory, each by a matrix of its own.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (2 * d_model + d_memory + 2 * bias), bias * d_model
        ),
    ),
    Misconception(
        "That is one head too many: round down.",
        lambda budget, d_model, d_memory, d_head, bias: (
            _afforded(budget, 2 * d_head * (d_model + d_memory)) + 1
        ),
    ),
    Misconception(
        "The bias is not counted.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, 2 * d_head * (d_model + d_memory)
        ),
    ),
    Misconception(
        "The bias of the output is not counted: d_model numbers.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (2 * d_model + 2 * d_memory + 3 * bias)
        ),
    ),
    Misconception(
        "You counted the bias of the output once a head. The output is added up from all heads, "
        "and its bias is there once.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget, d_head * (2 * d_model + 2 * d_memory + 3 * bias) + bias * d_model
        ),
    ),
    Misconception(
        "At most budget: a layer with exactly as many parameters fits.",
        lambda budget, d_model, d_memory, d_head, bias: _afforded(
            budget - 1, d_head * (2 * d_model + 2 * d_memory + 3 * bias), bias * d_model
        ),
    ),
)

# --- match_heads ---------------------------------------------------------------------------------


def _nearest(one, other, axis=1):
    return np.square(one[:, None] - other).sum(axis=(-2, -1)).argmin(axis=axis)


MATCHED = (
    Misconception(
        "Your answer says where the heads of the other file come from. Asked for is, for each head "
        "of the first file, its number in the other one.",
        lambda w_q, w_k, other_q, other_k: _nearest(w_q, other_q, axis=0),
    ),
    Misconception(
        "You left the heads in their order.",
        lambda w_q, w_k, other_q, other_k: np.arange(len(w_q)),
    ),
    Misconception(
        "You compared the matrices of the queries. In other coordinates they differ, and only the "
        "product of w_q with w_k transposed stays.",
        lambda w_q, w_k, other_q, other_k: _nearest(w_q, other_q),
    ),
    Misconception(
        "You compared the matrices of the keys. In other coordinates they differ, and only the "
        "product of w_q with w_k transposed stays.",
        lambda w_q, w_k, other_q, other_k: _nearest(w_k, other_k),
    ),
)

"""Chapter 6: into heads, out of heads, what one head adds, and all of it.

The last exercise builds on the first two, and so do the solutions.
"""

import numpy as np

from ..reference import softmax
from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def split_heads(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, d_head), -2, -3)


def merge_heads(z):
    *batch, n_heads, time, d_head = z.shape
    return np.swapaxes(z, -2, -3).reshape(*batch, time, n_heads * d_head)


def head_contributions(z, w_o):
    n_heads, d_head = z.shape[-3], z.shape[-1]
    return z @ w_o.reshape(n_heads, d_head, -1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    query, key, value = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1]))
    return merge_heads(weights @ value) @ w_o


# --- what goes wrong -----------------------------------------------------------------------------

MATRICES_ONLY = (
    "You count on a matrix: with a batch in front, the axes have other numbers. Count them from "
    "the end, -1, -2 and -3, and keep x.shape[:-1] as it is."
)
NO_SWAP = (
    "You reshaped straight to (head, token, d_head). That cuts the numbers in the order in which "
    "they lie in memory, so a head gets parts of different tokens. Reshape to (token, head, "
    "d_head) first, then swap the two axes."
)
INTERLEAVED = (
    "Your heads take every n-th column in turn. A head's columns stand side by side: the first "
    "d_head columns are head 0."
)


def _interleaved(x, n_heads):
    parts = x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads)
    return np.moveaxis(parts, -1, -3)


def _unswapped(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)


SPLITTING = (
    Misconception(
        "The head axis comes after the tokens; swap the two, so that each head has a matrix "
        "(token, d_head) of its own.",
        lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, -1),
    ),
    Misconception(NO_SWAP, _unswapped),
    Misconception(INTERLEAVED, _interleaved),
    Misconception(
        "You cut into parts of n_heads columns. There are n_heads parts, each d_model / n_heads "
        "wide.",
        lambda x, n_heads: np.swapaxes(x.reshape(*x.shape[:-1], -1, n_heads), -2, -3),
    ),
    Misconception(
        "Every head has all columns. Each is to get d_model / n_heads of them.",
        lambda x, n_heads: np.stack([x] * int(n_heads), axis=-3),
    ),
    Misconception(
        "Each head's matrix is transposed: rows are tokens, columns the numbers of the head.",
        lambda x, n_heads: np.swapaxes(split_heads(x, n_heads), -1, -2),
    ),
    Misconception(
        "The heads stand before the batch. The head axis is the third from the end: "
        "np.stack(..., axis=-3).",
        lambda x, n_heads: np.stack(np.split(x, n_heads, axis=-1)),
    ),
    Misconception(
        MATRICES_ONLY, lambda x, n_heads: x.reshape(x.shape[0], n_heads, -1).swapaxes(0, 1)
    ),
    Misconception(
        MATRICES_ONLY, lambda x, n_heads: x.reshape(x.shape[-2], n_heads, -1).swapaxes(0, 1)
    ),
    Misconception(
        MATRICES_ONLY, lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, -1).swapaxes(0, 1)
    ),
)

MERGING = (
    Misconception(
        "You reshaped without swapping back, so a row holds parts of different tokens. Swap "
        "head and token first: (token, head, d_head), then reshape.",
        lambda z: z.reshape(*z.shape[:-3], z.shape[-2], -1),
    ),
    Misconception(
        "The numbers of the heads are shuffled: first number of each head, then second. All "
        "numbers of head 0 come first.",
        lambda z: np.moveaxis(z, -3, -1).reshape(*z.shape[:-3], z.shape[-2], -1),
    ),
    Misconception(
        "You added the heads up. They are laid side by side; adding is left to W_O.",
        lambda z: z.sum(axis=-3),
    ),
    Misconception(
        "You averaged the heads. They are laid side by side, so that nothing is lost.",
        lambda z: z.mean(axis=-3),
    ),
    Misconception(
        "The heads stand below one another, as if they were more tokens. Lay them side by side, "
        "along the last axis.",
        lambda z: z.reshape(*z.shape[:-3], -1, z.shape[-1]),
    ),
    Misconception(
        "Head and token are swapped, but the last two axes are still apart: reshape them into one.",
        lambda z: np.swapaxes(z, -2, -3),
    ),
    Misconception(
        "You went through the first axis as if it were the heads; with a batch in front it is "
        "the batch. The heads are the third axis from the end.",
        lambda z: np.concatenate(list(z), axis=-1),
    ),
)

CONTRIBUTING = (
    Misconception(
        "That is their sum, the output of the layer. Here each head's share is asked for, with "
        "the head axis kept.",
        lambda z, w_o: merge_heads(z) @ w_o,
    ),
    Misconception(
        "Every head went through the first rows of W_O. Head h has rows of its own, from "
        "h * d_head on.",
        lambda z, w_o: z @ w_o[: z.shape[-1]],
    ),
    Misconception(
        "Every head went through the last rows of W_O. Head h has rows of its own, from "
        "h * d_head on.",
        lambda z, w_o: z @ w_o[-z.shape[-1] :],
    ),
    Misconception(
        "You gave the heads every n-th row of W_O in turn. A head's rows stand side by side: the "
        "first d_head rows belong to head 0.",
        lambda z, w_o: z @ np.stack([w_o[h :: z.shape[-3]] for h in range(z.shape[-3])]),
    ),
    Misconception(
        "You divided by the number of heads. The shares are added, not averaged.",
        lambda z, w_o: head_contributions(z, w_o) / z.shape[-3],
    ),
    Misconception(
        "You cut W_O by columns. A head's numbers meet rows of W_O, and each head writes to all "
        "columns.",
        lambda z, w_o: z @ np.stack(np.split(w_o, z.shape[-3], axis=1))[..., : z.shape[-1], :],
    ),
    Misconception(
        "W_O is transposed here: its rows belong to the heads' numbers, its columns to the output.",
        lambda z, w_o: head_contributions(z, np.ascontiguousarray(w_o.T).reshape(w_o.shape)),
    ),
)


def _attended(query, key, value, d_scale=None):
    scale = np.sqrt(key.shape[-1] if d_scale is None else d_scale)
    return softmax(query @ np.swapaxes(key, -1, -2) / scale) @ value


def _with(split=split_heads, merge=merge_heads, attend=_attended, last=lambda z, w_o: z @ w_o):
    """The whole computation with one part replaced."""

    def formula(x, w_q, w_k, w_v, w_o, n_heads):
        parts = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        return last(merge(attend(*parts)), w_o)

    return formula


ALL_TOGETHER = (
    Misconception(
        "That is one head of full width: one softmax for all columns. Split queries, keys and "
        "values first, so that each head has a softmax of its own.",
        lambda x, w_q, w_k, w_v, w_o, n_heads: _attended(x @ w_q, x @ w_k, x @ w_v) @ w_o,
    ),
    Misconception(
        "You scaled by the square root of d_model. A key of one head is d_head wide: "
        "key.shape[-1] after the split.",
        lambda x, w_q, w_k, w_v, w_o, n_heads: _with(
            attend=lambda q, k, v: _attended(q, k, v, w_q.shape[1])
        )(x, w_q, w_k, w_v, w_o, n_heads),
    ),
    Misconception(
        "The scale is missing: divide the dot products by the square root of d_head.",
        _with(attend=lambda q, k, v: _attended(q, k, v, 1)),
    ),
    Misconception(
        "W_O is missing: the heads are side by side, but nothing mixes them yet.",
        _with(last=lambda z, w_o: z),
    ),
    Misconception(
        "W_O is transposed here: the output is merged @ w_o.",
        _with(last=lambda z, w_o: z @ w_o.T),
    ),
    Misconception(
        "You split x and not the projections, so a head sees only a slice of each token. Each "
        "head sees the whole token: project first, then split.",
        lambda x, w_q, w_k, w_v, w_o, n_heads: (
            merge_heads(
                _attended(
                    *(
                        split_heads(x, n_heads) @ split_heads(w.T, n_heads)[..., : x.shape[-1], :]
                        for w in (w_q, w_k, w_v)
                    )
                )
            )
            @ w_o
        ),
    ),
    Misconception(
        "Queries and keys are exchanged: rows of the scores are queries.",
        _with(attend=lambda q, k, v: _attended(k, q, v)),
    ),
    Misconception(
        "Softmax runs over the heads. Heads do not compete; the keys of one query do: axis=-1.",
        _with(
            attend=lambda q, k, v: (
                softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1]), axis=-3) @ v
            )
        ),
    ),
    Misconception(
        "Softmax runs over the queries: the columns sum to 1, not the rows.",
        _with(
            attend=lambda q, k, v: (
                softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1]), axis=-2) @ v
            )
        ),
    ),
    Misconception(INTERLEAVED, _with(split=_interleaved)),
    Misconception(NO_SWAP, _with(split=_unswapped)),
    *(Misconception(one.explanation, _with(merge=one.formula)) for one in MERGING[:2]),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ, so that no two can be mixed up unseen.


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-19, 20, shape) / 10


def _layer(seed, d_model, width, *batch_and_time):
    numbers = {"x": _draw(seed, *batch_and_time, d_model)}
    for place, name in enumerate(("w_q", "w_k", "w_v"), start=1):
        numbers[name] = _draw(seed + place, d_model, width) / 2
    return numbers | {"w_o": _draw(seed + 4, width, d_model) / 2}


TOKENS = (
    Case("five tokens, three heads", {"x": _draw(1, 5, 6), "n_heads": np.array(3)}),
    Case("seven tokens, two heads", {"x": _draw(2, 7, 6), "n_heads": np.array(2)}),
    Case("a batch of two", {"x": _draw(3, 2, 5, 12), "n_heads": np.array(4)}),
)
HEADS = (
    Case("three heads, five tokens", {"z": _draw(4, 3, 5, 2)}),
    Case("a batch of two", {"z": _draw(5, 2, 4, 5, 3)}),
)
OUTPUTS = (
    Case("three heads, five tokens", {"z": _draw(6, 3, 5, 2), "w_o": _draw(7, 6, 9)}),
    Case("a batch of two", {"z": _draw(8, 2, 4, 5, 3), "w_o": _draw(9, 12, 8)}),
)
LAYERS = (
    Case("five tokens, three heads", _layer(10, 4, 6, 5) | {"n_heads": np.array(3)}),
    Case("a batch of two", _layer(20, 7, 12, 2, 5) | {"n_heads": np.array(4)}),
)

EXERCISES = (
    Exercise(
        "the same numbers with a head axis before the tokens: (..., head, token, d_head). Head 0 "
        "gets the first d_head columns.",
        split_heads,
        TOKENS,
        SPLITTING,
    ),
    Exercise(
        "the heads side by side: (..., token, n_heads · d_head). It undoes split_heads.",
        merge_heads,
        HEADS,
        MERGING,
    ),
    Exercise(
        "what each head adds to the output, (..., head, token, d_model). Their sum over the heads "
        "is merge_heads(z) @ w_o.",
        head_contributions,
        OUTPUTS,
        CONTRIBUTING,
    ),
    Exercise(
        "the output of self-attention with n_heads heads: each attends on its own, and W_O mixes "
        "them side by side.",
        multi_head_attention,
        LAYERS,
        ALL_TOGETHER,
    ),
)

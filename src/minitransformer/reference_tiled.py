"""Attention tile by tile, in NumPy, with a count of what it moves, multiplies and holds.

A processor has a large slow memory and a small fast one, and computes only in the fast one. Here
every number that goes from one to the other is counted. `stored_attention` writes scores and
weights out to the slow memory, as the formula suggests; `tiled_attention` never does. Both give
the same output and take one head: queries of shape (query, d_k), no batch.
"""

import math
from dataclasses import dataclass

import numpy as np

from ._checks import check_attention, check_count

__all__ = ["Counts", "online_step", "stored_attention", "tiled_attention"]


@dataclass
class Counts:
    """What a computation took.

    Attributes
    ----------
    moved : int
        Numbers that went from slow to fast memory or back.
    multiplied : int
        Multiplications: of matrix products, and of rescaling what was added up before.
    held : int
        The most numbers that were in the fast memory at once.
    """

    moved: int = 0
    multiplied: int = 0
    held: int = 0

    def move(self, array):
        """Count an array on its way from one memory to the other."""
        self.moved += array.size
        return array

    def product(self, left, right):
        """The matrix product of two arrays in fast memory."""
        self.multiplied += left.shape[0] * right.size
        return left @ right

    def hold(self, *arrays):
        """These are in the fast memory now, all at once."""
        self.held = max(self.held, sum(np.size(array) for array in arrays))


def stored_attention(query, key, value, causal=False):
    """Attention that writes scores and weights out, with its counts.

    Each step (scores, weights, output) reads all it needs and writes all it makes.

    Parameters
    ----------
    query : array (query, d_k)
    key : array (key, d_k)
    value : array (key, d_v)
    causal : bool
        Hide later keys; then there must be as many keys as queries. Hidden scores are computed and
        moved all the same.

    Returns
    -------
    output : array (query, d_v)
    counts : Counts
        Its ``held`` stays 0: the steps read and write in whatever parts fit.

    Raises
    ------
    ValueError, TypeError
        If the inputs are no matrices or do not fit one another.

    Examples
    --------
    >>> query, key, value = np.ones((4, 2)), np.ones((4, 2)), np.eye(4, 3)
    >>> output, counts = stored_attention(query, key, value)
    >>> output[0]
    array([0.25, 0.25, 0.25])
    >>> counts
    Counts(moved=104, multiplied=80, held=0)

    Source: Dao et al. 2022, "FlashAttention", algorithm 0.
    """
    query, key, value = _check(query, key, value, causal)
    counts = Counts()
    scores = counts.product(counts.move(query), counts.move(key).T) / math.sqrt(query.shape[-1])
    if causal:
        scores = np.where(np.tri(len(query), dtype=bool), scores, -np.inf)
    counts.move(scores)  # out
    exponentials = np.exp(counts.move(scores) - scores.max(axis=-1, keepdims=True))
    weights = counts.move(exponentials / exponentials.sum(axis=-1, keepdims=True))  # out
    output = counts.product(counts.move(weights), counts.move(value))
    return counts.move(output), counts


def tiled_attention(query, key, value, query_tile, key_tile, causal=False):
    """The same attention, a few queries and a few keys at a time, with its counts.

    Parameters
    ----------
    query, key, value, causal
        As in :func:`stored_attention`, but keys that are later than a whole tile of queries are
        not read at all.
    query_tile, key_tile : int
        How many queries and how many keys are in the fast memory at a time. The output does not
        depend on them. The last tile may be smaller.

    Returns
    -------
    output : array (query, d_v)
    counts : Counts

    Raises
    ------
    ValueError, TypeError
        If a tile size is not positive, or as :func:`stored_attention`.

    Examples
    --------
    >>> query, key, value = np.ones((4, 2)), np.ones((4, 2)), np.eye(4, 3)
    >>> output, counts = tiled_attention(query, key, value, query_tile=2, key_tile=3)
    >>> output[0]
    array([0.25, 0.25, 0.25])
    >>> counts.moved, counts.held
    (60, 35)

    Source: Dao et al. 2022, "FlashAttention", section 3.1; with queries in the outer loop as in
    Dao 2023, "FlashAttention-2", section 3.1.
    """
    query, key, value = _check(query, key, value, causal)
    query_tile = check_count("query_tile", query_tile, at_least=1)
    key_tile = check_count("key_tile", key_tile, at_least=1)
    counts, output = Counts(), np.empty((len(query), value.shape[-1]), value.dtype)
    for first in range(0, len(query), query_tile):
        rows = np.arange(first, min(first + query_tile, len(query)))
        q = counts.move(query[rows])
        n_seen = rows[-1] + 1 if causal else len(key)
        state = -np.inf, 0.0, np.zeros((len(rows), value.shape[-1]), value.dtype)
        for start in range(0, n_seen, key_tile):
            columns = np.arange(start, min(start + key_tile, n_seen))
            k, v = counts.move(key[columns]), counts.move(value[columns])
            scores = counts.product(q, k.T) / math.sqrt(query.shape[-1])
            if causal:
                scores = np.where(columns <= rows[:, None], scores, -np.inf)
            state = online_step(*state, scores, v, counts)
            counts.hold(q, k, v, scores, *state)
        _, total, summed = state
        output[rows] = counts.move(summed / total)
    return output, counts


def online_step(largest, total, summed, scores, value, counts=None):
    """Add a tile of keys to what is known of some queries.

    Parameters
    ----------
    largest, total : array (query, 1), or -infinity and 0 before the first tile
        The largest score so far, and the sum of ``exp(score - largest)``.
    summed : array (query, d_v)
        The sum of the values, each times ``exp(score - largest)``.
    scores : array (query, key)
        Of the new keys. Every query must see one of the keys by now.
    value : array (key, d_v)
    counts : Counts, optional

    Returns
    -------
    largest, total, summed
        The same three with the new keys in them; ``summed / total`` is the output.

    Examples
    --------
    >>> state = -np.inf, 0.0, np.zeros((1, 1))
    >>> for score, value in ((0.0, 10.0), (np.log(3.0), 20.0)):
    ...     state = online_step(*state, np.array([[score]]), np.array([[value]]))
    >>> largest, total, summed = state
    >>> summed / total
    array([[17.5]])

    Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3.
    """
    counts = Counts() if counts is None else counts
    before, largest = largest, np.maximum(largest, scores.max(axis=-1, keepdims=True))
    shrink = np.exp(before - largest)
    exponentials = np.exp(scores - largest)
    total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
    summed = summed * shrink + counts.product(exponentials, value)
    counts.multiplied += summed.size
    return largest, total, summed


def _check(query, key, value, causal):
    query, key, value = check_attention(query, key, value)
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.ndim != 2:
            raise ValueError(f"{name} must be a matrix, one head, got shape {array.shape}")
    if not len(key):
        raise ValueError("there are no keys, so there is nothing to attend to")
    if causal and len(query) != len(key):
        raise ValueError(f"causal needs as many keys as queries, got {len(query)} and {len(key)}")
    return query, key, value

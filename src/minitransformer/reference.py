"""Attention as the book writes it, in NumPy.

Every function here is as long as its formula. The words and shapes are the book's:

- a *score* is a scaled dot product of one query with one key, before the softmax;
- a *weight* is what the softmax makes of it: the weights of one query sum to 1;
- the *output* of a query is the sum of the values, each times its weight;
- matrices have a row for each query and a column for each key;
- a mask is boolean and ``True`` means *may attend*. A query that may attend to nothing gets
  weights of 0 and an output of 0, never NaN.

All functions take any number of leading dimensions (batch, heads), keep float32 and float64 as
they are, compute float16 in float32 and take whole numbers as float64.
"""

import numpy as np

from ._checks import (
    as_float,
    check_attention,
    check_count,
    check_mask,
    check_scale,
    check_scores,
    scores_shape,
)

__all__ = [
    "causal_mask",
    "multi_head_attention",
    "online_softmax_attention",
    "scaled_dot_product_attention",
    "self_attention",
    "softmax",
]


def softmax(scores, axis=-1, mask=None):
    """Turn scores into weights that are positive and sum to 1 along ``axis``.

    Parameters
    ----------
    scores : array
        Numbers of any size: the maximum is subtracted first, so that ``exp`` cannot overflow.
    axis : int
        The axis whose entries compete with one another.
    mask : boolean array, optional
        ``True`` = takes part. Must broadcast to the shape of ``scores``. What stands in a masked
        place, infinity and NaN included, does not matter. Where nothing takes part, all weights
        are 0.

    Returns
    -------
    array of the shape of ``scores``

    Raises
    ------
    ValueError
        If a score that takes part is NaN or +infinity, or the mask does not fit.
    TypeError
        If ``scores`` are not real numbers, or the mask is not boolean.

    Examples
    --------
    >>> softmax([0.0, np.log(3.0)])
    array([0.25, 0.75])
    >>> softmax([1e4, -1e4, np.inf], mask=np.array([True, True, False]))
    array([1., 0., 0.])

    Source: Bridle 1990, "Probabilistic interpretation of feedforward classification network
    outputs"; the masked form as in Vaswani et al. 2017, section 3.2.3.
    """
    scores = as_float("scores", scores)
    if scores.ndim == 0:
        raise ValueError(
            "scores is a single number; softmax needs an array of at least 1 dimension"
        )
    if mask is not None:
        scores = np.where(check_mask(mask, scores.shape), scores, -np.inf)
    check_scores(scores)
    largest = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isneginf(largest), 0, largest)  # nothing takes part: exp(-inf) = 0 below
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    """Mix the values of those keys that fit each query: ``softmax(query · keyᵀ · scale) · value``.

    Parameters
    ----------
    query : array (..., query, d_k)
    key : array (..., key, d_k)
    value : array (..., key, d_v)
    mask : boolean array, broadcasts to (..., query, key), optional
        ``True`` = this query may attend to this key.
    scale : number, optional
        Factor on the dot products; ``1 / sqrt(d_k)`` if not given.

    Returns
    -------
    output : array (..., query, d_v)
    weights : array (..., query, key)

    Raises
    ------
    ValueError
        If the shapes do not fit one another, or values are not finite (0 · infinity is not 0).
    TypeError
        If an input does not hold real numbers, or the mask is not boolean.

    Examples
    --------
    >>> query, key = np.array([[4.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> value = np.array([[10.0], [20.0]])
    >>> output, weights = scaled_dot_product_attention(query, key, value, scale=1.0)
    >>> weights.round(4), output.round(3)
    (array([[9.997e-01, 3.000e-04]]), array([[10.003]]))

    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
    """
    query, key, value = check_attention(query, key, value)
    weights = softmax(_scores(query, key, scale), mask=mask)
    return weights @ value, weights


def online_softmax_attention(query, key, value, mask=None, block_size=64, scale=None):
    """Attention that reads keys and values block by block and never holds all weights at once.

    After each block, ``largest``, ``total`` and ``output`` are what they would be if there were no
    further keys. A block with a larger score shrinks what was added up before it.

    Parameters
    ----------
    query, key, value, mask, scale
        As in :func:`scaled_dot_product_attention`.
    block_size : int
        How many keys are read at a time. The output does not depend on it.

    Returns
    -------
    output : array (..., query, d_v)

    Raises
    ------
    ValueError, TypeError
        If ``block_size`` is not positive, or as :func:`scaled_dot_product_attention`.

    Examples
    --------
    >>> query, key = np.array([[4.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> value = np.array([[10.0], [20.0]])
    >>> online_softmax_attention(query, key, value, block_size=1, scale=1.0).round(3)
    array([[10.003]])

    Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3;
    Dao et al. 2022, "FlashAttention", section 3.1.
    """
    query, key, value = check_attention(query, key, value)
    shape = scores_shape(query, key)
    mask = np.broadcast_to(True if mask is None else check_mask(mask, shape), shape)
    block_size = check_count("block_size", block_size, at_least=1)
    largest, total, output = -np.inf, 0, np.zeros((*shape[:-1], value.shape[-1]), value.dtype)
    for start in range(0, shape[-1], block_size):
        block = slice(start, start + block_size)
        scores = np.where(mask[..., block], _scores(query, key[..., block, :], scale), -np.inf)
        check_scores(scores)
        before, largest = largest, np.maximum(largest, scores.max(axis=-1, keepdims=True))
        finite = np.where(np.isneginf(largest), 0, largest)  # no key so far: exp(-inf) = 0 below
        shrink, exponentials = np.exp(before - finite), np.exp(scores - finite)
        total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
        output = output * shrink + exponentials @ value[..., block, :]
    return output / np.where(total == 0, 1, total)


def self_attention(x, w_q, w_k, w_v, mask=None):
    """Attention in which queries, keys and values are three projections of one sequence.

    Parameters
    ----------
    x : array (..., time, d_model)
        One row a token.
    w_q, w_k : array (d_model, d_k)
    w_v : array (d_model, d_v)
    mask : boolean array, broadcasts to (..., time, time), optional
        ``True`` = may attend.

    Returns
    -------
    output : array (..., time, d_v)
    weights : array (..., time, time)

    Raises
    ------
    ValueError, TypeError
        If a projection does not fit ``x``, or as :func:`scaled_dot_product_attention`.

    Examples
    --------
    >>> x, identity = np.array([[1.0, 0.0], [1.0, 0.0]]), np.eye(2)
    >>> output, weights = self_attention(x, identity, identity, identity)
    >>> weights
    array([[0.5, 0.5],
           [0.5, 0.5]])

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    x = as_float("x", x, min_ndim=2)
    query, key, value = (
        _project(x, name, weight) for name, weight in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v))
    )
    return scaled_dot_product_attention(query, key, value, mask=mask)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """Run ``n_heads`` small self-attentions side by side and project their joined outputs.

    Parameters
    ----------
    x : array (..., time, d_model)
    w_q, w_k : array (d_model, n_heads * d_head)
        Head ``h`` owns the columns from ``h * d_head`` to ``(h + 1) * d_head``.
    w_v : array (d_model, n_heads * d_value)
    w_o : array (n_heads * d_value, d_out)
    n_heads : int
    mask : boolean array, broadcasts to (..., heads, time, time), optional
        ``True`` = may attend.

    Returns
    -------
    output : array (..., time, d_out)
    weights : array (..., heads, time, time)

    Raises
    ------
    ValueError, TypeError
        If a projection does not fit, or its columns cannot be shared out among the heads.

    Examples
    --------
    >>> x, w = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.eye(2)
    >>> output, weights = multi_head_attention(x, w, w, w, w, n_heads=2)
    >>> output.shape, weights.shape
    ((3, 2), (2, 3, 3))

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    x = as_float("x", x, min_ndim=2)
    query, key, value = (
        _split_heads(name, _project(x, name, weight), n_heads)
        for name, weight in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v))
    )
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    joined = np.swapaxes(output, -3, -2)  # (..., time, heads, d_value)
    joined = joined.reshape(*joined.shape[:-2], joined.shape[-2] * joined.shape[-1])
    return _project(joined, "w_o", w_o), weights


def causal_mask(n_queries, n_keys=None, q_offset=None):
    """The mask of a reader who may look back but not ahead.

    Parameters
    ----------
    n_queries : int
    n_keys : int, optional
        ``n_queries`` if not given.
    q_offset : int, optional
        How many keys come before the first query: the length of the cache in generation. It must
        be stated when the lengths differ.

    Returns
    -------
    boolean array (query, key), ``True`` = may attend: key ``j`` is not later than query ``i``,
    that is ``j <= i + q_offset``.

    Raises
    ------
    ValueError
        If a length is negative, or the lengths differ and ``q_offset`` does not say which of the
        two alignments is meant.

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(1, 3, q_offset=2).astype(int)
    array([[1, 1, 1]])

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    n_queries = check_count("n_queries", n_queries)
    n_keys = n_queries if n_keys is None else check_count("n_keys", n_keys)
    if q_offset is None:
        if n_keys != n_queries:
            raise ValueError(
                f"{n_queries} queries and {n_keys} keys: say with q_offset how many keys come "
                "before the first query. q_offset=0 lines up the first query with the first key "
                f"(top-left); q_offset={n_keys - n_queries} lines up the last query with the last "
                "key (bottom-right), as generation with a cache needs it"
            )
        q_offset = 0
    check_count("q_offset", q_offset, at_least=None)
    return np.arange(n_keys) <= np.arange(n_queries)[:, None] + q_offset


def _scores(query, key, scale):
    scale = 1 / np.sqrt(query.shape[-1]) if scale is None else check_scale(scale)
    with np.errstate(invalid="ignore", over="ignore"):  # harmless where masked, refused elsewhere
        return query @ np.swapaxes(key, -1, -2) * query.dtype.type(scale)


def _project(x, name, weight):
    weight = as_float(name, weight, min_ndim=2)
    if weight.ndim != 2 or weight.shape[0] != x.shape[-1]:
        raise ValueError(
            f"{name} must have shape ({x.shape[-1]}, columns) to fit rows of width "
            f"{x.shape[-1]}, got {weight.shape}"
        )
    return x @ weight


def _split_heads(name, projected, n_heads):
    """(..., time, heads * d_head) -> (..., heads, time, d_head)"""
    n_heads = check_count("n_heads", n_heads, at_least=1)
    if projected.shape[-1] % n_heads:
        raise ValueError(
            f"{name} has {projected.shape[-1]} columns, which {n_heads} heads cannot share equally"
        )
    heads = projected.reshape(*projected.shape[:-1], n_heads, projected.shape[-1] // n_heads)
    return np.swapaxes(heads, -3, -2)

"""Checks of what a reader hands to the NumPy functions.

They stand apart so that a function of reference.py stays as long as its formula. Each one either
returns its input ready for use or raises an error that names what came and what was expected.
"""

import numpy as np


def as_float(name, array, min_ndim=0):
    """An array of float32 or float64, or an error that names what came."""
    try:
        array = np.asarray(array)
    except ValueError:
        raise ValueError(f"{name} is not rectangular: its rows have different lengths") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim < min_ndim:
        raise ValueError(
            f"{name} must have at least {min_ndim} dimensions (rows and columns), "
            f"got shape {array.shape}"
        )
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def check_attention(query, key, value):
    """The three as float arrays that fit one another."""
    query, key, value = (
        as_float(name, array, min_ndim=2)
        for name, array in (("query", query), ("key", key), ("value", value))
    )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have one width d_k: query has shape {query.shape}, key {key.shape}"
        )
    if query.shape[-1] == 0:
        raise ValueError(f"query has width 0: shape {query.shape}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"every key needs one value: key has shape {key.shape} ({key.shape[-2]} keys), "
            f"value {value.shape} ({value.shape[-2]} values)"
        )
    try:
        np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except ValueError:
        raise ValueError(
            "the leading dimensions do not fit: "
            f"query {query.shape}, key {key.shape}, value {value.shape}"
        ) from None
    if not np.isfinite(value).all():
        raise ValueError("value holds NaN or infinity: times a weight of 0 that is NaN, not 0")
    return query, key, value


def scores_shape(query, key):
    leading = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    return (*leading, query.shape[-2], key.shape[-2])


def check_scores(scores):
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise ValueError(
            "a score that takes part is NaN or +infinity; softmax is not defined there"
        )


def check_mask(mask, shape):
    mask = np.asarray(mask)
    if mask.dtype != bool:
        nan = " and it holds NaN" if mask.dtype.kind == "f" and np.isnan(mask).any() else ""
        raise TypeError(
            f"mask must be boolean, True = may attend; got dtype {mask.dtype}{nan}. "
            "A 0/1 mask becomes one with mask.astype(bool)"
        )
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"mask of shape {mask.shape} does not fit scores of shape {shape}")
    return mask


def check_scale(scale):
    if isinstance(scale, bool) or not np.isscalar(scale) or not np.isreal(scale):
        raise TypeError(f"scale must be a number, got {scale!r}")
    if not np.isfinite(scale):
        raise ValueError(f"scale must be finite, got {scale}")
    return scale


def check_count(name, count, at_least=0):
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {count!r}")
    if at_least is not None and count < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {count}")
    return int(count)

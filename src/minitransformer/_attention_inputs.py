"""What attention in torch is given: the checks, and the one mask that all conditions add up to."""

import math

import torch

_INFINITY = float("inf")


def check_tensors(query, key, value, enable_gqa):
    """Raise an error that names what came unless the three fit one another."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got dtype {tensor.dtype}")
        if tensor.ndim < 2:
            raise ValueError(
                f"{name} must have shape (..., time, dim), got shape {tuple(tensor.shape)}"
            )
        if tensor.dtype != query.dtype:
            raise TypeError(f"query has dtype {query.dtype}, but {name} {tensor.dtype}")
        if tensor.device != query.device:
            raise ValueError(f"query is on {query.device}, but {name} on {tensor.device}")
    shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(f"query and key must have one width of at least 1: {shapes}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"every key needs one value: {shapes}")
    if enable_gqa:
        _check_groups(query, key, value, shapes)
    else:
        _check_leading(query, key, value, shapes)


def _check_groups(query, key, value, shapes):
    if min(query.ndim, key.ndim, value.ndim) < 3:
        raise ValueError(f"enable_gqa needs shapes (..., heads, time, dim): {shapes}")
    n_heads, n_kv_heads = query.shape[-3], key.shape[-3]
    if n_kv_heads != value.shape[-3] or n_kv_heads == 0 or n_heads % n_kv_heads:
        raise ValueError(
            "with enable_gqa keys and values must have the same number of heads, and the "
            f"queries a multiple of it: {shapes}"
        )
    _check_leading(query[..., 0, :, :], key[..., 0, :, :], value[..., 0, :, :], shapes)


def _check_leading(query, key, value, shapes):
    try:
        torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except RuntimeError:
        raise ValueError(
            f"the leading dimensions do not fit: {shapes}. Fewer key heads than query heads need "
            "enable_gqa=True"
        ) from None


def in_autocast(tensor):
    """Whether autocast is on where this tensor is; some devices, as "meta", have none to ask."""
    device = tensor.device.type
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def check_tokens(name, x, weight):
    """Raise an error unless ``x`` is (batch, time, width) and fits ``weight`` (rows, width)."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(x).__name__}")
    if x.ndim != 3 or x.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"{name} must have shape (batch, time, {weight.shape[-1]}), got {tuple(x.shape)}"
        )
    brought_together = in_autocast(x) and x.is_floating_point()
    if x.dtype != weight.dtype and not brought_together:
        raise TypeError(f"{name} has dtype {x.dtype}, but the weights {weight.dtype}")
    if x.device != weight.device:
        raise ValueError(f"{name} is on {x.device}, but the weights on {weight.device}")


def check_options(scale, dropout_p, softcap):
    for name, number in (("scale", scale), ("dropout_p", dropout_p), ("softcap", softcap)):
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(f"{name} must be a number, got {number!r}")
        if not math.isfinite(number):
            raise ValueError(f"{name} must be finite, got {number}")
    if not 0 <= dropout_p < 1:
        raise ValueError(f"dropout_p must be at least 0 and below 1, got {dropout_p}")
    if softcap is not None and softcap <= 0:
        raise ValueError(f"softcap must be positive, got {softcap}; None turns it off")


def check_mask(name, mask, shape, device):
    """Raise an error unless ``mask`` is boolean or float, broadcasts to ``shape``, is on device."""
    if not isinstance(mask, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            f"{name} must be boolean (True = may attend) or floating-point (added to the scores), "
            f"got dtype {mask.dtype}. A 0/1 mask becomes one with mask.bool()"
        )
    fits = mask.ndim <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(mask.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"{name} of shape {tuple(mask.shape)} does not fit scores of shape {tuple(shape)}"
        )
    _check_device(name, mask, device)


def _check_device(name, mask, device):
    if mask.device != device:
        raise ValueError(f"{name} is on {mask.device}, but the queries are on {device}")


def check_key_mask(key_mask, batch, n_keys, device):
    if not isinstance(key_mask, torch.Tensor) or key_mask.dtype != torch.bool:
        raise TypeError(
            "key_mask must be a boolean tensor, True = a real token, got "
            f"{getattr(key_mask, 'dtype', type(key_mask).__name__)}"
        )
    if tuple(key_mask.shape) != (batch, n_keys):
        raise ValueError(
            f"key_mask must have shape (batch, key) = {(batch, n_keys)}, those in the cache "
            f"included, got {tuple(key_mask.shape)}"
        )
    _check_device("key_mask", key_mask, device)


def check_head_mask(head_mask, n_heads, device):
    if not isinstance(head_mask, torch.Tensor):
        raise TypeError(f"head_mask must be a tensor, got {type(head_mask).__name__}")
    if tuple(head_mask.shape) != (n_heads,):
        raise ValueError(
            f"head_mask must have shape ({n_heads},), one factor a head, got "
            f"{tuple(head_mask.shape)}"
        )
    _check_device("head_mask", head_mask, device)


def check_sizes(d_model, n_heads, n_kv_heads, d_head):
    """Raise an error unless the sizes of a multi-head attention fit one another."""
    sizes = {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_head": d_head}
    for name, size in sizes.items():
        if name == "d_head" and size is None:
            continue
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be a whole number, got {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    if d_head is None and d_model % n_heads:
        raise ValueError(
            f"d_model {d_model} does not split into {n_heads} heads: choose another number or give "
            "d_head"
        )
    if n_heads % n_kv_heads:
        raise ValueError(f"n_heads {n_heads} must be a multiple of n_kv_heads {n_kv_heads}")


def check_window(window):
    """How many keys to the left and to the right of its own place a query may see."""
    left, right = window if isinstance(window, tuple) and len(window) == 2 else (window, None)
    for size in (left, right):
        if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
            raise TypeError(
                "window must be a whole number of keys to the left, or a pair (left, right), with "
                f"None for no limit; got {window!r}"
            )
        if size is not None and size < 0:
            raise ValueError(f"window must not be negative, got {window!r}")
    return left, right


def check_offset(q_offset, n_queries, n_keys, batch_shape):
    """The number of keys before the first query, as something to add to (query, 1) positions."""
    if q_offset is None:
        if n_queries != n_keys:
            raise ValueError(
                f"{n_queries} queries and {n_keys} keys: say with q_offset how many keys come "
                "before the first query. q_offset=0 lines up the first query with the first key "
                f"(top-left, as PyTorch's is_causal); q_offset={n_keys - n_queries} lines up the "
                "last query with the last key (bottom-right), as generation with a cache needs it"
            )
        return 0
    if isinstance(q_offset, torch.Tensor):
        if q_offset.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"q_offset must hold whole numbers, got dtype {q_offset.dtype}")
        if len(batch_shape) != 2 or q_offset.shape != batch_shape[:1]:
            raise ValueError(
                "q_offset as a tensor must have shape (batch,) and go with 4-dimensional queries: "
                f"got shape {tuple(q_offset.shape)} for (batch, heads) = {tuple(batch_shape)}"
            )
        return q_offset[:, None, None, None]
    if isinstance(q_offset, bool) or not isinstance(q_offset, int):
        raise TypeError(f"q_offset must be a whole number or a tensor of them, got {q_offset!r}")
    return q_offset


def place_mask(n_queries, n_keys, *, q_offset, is_causal=False, window=None, device=None):
    """Which keys each query may see by where they stand; ``None`` if all of them.

    Query ``i`` stands at ``p = i + q_offset`` and sees key ``j`` if ``p - left <= j <= p + right``,
    and with ``is_causal`` if ``j <= p`` too.
    """
    left, right = check_window(window)
    if is_causal:
        right = 0  # a causal query sees nothing to the right of its place
    if left is None and right is None:
        return None
    sees_all = (
        isinstance(q_offset, int)
        and (left is None or n_queries - 1 + q_offset <= left)
        and (right is None or q_offset + right >= n_keys - 1)
    )
    if sees_all:
        return None
    place = torch.arange(n_queries, device=device)[:, None] + q_offset
    keys = torch.arange(n_keys, device=device)
    allowed = torch.ones((), dtype=torch.bool, device=device)
    if left is not None:
        allowed = allowed & (keys >= place - left)
    if right is not None:
        allowed = allowed & (keys <= place + right)
    return allowed


def join_masks(first, second):
    """A mask that allows what both allow; a float mask stays one, with -infinity where not."""
    if first is None or second is None:
        return second if first is None else first
    if first.dtype == second.dtype == torch.bool:
        return first & second
    if first.dtype != torch.bool and second.dtype != torch.bool:
        return first + second
    added, allowed = (second, first) if first.dtype == torch.bool else (first, second)
    return torch.where(allowed, added, -_INFINITY)

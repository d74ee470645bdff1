"""The two ways to compute attention: written out, and by PyTorch's fused kernel.

`explicit_attention` is the formula, step by step; it stores scores and weights, (batch, heads,
query, key) numbers each. `fused_attention` never does, which makes it faster and its memory linear
in the length. Tests hold the two equal, gradients included. `attend` chooses.
"""

import math
from contextlib import nullcontext

import torch
import torch.nn.functional as F

from ._attention_inputs import in_autocast, join_masks, place_mask

# Since 2.5 the kernel gives 0 to a query whose keys are all masked, before that NaN.
_KERNEL_ZEROES_EMPTY_ROWS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5)

__all__ = [
    "attend",
    "attention_scores",
    "explicit_attention",
    "fused_attention",
    "masked_softmax",
]


def attend(
    query,
    key,
    value,
    mask,
    place,
    *,
    explicit=False,
    softcap=None,
    on_scores=None,
    on_weights=None,
    **options,
):
    """Attention over checked inputs, on the fused path unless ``explicit`` or a softcap asks.

    A float mask that the kernel would round to a smaller dtype takes the explicit path too.

    Parameters
    ----------
    query, key, value, mask : tensors
        As in `attention.scaled_dot_product_attention`.
    place : dict of is_causal, q_offset, window
        What the places of queries and keys forbid.
    on_scores, on_weights : functions, optional
        See `explicit_attention`.
    options : scale, dropout_p, enable_gqa

    Returns
    -------
    output : tensor
    weights : tensor, or None from the fused path
    """
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    explicit = explicit or softcap is not None
    only_causal = place["is_causal"] and mask is None and place["window"] is None
    if only_causal and n_queries == n_keys and not explicit and _is_zero(place["q_offset"]):
        return fused_attention(query, key, value, None, is_causal=True, **options), None
    mask = join_masks(mask, place_mask(n_queries, n_keys, **place, device=query.device))
    kernel_fits = mask is None or (_KERNEL_ZEROES_EMPTY_ROWS and not _kernel_rounds(mask, query))
    if kernel_fits and not explicit:
        return fused_attention(query, key, value, mask, **options), None
    return explicit_attention(
        query,
        key,
        value,
        mask,
        softcap=softcap,
        on_scores=on_scores,
        on_weights=on_weights,
        **options,
    )


def attention_scores(query, key, mask=None, *, scale=None, softcap=None, enable_gqa=False):
    """The scores that the softmax turns into weights, in float32 or float64.

    Parameters are those of `attention.scaled_dot_product_attention`, already checked. The order is
    scale, softcap, mask; a key that ``mask`` forbids has a score of -infinity.

    Returns
    -------
    tensor (batch, heads, query, key)

    Examples
    --------
    >>> attention_scores(torch.ones(1, 1, 2, 4), torch.ones(1, 1, 3, 4))[0, 0]
    tensor([[2., 2., 2.],
            [2., 2., 2.]])
    """
    dtype = torch.promote_types(query.dtype, torch.float32)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    key = _share_heads(key, query) if enable_gqa else key
    with _without_autocast(query):
        scores = (query.to(dtype) * scale) @ key.to(dtype).mT
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)  # a mask put before would come out finite
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, -math.inf)
    return (scores + mask).masked_fill(mask == -math.inf, -math.inf)  # a NaN score is masked too


def masked_softmax(scores):
    """Softmax over the keys; a row of nothing but -infinity becomes zeros, in its gradient too.

    >>> masked_softmax(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]))
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000]])
    """
    sees_nothing = (scores == -math.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(sees_nothing, 0).softmax(dim=-1) * ~sees_nothing


def explicit_attention(
    query,
    key,
    value,
    mask,
    *,
    scale=None,
    dropout_p=0.0,
    enable_gqa=False,
    softcap=None,
    on_scores=None,
    on_weights=None,
):
    """Attention written out; ``on_scores`` and ``on_weights`` may look at them and change them.

    Returns
    -------
    output : tensor (batch, heads, query, d_v)
    weights : tensor (batch, heads, query, key), before dropout, in float32 or float64
    """
    scores = attention_scores(query, key, mask, scale=scale, softcap=softcap, enable_gqa=enable_gqa)
    if on_scores is not None:
        scores = on_scores(scores)
    weights = masked_softmax(scores)
    if on_weights is not None:
        weights = on_weights(weights)
    kept = F.dropout(weights, dropout_p) if dropout_p else weights
    value = _share_heads(value, query) if enable_gqa else value
    with _without_autocast(query):
        return (kept @ value.to(kept.dtype)).to(query.dtype), weights


def fused_attention(query, key, value, mask, *, is_causal=False, enable_gqa=False, **options):
    """Attention by PyTorch's kernel; ``is_causal`` here needs as many keys as queries.

    With ``enable_gqa`` a single query, as in generation, needs no copy of keys and values: the
    heads of a group become queries of one head. (The kernel's own ``enable_gqa`` is slower there.)

    A key that is masked must still be finite: the kernel adds the mask to its score, and NaN stays.
    """
    same_mask = mask is None or mask.ndim < 3 or mask.shape[-3] == 1
    as_rows = enable_gqa and query.shape[-2] == 1 and same_mask
    if as_rows:
        heads = query.shape[-3]
        query = query.unflatten(-3, (key.shape[-3], -1)).flatten(-3, -2)
    elif enable_gqa:
        key, value = _share_heads(key, query), _share_heads(value, query)
    if mask is not None:
        mask = mask if mask.dtype == torch.bool else mask.to(query.dtype)
        if mask.ndim < 2:  # the kernel wants rows
            mask = mask.expand(query.shape[-2], key.shape[-2])
    output = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=is_causal, **options
    )
    return output.reshape(*output.shape[:-3], heads, 1, output.shape[-1]) if as_rows else output


def _share_heads(tensor, query):
    """(batch, kv_heads, key, dim) -> (batch, heads, key, dim), each head repeated in its place."""
    return tensor.repeat_interleave(query.shape[-3] // tensor.shape[-3], dim=-3)


def _kernel_rounds(mask, query):
    """Whether the kernel, which takes a float mask in the dtype of the query, would change it."""
    if mask.dtype == torch.bool:
        return False
    dtype = query.dtype
    if in_autocast(query):
        dtype = torch.get_autocast_dtype(query.device.type)
    return torch.promote_types(mask.dtype, dtype) != dtype


def _without_autocast(tensor):
    """Where autocast, if it is on, does not take products down to half precision."""
    if in_autocast(tensor):
        return torch.autocast(tensor.device.type, enabled=False)
    return nullcontext()


def _is_zero(q_offset):
    return isinstance(q_offset, int) and q_offset == 0

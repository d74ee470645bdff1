"""Attention in torch: equal to the formulas of reference.py, and fast.

Tensors have shape ``(batch, heads, time, dim)``. A boolean mask says ``True`` = *may attend*, a
floating-point mask is added to the scores. A query that may attend to nothing gets weights and an
output of 0.

Scores and weights are only written out when somebody asks to see or change them, for a softcap, or
for a mask of finer numbers than the query's. Otherwise PyTorch's fused kernel computes the same
without storing them; see attention_paths.py.
"""

import torch
import torch.nn.functional as F
from torch import nn

from ._attention_inputs import (
    check_head_mask,
    check_key_mask,
    check_mask,
    check_offset,
    check_options,
    check_sizes,
    check_tensors,
    check_tokens,
    join_masks,
)
from .attention_paths import attend
from .hooks import HookedModule, HookPoint
from .positions import rotate_pairs

__all__ = ["MultiHeadAttention", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    *,
    scale=None,
    enable_gqa=False,
    q_offset=None,
    softcap=None,
    window=None,
    need_weights=False,
):
    """Mix the values of those keys that fit each query: ``softmax(query · keyᵀ · scale) · value``.

    Parameters
    ----------
    query : tensor (batch, heads, query, d_k)
    key : tensor (batch, kv_heads, key, d_k)
    value : tensor (batch, kv_heads, key, d_v)
        Other leading dimensions than batch and heads serve too.
    attn_mask : tensor, broadcasts to (batch, heads, query, key), optional
        Boolean, ``True`` = may attend, or floating-point, added to the scores.
    dropout_p : float
        Share of weights set to 0, always: a function does not know whether it is training.
    is_causal : bool
        No query sees a later key. Goes together with ``attn_mask``: both must allow.
    scale : number, optional
        Factor on the dot products; ``1 / sqrt(d_k)`` if not given.
    enable_gqa : bool
        Fewer key heads than query heads: key head ``g`` serves the query heads from
        ``g * heads / kv_heads`` on, ``heads / kv_heads`` of them.
    q_offset : int or integer tensor (batch,), optional
        How many keys come before the first query; needed with ``is_causal`` or ``window`` when
        there are not as many keys as queries.
    softcap : number, optional
        Bends scores into (-softcap, softcap) by ``softcap * tanh(score / softcap)``, before masks.
    window : int or pair (left, right), optional
        A query sees at most ``left`` keys before the key at its own place, and ``right`` after it;
        ``None`` = no limit. ``window=2`` is ``(2, None)``.
    need_weights : bool
        Return the weights too, as they are before dropout.

    Returns
    -------
    output : tensor (batch, heads, query, d_v)
    weights : tensor (batch, heads, query, key), float32 or float64, only with ``need_weights``

    Raises
    ------
    ValueError, TypeError
        If shapes, dtypes or options do not fit; the message names what came.

    Examples
    --------
    >>> query = key = value = torch.eye(3)[None, None]
    >>> output, weights = scaled_dot_product_attention(
    ...     query, key, value, is_causal=True, scale=1.0, need_weights=True
    ... )
    >>> weights[0, 0]
    tensor([[1.0000, 0.0000, 0.0000],
            [0.2689, 0.7311, 0.0000],
            [0.2119, 0.2119, 0.5761]])

    Source: Vaswani et al. 2017, equation 1; softcap: Gemma Team 2024, "Gemma 2", section 2;
    window: Beltagy et al. 2020, "Longformer", section 3.1.
    """
    check_tensors(query, key, value, enable_gqa)
    check_options(scale, dropout_p, softcap)
    shape = _scores_shape(query, key, enable_gqa)
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, shape, query.device)
    if is_causal or window is not None:
        q_offset = check_offset(q_offset, *shape[-2:], shape[:-2])
    elif q_offset is not None:
        raise ValueError("q_offset says nothing without is_causal or window")
    place = {"is_causal": is_causal, "q_offset": q_offset, "window": window}
    options = {"scale": scale, "dropout_p": dropout_p, "enable_gqa": enable_gqa}
    output, weights = attend(
        query, key, value, attn_mask, place, explicit=need_weights, softcap=softcap, **options
    )
    return (output, weights) if need_weights else output


def _scores_shape(query, key, enable_gqa):
    if enable_gqa:
        leading = torch.broadcast_shapes(query.shape[:-3], key.shape[:-3])
        return (*leading, query.shape[-3], query.shape[-2], key.shape[-2])
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    return (*leading, query.shape[-2], key.shape[-2])


class MultiHeadAttention(HookedModule):
    """Several attentions side by side, each over its own projection of the same tokens.

    Parameters
    ----------
    d_model : int
        Width of the tokens, in and out.
    n_heads : int
        Query heads.
    n_kv_heads : int, optional
        Key and value heads, a divisor of ``n_heads``: as many (multi-head, the default), fewer
        (grouped-query) or 1 (multi-query). Each serves ``n_heads / n_kv_heads`` neighbours.
    d_head : int, optional
        Width of one head; ``d_model / n_heads`` if not given.
    bias : bool
        Of all four projections.
    dropout : float
        Share of weights set to 0, in training only.
    rope : RotaryPositions, optional
        Turns queries and keys by their positions.

    The three input projections stand in one matrix, ``qkv_proj``, because one product is faster
    than three: first the rows of the queries, head by head, then those of keys and values.
    ``qkv_proj.weight.split(attention.widths)`` gives the three.

    Hook points, by TransformerLens's names: ``hook_q``, ``hook_k``, ``hook_v`` (before the
    rotation) and ``hook_z`` (batch, time, heads, d_head); ``hook_attn_scores`` and
    ``hook_pattern`` (batch, heads, query, key); ``hook_result`` (batch, time, heads, d_model).

    Examples
    --------
    >>> attention = MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> output, weights = attention(torch.randn(3, 5, 12), is_causal=True, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 12]), torch.Size([3, 6, 5, 5]))

    Source: Vaswani et al. 2017, section 3.2.2; grouped queries: Ainslie et al. 2023, section 2.2.
    """

    def __init__(
        self, d_model, n_heads, n_kv_heads=None, d_head=None, *, bias=True, dropout=0.0, rope=None
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_sizes(d_model, n_heads, n_kv_heads, d_head)
        check_options(None, dropout, None)
        d_head = d_model // n_heads if d_head is None else d_head
        if rope is not None and rope.width > d_head:
            raise ValueError(f"rope turns {rope.width} numbers, but a head has {d_head}")
        self.d_model, self.n_heads, self.n_kv_heads, self.d_head = (
            d_model,
            n_heads,
            n_kv_heads,
            d_head,
        )
        self.dropout, self.rope = dropout, rope
        self.kv_of_head = [head * n_kv_heads // n_heads for head in range(n_heads)]
        self.widths = (n_heads * d_head, n_kv_heads * d_head, n_kv_heads * d_head)
        self.qkv_proj = nn.Linear(d_model, sum(self.widths), bias=bias)
        self.o_proj = nn.Linear(n_heads * d_head, d_model, bias=bias)
        self.hook_q, self.hook_k, self.hook_v = HookPoint(), HookPoint(), HookPoint()
        self.hook_attn_scores, self.hook_pattern = HookPoint(), HookPoint()
        self.hook_z, self.hook_result = HookPoint(), HookPoint()

    def forward(
        self,
        x,
        context=None,
        *,
        attn_mask=None,
        key_mask=None,
        is_causal=False,
        positions=None,
        cache=None,
        layer=None,
        need_weights=False,
        head_mask=None,
    ):
        """Let every token of ``x`` look at those of ``context``, or of ``x`` itself.

        Parameters
        ----------
        x : tensor (batch, time, d_model)
        context : tensor (batch, context time, d_model), optional
            Where keys and values come from; ``x`` if not given.
        attn_mask : tensor (query, key) or broadcasting to (batch, heads, query, key), optional
            Boolean, ``True`` = may attend, or floating-point, added to the scores.
        key_mask : boolean tensor (batch, key), optional
            ``True`` = a real token, ``False`` = padding: the opposite of the
            ``key_padding_mask`` of ``nn.MultiheadAttention``. With a cache it covers the keys in
            there too.
        is_causal : bool
            No query sees a later key; keys in the cache are earlier than all queries.
        positions : integer tensor (time,) or (batch, time), optional
            For ``rope``; if not given they go on from where the cache ends, or start at 0. Layers
            that share a rope may be given what ``rope.cos_sin`` made of them.
        cache : optional
            Has ``length``, the number of tokens before ``x``, and ``update(layer, key, value)``,
            which stores (batch, kv_heads, time, d_head) each and returns all there is.
        layer : int
            Which layer of the cache is this module's.
        need_weights : bool
            Return the weights too: of every head, as they are before dropout.
        head_mask : tensor (n_heads,), optional
            Factor on the output of each head: 0 takes a head out, 1 leaves it.

        Returns
        -------
        output : tensor (batch, time, d_model)
        weights : tensor (batch, heads, query, key), only with ``need_weights``

        Raises
        ------
        ValueError, TypeError
            If shapes, dtypes or options do not fit; the message names what came.
        """
        self._check_call(x, context, is_causal, positions, cache, layer, head_mask)
        query, key, value = self._project(x, context)
        if self.rope is not None:
            query, key = self._rotate(query, key, positions, cache)
        if cache is not None:
            key, value = cache.update(layer, key, value)
        mask = self._mask(query, key, attn_mask, key_mask)
        z, weights = self._attend(query, key, value, mask, is_causal, need_weights)
        z = z.transpose(1, 2)  # (batch, time, heads, d_head)
        if head_mask is not None:
            z = z * head_mask.to(z.dtype)[:, None]
        output = self._mix_heads(self.hook_z(z))
        return (output, weights) if need_weights else output

    def _project(self, x, context):
        """Queries (batch, heads, time, d_head), keys and values with kv_heads."""
        if context is None:
            parts = self.qkv_proj(x).split(self.widths, dim=-1)
        else:
            w_q, w_kv = self.qkv_proj.weight.tensor_split([self.widths[0]])
            b_q, b_kv = (None, None)
            if self.qkv_proj.bias is not None:
                b_q, b_kv = self.qkv_proj.bias.tensor_split([self.widths[0]])
            parts = F.linear(x, w_q, b_q), *F.linear(context, w_kv, b_kv).chunk(2, dim=-1)
        points = self.hook_q, self.hook_k, self.hook_v
        return [
            point(part.unflatten(-1, (-1, self.d_head))).transpose(1, 2)
            for point, part in zip(points, parts, strict=True)
        ]

    def _rotate(self, query, key, positions, cache):
        if positions is None:
            start = 0 if cache is None else cache.length
            positions = torch.arange(start, start + query.shape[-2], device=query.device)
        angles = positions
        if not isinstance(angles, tuple):
            angles = self.rope.cos_sin(query, positions)
        both = torch.cat([query, key], dim=1)  # turned together: half as many operations
        both = rotate_pairs(both, *angles, interleaved=self.rope.interleaved)
        return both.split([self.n_heads, self.n_kv_heads], dim=1)

    def _mask(self, query, key, attn_mask, key_mask):
        """Both masks in one, or None."""
        batch, n_queries, n_keys = len(query), query.shape[-2], key.shape[-2]
        if attn_mask is not None:
            shape = (batch, self.n_heads, n_queries, n_keys)
            check_mask("attn_mask", attn_mask, shape, query.device)
            if attn_mask.ndim == 3:
                raise ValueError(
                    "attn_mask with 3 dimensions could mean batch or heads: give it as (query, "
                    f"key) or (batch, heads, query, key), got shape {tuple(attn_mask.shape)}"
                )
        if key_mask is not None:
            check_key_mask(key_mask, batch, n_keys, query.device)
            key_mask = key_mask[:, None, None, :]
        return join_masks(attn_mask, key_mask)

    def _attend(self, query, key, value, mask, is_causal, need_weights):
        before = key.shape[-2] - query.shape[-2]  # keys from the cache
        return attend(
            query,
            key,
            value,
            mask,
            {"is_causal": is_causal, "q_offset": before, "window": None},
            explicit=need_weights or self.hook_attn_scores.active or self.hook_pattern.active,
            on_scores=self.hook_attn_scores,
            on_weights=self.hook_pattern,
            scale=None,
            dropout_p=self.dropout if self.training else 0.0,
            enable_gqa=key.shape[1] != query.shape[1],
        )

    def _mix_heads(self, z):
        if not self.hook_result.active:
            return self.o_proj(z.flatten(2))
        w_o = self.o_proj.weight.unflatten(-1, (self.n_heads, self.d_head))
        result = self.hook_result(torch.einsum("bthd,mhd->bthm", z, w_o)).sum(dim=2)
        return result if self.o_proj.bias is None else result + self.o_proj.bias

    def _check_call(self, x, context, is_causal, positions, cache, layer, head_mask):
        check_tokens("x", x, self.qkv_proj.weight)
        if context is not None:
            check_tokens("context", context, self.qkv_proj.weight)
            if len(context) != len(x):
                raise ValueError(f"x has batch size {len(x)}, but context {len(context)}")
            for name, given in (
                ("is_causal", is_causal),
                ("cache", cache is not None),
                ("rope", self.rope is not None),
            ):
                if given:
                    raise ValueError(
                        f"{name} is for self-attention: with a context, queries and keys do not "
                        "stand in one sequence"
                    )
        if (cache is None) != (layer is None):
            raise ValueError("cache and layer go together: layer says which of the cache's is used")
        if positions is not None and self.rope is None:
            raise ValueError("positions are for rope, and this module was made without one")
        if head_mask is not None:
            check_head_mask(head_mask, self.n_heads, x.device)

"""What MultiHeadAttention refuses, and what it says."""

import pytest
import torch

from minitransformer.attention import MultiHeadAttention
from minitransformer.generation import KVCache
from minitransformer.positions import RotaryPositions

SIZES = {
    "no width": ((0, 3), {}, ValueError, "d_model must be at least 1, got 0"),
    "no heads": ((12, 0), {}, ValueError, "n_heads must be at least 1, got 0"),
    "half a head": ((12, 1.5), {}, TypeError, "n_heads.*got 1.5"),
    "heads that do not divide": ((11, 3), {}, ValueError, "d_model 11.*3 heads.*d_head"),
    "groups that do not divide": ((12, 6, 4), {}, ValueError, "6 must be a multiple.*4"),
    "more groups than heads": ((12, 3, 6), {}, ValueError, "3 must be a multiple.*6"),
    "a head of width 0": ((12, 3, 3, 0), {}, ValueError, "d_head must be at least 1, got 0"),
    "dropout 1": ((12, 3), {"dropout": 1.0}, ValueError, "dropout.*below 1, got 1.0"),
    "rope too wide": ((12, 3), {"rope": RotaryPositions(6)}, ValueError, "6 numbers.* has 4"),
}  # fmt: skip

X, CONTEXT = torch.ones(2, 5, 12), torch.ones(2, 7, 12)
PLAIN, TURNED = MultiHeadAttention(12, 3), MultiHeadAttention(12, 3, rope=RotaryPositions(4))
CACHE = KVCache(1, 2, 3, 9, 4)
CALLS = {
    "a list": (PLAIN, ([1.0],), {}, TypeError, "x must be a tensor, got list"),
    "no batch": (PLAIN, (X[0],), {}, ValueError, r"x.*\(batch, time, 12\), got \(5, 12\)"),
    "another width": (PLAIN, (X[..., :11],), {}, ValueError, r"x.*got \(2, 5, 11\)"),
    "finer numbers": (PLAIN, (X.double(),), {}, TypeError, "x has .*float64, but the weights .*32"),
    "whole numbers": (PLAIN, (X.long(),), {}, TypeError, "x has .*int64, but the weights .*32"),
    "another device": (PLAIN, (X.to("meta"),), {}, ValueError, "x is on meta, but the w.* on cpu"),
    "finer context": (PLAIN, (X, CONTEXT.double()), {}, TypeError, "context has .*float64, but"),
    "context of another width": (
        PLAIN, (X, CONTEXT[..., :3]), {}, ValueError, r"context.*got \(2, 7, 3\)",
    ),
    "context of another batch": (PLAIN, (X, CONTEXT[:1]), {}, ValueError, "2, but context 1"),
    "causal context": (PLAIN, (X, CONTEXT), {"is_causal": True}, ValueError, "is_causal is for"),
    "cached context": (
        PLAIN, (X, CONTEXT), {"cache": CACHE, "layer": 0}, ValueError, "cache is for self",
    ),
    "turned context": (TURNED, (X, CONTEXT), {}, ValueError, "rope is for self"),
    "cache without layer": (PLAIN, (X,), {"cache": CACHE}, ValueError, "go together"),
    "layer without cache": (PLAIN, (X,), {"layer": 0}, ValueError, "go together"),
    "positions without rope": (
        PLAIN, (X,), {"positions": torch.arange(5)}, ValueError, "made without one",
    ),
    "broken positions": (
        TURNED, (X,), {"positions": torch.ones(5)}, TypeError, "whole numbers.*float32",
    ),
    "a position too few": (
        TURNED, (X,), {"positions": torch.arange(4)}, ValueError, r"got \(4,\)",
    ),
    "a factor too few": (
        PLAIN, (X,), {"head_mask": torch.ones(2)}, ValueError, r"head_mask.*\(3,\).*got \(2,\)",
    ),
    "factors in a list": (PLAIN, (X,), {"head_mask": [1, 1, 1]}, TypeError, "head_mask.*list"),
    "factors on another device": (
        PLAIN, (X,), {"head_mask": torch.ones(3, device="meta")}, ValueError, "head_mask is on",
    ),
    "mask on another device": (
        PLAIN, (X,), {"attn_mask": torch.ones(5, 5, device="meta")}, ValueError, "attn_mask is on",
    ),
    "mask with three dimensions": (
        PLAIN, (X,), {"attn_mask": torch.ones(1, 5, 5).bool()}, ValueError, "batch or heads",
    ),
    "mask of another size": (
        PLAIN, (X,), {"attn_mask": torch.ones(5, 7).bool()}, ValueError, r"\(5, 7\) does not fit",
    ),
    "mask of 0 and 1": (
        PLAIN, (X,), {"attn_mask": torch.ones(5, 5).long()}, TypeError, "boolean.*int64",
    ),
    "key mask of 0 and 1": (
        PLAIN, (X,), {"key_mask": torch.ones(2, 5).long()}, TypeError, "key_mask.*int64",
    ),
    "key mask on another device": (
        PLAIN, (X,), {"key_mask": torch.ones(2, 5, device="meta").bool()}, ValueError, "mask is on",
    ),
    "key mask of another size": (
        PLAIN, (X,), {"key_mask": torch.ones(2, 4).bool()}, ValueError, r"\(2, 5\).*got \(2, 4\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SIZES)
def test_sizes_that_do_not_fit_are_refused(kind):
    args, options, error, message = SIZES[kind]
    with pytest.raises(error, match=message):
        MultiHeadAttention(*args, **options)


@pytest.mark.parametrize("kind", CALLS)
def test_bad_input_is_refused_with_a_message_that_names_it(kind):
    attention, args, options, error, message = CALLS[kind]
    with pytest.raises(error, match=message):
        attention(*args, **options)


def test_under_autocast_tokens_of_another_float_dtype_fit():
    with torch.autocast("cpu", torch.bfloat16):
        PLAIN(X.bfloat16(), CONTEXT)
        with pytest.raises(TypeError, match=r"x has .*int64, but the weights"):
            PLAIN(X.long())

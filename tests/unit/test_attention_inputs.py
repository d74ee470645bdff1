"""What scaled_dot_product_attention refuses, and what it says."""

import math

import numpy as np
import pytest
import torch

from minitransformer.attention import scaled_dot_product_attention

Q, K, V = torch.ones(2, 6, 5, 4), torch.ones(2, 6, 7, 4), torch.ones(2, 6, 7, 3)
BAD = {
    "an array": ({"query": np.ones((5, 4))}, TypeError, "query must be a tensor, got ndarray"),
    "whole numbers": ({"key": K.long()}, TypeError, "key.*floating-point.*int64"),
    "a vector": ({"value": torch.ones(7)}, ValueError, r"value.*\(7,\)"),
    "two dtypes": ({"value": V.double()}, TypeError, "float32, but value torch.float64"),
    "two devices": ({"key": K.to("meta")}, ValueError, "query is on cpu, but key on meta"),
    "two widths": ({"query": Q[..., :3]}, ValueError, r"one width.*\(2, 6, 5, 3\)"),
    "width 0": ({"query": Q[..., :0], "key": K[..., :0]}, ValueError, "width of at least 1"),
    "a value too few": ({"value": V[:, :, 1:]}, ValueError, r"every key.*\(2, 6, 6, 3\)"),
    "two batches": ({"query": torch.ones(3, 6, 5, 4)}, ValueError, "leading dimensions"),
    "fewer key heads": ({"key": K[:, :2], "value": V[:, :2]}, ValueError, "need enable_gqa=True"),
    "heads that do not divide": (
        {"key": K[:, :4], "value": V[:, :4], "enable_gqa": True}, ValueError, "multiple of it",
    ),
    "key and value heads differ": (
        {"key": K[:, :2], "value": V[:, :3], "enable_gqa": True}, ValueError, "same number",
    ),
    "groups without heads": (
        {"query": Q[0, 0], "enable_gqa": True}, ValueError, r"heads, time, dim.*query \(5, 4\)",
    ),
    "mask as list": ({"attn_mask": [True]}, TypeError, "attn_mask must be a tensor, got list"),
    "mask of 0 and 1": (
        {"attn_mask": torch.ones(5, 7).long()}, TypeError, r"boolean.*int64.*mask\.bool\(\)",
    ),
    "mask of another size": (
        {"attn_mask": torch.ones(7, 5).bool()}, ValueError, r"\(7, 5\).*\(2, 6, 5, 7\)",
    ),
    "mask with more dimensions": (
        {"attn_mask": torch.ones(1, 2, 6, 5, 7).bool()}, ValueError, r"does not fit",
    ),
    "mask on another device": (
        {"attn_mask": torch.ones(5, 7, device="meta").bool()}, ValueError, "attn_mask is on meta",
    ),
    "scale as text": ({"scale": "0.5"}, TypeError, "scale must be a number, got '0.5'"),
    "scale NaN": ({"scale": math.nan}, ValueError, "scale must be finite, got nan"),
    "dropout 1": ({"dropout_p": 1.0}, ValueError, "dropout_p.*below 1, got 1.0"),
    "dropout below 0": ({"dropout_p": -0.1}, ValueError, "dropout_p.*got -0.1"),
    "softcap 0": ({"softcap": 0.0}, ValueError, "softcap must be positive, got 0.0"),
    "causal, two lengths": (
        {"is_causal": True}, ValueError, r"q_offset=0 .*top-left.*q_offset=2 .*bottom-right",
    ),
    "window, two lengths": ({"window": 2}, ValueError, "5 queries and 7 keys"),
    "offset of nothing": ({"q_offset": 2}, ValueError, "says nothing without"),
    "half an offset": ({"is_causal": True, "q_offset": 0.5}, TypeError, "q_offset.*got 0.5"),
    "broken offsets": (
        {"is_causal": True, "q_offset": torch.ones(2)}, TypeError, "q_offset.*float32",
    ),
    "an offset a head": (
        {"is_causal": True, "q_offset": torch.ones(6).long()}, ValueError, r"\(batch,\).*\(6,\)",
    ),
    "window below 0": ({"window": -1, "q_offset": 0}, ValueError, "window.*got -1"),
    "window of three": ({"window": (1, 2, 3), "q_offset": 0}, TypeError, r"got \(1, 2, 3\)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_refused_with_a_message_that_names_it(kind):
    changes, error, message = BAD[kind]
    with pytest.raises(error, match=f"(?s){message}"):
        scaled_dot_product_attention(**{"query": Q, "key": K, "value": V} | changes)

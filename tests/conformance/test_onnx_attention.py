"""attention.py against the node tests of ONNX's Attention operator, all 93 of them."""

import numpy as np
import pytest
import torch
from onnx_cases import cases

from minitransformer._attention_inputs import join_masks, place_mask
from minitransformer.attention import scaled_dot_product_attention
from minitransformer.attention_paths import attention_scores

# ONNX's reference rounds every step of these to bfloat16, we only inputs and outputs.
BFLOAT16 = {
    "test_attention_3d_causal_bf16",
    "test_attention_4d_attn_mask_causal_bf16",
    "test_attention_4d_causal_bf16",
    "test_attention_4d_causal_padded_kv_bf16",
    "test_attention_4d_padded_kv_bf16",
}
# PyTorch's kernel rounds the weights of these to float16, whose steps are up to 1e-3 wide.
FLOAT16_IN_THE_KERNEL = {"test_attention_4d_fp16", "test_attention_4d_causal_fp16"}
ALL = cases("Attention")
# A softcap and the request for scores or weights leave only the explicit path.
FUSED = [case for case in ALL if "softcap" not in case.attributes and len(case.expected) < 4]


def as_tensor(array):
    if array is None:
        return None
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(array.copy())


def split_heads(tensor, n_heads):
    return tensor.unflatten(-1, (n_heads, -1)).transpose(1, 2) if n_heads else tensor


def whole_mask(mask, n_valid, n_keys):
    """ONNX lets a mask end early, and names the number of keys that are not padding."""
    if mask is not None and mask.shape[-1] < n_keys:
        fill = False if mask.dtype == torch.bool else -torch.inf
        mask = torch.nn.functional.pad(mask, (0, n_keys - mask.shape[-1]), value=fill)
    if n_valid is None:
        return mask
    return join_masks(mask, (torch.arange(n_keys) < n_valid[:, None])[:, None, None, :])


def onnx_attention(attributes, inputs, explicit):
    """The operator by our functions: [output, present key, present value, scores or weights]."""
    query, key, value, mask, past_key, past_value, n_valid = (
        *map(as_tensor, inputs),
        *[None] * (7 - len(inputs)),
    )
    query = split_heads(query, attributes.get("q_num_heads"))
    key, value = (split_heads(part, attributes.get("kv_num_heads")) for part in (key, value))
    q_offset = 0
    if past_key is not None:
        q_offset = past_key.shape[-2]
        key, value = torch.cat([past_key, key], dim=-2), torch.cat([past_value, value], dim=-2)
    if n_valid is not None:
        q_offset = n_valid - query.shape[-2]
    mask = whole_mask(mask, n_valid, key.shape[-2])
    window = tuple(
        size if size >= 0 else None
        for size in (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    )
    window = None if window == (None, None) else window
    is_causal = bool(attributes.get("is_causal"))
    in_place = {"is_causal": is_causal, "window": window, "q_offset": q_offset}
    if not is_causal and window is None:
        in_place["q_offset"] = None
    common = {"scale": attributes.get("scale"), "enable_gqa": key.shape[1] != query.shape[1]}
    softcap = attributes.get("softcap")
    result = scaled_dot_product_attention(
        query, key, value, mask, softcap=softcap, need_weights=explicit, **in_place, **common
    )
    output, weights = result if explicit else (result, None)
    if "q_num_heads" in attributes:
        output = output.transpose(1, 2).flatten(2)
    mode = attributes.get("qk_matmul_output_mode", 0)
    if mode == 2:
        in_place["q_offset"] = q_offset
        mask = join_masks(mask, place_mask(query.shape[-2], key.shape[-2], **in_place))
    shown = {
        0: lambda: attention_scores(query, key, **common),
        1: lambda: attention_scores(query, key, softcap=softcap, **common),
        2: lambda: attention_scores(query, key, mask, softcap=softcap, **common),
        3: lambda: weights,
    }
    return output, key, value, shown[mode]


def tolerance(case, explicit):
    if case.name in BFLOAT16:
        return 2e-2, 2e-2
    if case.name in FLOAT16_IN_THE_KERNEL and not explicit:
        return 2e-3, case.atol
    return case.rtol, case.atol


def check(case, explicit):
    *outputs, shown = onnx_attention(case.attributes, case.inputs, explicit)
    outputs.append(shown() if len(case.expected) == 4 else None)
    rtol, atol = tolerance(case, explicit)
    for ours, expected in zip(outputs, case.expected, strict=False):
        if expected is not None:
            assert ours.shape == expected.shape
            np.testing.assert_allclose(
                ours.float().numpy(), expected.astype(np.float32), rtol=rtol, atol=atol
            )


def test_none_of_the_cases_is_missing():
    assert len(ALL) == 93
    assert {case.name for case in ALL} >= BFLOAT16


@pytest.mark.parametrize("case", ALL, ids=str)
def test_explicit_path(case):
    check(case, explicit=True)


@pytest.mark.parametrize("case", FUSED, ids=str)
def test_fused_path(case):
    check(case, explicit=False)

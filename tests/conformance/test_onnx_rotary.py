"""rotate_pairs against the node tests of ONNX's RotaryEmbedding operator."""

import numpy as np
import pytest
import torch
from onnx_cases import cases

from minitransformer.positions import rotate_pairs

ALL = cases("RotaryEmbedding")


def onnx_rotary(attributes, x, cos, sin, positions=None):
    x, cos, sin = (torch.from_numpy(array.copy()) for array in (x, cos, sin))
    if positions is not None:
        cos, sin = cos[positions], sin[positions]  # (batch, time, width / 2)
    n_heads = attributes.get("num_heads")
    if n_heads:
        x = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    interleaved = bool(attributes.get("interleaved"))
    turned = rotate_pairs(x, cos[:, None], sin[:, None], interleaved=interleaved)
    return turned.transpose(1, 2).flatten(2) if n_heads else turned


def test_none_of_the_cases_is_missing():
    assert len(ALL) == 8


@pytest.mark.parametrize("case", ALL, ids=str)
def test_rotary_embedding(case):
    turned = onnx_rotary(case.attributes, *case.inputs)
    np.testing.assert_allclose(turned.numpy(), case.expected[0], rtol=case.rtol, atol=case.atol)

"""Norms and GELU against the node tests of ONNX."""

import numpy as np
import pytest
import torch
from onnx_cases import cases

from minitransformer.blocks import gelu, layer_norm, rms_norm


def as_tensors(case):
    return [None if array is None else torch.tensor(array) for array in case.inputs]


def assert_expected(case, actual):
    expected = case.expected[0]
    assert tuple(actual.shape) == expected.shape
    np.testing.assert_allclose(actual.numpy(), expected, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("case", cases("LayerNormalization"), ids=str)
def test_layer_norm(case):
    options = {"eps": case.attributes.get("epsilon", 1e-5), "axis": case.attributes.get("axis", -1)}
    assert_expected(case, layer_norm(*as_tensors(case), **options))


@pytest.mark.parametrize("case", cases("RMSNormalization"), ids=str)
def test_rms_norm(case):
    options = {"eps": case.attributes.get("epsilon", 1e-5), "axis": case.attributes.get("axis", -1)}
    assert_expected(case, rms_norm(*as_tensors(case), **options))


@pytest.mark.parametrize("case", cases("Gelu"), ids=str)
def test_gelu(case):
    approximate = case.attributes.get("approximate", b"none") == b"tanh"
    assert_expected(case, gelu(*as_tensors(case), approximate=approximate))


def test_no_case_is_missing():
    counts = [len(cases(name)) for name in ("LayerNormalization", "RMSNormalization", "Gelu")]
    assert counts == [19, 19, 4]

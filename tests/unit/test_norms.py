"""The formulas of the norms in half precision, what they refuse, and norms without a bias."""

import pytest
import torch
import torch.nn.functional as F

from minitransformer.blocks import LayerNorm, TransformerBlock, layer_norm, rms_norm
from minitransformer.models import Config, Decoder
from minitransformer.norms import make_norm


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_formulas_in_half_precision_equal_torch(dtype):
    """The square of 300 is no float16, so the formulas are computed in float32."""
    x = torch.tensor([[300.0, -300.0, 500.0, 100.0], [1.0, 2.0, 3.0, 5.0]], dtype=dtype)
    weight, bias = torch.tensor([[1.0, 2.0, 0.5, 1.0], [0.0, 1.0, -1.0, 2.0]], dtype=dtype)
    for ours, torchs in (
        (layer_norm(x, weight, bias), F.layer_norm(x, (4,), weight, bias)),
        (rms_norm(x, weight), F.rms_norm(x, (4,), weight, 1e-6)),
    ):
        torch.testing.assert_close(ours, torchs)
        assert ours.dtype == dtype


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_finer_weights_leave_the_dtype_of_the_input(norm):
    x, weight = torch.tensor([300.0, -300.0, 500.0]).half(), torch.tensor([1.0, 2.0, 0.5])
    assert norm(x, weight).dtype == torch.float16
    with pytest.raises(TypeError, match=r"floating-point numbers, got dtype torch\.int64"):
        norm(torch.tensor([1, 3]))


def test_without_a_bias_no_norm_has_one():
    """Neither alone nor in a block or a model, and its output has no constant part."""
    for norm in (LayerNorm(6, bias=False), make_norm("layer", 6, 1e-5, bias=False)):
        assert [name for name, _ in norm.named_parameters()] == ["weight"]
        assert (norm(torch.zeros(2, 6)) == 0).all()
    sizes = {"n_layers": 1, "d_model": 6, "n_heads": 3, "embedding_norm": True, "vocab_size": 5}
    for module in (
        TransformerBlock(6, 3, bias=False, cross_attention=True),
        Decoder(Config(bias=False, **sizes)),
    ):
        assert not [name for name, _ in module.named_parameters() if name.endswith("bias")]

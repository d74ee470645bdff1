"""Our block against PyTorch's encoder and decoder layers with the same weights."""

import itertools

import pytest
import torch
from torch import nn

from minitransformer.blocks import TransformerBlock

TOLERANCE = 1e-5
D_MODEL, N_HEADS, D_FF = 12, 3, 17
ENCODER_NAMES = {
    "ln1": "norm1",
    "attn.o_proj": "self_attn.out_proj",
    "ln2": "norm2",
    "mlp.up_proj": "linear1",
    "mlp.down_proj": "linear2",
}
DECODER_NAMES = ENCODER_NAMES | {
    "ln_cross": "norm2",
    "cross_attn.o_proj": "multihead_attn.out_proj",
    "ln2": "norm3",
}


def name_in_torch(ours, names):
    """Their name of one of our parameters."""
    if "qkv_proj" in ours:
        module = "multihead_attn" if ours.startswith("cross") else "self_attn"
        return f"{module}.in_proj_{ours.rsplit('.', 1)[1]}"
    module, ending = ours.rsplit(".", 1)
    return f"{names[module]}.{ending}"


def pair(layer, names, norm_position, activation, **kinds):
    """A layer of PyTorch's with random weights, and ours with the same ones."""
    torch.manual_seed(5)
    theirs = layer(
        D_MODEL,
        N_HEADS,
        D_FF,
        dropout=0.0,
        activation=activation,
        norm_first=norm_position == "pre",
        batch_first=True,
    )
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    ours = TransformerBlock(
        D_MODEL, N_HEADS, D_FF, norm_position=norm_position, activation=activation, **kinds
    )
    weights = theirs.state_dict()
    ours.load_state_dict({name: weights[name_in_torch(name, names)] for name in ours.state_dict()})
    assert len(weights) == len(ours.state_dict())
    return theirs, ours


def assert_equal_with_gradients(theirs, ours, names, run_theirs, run_ours, inputs, where):
    """The outputs at ``where``, and the gradients of all inputs and parameters."""
    results = []
    for run in (run_theirs, run_ours):
        copies = [tensor.clone().requires_grad_() for tensor in inputs]
        output = run(*copies)
        weight = torch.randn(output.shape, generator=torch.Generator().manual_seed(2))
        ((output * weight)[where]).sum().backward()
        results.append((output[where], [copy.grad for copy in copies]))
    (expected, expected_gradients), (actual, gradients) = results
    assert (actual - expected).abs().max() <= TOLERANCE
    for gradient, wanted in zip(gradients, expected_gradients, strict=True):
        assert wanted.abs().max() > 0.01
        assert (gradient - wanted).abs().max() <= TOLERANCE
    parameters = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        wanted = parameters[name_in_torch(name, names)].grad
        assert (parameter.grad - wanted).abs().max() <= TOLERANCE * max(1, wanted.abs().max()), name


KINDS = list(itertools.product(["pre", "post"], ["relu", "gelu"]))


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("norm_position", "activation"), KINDS)
def test_encoder_layer(norm_position, activation, is_causal):
    theirs, ours = pair(
        nn.TransformerEncoderLayer, ENCODER_NAMES, norm_position, activation, is_causal=is_causal
    )
    real = torch.ones(2, 7, dtype=torch.bool)
    real[1, 5:] = False
    not_allowed = torch.ones(7, 7, dtype=torch.bool).triu(1) if is_causal else None
    assert_equal_with_gradients(
        theirs,
        ours,
        ENCODER_NAMES,
        lambda x: theirs(x, src_mask=not_allowed, src_key_padding_mask=~real),
        lambda x: ours(x, key_mask=real),
        [torch.randn(2, 7, D_MODEL)],
        real,
    )


@pytest.mark.parametrize(("norm_position", "activation"), KINDS)
def test_decoder_layer(norm_position, activation):
    theirs, ours = pair(
        nn.TransformerDecoderLayer,
        DECODER_NAMES,
        norm_position,
        activation,
        is_causal=True,
        cross_attention=True,
    )
    source_real = torch.ones(2, 4, dtype=torch.bool)
    source_real[0, 3:] = False
    not_allowed = torch.ones(7, 7, dtype=torch.bool).triu(1)
    assert_equal_with_gradients(
        theirs,
        ours,
        DECODER_NAMES,
        lambda x, m: theirs(x, m, tgt_mask=not_allowed, memory_key_padding_mask=~source_real),
        lambda x, m: ours(x, memory=m, memory_mask=source_real),
        [torch.randn(2, 7, D_MODEL), torch.randn(2, 4, D_MODEL)],
        torch.ones(2, 7, dtype=torch.bool),
    )

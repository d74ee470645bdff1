"""attention.py against PyTorch: its own samples of the function, and nn.MultiheadAttention."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing._internal.common_methods_invocations import op_db

from minitransformer.attention import MultiHeadAttention, scaled_dot_product_attention

OPERATOR = next(op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention")
SAMPLES = list(OPERATOR.sample_inputs("cpu", torch.float64, requires_grad=True))
TOLERANCE = {"rtol": 0, "atol": 1e-5}


def output_and_gradients(function, sample, **more):
    """The seed decides the dropout, so both functions drop the same weights."""
    tensors = [sample.input, *sample.args]
    options = dict(sample.kwargs)
    if options.get("attn_mask") is not None:
        tensors.append(options["attn_mask"])
    torch.manual_seed(11)
    output = function(sample.input, *sample.args, **options, **more)
    output = output[0] if isinstance(output, tuple) else output
    torch.manual_seed(12)
    return output, *torch.autograd.grad(
        output, tensors, torch.randn(output.shape, dtype=output.dtype)
    )


def test_none_of_the_samples_is_missing():
    assert len(SAMPLES) == 25


@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("number", range(len(SAMPLES)))
def test_samples_of_the_function(number, need_weights):
    sample = SAMPLES[number]
    # PyTorch's is_causal lines up the first query with the first key.
    more = {"q_offset": 0} if sample.kwargs["is_causal"] else {}
    expected = output_and_gradients(F.scaled_dot_product_attention, sample)
    ours = output_and_gradients(
        scaled_dot_product_attention, sample, need_weights=need_weights, **more
    )
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)


def pair(bias=True):
    """nn.MultiheadAttention and ours with its weights: 3 heads of width 5."""
    torch.manual_seed(3)
    theirs = nn.MultiheadAttention(15, 3, bias=bias, batch_first=True)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    ours = MultiHeadAttention(15, 3, bias=bias)
    with torch.no_grad():
        ours.qkv_proj.weight.copy_(theirs.in_proj_weight)
        ours.o_proj.weight.copy_(theirs.out_proj.weight)
        if bias:
            ours.qkv_proj.bias.copy_(theirs.in_proj_bias)
            ours.o_proj.bias.copy_(theirs.out_proj.bias)
    return theirs, ours


def gradients(module, names, inputs, output):
    """Of a random weighting of the output, which is the same for both modules."""
    parameters = dict(module.named_parameters())
    parameters = [parameters[name] for name in names if parameters.get(name) is not None]
    torch.manual_seed(7)
    return torch.autograd.grad(output, [*inputs, *parameters], torch.randn(output.shape))


THEIR_NAMES = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
OUR_NAMES = ("qkv_proj.weight", "qkv_proj.bias", "o_proj.weight", "o_proj.bias")


def compare(theirs, ours, x, context, their_options, our_options, need_weights):
    tensors = [x] if context is None else [x, context]
    source = x if context is None else context
    expected, weights = theirs(
        x, source, source, need_weights=True, average_attn_weights=False, **their_options
    )
    result = ours(x, context, need_weights=need_weights, **our_options)
    output = result[0] if need_weights else result
    torch.testing.assert_close(output, expected, **TOLERANCE)
    if need_weights:
        torch.testing.assert_close(result[1], weights, **TOLERANCE)
    torch.testing.assert_close(
        gradients(ours, OUR_NAMES, tensors, output),
        gradients(theirs, THEIR_NAMES, tensors, expected),
        **TOLERANCE,
    )


def causal_and_padding():
    """Boolean masks in our sense, True = may attend: (query, key) and (batch, key)."""
    causal = torch.ones(7, 7).tril().bool()
    real = torch.ones(2, 7).bool()
    real[1, 4:] = False
    return causal, real


CASES = {
    "plain": (lambda causal, real: ({}, {})),
    "boolean mask": (lambda causal, real: ({"attn_mask": ~causal}, {"attn_mask": causal})),
    "causal flag": (lambda causal, real: ({"attn_mask": ~causal}, {"is_causal": True})),
    "padding": (lambda causal, real: ({"key_padding_mask": ~real}, {"key_mask": real})),
    "causal and padding": (
        lambda causal, real: (
            {"attn_mask": ~causal, "key_padding_mask": ~real},
            {"is_causal": True, "key_mask": real},
        )
    ),
}


@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("kind", CASES)
def test_module_self_attention(kind, bias, need_weights):
    theirs, ours = pair(bias)
    x = torch.randn(2, 7, 15, requires_grad=True)
    compare(theirs, ours, x, None, *CASES[kind](*causal_and_padding()), need_weights)


@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
def test_module_with_an_added_mask(need_weights):
    theirs, ours = pair()
    x, mask = torch.randn(2, 7, 15, requires_grad=True), torch.randn(7, 7)
    mask[3, 2] = -torch.inf
    compare(theirs, ours, x, None, {"attn_mask": mask}, {"attn_mask": mask}, need_weights)


@pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_module_cross_attention(bias, need_weights):
    theirs, ours = pair(bias)
    x = torch.randn(2, 5, 15, requires_grad=True)
    context = torch.randn(2, 7, 15, requires_grad=True)
    _, real = causal_and_padding()
    padding = {"key_padding_mask": ~real}, {"key_mask": real}
    compare(theirs, ours, x, context, *padding, need_weights)


def test_module_gives_zeros_where_pytorch_gives_nan():
    """pytorch #160064: a row that sees nothing is NaN there with weights, and 0 without."""
    theirs, ours = pair()
    x, sees_nothing = torch.randn(2, 7, 15), torch.ones(7, 7).bool()
    sees_nothing[2] = False
    expected, _ = theirs(x, x, x, attn_mask=~sees_nothing, need_weights=False)
    fused = ours(x, attn_mask=sees_nothing)
    explicit, weights = ours(x, attn_mask=sees_nothing, need_weights=True)
    torch.testing.assert_close(fused, expected, **TOLERANCE)
    torch.testing.assert_close(explicit, expected, **TOLERANCE)
    assert (weights[:, :, 2] == 0).all()

"""Attributions against sums over single keys, finite differences and closed forms."""

import pytest
import torch
from inspection_models import BATCH, TIME, Unchanged, make, some_mask, some_tokens

from minitransformer.attention import MultiHeadAttention
from minitransformer.inspection.attribution import (
    gradient_times_input,
    head_outputs,
    leave_one_out,
    rollout,
    value_norms,
    weighted_norms,
)
from minitransformer.inspection.pruning import PrunedAttention


def attention_and_run(pruned=False):
    torch.manual_seed(0)
    attention = MultiHeadAttention(11, 6, 3, 4).double()
    attention = PrunedAttention(attention, [1, 4, 5]) if pruned else attention
    x = torch.randn(2, 5, 11, dtype=torch.float64)
    output, cache = attention.run_with_cache(x, is_causal=True)
    return attention, output.detach(), cache["hook_pattern"], cache["hook_v"]


@pytest.mark.parametrize("pruned", [False, True])
def test_what_the_heads_write_sums_to_the_layers_output(pruned):
    attention, output, weights, value = attention_and_run(pruned)
    with Unchanged(attention, weights, value):
        written = head_outputs(attention, value)
    mixed = torch.einsum("bhqk,bhkm->bqm", weights, written) + attention.o_proj.bias
    torch.testing.assert_close(mixed.detach(), output)


def test_weighted_norms_are_lengths_of_what_arrives():
    attention, _, weights, value = attention_and_run()
    with Unchanged(attention, weights, value):
        came = weighted_norms(attention, weights, value)
    for head, group in ((0, 0), (3, 1), (5, 2)):
        w_o = attention.o_proj.weight[:, head * 4 : (head + 1) * 4]
        arrives = weights[1, head, 4, 2] * (w_o @ value[1, 2, group])
        torch.testing.assert_close(came[1, head, 4, 2], arrives.norm().detach())
    assert (came >= 0).all()


def test_equal_norms_give_the_weights_back():
    attention, _, weights, value = attention_and_run()
    value = value[:, :1].expand(-1, 5, -1, -1)  # one value for all keys
    came = weighted_norms(attention, weights, value)
    torch.testing.assert_close(came / came.sum(-1, keepdim=True), weights)
    assert value_norms(attention, value).shape == (2, 6, 5)


def test_norms_of_another_attention_are_refused():
    attention, _, weights, value = attention_and_run()
    with pytest.raises(ValueError, match=r"with \(3, 4\) at the end"):
        value_norms(attention, value[:, :, :2])
    with pytest.raises(ValueError, match=r"\(2, 6, query, 5\)"):
        weighted_norms(attention, weights[:, :3], value)


def random_weights(layers=4, heads=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(2, heads, TIME, TIME, generator=generator).double().softmax(-1)
        for _ in range(layers)
    ]


def test_rollout_sums_over_all_paths():
    weights = random_weights(layers=3)
    with Unchanged(None, *weights):
        came = rollout(weights, residual=0.25)
    step = [0.75 * layer.mean(1) + 0.25 * torch.eye(TIME) for layer in weights]
    total = sum(
        step[2][1, 4, i] * step[1][1, i, j] * step[0][1, j, 3]
        for i in range(TIME)
        for j in range(TIME)
    )
    torch.testing.assert_close(came[2, 1, 4, 3], total)
    torch.testing.assert_close(came.sum(-1), torch.ones(3, 2, TIME).double())
    torch.testing.assert_close(came[0], step[0])


def test_rollout_in_closed_form():
    eye = torch.eye(TIME).expand(2, 3, TIME, TIME)
    assert torch.equal(rollout([eye] * 4), eye[None, :, 0].expand(4, -1, -1, -1))
    uniform = torch.full((2, 3, TIME, TIME), 1 / TIME)
    for depth, came in enumerate(rollout([uniform] * 4), start=1):
        kept = 0.5**depth  # what never left its own place
        expected = kept * torch.eye(TIME) + (1 - kept) / TIME
        torch.testing.assert_close(came[1], expected)


def test_rollout_refuses_what_is_no_stack_of_layers():
    with pytest.raises(ValueError, match="one tensor"):
        rollout([])
    with pytest.raises(ValueError, match="all of one shape"):
        rollout([*random_weights(2), torch.ones(2, 3, 4, 4)])
    with pytest.raises(ValueError, match="residual must be from 0 to 1"):
        rollout(random_weights(), residual=1.5)


def read_logit(logits):
    return logits[:, -1, 7]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_gradient_times_input_is_the_slope_along_each_embedding(kind):
    model, tokens = make(kind), some_tokens()
    with Unchanged(model, tokens):
        came = gradient_times_input(model, tokens, read_logit)
    assert not came.requires_grad
    step = 1e-6
    for place in range(TIME):
        values = []
        for sign in (1, -1):

            def stretch(embedded, hook, place=place, sign=sign):
                embedded = embedded.clone()
                embedded[:, place] *= 1 + sign * step
                return embedded

            logits = model.run_with_hooks(tokens, fwd_hooks=[("hook_embed", stretch)])
            values.append(read_logit(logits).detach())
        slope = (values[0] - values[1]) / (2 * step)
        torch.testing.assert_close(came[:, place], slope, rtol=1e-4, atol=1e-6)


def test_gradient_times_input_works_where_gradients_are_off():
    model, tokens = make("bert"), some_tokens()
    mask = some_mask()
    expected = gradient_times_input(model, tokens, lambda states: states[:, 0, 3], key_mask=mask)
    with torch.no_grad():
        came = gradient_times_input(model, tokens, lambda states: states[:, 0, 3], key_mask=mask)
    assert torch.equal(came, expected)
    assert (came[~mask] == 0).all()
    assert (came[mask] != 0).all()


def test_leaving_a_token_out_shortens_the_text():
    model, tokens = make("llama"), some_tokens()
    with Unchanged(model, tokens):
        came = leave_one_out(model, tokens, read_logit)
    whole = read_logit(model(tokens))
    for text in range(BATCH):
        for place in range(TIME):
            rest = [token for i, token in enumerate(tokens[text].tolist()) if i != place]
            expected = whole[text] - read_logit(model(torch.tensor([rest])))[0]
            torch.testing.assert_close(came[text, place], expected.detach())


def test_a_replaced_token_keeps_its_place():
    model, tokens, mask = make("bert"), some_tokens(), some_mask()
    with Unchanged(model, tokens, mask):
        came = leave_one_out(
            model, tokens, lambda states: states[:, 0, 3], replacement=12, key_mask=mask
        )
    changed = tokens.clone()
    changed[:, 2] = 12
    expected = model(tokens, key_mask=mask) - model(changed, key_mask=mask)
    torch.testing.assert_close(came[:, 2], expected[:, 0, 3].detach())
    assert (came[~mask] == 0).all()


def test_one_number_a_text_is_wanted():
    model, tokens = make("llama"), some_tokens()
    for function in (gradient_times_input, leave_one_out):
        with pytest.raises(ValueError, match=r"one number a text, shape \(4,\), got \(4, 13\)"):
            function(model, tokens, lambda logits: logits[:, -1])
    with pytest.raises(ValueError, match="needs at least two of them"):
        leave_one_out(model, tokens[:, :1], read_logit)
    with pytest.raises(ValueError, match="got 5 tokens and key_mask: give a replacement"):
        leave_one_out(model, tokens, read_logit, key_mask=some_mask())

"""Heads taken out: against the head mask, against finite differences, and nothing is changed."""

import math

import pytest
import torch
import torch.nn.functional as F
from inspection_models import BATCH, Unchanged, make, some_mask, some_tokens

from minitransformer.inspection.ablation import (
    ablation_hooks,
    all_heads,
    cumulative_ablation,
    head_importance,
    losses_without,
    mean_head_outputs,
    separate_ablation,
)
from minitransformer.inspection.measures import (
    contrastive_loss,
    embed_texts,
    embedding_drift,
    next_token_loss,
    states,
)

KINDS = ("llama", "gpt2", "bert")


def measure_for(kind, tokens, mask=None):
    return contrastive_loss(mask) if kind == "bert" else next_token_loss(tokens, mask)


def factors_without(model, heads):
    factors = torch.ones(model.config.n_layers, model.config.n_heads, dtype=torch.float64)
    for layer, head in heads:
        factors[layer, head] = 0
    return factors


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heads", [[], [(1, 2)], [(0, 0), (1, 0), (1, 2)]])
def test_zero_ablation_equals_the_head_mask(kind, heads):
    model, tokens, mask = make(kind), some_tokens(), some_mask()
    measure = measure_for(kind, tokens, mask)
    with Unchanged(model, tokens, mask):
        came = losses_without(model, tokens, measure, heads, key_mask=mask)
    by_mask = states(model, tokens, key_mask=mask, head_mask=factors_without(model, heads))
    torch.testing.assert_close(came, measure(model, by_mask))
    if heads:
        assert (came - losses_without(model, tokens, measure, [], key_mask=mask)).abs().min() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_each_run_may_start_at_its_layer(kind):
    model, tokens, mask = make(kind), some_tokens(), some_mask()
    measure = measure_for(kind, tokens, mask)
    means = torch.randn(model.config.n_layers, model.config.n_heads, model.config.d_head).double()
    groups = [[head] for head in all_heads(model.config)] + [[(1, 1), (0, 2)]]
    for replacement in (None, means):
        rest = {"means": replacement, "key_mask": mask}
        with Unchanged(model, tokens, mask, means):
            came = separate_ablation(model, tokens, measure, groups, **rest)
        whole = [losses_without(model, tokens, measure, group, **rest) for group in groups]
        torch.testing.assert_close(came, torch.stack(whole))
        assert len(came.unique(dim=0)) == len(groups)


def test_an_early_run_passes_fewer_layers():
    model, tokens = make("gpt2"), some_tokens()
    calls = []
    for block in model.blocks:
        block.register_forward_hook(lambda *_: calls.append(1))
    separate_ablation(model, tokens, next_token_loss(tokens), [[(2, 0)], [(1, 3)]])
    assert len(calls) == 3 + 1 + 2


def test_means_are_over_real_tokens_and_take_the_outputs_place():
    model, tokens, mask = make("bert"), some_tokens(), some_mask()
    with Unchanged(model, tokens, mask):
        means = mean_head_outputs(model, tokens, mask)
    _, cache = model.run_with_cache(tokens, key_mask=mask)
    total, count = 0, 0
    for text, length in enumerate([5, 3, 4, 5]):
        for place in range(length):
            total, count = total + cache["z", 1][text, place, 2], count + 1
    torch.testing.assert_close(means[1, 2], total / count)
    seen = []
    hooks = [
        *ablation_hooks(model.config, [(1, 2), (1, 0)], means),
        ("blocks.1.attn.hook_z", lambda z, hook: seen.append(z)),
    ]
    with Unchanged(model, tokens, means):
        model.run_with_hooks(tokens, fwd_hooks=hooks)
    assert torch.equal(seen[0][:, :, 2], means[1, 2].expand(BATCH, 5, 2))
    assert torch.equal(seen[0][:, :, 0], means[1, 0].expand(BATCH, 5, 2))
    assert not torch.equal(seen[0][:, :, 1], means[1, 1].expand(BATCH, 5, 2))


def test_what_passed_before_is_not_written_over():
    model, tokens, seen = make("gpt2"), some_tokens(), []
    keep = ("blocks.1.attn.hook_z", lambda z, hook: seen.append(z))
    with torch.no_grad():
        model.run_with_hooks(tokens, fwd_hooks=[keep, *ablation_hooks(model.config, [(1, 2)])])
    assert (seen[0][:, :, 2] != 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_importance_equals_a_finite_difference(kind):
    model, tokens, mask = make(kind), some_tokens(), some_mask()
    measure = measure_for(kind, tokens, mask)
    with Unchanged(model, tokens, mask):
        came = head_importance(model, tokens, measure, key_mask=mask)
    step, config = 1e-5, model.config
    assert came.shape[1:] == (config.n_layers, config.n_heads)
    for layer, head in all_heads(config):
        losses = []
        for sign in (1, -1):
            factors = torch.ones(config.n_layers, config.n_heads, dtype=torch.float64)
            factors[layer, head] += sign * step
            moved = states(model, tokens, key_mask=mask, head_mask=factors)
            losses.append(measure(model, moved).detach())
        slope = (losses[0] - losses[1]) / (2 * step)
        torch.testing.assert_close(came[:, layer, head], slope.abs(), rtol=1e-4, atol=1e-8)


def test_importance_is_the_mean_of_absolute_slopes_and_not_the_slope_of_the_mean():
    model, tokens = make("llama"), some_tokens()
    each = head_importance(model, tokens, next_token_loss(tokens))
    texts = [tokens[i : i + 1] for i in range(BATCH)]
    alone = [head_importance(model, text, next_token_loss(text))[0] for text in texts]
    torch.testing.assert_close(each, torch.stack(alone))
    total = next_token_loss(tokens)
    of_mean = head_importance(model, tokens, lambda m, s: total(m, s).mean()[None])[0]
    assert (each.mean(dim=0) > of_mean + 1e-6).any()


def test_cumulative_ablation_takes_the_first_heads_of_the_order():
    model, tokens = make("gpt2"), some_tokens()
    measure, order = next_token_loss(tokens), [(2, 1), (0, 3), (1, 0), (2, 0)]
    with Unchanged(model, tokens):
        came = cumulative_ablation(model, tokens, measure, order, [0, 1, 3, 4])
    for row, count in zip(came, [0, 1, 3, 4], strict=True):
        by_mask = states(model, tokens, head_mask=factors_without(model, order[:count]))
        torch.testing.assert_close(row, measure(model, by_mask).detach())


def test_wrong_heads_are_refused():
    model, tokens = make("gpt2"), some_tokens()
    measure = next_token_loss(tokens)
    for head in [(3, 0), (0, 4), (-1, 0)]:
        with pytest.raises(ValueError, match=r"no head .* run to \(2, 3\)"):
            losses_without(model, tokens, measure, [(0, 0), head])
    with pytest.raises(ValueError, match="group of heads is empty"):
        separate_ablation(model, tokens, measure, [[(0, 1)], []])
    with pytest.raises(ValueError, match="twice"):
        cumulative_ablation(model, tokens, measure, [(0, 1), (0, 1)], [1])
    with pytest.raises(ValueError, match="run from 0 to 1, got"):
        cumulative_ablation(model, tokens, measure, [(0, 1)], [2])


def test_next_token_loss_leaves_padding_out():
    model, tokens, mask = make("llama"), some_tokens(), some_mask()
    came = next_token_loss(tokens, mask)(model, states(model, tokens, key_mask=mask))
    for text, length in enumerate([5, 3, 4, 5]):
        row = tokens[text : text + 1, :length]
        logits = model(row)[0, :-1]
        expected = F.cross_entropy(logits, row[0, 1:])
        torch.testing.assert_close(came[text], expected)
    with pytest.raises(ValueError, match="at least two real tokens"):
        next_token_loss(tokens, torch.arange(5) < torch.tensor([5, 1, 4, 5])[:, None])


def test_contrastive_loss_is_that_of_finding_the_partner():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(6, 5, 7, generator=generator)
    mask = torch.arange(5) < torch.tensor([5, 2, 3, 4, 1, 5])[:, None]
    vectors = [row[real].mean(0) for row, real in zip(rows, mask, strict=True)]
    came = contrastive_loss(mask)(None, rows)
    for i in range(3):
        cosines = [20 * F.cosine_similarity(vectors[i], vectors[3 + j], dim=0) for j in range(3)]
        shares = torch.stack(cosines).softmax(0)
        assert came[i].item() == pytest.approx(-math.log(shares[i]), rel=1e-4)
    with pytest.raises(ValueError, match="two at least of each; got 3 texts"):
        contrastive_loss()(None, rows[:3])


def test_drift_is_one_less_the_cosine():
    rows = torch.randn(4, 5, 7, generator=torch.Generator().manual_seed(0))
    moved = rows + torch.randn(4, 5, 7, generator=torch.Generator().manual_seed(1))
    expected = 1 - F.cosine_similarity(rows.mean(1), moved.mean(1))
    torch.testing.assert_close(embedding_drift(rows)(None, moved), expected)
    torch.testing.assert_close(embed_texts(rows).norm(dim=-1), torch.ones(4))

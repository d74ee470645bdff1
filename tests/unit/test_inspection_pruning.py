"""Pruned models against zero ablation and against counted parameters."""

import pytest
import torch
from inspection_models import Unchanged, make, some_mask, some_tokens

from minitransformer.attention import MultiHeadAttention
from minitransformer.cache import KVCache
from minitransformer.generation import generate
from minitransformer.hooks import HookPoint
from minitransformer.inspection.ablation import all_heads, head_importance
from minitransformer.inspection.measures import next_token_loss
from minitransformer.inspection.pruning import (
    PrunedAttention,
    n_parameters,
    prune_heads,
    remaining_heads,
)

# Llama's heads 0-2 and 3-5 share a key and value head each.
CASES = {
    "one of a group": ("llama", [(0, 1)]),
    "a whole group": ("llama", [(1, 3), (1, 4), (1, 5)]),
    "the first group": ("llama", [(0, 0), (0, 1), (0, 2), (0, 5)]),
    "groups of unequal size": ("llama", [(0, 0), (0, 1), (0, 4)]),
    "a whole layer": ("llama", [(1, head) for head in range(6)]),
    "everything": ("llama", [(layer, head) for layer in range(2) for head in range(6)]),
    "with biases": ("gpt2", [(0, 3), (2, 0), (2, 1)]),
    "a whole layer with biases": ("gpt2", [(1, head) for head in range(4)]),
    "an encoder": ("bert", [(0, 0), (1, 0), (1, 2)]),
    "a whole layer of an encoder": ("bert", [(0, head) for head in range(3)]),
}


def removed_parameters(model, heads):
    """How many numbers belong to these heads, counted from the sizes."""
    config, total = model.config, 0
    size = config.n_heads // config.n_kv_heads
    for layer in range(config.n_layers):
        gone = {head for where, head in heads if where == layer}
        groups = sum(set(range(g * size, (g + 1) * size)) <= gone for g in range(config.n_kv_heads))
        rows = config.d_head * (len(gone) + 2 * groups)
        total += rows * (config.d_model + config.bias) + len(gone) * config.d_head * config.d_model
    return total


def factors_without(model, heads):
    factors = torch.ones(model.config.n_layers, model.config.n_heads, dtype=torch.float64)
    for layer, head in heads:
        factors[layer, head] = 0
    return factors


@pytest.mark.parametrize(("kind", "heads"), CASES.values(), ids=CASES)
def test_a_pruned_model_computes_what_the_ablated_one_does(kind, heads):
    model, tokens, mask = make(kind), some_tokens(), some_mask()
    with Unchanged(model, tokens):
        pruned = prune_heads(model, heads)
        came = pruned(tokens, key_mask=mask)
    expected = model(tokens, key_mask=mask, head_mask=factors_without(model, heads))
    torch.testing.assert_close(came, expected)
    assert n_parameters(model) - n_parameters(pruned) == removed_parameters(model, heads) > 0
    owned = {parameter.data_ptr() for parameter in model.parameters() if parameter.numel()}
    assert not any(p.data_ptr() in owned for p in pruned.parameters() if p.numel())


@pytest.mark.parametrize(("kind", "heads"), CASES.values(), ids=CASES)
def test_pruning_twice_is_pruning_once(kind, heads):
    model, tokens = make(kind), some_tokens()
    once = prune_heads(model, heads)
    half = prune_heads(model, heads[::2])
    with Unchanged(half):
        twice = prune_heads(half, heads[1::2])
    torch.testing.assert_close(twice(tokens), once(tokens))
    assert n_parameters(twice) == n_parameters(once)
    for layer in range(model.config.n_layers):
        left = [
            head for where, head in all_heads(model.config, layer) if (where, head) not in heads
        ]
        assert remaining_heads(twice, layer) == remaining_heads(once, layer) == left


def test_a_head_cannot_be_pruned_twice():
    model = make("llama")
    pruned = prune_heads(model, [(1, 4)])
    with pytest.raises(ValueError, match=r"head \(1, 4\) was pruned before"):
        prune_heads(pruned, [(1, 2), (1, 4)])
    with pytest.raises(ValueError, match=r"no head \(2, 0\)"):
        prune_heads(model, [(2, 0)])
    assert torch.equal(prune_heads(model, [])(some_tokens()), model(some_tokens()))


def test_a_pruned_model_keeps_the_numbers_of_its_heads():
    model, tokens = make("llama"), some_tokens()
    pruned = prune_heads(model, [(0, 1), (0, 3)])
    factors = torch.rand(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    both = factors * factors_without(model, [(0, 1), (0, 3)])
    torch.testing.assert_close(pruned(tokens, head_mask=factors), model(tokens, head_mask=both))
    importance = head_importance(pruned, tokens, next_token_loss(tokens))
    assert (importance[:, 0, [1, 3]] == 0).all()
    assert (importance[:, 0, [0, 2, 4, 5]] > 0).all()
    with pytest.raises(ValueError, match=r"shape \(6,\), one factor for each head of the whole"):
        pruned.blocks[0].attn(torch.randn(1, 5, 11).double(), head_mask=torch.ones(4))


def test_hook_points_show_the_heads_that_are_left():
    model, tokens = make("llama"), some_tokens()
    pruned = prune_heads(model, [(1, 0), (1, 1), (1, 2), (1, 4)])
    _, cache = pruned.run_with_cache(tokens)
    _, whole = model.run_with_cache(tokens)
    torch.testing.assert_close(cache["pattern", 1], whole["pattern", 1][:, [3, 5]])
    torch.testing.assert_close(cache["v", 1], whole["v", 1][:, :, [1]])
    torch.testing.assert_close(cache["z", 1], whole["z", 1][:, :, [3, 5]])
    for name, point in model.named_modules():
        if isinstance(point, HookPoint):
            assert pruned.get_submodule(name) is not point


@pytest.mark.parametrize(
    "heads",
    [[(0, 1)], [(1, 0), (1, 1), (1, 2)], [(0, 3), (0, 4), (0, 5), (1, 0)], [(1, 0), (1, 5)]],
)
def test_a_pruned_model_writes_with_a_cache(heads):
    model, tokens = make("llama"), some_tokens(2)
    pruned = prune_heads(model, heads)
    cache = KVCache.for_model(pruned, batch=2, max_length=9)
    steps = [pruned(tokens[:, [i]], cache=cache) for i in range(tokens.shape[1])]
    torch.testing.assert_close(torch.cat(steps, dim=1), pruned(tokens))
    assert generate(pruned, tokens, 4).shape == (2, 9)


def test_a_layer_without_heads_writes_with_a_cache():
    model, tokens = make("gpt2"), some_tokens(2)
    pruned = prune_heads(model, all_heads(model.config, 1))
    cache = KVCache.for_model(pruned, batch=2, max_length=9)
    steps = [pruned(tokens[:, [i]], cache=cache) for i in range(tokens.shape[1])]
    torch.testing.assert_close(torch.cat(steps, dim=1), pruned(tokens))


def test_a_pruned_model_can_be_trained():
    model, tokens = make("gpt2"), some_tokens()
    pruned = prune_heads(model, [(0, 1), (2, 3)]).train()
    pruned(tokens).logsumexp(-1).sum().backward()
    assert all(parameter.grad is not None for parameter in pruned.parameters())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_one_attention_is_pruned_like_one_of_a_model():
    torch.manual_seed(0)
    attention = MultiHeadAttention(11, 6, 3, 4).double()
    pruned = PrunedAttention(attention, [1, 4, 5])
    assert (pruned.kv_of_head, pruned.kv_heads) == ([0, 1, 1], [0, 2])
    assert PrunedAttention(PrunedAttention(attention, [2, 3, 4]), [4]).kv_heads == [2]
    assert PrunedAttention(attention, []).kv_heads == []
    x = torch.randn(2, 5, 11, dtype=torch.float64)
    factors = torch.tensor([0, 1, 0, 0, 1, 1], dtype=torch.float64)
    output, weights = pruned(x, is_causal=True, need_weights=True)
    expected, whole = attention(x, is_causal=True, need_weights=True, head_mask=factors)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, whole[:, [1, 4, 5]])
    torch.testing.assert_close(pruned(x, x[:, :3]), attention(x, x[:, :3], head_mask=factors))

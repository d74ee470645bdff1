"""Ablation, pruning and attention patterns against Hugging Face's models with the same weights.

A head of theirs is taken out by zeroing its columns of the output matrix.
"""

import copy

import pytest
import torch
from test_huggingface_random import assert_near, pair, tokens_of

from minitransformer.inspection.ablation import losses_without, separate_ablation
from minitransformer.inspection.attribution import head_outputs, rollout
from minitransformer.inspection.measures import next_token_loss, states
from minitransformer.inspection.patterns import entropy, share_at_offset, share_at_position
from minitransformer.inspection.pruning import prune_heads

HEADS = [(0, 1), (2, 0), (2, 5)]
WIDTH = {"llama": 10, "gpt2": 6, "bert": 6}


def output_matrix(theirs, kind, layer):
    """Theirs as (heads · d_head, d_model), a view."""
    if kind == "llama":
        return theirs.model.layers[layer].self_attn.o_proj.weight.T
    if kind == "gpt2":
        return theirs.transformer.h[layer].attn.c_proj.weight  # stored turned round
    return theirs.encoder.layer[layer].attention.output.dense.weight.T


def without(theirs, kind, heads):
    theirs = copy.deepcopy(theirs)
    with torch.no_grad():
        for layer, head in heads:
            rows = output_matrix(theirs, kind, layer)
            rows[head * WIDTH[kind] : (head + 1) * WIDTH[kind]] = 0
    return theirs


@pytest.mark.parametrize("kind", ["llama", "gpt2", "bert"])
@torch.no_grad()
def test_pruned_models(kind):
    theirs, ours = pair(kind)
    heads = HEADS if kind == "llama" else [(0, 1), (2, 0), (2, 3)]
    tokens = tokens_of(3, 11)
    expected = without(theirs, kind, heads)(tokens)[0]
    assert_near(prune_heads(ours, heads)(tokens), expected)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@torch.no_grad()
def test_losses_with_heads_out(kind):
    theirs, ours = pair(kind)
    tokens = tokens_of(3, 11)
    measure, single = next_token_loss(tokens), [(0, 1), (1, 3), (2, 0)]
    came = separate_ablation(ours, tokens, measure, [[head] for head in single])
    for row, head in zip(came, single, strict=True):
        changed = without(theirs, kind, [head])
        for text in range(3):
            one = tokens[text : text + 1]
            expected = changed(one, labels=one).loss
            assert abs(row[text] - expected) < 1e-5
    intact = losses_without(ours, tokens, measure, [])
    assert ((came - intact).abs().mean(dim=1) > 1e-3).all(), "nothing was taken out"


@torch.no_grad()
def test_patterns_of_their_attentions():
    theirs, ours = pair("bert")
    tokens = tokens_of(3, 11)
    attentions = theirs(tokens, output_attentions=True).attentions
    _, cache = ours.run_with_cache(tokens)
    mine = [cache["pattern", layer] for layer in range(3)]
    assert_near(rollout(mine), rollout(attentions))
    for layer in range(3):
        theirs_here = attentions[layer]
        before = theirs_here.diagonal(-1, 2, 3).mean(dim=(0, 2))
        torch.testing.assert_close(share_at_offset(mine[layer], -1), before)
        first = theirs_here[:, :, 1:, 0].mean(dim=(0, 2))
        torch.testing.assert_close(share_at_position(mine[layer]), first)
        spread = torch.distributions.Categorical(probs=theirs_here).entropy().mean(dim=(0, 2))
        torch.testing.assert_close(entropy(mine[layer]), spread)


@torch.no_grad()
def test_what_heads_write_sums_to_their_attention_output():
    theirs, ours = pair("llama")
    tokens, seen = tokens_of(3, 11), []
    layer = theirs.model.layers[1].self_attn
    layer.register_forward_hook(lambda module, args, output: seen.append(output[0]))
    theirs(tokens)
    _, cache = ours.run_with_cache(tokens)
    written = head_outputs(ours.blocks[1].attn, cache["v", 1])
    assert_near(torch.einsum("bhqk,bhkm->bqm", cache["pattern", 1], written), seen[0])


@torch.no_grad()
def test_states_are_those_before_the_output_matrix():
    theirs, ours = pair("gpt2")
    tokens = tokens_of(3, 11)
    expected = theirs(tokens, output_hidden_states=True).hidden_states[-1]
    assert_near(states(ours, tokens), expected)

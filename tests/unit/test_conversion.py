"""Copied heads change nothing, merged ones are what they say, and no given model is changed."""

import copy

import pytest
import torch

from minitransformer.conversion import (
    MERGES,
    expand_kv_heads,
    kv_head_weights,
    merge_kv_heads,
    tie_kv_heads,
)
from minitransformer.generation import KVCache
from minitransformer.models import Config, Decoder, Encoder

TOKENS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 1]])
SIZES = {"vocab_size": 11, "n_layers": 2, "d_model": 24, "n_heads": 12, "d_ff": 7}


def decoder(n_kv_heads, kind=Config.llama, **more):
    torch.manual_seed(3)
    model = Decoder(kind(**SIZES, n_kv_heads=n_kv_heads, **more)).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # biases start at 0 and would hide a mistake
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def generator_for(how):
    return torch.Generator().manual_seed(5) if how == "random" else None


def distance(one, other):
    with torch.no_grad():
        return (one(TOKENS) - other(TOKENS)).abs().max().item()


@pytest.mark.parametrize("kind", [Config.llama, Config.gpt2])
@pytest.mark.parametrize("wanted", [3, 6, 12])
def test_copies_change_nothing_but_the_cache(kind, wanted):
    model = decoder(3, kind)
    wide = expand_kv_heads(model, wanted)
    assert wide.config.n_kv_heads == wanted
    assert distance(wide, model) < 1e-5
    sizes = [KVCache.for_model(one, 2, 5).bytes for one in (model, wide)]
    assert sizes[1] * 3 == sizes[0] * wanted


def test_without_a_number_every_query_head_gets_its_own():
    assert expand_kv_heads(decoder(3)).config.n_kv_heads == 12


def test_an_encoder_can_be_converted_too():
    torch.manual_seed(3)
    model = Encoder(Config.bert(**SIZES, n_kv_heads=3)).eval()
    wide = expand_kv_heads(model)
    assert type(wide) is Encoder
    assert distance(wide, model) < 1e-5


@pytest.mark.parametrize("kind", [Config.llama, Config.gpt2])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3])
def test_merging_equal_heads_loses_nothing(kind, n_kv_heads):
    model = decoder(n_kv_heads, kind)
    wide = expand_kv_heads(model, 6)
    for how in ("mean", "first"):
        assert distance(merge_kv_heads(wide, n_kv_heads, how), model) < 1e-5


def test_the_mean_is_taken_over_neighbours():
    model = decoder(6)
    merged = merge_kv_heads(model, 2)
    for block, new in zip(model.blocks, merged.blocks, strict=True):
        for heads, fewer in zip(
            kv_head_weights(block.attn), kv_head_weights(new.attn), strict=True
        ):
            torch.testing.assert_close(fewer[0], (heads[0] + heads[1] + heads[2]) / 3)
            torch.testing.assert_close(fewer[1], (heads[3] + heads[4] + heads[5]) / 3)


def test_the_first_of_each_group_is_kept():
    model = decoder(6)
    merged = merge_kv_heads(model, 2, "first")
    for block, new in zip(model.blocks, merged.blocks, strict=True):
        for heads, fewer in zip(
            kv_head_weights(block.attn), kv_head_weights(new.attn), strict=True
        ):
            assert torch.equal(fewer, heads[[0, 3]])


def test_random_heads_have_the_size_of_those_they_replace():
    model = decoder(6)
    merged = merge_kv_heads(model, 2, "random", torch.Generator().manual_seed(5))
    again = merge_kv_heads(model, 2, "random", torch.Generator().manual_seed(5))
    other = merge_kv_heads(model, 2, "random", torch.Generator().manual_seed(6))
    assert distance(merged, again) == 0 < distance(merged, other)
    for block, new in zip(model.blocks, merged.blocks, strict=True):
        for heads, fewer in zip(
            kv_head_weights(block.attn), kv_head_weights(new.attn), strict=True
        ):
            assert 0.7 < fewer.std() / heads.std() < 1.4


def test_queries_and_the_output_map_are_left_alone():
    model = decoder(6)
    merged = merge_kv_heads(model, 2)
    for block, new in zip(model.blocks, merged.blocks, strict=True):
        width = block.attn.widths[0]
        assert torch.equal(new.attn.qkv_proj.weight[:width], block.attn.qkv_proj.weight[:width])
        assert torch.equal(new.attn.o_proj.weight, block.attn.o_proj.weight)


@pytest.mark.parametrize("how", MERGES)
def test_tied_heads_compute_what_merged_ones_do(how):
    model = decoder(6)
    merged = merge_kv_heads(model, 2, how, generator_for(how))
    tied = tie_kv_heads(model, 2, how, generator=generator_for(how))
    assert tied.config == model.config
    assert distance(tied, merged) < 1e-5 < distance(tied, model)


def test_only_the_named_layers_are_tied():
    model = decoder(6)
    tied = tie_kv_heads(model, 2, layers=[1])
    for layer, same in ((0, True), (1, False)):
        one, other = (m.blocks[layer].attn.qkv_proj.weight for m in (model, tied))
        assert torch.equal(one, other) == same
    assert distance(tie_kv_heads(model, 2, layers=[]), model) == 0


@pytest.mark.parametrize(
    "convert",
    [
        expand_kv_heads,
        lambda model: merge_kv_heads(model, 3),
        lambda model: tie_kv_heads(model, 3, layers=[0]),
    ],
)
def test_the_given_model_stays_as_it_was(convert):
    model = decoder(6, dropout=0.1)
    before, config = copy.deepcopy(model.state_dict()), model.config
    new = convert(model)
    with torch.no_grad():
        for parameter in new.parameters():
            parameter.add_(1.0)
    after = model.state_dict()
    assert model.config == config
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)


@pytest.mark.parametrize("training", [True, False])
def test_mode_and_dropout_carry_over(training):
    new = merge_kv_heads(decoder(6, dropout=0.25).train(training), 3)
    assert {part.training for part in new.modules()} == {training}
    assert new.blocks[0].attn.dropout == 0.25


def test_a_merged_model_can_be_trained():
    new = merge_kv_heads(decoder(6), 3)
    new(TOKENS).sum().backward()
    assert all(parameter.grad is not None for parameter in new.parameters())


def test_it_is_the_rotation_of_the_model_itself():
    new = merge_kv_heads(decoder(6), 3)
    assert {id(block.attn.rope) for block in new.blocks} == {id(new.rope)}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda m: expand_kv_heads(m, 3), "multiple of 6 and divide n_heads 12, got 3"),
        (lambda m: expand_kv_heads(m, 9), "got 9"),
        (lambda m: expand_kv_heads(m, 24), "got 24"),
        (lambda m: merge_kv_heads(m, 4), "must divide the model's 6, got 4"),
        (lambda m: merge_kv_heads(m, 0), "got 0"),
        (lambda m: merge_kv_heads(m, 12), "got 12"),
        (lambda m: merge_kv_heads(m, 2, "median"), "mean, first, random, got 'median'"),
        (lambda m: merge_kv_heads(m, 2, "random"), "needs a generator"),
        (lambda m: merge_kv_heads(m, 2, "mean", torch.Generator()), "take none"),
        (lambda m: tie_kv_heads(m, 2, layers=[1, 2]), r"layers run from 0 to 1, got \[2\]"),
        (lambda m: tie_kv_heads(m, 2, layers=[-1]), r"got \[-1\]"),
    ],
)
def test_what_does_not_fit_is_named(call, told):
    with pytest.raises(ValueError, match=told):
        call(decoder(6))


def test_cross_attention_is_refused():
    model = Decoder(Config.gpt2(**SIZES), cross_attention=True)
    with pytest.raises(ValueError, match="cross-attention"):
        merge_kv_heads(model, 2)

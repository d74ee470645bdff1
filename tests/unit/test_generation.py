"""The cache, sampling and the loop: cached = uncached, in pieces = at once, padded = alone."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer.generation import (
    KVCache,
    generate,
    lay_out_for_decoding,
    sample,
    stream,
    top_k_logits,
    top_p_logits,
)
from minitransformer.hooks import hooked
from minitransformer.models import Config, Decoder, EncoderDecoder

torch.set_num_threads(1)

SIZES = {"vocab_size": 13, "n_layers": 2, "d_model": 12, "n_heads": 6, "max_length": 40}
CONFIGS = {
    "gpt2": Config.gpt2(**SIZES),
    "llama": Config.llama(**SIZES, n_kv_heads=2, d_head=4),
    "post": Config(
        **SIZES, norm_position="post", positions="sinusoidal", n_kv_heads=1, tied_head=False
    ),
}


def decoder(name, seed=0):
    """A model whose continuations vary: its weights are larger than fresh ones."""
    torch.manual_seed(seed)
    model = Decoder(CONFIGS[name]).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model


def tokens_of(batch, time, seed=1):
    return torch.randint(13, (batch, time), generator=torch.Generator().manual_seed(seed))


# --- the cache ---------------------------------------------------------------------------------


def test_cache_bytes_are_what_the_formula_says():
    cache = KVCache(3, 2, 5, 7, 11, dtype=torch.float16)
    assert cache.bytes_per_token == 2 * 3 * 5 * 11 * 2
    assert cache.bytes == cache.bytes_per_token * 2 * 7
    assert cache.bytes == cache.keys.untyped_storage().nbytes() * 2
    assert cache.bytes_used == 0
    for layer in range(3):
        cache.update(layer, *torch.ones(2, 2, 5, 4, 11, dtype=torch.float16))
    cache.advance(4)
    assert cache.bytes_used == cache.bytes_per_token * 2 * 4


def test_cache_bytes_of_known_models():
    gpt2 = KVCache(12, 1, 12, 1, 64)
    assert gpt2.bytes_per_token // 2 == 36_864  # two bytes a number, as usually quoted
    llama_3_8b = KVCache(32, 1, 8, 1, 128, dtype=torch.bfloat16)
    assert llama_3_8b.bytes_per_token == 131_072


def test_cache_returns_what_was_written_as_views():
    cache = KVCache(2, 1, 3, 6, 5)
    first, second = torch.randn(2, 1, 3, 4, 5), torch.randn(2, 1, 3, 2, 5)
    for piece in (first, second):
        for layer in (0, 1):
            keys, values = cache.update(layer, piece[0] + layer, piece[1] - layer)
        cache.advance(piece.shape[-2])
    assert torch.equal(keys, torch.cat([first[0], second[0]], dim=-2) + 1)
    assert torch.equal(values, torch.cat([first[1], second[1]], dim=-2) - 1)
    assert keys.untyped_storage().data_ptr() == cache.keys.untyped_storage().data_ptr()
    assert cache.length == 6


def write(cache, layer, time, dtype=torch.float32):
    cache.update(layer, *torch.zeros(2, 1, 3, time, 5, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: write(c, 0, 7), "full: .* 6 tokens, holds 0 and was given 7"),
        (lambda c: write(c, 2, 1), "layers 0 to 1, got layer 2"),
        (lambda c: write(c, 0, 1, torch.float64), "holds torch.float32, got key torch.float64"),
        (lambda c: c.update(0, *torch.zeros(2, 1, 2, 4, 5)), r"\(1, 3, 4, 5\), got .*\(1, 2, 4, 5"),
        (lambda c: (write(c, 0, 2), c.advance(2)), "layer 1 has written 0"),
        (lambda c: (write(c, 0, 2), write(c, 1, 3), c.advance(2)), "layer 1 has written 3"),
        (lambda c: c.advance(1), "layer 0 has written 0"),
        (lambda c: KVCache(2, 0, 3, 6, 5), "batch must be a positive whole number, got 0"),
        (lambda c: KVCache(2, 1, 3, 6, 2.5), "d_head must be .* 2.5"),
    ],
)
def test_cache_errors_are_clear(call, words):
    with pytest.raises(ValueError, match=words):
        call(KVCache(2, 1, 3, 6, 5))


def test_a_cache_moves_on_once_for_all_layers():
    model, lengths = decoder("llama"), []
    cache = KVCache.for_model(model, 2)
    hooks = [
        (f"blocks.{layer}.hook_resid_post", lambda x, hook: lengths.append(cache.length))
        for layer in range(2)
    ]
    with torch.no_grad():
        model.run_with_hooks(tokens_of(2, 3), cache=cache, fwd_hooks=hooks)
        model.run_with_hooks(tokens_of(2, 1), cache=cache, fwd_hooks=hooks)
    assert lengths == [0, 0, 3, 3]
    assert cache.length == 4


def test_a_full_cache_is_left_as_it_was():
    model = decoder("gpt2")
    cache = KVCache.for_model(model, 2, max_length=5)
    with torch.no_grad():
        model(tokens_of(2, 4), cache=cache)
        with pytest.raises(ValueError, match="full"):
            model(tokens_of(2, 3), cache=cache)
        assert cache.length == 4
        logits = model(tokens_of(2, 1, seed=5), cache=cache)
    whole = torch.cat([tokens_of(2, 4), tokens_of(2, 1, seed=5)], dim=1)
    torch.testing.assert_close(logits[:, -1], model(whole)[:, -1])


def test_the_tokens_in_the_cache_count_towards_max_length():
    model = decoder("llama")
    cache = KVCache.for_model(model, 1, max_length=50)
    with torch.no_grad():
        model(tokens_of(1, 39), cache=cache)
        with pytest.raises(ValueError, match="41 tokens are more than the model's max_length 40"):
            model(tokens_of(1, 2), cache=cache)
        assert model(tokens_of(1, 1), cache=cache).shape == (1, 1, 13)


@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_reach_what_a_call_reads_and_end_at_the_cache(name):
    """Two layers: the second writes while the first one's keys are still needed for backward()."""
    model, tokens = decoder(name), tokens_of(2, 5)
    model(tokens).sum().backward()
    expected = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad()
    cache = KVCache.for_model(model, 2)
    first = model(tokens, cache=cache)
    assert not cache.keys.requires_grad
    assert not cache.values.requires_grad
    second = model(tokens_of(2, 3), cache=cache)
    first.sum().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name])
    second.sum().backward()  # it would go through the first call's graph, which is gone by now
    weight = model.blocks[0].attn.qkv_proj.weight
    assert not torch.allclose(weight.grad, expected["blocks.0.attn.qkv_proj.weight"])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_autocast_goes_with_a_cache(name, dtype):
    model, tokens = decoder(name).float(), tokens_of(2, 4)
    with torch.autocast("cpu", dtype):
        expected = generate(model, tokens, 20, use_cache=False)
        assert torch.equal(generate(model, tokens, 20), expected)
    assert len(expected[:, 4:].unique()) > 2


@pytest.mark.parametrize("name", CONFIGS)
@given(cuts=st.lists(st.integers(1, 10), max_size=5))
@settings(max_examples=10, deadline=None)
def test_reading_in_pieces_is_reading_at_once(name, cuts):
    model, tokens = decoder(name), tokens_of(2, 11)
    cache = KVCache.for_model(model, 2, max_length=11)
    edges = sorted({0, *cuts, 11})
    with torch.no_grad():
        pieces = [
            model(tokens[:, start:end], cache=cache) for start, end in itertools.pairwise(edges)
        ]
        torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens))
    assert cache.length == 11


# --- sampling ----------------------------------------------------------------------------------


@given(seed=st.integers(0, 999), k=st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_top_k_keeps_the_k_largest(seed, k):
    logits = torch.randn(3, 9, generator=torch.Generator().manual_seed(seed))
    kept = top_k_logits(logits, k)
    for row, old in zip(kept, logits, strict=True):
        expected = set(sorted(range(9), key=lambda i: -old[i].item())[:k])
        assert {i for i in range(9) if row[i] == old[i]} == expected
        assert sum(torch.isneginf(row)) == 9 - len(expected)


@given(seed=st.integers(0, 999), p=st.floats(0.01, 1.0))
@settings(max_examples=30, deadline=None)
def test_top_p_keeps_the_fewest_that_reach_p(seed, p):
    logits = 3 * torch.randn(3, 9, generator=torch.Generator().manual_seed(seed)).double()
    for row, old in zip(top_p_logits(logits, p), logits, strict=True):
        probabilities = old.softmax(-1)
        order = sorted(range(9), key=lambda i: -probabilities[i].item())
        total, expected = 0.0, set()
        for token in order:
            if total >= p:
                break
            expected.add(token)
            total += probabilities[token].item()
        assert {i for i in range(9) if row[i] == old[i]} == expected


def test_top_k_and_top_p_equal_those_of_transformers():
    process = pytest.importorskip("transformers", reason="the test extra brings it")
    logits = 2 * torch.randn(4, 50, generator=torch.Generator().manual_seed(4))
    expected = process.TopKLogitsWarper(7)(None, logits)
    assert torch.equal(top_k_logits(logits, 7), expected)
    expected = process.TopPLogitsWarper(0.6)(None, logits)
    assert torch.equal(top_p_logits(logits, 0.6), expected)


def test_top_p_counts_the_tail_of_a_large_vocabulary():
    """The sums of 49,152 probabilities in float32 reach 1 long before the last of them."""
    process = pytest.importorskip("transformers", reason="the test extra brings it")
    logits = 5 * torch.randn(4, 49_152, generator=torch.Generator().manual_seed(0))
    assert torch.equal(top_p_logits(logits, 1.0), logits)
    assert torch.equal(process.TopPLogitsWarper(1.0)(None, logits), logits)
    for p in (0.9, 0.999, 0.9999):
        sums = logits.double().softmax(-1).sort(descending=True).values.cumsum(-1)
        exact = (sums < p).sum(-1) + 1
        assert (top_p_logits(logits, p).isfinite().sum(-1) == exact).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_logits_are_sampled_as_in_float32(dtype):
    logits = 3 * torch.randn(20_000, 50, generator=torch.Generator().manual_seed(0)).to(dtype)
    draws = [
        sample(given, temperature=0.7, generator=torch.Generator().manual_seed(1))
        for given in (logits, logits.float())
    ]
    assert torch.equal(*draws)


@pytest.mark.parametrize("temperature", [1e-40, 1e-320, 5e-324, torch.finfo(torch.float32).tiny])
@pytest.mark.parametrize("choice", [{}, {"top_k": 3}, {"top_p": 0.9}])
def test_a_tiny_temperature_takes_the_likeliest(temperature, choice):
    logits = 40 * torch.randn(20, 9, generator=torch.Generator().manual_seed(0))
    assert torch.equal(sample(logits, temperature=temperature, **choice), logits.argmax(-1))


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_samples_follow_the_probabilities(temperature):
    logits = torch.tensor([[0.0, 1.0, -1.0, 0.5]])
    draws = sample(
        logits.expand(20_000, 4),
        temperature=temperature,
        generator=torch.Generator().manual_seed(6),
    )
    shares = draws.bincount(minlength=4) / len(draws)
    expected = (logits[0] / temperature).softmax(-1)
    assert (shares - expected).abs().max() < 0.02
    assert (shares - logits[0].softmax(-1)).abs().max() > 0.05, "the temperature matters"


def test_top_k_comes_before_top_p():
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    generator = torch.Generator().manual_seed(0)
    draws = sample(logits.expand(2000, 4), temperature=1.0, top_k=2, top_p=0.5, generator=generator)
    assert set(draws.tolist()) == {0}  # of two tokens the first has 0.57 already
    draws = sample(logits.expand(2000, 4), temperature=1.0, top_p=0.5, generator=generator)
    assert set(draws.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": -0.1}, "temperature must be 0 or a positive number, got -0.1"),
        ({"temperature": float("nan")}, "nan"),
        ({"temperature": 1.0, "top_k": 0}, "top_k must be a positive whole number, got 0"),
        ({"temperature": 1.0, "top_k": 2.5}, "2.5"),
        ({"temperature": 1.0, "top_p": 0.0}, "top_p must be above 0 and at most 1, got 0.0"),
        ({"temperature": 1.0, "top_p": 1.1}, "1.1"),
        ({"top_k": 3}, "change nothing at temperature 0"),
    ],
)
def test_sampling_errors_are_clear(options, words):
    with pytest.raises(ValueError, match=words):
        sample(torch.zeros(2, 5), **options)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("row", [[0.0, math.nan], [0.0, math.inf], [-math.inf, -math.inf]])
def test_logits_without_a_next_token_are_an_error(row, temperature):
    with pytest.raises(ValueError, match=r"NaN or \+infinity, or -infinity alone"):
        sample(torch.tensor([[0.0, 1.0], row]), temperature=temperature)


def test_logits_of_minus_infinity_are_never_drawn():
    logits = torch.tensor([[-math.inf, 0.0, -math.inf, 0.0]]).expand(500, 4)
    assert set(sample(logits, temperature=1e30).tolist()) == {1, 3}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": "1"}, "temperature must be a number, got '1'"),
        ({"temperature": None}, "temperature must be a number, got None"),
        ({"temperature": 1.0, "top_p": "0.9"}, "top_p must be a number, got '0.9'"),
    ],
)
def test_what_is_no_number_is_named(options, words):
    with pytest.raises(TypeError, match=words):
        sample(torch.zeros(2, 5), **options)


# --- the loop ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
def test_greedy_with_and_without_cache_is_the_argmax_of_each_step(name):
    model, tokens = decoder(name), tokens_of(3, 4)
    expected = tokens
    with torch.no_grad():
        for _ in range(30):
            expected = torch.cat([expected, model(expected)[:, -1:].argmax(-1)], dim=1)
    assert len(expected[:, 4:].unique()) > 2
    assert torch.equal(generate(model, tokens, 30), expected)
    assert torch.equal(generate(model, tokens, 30, use_cache=False), expected)


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_padded_text_is_continued_as_if_alone(name, use_cache):
    model = decoder(name)
    texts = [tokens_of(1, time, seed=time) for time in (3, 7, 1)]
    alone = [generate(model, text, 20)[:, text.shape[1] :] for text in texts]
    assert len({tuple(row.flatten().tolist()) for row in alone}) == 3
    padded = torch.full((3, 7), 12)
    mask = torch.zeros(3, 7, dtype=torch.bool)
    for row, text in enumerate(texts):
        padded[row, 7 - text.shape[1] :] = text
        mask[row, 7 - text.shape[1] :] = True
    together = generate(model, padded, 20, key_mask=mask, use_cache=use_cache)
    assert torch.equal(together[:, 7:], torch.cat(alone))


def test_padded_logits_equal_those_alone():
    model, text = decoder("llama"), tokens_of(1, 4)
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.int64), text], dim=1)
    mask = torch.tensor([[False] * 3 + [True] * 4])
    torch.testing.assert_close(model(padded, key_mask=mask)[:, 3:], model(text))


def test_stop_tokens_end_each_text_on_its_own():
    model, tokens = decoder("gpt2"), tokens_of(3, 4)
    free = generate(model, tokens, 12)[:, 4:]
    stop = {free[0, 3].item(), free[1, 1].item()}
    stopped = generate(model, tokens, 12, stop_tokens=stop, pad_token=9)[:, 4:]
    longest = 0
    for row, wanted in zip(stopped, free, strict=True):
        end = next((i for i, token in enumerate(wanted.tolist()) if token in stop), 11)
        longest = max(longest, end + 1)
        assert row[: end + 1].tolist() == wanted[: end + 1].tolist()
        assert set(row[end + 1 :].tolist()) <= {9}
    assert stopped.shape[1] == longest, "it ends with the last text"


def test_the_stop_token_pads_where_no_other_is_given():
    model, tokens = decoder("post"), tokens_of(2, 4)
    free = generate(model, tokens, 3)[:, 4:]
    stop = free[0, 0].item()
    assert stop not in free[1, :3].tolist()
    assert generate(model, tokens, 3, stop_tokens=[stop])[0, 4:].tolist() == [stop] * 3


@pytest.mark.parametrize("kind", [tuple, set, iter, torch.tensor, np.array])
def test_stop_tokens_may_come_in_any_collection(kind):
    model, tokens = decoder("post"), tokens_of(2, 4)
    expected = generate(model, tokens, 9, stop_tokens=[3, 5], pad_token=9)
    stopped = generate(model, tokens, 9, stop_tokens=kind([3, 5]), pad_token=np.int64(9))
    assert torch.equal(stopped, expected)
    assert stopped.dtype == torch.int64


def test_streaming_gives_the_same_tokens_one_by_one():
    model, tokens = decoder("llama"), tokens_of(2, 4)
    parts = list(stream(model, tokens, 5))
    assert [part.shape for part in parts] == [(2,)] * 5
    assert torch.equal(torch.stack(parts, dim=1), generate(model, tokens, 5)[:, 4:])


def test_a_seed_makes_sampling_repeatable():
    model, tokens = decoder("gpt2"), tokens_of(2, 4)

    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        return generate(model, tokens, 20, temperature=1.5, generator=generator)

    assert torch.equal(draw(3), draw(3))
    assert not torch.equal(draw(3), draw(4))


def test_encoder_decoder_generates_from_its_source():
    torch.manual_seed(1)
    model = EncoderDecoder(Config(**SIZES, positions="sinusoidal", tied_head=False)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    source, start = tokens_of(2, 6), torch.tensor([[1], [1]])
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[0, 4:] = False
    expected = start
    with torch.no_grad():
        for _ in range(10):
            logits = model(source, expected, source_mask=mask)
            expected = torch.cat([expected, logits[:, -1:].argmax(-1)], dim=1)
    options = {"source": source, "source_mask": mask}
    assert torch.equal(generate(model, start, 10, **options), expected)
    assert torch.equal(generate(model, start, 10, use_cache=False, **options), expected)
    other = generate(model, start, 10, source=(source + 1) % 13)
    assert not torch.equal(other, expected)


def test_the_source_is_encoded_once():
    model, encoded = EncoderDecoder(Config(**SIZES)).eval(), []
    model.encoder.register_forward_hook(lambda *_: encoded.append(1))
    generate(model, FOUR, 5, source=FOUR)
    assert encoded == [1]


def in_training():
    torch.manual_seed(0)
    return Decoder(Config.gpt2(**SIZES, dropout=0.5)).train()


def modes(model):
    return {name: part.training for name, part in model.named_modules()}


def test_generation_is_in_evaluation_and_gives_every_part_its_mode_back():
    model, tokens, seen = in_training(), tokens_of(2, 4), []
    model.blocks[1].eval()
    before = modes(model)
    model.blocks[0].register_forward_hook(lambda part, *_: seen.append(part.training))
    assert torch.equal(generate(model, tokens, 9), generate(model, tokens, 9))
    assert seen == [False] * 18
    assert modes(model) == before

    def fail(tensor, hook):
        raise RuntimeError("in the middle")

    failing = hooked(model, [("blocks.1.hook_resid_post", fail)])
    with pytest.raises(RuntimeError, match="in the middle"), failing:
        generate(model, tokens, 9)
    assert modes(model) == before


def test_two_streams_of_one_model_do_not_disturb_each_other():
    model, tokens = in_training(), tokens_of(2, 4)
    expected = generate(model, tokens, 9)[:, 4:]
    first, second = stream(model, tokens, 9), stream(model, tokens, 9)
    parts = [next(first), next(second)][1:]
    first.close()
    parts += list(second)
    assert torch.equal(torch.stack(parts, dim=1), expected)
    assert all(modes(model).values())


def test_the_cache_of_a_run_is_no_longer_than_it_needs():
    model = decoder("gpt2")
    assert generate(model, tokens_of(1, 30), 10).shape == (1, 40)  # just max_length
    assert torch.equal(generate(model, tokens_of(1, 5), 0), tokens_of(1, 5))
    assert torch.equal(generate(model, tokens_of(1, 1), 0), tokens_of(1, 1))


def test_the_layout_for_decoding_changes_no_token_and_no_value():
    model, tokens = decoder("llama").float(), tokens_of(2, 4)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    expected, logits = generate(model, tokens, 20), model(tokens)
    assert lay_out_for_decoding(model) is model
    assert model.blocks[0].mlp.up_proj.weight.stride() == (1, 48)
    assert model.blocks[0].mlp.down_proj.weight.is_contiguous()  # fewer rows than columns
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    torch.testing.assert_close(model(tokens), logits)
    assert torch.equal(generate(model, tokens, 20), expected)
    model(tokens).sum().backward()
    assert model.blocks[0].mlp.up_proj.weight.grad.abs().max() > 0
    assert not model.bfloat16().lm_head.weight.is_contiguous()  # a change of dtype keeps the order
    assert lay_out_for_decoding(model).lm_head.weight.is_contiguous()


# What torch.backends.disable_global_flags sets, as the import of PyTorch's test helpers does.
PYTORCH = torch.backends.flags_frozen.__globals__
FLAGS_FREE = "__allow_nonbracketed_mutation_flag"


@pytest.mark.parametrize(
    ("dtype", "columns", "batch", "without"),
    [
        (torch.bfloat16, False, 1, True),
        (torch.bfloat16, True, 1, False),
        (torch.bfloat16, False, 2, False),
        (torch.float32, False, 1, False),
    ],
)
def test_one_bfloat16_token_is_multiplied_without_onednn(
    dtype, columns, batch, without, monkeypatch
):
    monkeypatch.setitem(PYTORCH, FLAGS_FREE, True)
    model = decoder("llama").to(dtype)
    if columns:
        model.embed.weight.data = model.embed.weight.data.T.contiguous().T
    seen = []

    def look(tensor, hook):
        seen.append((tensor.shape[1], torch.backends.mkldnn.enabled))

    with hooked(model, [("blocks.1.hook_resid_post", look)]):
        generate(model, tokens_of(batch, 5), 3)
    assert seen == [(5, True), (1, not without), (1, not without)]
    assert torch.backends.mkldnn.enabled

    def fail(tensor, hook):
        raise RuntimeError("in the middle")

    failing = hooked(model, [("blocks.1.hook_resid_post", fail)])
    with pytest.raises(RuntimeError, match="in the middle"), failing:
        generate(model, tokens_of(1, 1), 2)
    assert torch.backends.mkldnn.enabled


def test_flags_that_a_program_froze_stay_as_they_are(monkeypatch):
    model = decoder("llama").to(torch.bfloat16)
    monkeypatch.setitem(PYTORCH, FLAGS_FREE, True)
    expected = generate(model, tokens_of(1, 5), 6)
    monkeypatch.setitem(PYTORCH, FLAGS_FREE, False)
    with pytest.raises(RuntimeError, match="not allowed to set"):
        torch.backends.mkldnn.enabled = False
    assert generate(model, tokens_of(1, 5), 6).equal(expected)


FOUR = tokens_of(2, 4)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_new_tokens": -1}, ValueError, "max_new_tokens must not be negative, got -1"),
        ({"max_new_tokens": 2.0}, TypeError, "whole number, got 2.0"),
        ({"max_new_tokens": 37}, ValueError, "4 tokens and 37 new .* max_length 40"),
        ({"tokens": FOUR[0]}, ValueError, r"\(4,\)"),
        ({"tokens": FOUR + 13}, ValueError, "0 to 12"),
        ({"tokens": FOUR.float()}, TypeError, "float32"),
        ({"key_mask": torch.ones(2, 4)}, TypeError, "boolean"),
        ({"key_mask": torch.ones(2, 3).bool()}, ValueError, r"\(2, 4\), got \(2, 3\)"),
        ({"key_mask": torch.tensor([[True] * 3 + [False]] * 2)}, ValueError, "on the left"),
        ({"key_mask": torch.tensor([[True, False, True, True]] * 2)}, ValueError, "on the left"),
        ({"temperature": -1.0}, ValueError, "temperature"),
        ({"temperature": "1"}, TypeError, "temperature must be a number, got '1'"),
        ({"pad_token": 13}, ValueError, "pad_token must run from 0 to 12, got 13"),
        ({"pad_token": -1}, ValueError, "pad_token must run from 0 to 12, got -1"),
        ({"pad_token": 1.5}, TypeError, "pad_token takes whole numbers, got 1.5"),
        ({"stop_tokens": 3}, TypeError, "stop_tokens must be a collection of int, got 3"),
        ({"stop_tokens": "3"}, TypeError, "stop_tokens takes whole numbers, got '3'"),
        ({"stop_tokens": [1, 2.7]}, TypeError, "stop_tokens takes whole numbers, got 2.7"),
        ({"stop_tokens": [1, 13]}, ValueError, "stop_tokens must run from 0 to 12, got 13"),
        ({"source": FOUR}, ValueError, "Decoder reads no source"),
    ],
)
def test_generation_errors_come_at_once(options, error, words):
    options = {"tokens": FOUR, "max_new_tokens": 3} | options
    with pytest.raises(error, match=words):
        stream(decoder("gpt2"), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "EncoderDecoder reads a source"),
        ({"source": FOUR + 13}, "source must run from 0 to 12"),
        ({"source": FOUR[:1]}, "2 texts, but 1 sources"),
        ({"source": tokens_of(2, 41)}, "source has 41 tokens, more than .* max_length 40"),
        ({"source": FOUR, "source_mask": torch.ones(2, 5).bool()}, r"source_mask .* \(2, 5\)"),
    ],
)
def test_errors_of_the_source_come_at_once(options, words):
    with pytest.raises(ValueError, match=words):
        stream(EncoderDecoder(Config(**SIZES)), FOUR, 3, **options)

"""Configs and models: what they compute, what hooks see, what no path may leak, bad input."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer.generation import KVCache
from minitransformer.hooks import hook_points
from minitransformer.models import (
    Config,
    Decoder,
    Encoder,
    EncoderDecoder,
    VisionTransformer,
    image_patches,
)

torch.set_num_threads(1)

SIZES = {"vocab_size": 13, "n_layers": 2, "d_model": 12, "n_heads": 3, "max_length": 17}
DECODERS = {
    "gpt2": Config.gpt2(**SIZES),
    "llama": Config.llama(**(SIZES | {"n_heads": 6, "n_kv_heads": 2, "d_head": 4})),
    "post": Config(**SIZES, norm_position="post", positions="sinusoidal", activation="relu"),
    "bare": Config(**SIZES, positions="none", norm="rms", tied_head=False),
}
IMAGES = {"image_size": 6, "patch_size": 2, "n_channels": 2, "n_classes": 5}


def decoder(name):
    torch.manual_seed(0)
    return Decoder(DECODERS[name]).eval()


def encoder(**changes):
    torch.manual_seed(0)
    return Encoder(Config.bert(**(SIZES | changes))).eval()


def tokens_of(batch, time, seed=1):
    return torch.randint(13, (batch, time), generator=torch.Generator().manual_seed(seed))


# --- what they compute -------------------------------------------------------------------------


def test_encoder_is_its_parts_in_order():
    model, tokens = encoder(), tokens_of(2, 5)
    segments = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
    x = model.embed.weight[tokens] + model.segment_embed.weight[segments]
    x = model.embed_norm(x + model.pos_embed.weight[:5])
    for block in model.blocks:
        x = block(x)
    torch.testing.assert_close(model(tokens, segments=segments), x)
    assert not torch.allclose(model(tokens), x), "segments change something"


@pytest.mark.parametrize("name", DECODERS)
def test_decoder_is_its_parts_in_order(name):
    model, tokens, config = decoder(name), tokens_of(2, 5), DECODERS[name]
    x = model.embed.weight[tokens]
    if config.positions == "sinusoidal":
        x = x * 12**0.5 + model.pos_embed(torch.arange(5))
    elif config.positions == "learned":
        x = x + model.pos_embed.weight[:5]
    for block in model.blocks:
        x = block(x, positions=torch.arange(5) if config.positions == "rotary" else None)
    head = model.embed.weight if config.tied_head else model.lm_head.weight
    torch.testing.assert_close(model(tokens), model.final_norm(x) @ head.T)


def test_encoder_decoder_is_its_parts_in_order():
    torch.manual_seed(0)
    model = EncoderDecoder(Config(**SIZES, positions="sinusoidal")).eval()
    source, target = tokens_of(2, 6), tokens_of(2, 4, seed=2)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    memory = model.encoder(source, key_mask=mask)
    expected = model.decoder(target, memory=memory, memory_mask=mask)
    torch.testing.assert_close(model(source, target, source_mask=mask), expected)
    alone = model(source[1:, :4], target[1:])
    torch.testing.assert_close(expected[1:], alone, rtol=1e-5, atol=1e-6)
    other = source.clone()
    other[0, 2] = (other[0, 2] + 1) % 13
    changed = model(other, target, source_mask=mask)
    assert (changed[0] - expected[0]).abs().min(-1).values.max() > 0, "it reads the source"


def test_image_patches_against_a_loop():
    images = torch.randn(2, 3, 4, 6)
    patches = image_patches(images, 2)
    assert patches.shape == (2, 6, 12)
    for row in range(2):
        for column in range(3):
            cut = images[:, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            torch.testing.assert_close(patches[:, 3 * row + column], cut.reshape(2, -1))


def test_vision_transformer_is_its_parts_in_order():
    torch.manual_seed(0)
    model = VisionTransformer(Config(n_layers=2, d_model=12, n_heads=3, **IMAGES)).eval()
    images = torch.rand(4, 2, 6, 6)
    patches = model.embed(image_patches(images, 2))
    x = torch.cat([model.class_embed.expand(4, 1, 12), patches], dim=1) + model.pos_embed.weight
    for block in model.blocks:
        x = block(x)
    torch.testing.assert_close(model(images), model.head(model.final_norm(x)[:, 0]))
    assert len(model.pos_embed.weight) == 10


def test_an_image_without_positions_is_a_set_of_patches():
    torch.manual_seed(0)
    config = Config(n_layers=2, d_model=12, n_heads=3, positions="none", **IMAGES)
    model, images = VisionTransformer(config).double(), torch.rand(4, 2, 6, 6, dtype=torch.float64)
    moved = torch.cat([images[..., 2:], images[..., :2]], dim=-1)  # columns of patches, turned
    torch.testing.assert_close(model(moved), model(images))
    assert not torch.allclose(model(images.transpose(2, 3)), model(images))


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing_for_real_tokens(side):
    model, tokens = encoder(), tokens_of(1, 4)
    pads = torch.zeros(1, 3, dtype=torch.int64)
    mask = torch.ones(1, 7, dtype=torch.bool)
    if side == "left":
        padded, mask[:, :3] = torch.cat([pads, tokens], dim=1), False
    else:
        padded, mask[:, 4:] = torch.cat([tokens, pads], dim=1), False
    torch.testing.assert_close(model(padded, key_mask=mask)[mask][None], model(tokens))


def test_first_logits_are_small_whatever_the_width():
    for d_model in (12, 192):
        torch.manual_seed(0)
        model = Decoder(Config.gpt2(**(SIZES | {"d_model": d_model})))
        assert 0.2 < model(tokens_of(3, 9)).std() < 1.0


# --- hooks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
def test_run_with_cache_sees_every_point_and_changes_nothing(name):
    model, tokens = decoder(name), tokens_of(2, 5)
    before = model(tokens)
    logits, cache = model.run_with_cache(tokens)
    silent = {"hook_pos_embed"} if DECODERS[name].positions in ("rotary", "none") else set()
    assert set(cache) == set(hook_points(model)) - silent
    torch.testing.assert_close(logits, before, rtol=1e-5, atol=1e-6)
    assert torch.equal(model(tokens), before), "the hooks are gone"
    config = DECODERS[name]
    assert cache["pattern", 1].shape == (2, config.n_heads, 5, 5)
    assert cache["result", 1].shape == (2, 5, config.n_heads, 12)
    assert cache["k", 1].shape == (2, 5, config.n_kv_heads, config.d_head)


def test_the_cache_holds_copies():
    model, tokens = decoder("gpt2"), tokens_of(2, 5)
    _, cache = model.run_with_cache(tokens)
    kept = cache["resid_post", 0].clone()
    for tensor in cache.values():
        tensor.fill_(7.0)
    _, again = model.run_with_cache(tokens)
    assert torch.equal(again["resid_post", 0], kept)
    assert not any(tensor.requires_grad for tensor in again.values())


def test_a_hook_at_the_last_residual_decides_the_logits():
    model, tokens = decoder("gpt2"), tokens_of(2, 5)
    new = torch.randn(2, 5, 12)
    logits = model.run_with_hooks(
        tokens, fwd_hooks=[("blocks.1.hook_resid_post", lambda tensor, hook: new)]
    )
    torch.testing.assert_close(logits, model.unembed(model.final_norm(new)))


def test_hooks_go_when_the_function_raises():
    model, tokens = decoder("llama"), tokens_of(2, 5)
    before = model(tokens)

    def fail(tensor, hook):
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        model.run_with_hooks(tokens, fwd_hooks=[("blocks.0.hook_mlp_out", fail)])
    assert not any(point.active for point in hook_points(model).values())
    assert torch.equal(model(tokens), before)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_head_mask_is_a_hook_that_scales_z(name):
    model, tokens = decoder(name), tokens_of(2, 5)
    mask = torch.rand(2, DECODERS[name].n_heads)
    hooks = [
        (f"blocks.{layer}.attn.hook_z", lambda z, hook, row=mask[layer]: z * row[:, None])
        for layer in range(2)
    ]
    expected = model.run_with_hooks(tokens, fwd_hooks=hooks)
    torch.testing.assert_close(model(tokens, head_mask=mask), expected)
    assert torch.equal(model(tokens, head_mask=torch.ones_like(mask)), model(tokens))


def test_head_masks_of_an_encoder_decoder_reach_their_heads():
    torch.manual_seed(0)
    model = EncoderDecoder(Config(**SIZES)).eval()
    source, target = tokens_of(2, 6), tokens_of(2, 4)
    for argument, where in (
        ("encoder_head_mask", "encoder.blocks.1.attn"),
        ("decoder_head_mask", "decoder.blocks.1.attn"),
        ("cross_head_mask", "decoder.blocks.1.cross_attn"),
    ):
        mask = torch.ones(2, 3)
        mask[1, 2] = 0

        def ablate(z, hook):
            z = z.clone()
            z[:, :, 2] = 0
            return z

        hooks = [(f"{where}.hook_z", ablate)]
        expected = model.run_with_hooks(source, target, fwd_hooks=hooks)
        torch.testing.assert_close(model(source, target, **{argument: mask}), expected)
        assert not torch.allclose(model(source, target), expected)


def test_a_copied_model_is_a_model_of_its_own():
    model, tokens = decoder("llama"), tokens_of(2, 5)
    twin, before = copy.deepcopy(model), model(tokens)
    with torch.no_grad():
        twin.blocks[0].mlp.down_proj.weight.zero_()
    assert torch.equal(model(tokens), before)
    assert not torch.equal(twin(tokens), before)


# --- the future --------------------------------------------------------------------------------


def read_plainly(model, tokens):
    return model(tokens)


def read_with_hooks(model, tokens):
    return model.run_with_cache(tokens)[0]


def read_in_pieces(model, tokens):
    cache = KVCache.for_model(model, len(tokens))
    cut = tokens.shape[1] // 2
    pieces = [tokens[:, :cut], tokens[:, cut:]]
    return torch.cat([model(piece, cache=cache) for piece in pieces if piece.numel()], dim=1)


def read_with_padding(model, tokens):
    mask = torch.ones_like(tokens, dtype=torch.bool)
    mask[0, 0] = False
    return model(tokens, key_mask=mask)


READERS = [read_plainly, read_with_hooks, read_in_pieces, read_with_padding]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", DECODERS)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_later_tokens_leave_earlier_outputs_bit_equal(name, read, data):
    model = decoder(name)
    time = data.draw(st.integers(2, 11))
    start = data.draw(st.integers(1, time - 1))
    tokens = tokens_of(2, time, seed=data.draw(st.integers(0, 99)))
    other = tokens.clone()
    other[:, start:] = (other[:, start:] + data.draw(st.integers(1, 12))) % 13
    with torch.no_grad():
        one, two = read(model, tokens), read(model, other)
    assert torch.equal(one[:, :start], two[:, :start])
    assert not torch.equal(one[:, start:], two[:, start:])


def test_an_encoder_does_see_later_tokens():
    tokens = tokens_of(2, 5)
    other = tokens.clone()
    other[:, 4] = (other[:, 4] + 1) % 13
    assert not torch.allclose(encoder()(tokens)[:, 0], encoder()(other)[:, 0])


# --- bad input ---------------------------------------------------------------------------------


def config_with(**changes):
    return lambda: Config(**(SIZES | changes))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (config_with(n_layers=0), ValueError, "n_layers must be at least 1, got 0"),
        (config_with(d_model=1.5), TypeError, "d_model .* 1.5"),
        (config_with(d_model=13), ValueError, "13 does not split into 3 heads"),
        (config_with(n_kv_heads=2), ValueError, "n_kv_heads 2"),
        (config_with(norm="batch"), ValueError, "layer, rms, got 'batch'"),
        (config_with(norm_position="mid"), ValueError, "'mid'"),
        (config_with(activation="tanh"), ValueError, "'tanh'"),
        (config_with(positions="alibi"), ValueError, "'alibi'"),
        (config_with(positions="rotary", d_head=5), ValueError, "even, got 5"),
        (config_with(dropout=1.0), ValueError, "dropout .* 1.0"),
        (config_with(norm_eps=0), ValueError, "norm_eps .* 0"),
        (config_with(rope_base=float("nan")), ValueError, "rope_base .* nan"),
        (config_with(n_segments=-1), ValueError, "n_segments .* -1"),
        (config_with(n_segments=1.5), TypeError, "n_segments .* 1.5"),
        (config_with(n_segments=True), TypeError, "n_segments .* True"),
        (config_with(image_size=8, patch_size=3), ValueError, "8 is not a multiple .* 3"),
        (lambda: Decoder(Config(n_layers=1, d_model=6, n_heads=3)), ValueError, "vocab_size"),
        (lambda: VisionTransformer(Config(**SIZES)), ValueError, "image_size, patch_size, n_cl"),
    ],
)
def test_a_config_that_does_not_fit_is_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


LONG = torch.zeros(1, 18, dtype=torch.int64)
TWO = torch.tensor([[1, 2]])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m([[1, 2]]), TypeError, "tensor of whole numbers, got list"),
        (lambda m: m(TWO.float()), TypeError, "float32"),
        (lambda m: m(TWO[0]), ValueError, r"\(batch, time\) .* \(2,\)"),
        (lambda m: m(TWO[:, :0]), ValueError, r"hold a token, got \(1, 0\)"),
        (lambda m: m(TWO + 11), ValueError, "0 to 12, got 12 to 13"),
        (lambda m: m(TWO - 2), ValueError, "got -1 to 0"),
        (lambda m: m(LONG), ValueError, "18 tokens are more than the model's max_length 17"),
        (lambda m: m(TWO, key_mask=torch.ones(1, 2)), TypeError, r"mask.bool\(\)"),
        (lambda m: m(TWO, key_mask=torch.ones(1, 3).bool()), ValueError, r"\(1, 2\), got \(1, 3\)"),
        (lambda m: m(TWO, head_mask=torch.ones(3, 2)), ValueError, r"\(2, 3\), got \(3, 2\)"),
        (lambda m: m(TWO, positions=torch.tensor([0, 17])), ValueError, "17"),
        (lambda m: m(TWO, memory=torch.zeros(1, 4, 12)), ValueError, "no cross-attention"),
        (lambda m: m.run_with_hooks(TWO, fwd_hooks=[("blocks.9", print)]), ValueError, "blocks.9"),
        (lambda m: m(TWO, cache=KVCache(2, 3, 3, 17, 4)), ValueError, "cache"),
        (lambda m: m(TWO, cache=KVCache(1, 1, 3, 17, 4)), ValueError, "layer 1"),
    ],
)
def test_a_call_that_does_not_fit_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call(decoder("gpt2"))


def test_other_models_name_what_does_not_fit():
    with pytest.raises(ValueError, match="no segments"):
        encoder(n_segments=0)(TWO, segments=TWO)
    with pytest.raises(ValueError, match="0 to 1, got 1 to 2"):
        encoder()(TWO, segments=TWO)
    with pytest.raises(ValueError, match=r"\(1, 2\), got \(1, 1\)"):
        encoder()(TWO, segments=TWO[:, :1])
    vision = VisionTransformer(Config(n_layers=1, d_model=6, n_heads=3, **IMAGES))
    with pytest.raises(ValueError, match=r"\(2, 6, 6\), got \(4, 1, 6, 6\)"):
        vision(torch.zeros(4, 1, 6, 6))
    with pytest.raises(ValueError, match=r"4 × 6 pixels .* 4"):
        image_patches(torch.zeros(1, 1, 4, 6), 4)
    pair = EncoderDecoder(Config(**SIZES))
    with pytest.raises(ValueError, match="memory_mask"):
        pair.decoder(TWO, memory=torch.zeros(1, 4, 12), memory_mask=torch.ones(1, 3).bool())

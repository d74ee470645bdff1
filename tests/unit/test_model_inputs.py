"""What reaches a model's layers: positions, masks, segments, images; and what is refused."""

import pytest
import torch

from minitransformer.blocks import FeedForward, SwiGLU, TransformerBlock
from minitransformer.models import (
    Config,
    Decoder,
    Encoder,
    EncoderDecoder,
    VisionTransformer,
    image_patches,
)

SIZES = {"vocab_size": 13, "n_layers": 2, "d_model": 12, "n_heads": 3, "max_length": 17}
IMAGES = {"image_size": 6, "patch_size": 2, "n_channels": 2, "n_classes": 5}
KINDS = ["learned", "sinusoidal", "rotary", "none"]
POSITIONS = torch.tensor([[0, 5, 2, 9, 16], [3, 1, 4, 7, 0]])


def model_of(kind, seed=0, **config):
    torch.manual_seed(seed)
    return kind(Config(**(SIZES | config))).eval()


def tokens_of(batch, time, seed=1):
    return torch.randint(13, (batch, time), generator=torch.Generator().manual_seed(seed))


# --- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Encoder, Decoder])
@pytest.mark.parametrize("positions", [POSITIONS, POSITIONS[0]], ids=["each text", "all texts"])
def test_positions_that_are_given_turn_queries_and_keys(kind, positions):
    model, tokens = model_of(kind, positions="rotary"), tokens_of(2, 5)
    x = model.embed.weight[tokens]
    for block in model.blocks:
        x = block(x, positions=positions)
    x = model.final_norm(x)
    expected = x if kind is Encoder else x @ model.embed.weight.T
    torch.testing.assert_close(model(tokens, positions=positions), expected)
    assert not torch.allclose(model(tokens), expected)


@pytest.mark.parametrize("kind", [Encoder, Decoder])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_positions_that_are_given_choose_the_vectors(kind, positions):
    model, tokens = model_of(kind, positions=positions), tokens_of(2, 5)
    _, cache = model.run_with_cache(tokens, positions=POSITIONS)
    assert torch.equal(cache["hook_pos_embed"], model.pos_embed(POSITIONS))


@pytest.mark.parametrize("positions", KINDS)
@pytest.mark.parametrize("kind", [Encoder, Decoder])
@pytest.mark.parametrize("shape", [(1,), (5, 4), (4, 1), (1, 1, 4), ()])
def test_positions_that_would_be_broadcast_are_refused(kind, positions, shape):
    """(1,) would put all tokens at one place, and (5, 4) make five texts of one."""
    model, tokens = model_of(kind, positions=positions), tokens_of(1, 4)
    with pytest.raises(ValueError, match=r"positions must have shape \(4,\) or \(1, 4\), got \("):
        model(tokens, positions=torch.zeros(shape).long())
    with pytest.raises(TypeError, match=r"positions must be whole numbers, got dtype .*float32"):
        model(tokens, positions=torch.zeros(1, 4))


# --- masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_padding_of_the_target_changes_nothing_for_real_tokens(positions):
    model = model_of(EncoderDecoder, positions=positions)
    source, target = tokens_of(1, 6), tokens_of(1, 4, seed=2)
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.int64), target], dim=1)
    mask = torch.tensor([[False] * 3 + [True] * 4])
    expected = model(source, target)
    logits = model(source, padded, target_mask=mask)
    torch.testing.assert_close(logits[:, 3:], expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(model(source, padded)[:, 3:], expected, atol=1e-3)


def test_the_head_mask_of_a_vision_transformer_scales_z():
    model, images = model_of(VisionTransformer, **IMAGES), torch.rand(4, 2, 6, 6)
    mask = torch.tensor([[1.0, 0.0, 0.5], [2.0, 1.0, 0.0]])
    hooks = [
        (f"blocks.{layer}.attn.hook_z", lambda z, hook, row=mask[layer]: z * row[:, None])
        for layer in range(2)
    ]
    expected = model.run_with_hooks(images, fwd_hooks=hooks)
    torch.testing.assert_close(model(images, head_mask=mask), expected)
    assert not torch.allclose(model(images), expected)


# --- what is refused -----------------------------------------------------------------------------

TWO = torch.tensor([[1, 2]])
MASK = torch.ones(2, 3)
PICTURES = torch.zeros(1, 2, 4, 6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: model_of(Decoder)(TWO, head_mask=[[1, 1, 1]]), TypeError, "head_mask .* list"),
        (lambda: model_of(Decoder)(TWO, cross_head_mask=MASK), ValueError, "cross_head_mask is"),
        (lambda: model_of(Decoder)(TWO, memory_mask=TWO > 0), ValueError, "memory_mask is for"),
        (
            lambda: TransformerBlock(6, 3)(torch.zeros(1, 2, 6), cross_head_mask=MASK[0]),
            ValueError,
            "no cross-attention, which cross_head_mask is for",
        ),
        (lambda: FeedForward(3, -1), ValueError, "d_ff must be at least 1, got -1"),
        (lambda: FeedForward(3, 1.5), TypeError, "d_ff must be a whole number, got 1.5"),
        (lambda: SwiGLU(0, 3), ValueError, "d_model must be at least 1, got 0"),
        (lambda: image_patches(PICTURES, 0), ValueError, "patch_size must be at least 1, got 0"),
        (lambda: image_patches(PICTURES, -2), ValueError, "patch_size must be .* got -2"),
        (lambda: image_patches(PICTURES, 1.5), TypeError, "patch_size must be a whole .* 1.5"),
        (lambda: image_patches([[1.0]], 2), TypeError, "images must be a tensor, got list"),
        (
            lambda: model_of(VisionTransformer, **IMAGES)(torch.zeros(1, 2, 6, 6).long()),
            TypeError,
            "images must be a tensor of floating-point numbers, got torch.int64",
        ),
        (lambda: Config(**SIZES, dropout="0.1"), TypeError, "dropout must be a number, got '0.1'"),
        (lambda: Config(**SIZES, norm_eps="1e-5"), TypeError, "norm_eps must be .* '1e-5'"),
        (lambda: Config(**SIZES, rope_base=True), TypeError, "rope_base must be .* got True"),
        (lambda: Config(**SIZES, bias="no"), TypeError, "bias must be True or False, got 'no'"),
        (lambda: Config(**SIZES, tied_head=1), TypeError, "tied_head must be .* got 1"),
    ],
)
def test_what_does_not_fit_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("segments", [TWO.float() * 0, TWO > 0, [[0, 1]]])
def test_segments_are_whole_numbers(segments):
    with pytest.raises(TypeError, match=r"segments must be .*whole numbers.*got"):
        model_of(Encoder, n_segments=2)(TWO, segments=segments)


def test_no_images_give_no_logits():
    model = model_of(VisionTransformer, **IMAGES)
    assert model(torch.zeros(0, 2, 6, 6)).shape == (0, 5)
    assert image_patches(PICTURES[:0], 2).shape == (0, 6, 8)

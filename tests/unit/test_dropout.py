"""Dropout in training, at each of its places in a model, and none in evaluation."""

import pytest
import torch

from minitransformer.models import Config, EncoderDecoder, VisionTransformer

SIZES = {"vocab_size": 13, "n_layers": 2, "d_model": 24, "n_heads": 3, "dropout": 0.25}
ADDED = {
    "embeddings": "hook_resid_pre",
    "attention": "hook_attn_out",
    "cross-attention": "hook_cross_attn_out",
    "feed-forward": "hook_mlp_out",
}


def activations(config, training):
    """What passes the hook points of an encoder and decoder that read random tokens."""
    torch.manual_seed(0)
    model = EncoderDecoder(config).train(training)
    source, target = torch.randint(13, (8, 19)), torch.randint(13, (8, 17))
    return model.run_with_cache(source, target)[1]


@pytest.mark.parametrize("norm_position", ["pre", "post"])
@pytest.mark.parametrize("place", ADDED)
def test_a_share_of_what_is_added_is_0_in_training_only(place, norm_position):
    config = Config(norm_position=norm_position, **SIZES)
    stacks = ["decoder"] if place == "cross-attention" else ["encoder", "decoder"]
    layers = [0] if place == "embeddings" else [0, 1]
    names = [f"{stack}.blocks.{layer}.{ADDED[place]}" for stack in stacks for layer in layers]
    for training, share in ((True, 0.25), (False, 0.0)):
        cache = activations(config, training)
        for name in names:
            zeros = (cache[name] == 0).float().mean().item()
            assert zeros == pytest.approx(share, abs=0.04 if training else 0), name


@pytest.mark.parametrize(
    "place", ["encoder.blocks.0.attn", "decoder.blocks.1.attn", "decoder.blocks.0.cross_attn"]
)
def test_weights_are_dropped_in_training_only(place):
    for training in (True, False):
        cache = activations(Config(**SIZES), training)
        pattern, value, z = (cache[f"{place}.hook_{name}"] for name in ("pattern", "v", "z"))
        whole = torch.einsum("bhqk,bkhd->bqhd", pattern, value)
        assert torch.allclose(z, whole, atol=1e-6) != training


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_only_a_model_with_dropout_gives_other_outputs_in_training(dropout):
    torch.manual_seed(0)
    sizes = SIZES | {"dropout": dropout, "image_size": 6, "patch_size": 2, "n_classes": 5}
    tokens, images = torch.randint(13, (2, 7)), torch.rand(2, 1, 6, 6)
    for model, given in (
        (EncoderDecoder(Config(**SIZES | {"dropout": dropout})), (tokens, tokens)),
        (VisionTransformer(Config(**sizes)), (images,)),
    ):
        expected = model.eval()(*given)
        assert torch.equal(model(*given), expected)
        assert torch.equal(model.train()(*given), expected) == (dropout == 0)

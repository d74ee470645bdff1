"""Chapter 11: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
import torch.nn.functional as F
from mutants import chapter_11 as mutants_11

from minitransformer.exercises import chapter_11
from minitransformer.models import Config, VisionTransformer, image_patches


# --- cut_patches
def cut_in_a_loop(images, size):
    return mutants_11.flat(mutants_11.cut(images, size))


def cut_by_torch(images, size):
    size = int(size)
    windows = torch.tensor(images).unfold(-2, size, size).unfold(-2, size, size)
    return windows.flatten(-2).flatten(-3, -2)


def cut_by_fold(images, size):
    flat = torch.tensor(images).reshape(-1, 1, *images.shape[-2:])
    patches = F.unfold(flat, int(size), stride=int(size)).mT
    return patches.reshape(*images.shape[:-2], *patches.shape[-2:])


# --- join_patches
def join_in_a_loop(patches, columns):
    return mutants_11.rows_of(patches, int(columns))


def join_by_place(patches, columns):
    side = int(np.sqrt(patches.shape[-1]))
    rows = patches.shape[-2] // columns
    image = np.zeros((*patches.shape[:-2], rows * side, columns * side))
    for place in range(patches.shape[-2]):
        top, left = side * (place // columns), side * (place % columns)
        square = patches[..., place, :].reshape(*patches.shape[:-2], side, side)
        image[..., top : top + side, left : left + side] = square
    return image


def join_by_einsum(patches, columns):
    side = int(np.sqrt(patches.shape[-1]))
    squares = patches.reshape(*patches.shape[:-2], -1, columns, side, side)
    lines = np.einsum("...rcij->...ricj", squares)
    return lines.reshape(*patches.shape[:-2], -1, columns * side)


# --- image_tokens
def tokens_by_hand(patches, w_embed, class_token, positions):
    return mutants_11.embedded(patches, w_embed, class_token) + positions


def tokens_by_torch(patches, w_embed, class_token, positions):
    patches, w_embed, first, positions = map(
        torch.tensor, (patches, w_embed, class_token, positions)
    )
    first = first.expand(*patches.shape[:-2], 1, -1)
    return torch.cat([first, patches @ w_embed], dim=-2) + positions


def tokens_in_place(patches, w_embed, class_token, positions):
    tokens = np.empty((*patches.shape[:-2], *positions.shape))
    tokens[..., 0, :] = class_token + positions[0]
    tokens[..., 1:, :] = patches @ w_embed + positions[1:]
    return tokens


# --- class_token_map
def map_by_hand(weights, columns):
    return mutants_11.fold(mutants_11.head_mean(weights)[..., 0, 1:], columns)


def map_by_torch(weights, columns):
    seen = torch.tensor(weights)[..., 0, :].mean(-2)
    seen = seen[..., 1:] / (1 - seen[..., :1])
    return seen.unflatten(-1, (-1, int(columns)))


def map_by_sums(weights, columns):
    seen = np.einsum("...hqk->...qk", weights)[..., 0, 1:]
    folded = seen.reshape(*seen.shape[:-1], -1, columns)
    return folded / folded.sum(axis=(-1, -2), keepdims=True)


RIGHT = {
    "cut_patches": [cut_in_a_loop, cut_by_torch, cut_by_fold],
    "join_patches": [join_in_a_loop, join_by_place, join_by_einsum],
    "image_tokens": [tokens_by_hand, tokens_by_torch, tokens_in_place],
    "class_token_map": [map_by_hand, map_by_torch, map_by_sums],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_11.EXERCISES}
MUTANTS = mutants_11.MUTANTS


def test_cutting_agrees_with_the_library():
    for case in EXERCISES["cut_patches"].cases:
        images, size = case.arguments()
        flat = torch.tensor(images).reshape(-1, 1, *images.shape[-2:])
        expected = image_patches(flat, int(size)).reshape(
            chapter_11.cut_patches(images, size).shape
        )
        np.testing.assert_array_equal(chapter_11.cut_patches(images, size), expected)


def test_joining_undoes_cutting():
    for case in EXERCISES["cut_patches"].cases:
        images, size = case.arguments()
        patches = chapter_11.cut_patches(images, size)
        joined = chapter_11.join_patches(patches, images.shape[-1] // size)
        np.testing.assert_array_equal(joined, images)


def test_tokens_agree_with_the_model():
    model = VisionTransformer(
        Config(n_layers=1, d_model=6, n_heads=3, image_size=8, patch_size=2, n_classes=5)
    )
    images = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    _, cache = model.run_with_cache(images, names=["blocks.0.hook_resid_pre"])
    parts = model.embed.weight.T, model.class_embed[0], model.pos_embed(torch.arange(17))
    got = chapter_11.image_tokens(
        image_patches(images, 2).numpy(), *(part.detach().numpy() for part in parts)
    )
    np.testing.assert_allclose(got, cache["blocks.0.hook_resid_pre"], rtol=1e-5, atol=1e-6)

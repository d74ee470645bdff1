"""Wrong answers to the exercises of chapter 11."""

import numpy as np
import torch

from mutants import Mutants

MUTANTS = Mutants()


def cut(images, size):
    """The patches, cut out one by one: (..., patch, row, column)."""
    height, width = images.shape[-2:]
    return np.stack(
        [
            images[..., top : top + size, left : left + size]
            for top in range(0, height, size)
            for left in range(0, width, size)
        ],
        axis=-3,
    )


def flat(squares):
    return squares.reshape(*squares.shape[:-2], -1)


def rows_of(patches, columns):
    """The image, patch beside patch and line below line."""
    side = int(patches.shape[-1] ** 0.5)
    squares = [
        patches[..., place, :].reshape(*patches.shape[:-2], side, side)
        for place in range(patches.shape[-2])
    ]
    lines = [
        np.concatenate(squares[start : start + columns], axis=-1)
        for start in range(0, len(squares), columns)
    ]
    return np.concatenate(lines, axis=-2)


# --- cut_patches ---------------------------------------------------------------------------------


@MUTANTS("cut_patches", "along whole rows of the image")
def cut_by_reshape_alone(images, size):
    *batch, height, width = images.shape
    return images.reshape(*batch, height * width // size**2, size * size)


@MUTANTS("cut_patches", "along whole rows of the image")
def cut_not_swapped(images, size):
    *batch, height, width = images.shape
    split = images.reshape(*batch, height // size, size, width // size, size)
    return split.reshape(*batch, -1, size * size)


@MUTANTS("cut_patches", "down the columns of the image")
def cut_down_the_columns(images, size):
    height, width = images.shape[-2:]
    squares = [
        images[..., top : top + size, left : left + size]
        for left in range(0, width, size)
        for top in range(0, height, size)
    ]
    return flat(np.stack(squares, axis=-3))


@MUTANTS("cut_patches", "turned round its diagonal")
def cut_turned(images, size):
    return flat(np.swapaxes(cut(images, size), -1, -2))


@MUTANTS("cut_patches", "Your windows overlap")
def cut_overlapping(images, size):
    height, width = images.shape[-2:]
    squares = [
        images[..., top : top + size, left : left + size]
        for top in range(height - size + 1)
        for left in range(width - size + 1)
    ]
    return flat(np.stack(squares, axis=-3))


@MUTANTS("cut_patches", "you made size × size patches")
def cut_into_size_parts(images, size):
    bands = np.split(images, size, axis=-2)
    squares = [square for band in bands for square in np.split(band, size, axis=-1)]
    return flat(np.stack(squares, axis=-3))


@MUTANTS("cut_patches", "still squares in a square")
def cut_not_laid_out(images, size):
    height, width = images.shape[-2:]
    bands = np.split(images, height // size, axis=-2)
    return np.stack(
        [np.stack(np.split(band, width // size, axis=-1), axis=-3) for band in bands], axis=-4
    )


# --- join_patches --------------------------------------------------------------------------------


@MUTANTS("join_patches", "lays a whole patch into the first line")
def join_by_reshape_alone(patches, columns):
    *batch, n_patches, width = patches.shape
    side = int(width**0.5)
    return patches.reshape(*batch, n_patches // columns * side, columns * side)


@MUTANTS("join_patches", "turned round its diagonal")
def join_turned(patches, columns):
    side = int(patches.shape[-1] ** 0.5)
    squares = patches.reshape(*patches.shape[:-1], side, side)
    return rows_of(flat(np.swapaxes(squares, -1, -2).copy()), columns)


@MUTANTS("join_patches", "column by column")
def join_down_the_columns(patches, columns):
    rows = patches.shape[-2] // columns
    order = [column * rows + row for row in range(rows) for column in range(columns)]
    return rows_of(patches[..., order, :], columns)


@MUTANTS("join_patches", "one below the other")
def join_with_rows_for_columns(patches, columns):
    return rows_of(patches, patches.shape[-2] // columns)


@MUTANTS("join_patches", "stand in one column")
def join_in_one_column(patches, columns):
    return rows_of(patches, 1)


@MUTANTS("join_patches", "stand in one line")
def join_in_one_line(patches, columns):
    return torch.tensor(rows_of(patches, patches.shape[-2]))


# --- image_tokens --------------------------------------------------------------------------------


def embedded(patches, w_embed, class_token, last=False):
    rows = np.einsum("...pc,cd->...pd", patches, w_embed)
    first = np.zeros_like(rows[..., :1, :]) + class_token
    return np.concatenate([rows, first] if last else [first, rows], axis=-2)


@MUTANTS("image_tokens", "stands at the end")
def tokens_class_last(patches, w_embed, class_token, positions):
    return embedded(patches, w_embed, class_token, last=True) + positions


@MUTANTS("image_tokens", "The positions are missing")
def tokens_without_positions(patches, w_embed, class_token, positions):
    return embedded(patches, w_embed, class_token)


@MUTANTS("image_tokens", "The class token has no position")
def tokens_class_without_position(patches, w_embed, class_token, positions):
    tokens = embedded(patches, w_embed, class_token)
    tokens[..., 1:, :] += positions[1:]
    return tokens


@MUTANTS("image_tokens", "and the class token the last")
def tokens_positions_shifted(patches, w_embed, class_token, positions):
    tokens = embedded(patches, w_embed, class_token)
    tokens[..., 1:, :] += positions[:-1]
    tokens[..., 0, :] += positions[-1]
    return tokens


@MUTANTS("image_tokens", "one token more than there are patches")
def tokens_without_class(patches, w_embed, class_token, positions):
    return patches @ w_embed + positions[1:]


@MUTANTS("image_tokens", "which is the class token's")
def tokens_without_class_shifted(patches, w_embed, class_token, positions):
    return patches @ w_embed + positions[: patches.shape[-2]]


@MUTANTS("image_tokens", "not multiplied")
def tokens_times_positions(patches, w_embed, class_token, positions):
    return torch.tensor(embedded(patches, w_embed, class_token)) * torch.tensor(positions)


@MUTANTS("image_tokens", "added the class token to the patches")
def tokens_class_added(patches, w_embed, class_token, positions):
    return patches @ w_embed + class_token + positions[1:]


# --- class_token_map -----------------------------------------------------------------------------


def fold(seen, columns):
    seen = seen / np.sum(seen, axis=-1)[..., None]
    return np.stack(np.split(seen, seen.shape[-1] // columns, axis=-1), axis=-2)


def head_mean(weights):
    return sum(weights[..., head, :, :] for head in range(weights.shape[-3])) / weights.shape[-3]


@MUTANTS("class_token_map", "You took the column")
def map_of_the_column(weights, columns):
    return fold(head_mean(weights)[..., 1:, 0], columns)


@MUTANTS("class_token_map", "You left out the last key")
def map_without_the_last(weights, columns):
    return fold(head_mean(weights)[..., 0, :-1], columns)


@MUTANTS("class_token_map", "You took the last query")
def map_of_the_last_query(weights, columns):
    return fold(head_mean(weights)[..., -1, 1:], columns)


@MUTANTS("class_token_map", "averaged over all queries")
def map_of_all_queries(weights, columns):
    return fold(np.einsum("...qk->...k", head_mean(weights)[..., 1:]), columns)


@MUTANTS("class_token_map", "does not sum to 1")
def map_not_shared_out(weights, columns):
    seen = head_mean(weights)[..., 0, 1:]
    return fold(seen, columns) * seen.sum(axis=-1)[..., None, None]


@MUTANTS("class_token_map", "before the mean")
def map_shared_out_early(weights, columns):
    seen = weights[..., 0, 1:]
    seen = torch.tensor(seen / np.sum(seen, axis=-1)[..., None]).mean(dim=-2)
    return fold(seen.numpy(), columns)


@MUTANTS("class_token_map", "filled column by column")
def map_down_the_columns(weights, columns):
    seen = head_mean(weights)[..., 0, 1:]
    seen = seen / seen.sum(axis=-1)[..., None]
    rows = seen.shape[-1] // columns
    return np.stack([seen[..., row::rows] for row in range(rows)], axis=-2)


@MUTANTS("class_token_map", "One map for each head")
def map_of_each_head(weights, columns):
    return fold(weights[..., 0, 1:], columns)


@MUTANTS("class_token_map", "the largest weight of any head")
def map_of_the_largest(weights, columns):
    return fold(np.max(weights, axis=-3)[..., 0, 1:], columns)

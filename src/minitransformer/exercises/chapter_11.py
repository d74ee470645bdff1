"""Chapter 11: cut an image, join it again, make tokens of it, fold weights back to a map."""

import numpy as np

from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def cut_patches(images, size):
    *batch, height, width = images.shape
    rows, columns = height // size, width // size
    squares = images.reshape(*batch, rows, size, columns, size)
    return np.swapaxes(squares, -2, -3).reshape(*batch, rows * columns, size**2)


def join_patches(patches, columns):
    *batch, n_patches, width = patches.shape
    size, rows = round(np.sqrt(width)), n_patches // columns
    squares = patches.reshape(*batch, rows, columns, size, size)
    return np.swapaxes(squares, -2, -3).reshape(*batch, rows * size, columns * size)


def image_tokens(patches, w_embed, class_token, positions):
    embedded = patches @ w_embed
    first = np.broadcast_to(class_token, embedded[..., :1, :].shape)
    return np.concatenate([first, embedded], axis=-2) + positions


def class_token_map(weights, columns):
    seen = weights[..., 0, 1:].mean(axis=-2)
    seen = seen / seen.sum(axis=-1, keepdims=True)
    return seen.reshape(*seen.shape[:-1], -1, columns)


# --- what goes wrong -----------------------------------------------------------------------------


def _squares(images, size):
    """(..., row of patches, column of patches, row in the patch, column in the patch)."""
    *batch, height, width = images.shape
    squares = images.reshape(*batch, height // size, size, width // size, size)
    return np.swapaxes(squares, -2, -3)


def _laid(squares):
    *batch, rows, columns, high, wide = squares.shape
    return squares.reshape(*batch, rows * columns, high * wide)


CUTTING = (
    Misconception(
        "You reshaped straight to (patch, size²). That takes pixels in the order in which they lie "
        "in memory, along whole rows of the image. Split rows and columns first: (rows, size, "
        "columns, size), then swap the two in the middle.",
        lambda images, size: images.reshape(*images.shape[:-2], -1, int(size) ** 2),
    ),
    Misconception(
        "The patches go down the columns of the image. Go row by row: the second patch lies to "
        "the right of the first.",
        lambda images, size: _laid(np.swapaxes(_squares(images, size), -3, -4)),
    ),
    Misconception(
        "Each patch is turned round its diagonal: its pixels go column by column. Take them row "
        "by row.",
        lambda images, size: _laid(np.swapaxes(_squares(images, size), -1, -2)),
    ),
    Misconception(
        "Your windows overlap: they move on by one pixel. Patches lie side by side and move on by "
        "their size.",
        lambda images, size: _laid(
            np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(-2, -1))
        ),
    ),
    Misconception(
        "size is the side of a patch in pixels; you made size × size patches.",
        lambda images, size: _laid(
            np.swapaxes(
                images.reshape(
                    *images.shape[:-2],
                    size,
                    images.shape[-2] // size,
                    size,
                    images.shape[-1] // size,
                ),
                -2,
                -3,
            )
        ),
    ),
    Misconception(
        "The patches are right, but still squares in a square. Lay them in a row, and the pixels "
        "of each too: (..., patch, size²).",
        _squares,
    ),
)

JOINING = (
    Misconception(
        "You reshaped straight to the image. That lays a whole patch into the first line. Make "
        "(rows, columns, size, size) first, then swap the two in the middle.",
        lambda patches, columns: patches.reshape(*join_patches(patches, columns).shape),
    ),
    Misconception(
        "Each patch is turned round its diagonal: its pixels go row by row.",
        lambda patches, columns: join_patches(
            _laid(np.swapaxes(_squares(join_patches(patches, columns), _side(patches)), -1, -2)),
            columns,
        ),
    ),
    Misconception(
        "You filled the image column by column. The second patch lies to the right of the first.",
        lambda patches, columns: join_patches(
            np.swapaxes(
                patches.reshape(*patches.shape[:-2], columns, -1, patches.shape[-1]), -2, -3
            ).reshape(patches.shape),
            columns,
        ),
    ),
    Misconception(
        "columns is the number of patches side by side; you took it for the number of patches one "
        "below the other.",
        lambda patches, columns: join_patches(patches, patches.shape[-2] // columns),
    ),
    Misconception(
        "The patches stand in one column, one below the other. Put as many side by side as "
        "columns says.",
        lambda patches, columns: patches.reshape(*patches.shape[:-2], -1, _side(patches)),
    ),
    Misconception(
        "The patches stand in one line, all side by side. After as many as columns says comes "
        "the next.",
        lambda patches, columns: join_patches(patches, patches.shape[-2]),
    ),
)


def _side(patches):
    return round(np.sqrt(patches.shape[-1]))


def _with(embed=np.matmul, join=None, place=np.add):
    """The tokens with one part replaced."""

    def formula(patches, w_embed, class_token, positions):
        embedded = embed(patches, w_embed)
        first = np.broadcast_to(class_token, embedded[..., :1, :].shape)
        parts = [first, embedded] if join is None else join(first, embedded)
        return place(np.concatenate(parts, axis=-2), positions)

    return formula


def _late(patches, w_embed, class_token, positions):
    embedded = patches @ w_embed + positions[1:]
    first = np.broadcast_to(class_token, embedded[..., :1, :].shape)
    return np.concatenate([first, embedded], axis=-2)


MAKING_TOKENS = (
    Misconception(
        "The class token stands at the end. It comes first, before the patches.",
        _with(join=lambda first, embedded: [embedded, first]),
    ),
    Misconception(
        "The positions are missing: without them an image is a bag of patches.",
        _with(place=lambda tokens, positions: tokens),
    ),
    Misconception(
        "The class token has no position here. Put it first, then add the positions to all.", _late
    ),
    Misconception(
        "The patches got the first positions, and the class token the last. Put the class token "
        "first, then add.",
        _with(place=lambda tokens, positions: tokens + np.roll(positions, 1, axis=0)),
    ),
    Misconception(
        "The class token is missing: there is one token more than there are patches.",
        _with(
            join=lambda first, embedded: [embedded], place=lambda tokens, where: tokens + where[1:]
        ),
    ),
    Misconception(
        "The class token is missing, and the patches got the positions from the first on, which "
        "is the class token's.",
        _with(
            join=lambda first, embedded: [embedded], place=lambda tokens, where: tokens + where[:-1]
        ),
    ),
    Misconception("The positions are added, not multiplied.", _with(place=np.multiply)),
    Misconception(
        "You added the class token to the patches. It is a token of its own, in front of them.",
        _with(
            join=lambda first, embedded: [first + embedded],
            place=lambda tokens, where: tokens + where[1:],
        ),
    ),
)


def _mapped(seen, columns):
    seen = seen / seen.sum(axis=-1, keepdims=True)
    return seen.reshape(*seen.shape[:-1], -1, columns)


MAPPING = (
    Misconception(
        "You took the column of the class token: how the patches look at it. Its own weights are "
        "its row: weights[..., 0, 1:].",
        lambda weights, columns: _mapped(weights[..., 1:, 0].mean(axis=-2), columns),
    ),
    Misconception(
        "You left out the last key. The class token is the first: 1: and not :-1.",
        lambda weights, columns: _mapped(weights[..., 0, :-1].mean(axis=-2), columns),
    ),
    Misconception(
        "You took the last query. The class token is the first.",
        lambda weights, columns: _mapped(weights[..., -1, 1:].mean(axis=-2), columns),
    ),
    Misconception(
        "You averaged over all queries. The map is that of the class token alone.",
        lambda weights, columns: _mapped(weights[..., 1:].mean(axis=(-2, -3)), columns),
    ),
    Misconception(
        "The map does not sum to 1: what the class token gives to itself is left out, so divide by "
        "the sum of the rest.",
        lambda weights, columns: (
            weights[..., 0, 1:].mean(axis=-2).reshape(*weights.shape[:-3], -1, columns)
        ),
    ),
    Misconception(
        "Each head was brought to a sum of 1 before the mean. Take the mean first: a head that "
        "looks at itself a lot then counts less.",
        lambda weights, columns: _mapped(
            (weights[..., 0, 1:] / weights[..., 0, 1:].sum(axis=-1, keepdims=True)).mean(axis=-2),
            columns,
        ),
    ),
    Misconception(
        "The map is filled column by column. Patches go row by row.",
        lambda weights, columns: np.swapaxes(
            _mapped(weights[..., 0, 1:].mean(axis=-2), (weights.shape[-1] - 1) // columns),
            -1,
            -2,
        ),
    ),
    Misconception(
        "One map for each head came back. Take the mean over the heads.",
        lambda weights, columns: _mapped(weights[..., 0, 1:], columns),
    ),
    Misconception(
        "That is the largest weight of any head, not their mean.",
        lambda weights, columns: _mapped(weights[..., 0, 1:].max(axis=-2), columns),
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ, so that no two can be mixed up unseen.


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-19, 20, shape) / 10


def _weights(seed, *shape):
    exponentials = np.exp(_draw(seed, *shape))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _tokens(seed, n_patches, pixels, d_model, *batch):
    return {
        "patches": _draw(seed, *batch, n_patches, pixels),
        "w_embed": _draw(seed + 1, pixels, d_model),
        "class_token": _draw(seed + 2, d_model),
        "positions": _draw(seed + 3, n_patches + 1, d_model),
    }


IMAGES = (
    Case("an image of 6 × 8 pixels, patches of 2", {"images": _draw(1, 6, 8), "size": np.array(2)}),
    Case("a batch of two", {"images": _draw(2, 2, 6, 12), "size": np.array(3)}),
)
ROWS = (
    Case("twelve patches, four side by side", {"patches": _draw(3, 12, 9), "columns": np.array(4)}),
    Case("a batch of five", {"patches": _draw(4, 5, 6, 4), "columns": np.array(3)}),
)
TOKENS = (
    Case("six patches", _tokens(10, 6, 4, 3)),
    Case("a batch of two", _tokens(20, 6, 9, 5, 2)),
)
MAPS = (
    Case(
        "six patches, three side by side", {"weights": _weights(5, 4, 7, 7), "columns": np.array(3)}
    ),
    Case("a batch of two", {"weights": _weights(6, 2, 3, 9, 9), "columns": np.array(4)}),
)

EXERCISES = (
    Exercise(
        "square patches, size pixels a side, row by row, each a vector of its pixels, row by "
        "row: (..., patch, size²).",
        cut_patches,
        IMAGES,
        CUTTING,
    ),
    Exercise(
        "the images that the patches were cut from, as many side by side as columns says. It "
        "undoes "
        "cut_patches.",
        join_patches,
        ROWS,
        JOINING,
    ),
    Exercise(
        "what the first block gets, (..., 1 + patch, d_model): the class token, then the patches "
        "times w_embed, and the positions added to all of them.",
        image_tokens,
        TOKENS,
        MAKING_TOKENS,
    ),
    Exercise(
        "how the class token's weight is shared out among the patches, as a map (..., rows, "
        "columns) that sums to 1: the mean over the heads, without what it gives to itself.",
        class_token_map,
        MAPS,
        MAPPING,
    ),
)

"""Chapter 10: heads for every query, the size of a cache, one step with it, and merged heads."""

import numpy as np

from ..reference import softmax
from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def repeat_kv(kv, n_heads):
    return np.repeat(kv, n_heads // kv.shape[-3], axis=-3)


def kv_cache_bytes(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_number


def cached_step(x, keys, values, w_q, w_k, w_v):
    x = x[..., None, :]
    keys = np.concatenate([keys, x @ w_k], axis=-2)
    values = np.concatenate([values, x @ w_v], axis=-2)
    weights = softmax(x @ w_q @ np.swapaxes(keys, -1, -2) / np.sqrt(keys.shape[-1]))
    return (weights @ values)[..., 0, :]


def merge_heads_of_groups(heads, n_left):
    n_heads, d_head, d_model = heads.shape
    return heads.reshape(n_left, n_heads // n_left, d_head, d_model).mean(axis=1)


# --- what goes wrong -----------------------------------------------------------------------------

NOT_THIRD_FROM_THE_END = (
    "You count the axes from the front; with a batch there, the heads have another number. They "
    "are the third axis from the end: axis=-3."
)


def _tiled(kv, n_heads):
    return np.concatenate([kv] * int(n_heads // kv.shape[-3]), axis=-3)


REPEATING = (
    Misconception(
        "You laid all the heads behind one another and began again: 0 1 2 0 1 2. Neighbours "
        "share a head, so the order is 0 0 1 1 2 2.",
        _tiled,
    ),
    Misconception(
        NOT_THIRD_FROM_THE_END,
        lambda kv, n_heads: np.repeat(kv, n_heads // kv.shape[0], axis=0),
    ),
    Misconception(
        NOT_THIRD_FROM_THE_END,
        lambda kv, n_heads: np.repeat(kv, n_heads // kv.shape[-3], axis=0),
    ),
    Misconception(
        "Every head is there n_heads times. There are to be n_heads in all, so each comes "
        "n_heads / n_kv_heads times.",
        lambda kv, n_heads: np.repeat(kv, n_heads, axis=-3),
    ),
    Misconception(
        "You repeated the tokens. The heads are the third axis from the end: axis=-3.",
        lambda kv, n_heads: np.repeat(kv, n_heads // kv.shape[-3], axis=-2),
    ),
    Misconception(
        "You repeated the numbers inside a head. The heads are the third axis from the end: "
        "axis=-3.",
        lambda kv, n_heads: np.repeat(kv, n_heads // kv.shape[-3], axis=-1),
    ),
    Misconception(
        "Every query head got the first head of keys. Only the first group shares that one.",
        lambda kv, n_heads: np.repeat(kv[..., :1, :, :], n_heads, axis=-3),
    ),
    Misconception(
        "These are the heads as they came. Each is to be there for every query head of its group.",
        lambda kv, n_heads: kv,
    ),
)

WEIGHING = (
    Misconception(
        "Keys *and* values are kept: the factor 2 is missing.",
        lambda layers, heads, kv, d, n, size: layers * kv * d * n * size,
    ),
    Misconception(
        "You counted the query heads. Queries are not kept; the heads in the cache are those of "
        "keys and values.",
        lambda layers, heads, kv, d, n, size: 2 * layers * heads * d * n * size,
    ),
    Misconception(
        "That is one layer. Every layer keeps keys and values of its own.",
        lambda layers, heads, kv, d, n, size: 2 * kv * d * n * size,
    ),
    Misconception(
        "These are numbers, not bytes: multiply by bytes_per_number.",
        lambda layers, heads, kv, d, n, size: 2 * layers * kv * d * n,
    ),
    Misconception(
        "That is one token. The cache holds n_tokens of them.",
        lambda layers, heads, kv, d, n, size: 2 * layers * kv * d * size,
    ),
    Misconception(
        "That grows with the square of the tokens, as scores do. Scores are not kept; each token "
        "adds one key and one value a head.",
        lambda layers, heads, kv, d, n, size: 2 * layers * kv * d * n * n * size,
    ),
    Misconception(
        "These are bits; a byte has 8 of them.",
        lambda layers, heads, kv, d, n, size: 16 * layers * kv * d * n * size,
    ),
    Misconception(
        "That is the size without sharing, divided by the group size once too often: n_kv_heads "
        "already counts the heads that are left.",
        lambda layers, heads, kv, d, n, size: 2 * layers * kv * d * n * size * kv / heads,
    ),
)


def _step(own_key=True, own_value=True, scale=True, swap=False):
    """One step with a part left out."""

    def formula(x, keys, values, w_q, w_k, w_v):
        x = x[..., None, :]
        if own_key:
            keys = np.concatenate([keys, x @ w_k], axis=-2)
        if own_value:
            values = np.concatenate([values, x @ w_v], axis=-2)
        if swap:
            keys, values = values, keys
        root = np.sqrt(keys.shape[-1]) if scale else 1
        return (softmax(x @ w_q @ np.swapaxes(keys, -1, -2) / root) @ values)[..., 0, :]

    return formula


def _axis_left(x, *others):
    return cached_step(x, *others)[..., None, :]


STEPPING = (
    Misconception(
        "The newest token does not see itself: append its own key and value to the cache before "
        "you attend.",
        _step(own_key=False, own_value=False),
    ),
    Misconception(
        "The key of the newest token is in the cache, but not its value: weights and values do "
        "not fit. Append both.",
        _step(own_value=False),
    ),
    Misconception(
        "The value of the newest token is in the cache, but not its key: weights and values do "
        "not fit. Append both.",
        _step(own_key=False),
    ),
    Misconception(
        "The scale is missing: divide the dot products by the square root of the keys' width.",
        _step(scale=False),
    ),
    Misconception(
        "Keys and values are exchanged: queries are compared with keys, and values are mixed.",
        _step(swap=True),
    ),
    Misconception(
        "That is the value of the newest token alone. It attends to all tokens in the cache, too.",
        lambda x, keys, values, w_q, w_k, w_v: x @ w_v,
    ),
    Misconception(
        "There is an axis too many: x is one token, and so is the output. Take the time axis off "
        "again: [..., 0, :].",
        _axis_left,
    ),
    Misconception(
        "You averaged the values. Weights come from the softmax of the scores.",
        lambda x, keys, values, w_q, w_k, w_v: np.concatenate(
            [values, (x @ w_v)[..., None, :]], axis=-2
        ).mean(axis=-2),
    ),
)


def _every_nth(heads, n_left):
    return np.stack([heads[start::n_left].mean(axis=0) for start in range(n_left)])


MERGING = (
    Misconception(
        "You averaged every n-th head. A group is made of neighbours: the first "
        "n_heads / n_left heads are group 0.",
        _every_nth,
    ),
    Misconception(
        "You added the heads of a group up: divide by how many there are.",
        lambda heads, n_left: merge_heads_of_groups(heads, n_left) * (len(heads) // n_left),
    ),
    Misconception(
        "You kept the first head of each group. Here their mean is asked for.",
        lambda heads, n_left: heads[:: len(heads) // n_left],
    ),
    Misconception(
        "You kept the first n_left heads. Each group is to give one head, the mean of its own.",
        lambda heads, n_left: heads[:n_left],
    ),
    Misconception(
        "You averaged all heads into one and copied it. Each group has a mean of its own.",
        lambda heads, n_left: np.repeat(heads.mean(axis=0, keepdims=True), n_left, axis=0),
    ),
    Misconception(
        "The groups have n_left heads each. There are to be n_left groups.",
        lambda heads, n_left: heads.reshape(-1, int(n_left), *heads.shape[1:]).mean(axis=1),
    ),
    Misconception(
        "The group axis is still there with size 1: leave keepdims out.",
        lambda heads, n_left: merge_heads_of_groups(heads, n_left)[:, None],
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ, so that no two can be mixed up unseen.


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-19, 20, shape) / 10


def _sizes(*numbers):
    names = ("n_layers", "n_heads", "n_kv_heads", "d_head", "n_tokens", "bytes_per_number")
    return {name: np.array(number) for name, number in zip(names, numbers, strict=True)}


def _cached(seed, d_model, d_head, n_before, *batch):
    return {
        "x": _draw(seed, *batch, d_model),
        "keys": _draw(seed + 1, *batch, n_before, d_head),
        "values": _draw(seed + 2, *batch, n_before, d_head),
        "w_q": _draw(seed + 3, d_model, d_head),
        "w_k": _draw(seed + 4, d_model, d_head),
        "w_v": _draw(seed + 5, d_model, d_head),
    }


GROUPS = (
    Case(
        "three heads of keys for six of queries", {"kv": _draw(1, 3, 5, 2), "n_heads": np.array(6)}
    ),
    Case("one head of keys for all", {"kv": _draw(2, 1, 5, 3), "n_heads": np.array(4)}),
    Case("a batch of two", {"kv": _draw(3, 2, 3, 5, 4), "n_heads": np.array(12)}),
)
SIZES = (
    Case("a model of 5 layers", _sizes(5, 12, 4, 6, 7, 8)),
    Case("SmolLM2, 1000 tokens, two bytes a number", _sizes(30, 9, 3, 64, 1000, 2)),
)
STEPS = (
    Case("four tokens in the cache", _cached(10, 5, 3, 4)),
    Case("a batch of two", _cached(20, 7, 4, 6, 2)),
)
HEADS = (
    Case("six heads into three", {"heads": _draw(30, 6, 4, 5), "n_left": np.array(3)}),
    Case("six heads into two", {"heads": _draw(31, 6, 3, 7), "n_left": np.array(2)}),
    Case("four heads into one", {"heads": _draw(32, 4, 3, 5), "n_left": np.array(1)}),
)

EXERCISES = (
    Exercise(
        "the keys or values with a head for every query head, (..., n_heads, token, d_head): each "
        "head n_heads / n_kv_heads times, copies side by side.",
        repeat_kv,
        GROUPS,
        REPEATING,
    ),
    Exercise(
        "the bytes of a cache for one text of n_tokens.",
        kv_cache_bytes,
        SIZES,
        WEIGHING,
    ),
    Exercise(
        "the output (..., d_head) of the newest token x, which also sees itself. keys and values "
        "are those of the tokens before.",
        cached_step,
        STEPS,
        STEPPING,
    ),
    Exercise(
        "n_left heads, (n_left, d_head, d_model): the mean of each group of neighbours.",
        merge_heads_of_groups,
        HEADS,
        MERGING,
    ),
)

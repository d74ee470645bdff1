"""Assignment 2: windows, packed texts, hidden slots, a test for leaks, a cache text by text.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

import numpy as np

from ..reference import scaled_dot_product_attention
from ._exercise import Case, numbers
from ._masking_mistakes import CACHED, PACKED, WINDOWS, leaking, slots
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


def _rows(text):
    """A mask from text, a row for each word: "1.. 11." is [[True, False, False], ...]."""
    return np.array([[letter == "1" for letter in row] for row in text.split()])


def _window(about, n_queries, n_keys, q_offset, left, n_first):
    names = "n_queries", "n_keys", "q_offset", "left", "n_first"
    numbers = n_queries, n_keys, q_offset, left, n_first
    return Case(about, dict(zip(names, numbers, strict=True)))


WINDOW_ANSWERS = (
    (
        _window("six tokens from the start, a window of 2, 1 first token", 6, 6, 0, 2, 1),
        _rows("1..... 11.... 111... 1111.. 1.111. 1..111"),
    ),
    (
        _window("3 queries after 4 older tokens, 2 first tokens", 3, 9, 4, 1, 2),
        _rows("11.11.... 11..11... 11...11.."),
    ),
    (
        _window("first tokens that are still to come", 3, 8, 1, 0, 4),
        _rows("11...... 111..... 1111...."),
    ),
)


def _packed(about, text):
    return Case(about, {"documents": np.array([[int(one) for one in row] for row in text.split()])})


PACKED_ANSWERS = (
    (_packed("two texts of two tokens", "1122"), [[_rows("1... 11.. ..1. ..11")]]),
    (
        _packed("padding on the right and on the left", "11230 00122"),
        [
            [_rows("1.... 11... ..1.. ...1. .....")],
            [_rows("..... ..... ..1.. ...1. ...11")],
        ],
    ),
)


def _slots(about, query, key, value, mask):
    return Case(about, {"query": query, "key": key, "value": value, "mask": mask})


_READ = np.stack([_rows("111.. 1111. 1111."), _rows(".111. .111. .111.")])[:, None]
_UNREAD = np.broadcast_to(~_READ.any(axis=-2)[..., None], (2, 2, 5, 1))

SLOT_ANSWERS = (
    (
        _slots(
            "3 queries, 4 keys",
            numbers(1, 3, 2),
            numbers(2, 4, 2),
            numbers(3, 4, 5),
            _rows("1.1. 111. ..11"),
        ),
        [
            [0.6561709, -1.3826371, -0.322384, 1.4251055, -0.0588924],
            [-1.5295873, 1.0903093, 1.1623718, -1.4278079, -0.8075338],
            [1.7146812, 0.5030468, -1.8875343, -0.0340719, 1.8681437],
        ],
    ),
    (
        _slots(
            "a query that may attend to nothing",
            numbers(4, 3, 2),
            numbers(5, 4, 2),
            numbers(6, 4, 5),
            _rows("11.. .... 1..1"),
        ),
        [
            [-0.3472269, 1.7067832, -0.1617748, -1.6562286, 0.5808874],
            [0.0, 0.0, 0.0, 0.0, 0.0],
            [-0.5842872, 2.0, -0.0137487, -1.9960718, 0.5117846],
        ],
    ),
    (
        _slots(
            "slots with NaN and infinity that nobody may read",
            numbers(7, 2, 2, 3, 4),
            np.where(_UNREAD, np.nan, numbers(8, 2, 2, 5, 4)),
            np.where(_UNREAD, [np.nan, np.inf, -np.inf], numbers(9, 2, 2, 5, 3)),
            _READ,
        ),
        [
            [
                [
                    [0.9822984, -1.5383144, -0.5836086],
                    [1.0645095, -1.3337622, -0.7228436],
                    [1.2175652, -0.8297202, -1.011595],
                ],
                [
                    [0.4349405, -1.6217769, -0.0380922],
                    [0.3180903, -1.7183258, 0.1062244],
                    [0.3637594, -1.7553176, 0.0699035],
                ],
            ],
            [
                [
                    [0.1875408, 1.6323156, -0.5877946],
                    [0.5057491, 1.1236056, -0.7843811],
                    [1.0894578, -0.0509749, -1.0986224],
                ],
                [
                    [0.7342114, 1.4677203, -1.1423705],
                    [0.6787009, 1.5421075, -1.1074535],
                    [0.7261979, 1.4220405, -1.1221636],
                ],
            ],
        ],
    ),
)

# --- attentions to be tested for leaks -----------------------------------------------------------


def no_mask(x):
    return scaled_dot_product_attention(x, x, x)[0]


def causal(x):
    return scaled_dot_product_attention(x, x, x, np.tri(len(x), dtype=bool))[0]


def one_token_too_far(x):
    return scaled_dot_product_attention(x, x, x, np.tri(len(x), k=1, dtype=bool))[0]


def masked_after_the_softmax(x):
    _, weights = scaled_dot_product_attention(x, x, x)
    return np.tril(weights) @ x


def third_output_sees_the_fifth_token(x):
    output = causal(x)
    if len(x) > 4:
        output[2] += x[4]
    return output


def _normed(x):
    centred = x - np.mean(x, axis=-1)[:, None]
    return centred / (np.linalg.norm(centred, axis=-1)[:, None] + 1e-9)


def no_mask_tokens_normalised(x):
    return no_mask(_normed(x))


def causal_tokens_normalised(x):
    return causal(_normed(x))


def causal_but_for_rounding(x):
    return causal(x) + 1e-11 * x.sum()


def causal_with_a_weak_leak(x):
    return causal(x) + 1e-4 * x[-1:]


_LEAKS = (
    (no_mask, True),
    (causal, False),
    (one_token_too_far, True),
    (masked_after_the_softmax, True),
    (third_output_sees_the_fifth_token, True),
    (causal_tokens_normalised, False),
    (no_mask_tokens_normalised, True),
    (causal_but_for_rounding, False),
    (causal_with_a_weak_leak, True),
)
LEAK_ANSWERS = tuple(
    (
        Case(
            f"an attention, {attention.__name__.replace('_', ' ')}",
            {"attention": attention, "x": numbers(place, 6 + place % 2, 3)},
        ),
        expected,
    )
    for place, (attention, expected) in enumerate(_LEAKS)
)


def _cache(about, lengths, n_new, n_slots):
    return Case(about, {"lengths": np.array(lengths), "n_new": n_new, "n_slots": n_slots})


CACHE_ANSWERS = (
    (
        _cache("two texts, two new tokens each", [0, 2], 2, 5),
        [[_rows("1.... 11...")], [_rows("111.. 1111.")]],
    ),
    (
        _cache("three texts, one new token each", [3, 1, 6], 1, 7),
        [[_rows("1111...")], [_rows("11.....")], [_rows("1111111")]],
    ),
)


def _known(place):
    """The kept answers of a question, for the mistakes that start from them."""
    return lambda *arguments: EXERCISES[place].solution(*arguments)


EXERCISES = (
    stored_exercise(
        "window_mask",
        "the boolean mask (query, key): itself and left keys before it, and the first n_first "
        "keys, never a later one.",
        WINDOW_ANSWERS,
        WINDOWS,
        (
            (_window("a negative left", 3, 3, 0, -2, 1), ValueError),
            (_window("a negative n_first", 3, 3, 0, 1, -2), ValueError),
        ),
    ),
    stored_exercise(
        "packed_mask",
        "the boolean mask (batch, 1, time, time): tokens of the same text up to itself.",
        PACKED_ANSWERS,
        PACKED,
    ),
    stored_exercise(
        "masked_attention",
        "the output (..., query, d_v), as if the slots that no query may attend to held 0.",
        SLOT_ANSWERS,
        slots(_known(2)),
    ),
    stored_exercise(
        "looks_ahead",
        "True if an output of attention depends on a later token, and False if none does.",
        LEAK_ANSWERS,
        leaking(_known(3)),
    ),
    stored_exercise(
        "cache_mask",
        "the boolean mask (batch, 1, n_new, n_slots): all slots up to the token's own.",
        CACHE_ANSWERS,
        CACHED,
    ),
)

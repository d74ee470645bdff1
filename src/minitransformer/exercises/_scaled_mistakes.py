"""What goes wrong in assignment 1: the wrong formulas, and what their writers are told."""

import numpy as np

from ..reference import scaled_dot_product_attention, softmax
from ._exercise import Misconception
from ._formulas import rescaled

__all__ = ["ALONG", "HALF", "finding", "passing", "without"]


# --- softmax_along -------------------------------------------------------------------------------


def _bare(scores, axis):
    """Without the largest score subtracted."""
    return rescaled(np.exp(scores), axis)


ALONG = (
    Misconception(
        "The temperature is missing: it divides the scores.",
        lambda scores, axis, temperature: softmax(scores, axis),
    ),
    Misconception(
        "You multiplied by the temperature. A high one makes weights more alike: divide by it.",
        lambda scores, axis, temperature: softmax(scores * temperature, axis),
    ),
    Misconception(
        "You divided the weights by the temperature, so that they no longer sum to 1. It divides "
        "the scores.",
        lambda scores, axis, temperature: softmax(scores, axis) / temperature,
    ),
    Misconception(
        "Your softmax always runs along the last axis: pass axis on to max and to sum.",
        lambda scores, axis, temperature: softmax(scores / temperature),
    ),
    Misconception(
        "Your softmax runs over all scores at once: pass axis on to the sum.",
        lambda scores, axis, temperature: _bare(scores / temperature, None),
    ),
    Misconception(
        "The sum has lost its axis, so it does not line up with the scores: keepdims=True.",
        lambda scores, axis, temperature: (
            np.exp(scores / temperature) / np.exp(scores / temperature).sum(axis=axis)
        ),
    ),
    Misconception(
        "exp overflows for large scores, and very negative ones all become 0. Subtract the largest "
        "along axis first; that changes no weight.",
        lambda scores, axis, temperature: _bare(scores / temperature, axis),
    ),
    Misconception(
        "You subtracted the largest of all scores, so places far below it become 0 everywhere. "
        "Subtract the largest along axis.",
        lambda scores, axis, temperature: _bare((scores - scores.max()) / temperature, axis),
    ),
    Misconception(
        "Divided by a temperature close to 0, the scores become infinite before anything is "
        "subtracted. Which of the two steps has to come first?",
        lambda scores, axis, temperature: (
            softmax(scores / temperature, axis)
            if temperature > 1e-300
            else np.full(scores.shape, np.nan)
        ),
    ),
)

# --- half_scores ---------------------------------------------------------------------------------


def _products(query, key):
    """The dot products in float64, in which nothing overflows here."""
    return np.einsum("...qd,...kd->...qk", query.astype(float), key.astype(float))


def _in_half(scores):
    return scores.astype(np.float16)


TOO_LATE = (
    "The product was too large for float16 before you divided: infinity stays infinity. Make the "
    "numbers smaller first, then multiply."
)

HALF = (
    Misconception("The scale is missing: divide by the square root of d_k.", _products),
    Misconception(
        "The scale is missing: divide by the square root of d_k.",
        lambda query, key: _in_half(_products(query, key)),
    ),
    Misconception(
        "You divided by d_k in all (by its root on both sides, perhaps). The scores are divided by "
        "its root once.",
        lambda query, key: _products(query, key) / key.shape[-1],
    ),
    Misconception(
        "You divided by the root of the number of keys; d_k is the width of a key, key.shape[-1].",
        lambda query, key: _in_half(_products(query / key.shape[-2] ** 0.5, key)),
    ),
    Misconception(
        TOO_LATE, lambda query, key: _in_half(_products(query, key)) / key.shape[-1] ** 0.5
    ),
    Misconception(
        "Clipping hides that the product was too large: scores that differ come out equal.",
        lambda query, key: (
            _in_half(np.clip(_products(query, key), -65504, 65504)) / key.shape[-1] ** 0.5
        ),
    ),
    Misconception(
        "4 is the root for a width of 16 only. Take d_k from key.shape[-1].",
        lambda query, key: _in_half(_products(query, key) / 4),
    ),
    Misconception(
        ".T turns round all axes, which is right for matrices only. Swap the last two: "
        "np.swapaxes(key, -1, -2).",
        lambda query, key: query / key.shape[-1] ** 0.5 @ key.T,
    ),
)

# --- attention_with_zero_key ---------------------------------------------------------------------


def _scores(query, key):
    return np.einsum("...qd,...kd->...qk", query, key) / np.sqrt(key.shape[-1])


def _plain(query, key, value, scale=None):
    return scaled_dot_product_attention(query, key, value, scale=scale)[0]


def _share(scores):
    """What a score of 0 leaves to the others of its row; NaN where exp overflows."""
    total = np.exp(scores).sum(axis=-1, keepdims=True)
    return total / (total + 1)


def _lowered(scores):
    return scores - scores.max(axis=-1, keepdims=True)


def passing(known):
    """The misconceptions about the zero key; one starts from the kept answers."""
    return (
        Misconception(
            "That is attention without the extra key: the weights of the real keys still sum to 1.",
            _plain,
        ),
        Misconception(
            "You added 1 for the extra key after the largest score had been subtracted. Its score, "
            "0, is to be lowered by as much as the others.",
            lambda query, key, value: (
                _plain(query, key, value) * _share(_lowered(_scores(query, key)))
            ),
        ),
        Misconception(
            "The scale is missing: divide the products by the square root of d_k.",
            lambda query, key, value: (
                _plain(query, key, value, 1.0) * _share(_scores(query, key) * key.shape[-1] ** 0.5)
            ),
        ),
        Misconception(
            "You divided by d_k; it is the square root of d_k.",
            lambda query, key, value: (
                _plain(query, key, value, 1 / key.shape[-1])
                * _share(_scores(query, key) / key.shape[-1] ** 0.5)
            ),
        ),
        Misconception(
            "Your extra value is made of ones, so it adds its weight to every output. It is zeros.",
            lambda query, key, value: (
                1 + (_plain(query, key, value) - 1) * _share(_scores(query, key))
            ),
        ),
        Misconception(
            "These are the weights. The output is one step further: mix the values by them.",
            lambda query, key, value: softmax(_scores(query, key)) * _share(_scores(query, key)),
        ),
        Misconception(
            "These are the weights, that of the extra key included. The output is one step "
            "further: mix the values by them.",
            lambda query, key, value: np.concatenate(
                [
                    softmax(_scores(query, key)) * _share(_scores(query, key)),
                    1 - _share(_scores(query, key)),
                ],
                axis=-1,
            ),
        ),
        Misconception(
            "exp overflows for large scores. Subtract the largest of each row first, the extra "
            "key's 0 included.",
            lambda query, key, value: np.where(
                np.isinf(np.exp(_scores(query, key)).sum(axis=-1, keepdims=True)),
                np.nan,
                known(query, key, value),
            ),
        ),
    )


# --- key_effects ---------------------------------------------------------------------------------


def _weights(query, key, value):
    return scaled_dot_product_attention(query, key, value)[1]


def _towards(query, key, value):
    """The output less each value, (..., query, key, d_v)."""
    return _plain(query, key, value)[..., None, :] - value[..., None, :, :]


def _silenced(query, key, value):
    """How far the output moves as a key becomes zeros and stays."""
    kept = 1 - np.eye(key.shape[-2])
    others = np.stack([_plain(query, key * row[:, None], value) for row in kept], axis=-2)
    return np.linalg.norm(_plain(query, key, value)[..., None, :] - others, axis=-1)


def without(known):
    """The misconceptions about a key left out; one starts from the kept answers."""
    return (
        Misconception(
            "These are the weights. A key with a large weight matters little if its value is close "
            "to the output: compute the output without it.",
            _weights,
        ),
        Misconception(
            "You took the value away and left the key, whose weight is lost. Leave out both, so "
            "that the weights of the others sum to 1 again.",
            lambda query, key, value: (
                _weights(query, key, value) * np.linalg.norm(value, axis=-1)[..., None, :]
            ),
        ),
        Misconception(
            "A key of zeros is still a key: its score is 0 and it takes a weight. Leave it out.",
            _silenced,
        ),
        Misconception(
            "That is the square of the length; the root is missing.",
            lambda query, key, value: known(query, key, value) ** 2,
        ),
        Misconception(
            "You kept this key alone. Leave it out and keep the others.",
            lambda query, key, value: np.linalg.norm(_towards(query, key, value), axis=-1),
        ),
    )


# --- scale_for_entropy ---------------------------------------------------------------------------

_IN_BITS = {0.562335: 0.6283993, 0.9: 2.2265254}


def finding(known):
    """The misconceptions about the scale, from the kept answers: there is no solver here."""
    return (
        Misconception(
            "You returned the temperature. The scale multiplies the products: 1 divided by it.",
            lambda products, entropy: 1 / known(products, entropy),
        ),
        Misconception(
            "You measured the entropy in bits, with log2. In nats it is np.log.",
            lambda products, entropy: np.array(_IN_BITS[entropy]),
        ),
        Misconception(
            "Your scale is negative: the smallest product gets the largest weight.",
            lambda products, entropy: -known(products, entropy),
        ),
    )

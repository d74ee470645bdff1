"""What goes wrong when the future, or padding, is hidden from a query."""

import numpy as np

from ._exercise import Misconception
from ._formulas import bare_softmax as _softmax
from ._formulas import rescaled

__all__ = ["CAUSAL", "CHUNK", "PADDING"]

# --- what goes wrong with a mask -----------------------------------------------------------------


def _filled(scores, mask, fill=-np.inf):
    return _softmax(np.where(mask, scores, fill))


def _lower(scores, k=0):
    """True on and below the diagonal that is k places to the right of the main one."""
    return np.tri(*scores.shape[-2:], k=k, dtype=bool)


def _older(scores):
    """How many keys come before the first query."""
    return scores.shape[-1] - scores.shape[-2]


def _chunk(scores):
    """True for the keys that a chunk of queries on top of older keys may see."""
    return _lower(scores, _older(scores))


def _rescaled(scores, mask):
    return rescaled(_softmax(scores) * mask)


def _unshifted_exp(scores, mask):
    return rescaled(np.where(mask, np.exp(scores), 0))


AFTER = (
    "You masked after softmax: the rows do not sum to 1, and the future is still in the sum that "
    "they were divided by. Set the scores to -inf before softmax."
)
UNMASKED = "These are the weights without a mask: softmax alone lets every query see every key."
ZERO_SCORE = (
    "You set the masked scores to 0, but a score of 0 is not a weight of 0: e to the 0 is 1. "
    "Set them to -inf."
)
FINITE = (
    "The number you put in for what is hidden is finite, and here the real scores are lower still, "
    "so that what is hidden gets the weight. Only -inf is below every score."
)
RESCALED = (
    "You masked after softmax and divided by what was left. A very large score among what is "
    "hidden leaves 0, and 0 / 0 is NaN. Mask before softmax."
)
OVERFLOW = (
    "exp overflows for large scores. Subtract the largest score of each row first, after masking; "
    "that changes no weight."
)

CAUSAL = (
    Misconception(UNMASKED, _softmax),
    Misconception(AFTER, lambda scores: _softmax(scores) * _lower(scores)),
    Misconception(ZERO_SCORE, lambda scores: _softmax(scores * _lower(scores))),
    Misconception(
        "The mask is the wrong way round: each query sees itself and what comes later. Allowed is "
        "the lower triangle, keys j <= i.",
        lambda scores: _filled(scores, ~_lower(scores, -1)),
    ),
    Misconception(
        "You hid the diagonal as well, so the first query has nothing to see and its row is NaN. "
        "Each query may see itself; the targets are shifted, not the mask.",
        lambda scores: _filled(scores, _lower(scores, -1)),
    ),
    Misconception(
        "The mask is one place too wide: each query sees the token after it, which is just the one "
        "that it has to predict.",
        lambda scores: _filled(scores, _lower(scores, 1)),
    ),
    Misconception(
        "You added the triangle of ones to the scores. That raises the past by 1 and hides "
        "nothing: use np.where(mask, scores, -np.inf).",
        lambda scores: _softmax(scores + _lower(scores)),
    ),
    Misconception(
        "Softmax runs over the queries: the columns sum to 1, not the rows. The axis is the last "
        "one, -1.",
        lambda scores: _softmax(np.where(_lower(scores), scores, -np.inf), axis=-2),
    ),
    Misconception(FINITE, lambda scores: _filled(scores, _lower(scores), -100.0)),
    Misconception(RESCALED, lambda scores: _rescaled(scores, _lower(scores))),
    Misconception(OVERFLOW, lambda scores: _unshifted_exp(scores, _lower(scores))),
    Misconception(
        "len(scores) is the number of queries for a matrix only; in a batch it is the number of "
        "matrices. Take scores.shape[-1].",
        lambda scores: _softmax(np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)),
    ),
)

CHUNK = (
    Misconception(UNMASKED, _softmax),
    Misconception(AFTER, lambda scores: _softmax(scores) * _chunk(scores)),
    Misconception(ZERO_SCORE, lambda scores: _softmax(scores * _chunk(scores))),
    Misconception(
        "The mask is lined up top-left: your first query sees the first key only. The older keys "
        "come before the first query, so the triangle moves right by keys - queries.",
        lambda scores: _filled(scores, _lower(scores)),
    ),
    Misconception(
        "The triangle moved left, not right: k must be keys - queries, a positive number.",
        lambda scores: _filled(scores, _lower(scores, -_older(scores))),
    ),
    Misconception(
        "Off by one: your queries do not see themselves.",
        lambda scores: _filled(scores, _lower(scores, _older(scores) - 1)),
    ),
    Misconception(
        "Off by one: your queries see the token after them.",
        lambda scores: _filled(scores, _lower(scores, _older(scores) + 1)),
    ),
    Misconception(
        "Your queries see only keys of the chunk and not the older ones. The cache is the past: "
        "it stays open.",
        lambda scores: _filled(
            scores,
            _chunk(scores) & (np.arange(scores.shape[-1]) >= _older(scores)),
        ),
    ),
    Misconception(
        "This mask is square, as many queries as keys. Here the keys are more: np.tri takes both "
        "numbers, and a shift k.",
        lambda scores: _softmax(np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)),
    ),
    Misconception(
        "The shift is a fixed number, which fits one chunk only. Take it from the scores: keys - "
        "queries.",
        lambda scores: _filled(scores, _lower(scores, 2)),
    ),
    Misconception(FINITE, lambda scores: _filled(scores, _chunk(scores), -100.0)),
    Misconception(RESCALED, lambda scores: _rescaled(scores, _chunk(scores))),
    Misconception(OVERFLOW, lambda scores: _unshifted_exp(scores, _chunk(scores))),
)

# --- what goes wrong with padding ----------------------------------------------------------------


def _by_key(real):
    return real[:, None, :]


def _or_zero(weights):
    """Rows divided by their sums, and left alone where that is 0."""
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


PADDING = (
    Misconception(UNMASKED, lambda scores, real: _softmax(scores)),
    Misconception(AFTER, lambda scores, real: _softmax(scores) * _by_key(real)),
    Misconception(ZERO_SCORE, lambda scores, real: _softmax(scores * _by_key(real))),
    Misconception(
        "The mask is the wrong way round: real is True for tokens that may be seen, and your "
        "weights are all on the padding. (nn.MultiheadAttention's key_padding_mask is so.)",
        lambda scores, real: _filled(scores, ~_by_key(real)),
    ),
    Misconception(
        "You hid queries, not keys: real belongs to the last axis, real[:, None, :].",
        lambda scores, real: _filled(scores, real[:, :, None]),
    ),
    Misconception(
        "real lacks an axis for the queries, so it is not laid over the keys of each text: write "
        "real[:, None, :].",
        lambda scores, real: _filled(scores, real),
    ),
    Misconception(
        "A text without a real key gives 0 / 0, and NaN spreads from there. Its weights are to be "
        "0: divide by 1 where the sum is 0.",
        lambda scores, real: _filled(scores, _by_key(real)),
    ),
    Misconception(
        "A text without a real key gets equal weights for everything that is hidden: that is what "
        "a finite number instead of -inf does. Its weights are to be 0.",
        lambda scores, real: _filled(scores, _by_key(real), -1e30),
    ),
    Misconception(RESCALED, lambda scores, real: _or_zero(_softmax(scores) * _by_key(real))),
    Misconception(
        OVERFLOW, lambda scores, real: _or_zero(np.where(_by_key(real), np.exp(scores), 0))
    ),
)

"""Chapter 7: weights that do not look ahead, targets, chunks on top of a cache, padding."""

import numpy as np

from ..reference import softmax
from ._exercise import Case, Exercise, Misconception
from ._formulas import bare_softmax as _softmax

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def causal_weights(scores):
    mask = np.tri(scores.shape[-1], dtype=bool)
    return softmax(np.where(mask, scores, -np.inf))


def next_tokens(tokens):
    targets = np.full_like(tokens, -100)
    targets[:, :-1] = tokens[:, 1:]
    return np.where(targets == 0, -100, targets)


def chunk_weights(scores):
    n_queries, n_keys = scores.shape[-2:]
    mask = np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)
    return softmax(np.where(mask, scores, -np.inf))


def padded_weights(scores, real):
    scores = np.where(real[:, None, :], scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


# --- what goes wrong with a mask -----------------------------------------------------------------


def _filled(scores, mask, fill=-np.inf):
    return _softmax(np.where(mask, scores, fill))


def _lower(scores, k=0):
    """True on and below the diagonal that is k places to the right of the main one."""
    return np.tri(*scores.shape[-2:], k=k, dtype=bool)


def _older(scores):
    """How many keys come before the first query."""
    return scores.shape[-1] - scores.shape[-2]


def _rescaled(scores):
    kept = _softmax(scores) * _lower(scores)
    return kept / kept.sum(axis=-1, keepdims=True)


def _unshifted_exp(scores):
    exponentials = np.where(_lower(scores), np.exp(scores), 0)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


AFTER = (
    "You masked after softmax: the rows do not sum to 1, and the future is still in the sum that "
    "they were divided by. Set the scores to -inf before softmax."
)
UNMASKED = "These are the weights without a mask: softmax alone lets every query see every key."
ZERO_SCORE = (
    "You set the masked scores to 0, but a score of 0 is not a weight of 0: e to the 0 is 1. "
    "Set them to -inf."
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
    Misconception(
        "The number you put in for the future is finite, and here the real scores are lower "
        "still, so that the future gets the weight. Only -inf is below every score.",
        lambda scores: _filled(scores, _lower(scores), -100.0),
    ),
    Misconception(
        "You masked after softmax and divided by what was left. A very large score in the future "
        "leaves 0, and 0 / 0 is NaN. Mask before softmax.",
        _rescaled,
    ),
    Misconception(
        "exp overflows for large scores. Subtract the largest score of each row first, after "
        "masking; that changes no weight.",
        _unshifted_exp,
    ),
    Misconception(
        "len(scores) is the number of queries for a matrix only; in a batch it is the number of "
        "matrices. Take scores.shape[-1].",
        lambda scores: _softmax(np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)),
    ),
)

CHUNK = (
    Misconception(UNMASKED, _softmax),
    Misconception(AFTER, lambda scores: _softmax(scores) * _lower(scores, _older(scores))),
    Misconception(ZERO_SCORE, lambda scores: _softmax(scores * _lower(scores, _older(scores)))),
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
            _lower(scores, _older(scores)) & (np.arange(scores.shape[-1]) >= _older(scores)),
        ),
    ),
    Misconception(
        "This mask is square, as many queries as keys. Here the keys are more: np.tri takes both "
        "numbers, and a shift k.",
        lambda scores: _softmax(np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)),
    ),
)

# --- what goes wrong with targets ----------------------------------------------------------------


def _ignoring(targets):
    return np.where(targets == 0, -100, targets)


def _moved(tokens, by=1, last=-100):
    """The tokens that stand ``by`` places later, and ``last`` where there is none."""
    rest = np.full((len(tokens), by), last)
    return np.concatenate([tokens[:, by:], rest], axis=1)


def _previous(tokens):
    return np.concatenate([np.full((len(tokens), 1), -100), tokens[:, :-1]], axis=1)


NOT_SHIFTED = (
    "The targets are not shifted: each place is to predict the token that it sees itself. The "
    "target of a place is the token after it, tokens[:, 1:]."
)
WRONG_WAY = (
    "Shifted the wrong way: these are the tokens before each place. The target is the token after "
    "it, tokens[:, 1:]."
)
ROLLED = (
    "np.roll brings the first token round to the end, so the last place is to predict the "
    "beginning. It has no target: write -100 there, and wherever the target is padding."
)
SHORTER = (
    "One place is missing: the result is to have the shape of tokens, with -100 in the last place, "
    "which has no target."
)

TARGETS = (
    Misconception(NOT_SHIFTED, lambda tokens: tokens),
    Misconception(NOT_SHIFTED, _ignoring),
    Misconception(WRONG_WAY, _previous),
    Misconception(WRONG_WAY, lambda tokens: _ignoring(_previous(tokens))),
    Misconception(ROLLED, lambda tokens: _ignoring(np.roll(tokens, -1, axis=1))),
    Misconception(ROLLED, lambda tokens: np.roll(tokens, -1, axis=1)),
    Misconception(
        "Padding is still a target: the model would learn to predict it. Write -100 where the "
        "target is 0.",
        _moved,
    ),
    Misconception(
        "Padding is still a target, and so is the 0 that you put at the end. Write -100 where the "
        "target is 0.",
        lambda tokens: _moved(tokens, last=0),
    ),
    Misconception(
        "You looked for padding in the inputs. What counts is the target: the last real token has "
        "padding as its target, which must be -100.",
        lambda tokens: np.where(tokens == 0, -100, _moved(tokens)),
    ),
    Misconception(
        "Shifted by two places; the target is the very next token.",
        lambda tokens: _ignoring(_moved(tokens, by=2)),
    ),
    Misconception(SHORTER, lambda tokens: tokens[:, 1:]),
    Misconception(SHORTER, lambda tokens: _ignoring(tokens[:, 1:])),
    Misconception(
        "tokens[1:] leaves out the first sentence. Places are the second axis: tokens[:, 1:].",
        lambda tokens: tokens[1:],
    ),
)

# --- what goes wrong with padding ----------------------------------------------------------------


def _by_key(real):
    return real[:, None, :]


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
)

# --- inputs --------------------------------------------------------------------------------------

_SQUARE = np.array([[0.2, 1.1, -0.5], [0.9, 0.3, 0.8], [-0.4, 0.6, 0.1]])
_BATCH = np.random.default_rng(7).normal(size=(2, 4, 4)).round(2)
_LOUD = _SQUARE + np.array([[0, 0, 0], [0, 0, 1000], [0, 0, 0]])

SQUARE_SCORES = (
    Case("three queries and three keys", {"scores": _SQUARE}),
    Case("a batch of two matrices, 4 × 4", {"scores": _BATCH}),
    Case("scores that are all 2000 lower", {"scores": _SQUARE - 2000}),
    Case("a score of about 1000 in the future", {"scores": _LOUD}),
    Case("scores that are all 2000 higher", {"scores": _SQUARE + 2000}),
)

CHUNK_SCORES = (
    Case(
        "three queries on top of two older keys",
        {"scores": np.random.default_rng(8).normal(size=(3, 5)).round(2)},
    ),
    Case(
        "a batch: three texts, two heads, 4 queries, 6 keys",
        {"scores": np.random.default_rng(9).normal(size=(3, 2, 4, 6)).round(2)},
    ),
)

TOKENS = (
    Case("two sentences, one with padding", {"tokens": np.array([[1, 7, 4, 9], [1, 5, 0, 0]])}),
    Case(
        "padding on the left, and a row of nothing else",
        {"tokens": np.array([[0, 0, 1, 8, 3], [1, 6, 4, 2, 9], [0, 0, 0, 0, 0]])},
    ),
)

_PADDED = np.random.default_rng(10).normal(size=(2, 3, 4)).round(2)

PADDED_SCORES = (
    Case(
        "padding on the left and on the right",
        {
            "scores": _PADDED,
            "real": np.array([[False, True, True, True], [True, True, False, False]]),
        },
    ),
    Case(
        "a text that is nothing but padding",
        {"scores": _PADDED, "real": np.array([[True, True, True, False], [False] * 4])},
    ),
)

EXERCISES = (
    Exercise(
        "the weights under a causal mask: query i sees the keys up to i, itself included, and "
        "everything later has a weight of exactly 0.",
        causal_weights,
        SQUARE_SCORES,
        CAUSAL,
    ),
    Exercise(
        "for each place the token after it, in the shape of tokens; -100 in the last place and "
        "wherever the target would be padding (0).",
        next_tokens,
        TOKENS,
        TARGETS,
    ),
    Exercise(
        "causal weights for a chunk of queries whose last one stands at the last key; all keys "
        "before the chunk may be seen.",
        chunk_weights,
        CHUNK_SCORES,
        CHUNK,
    ),
    Exercise(
        "the weights over real keys alone, and 0 everywhere in a text that has none.",
        padded_weights,
        PADDED_SCORES,
        PADDING,
    ),
)

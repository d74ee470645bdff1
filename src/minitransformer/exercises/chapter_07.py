"""Chapter 7: weights that do not look ahead, targets, chunks on top of a cache, padding."""

import numpy as np

from ..reference import softmax
from ._exercise import Case, Exercise, Misconception
from ._hiding_mistakes import CAUSAL, CHUNK, PADDING

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

_ON_TOP = np.random.default_rng(8).normal(size=(3, 5)).round(2)

CHUNK_SCORES = (
    Case("three queries on top of two older keys", {"scores": _ON_TOP}),
    Case(
        "a batch: three texts, two heads, 4 queries, 6 keys",
        {"scores": np.random.default_rng(9).normal(size=(3, 2, 4, 6)).round(2)},
    ),
    Case("one query on top of six older keys", {"scores": _ON_TOP.reshape(1, 15)[:, :7]}),
    Case("a whole prompt: as many queries as keys", {"scores": _SQUARE}),
    Case("a score of about 1000 in the future", {"scores": _ON_TOP + 1000 * np.eye(3, 5, k=4)}),
    Case("scores that are all 2000 lower", {"scores": _ON_TOP - 2000}),
    Case("scores that are all 2000 higher", {"scores": _ON_TOP + 2000}),
)

TOKENS = (
    Case("two sentences, one with padding", {"tokens": np.array([[1, 7, 4, 9], [1, 5, 0, 0]])}),
    Case(
        "padding on the left, and a row of nothing else",
        {"tokens": np.array([[0, 0, 1, 8, 3], [1, 6, 4, 2, 9], [0, 0, 0, 0, 0]])},
    ),
)

_PADDED = np.random.default_rng(10).normal(size=(2, 3, 4)).round(2)
_REAL = np.array([[False, True, True, True], [True, True, False, False]])

PADDED_SCORES = (
    Case(
        "padding on the left and on the right",
        {"scores": _PADDED, "real": _REAL},
    ),
    Case(
        "a text that is nothing but padding",
        {"scores": _PADDED, "real": np.array([[True, True, True, False], [False] * 4])},
    ),
    Case(
        "scores of about 1000 at the padding",
        {"scores": _PADDED + 1000 * ~_REAL[:, None], "real": _REAL},
    ),
    Case("scores that are all 2000 higher", {"scores": _PADDED + 2000, "real": _REAL}),
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

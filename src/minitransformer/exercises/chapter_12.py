"""Chapter 12: share of the first token, of the previous one, hiding a sink, following a noun."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._formulas import bare_softmax, rescaled

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def first_share(weights):
    return weights[:, 1:, 0].mean(axis=1)


def previous_share(weights):
    return np.diagonal(weights, offset=-1, axis1=1, axis2=2).mean(axis=1)


def without_first(scores):
    allowed = np.tri(len(scores), dtype=bool)
    allowed[1:, 0] = False
    seen = np.where(allowed, scores, -np.inf)
    powers = np.exp(seen - seen.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def follow_share(weights, right):
    lead = np.sign(weights[:, 0] - weights[:, 1]) * np.where(right == 0, 1, -1)[:, None]
    return (lead.mean(axis=0) + 1) / 2


# --- what goes wrong -----------------------------------------------------------------------------

FIRST = (
    Misconception(
        "The first query can look at nothing but itself: its 1 says nothing about the head. Leave "
        "it out.",
        lambda weights: weights[:, :, 0].mean(axis=1),
    ),
    Misconception(
        "That is the row of the first query. Keys are columns: take the first column.",
        lambda weights: weights[:, 0, 1:].mean(axis=1),
    ),
    Misconception(
        "You added the weights up. Take their mean over the queries.",
        lambda weights: weights[:, 1:, 0].sum(axis=1),
    ),
    Misconception(
        "You averaged over the heads as well, or instead. Each head has a number of its own.",
        lambda weights: weights[:, 1:, 0].mean(axis=0),
    ),
    Misconception(
        "You divided by all queries, but left one out of the sum.",
        lambda weights: weights[:, 1:, 0].sum(axis=1) / weights.shape[1],
    ),
    Misconception(
        "That is the largest weight on the first token. Take the mean.",
        lambda weights: weights[:, 1:, 0].max(axis=1),
    ),
)


def _offset(weights, offset):
    return np.diagonal(weights, offset=offset, axis1=1, axis2=2)


PREVIOUS = (
    Misconception(
        "That is the next token: a key above the diagonal. The previous one stands below it, at "
        "offset −1.",
        lambda weights: _offset(weights, 1).mean(axis=1),
    ),
    Misconception(
        "That is the weight of each token on itself. The previous key stands one column to the "
        "left.",
        lambda weights: _offset(weights, 0).mean(axis=1),
    ),
    Misconception(
        "You counted the first query as 0. It has no previous token: leave it out of the mean.",
        lambda weights: _offset(weights, -1).sum(axis=1) / weights.shape[1],
    ),
    Misconception(
        "You added the weights up. Take their mean over the queries.",
        lambda weights: _offset(weights, -1).sum(axis=1),
    ),
    Misconception(
        "The first query looks at the last key here: an index of −1 counts from the end. Begin "
        "with the second query.",
        lambda weights: (_offset(weights, -1).sum(axis=1) + weights[:, 0, -1]) / weights.shape[1],
    ),
    Misconception(
        "That is how often the previous token has the largest weight of its row. Asked is its "
        "mean weight.",
        lambda weights: (weights[:, 1:].argmax(axis=2) == np.arange(weights.shape[1] - 1)).mean(
            axis=1
        ),
    ),
)


def _softmax(scores, allowed):
    """NaN in a row that may see nothing."""
    return bare_softmax(np.where(allowed, scores, -np.inf))


def _causal(scores):
    return _softmax(scores, np.tri(len(scores), dtype=bool))


def _cut(weights):
    weights = weights.copy()
    weights[1:, 0] = 0
    return weights


def _zero_scores(scores):
    scores = scores.copy()
    scores[1:, 0] = 0
    return _causal(scores)


def _hidden_from_all(scores):
    allowed = np.tri(len(scores), dtype=bool)
    allowed[:, 0] = False
    with np.errstate(all="ignore"):
        return _softmax(scores, allowed)


def _not_causal(scores):
    allowed = np.ones(scores.shape, bool)
    allowed[1:, 0] = False
    return _softmax(scores, allowed)


def _hidden_late(scores):
    """The largest score of each row, or its softmax, is taken before anything is hidden."""
    allowed = np.tri(len(scores), dtype=bool)
    allowed[1:, 0] = False
    with np.errstate(all="ignore"):
        return rescaled(np.where(allowed, bare_softmax(scores), 0))


def _hidden_query(scores):
    """The first query is hidden, not the first key."""
    allowed = np.tri(len(scores), dtype=bool)
    allowed[0, 0] = False
    with np.errstate(all="ignore"):
        return _softmax(scores, allowed)


WITHOUT = (
    Misconception(
        "The rows no longer sum to 1: you took the weights away after the softmax. Hide the "
        "scores before it.",
        lambda scores: _cut(_causal(scores)),
    ),
    Misconception(
        "A score of 0 hides nothing: exp(0) is 1. Use minus infinity.",
        _zero_scores,
    ),
    Misconception(
        "You hid the first token from itself too, and its row has nothing left. The first query "
        "keeps it.",
        _hidden_from_all,
    ),
    Misconception(
        "The causal mask is missing: no query may see a later key.",
        _not_causal,
    ),
    Misconception(
        "You hid nothing: these are the weights with the first token.",
        _causal,
    ),
    Misconception(
        "You hid the row of the first query. Keys are columns: hide the first column, below its "
        "top.",
        _hidden_query,
    ),
    Misconception(
        "A score that is hidden, but very large, left nothing of the others: 0 / 0. Hide the "
        "scores first; then take the largest of each row and the softmax.",
        _hidden_late,
    ),
)


def _of_right(weights, right):
    return weights[np.arange(len(right)), right]


FOLLOW = (
    Misconception(
        "You counted the other noun. right says which of the two is the right one: 0 or 1.",
        lambda weights, right: 1 - follow_share(weights, right),
    ),
    Misconception(
        "That is how often the first noun gets more weight. In half of the sentences the second "
        "one is right.",
        lambda weights, right: follow_share(weights, 0 * right),
    ),
    Misconception(
        "That is the mean weight on the right noun. Count in how many sentences it is larger than "
        "that on the other.",
        lambda weights, right: _of_right(weights, right).mean(axis=0),
    ),
    Misconception(
        "You asked for a weight above one half. A noun follows when it has more than the other, "
        "even if both are small.",
        lambda weights, right: (_of_right(weights, right) > 0.5).mean(axis=0),
    ),
    Misconception(
        "A tie counts one half: a head that cannot tell is neither right nor wrong.",
        lambda weights, right: (_of_right(weights, right) > _of_right(weights, 1 - right)).mean(
            axis=0
        ),
    ),
    Misconception(
        "You averaged over the heads. Each head has a number of its own.",
        lambda weights, right: (
            np.sign(_of_right(weights, right) - _of_right(weights, 1 - right)).mean(axis=1) / 2
            + 0.5
        ),
    ),
    Misconception(
        "You counted the sentences. Divide by how many there are.",
        lambda weights, right: follow_share(weights, right) * len(right),
    ),
)

# --- inputs --------------------------------------------------------------------------------------

_RNG = np.random.default_rng(12)


def _weights(heads, time, causal=True):
    powers = np.exp(2 * _RNG.normal(size=(heads, time, time)))
    powers *= np.tri(time) if causal else 1
    return (powers / powers.sum(axis=-1, keepdims=True)).round(3)


CAUSAL_INPUTS = (
    Case("two causal heads on four tokens", {"weights": _weights(2, 4)}),
    Case("three causal heads on five tokens", {"weights": _weights(3, 5)}),
)

BOTH_WAYS_INPUTS = (
    Case("two heads without a mask on four tokens", {"weights": _weights(2, 4, causal=False)}),
    Case("three heads without a mask on five tokens", {"weights": _weights(3, 5, causal=False)}),
)

SCORES_INPUTS = (
    Case("scores of four tokens", {"scores": _RNG.normal(size=(4, 4)).round(1)}),
    Case("scores of five tokens", {"scores": 2 * _RNG.normal(size=(5, 5)).round(1)}),
    Case(
        "scores of three tokens, 1000 where the first one is hidden",
        {"scores": np.array([[0.5, 0.0, 1.0], [0.2, 1.5, 0.3], [1000.0, 0.5, -0.5]])},
    ),
    Case(
        "scores of three tokens, 1000 for a later one",
        {"scores": np.array([[0.5, 0.0, 1.0], [0.2, 1.5, 1000.0], [1.0, 0.5, -0.5]])},
    ),
)

FOLLOW_INPUTS = (
    Case(
        "four sentences, three heads",
        {
            "weights": np.array(
                [
                    [[0.7, 0.1, 0.2], [0.1, 0.3, 0.1]],
                    [[0.6, 0.2, 0.1], [0.2, 0.1, 0.4]],
                    [[0.8, 0.1, 0.3], [0.1, 0.2, 0.1]],
                    [[0.1, 0.3, 0.2], [0.2, 0.1, 0.6]],
                ]
            ),
            "right": np.array([0, 1, 0, 1]),
        },
    ),
    Case(
        "five sentences, two heads, one of which gives both nouns the same weight",
        {
            "weights": np.array(
                [
                    [[0.3, 0.2], [0.1, 0.2]],
                    [[0.2, 0.25], [0.4, 0.25]],
                    [[0.6, 0.1], [0.3, 0.1]],
                    [[0.1, 0.0], [0.5, 0.0]],
                    [[0.7, 0.3], [0.2, 0.3]],
                ]
            ),
            "right": np.array([0, 1, 1, 1, 0]),
        },
    ),
)

EXERCISES = (
    Exercise(
        "for each head, the mean weight on the first token, without the first query.",
        first_share,
        CAUSAL_INPUTS,
        FIRST,
    ),
    Exercise(
        "for each head, the mean weight on the key just before the query's own place.",
        previous_share,
        BOTH_WAYS_INPUTS,
        PREVIOUS,
    ),
    Exercise(
        "the weights of a causal head when no query but the first may look at the first token.",
        without_first,
        SCORES_INPUTS,
        WITHOUT,
    ),
    Exercise(
        "for each head, the share of sentences in which the right noun gets more weight than the "
        "other; a tie counts one half.",
        follow_share,
        FOLLOW_INPUTS,
        FOLLOW,
    ),
)

"""Chapter 13: heads taken out, their importance, prefix matching, effects that do not add up."""

import numpy as np

from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def output_without(z, w_o, gone):
    n_heads, _, d_head = z.shape
    rows = w_o.reshape(n_heads, d_head, -1)
    return (z @ rows)[~gone].sum(axis=0)


def importance(z, gradient):
    slope = (z * gradient).sum(axis=(1, 3))  # (text, head)
    return np.abs(slope).mean(axis=0)


def prefix_matching(weights, tokens):
    scores = []
    for query, token in enumerate(tokens):
        after = [place + 1 for place in range(query) if tokens[place] == token]
        if after:
            scores.append(weights[query, after].sum())
    return np.mean(scores)


def interaction(single, joint, members):
    return joint - (members * single).sum(axis=1)


# --- what goes wrong -----------------------------------------------------------------------------


def _parts(z, w_o):
    """What each head adds to the output (head, token, d_model)."""
    return z @ w_o.reshape(len(z), z.shape[2], -1)


def _columns_mixed(z, w_o, gone):
    """The rows of W_O dealt out in turn, as if the heads' numbers were interleaved."""
    rows = w_o.reshape(z.shape[2], len(z), -1).swapaxes(0, 1)
    return (z @ rows)[~gone].sum(axis=0)


OUTPUT = (
    Misconception(
        "You kept the heads that are out and dropped the others: gone is True where a head is out.",
        lambda z, w_o, gone: _parts(z, w_o)[gone].sum(axis=0),
    ),
    Misconception(
        "No head is out: this is the whole output.",
        lambda z, w_o, gone: _parts(z, w_o).sum(axis=0),
    ),
    Misconception(
        "You scaled up what is left, as dropout does. A head that is taken out is not made up for.",
        lambda z, w_o, gone: _parts(z, w_o)[~gone].sum(axis=0) / (~gone).mean(),
    ),
    Misconception(
        "You took the mean over the heads. Their contributions are added.",
        lambda z, w_o, gone: _parts(z, w_o)[~gone].mean(axis=0),
    ),
    Misconception(
        "The rows of W_O are cut wrongly: head 0 owns the first d_head rows, head 1 the next.",
        _columns_mixed,
    ),
    Misconception(
        "You left the contributions of the heads apart. Add them up.",
        lambda z, w_o, gone: _parts(z, w_o)[~gone],
    ),
)


def _slopes(z, gradient):
    return (z * gradient).sum(axis=(1, 3))


IMPORTANCE = (
    Misconception(
        "You took the absolute value after the mean over texts: a head that helps one text and "
        "harms another then seems idle. First the absolute value, then the mean.",
        lambda z, gradient: np.abs(_slopes(z, gradient).mean(axis=0)),
    ),
    Misconception(
        "You took the absolute value of each number before adding. The slope of a text is the sum "
        "with signs; its absolute value comes after.",
        lambda z, gradient: np.abs(z * gradient).sum(axis=(1, 3)).mean(axis=0),
    ),
    Misconception(
        "The absolute value is missing: slopes of both signs cancel.",
        lambda z, gradient: _slopes(z, gradient).mean(axis=0),
    ),
    Misconception(
        "This is the size of the gradient alone. The chain rule multiplies it by z.",
        lambda z, gradient: np.abs(gradient.sum(axis=(1, 3))).mean(axis=0),
    ),
    Misconception(
        "You added up the texts. Take their mean.",
        lambda z, gradient: np.abs(_slopes(z, gradient)).sum(axis=0),
    ),
    Misconception(
        "You took the mean over tokens and numbers of a head. The factor ξ reaches all of them: "
        "add up.",
        lambda z, gradient: np.abs((z * gradient).mean(axis=(1, 3))).mean(axis=0),
    ),
)


def _matching(weights, tokens, offset=1, last=False, every=False, average=False):
    scores = []
    for query, token in enumerate(tokens):
        places = [place + offset for place in range(query) if tokens[place] == token]
        places = places[-1:] if last else places
        if places:
            row = weights[query, places]
            scores.append(row.mean() if average else row.sum())
        elif every:
            scores.append(0.0)
    return np.mean(scores)


MATCHING = (
    Misconception(
        "You added up the weights on the earlier copies themselves. An induction head looks at the "
        "place after a copy.",
        lambda weights, tokens: _matching(weights, tokens, offset=0),
    ),
    Misconception(
        "You looked at the place before the copy. An induction head looks at the place after it.",
        lambda weights, tokens: (
            weights[
                [q for q, t in enumerate(tokens) for p in range(q) if tokens[p] == t and p],
                [p - 1 for q, t in enumerate(tokens) for p in range(q) if tokens[p] == t and p],
            ].sum()
            / sum(any(tokens[:q] == t) for q, t in enumerate(tokens))
        ),
    ),
    Misconception(
        "You counted the queries whose token is new as 0. They cannot match: leave them out.",
        lambda weights, tokens: _matching(weights, tokens, every=True),
    ),
    Misconception(
        "Only the latest copy counts here. Add up the weights after all earlier copies.",
        lambda weights, tokens: _matching(weights, tokens, last=True),
    ),
    Misconception(
        "You took the mean over the copies: a token that came twice then never reaches 1. Add up.",
        lambda weights, tokens: _matching(weights, tokens, average=True),
    ),
    Misconception(
        "You added up over the queries. Take the mean over those that have an earlier copy.",
        lambda weights, tokens: (
            _matching(weights, tokens) * sum(any(tokens[:q] == t) for q, t in enumerate(tokens))
        ),
    ),
)

INTERACTION = (
    Misconception(
        "The sign is the wrong way round: the joint effect less the sum.",
        lambda single, joint, members: (members * single).sum(axis=1) - joint,
    ),
    Misconception(
        "This is the sum of the single effects. Subtract it from the joint effect.",
        lambda single, joint, members: (members * single).sum(axis=1),
    ),
    Misconception(
        "You subtracted the sum over all heads. Only the members of a set count for it.",
        lambda single, joint, members: joint - single.sum(),
    ),
    Misconception(
        "You subtracted the mean of the members' effects. If effects added, the joint one would be "
        "their sum.",
        lambda single, joint, members: joint - (members * single).sum(axis=1) / members.sum(axis=1),
    ),
    Misconception(
        "You subtracted the largest single effect. Subtract the sum.",
        lambda single, joint, members: (
            joint - np.where(members, single, -np.inf).max(axis=1, initial=-np.inf)
        ),
    ),
    Misconception(
        "You dropped the effects below 0. A head that did harm counts too, with its sign.",
        lambda single, joint, members: joint - (members * np.maximum(single, 0)).sum(axis=1),
    ),
)

# --- inputs --------------------------------------------------------------------------------------

_RNG = np.random.default_rng(13)


def _causal(time):
    weights = np.tril(np.exp(_RNG.normal(size=(time, time))))
    return weights / weights.sum(axis=1, keepdims=True)


OUTPUT_INPUTS = (
    Case(
        "3 heads of width 2, the middle one out",
        {
            "z": _RNG.integers(-3, 4, size=(3, 4, 2)).astype(float),
            "w_o": _RNG.integers(-3, 4, size=(6, 5)).astype(float),
            "gone": np.array([False, True, False]),
        },
    ),
    Case(
        "4 heads of width 3, two out",
        {
            "z": _RNG.normal(size=(4, 5, 3)).round(2),
            "w_o": _RNG.normal(size=(12, 6)).round(2),
            "gone": np.array([True, False, False, True]),
        },
    ),
)

IMPORTANCE_INPUTS = (
    Case(
        "2 texts of 3 tokens, 3 heads of width 2",
        {
            "z": _RNG.integers(-3, 4, size=(2, 3, 3, 2)).astype(float),
            # The sign of the last head is turned: its slopes are then mostly below 0.
            "gradient": _RNG.integers(-3, 4, size=(2, 3, 3, 2))
            * np.array([1.0, 1.0, -1.0])[:, None],
        },
    ),
    Case(
        "4 texts of 5 tokens, 2 heads of width 3",
        {
            "z": _RNG.normal(size=(4, 5, 2, 3)).round(2),
            "gradient": _RNG.normal(size=(4, 5, 2, 3)).round(2),
        },
    ),
)

MATCHING_INPUTS = (
    Case(
        "four tokens, twice",
        {"weights": _causal(8).round(3), "tokens": np.array([5, 2, 7, 3, 5, 2, 7, 3])},
    ),
    Case(
        "three tokens, three times, after a start",
        {"weights": _causal(10), "tokens": np.array([0, 4, 9, 6, 4, 9, 6, 4, 9, 6])},
    ),
)

INTERACTION_INPUTS = (
    Case(
        "two sets of four heads",
        {
            "single": np.array([0.1, 0.2, -0.05, 0.4]),
            "joint": np.array([0.9, 0.3]),
            "members": np.array([[True, True, False, False], [False, True, True, True]]),
        },
    ),
    Case(
        "three sets of five heads",
        {
            "single": np.array([0.3, -0.2, 0.0, 0.7, 0.1]),
            "joint": np.array([0.0, 1.5, -0.4]),
            "members": np.array([[1, 0, 0, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 0, 0]], dtype=bool),
        },
    ),
)

EXERCISES = (
    Exercise(
        "the output of a layer without some heads: the sum of what each of the others makes of its "
        "own rows of W_O.",
        output_without,
        OUTPUT_INPUTS,
        OUTPUT,
    ),
    Exercise(
        "for each head, the mean over texts of the absolute slope of the loss in the head's "
        "factor: the sum of z times gradient, over tokens and numbers.",
        importance,
        IMPORTANCE_INPUTS,
        IMPORTANCE,
    ),
    Exercise(
        "the weight on all places right after an earlier copy of the query's token, added up, and "
        "the mean over the queries that have such a copy.",
        prefix_matching,
        MATCHING_INPUTS,
        MATCHING,
    ),
    Exercise(
        "for each set of heads, its joint effect less the sum of its members' single effects.",
        interaction,
        INTERACTION_INPUTS,
        INTERACTION,
    ),
)

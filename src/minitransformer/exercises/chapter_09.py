"""Chapter 9: an exponent from log axes, scores in a window, an output in two halves, tiles."""

from math import ceil

import numpy as np

from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def fitted_exponent(lengths, costs):
    slope, _ = np.polyfit(np.log(lengths), np.log(costs), 1)
    return slope


def window_scores(n_tokens, window):
    return sum(min(place, window) + 1 for place in range(n_tokens))


def merged_output(largest, total, summed, largest2, total2, summed2):
    top = np.maximum(largest, largest2)
    shrink, shrink2 = np.exp(largest - top), np.exp(largest2 - top)
    total = total * shrink + total2 * shrink2
    return (summed * shrink + summed2 * shrink2) / total


def numbers_moved(n_queries, n_keys, d, rows):
    n_tiles = ceil(n_queries / rows)
    return 2 * d * n_queries + 2 * d * n_keys * n_tiles


# --- what goes wrong with a slope ----------------------------------------------------------------

ONE_LOG = (
    "Only one of the axes is logarithmic. A power is a straight line when both are: np.log of the "
    "lengths and of the costs."
)

EXPONENT = (
    Misconception(
        "This is the slope on plain axes: how much one more token costs. Take np.log of lengths "
        "and of costs first.",
        lambda lengths, costs: np.polyfit(lengths, costs, 1)[0],
    ),
    Misconception(ONE_LOG, lambda lengths, costs: np.polyfit(np.log(lengths), costs, 1)[0]),
    Misconception(ONE_LOG, lambda lengths, costs: np.polyfit(lengths, np.log(costs), 1)[0]),
    Misconception(
        "You fitted the lengths to the costs: this is the slope with the axes changed round. "
        "Lengths are x, costs are y.",
        lambda lengths, costs: np.polyfit(np.log(costs), np.log(lengths), 1)[0],
    ),
    Misconception(
        "This is the other number of the line, its height at log 1 = 0. np.polyfit gives the slope "
        "first.",
        lambda lengths, costs: np.polyfit(np.log(lengths), np.log(costs), 1)[1],
    ),
    Misconception(
        "These are both numbers of the line. The exponent is the slope alone, the first of them.",
        lambda lengths, costs: np.polyfit(np.log(lengths), np.log(costs), 1),
    ),
    Misconception(
        "You took the slope from the first to the last point and left out those between. Fit a "
        "line to all: np.polyfit(x, y, 1).",
        lambda lengths, costs: np.log(costs[-1] / costs[0]) / np.log(lengths[-1] / lengths[0]),
    ),
    Misconception(
        "You took the mean of log cost / log length. A factor in front of the power, which every "
        "cost has, goes into that too: fit a line.",
        lambda lengths, costs: np.mean(np.log(costs) / np.log(lengths)),
    ),
    Misconception(
        "You took the mean of the slopes between neighbours. Where the points do not lie evenly, "
        "that is not the fitted line: np.polyfit(x, y, 1).",
        lambda lengths, costs: np.mean(np.diff(np.log(costs)) / np.diff(np.log(lengths))),
    ),
)

# --- what goes wrong with a window ---------------------------------------------------------------


def _in_window(n_tokens, left, right=0):
    return sum(min(i, left) + 1 + min(n_tokens - 1 - i, right) for i in range(int(n_tokens)))


EARLY = (
    "You gave every query window + 1 keys. The first ones have fewer tokens before them: query i "
    "sees min(i, window) of these, and itself."
)

WINDOW = (
    Misconception(EARLY, lambda n_tokens, window: n_tokens * (window + 1)),
    Misconception(
        "A query sees itself as well as the tokens before it: min(i, window) + 1.",
        lambda n_tokens, window: sum(min(i, window) for i in range(int(n_tokens))),
    ),
    Misconception(
        "Your window holds one token too few: it counts the query itself among the window "
        "tokens, which stand before it.",
        lambda n_tokens, window: _in_window(n_tokens, max(window - 1, 0)),
    ),
    Misconception(
        "This is the causal mask without a window: early and late queries see everything before "
        "them.",
        lambda n_tokens, window: n_tokens * (n_tokens + 1) // 2,
    ),
    Misconception(
        "Your window reaches to both sides. Under a causal mask a query sees nothing after it.",
        lambda n_tokens, window: _in_window(n_tokens, window, window),
    ),
    Misconception(
        "The closed form n (w + 1) - w (w + 1) / 2 holds only while the window fits into the text; "
        "here it is longer. Use min(i, window).",
        lambda n_tokens, window: n_tokens * (window + 1) - window * (window + 1) // 2,
    ),
)

# --- what goes wrong with two halves -------------------------------------------------------------


def _unshrunk(largest, total, summed, largest2, total2, summed2):
    return (summed + summed2) / (total + total2)


def _from_bottom(largest, total, summed, largest2, total2, summed2):
    low = np.minimum(largest, largest2)
    grow, other_grow = np.exp(largest - low), np.exp(largest2 - low)
    total = total * grow + total2 * other_grow
    return (summed * grow + summed2 * other_grow) / total


def _one_top(largest, total, summed, largest2, total2, summed2):
    """One reference for all queries."""
    top = max(np.max(largest), np.max(largest2))
    shrink, shrink2 = np.exp(largest - top), np.exp(largest2 - top)
    total = total * shrink + total2 * shrink2
    return (summed * shrink + summed2 * shrink2) / total


def _reversed(largest, total, summed, largest2, total2, summed2):
    top = np.maximum(largest, largest2)
    shrink, shrink2 = np.exp(top - largest), np.exp(top - largest2)
    total = total * shrink + total2 * shrink2
    return (summed * shrink + summed2 * shrink2) / total


def _total_unshrunk(largest, total, summed, largest2, total2, summed2):
    top = np.maximum(largest, largest2)
    shrink, shrink2 = np.exp(largest - top), np.exp(largest2 - top)
    return (summed * shrink + summed2 * shrink2) / (total + total2)


def _only_other(largest, total, summed, largest2, total2, summed2):
    """As in the loop of the online softmax, where the new part is made with the new largest."""
    shrink = np.exp(largest - np.maximum(largest, largest2))
    return (summed * shrink + summed2) / (total * shrink + total2)


def _without_reference(largest, total, summed, largest2, total2, summed2):
    one, other = np.exp(largest), np.exp(largest2)
    return (summed * one + summed2 * other) / (total * one + total2 * other)


def _undivided(largest, total, summed, largest2, total2, summed2):
    top = np.maximum(largest, largest2)
    return summed * np.exp(largest - top) + summed2 * np.exp(largest2 - top)


MERGE = (
    Misconception(
        "You added up sums that were made with different references. Bring both to the larger "
        "maximum first: times exp(largest - top).",
        _unshrunk,
    ),
    Misconception(
        "You averaged the two outputs. The halves do not have equal weight: what counts is how "
        "large their totals are, with one reference.",
        lambda largest, total, summed, largest2, total2, summed2: (
            (summed / total + summed2 / total2) / 2
        ),
    ),
    Misconception(
        "You shrank the summed values but not the totals. Both were made with the same reference, "
        "so both need the factor.",
        _total_unshrunk,
    ),
    Misconception(
        "The factor is the wrong way up: it is exp(largest - top), at most 1, not exp(top - "
        "largest).",
        _reversed,
    ),
    Misconception(
        "You shrank only the first half. The loop over tiles could do so because it made the new "
        "part with the new largest score; here the other half has a reference of its own.",
        _only_other,
    ),
    Misconception(
        "This is the sum before the last step: divide it by the joint total.",
        _undivided,
    ),
    Misconception(
        "You undid the references, and exp of a large score overflows. Only differences are safe: "
        "exp(largest - top).",
        _without_reference,
    ),
    Misconception(
        "You took the smaller maximum as the reference, so that exp overflows. Take the larger "
        "one, np.maximum: no exponent is above 0.",
        _from_bottom,
    ),
    Misconception(
        "You took one reference for all queries. A query whose scores are far below it is left "
        "with 0 / 0: every query has its own, np.maximum.",
        _one_top,
    ),
)

# --- what goes wrong with tiles ------------------------------------------------------------------

MOVED = (
    Misconception(
        "These are the numbers of attention that writes scores and weights out, 4 n m among them. "
        "Tiles never move a score.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys) + 4 * n_queries * n_keys,
    ),
    Misconception(
        "You read keys and values once in all. Every tile of queries reads them anew.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys),
    ),
    Misconception(
        "The last tile may be smaller, but it reads all keys as well: round the number of tiles "
        "up.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys * (n_queries // rows)),
    ),
    Misconception(
        "The number of tiles is a whole number. Where the tiles do not fit evenly, round up.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys * n_queries / rows),
    ),
    Misconception(
        "The outputs are missing: each is written once, d numbers a query.",
        lambda n_queries, n_keys, d, rows: d * n_queries + 2 * d * n_keys * ceil(n_queries / rows),
    ),
    Misconception(
        "The values are missing: they are read just as the keys are.",
        lambda n_queries, n_keys, d, rows: 2 * d * n_queries + d * n_keys * ceil(n_queries / rows),
    ),
    Misconception(
        "You counted the queries anew for every tile. A query is in one tile only.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys) * ceil(n_queries / rows),
    ),
    Misconception(
        "You read keys and values anew for every single query. A tile of queries shares them.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_queries + n_keys * n_queries),
    ),
    Misconception(
        "You counted rows - queries, outputs, keys, values - and not the numbers in them: each has "
        "d.",
        lambda n_queries, n_keys, d, rows: 2 * (n_queries + n_keys * ceil(n_queries / rows)),
    ),
    Misconception(
        "You cut the keys, not the queries, into tiles of so many rows.",
        lambda n_queries, n_keys, d, rows: 2 * d * (n_keys + n_queries * ceil(n_keys / rows)),
    ),
)

# --- inputs --------------------------------------------------------------------------------------

_LENGTHS = np.array([100, 200, 300, 800, 1000])

COSTS = (
    Case("three times the square", {"lengths": _LENGTHS, "costs": 3.0 * _LENGTHS**2}),
    Case(
        "a line and a square together",
        {"lengths": _LENGTHS, "costs": 500.0 * _LENGTHS + _LENGTHS**2},
    ),
)


def _sizes(**sizes):
    return {name: np.array(size) for name, size in sizes.items()}


WINDOWS = (
    Case("10 tokens, window 3", _sizes(n_tokens=10, window=3)),
    Case("5 tokens, window 8", _sizes(n_tokens=5, window=8)),
    Case("7 tokens, window 0", _sizes(n_tokens=7, window=0)),
)


def _halves(scores, split, value):
    """What the online softmax holds of the first ``split`` keys, and of the others."""
    inputs = {}
    for suffix, part in (("", slice(None, split)), ("2", slice(split, None))):
        largest = scores[:, part].max(axis=1, keepdims=True)
        exponentials = np.exp(scores[:, part] - largest)
        inputs[f"largest{suffix}"] = largest
        inputs[f"total{suffix}"] = exponentials.sum(axis=1, keepdims=True)
        inputs[f"summed{suffix}"] = exponentials @ value[part]
    return inputs


_RNG = np.random.default_rng(9)
_SCORES = 2 * _RNG.normal(size=(3, 5)).round(1)
_VALUE = _RNG.normal(size=(5, 2)).round(1)
_APART = _SCORES + np.array([[0], [1500], [-900]])
_FAR = _SCORES + np.array([0, 0, 0, 1100, 1100])

HALVES = (
    Case("three queries, 2 keys and 3 keys", _halves(_SCORES, 2, _VALUE)),
    Case("scores around 800", _halves(_SCORES + 800, 2, _VALUE)),
    Case("a second half whose scores are 1100 higher", _halves(_FAR, 3, _VALUE)),
    Case("queries whose scores lie far apart", _halves(_APART, 3, _VALUE)),
)

TILES = (
    Case("12 queries, 8 keys, 4 rows in a tile", _sizes(n_queries=12, n_keys=8, d=3, rows=4)),
    Case("tiles that do not fit evenly", _sizes(n_queries=10, n_keys=7, d=2, rows=4)),
    Case("a tile larger than the text", _sizes(n_queries=5, n_keys=6, d=2, rows=8)),
)

EXERCISES = (
    Exercise(
        "the exponent: the slope of the straight line fitted to all points on log axes, lengths "
        "across and costs up.",
        fitted_exponent,
        COSTS,
        EXPONENT,
    ),
    Exercise(
        "how many scores count when each query sees itself and at most window tokens before it.",
        window_scores,
        WINDOWS,
        WINDOW,
    ),
    Exercise(
        "the output (query, d) over all keys, from what was kept of two halves of them.",
        merged_output,
        HALVES,
        MERGE,
    ),
    Exercise(
        "how many numbers tiled attention moves between slow and fast memory: queries, outputs, "
        "and for every tile of queries all keys and values.",
        numbers_moved,
        TILES,
        MOVED,
    ),
)

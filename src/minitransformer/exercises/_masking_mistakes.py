"""What goes wrong in assignment 2: the wrong formulas, and what their writers are told."""

import numpy as np

from ..reference import scaled_dot_product_attention, softmax
from ._exercise import Misconception
from ._formulas import bare_softmax

__all__ = ["CACHED", "PACKED", "WINDOWS", "leaking", "slots"]

UPSIDE_DOWN = "The mask is the wrong way round: True is for what may be seen."

# --- window_mask ---------------------------------------------------------------------------------


def _gap(n_queries, n_keys, q_offset):
    """How many places a key lies before the query; negative where it comes later."""
    return np.subtract.outer(np.arange(n_queries) + q_offset, np.arange(n_keys))


def _opened(gap, least, most, n_first):
    """Gaps from least to most, and the first keys as far as they do not come later."""
    first = np.arange(gap.shape[1]) < n_first
    return (gap >= least) & (gap <= most) | first & (gap >= 0)


WINDOWS = (
    Misconception(
        "Your window is one key too narrow: left counts the keys before the query's own.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, q_offset), 0, left - 1, n_first
        ),
    ),
    Misconception(
        "The first tokens are not kept: they stay open when the window has moved on.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, q_offset), 0, left, 0
        ),
    ),
    Misconception(
        "You keep one first token too many: the keys are counted from 0.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, q_offset), 0, left, n_first + 1
        ),
    ),
    Misconception(
        "There is no window: keys further back than left are still seen.",
        lambda n_queries, n_keys, q_offset, left, n_first: _gap(n_queries, n_keys, q_offset) >= 0,
    ),
    Misconception(
        "Your window opens to both sides, so that queries look ahead.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, q_offset), -left, left, n_first
        ),
    ),
    Misconception(
        "The first tokens are seen before they have come: they too must not be later than the "
        "query.",
        lambda n_queries, n_keys, q_offset, left, n_first: (
            _opened(_gap(n_queries, n_keys, q_offset), 0, left, 0) | (np.arange(n_keys) < n_first)
        ),
    ),
    Misconception(
        UPSIDE_DOWN,
        lambda n_queries, n_keys, q_offset, left, n_first: (
            ~_opened(_gap(n_queries, n_keys, q_offset), 0, left, n_first)
        ),
    ),
    Misconception(
        "q_offset is missing: query 0 stands at place q_offset, not at 0.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, 0), 0, left, n_first
        ),
    ),
    Misconception(
        "You lined up the last query with the last key. q_offset says where the queries stand; "
        "the keys behind them are still to come.",
        lambda n_queries, n_keys, q_offset, left, n_first: _opened(
            _gap(n_queries, n_keys, n_keys - n_queries), 0, left, n_first
        ),
    ),
)

# --- packed_mask ---------------------------------------------------------------------------------


def _pairs(documents):
    """The numbers of the querying token and of the key, to be laid over one another."""
    return documents[:, None, :, None], documents[:, None, None, :]


def _same(documents):
    query, key = _pairs(documents)
    return (query == key) & (query != 0)


def _both_real(documents):
    query, key = _pairs(documents)
    return (query != 0) & (key != 0)


PACKED = (
    Misconception(
        "Your tokens see later ones of their text: nothing is causal here.",
        _same,
    ),
    Misconception(
        "You look the wrong way: tokens see what comes after them.",
        lambda documents: np.triu(_same(documents)),
    ),
    Misconception(
        "A token does not see itself here: the diagonal belongs to the mask.",
        lambda documents: np.tril(_same(documents), -1),
    ),
    Misconception(
        "The texts see one another: only tokens with the same number may.",
        lambda documents: np.tril(_both_real(documents)),
    ),
    Misconception(
        "The axis for the heads is missing: (batch, 1, time, time).",
        lambda documents: np.tril(_same(documents))[:, 0],
    ),
    Misconception(
        "The axis for the heads comes after the batch: (batch, 1, time, time).",
        lambda documents: np.tril(_same(documents))[:, 0][None],
    ),
    Misconception(UPSIDE_DOWN, lambda documents: ~np.tril(_same(documents))),
    Misconception(
        "Padding sees padding: its number, 0, is the same everywhere. It is to see nothing.",
        lambda documents: np.tril(np.equal(*_pairs(documents))),
    ),
)

# --- masked_attention ----------------------------------------------------------------------------


def _scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])


def slots(known):
    """The misconceptions about hidden slots; one starts from the kept answers."""
    return (
        Misconception(
            "That is attention without the mask.",
            lambda query, key, value, mask: bare_softmax(_scores(query, key)) @ value,
        ),
        Misconception(
            "You masked after softmax: the hidden keys are still in the sum that the weights were "
            "divided by. Set the scores to -inf before softmax.",
            lambda query, key, value, mask: (bare_softmax(_scores(query, key)) * mask) @ value,
        ),
        Misconception(
            "You set the hidden scores to 0, but e to the 0 is 1. Set them to -inf.",
            lambda query, key, value, mask: bare_softmax(_scores(query, key) * mask) @ value,
        ),
        Misconception(
            UPSIDE_DOWN,
            lambda query, key, value, mask: softmax(_scores(query, key), mask=~mask) @ value,
        ),
        Misconception(
            "The scale is missing: divide the products by the square root of d_k.",
            lambda query, key, value, mask: (
                softmax(_scores(query, key) * np.sqrt(key.shape[-1]), mask=mask) @ value
            ),
        ),
        Misconception(
            "A query that may attend to nothing gives 0 / 0, which is NaN. Its output is to be 0: "
            "divide by 1 where the sum is 0.",
            lambda query, key, value, mask: (
                bare_softmax(np.where(mask, _scores(query, key), -np.inf)) @ value
            ),
        ),
        Misconception(
            "A query that may attend to nothing gets the mean of all values: that is what a large "
            "negative number instead of -inf does. Its output is to be 0.",
            lambda query, key, value, mask: (
                bare_softmax(np.where(mask, _scores(query, key), -1e30)) @ value
            ),
        ),
        Misconception(
            "The weights are 0 where they should be, but 0 times NaN or infinity is NaN. Put 0 in "
            "place of the values that no query reads.",
            lambda query, key, value, mask: softmax(_scores(query, key), mask=mask) @ value,
        ),
        Misconception(
            "The library's function refuses values that are not finite. Put 0 in place of those "
            "that no query reads, then call it.",
            lambda query, key, value, mask: scaled_dot_product_attention(query, key, value, mask)[
                0
            ],
        ),
        Misconception(
            "Infinity is left among the values: 0 times infinity is NaN as well.",
            lambda query, key, value, mask: (
                softmax(_scores(query, key), mask=mask) @ np.where(np.isnan(value), 0, value)
            ),
        ),
        Misconception(
            "You turned NaN into 0 at the end, and with it outputs that were right but for a slot.",
            lambda query, key, value, mask: (
                known(query, key, value, mask)
                * np.isfinite(value).all(axis=(-2, -1))[..., None, None]
            ),
        ),
    )


# --- looks_ahead ---------------------------------------------------------------------------------


def _but(known, name, answer):
    """Right but for one attention."""
    return lambda attention, x: np.where(attention.__name__ == name, answer, known(attention, x))


def leaking(known):
    """The misconceptions about leaks, from the kept answers: there is no test here."""
    return (
        Misconception(
            "You found no leak where there is no mask at all. Change a token in a copy of x and "
            "compare the outputs before it with those for x.",
            lambda attention, x: np.array(False),
        ),
        Misconception(
            "You found a leak in attention with a causal mask. The output of the changed token "
            "itself may change, and those after it; look at the outputs before it.",
            _but(known, "causal", True),
        ),
        Misconception(
            "You missed a leak of one output alone. Change each token in turn, and look at all "
            "outputs before it.",
            _but(known, "third_output_sees_the_fifth_token", False),
        ),
        Misconception(
            "You missed a leak in an attention that normalises its tokens: it does not notice "
            "every change. Change the numbers of a token by different amounts.",
            _but(known, "no_mask_tokens_normalised", False),
        ),
        Misconception(
            "You took rounding for a leak: only a change of more than 1e-6 is one.",
            _but(known, "causal_but_for_rounding", True),
        ),
        Misconception(
            "You missed a weak leak: a change of more than 1e-6 is one.",
            _but(known, "causal_with_a_weak_leak", False),
        ),
    )


# --- cache_mask ----------------------------------------------------------------------------------


def _up_to(last, n_slots):
    """Slots up to the last one of each text and new token, (text, new)."""
    return np.greater_equal.outer(last, np.arange(n_slots))[:, None]


def _own(lengths, n_new):
    return np.add.outer(lengths, np.arange(n_new))


CACHED = (
    Misconception(
        "The mask is lined up top-left, as if the caches were empty.",
        lambda lengths, n_new, n_slots: _up_to(_own(0 * lengths, n_new), n_slots),
    ),
    Misconception(
        "The mask is lined up bottom-right, as if all slots were in use.",
        lambda lengths, n_new, n_slots: _up_to(_own(0 * lengths + n_slots - n_new, n_new), n_slots),
    ),
    Misconception(
        "A new token does not see itself here: its own slot is lengths + its number.",
        lambda lengths, n_new, n_slots: _up_to(_own(lengths, n_new) - 1, n_slots),
    ),
    Misconception(
        "You open one slot too many, which is not in use yet.",
        lambda lengths, n_new, n_slots: _up_to(_own(lengths, n_new) + 1, n_slots),
    ),
    Misconception(
        "You took the longest cache for all texts: each has its own length.",
        lambda lengths, n_new, n_slots: _up_to(_own(0 * lengths + lengths.max(), n_new), n_slots),
    ),
    Misconception(
        "The axis for the heads is missing: (batch, 1, n_new, n_slots).",
        lambda lengths, n_new, n_slots: _up_to(_own(lengths, n_new), n_slots)[:, 0],
    ),
    Misconception(
        UPSIDE_DOWN, lambda lengths, n_new, n_slots: ~_up_to(_own(lengths, n_new), n_slots)
    ),
    Misconception(
        "The new tokens see one another in both directions; they too come one after the other.",
        lambda lengths, n_new, n_slots: _up_to(
            _own(lengths + n_new - 1, n_new) - np.arange(n_new), n_slots
        ),
    ),
    Misconception(
        "The new tokens see the cache alone, not those before them in the chunk, nor themselves.",
        lambda lengths, n_new, n_slots: _up_to(
            _own(lengths - 1, n_new) - np.arange(n_new), n_slots
        ),
    ),
)

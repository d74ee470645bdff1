"""What goes wrong in assignment 5: the wrong formulas, and what their writers are told."""

import numpy as np

from ..reference import causal_mask, scaled_dot_product_attention
from ._exercise import Misconception

__all__ = ["GROUPED", "LONGEST", "MERGED", "ROLLED", "UNTILED"]


# --- grouped_attention ---------------------------------------------------------------------------


def _attend(query, key, value, mask=None, scale=None):
    return scaled_dot_product_attention(query, key, value, mask, scale)[0]


def _mask(query, key, before):
    return causal_mask(query.shape[1], key.shape[1], q_offset=before)


def _grouped(query, key, value, heads, before):
    return _attend(query, key[heads], value[heads], _mask(query, key, before))


def _by_share(query, key, value, kv_of_head):
    heads = np.arange(len(query)) * len(key) // len(query)
    return _grouped(query, key, value, heads, key.shape[1] - query.shape[1])


def _by_turn(query, key, value, kv_of_head):
    heads = np.arange(len(query)) % len(key)
    return _grouped(query, key, value, heads, key.shape[1] - query.shape[1])


GROUPED = (
    Misconception(
        "The mask is missing: a query sees keys that come after it.",
        lambda query, key, value, kv_of_head: _attend(query, key[kv_of_head], value[kv_of_head]),
    ),
    Misconception(
        "Your queries sit at the first tokens. They are those of the last ones: with 5 keys and 2 "
        "queries, query 0 sees 4 keys.",
        lambda query, key, value, kv_of_head: _grouped(query, key, value, kv_of_head, 0),
    ),
    Misconception(
        "You dealt out the key heads in groups of one size. kv_of_head says which one each query "
        "head reads.",
        _by_share,
    ),
    Misconception(
        "You dealt out the key heads in turn. kv_of_head says which one each query head reads.",
        _by_turn,
    ),
    Misconception(
        "A query does not see its own token here. It does: the mask's diagonal belongs to it.",
        lambda query, key, value, kv_of_head: _grouped(
            query, key, value, kv_of_head, key.shape[1] - query.shape[1] - 1
        ),
    ),
    Misconception(
        "The keys go by kv_of_head, but the values do not: head 0 of the values serves all.",
        lambda query, key, value, kv_of_head: _attend(
            query, key[kv_of_head], value[:1], _mask(query, key, key.shape[1] - query.shape[1])
        ),
    ),
)

# --- untile --------------------------------------------------------------------------------------


UNTILED = (
    Misconception(
        "You went the other way round, from our order to the file's: 0 1 2 3 4 5 became "
        "0 3 1 4 2 5. Those that share a key head are to stand side by side.",
        lambda heads, n_kv_heads: heads[np.arange(len(heads)).reshape(n_kv_heads, -1).T.ravel()],
    ),
    Misconception(
        "The heads stand as they did: the query heads are to move.",
        lambda heads, n_kv_heads: heads,
    ),
    Misconception(
        "The groups are right, but inside a group the order is turned round: heads that share a "
        "key head keep their order.",
        lambda heads, n_kv_heads: np.concatenate(
            [heads[first::n_kv_heads][::-1] for first in range(n_kv_heads)]
        ),
    ),
    Misconception(
        "You put the group of the last key head first. Key head 0 comes first.",
        lambda heads, n_kv_heads: np.concatenate(
            [heads[first::n_kv_heads] for first in reversed(range(n_kv_heads))]
        ),
    ),
    Misconception(
        "You repeated heads, as if there were too few. Every head is there once and only moves.",
        lambda heads, n_kv_heads: np.repeat(heads[:n_kv_heads], len(heads) // n_kv_heads, axis=0),
    ),
)

# --- merge_fused ---------------------------------------------------------------------------------


def _merged(weight, n_heads, merge, parts=(False, True, True)):
    """The three parts of a fused matrix, those asked for put through ``merge`` as heads."""
    d_head = len(weight) // (3 * n_heads)
    cut = weight.reshape(3, n_heads, d_head, -1)
    rows = [merge(part) if chosen else part for part, chosen in zip(cut, parts, strict=True)]
    return np.concatenate([part.reshape(-1, weight.shape[1]) for part in rows])


def _in_groups(heads, n_left):
    return heads.reshape(n_left, -1, *heads.shape[1:])


def _whole_head(weight, n_heads, n_left):
    """Query, key and value of head 0, then those of head 1: another layout of the rows."""
    d_head = len(weight) // (3 * n_heads)
    query, *others = weight.reshape(n_heads, 3, d_head, -1).swapaxes(0, 1)
    rows = [query, *(_in_groups(part, n_left).mean(axis=1) for part in others)]
    return np.concatenate([part.reshape(-1, weight.shape[1]) for part in rows])


MERGED = (
    Misconception(
        "You merged every n-th head. A group is made of neighbours: the first n_heads / n_left "
        "heads are group 0.",
        lambda weight, n_heads, n_left: _merged(
            weight, n_heads, lambda h: h.reshape(-1, n_left, *h.shape[1:]).mean(axis=0)
        ),
    ),
    Misconception(
        "You added up the heads of a group. Take their mean.",
        lambda weight, n_heads, n_left: _merged(
            weight, n_heads, lambda h: _in_groups(h, n_left).sum(axis=1)
        ),
    ),
    Misconception(
        "You kept the first head of each group. Take the mean of its members.",
        lambda weight, n_heads, n_left: _merged(
            weight, n_heads, lambda h: _in_groups(h, n_left)[:, 0]
        ),
    ),
    Misconception(
        "You merged the queries as well. They stay: every query head goes on asking for itself.",
        lambda weight, n_heads, n_left: _merged(
            weight, n_heads, lambda h: _in_groups(h, n_left).mean(axis=1), (True, True, True)
        ),
    ),
    Misconception(
        "You merged the keys alone. The values have to become fewer as well.",
        lambda weight, n_heads, n_left: _merged(
            weight, n_heads, lambda h: _in_groups(h, n_left).mean(axis=1), (False, True, False)
        ),
    ),
    Misconception(
        "You took the rows of a head's query, key and value to stand together. First come the "
        "queries of all heads, then all keys, then all values.",
        _whole_head,
    ),
    Misconception(
        "You took the mean over neighbouring rows. The rows of a head stay apart: row 0 of a head "
        "is averaged with row 0 of the others.",
        lambda weight, n_heads, n_left: _merged(
            weight,
            n_heads,
            lambda h: h.reshape(-1, n_heads // n_left, h.shape[2]).mean(axis=1),
        ),
    ),
)

# --- longest_text --------------------------------------------------------------------------------


def _plain(n_bytes, layers, of_one_token, max_length):
    """As many tokens as fit when each takes the same."""
    return np.minimum(n_bytes // (layers * of_one_token), max_length)


LONGEST = (
    Misconception(
        "Keys *and* values are kept: the factor 2 is missing.",
        lambda n, full, part, window, kv, d, size, most: _plain(
            n, full + part, kv * d * size, most
        ),
    ),
    Misconception(
        "That is the length for a single layer. Every layer keeps keys and values of its own.",
        lambda n, full, part, window, kv, d, size, most: _plain(n, 1, 2 * kv * d * size, most),
    ),
    Misconception(
        "These are numbers, not bytes: each takes bytes_per_number.",
        lambda n, full, part, window, kv, d, size, most: _plain(n, full + part, 2 * kv * d, most),
    ),
    Misconception(
        "That is more than the model takes: max_length is the limit then.",
        lambda n, full, part, window, kv, d, size, most: _plain(
            n, full + part, 2 * kv * d * size, n
        ),
    ),
    Misconception(
        "A token fits or it does not: return a whole number, rounded down.",
        lambda n, full, part, window, kv, d, size, most: np.minimum(
            n / ((full + part) * 2 * kv * d * size), most
        ),
    ),
    Misconception(
        "Here the windows go on growing. A layer with a window never holds more than window "
        "tokens, so that the rest is for the other layers.",
        lambda n, full, part, window, kv, d, size, most: _plain(
            n, full + part, 2 * kv * d * size, most
        ),
    ),
    Misconception(
        "You left the layers with a window out. They hold tokens too.",
        lambda n, full, part, window, kv, d, size, most: _plain(n, full, 2 * kv * d * size, most),
    ),
    Misconception(
        "You set a full window aside for every such layer. A text that is shorter than the window "
        "takes less.",
        lambda n, full, part, window, kv, d, size, most: np.minimum(
            (n // (2 * kv * d * size) - part * window) // full, most
        ),
    ),
)

# --- rolled --------------------------------------------------------------------------------------


def _windowed(queries, keys, values, first, last=1):
    """Outputs of each query over the tokens from first(t) up to t + last."""
    outputs = []
    for token, query in enumerate(queries):
        span = slice(first(token), token + last)
        outputs.append(_attend(query[None], keys[span], values[span])[0])
    return np.array(outputs)


def _with_empty(queries, keys, values, window):
    """The places without a token are there as zeros."""
    empty = np.zeros((window, keys.shape[1]))
    keys, values = np.concatenate([empty, keys]), np.concatenate([empty, values])
    spans = [slice(token + 1, token + 1 + window) for token in range(len(queries))]
    return np.array(
        [_attend(q[None], keys[s], values[s])[0] for q, s in zip(queries, spans, strict=True)]
    )


def _first_kept(queries, keys, values, window):
    """A full cache takes nothing more."""
    w = window
    return np.array(
        [
            _attend(query[None], keys[:w][: token + 1], values[:w][: token + 1])[0]
            for token, query in enumerate(queries)
        ]
    )


ROLLED = (
    Misconception(
        "The empty places take part: a key of zeros gives the score 0, and 0 is not no weight. "
        "Use the places that are filled.",
        _with_empty,
    ),
    Misconception(
        "The window never closes: all tokens so far take part.",
        lambda q, k, v, window: _windowed(q, k, v, lambda token: 0),
    ),
    Misconception(
        "Once it is full, your cache keeps its first tokens for ever. A new token takes the place "
        "of the oldest.",
        _first_kept,
    ),
    Misconception(
        "Your window is one token too wide: window counts the token itself.",
        lambda q, k, v, window: _windowed(q, k, v, lambda token: max(0, token - window)),
    ),
    Misconception(
        "Your window is one token too narrow: window counts the token itself, and no more than "
        "window - 1 before it.",
        lambda q, k, v, window: _windowed(q, k, v, lambda token: max(0, token + 2 - window)),
    ),
    Misconception(
        "That is the value of the newest token alone.",
        lambda q, k, v, window: v,
    ),
    Misconception(
        "Your window holds whole blocks and starts anew when it is full. It moves on by one token.",
        lambda q, k, v, window: _windowed(q, k, v, lambda token: token - token % window),
    ),
)

"""Positions: what sinusoidal and rotary positions do to vectors, and to the score of two of them.

A query and a key of the same content stand at two places. The reader moves them, apart or together,
and sees the score, one pair of dimensions as a turning hand, and all positions as a map.
"""

import numpy as np
import traitlets

from .. import reference
from ._base import Real, Tokens, Whole, Widget

__all__ = ["Positions"]

KINDS = ("none", "sinusoidal", "rotary")
WIDTHS = (2, 4, 8, 16, 32)
MOST_POSITIONS, MOST_WORDS = 64, 6


class Positions(Widget):
    """Explore how positions are told, and what the score of two tokens makes of them.

    Parameters
    ----------
    kind : "none", "sinusoidal" or "rotary"
        Nothing; sines and cosines added to the content; the content turned, in half-split pairs.
    n_positions : int, 2 to 64
    d_model : 2, 4, 8, 16 or 32
    base : float, 1 to 1e6
        Pair i turns by ``base ** (-2 i / d_model)`` a position.
    query_at, key_at : int
        Positions of the query and the key, which both have the content 1 in every dimension.
    pair : int
        Which pair of dimensions is shown as a hand.
    words : list of 2 to 6 strings
        A sentence that is read forwards and backwards; each word has a made-up content of its own.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> scores = Positions(kind="rotary").scores
    >>> scores[[9, 20], [5, 16]].round(6)  # twice 4 apart
    array([2.779838, 2.779838])

    Source: Vaswani et al. 2017, section 3.5; Su et al. 2021, "RoFormer", section 3.2.2.
    """

    _module = "positions"
    _parts = (*Widget._parts, "linked", "position_math", "position_pictures")

    kind = traitlets.Enum(KINDS, "sinusoidal").tag(sync=True)
    n_positions = Whole(32, most=MOST_POSITIONS).tag(sync=True)
    d_model = traitlets.Enum(WIDTHS, 16).tag(sync=True)
    base = Real(10000.0, least=1, most=1e6).tag(sync=True)
    query_at = Whole(9, most=MOST_POSITIONS - 1).tag(sync=True)
    key_at = Whole(5, most=MOST_POSITIONS - 1).tag(sync=True)
    pair = Whole(1, most=WIDTHS[-1] // 2 - 1).tag(sync=True)
    words = Tokens(("Hund", "beißt", "Mann"), most=MOST_WORDS).tag(sync=True)

    @traitlets.validate("n_positions", "d_model", "query_at", "key_at", "pair", "words")
    def _fits(self, proposal):
        names = ("n_positions", "d_model", "query_at", "key_at", "pair", "words")
        inputs = {name: getattr(self, name) for name in names}
        inputs[proposal["trait"].name] = proposal["value"]
        if inputs["n_positions"] < 2:
            raise traitlets.TraitError(
                f"n_positions must be 2 to {MOST_POSITIONS}, got {inputs['n_positions']}"
            )
        if len(inputs["words"]) < 2:
            raise traitlets.TraitError("words must hold at least 2 strings, for two orders; got 1")
        for name, limit in (
            ("query_at", inputs["n_positions"]),
            ("key_at", inputs["n_positions"]),
            ("pair", inputs["d_model"] // 2),
        ):
            if inputs[name] >= limit:
                raise traitlets.TraitError(
                    f"{name} must be 0 to {limit - 1} with n_positions = "
                    f"{inputs['n_positions']} and d_model = {inputs['d_model']}, "
                    f"got {inputs[name]}"
                )
        return proposal["value"]

    def _place(self, content):
        """``content`` (position, d_model) as it is after positions were told."""
        if self.kind == "none":
            return content
        from ..positions import rotary_cos_sin, rotate_pairs  # here, because it needs torch

        cos, sin = rotary_cos_sin(len(content), self.d_model, self.base)  # in double precision
        if self.kind == "sinusoidal":
            return content + np.stack([sin, cos], axis=-1).reshape(content.shape)
        return rotate_pairs(cos.new_tensor(content), cos, sin).numpy()

    @property
    def encoding(self):
        """What is added at each position, or what content of ones is turned into.

        Array (position, d_model); without positions all 0.
        """
        fill = 1.0 if self.kind == "rotary" else 0.0
        return self._place(np.full((self.n_positions, self.d_model), fill))

    @property
    def scores(self):
        """Scores of content of ones, for each place of query and key: array (query, key)."""
        placed = self._place(np.ones((self.n_positions, self.d_model)))
        return placed @ placed.T / self.d_model**0.5

    @property
    def order_changes(self):
        """How much each word's output changes when the sentence is read backwards.

        Array (words,) of largest differences in a dimension; queries, keys and values are the
        words' contents themselves.
        """
        (forwards, _), (backwards, _) = self._both_orders()
        return abs(forwards - backwards[::-1]).max(axis=1)

    @property
    def order_weights(self):
        """Weights of the middle word on each word, forwards and backwards: array (2, words)."""
        (_, forwards), (_, backwards) = self._both_orders()
        middle = len(self.words) // 2
        return np.stack([forwards[middle], backwards[::-1][middle, ::-1]])

    def _both_orders(self):
        # the same word has the same content
        words = np.array([[self.words.index(word) + 1] for word in self.words])
        content = np.sin(1.3 * words * np.arange(2, self.d_model + 2))
        return [self._read(content), self._read(content[::-1].copy())]  # torch needs a copy

    def _read(self, content):
        placed = self._place(content)
        value = content if self.kind == "rotary" else placed
        return reference.scaled_dot_product_attention(placed, placed, value)

    def _stored_table(self):
        back = min(self.query_at, self.key_at)
        on = self.n_positions - 1 - max(self.query_at, self.key_at)
        shifts = sorted({-back, -(back // 2), 0, on // 2, on})
        places = [(self.query_at + shift, self.key_at + shift) for shift in shifts]
        scores = self.scores
        rows = [[str(query), str(key), f"{scores[query, key]:.3f}"] for query, key in places]
        caption = (
            f"Positions: {self.kind}. Score of one content at two places that are moved together "
            f"(d_model {self.d_model}, base {self.base:g})"
        )
        return caption, ["query at", "key at", "score"], rows

    def __repr__(self):
        names = ("kind", "n_positions", "d_model", "base", "query_at", "key_at")
        return f"Positions({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

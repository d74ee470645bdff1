"""The head board: the weights of several heads side by side, for one sentence.

The reader picks a query, by its token or by a relation such as verb → subject, and sees where each
head looks from there, and what is left of it in the mean of all heads.
"""

import numpy as np
import traitlets

from .. import reference
from .._checks import as_float
from ._base import Tokens, Whole, Widget

__all__ = ["HeadBoard"]

MOST_TOKENS, MOST_HEADS, LIMIT = 20, 8, 1e4


class Heads(traitlets.TraitType):
    """Vectors of several heads, nested lists (heads, tokens, d_head) of finite numbers."""

    def make_dynamic_default(self):
        return np.array(self.default_value).tolist()

    def validate(self, obj, value):
        try:
            array = as_float(self.name, value)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None
        if array.ndim != 3 or not 1 <= len(array) <= MOST_HEADS or array.size == 0:
            raise traitlets.TraitError(
                f"{self.name} must have shape (heads, tokens, d_head) with 1 to {MOST_HEADS} "
                f"heads, got shape {array.shape}"
            )
        if not (abs(array) <= LIMIT).all():  # NaN is not <= anything
            raise traitlets.TraitError(
                f"{self.name} must hold finite numbers of size at most {LIMIT:g}"
            )
        return array.astype(float).tolist()


class Links(traitlets.TraitType):
    """Relations to look at: a list of [name, place of the query, place of the key]."""

    def make_dynamic_default(self):
        return [list(link) for link in self.default_value]

    def validate(self, obj, value):
        for link in value if isinstance(value, (list, tuple)) else [None]:
            fits = isinstance(link, (list, tuple)) and len(link) == 3
            if not fits or not isinstance(link[0], str) or not link[0].strip():
                raise traitlets.TraitError(
                    f"{self.name} must be a list of [name, query, key], got {link!r}"
                )
            for place in link[1:]:
                whole = isinstance(place, int) and not isinstance(place, bool)
                if not whole or not 0 <= place < MOST_TOKENS:
                    raise traitlets.TraitError(
                        f"{self.name}: the places of {link[0]!r} are indices of tokens, "
                        f"got {place!r}"
                    )
        return [list(link) for link in value]


class HeadBoard(Widget):
    """Compare where several heads look.

    Parameters
    ----------
    tokens : list of 1 to 20 strings
    head_queries, head_keys : nested lists or arrays (heads, tokens, d_head), 1 to 8 heads
    links : list of [name, place of the query, place of the key]
        Relations that the reader may pick.
    query : int
        Index of the token whose rows are shown.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> board = HeadBoard()
    >>> board.weights.shape
    (2, 3, 3)
    >>> board.weights[:, 2].round(2)
    array([[0.09, 0.85, 0.07],
           [0.61, 0.34, 0.05]])

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
    """

    _module = "head_board"
    _parts = (*Widget._parts, "linked")

    tokens = Tokens(("the", "dog", "sleeps"), most=MOST_TOKENS).tag(sync=True)
    head_queries = Heads((((1, 0), (0, 1), (0, 2)), ((0, 1), (1, 0), (2, 1)))).tag(sync=True)
    head_keys = Heads((((0.5, 0.2), (0, 1.8), (1, 0)), ((1.5, 1), (1.5, 0.2), (0, 0.5)))).tag(
        sync=True
    )
    links = Links((("verb → subject", 2, 1),)).tag(sync=True)
    query = Whole(0, most=MOST_TOKENS - 1).tag(sync=True)

    @traitlets.validate("tokens", "head_queries", "head_keys", "links", "query")
    def _fits(self, proposal):
        names = ("tokens", "head_queries", "head_keys", "links", "query")
        inputs = {name: getattr(self, name) for name in names}
        inputs[proposal["trait"].name] = proposal["value"]
        n_tokens = len(inputs["tokens"])
        shapes = [np.shape(inputs[name]) for name in ("head_queries", "head_keys")]
        if shapes[0] != shapes[1] or shapes[0][1] != n_tokens:
            raise traitlets.TraitError(
                f"head_queries and head_keys need one shape (heads, {n_tokens} tokens, "
                f"d_head), got {shapes[0]} and {shapes[1]}"
            )
        places = [place for link in inputs["links"] for place in link[1:]]
        if max([inputs["query"], *places]) >= n_tokens:
            raise traitlets.TraitError(
                f"query and the places of links are indices of tokens, 0 to {n_tokens - 1}"
            )
        return proposal["value"]

    @property
    def weights(self):
        """The weights of all heads, array (head, query, key)."""
        keys = np.array(self.head_keys)
        return reference.scaled_dot_product_attention(self.head_queries, keys, keys)[1]

    def _stored_table(self):
        weights = self.weights
        heads = [f"head {h}" for h in range(len(weights))]
        rows = [
            [
                f"{name}: {self.tokens[q]} → {self.tokens[k]}",
                *(f"{w:.2f}" for w in weights[:, q, k]),
            ]
            for name, q, k in self.links
        ]
        return "Weight of each head on each relation", ["relation", *heads], rows

    def __repr__(self):
        return (
            f"HeadBoard(tokens={self.tokens}, heads={len(self.head_queries)}, "
            f"query={self.tokens[self.query]!r})"
        )

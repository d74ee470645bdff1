"""Library search: a request among cards in the plane, and the mixture of books it gets.

The reader moves the request and the cards, sharpens and softens, and sees dot products, scores,
weights and the mixed value.
"""

import numpy as np
import traitlets

from .. import reference
from ._base import Matrix, Real, Tokens, Widget

__all__ = ["LibrarySearch"]


class LibrarySearch(Widget):
    """Look up one request, hard or soft, among keys in the plane.

    Parameters
    ----------
    words : list of 1 to 12 strings
        The names on the cards.
    key : list of rows, shape (words, 2)
        The cards: what each book can be found by.
    value : list of rows, shape (words, 1)
        The books: one number each.
    query : one row, shape (1, 2)
        The request.
    sharpness : float from 0 to 20
        Factor on the dot products; 0 gives the average, a large one the best card.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state. To change several
        together: ``with search.hold_trait_notifications(): ...``.

    Examples
    --------
    >>> search = LibrarySearch(sharpness=2.0)
    >>> search.weights.round(3), round(search.answer, 3)
    (array([0.015, 0.04 , 0.805, 0.14 ]), 0.842)

    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1, with the sharpness in the
    place of 1 / sqrt(d_k).
    """

    _module = "library_search"
    _parts = (*Widget._parts, "linked", "plane")

    words = Tokens(("Fluss", "Ufer", "Konto", "Kredit")).tag(sync=True)
    key = Matrix(((2, 0), (1.5, 0.5), (0, 2), (0.5, 1.25))).tag(sync=True)
    value = Matrix(((-1,), (-0.8,), (1,), (0.6,)), columns=1).tag(sync=True)
    query = Matrix(((0.5, 1.5),), rows=1).tag(sync=True)
    sharpness = Real(1.0, least=0.0, most=20.0).tag(sync=True)

    @traitlets.validate("words", "key", "value")
    def _fits(self, proposal):
        inputs = {name: getattr(self, name) for name in ("words", "key", "value")}
        inputs[proposal["trait"].name] = proposal["value"]
        if len({len(rows) for rows in inputs.values()}) > 1:
            counts = ", ".join(f"{name} has {len(rows)}" for name, rows in inputs.items())
            raise traitlets.TraitError(
                f"every word needs one key and one value: {counts}. Change them inside "
                "`with search.hold_trait_notifications():`"
            )
        return proposal["value"]

    @property
    def scores(self):
        """Sharpness times dot product, array (words,)."""
        return self.sharpness * (np.array(self.key) @ self.query[0])

    @property
    def weights(self):
        """What the softmax makes of the scores, array (words,); their sum is 1."""
        return self._look_up()[1][0]

    @property
    def answer(self):
        """The values mixed by the weights, a float."""
        return float(self._look_up()[0][0, 0])

    def _look_up(self):
        return reference.scaled_dot_product_attention(
            self.query, self.key, self.value, scale=self.sharpness
        )

    def _stored_table(self):
        columns = (self.words, self.key, self.value, self.scores, self.weights)
        rows = [
            [word, f"[{x:g}, {y:g}]", f"{book:g}", f"{score:.3f}", f"{weight:.3f}"]
            for word, (x, y), (book,), score, weight in zip(*columns, strict=True)
        ]
        x, y = self.query[0]
        caption = (
            f"The request [{x:g}, {y:g}] among the cards, sharpness {self.sharpness:g}. "
            f"Answer: {self.answer:.3f}"
        )
        return caption, ["word", "card (key)", "book (value)", "score", "weight"], rows

    def __repr__(self):
        return (
            f"LibrarySearch(words={self.words}, query={self.query[0]}, sharpness={self.sharpness})"
        )

"""The mask explorer: which keys each query may attend to, and what its weights become.

The reader sets the numbers of queries and keys, where the first query stands, a causal mask, a
window and padding. The scores stay as they are; the weights are computed anew.
"""

import numpy as np
import traitlets

from .. import reference
from ._base import Whole, Widget

__all__ = ["MaskExplorer"]

MOST = 10


class MaskExplorer(Widget):
    """See a mask and the weights under it, for made-up scores.

    Parameters
    ----------
    n_queries, n_keys : int, 1 to 10
    q_offset : int, 0 to 9
        How many keys come before the first query.
    causal : bool
        No query sees a later key.
    window : int, 0 to 9, optional
        A query sees at most so many keys before its own place and, without the causal mask, as
        many after it; ``None`` = no limit.
    pad_left, pad_right : int
        How many keys at either end are padding, which nobody sees.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> MaskExplorer(n_queries=2, n_keys=5, q_offset=3, pad_left=1).mask.astype(int)
    array([[0, 1, 1, 1, 0],
           [0, 1, 1, 1, 1]])

    Source: Vaswani et al. 2017, section 3.2.3; window: Beltagy et al. 2020, section 3.1.
    """

    _module = "mask_explorer"

    n_queries = Whole(6, most=MOST).tag(sync=True)
    n_keys = Whole(6, most=MOST).tag(sync=True)
    q_offset = Whole(0, most=MOST - 1).tag(sync=True)
    causal = traitlets.Bool(True).tag(sync=True)
    window = Whole(None, most=MOST - 1, allow_none=True).tag(sync=True)
    pad_left = Whole(0, most=MOST).tag(sync=True)
    pad_right = Whole(0, most=MOST).tag(sync=True)

    @traitlets.validate("n_queries", "n_keys", "pad_left", "pad_right")
    def _fits(self, proposal):
        names = ("n_queries", "n_keys", "pad_left", "pad_right")
        inputs = {name: getattr(self, name) for name in names}
        inputs[proposal["trait"].name] = proposal["value"]
        for name in ("n_queries", "n_keys"):
            if inputs[name] < 1:
                raise traitlets.TraitError(f"{name} must be 1 to {MOST}, got {inputs[name]}")
        padding = inputs["pad_left"] + inputs["pad_right"]
        if padding > inputs["n_keys"]:
            raise traitlets.TraitError(
                f"pad_left and pad_right are {padding} together, more than the "
                f"{inputs['n_keys']} keys"
            )
        return proposal["value"]

    @property
    def places(self):
        """Where each query stands, counted from 0 like the keys."""
        return self.q_offset + np.arange(self.n_queries)

    @property
    def scores(self):
        """Made-up scores between -1.5 and 1.5 that depend on the places alone, (query, key)."""
        return 1.5 * np.sin(2.1 * self.places[:, None] + 3.7 * np.arange(self.n_keys) + 1)

    @property
    def mask(self):
        """Boolean array (query, key), ``True`` = may attend."""
        key, place = np.arange(self.n_keys), self.places[:, None]
        mask = (key >= self.pad_left) & (key < self.n_keys - self.pad_right)
        mask = np.broadcast_to(mask, (self.n_queries, self.n_keys))
        if self.causal:
            mask = mask & reference.causal_mask(self.n_queries, self.n_keys, self.q_offset)
        return mask if self.window is None else mask & (abs(key - place) <= self.window)

    @property
    def weights(self):
        """The weights under the mask, array (query, key); a row that sees nothing is 0."""
        return reference.softmax(self.scores, mask=self.mask)

    def _stored_table(self):
        rows = [
            [str(place + 1), *(f"{w:.2f}" if seen else "–" for w, seen in zip(*row, strict=True))]
            for place, *row in zip(self.places, self.weights, self.mask, strict=True)
        ]
        caption = "Weights under the mask (rows = places of queries, columns = keys; – = hidden)"
        return caption, ["query", *(f"key {j + 1}" for j in range(self.n_keys))], rows

    def __repr__(self):
        names = ("n_queries", "n_keys", "q_offset", "causal", "window", "pad_left", "pad_right")
        return f"MaskExplorer({', '.join(f'{name}={getattr(self, name)}' for name in names)})"

"""The attention stepper: one query's way through the four steps of attention.

The reader moves the embeddings in the plane or types them, picks a token and steps through
project, compare, scale and normalise, mix.
"""

import numpy as np
import traitlets

from .. import reference
from ._base import Matrix, Tokens, Whole, Widget

__all__ = ["AttentionStepper"]

STAGES = ("project", "compare", "scale and normalise", "mix")
IDENTITY = ((1.0, 0.0), (0.0, 1.0))


class AttentionStepper(Widget):
    """Step through self-attention over a few tokens with embeddings in the plane.

    Parameters
    ----------
    tokens : list of 1 to 12 strings
    embeddings : list of rows, shape (tokens, 2)
    w_q, w_k, w_v : lists of rows, shape (2, 2)
        The projections to queries, keys and values; the identity if not given.
    query : int
        Index of the token whose query is followed.
    stage : int
        0 = project, 1 = compare, 2 = scale and normalise, 3 = mix.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state. To change ``tokens``
        and ``embeddings`` together: ``with stepper.hold_trait_notifications(): ...``.

    Examples
    --------
    >>> stepper = AttentionStepper(tokens=["bank", "river"], embeddings=[[1, 0], [0, 2]])
    >>> stepper.weights.round(3)
    array([[0.67 , 0.33 ],
           [0.056, 0.944]])

    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
    """

    _module = "attention_stepper"
    _parts = (*Widget._parts, "linked", "plane", "attention_stages")

    tokens = Tokens(("Karina", "geht", "in", "den", "Laden")).tag(sync=True)
    embeddings = Matrix(((1, 0), (0, 1), (1, 1), (1, 1), (0.5, 1))).tag(sync=True)
    w_q = Matrix(IDENTITY, rows=2).tag(sync=True)
    w_k = Matrix(IDENTITY, rows=2).tag(sync=True)
    w_v = Matrix(IDENTITY, rows=2).tag(sync=True)
    query = Whole(0, most=11).tag(sync=True)
    stage = Whole(0, most=len(STAGES) - 1).tag(sync=True)

    @traitlets.validate("tokens", "embeddings", "query")
    def _fits(self, proposal):
        inputs = {name: getattr(self, name) for name in ("tokens", "embeddings", "query")}
        inputs[proposal["trait"].name] = proposal["value"]
        n_tokens, n_rows = len(inputs["tokens"]), len(inputs["embeddings"])
        if n_tokens != n_rows:
            raise traitlets.TraitError(
                f"every token needs one embedding: tokens has {n_tokens} entries, embeddings "
                f"{n_rows} rows. Change both inside `with stepper.hold_trait_notifications():`"
            )
        if inputs["query"] >= n_tokens:
            raise traitlets.TraitError(
                f"query is the index of a token, 0 to {n_tokens - 1}, got {inputs['query']}"
            )
        return proposal["value"]

    @property
    def scores(self):
        """Scaled dot products, array (query, key)."""
        x, w_q, w_k = (np.array(a) for a in (self.embeddings, self.w_q, self.w_k))
        return (x @ w_q) @ (x @ w_k).T / np.sqrt(w_q.shape[1])

    @property
    def weights(self):
        """What the softmax makes of the scores, array (query, key); each row sums to 1."""
        return self._attend()[1]

    @property
    def output(self):
        """The values mixed by the weights, array (query, 2)."""
        return self._attend()[0]

    def _attend(self):
        return reference.self_attention(self.embeddings, self.w_q, self.w_k, self.w_v)

    def _stored_table(self):
        output, weights = self._attend()
        rows = [
            [token, *(f"{w:.3f}" for w in weight_row), f"[{x:.3f}, {y:.3f}]"]
            for token, weight_row, (x, y) in zip(self.tokens, weights, output, strict=True)
        ]
        caption = "Attention weights (rows = queries, columns = keys) and the output of each query"
        return caption, ["query", *self.tokens, "output"], rows

    def __repr__(self):
        return (
            f"AttentionStepper(tokens={self.tokens}, query={self.tokens[self.query]!r}, "
            f"stage={STAGES[self.stage]!r})"
        )

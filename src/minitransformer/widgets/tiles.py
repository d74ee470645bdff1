"""Tiles: attention a few queries and a few keys at a time, step by step.

The reader chooses the tile and steps through: which numbers are in fast memory, what is known of
each query so far, how many numbers have moved, and at the end the output of plain attention.
"""

import numpy as np
import traitlets

from .. import reference, reference_tiled
from ._base import Matrix, Whole, Widget

__all__ = ["Tiles"]

MOST = 8  # queries, keys
MOST_STEPS = MOST * MOST + MOST


def _made_up(phase, step):
    """Eight rows of two numbers with one decimal, between -1.5 and 1.5."""
    angles = phase + step * np.arange(MOST)[:, None] + np.array([0, 2.0])
    return np.round(1.5 * np.sin(angles), 1).tolist()


class Tiles(Widget):
    """Step through attention in tiles with the online softmax.

    Parameters
    ----------
    query, key, value : list of 1 to 8 rows of 2 numbers
        As many keys as values.
    query_tile, key_tile : int, 1 to 8
        How many queries and how many keys are in fast memory at a time; more than there are is
        all of them.
    causal : bool
        Hide later keys; then there must be as many keys as queries. Tiles that are hidden
        altogether are skipped.
    step : int, 0 to 72
        Steps taken: a step computes one tile, or writes the outputs of one tile of queries. More
        than there are is all of them.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state. To change several
        together: ``with tiles.hold_trait_notifications(): ...``.

    Examples
    --------
    >>> tiles = Tiles(query_tile=4, key_tile=8)
    >>> [(step["rows"], step["columns"]) for step in tiles.steps]
    [([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7]), ([0, 1, 2, 3], []), \
([4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]), ([4, 5, 6, 7], [])]

    Source: Dao et al. 2022, "FlashAttention"; queries in the outer loop as in Dao 2023,
    "FlashAttention-2"; `minitransformer.reference_tiled`.
    """

    _module = "tiles"
    _parts = (*Widget._parts, "linked", "tile_math", "tile_picture")

    query = Matrix(_made_up(0.4, 1.7)).tag(sync=True)
    key = Matrix(_made_up(1.0, 2.6)).tag(sync=True)
    value = Matrix(_made_up(2.0, 0.9)).tag(sync=True)
    query_tile = Whole(2, least=1, most=MOST).tag(sync=True)
    key_tile = Whole(4, least=1, most=MOST).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    step = Whole(0, most=MOST_STEPS).tag(sync=True)

    @traitlets.validate("query", "key", "value", "causal")
    def _fits(self, proposal):
        inputs = {name: getattr(self, name) for name in ("query", "key", "value", "causal")}
        inputs[proposal["trait"].name] = proposal["value"]
        counts = {name: len(inputs[name]) for name in ("query", "key", "value")}
        for name, count in counts.items():
            if not 1 <= count <= MOST:
                raise traitlets.TraitError(f"{name} must have 1 to {MOST} rows, got {count}")
        if counts["key"] != counts["value"]:
            raise traitlets.TraitError(
                f"every key needs one value: {counts['key']} keys and {counts['value']} values"
            )
        if inputs["causal"] and counts["query"] != counts["key"]:
            raise traitlets.TraitError(
                "causal needs as many keys as queries, got "
                f"{counts['query']} queries and {counts['key']} keys"
            )
        return proposal["value"]

    def _arrays(self):
        return np.array(self.query), np.array(self.key), np.array(self.value)

    @property
    def steps(self):
        """What each step does: a list of dicts.

        ``rows`` and ``columns``: the queries and keys in fast memory, no columns where outputs
        are written. ``largest``, ``total`` (query,), ``summed`` (query, 2): what is known of
        these queries after the step. ``moved``: numbers moved so far.
        """
        query, key, value = self._arrays()
        steps, moved = [], 0
        for first in range(0, len(query), self.query_tile):
            rows = np.arange(first, min(first + self.query_tile, len(query)))
            moved += query[rows].size
            n_seen = rows[-1] + 1 if self.causal else len(key)
            state = np.full((len(rows), 1), -np.inf), 0.0, np.zeros((len(rows), value.shape[1]))
            for start in range(0, n_seen, self.key_tile):
                columns = np.arange(start, min(start + self.key_tile, n_seen))
                moved += key[columns].size + value[columns].size
                scores = query[rows] @ key[columns].T / np.sqrt(query.shape[1])
                if self.causal:
                    scores = np.where(columns <= rows[:, None], scores, -np.inf)
                state = reference_tiled.online_step(*state, scores, value[columns])
                steps.append(self._step(rows, columns, state, moved))
            moved += state[2].size
            steps.append(self._step(rows, columns[:0], state, moved))
        return steps

    @staticmethod
    def _step(rows, columns, state, moved):
        largest, total, summed = state
        return {
            "rows": rows.tolist(),
            "columns": columns.tolist(),
            "largest": largest[:, 0],
            "total": total[:, 0],
            "summed": summed,
            "moved": moved,
        }

    @property
    def output(self):
        """What the last step leaves: summed / total of every query, array (query, 2)."""
        written = [step for step in self.steps if not step["columns"]]
        return np.concatenate([step["summed"] / step["total"][:, None] for step in written])

    @property
    def plain_output(self):
        """The same from the whole matrix of scores, array (query, 2)."""
        mask = reference.causal_mask(len(self.query)) if self.causal else None
        return reference.scaled_dot_product_attention(*self._arrays(), mask=mask)[0]

    def _stored_table(self):
        rows = [
            [
                str(number),
                _span("query", step["rows"]),
                _span("key", step["columns"]) or "write the outputs",
                f"{step['largest'][0]:.3f}",
                f"{step['total'][0]:.3f}",
                str(step["moved"]),
            ]
            for number, step in enumerate(self.steps, start=1)
        ]
        caption = f"Attention in tiles of {self.query_tile} queries and {self.key_tile} keys"
        heads = ["step", "queries", "keys", "largest", "total (first query)", "moved so far"]
        return caption, heads, rows

    def __repr__(self):
        names = ("query_tile", "key_tile", "causal", "step")
        return f"Tiles({', '.join(f'{name}={getattr(self, name)}' for name in names)})"


def _span(name, places):
    """ "query 1", "keys 3 to 5", or nothing; places are counted from 0, names from 1."""
    if len(places) < 2:
        return "".join(f"{name} {place + 1}" for place in places)
    plural = "queries" if name == "query" else "keys"
    return f"{plural} {places[0] + 1} to {places[-1] + 1}"

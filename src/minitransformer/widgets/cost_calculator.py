"""The cost calculator: scores, multiply-adds and bytes of a transformer against the length.

The reader sets the length and the sizes of a model, sees what each part costs, what doubling the
length does to it, and the straight lines that this gives on logarithmic axes.
"""

import traitlets

from .. import costs
from ._base import Whole, Widget
from .grouping import MOST_HEADS, MOST_LAYERS, Models

__all__ = ["CostCalculator"]

LONGEST, WIDEST = 1_000_000, 16_384
CURVES = ("arithmetic", "memory")


class CostCalculator(Widget):
    """See what a text of ``n`` tokens costs, and what grows with n and what with n².

    Parameters
    ----------
    n : int, 1 to 1,000,000
        Tokens.
    d_model : int, 1 to 16,384
        Width of the model.
    n_layers, n_heads : int, 1 to 128
        ``n_heads`` divides ``d_model``.
    n_kv_heads : int
        A divisor of ``n_heads``.
    causal : bool
        Count only the scores that a causal mask lets count.
    bytes_per_number : 4, 2 or 1
    curves : "arithmetic" or "memory"
        What is drawn.
    models : list of [name, n_layers, n_heads, n_kv_heads, d_head, source]
        What the reader may load.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state. To change several
        together: ``with calculator.hold_trait_notifications(): ...``.

    Examples
    --------
    >>> calculator = CostCalculator(n=1000)
    >>> calculator.costs["scores of one head"], calculator.growth["scores of one head"]
    (1000000, 4.0)

    Source: the formulas of `minitransformer.costs`.
    """

    _module = "cost_calculator"
    _parts = (*Widget._parts, "linked", "costs")

    n = Whole(1000, least=1, most=LONGEST).tag(sync=True)
    d_model = Whole(768, least=1, most=WIDEST).tag(sync=True)
    n_layers = Whole(12, least=1, most=MOST_LAYERS).tag(sync=True)
    n_heads = Whole(12, least=1, most=MOST_HEADS).tag(sync=True)
    n_kv_heads = Whole(12, least=1, most=MOST_HEADS).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    bytes_per_number = traitlets.Enum((4, 2, 1), 2).tag(sync=True)
    curves = traitlets.Enum(CURVES, "arithmetic").tag(sync=True)
    models = Models(costs.PUBLISHED).tag(sync=True)

    @traitlets.validate("d_model", "n_heads", "n_kv_heads")
    def _fits(self, proposal):
        sizes = {name: getattr(self, name) for name in ("d_model", "n_heads", "n_kv_heads")}
        sizes[proposal["trait"].name] = proposal["value"]
        for whole, part in (("d_model", "n_heads"), ("n_heads", "n_kv_heads")):
            if sizes[whole] % sizes[part]:
                raise traitlets.TraitError(
                    f"{whole} {sizes[whole]} must be a multiple of {part} {sizes[part]}"
                )
        return proposal["value"]

    def _count(self, n):
        heads, numbers = self.n_heads, self.bytes_per_number
        sizes = (self.d_model, self.n_layers, heads, self.n_kv_heads)
        one_head = costs.n_scores(n, causal=self.causal)
        products = costs.multiply_adds(n, *sizes, causal=self.causal)
        cached = (self.n_layers, self.n_kv_heads, self.d_model // heads, numbers)
        return {
            "scores of one head": one_head,
            "scores of all heads and layers": one_head * heads * self.n_layers,
            "queries · keys": products.scores,
            "weights · values": products.values,
            "projections": products.projections,
            "feed-forward": products.feed_forward,
            "scores of a layer, stored": costs.score_bytes(n, heads, numbers),
            "scores of a layer, in tiles": costs.tiled_score_bytes(n, heads, numbers),
            "cache of all layers": costs.cache_bytes(n, *cached),
        }

    @property
    def costs(self):
        """What ``n`` tokens cost: two numbers of scores, four of multiply-adds, three of bytes.

        Multiply-adds are those of all layers and heads.
        """
        return self._count(self.n)

    @property
    def growth(self):
        """By what each cost is multiplied when ``n`` doubles."""
        doubled = self._count(2 * self.n)
        return {name: doubled[name] / cost for name, cost in self.costs.items()}

    @property
    def crossing(self):
        """The length from which scores and values cost more than all else."""
        return costs.crossing_length(
            self.d_model, self.n_heads, self.n_kv_heads, causal=self.causal
        )

    def _stored_table(self):
        growth = self.growth
        rows = [[name, f"{cost:,}", f"× {growth[name]:.2f}"] for name, cost in self.costs.items()]
        caption = (
            f"{self.n:,} tokens in {self.n_layers} layers of width {self.d_model} with "
            f"{self.n_heads} heads and {self.n_kv_heads} KV heads, "
            f"{'causal' if self.causal else 'not causal'}: scores, multiply-adds and bytes"
        )
        return caption, ["", "now", "when n doubles"], rows

    def __repr__(self):
        names = ("n", "d_model", "n_layers", "n_heads", "n_kv_heads", "causal", "bytes_per_number")
        return f"CostCalculator({', '.join(f'{name}={getattr(self, name)}' for name in names)})"

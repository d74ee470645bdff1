"""Scaling: what the width of queries and keys, the divisor and a temperature do to the weights.

One random query meets eight random keys. The reader widens the vectors, changes the divisor, the
size of their numbers and the temperature, and sees scores, weights and how sharp these are.
"""

import numpy as np
import traitlets

from .. import reference
from ._base import Real, Whole, Widget

__all__ = ["Scaling"]

WIDTHS = tuple(2**power for power in range(11))
DIVISORS = {"nothing": 0.0, "√d_k": 0.5, "d_k": 1.0}  # powers of d_k
N_KEYS = 8


def _uniform(seed, n):
    """The first ``n`` numbers in [0, 1) of the generator mulberry32, which JavaScript has too."""
    state = np.uint32(seed) + np.arange(1, n + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    mixed = (state ^ (state >> 15)) * (state | 1)
    mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61)
    return (mixed ^ (mixed >> 14)) / 2.0**32


def random_vectors(draw):
    """Independent normal numbers of variance 1: a query and then the keys, (1 + keys, 1024).

    >>> random_vectors(draw=3).shape
    (9, 1024)

    Source: Box and Muller 1958, "A note on the generation of random normal deviates".
    """
    n = (1 + N_KEYS) * WIDTHS[-1]
    radius, angle = _uniform(draw, 2 * n).reshape(n, 2).T
    normal = np.sqrt(-2 * np.log(1 - radius)) * np.cos(2 * np.pi * angle)
    return normal.reshape(1 + N_KEYS, WIDTHS[-1])


class Scaling(Widget):
    """See how wide vectors sharpen the weights, and what a divisor does about it.

    Parameters
    ----------
    d_k : 1, 2, 4, ..., 1024
        Width of the query and the keys.
    divisor : "nothing", "√d_k" or "d_k"
    size : float, 0.25 to 4
        Standard deviation of the numbers in query and keys.
    temperature : float, 0.1 to 10
        Divides the scores once more.
    draw : int, 0 to 9999
        Which random vectors.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> bool(Scaling(divisor="nothing").effective_keys < Scaling(divisor="√d_k").effective_keys)
    True

    Source: Vaswani et al. 2017, section 3.2.1.
    """

    _module = "scaling"
    _parts = (*Widget._parts, "linked")

    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    divisor = traitlets.Enum(tuple(DIVISORS), "√d_k").tag(sync=True)
    size = Real(1.0, least=0.25, most=4).tag(sync=True)
    temperature = Real(1.0, least=0.1, most=10).tag(sync=True)
    draw = Whole(0, most=9999).tag(sync=True)

    @property
    def products(self):
        """Dot products of the query with each key, array (key,)."""
        query, *keys = random_vectors(self.draw)[:, : self.d_k] * self.size
        return np.array(keys) @ query

    @property
    def scores(self):
        """Products over the divisor and the temperature, array (key,)."""
        return self.products / self.d_k ** DIVISORS[self.divisor] / self.temperature

    @property
    def weights(self):
        """What softmax makes of the scores, array (key,)."""
        return reference.softmax(self.scores)

    @property
    def effective_keys(self):
        """e to the power of the entropy of the weights, 1 to 8."""
        weights = self.weights
        return np.exp(-(weights * np.log(np.where(weights > 0, weights, 1))).sum())

    @property
    def jacobian_norm(self):
        """Frobenius norm of the slopes of the weights with respect to the scores."""
        weights = self.weights
        return np.linalg.norm(np.diag(weights) - np.outer(weights, weights))

    def _stored_table(self):
        columns = zip(self.products, self.scores, self.weights, strict=True)
        rows = [
            [f"key {j}", f"{product:.2f}", f"{score:.3f}", f"{weight:.3f}"]
            for j, (product, score, weight) in enumerate(columns, start=1)
        ]
        caption = (
            f"A random query of width {self.d_k} and 8 keys; divided by {self.divisor}, "
            f"temperature {self.temperature:g}: effectively {self.effective_keys:.2f} keys"
        )
        return caption, ["", "product", "score", "weight"], rows

    def __repr__(self):
        names = ("d_k", "divisor", "size", "temperature", "draw")
        return f"Scaling({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

"""Grouping and cache: which query head reads which KV head, and what the cache weighs.

The reader sets heads, groups, layers, length and batch, or loads a published model, and sees the
cache beside that of full multi-head and of multi-query attention.
"""

import numpy as np
import traitlets

from .. import costs
from ._base import Whole, Widget

__all__ = ["GroupingAndCache", "Models"]

MOST_HEADS, MOST_LAYERS, MOST_WIDTH = 128, 128, 512
SIZES = ("n_layers", "n_heads", "n_kv_heads", "d_head")


class Models(traitlets.TraitType):
    """Models to load: a list of [name, n_layers, n_heads, n_kv_heads, d_head, source]."""

    def make_dynamic_default(self):
        return [list(model) for model in self.default_value]

    def validate(self, obj, value):
        for model in value if isinstance(value, (list, tuple)) else [None]:
            if not isinstance(model, (list, tuple)) or len(model) != 6:
                raise traitlets.TraitError(
                    f"{self.name} must be a list of [name, {', '.join(SIZES)}, source], "
                    f"got {model!r}"
                )
            name, *sizes, source = model
            if not all(isinstance(text, str) and text.strip() for text in (name, source)):
                raise traitlets.TraitError(
                    f"{self.name}: name and source must be strings that are not blank, "
                    f"got {name!r} and {source!r}"
                )
            self._check_sizes(name, *sizes)
        return [list(model) for model in value]

    def _check_sizes(self, name, n_layers, n_heads, n_kv_heads, d_head):
        limits = (MOST_LAYERS, MOST_HEADS, MOST_HEADS, MOST_WIDTH)
        sizes = (n_layers, n_heads, n_kv_heads, d_head)
        for label, size, most in zip(SIZES, sizes, limits, strict=True):
            whole = isinstance(size, int) and not isinstance(size, bool)
            if not whole or not 1 <= size <= most:
                raise traitlets.TraitError(
                    f"{self.name}: {label} of {name!r} must be a whole number from 1 to {most}, "
                    f"got {size!r}"
                )
        if n_heads % n_kv_heads:
            raise traitlets.TraitError(
                f"{self.name}: n_heads {n_heads} of {name!r} must be a multiple of its "
                f"n_kv_heads {n_kv_heads}"
            )


class GroupingAndCache(Widget):
    """See which query heads share a KV head, and how large the cache is.

    Parameters
    ----------
    n_heads : int, 1 to 128
        Query heads of a layer.
    n_kv_heads : int, a divisor of ``n_heads``
        Key and value heads of a layer.
    n_layers : int, 1 to 128
    d_head : int, 1 to 512
        Width of a head.
    length : int, 1 to 1,048,576
        Tokens in the cache, of each text.
    batch : int, 1 to 1024
        Texts at a time.
    bytes_per_number : 4, 2 or 1
    models : list of [name, n_layers, n_heads, n_kv_heads, d_head, source]
        What the reader may load.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state. To change several
        together: ``with grouping.hold_trait_notifications(): ...``.

    Examples
    --------
    >>> grouping = GroupingAndCache(n_heads=6, n_kv_heads=2)
    >>> grouping.reads
    array([0, 0, 0, 1, 1, 1])

    Source: Ainslie et al. 2023, "GQA", section 2.2; Shazeer 2019, "Fast transformer decoding".
    """

    _module = "grouping"
    _parts = (*Widget._parts, "linked", "costs")

    n_heads = Whole(32, least=1, most=MOST_HEADS).tag(sync=True)
    n_kv_heads = Whole(8, least=1, most=MOST_HEADS).tag(sync=True)
    n_layers = Whole(32, least=1, most=MOST_LAYERS).tag(sync=True)
    d_head = Whole(128, least=1, most=MOST_WIDTH).tag(sync=True)
    length = Whole(4096, least=1, most=2**20).tag(sync=True)
    batch = Whole(1, least=1, most=1024).tag(sync=True)
    bytes_per_number = traitlets.Enum((4, 2, 1), 2).tag(sync=True)
    models = Models(costs.PUBLISHED).tag(sync=True)

    @traitlets.validate("n_heads", "n_kv_heads")
    def _fits(self, proposal):
        heads = {"n_heads": self.n_heads, "n_kv_heads": self.n_kv_heads}
        heads[proposal["trait"].name] = proposal["value"]
        if heads["n_heads"] % heads["n_kv_heads"]:
            raise traitlets.TraitError(
                "n_heads {n_heads} must be a multiple of n_kv_heads {n_kv_heads}: every KV head "
                "serves as many query heads".format(**heads)
            )
        return proposal["value"]

    @property
    def reads(self):
        """For each query head the KV head that it reads, counted from 0, array (head,)."""
        return np.arange(self.n_heads) // (self.n_heads // self.n_kv_heads)

    @property
    def comparison(self):
        """Rows of name, KV heads, bytes of one token, bytes of the cache, share saved."""
        kinds = (
            ("MHA", self.n_heads),
            ("as set", self.n_kv_heads),
            ("MQA", 1),
        )
        return [
            (name, n, self._bytes(n, 1, 1), self._bytes(n, self.length, self.batch), saved)
            for name, n in kinds
            for saved in [1 - n / self.n_heads]
        ]

    def _bytes(self, n_kv_heads, length, batch):
        return costs.cache_bytes(
            length, self.n_layers, n_kv_heads, self.d_head, self.bytes_per_number, batch
        )

    def _stored_table(self):
        rows = [
            [name, str(n), f"{token:,}", f"{all_bytes:,}", f"{100 * saved:.1f} %"]
            for name, n, token, all_bytes, saved in self.comparison
        ]
        caption = (
            f"Cache of {self.n_layers} layers with {self.n_heads} query heads of width "
            f"{self.d_head}, {self.length:,} tokens, batch {self.batch}, "
            f"{self.bytes_per_number} bytes a number"
        )
        return caption, ["", "KV heads", "bytes per token", "bytes", "saved"], rows

    def __repr__(self):
        names = ("n_heads", "n_kv_heads", "n_layers", "d_head", "length", "batch")
        return (
            f"GroupingAndCache({', '.join(f'{name}={getattr(self, name)}' for name in names)}, "
            f"bytes_per_number={self.bytes_per_number})"
        )

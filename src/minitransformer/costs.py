"""What attention costs: scores, multiply-adds and bytes, counted from the sizes alone.

A *multiply-add* is one multiplication and the addition that follows it; a product of an (a, b)
and a (b, c) matrix takes a · b · c of them. Softmax, norms, activations and biases are left out:
they grow like the scores or like the tokens, with factors far below the width of a head.
"""

import math
from typing import NamedTuple

from ._checks import check_count

__all__ = [
    "PUBLISHED",
    "TILE",
    "MultiplyAdds",
    "Sizes",
    "cache_bytes",
    "crossing_length",
    "multiply_adds",
    "n_scores",
    "score_bytes",
    "tiled_score_bytes",
]

TILE = 128  # queries, and keys, of one tile: a usual size in fused kernels


class Sizes(NamedTuple):
    """The sizes of a published model on which the cost of its attention depends."""

    name: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    source: str

    @property
    def d_model(self):
        """Width of the residual stream; in these models that of all heads together."""
        return self.n_heads * self.d_head


META_LIST = "models/sku_list.py in Meta's repository llama-models"
PUBLISHED = (
    Sizes("SmolLM2-135M", 30, 9, 3, 64, "metadata of the GGUF file that this book loads"),
    Sizes("Mistral 7B", 32, 32, 8, 128, "Jiang et al. 2023; MistralConfig in transformers"),
    Sizes("Llama 2 70B", 80, 64, 8, 128, META_LIST),
    Sizes("Llama 3.1 405B", 126, 128, 8, 128, META_LIST),
    Sizes("GPT-3 175B", 96, 96, 96, 128, "Brown et al. 2020; gpt3-175b.yml in MaxText"),
)


class MultiplyAdds(NamedTuple):
    """Multiply-adds of the four parts of a transformer's layers."""

    scores: int
    values: int
    projections: int
    feed_forward: int


def n_scores(n, *, causal=False):
    """How many scores count in one head: every query with every key that it may see.

    >>> n_scores(1000), n_scores(100_000), n_scores(1000, causal=True)
    (1000000, 10000000000, 500500)
    """
    n = check_count("n", n)
    return n * (n + 1) // 2 if causal else n * n


def multiply_adds(n, d_model, n_layers=1, n_heads=1, n_kv_heads=None, *, causal=False):
    """Multiply-adds for one pass over ``n`` tokens, of all layers and heads.

    Parameters
    ----------
    n : int
        Tokens of one text, which attend to one another.
    d_model, n_layers, n_heads : int
        Heads share ``d_model``: each is ``d_model / n_heads`` wide.
    n_kv_heads : int, optional
        A divisor of ``n_heads``; as many as these if not given. Fewer of them make the
        projections of keys and values smaller, and not the scores.
    causal : bool
        Count only the scores that a causal mask lets count. A kernel that computes all of them
        and hides half saves nothing.

    Returns
    -------
    MultiplyAdds
        Scores = queries · keysᵀ; values = weights · values; projections = those to queries, keys
        and values and back; feed-forward = two matrices of inner width 4 · ``d_model``, or, just
        as much, SwiGLU's three of 8/3 · ``d_model``.

    Raises
    ------
    ValueError, TypeError
        If a size is no whole number of at least 1, or the heads do not fit.

    Examples
    --------
    >>> multiply_adds(10, 6, n_heads=3, n_kv_heads=1)
    MultiplyAdds(scores=600, values=600, projections=960, feed_forward=2880)

    Source: Kaplan et al. 2020, "Scaling laws for neural language models", counts likewise.
    """
    d_head = _d_head(d_model, n_heads)
    kv_width = d_head * _n_kv_heads(n_heads, n_kv_heads)
    n_layers = check_count("n_layers", n_layers, at_least=1)
    mixed = n_layers * n_heads * d_head * n_scores(n, causal=causal)
    projections = n_layers * n * d_model * (2 * d_model + 2 * kv_width)
    return MultiplyAdds(mixed, mixed, projections, n_layers * n * 8 * d_model**2)


def crossing_length(d_model, n_heads=1, n_kv_heads=None, *, causal=False):
    """How many tokens it takes until scores and values cost as much as all else in a layer.

    >>> crossing_length(768)  # 6 · d_model, with a KV head for each query head
    4608

    Raises
    ------
    ValueError, TypeError
        As `multiply_adds`.
    """
    once = multiply_adds(1, d_model, 1, n_heads, n_kv_heads)
    rest = (once.projections + once.feed_forward) // once.scores  # grows with n, 2 · scores with n²
    return rest - 1 if causal else rest // 2


def score_bytes(n, n_heads=1, bytes_per_number=4):
    """Bytes of the scores of one layer, all heads, when they are written out: also the hidden ones.

    >>> score_bytes(100_000, n_heads=12)
    480000000000
    """
    return check_count("n_heads", n_heads, at_least=1) * n_scores(n) * bytes_per_number


def tiled_score_bytes(n, n_heads=1, bytes_per_number=4, tile=TILE):
    """Bytes for the same when tiles replace the matrix: a tile, and two numbers for each query.

    Every head holds one tile of ``tile × tile`` scores, and of each query the running maximum
    and sum.

    >>> tiled_score_bytes(100_000, n_heads=12)
    10386432

    Source: Dao et al. 2022, "FlashAttention": memory beyond inputs and output grows with n.
    """
    n, tile = check_count("n", n), check_count("tile", tile, at_least=1)
    n_heads = check_count("n_heads", n_heads, at_least=1)
    return n_heads * (min(n, tile) ** 2 + 2 * n) * bytes_per_number


def cache_bytes(length, n_layers, n_kv_heads, d_head, bytes_per_number=2, batch=1):
    """Bytes of the keys and values of ``length`` tokens in all layers, for ``batch`` texts.

    >>> cache_bytes(4096, n_layers=32, n_kv_heads=8, d_head=128)  # Mistral 7B
    536870912

    Source: Pope et al. 2022, "Efficiently scaling transformer inference".
    """
    check_count("length", length)
    sizes = (n_layers, n_kv_heads, d_head, bytes_per_number, batch)
    for name, size in zip(
        ("n_layers", "n_kv_heads", "d_head", "bytes_per_number", "batch"), sizes, strict=True
    ):
        check_count(name, size, at_least=1)
    return 2 * math.prod(sizes) * length


def _d_head(d_model, n_heads):
    d_model = check_count("d_model", d_model, at_least=1)
    if d_model % check_count("n_heads", n_heads, at_least=1):
        raise ValueError(f"d_model {d_model} does not split into {n_heads} heads")
    return d_model // n_heads


def _n_kv_heads(n_heads, n_kv_heads):
    if n_kv_heads is None:
        return n_heads
    if n_heads % check_count("n_kv_heads", n_kv_heads, at_least=1):
        raise ValueError(f"n_heads {n_heads} must be a multiple of n_kv_heads {n_kv_heads}")
    return n_kv_heads

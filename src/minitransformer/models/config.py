"""One description for every model of the book, checked when it is made."""

import math
from dataclasses import dataclass

from ..blocks import ACTIVATIONS, NORM_POSITIONS
from ..norms import NORMS

__all__ = ["Config"]

_CHOICES = {
    "norm": NORMS,
    "norm_position": NORM_POSITIONS,
    "activation": (*ACTIVATIONS, "swiglu"),
    "positions": ("learned", "sinusoidal", "rotary", "none"),
}
_SIZES = (
    "n_layers",
    "d_model",
    "n_heads",
    "n_kv_heads",
    "d_head",
    "d_ff",
    "max_length",
    "vocab_size",
    "image_size",
    "patch_size",
    "n_channels",
    "n_classes",
)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The sizes and kinds of a transformer; `Config.bert`, `gpt2` and `llama` fill in the kinds.

    Parameters
    ----------
    n_layers, d_model, n_heads : int
        Blocks, width of the residual stream, query heads.
    n_kv_heads : int, optional
        Key and value heads, a divisor of ``n_heads``; as many as query heads if not given.
    d_head : int, optional
        Width of one head; ``d_model / n_heads`` if not given.
    d_ff : int, optional
        Inner width of the feed-forward network; ``4 * d_model`` if not given.
    vocab_size : int, optional
        Number of different tokens; every model but the VisionTransformer needs it.
    max_length : int
        The longest text in tokens, or the most patches and class token.
    norm : "layer" or "rms"
    norm_eps : float
    norm_position : "pre" or "post"
        Before each sublayer, inside the residual path; or after each addition, as in 2017.
    embedding_norm : bool
        A norm on the embeddings, as in BERT.
    activation : "relu", "gelu", "gelu_tanh" or "swiglu"
    positions : "learned", "sinusoidal", "rotary" or "none"
    rope_base : float
        Of rotary positions: the slowest pair turns by 1 / rope_base per token, nearly.
    bias : bool
        Of the linear maps and of the layer norms.
    tied_head : bool
        Whether a decoder's output matrix is its embedding matrix.
    n_segments : int
        Token types, as in BERT's sentence pairs; 0 for none.
    dropout : float
        Share of numbers set to 0 in training: of embeddings, weights and sublayers' outputs.
    image_size, patch_size, n_channels, n_classes : int
        Of the VisionTransformer: sides in pixels, colours, labels.

    Raises
    ------
    ValueError, TypeError
        If the values do not fit together; the message names what came.

    Examples
    --------
    >>> config = Config.llama(vocab_size=11, n_layers=2, d_model=12, n_heads=6, n_kv_heads=2)
    >>> config.d_head, config.norm, config.bias
    (2, 'rms', False)
    """

    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int | None = None
    d_head: int | None = None
    d_ff: int | None = None
    vocab_size: int | None = None
    max_length: int = 512
    norm: str = "layer"
    norm_eps: float = 1e-5
    norm_position: str = "pre"
    embedding_norm: bool = False
    activation: str = "gelu"
    positions: str = "learned"
    rope_base: float = 10000.0
    bias: bool = True
    tied_head: bool = True
    n_segments: int = 0
    dropout: float = 0.0
    image_size: int | None = None
    patch_size: int | None = None
    n_channels: int = 1
    n_classes: int | None = None

    def __post_init__(self):
        for name in _SIZES:
            self._check_size(name)
        if self.d_head is None:
            if self.d_model % self.n_heads:
                raise ValueError(
                    f"d_model {self.d_model} does not split into {self.n_heads} heads; "
                    "choose another n_heads or give d_head"
                )
            self._fill("d_head", self.d_model // self.n_heads)
        if self.n_kv_heads is None:
            self._fill("n_kv_heads", self.n_heads)
        if self.d_ff is None:
            self._fill("d_ff", 4 * self.d_model)
        self._check_kinds()
        self._check_rest()

    def _fill(self, name, value):
        object.__setattr__(
            self, name, value
        )  # the way past frozen that dataclasses themselves take

    def _check_size(self, name):
        size = getattr(self, name)
        if size is None and type(self).__dataclass_fields__[name].default is None:
            return
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be a whole number, got {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")

    def _check_kinds(self):
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")

    def _check_rest(self):
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads {self.n_heads} must be a multiple of n_kv_heads {self.n_kv_heads}: "
                "every key head serves as many query heads"
            )
        if self.positions == "rotary" and self.d_head % 2:
            raise ValueError(f"rotary positions turn pairs: d_head must be even, got {self.d_head}")
        for name in ("dropout", "norm_eps", "rope_base"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"{name} must be a number, got {value!r}")
        for name in ("embedding_norm", "bias", "tied_head"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        for name in ("norm_eps", "rope_base"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive and finite, got {value}")
        if isinstance(self.n_segments, bool) or not isinstance(self.n_segments, int):
            raise TypeError(f"n_segments must be a whole number, got {self.n_segments!r}")
        if self.n_segments < 0:
            raise ValueError(f"n_segments must not be negative, got {self.n_segments}")
        if self.image_size and self.patch_size and self.image_size % self.patch_size:
            raise ValueError(
                f"image_size {self.image_size} is not a multiple of patch_size {self.patch_size}"
            )

    def require(self, model, *names):
        """Raise an error that says which of the values ``model`` needs are missing."""
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{model} needs {', '.join(missing)} in its Config")

    @classmethod
    def bert(cls, **values):
        """The encoder of Devlin et al. 2018: post-norm, learned positions, two segments."""
        kinds = {
            "norm_position": "post",
            "norm_eps": 1e-12,
            "embedding_norm": True,
            "n_segments": 2,
        }
        return cls(**(kinds | values))

    @classmethod
    def gpt2(cls, **values):
        """The decoder of Radford et al. 2019: pre-norm, learned positions, GELU by tanh."""
        return cls(**({"activation": "gelu_tanh", "max_length": 1024} | values))

    @classmethod
    def llama(cls, **values):
        """The decoder of Touvron et al. 2023: RMSNorm, rotary positions, SwiGLU, no biases."""
        kinds = {
            "norm": "rms",
            "activation": "swiglu",
            "positions": "rotary",
            "bias": False,
            "tied_head": False,
        }
        return cls(**(kinds | values))

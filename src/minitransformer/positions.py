"""Where a token stands: attention itself does not see order, so positions must be told.

Sinusoidal and learned positions are vectors added to the token's embedding. Rotary positions turn
queries and keys instead, so that their dot product depends on the distance of the two tokens only.

Positions are always explicit: a tensor of whole numbers, ``(time,)`` or ``(batch, time)``. So a
cache, padding on the left or a text read in pieces cannot put a token in the wrong place.
"""

import torch
from torch import nn

__all__ = [
    "LearnedPositions",
    "RotaryPositions",
    "SinusoidalPositions",
    "apply_rope",
    "half_split_order",
    "rotary_cos_sin",
    "rotate_pairs",
    "sinusoidal_positions",
]


def sinusoidal_positions(positions, d_model, base=10000.0):
    """Write positions as sines and cosines of wavelengths from 2π to 2π · base.

    Parameters
    ----------
    positions : int or tensor (...)
        A number of positions, counted from 0, or the positions themselves.
    d_model : int
        Even columns are sines, odd ones cosines; an odd width ends in a sine.
    base : float

    Returns
    -------
    tensor (..., d_model), float32

    Raises
    ------
    ValueError, TypeError
        If ``d_model`` or ``base`` is not positive, or the positions are no numbers.

    Examples
    --------
    >>> sinusoidal_positions(2, 3)
    tensor([[0.0000, 1.0000, 0.0000],
            [0.8415, 0.5403, 0.0022]])

    Source: Vaswani et al. 2017, section 3.5.
    """
    _check_width("d_model", d_model)
    positions = _as_positions(positions)
    columns = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = _outer(positions, _check_base(base) ** (-columns / d_model))
    both = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return both[..., :d_model].to(positions.device, torch.float32)


class SinusoidalPositions(nn.Module):
    """`sinusoidal_positions` as a module: positions (..., time) to vectors (..., time, d_model).

    >>> SinusoidalPositions(5)(torch.tensor([3, 4])).shape
    torch.Size([2, 5])
    """

    def __init__(self, d_model, base=10000.0):
        super().__init__()
        self.d_model, self.base = _check_width("d_model", d_model), _check_base(base)

    def forward(self, positions):
        return sinusoidal_positions(positions, self.d_model, self.base)


class LearnedPositions(nn.Module):
    """One trained vector a position: positions (..., time) to vectors (..., time, d_model).

    Parameters
    ----------
    max_length : int
        Positions run from 0 to ``max_length - 1``; another one raises ``ValueError``.
    d_model : int

    Examples
    --------
    >>> LearnedPositions(max_length=7, d_model=5)(torch.tensor([0, 6])).shape
    torch.Size([2, 5])

    Source: Gehring et al. 2017, "Convolutional sequence to sequence learning", section 3.1.
    """

    def __init__(self, max_length, d_model):
        super().__init__()
        self.weight = nn.Parameter(
            torch.empty(_check_width("max_length", max_length), _check_width("d_model", d_model))
        )
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, positions):
        _check_range(positions, len(self.weight))
        return self.weight[positions]


def rotary_cos_sin(positions, width, base=10000.0):
    """The cosine and sine of each pair's angle: position · base^(-2i / width) for pair i.

    Parameters
    ----------
    positions : int or tensor (...)
    width : int, even
        How many numbers of a query are turned: ``width / 2`` pairs.
    base : float

    Returns
    -------
    cos, sin : tensor (..., width / 2), float64, on the CPU

    Examples
    --------
    >>> cos, sin = rotary_cos_sin(3, 4)
    >>> cos.shape
    torch.Size([3, 2])

    Source: Su et al. 2021, "RoFormer", section 3.2.2.
    """
    if _check_width("width", width) % 2:
        raise ValueError(f"rotary positions turn pairs: the width must be even, got {width}")
    exponents = -torch.arange(0, width, 2, dtype=torch.float64, device="cpu") / width
    angles = _outer(_as_positions(positions), _check_base(base) ** exponents)
    return angles.cos(), angles.sin()


def rotate_pairs(x, cos, sin, *, interleaved=False):
    """Turn each pair of numbers in ``x`` by its angle.

    Parameters
    ----------
    x : tensor (..., d_head)
    cos, sin : tensor, broadcasts to (..., width / 2) with width <= d_head
        What ``x`` has beyond ``width`` stays as it is.
    interleaved : bool
        Which numbers form pair i: ``i`` and ``i + width / 2`` (half-split: Llama as Hugging Face
        stores it, GPT-NeoX), or ``2i`` and ``2i + 1`` (interleaved: Llama as Meta and GGUF store
        it, GPT-J). `half_split_order` leads from one to the other.

    Examples
    --------
    >>> quarter_turn = torch.tensor([0.0, 0.0]), torch.tensor([1.0, 1.0])
    >>> rotate_pairs(torch.tensor([1.0, 2.0, 3.0, 4.0]), *quarter_turn)
    tensor([-3., -4.,  1.,  2.])
    >>> rotate_pairs(torch.tensor([1.0, 2.0, 3.0, 4.0]), *quarter_turn, interleaved=True)
    tensor([-2.,  1., -4.,  3.])

    Source: Su et al. 2021, equation 34.
    """
    width = 2 * cos.shape[-1]
    if width > x.shape[-1]:
        raise ValueError(f"angles for {width} numbers, but x has {x.shape[-1]} in its last axis")
    turned, rest = x[..., :width], x[..., width:]
    if interleaved:
        first, second = turned[..., 0::2], turned[..., 1::2]
    else:
        first, second = turned.chunk(2, dim=-1)
    pair = first * cos - second * sin, second * cos + first * sin
    turned = torch.stack(pair, dim=-1).flatten(-2) if interleaved else torch.cat(pair, dim=-1)
    return torch.cat([turned, rest], dim=-1) if rest.shape[-1] else turned


def apply_rope(x, positions=None, *, base=10000.0, interleaved=False, width=None):
    """Turn queries or keys by their positions; a dot product then sees the distance alone.

    Parameters
    ----------
    x : tensor (batch, heads, time, d_head)
    positions : tensor (time,) or (batch, time), optional
        0, 1, 2, … if not given.
    base : float
    interleaved : bool
        See `rotate_pairs`.
    width : int, even, optional
        How many of the ``d_head`` numbers are turned; all if not given.

    Returns
    -------
    tensor of the shape and dtype of ``x``

    Raises
    ------
    ValueError, TypeError
        If the width is odd or larger than ``d_head``, or the positions do not fit.

    Examples
    --------
    >>> x = torch.ones(1, 1, 5, 2)
    >>> turned = apply_rope(x, torch.tensor([0, 1, 2, 7, 8]))[0, 0]
    >>> (turned[1] @ turned[2]).isclose(turned[3] @ turned[4])
    tensor(True)

    Source: Su et al. 2021, section 3.2.
    """
    rope = RotaryPositions(x.shape[-1] if width is None else width, base, interleaved)
    return rope(x, torch.arange(x.shape[-2]) if positions is None else positions)


# Later positions are computed each time: a table up to one of them can cost seconds and gigabytes.
_LONGEST_TABLE = 2**16


class RotaryPositions(nn.Module):
    """`apply_rope` for the layers of a model, which share its table of cosines and sines.

    Parameters
    ----------
    width : int, even
        How many numbers of each head are turned; the rest of the head stays as it is.
    base : float
    interleaved : bool
        See `rotate_pairs`.

    Examples
    --------
    >>> rope = RotaryPositions(width=2)
    >>> rope(torch.ones(1, 3, 1, 2), torch.tensor([0]))[0, 0]
    tensor([[1., 1.]])
    """

    def __init__(self, width, base=10000.0, interleaved=False):
        super().__init__()
        rotary_cos_sin(0, width, base)  # raises if they do not fit
        self.width, self.base, self.interleaved = width, base, interleaved
        self._table = None

    def forward(self, x, positions):
        """Turn ``x`` (batch, heads, time, d_head) by ``positions`` (time,) or (batch, time)."""
        return rotate_pairs(x, *self.cos_sin(x, positions), interleaved=self.interleaved)

    def cos_sin(self, x, positions):
        """The angles' cosines and sines as `rotate_pairs` needs them for ``x``."""
        self._check(x, positions)
        lowest, highest = map(int, positions.aminmax()) if positions.numel() else (0, 0)
        if lowest < 0:
            raise ValueError(f"positions must not be negative, got {lowest}")
        if highest < _LONGEST_TABLE:
            cos, sin = (part[positions] for part in self._table_for(x, highest))
        else:
            angles = rotary_cos_sin(positions, self.width, self.base)
            cos, sin = (part.to(x.device, x.dtype) for part in angles)
        if positions.ndim == 2:
            cos, sin = cos[:, None], sin[:, None]  # (batch, 1, time, width / 2)
        return cos, sin

    def _table_for(self, x, highest):
        table = self._table
        if (
            table is None
            or len(table[0]) <= highest
            or (table[0].dtype, table[0].device) != (x.dtype, x.device)
        ):
            length = 1 << highest.bit_length()  # a power of two, so that a text can grow for long
            table = self._table = [
                part.to(x.device, x.dtype) for part in rotary_cos_sin(length, self.width, self.base)
            ]
        return table

    def _check(self, x, positions):
        if x.ndim < 2 or x.shape[-1] < self.width:
            raise ValueError(
                f"expected (..., time, d_head) with d_head of at least {self.width}, got "
                f"{tuple(x.shape)}"
            )
        if not x.is_floating_point():
            raise TypeError(f"x must hold floating-point numbers, got dtype {x.dtype}")
        check_positions(positions, x.shape[-2], x.shape[0] if x.ndim == 4 else None)


def check_positions(positions, time, batch=None):
    """Raise an error unless these are whole numbers (time,) or, with a batch, (batch, time)."""
    _check_whole(positions)
    fits = [(time,)] if batch is None else [(time,), (batch, time)]
    if tuple(positions.shape) not in fits:
        shapes = " or ".join(map(str, fits))
        raise ValueError(f"positions must have shape {shapes}, got {tuple(positions.shape)}")


def half_split_order(width):
    """Where half-split's numbers stand in interleaved order: even places first, then odd ones.

    ``x[..., order]`` puts interleaved numbers into half-split order, and
    ``x[..., order.argsort()]`` leads back. Weights of queries and keys that were made for one
    arrangement serve the other after their rows, head by head, were put in that order.

    Examples
    --------
    >>> half_split_order(6)
    tensor([0, 2, 4, 1, 3, 5])

    Source: the checkpoint conversion of Llama in Hugging Face transformers.
    """
    if _check_width("width", width) % 2:
        raise ValueError(f"rotary positions turn pairs: the width must be even, got {width}")
    return torch.arange(width).view(-1, 2).T.flatten()


def _outer(positions, frequencies):
    return positions.to("cpu", torch.float64)[..., None] * frequencies


def _as_positions(positions):
    if isinstance(positions, int) and not isinstance(positions, bool):
        if positions < 0:
            raise ValueError(f"a number of positions must not be negative, got {positions}")
        return torch.arange(positions, device="cpu")
    if not isinstance(positions, torch.Tensor):
        raise TypeError(f"positions must be a number or a tensor, got {positions!r}")
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"positions must be numbers, got dtype {positions.dtype}")
    return positions


def _check_whole(positions):
    if not isinstance(positions, torch.Tensor):
        raise TypeError(f"positions must be a tensor of whole numbers, got {positions!r}")
    if positions.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"positions must be whole numbers, got dtype {positions.dtype}")


def _check_range(positions, max_length):
    _check_whole(positions)
    if positions.numel() and not 0 <= positions.min() <= positions.max() < max_length:
        raise ValueError(
            f"positions run from 0 to {max_length - 1}, got "
            f"{positions.min().item()} to {positions.max().item()}"
        )


def _check_width(name, width):
    if isinstance(width, bool) or not isinstance(width, int):
        raise TypeError(f"{name} must be a whole number, got {width!r}")
    if width < 1:
        raise ValueError(f"{name} must be at least 1, got {width}")
    return width


def _check_base(base):
    if isinstance(base, bool) or not isinstance(base, (int, float)):
        raise TypeError(f"base must be a number, got {base!r}")
    if not 0 < base < float("inf"):
        raise ValueError(f"base must be positive and finite, got {base}")
    return base

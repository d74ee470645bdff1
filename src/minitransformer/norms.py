"""Layer norm and RMS norm, each as its formula and as a module.

`layer_norm` and `rms_norm` are the formulas, in float32 at least: squares of a few hundred are no
float16. The modules compute the same with PyTorch's own functions, which are faster.
"""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["NORMS", "LayerNorm", "RMSNorm", "layer_norm", "make_norm", "rms_norm"]

NORMS = ("layer", "rms")


def layer_norm(x, weight=None, bias=None, *, eps=1e-5, axis=-1):
    """Bring ``x`` to mean 0 and variance 1 over its last axes, then apply weight and bias.

    Parameters
    ----------
    x : tensor, (..., d_model)
    weight, bias : tensor, optional
        Of the shape of the axes normed.
    eps : float
        Added to the variance, which divides by n, not n - 1.
    axis : int
        The first of the axes normed: -1 for the last alone.

    Returns
    -------
    tensor of the shape and dtype of ``x``

    Examples
    --------
    >>> layer_norm(torch.tensor([1.0, 3.0]), eps=0.0)
    tensor([-1.,  1.])

    Source: Ba, Kiros and Hinton 2016, "Layer normalization", equation 4.
    """
    axes, numbers = _last_axes(x, axis), _at_least_float32(x)
    centred = numbers - numbers.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    normed = centred / torch.sqrt(variance + eps)
    if weight is not None:
        normed = normed * weight
    return (normed if bias is None else normed + bias).to(x.dtype)


def rms_norm(x, weight=None, *, eps=1e-6, axis=-1):
    """Scale ``x`` to a root mean square of 1 over its last axes, then apply the weight.

    Parameters
    ----------
    x : tensor, (..., d_model)
    weight : tensor, optional
        Of the shape of the axes normed.
    eps : float
        Added to the mean square.
    axis : int
        The first of the axes normed: -1 for the last alone.

    Returns
    -------
    tensor of the shape and dtype of ``x``

    Examples
    --------
    >>> rms_norm(torch.tensor([1.0, 7.0]), eps=0.0)
    tensor([0.2000, 1.4000])

    Source: Zhang and Sennrich 2019, "Root mean square layer normalization", equation 4.
    """
    axes, numbers = _last_axes(x, axis), _at_least_float32(x)
    normed = numbers / torch.sqrt(numbers.square().mean(axes, keepdim=True) + eps)
    return (normed if weight is None else normed * weight).to(x.dtype)


def _at_least_float32(x):
    if not x.is_floating_point():
        raise TypeError(f"x must hold floating-point numbers, got dtype {x.dtype}")
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _last_axes(x, axis):
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"x of shape {tuple(x.shape)} has no axis {axis}")
    return tuple(range(axis % x.ndim, x.ndim))


def check_width(name, x, width):
    if x.shape[-1] != width:
        raise ValueError(f"{name} expects (..., {width}), got shape {tuple(x.shape)}")


class LayerNorm(nn.Module):
    """`layer_norm` over the last axis, with its weight and bias, by PyTorch's own function.

    >>> LayerNorm(3)(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, d_model, eps=1e-5, bias=True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x):
        check_width("LayerNorm", x, len(self.weight))
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """`rms_norm` over the last axis, with its weight, by PyTorch's own function.

    >>> RMSNorm(3)(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        check_width("RMSNorm", x, len(self.weight))
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def make_norm(kind, d_model, eps, bias=True):
    """A norm by its name, "layer" or "rms"; the bias is the layer norm's.

    >>> make_norm("rms", 3, 1e-6)
    RMSNorm()
    """
    if kind not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {kind!r}")
    return LayerNorm(d_model, eps, bias) if kind == "layer" else RMSNorm(d_model, eps)

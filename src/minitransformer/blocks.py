"""What a transformer layer is made of besides attention, and the layer itself.

The residual stream ``x`` has shape ``(batch, time, d_model)``. A block adds to it twice or three
times: what self-attention found, what cross-attention found (in a decoder that reads an encoder's
states), and what the feed-forward network made of each position on its own.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from ._checks import check_count
from .attention import MultiHeadAttention
from .hooks import HookPoint
from .norms import LayerNorm, RMSNorm, check_width, layer_norm, make_norm, rms_norm

__all__ = [
    "ACTIVATIONS",
    "NORM_POSITIONS",
    "FeedForward",
    "LayerNorm",
    "RMSNorm",
    "SwiGLU",
    "TransformerBlock",
    "gelu",
    "layer_norm",
    "rms_norm",
]


def gelu(x, approximate=False):
    """x times the probability that a standard normal number lies below x.

    With ``approximate`` the form with tanh that GPT-2 was trained with; the two differ by less
    than 0.0005 everywhere.

    Examples
    --------
    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])

    Source: Hendrycks and Gimpel 2016, "Gaussian error linear units", section 2.
    """
    if approximate:
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


NORM_POSITIONS = ("pre", "post")
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


# Multiplications from which a linear map is faster as a convolution, where it is at all.
_LARGE = 2**28


class _LinearMap(nn.Linear):
    """`nn.Linear`, computed as the convolution of width 1 that it also is, where that is faster.

    PyTorch leaves products of float32 matrices on a CPU to MKL, and convolutions to oneDNN. With
    AVX-512 and two threads the second was the faster for large maps, gradients included
    (`benchmarks.bench_training_step`); with one thread, or without AVX-512, it was the slower. The
    results agree up to rounding.

    Source: Vaswani et al. 2017, section 3.3, on the two ways to describe a feed-forward network.
    """

    def forward(self, x):
        if not self._is_faster_as_convolution(x):
            return super().forward(x)
        picture = x.reshape(1, 1, -1, self.in_features).permute(0, 3, 1, 2)
        kernel = self.weight[:, :, None, None]
        out = F.conv2d(picture, kernel, self.bias)  # (1, out_features, 1, positions)
        return out.permute(0, 2, 3, 1).reshape(*x.shape[:-1], self.out_features)

    def _is_faster_as_convolution(self, x):
        return (
            x.numel() * self.out_features >= _LARGE
            and not torch.compiler.is_compiling()  # which can ask nothing of what follows
            and x.device.type == "cpu"
            and x.dtype == self.weight.dtype == torch.float32
            and torch.backends.cpu.get_cpu_capability() == "AVX512"
            and torch.get_num_threads() > 1
            and torch.backends.mkldnn.is_available()
        )


class FeedForward(nn.Module):
    """Two linear maps with a nonlinearity between them, for each position on its own.

    Parameters
    ----------
    d_model, d_ff : int
    activation : "relu", "gelu" or "gelu_tanh"
    bias : bool
        Of both maps.

    Examples
    --------
    >>> FeedForward(3, 7)(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 3])

    Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model, d_ff, activation="gelu", bias=True):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}"
            )
        _check_widths(d_model, d_ff)
        self.up_proj = _LinearMap(d_model, d_ff, bias=bias)
        self.down_proj = _LinearMap(d_ff, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.hook_pre = HookPoint()  # (batch, time, d_ff)
        self.hook_post = HookPoint()  # (batch, time, d_ff)

    def forward(self, x):
        check_width("FeedForward", x, self.up_proj.in_features)
        return self.down_proj(self.hook_post(self.activation(self.hook_pre(self.up_proj(x)))))


class SwiGLU(nn.Module):
    """A feed-forward network whose inner values are gated: down(silu(gate(x)) * up(x)).

    Parameters
    ----------
    d_model, d_ff : int
    bias : bool
        Of all three maps.

    Examples
    --------
    >>> SwiGLU(3, 7)(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 3])

    Source: Shazeer 2020, "GLU variants improve transformer", equation 6.
    """

    def __init__(self, d_model, d_ff, bias=False):
        super().__init__()
        _check_widths(d_model, d_ff)
        self.gate_proj = _LinearMap(d_model, d_ff, bias=bias)
        self.up_proj = _LinearMap(d_model, d_ff, bias=bias)
        self.down_proj = _LinearMap(d_ff, d_model, bias=bias)
        self.hook_pre = HookPoint()  # (batch, time, d_ff): what goes into the gate
        self.hook_post = HookPoint()  # (batch, time, d_ff)

    def forward(self, x):
        check_width("SwiGLU", x, self.up_proj.in_features)
        gate = F.silu(self.hook_pre(self.gate_proj(x)))
        return self.down_proj(self.hook_post(gate * self.up_proj(x)))


def _check_widths(d_model, d_ff):
    check_count("d_model", d_model, at_least=1)
    check_count("d_ff", d_ff, at_least=1)


class TransformerBlock(nn.Module):
    """One layer: attention, cross-attention where asked, and a feed-forward network.

    Parameters
    ----------
    d_model, n_heads : int
    d_ff : int, optional
        ``4 * d_model`` if not given.
    n_kv_heads, d_head : int, optional
        As for `MultiHeadAttention`.
    norm : "layer" or "rms"
    norm_eps : float
    norm_position : "pre" or "post"
        ``x + sublayer(norm(x))``, or ``norm(x + sublayer(x))``.
    activation : "relu", "gelu", "gelu_tanh" or "swiglu"
    bias : bool
        Of all linear maps and of layer norms.
    rope : RotaryPositions, optional
        Turns the queries and keys of self-attention.
    is_causal : bool
        Whether self-attention sees earlier positions only.
    cross_attention : bool
        Whether the block also reads the states of an encoder.
    dropout : float
        In training: of weights, of what each sublayer adds.

    Examples
    --------
    >>> block = TransformerBlock(d_model=6, n_heads=3)
    >>> block(torch.zeros(2, 5, 6)).shape
    torch.Size([2, 5, 6])

    Source: Vaswani et al. 2017, section 3.1; pre-norm: Xiong et al. 2020, "On layer normalization
    in the transformer architecture", figure 1.
    """

    def __init__(
        self,
        d_model,
        n_heads,
        d_ff=None,
        *,
        n_kv_heads=None,
        d_head=None,
        norm="layer",
        norm_eps=1e-5,
        norm_position="pre",
        activation="gelu",
        bias=True,
        rope=None,
        is_causal=False,
        cross_attention=False,
        dropout=0.0,
    ):
        super().__init__()
        if norm_position not in NORM_POSITIONS:
            raise ValueError(
                f"norm_position must be one of {', '.join(NORM_POSITIONS)}, got {norm_position!r}"
            )
        self.is_causal, self.pre_norm = is_causal, norm_position == "pre"
        d_ff = 4 * d_model if d_ff is None else d_ff
        new_norm = partial(make_norm, norm, d_model, norm_eps, bias)
        new_attention = partial(
            MultiHeadAttention,
            d_model,
            n_heads,
            n_kv_heads,
            d_head,
            bias=bias,
            dropout=dropout,
        )
        self.ln1, self.attn = new_norm(), new_attention(rope=rope)
        if cross_attention:
            self.ln_cross, self.cross_attn = new_norm(), new_attention()
            self.hook_cross_attn_out = HookPoint()  # (batch, time, d_model)
            self.hook_resid_cross = HookPoint()  # (batch, time, d_model)
        else:
            self.cross_attn = None
        self.ln2 = new_norm()
        if activation == "swiglu":
            self.mlp = SwiGLU(d_model, d_ff, bias)
        else:
            self.mlp = FeedForward(d_model, d_ff, activation, bias)
        self.dropout = nn.Dropout(dropout)
        for name in ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post"):
            setattr(self, f"hook_{name}", HookPoint())  # (batch, time, d_model)

    def forward(
        self,
        x,
        *,
        key_mask=None,
        positions=None,
        cache=None,
        layer=None,
        head_mask=None,
        memory=None,
        memory_mask=None,
        cross_head_mask=None,
    ):
        """Return the residual stream ``x`` (batch, time, d_model) after this block.

        Parameters
        ----------
        key_mask : boolean tensor (batch, key), optional
            ``True`` = a real token; with a cache it covers the tokens in there too.
        positions : tensor (time,) or (batch, time), optional
            For rotary positions; or their ``rope.cos_sin``, which all blocks can share.
        cache, layer : KVCache and int, optional
            Where the keys and values of earlier tokens are, and those of these tokens go.
        head_mask, cross_head_mask : tensor (heads,), optional
            A factor for each head's output: 0 ablates it.
        memory : tensor (batch, source time, d_model), with ``cross_attention`` only
        memory_mask : boolean tensor (batch, source time), optional
            ``True`` = a real token of the source.

        ``memory`` that is missing, or anything for a cross-attention that is not there, raises
        ``ValueError``.
        """
        self._check_memory(memory, memory_mask, cross_head_mask)
        x = self.hook_resid_pre(x)
        attend = partial(
            self.attn,
            key_mask=key_mask,
            is_causal=self.is_causal,
            positions=positions,
            cache=cache,
            layer=layer,
            head_mask=head_mask,
        )
        x = self.hook_resid_mid(self._add(x, self.ln1, attend, self.hook_attn_out))
        if self.cross_attn is not None:
            given = {"context": memory, "key_mask": memory_mask, "head_mask": cross_head_mask}
            read = partial(self.cross_attn, **given)
            x = self._add(x, self.ln_cross, read, self.hook_cross_attn_out)
            x = self.hook_resid_cross(x)
        return self.hook_resid_post(self._add(x, self.ln2, self.mlp, self.hook_mlp_out))

    def _check_memory(self, memory, memory_mask, cross_head_mask):
        if self.cross_attn is not None:
            if memory is None:
                raise ValueError("this block reads an encoder: give it memory")
            return
        given = {"memory": memory, "memory_mask": memory_mask, "cross_head_mask": cross_head_mask}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"this block has no cross-attention, which {name} is for")

    def _add(self, x, norm, sublayer, hook):
        """Add what a sublayer finds, with the norm before it or after the sum."""
        if self.pre_norm:
            return x + hook(self.dropout(sublayer(norm(x))))
        return norm(x + hook(self.dropout(sublayer(x))))

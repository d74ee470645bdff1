"""The inputs of the block walk: nested lists of numbers, from a block and back, and an example.

Torch is imported where a block is read or made: the widget itself does without.
"""

import numpy as np
import traitlets

from .._checks import as_float

__all__ = ["MOST_WIDTH", "Numbers", "block_of", "check_weights", "inputs_of", "made_up"]

MOST_WIDTH, MOST_HIDDEN, LIMIT = 12, 32, 1e4


class Numbers(traitlets.TraitType):
    """A nested list of finite numbers with one or two axes, or a dictionary of such lists."""

    def validate(self, obj, value):
        if isinstance(value, dict):
            return {str(name): self._listed(str(name), part) for name, part in value.items()}
        return self._listed(self.name, value)

    def _listed(self, name, value):
        try:
            array = as_float(name, value)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None
        if array.ndim not in (1, 2) or array.size == 0:
            raise traitlets.TraitError(f"{name} must be a vector or matrix, got {array.shape}")
        if not (abs(array) <= LIMIT).all():  # NaN is not <= anything
            raise traitlets.TraitError(f"{name} must hold finite numbers of size at most {LIMIT:g}")
        return array.astype(float).tolist()


def made_up():
    """``x`` and the weights of a small block: 4 tokens, width 6, 2 heads, 10 hidden units."""
    rng = np.random.default_rng(17)  # the verb reads either noun in another head
    shapes = {
        "ln1.weight": (6,),
        "ln1.bias": (6,),
        "attn.qkv_proj.weight": (18, 6),
        "attn.o_proj.weight": (6, 6),
        "ln2.weight": (6,),
        "ln2.bias": (6,),
        "mlp.up_proj.weight": (10, 6),
        "mlp.up_proj.bias": (10,),
        "mlp.down_proj.weight": (6, 10),
    }
    weights = {name: rng.normal(scale=0.6, size=shape).round(2) for name, shape in shapes.items()}
    for norm in ("ln1", "ln2"):
        weights[f"{norm}.weight"] = 1 + weights[f"{norm}.weight"] / 4
        weights[f"{norm}.bias"] = weights[f"{norm}.bias"] / 4
    weights["mlp.up_proj.weight"] = (1.5 * weights["mlp.up_proj.weight"]).round(3)
    return rng.normal(size=(4, 6)).round(2), weights


def check_weights(weights, d_model, n_heads, norm, activation):
    """That ``weights`` are those of a block, or ``ValueError``."""
    shapes = {name: np.shape(part) for name, part in weights.items()}
    maps = ["attn.qkv_proj", "attn.o_proj", "mlp.up_proj", "mlp.down_proj"]
    maps += ["mlp.gate_proj"] if activation == "swiglu" else []
    needed = ["ln1.weight", "ln2.weight", *(f"{name}.weight" for name in maps)]
    biases = {f"{name}.bias" for name in (*maps, *(("ln1", "ln2") if norm == "layer" else ()))}
    missing = [name for name in needed if name not in shapes]
    unknown = sorted(shapes.keys() - {*needed, *biases})
    if missing or unknown:
        raise ValueError(f"weights must be a block's: missing {missing}, not known {unknown}")
    d_ff, inner = shapes["mlp.up_proj.weight"][0], shapes["attn.o_proj.weight"][-1]
    rows = shapes["attn.qkv_proj.weight"][0]
    d_head, rest = divmod(inner, n_heads)
    kv_width = (rows - inner) / 2  # of all key heads together
    if rest or kv_width <= 0 or kv_width % d_head or n_heads % (kv_width // d_head):
        raise ValueError(
            f"n_heads = {n_heads} does not fit {rows} rows of attn.qkv_proj.weight and {inner} "
            "columns of attn.o_proj.weight"
        )
    if d_ff > MOST_HIDDEN:
        raise ValueError(f"weights must have at most {MOST_HIDDEN} hidden units, got {d_ff}")
    out = {"attn.qkv_proj": rows, "mlp.up_proj": d_ff, "mlp.gate_proj": d_ff}
    into = {"attn.o_proj": inner, "mlp.down_proj": d_ff}
    for name, shape in shapes.items():
        part, kind = name.rsplit(".", 1)
        vector = kind == "bias" or part in ("ln1", "ln2")
        expected = (out.get(part, d_model),) + (() if vector else (into.get(part, d_model),))
        if shape != expected:
            raise ValueError(f"{name} must have shape {expected}, got {shape}")


def inputs_of(block):
    """Weights and settings of a `TransformerBlock`, as the block walk's inputs."""
    from ..blocks import ACTIVATIONS, RMSNorm, SwiGLU

    if block.cross_attn is not None or block.attn.rope is not None:
        raise ValueError("block must have no cross-attention and no rotary positions")
    function = vars(block.mlp).get("activation")
    names = [name for name, one in ACTIVATIONS.items() if one is function]
    return {
        "weights": {name: part.tolist() for name, part in block.state_dict().items()},
        "n_heads": block.attn.n_heads,
        "norm": "rms" if isinstance(block.ln1, RMSNorm) else "layer",
        "norm_eps": block.ln1.eps,
        "norm_position": "pre" if block.pre_norm else "post",
        "activation": "swiglu" if isinstance(block.mlp, SwiGLU) else names[0],
        "is_causal": block.is_causal,
    }


def block_of(weights, n_heads, settings):
    """The `TransformerBlock` with these weights and settings, in double precision."""
    import torch

    from ..blocks import TransformerBlock

    weights = {name: torch.tensor(part, dtype=torch.float64) for name, part in weights.items()}
    d_model, inner = weights["attn.o_proj.weight"].shape
    d_head = inner // n_heads
    n_kv_heads = (len(weights["attn.qkv_proj.weight"]) - inner) // (2 * d_head)
    d_ff = len(weights["mlp.up_proj.weight"])
    sizes = {"n_kv_heads": n_kv_heads, "d_head": d_head}
    block = TransformerBlock(d_model, n_heads, d_ff, **sizes, **settings).double()
    zeros = {name: torch.zeros_like(part) for name, part in block.state_dict().items()}
    block.load_state_dict(zeros | weights)  # a bias that is missing is 0
    return block.eval()

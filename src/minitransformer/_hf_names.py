"""Which weight of a Hugging Face model is which of ours, for the types the book loads.

The tables are the whole knowledge; `renamed` follows them and misses nothing: a weight that no
table names is an error, and so is one that is missing.
"""

import re
from dataclasses import dataclass, field

import torch

from .models import Config

__all__ = ["TABLES", "config_from_huggingface", "renamed"]


@dataclass(frozen=True)
class Table:
    """Names without their endings ``.weight`` and ``.bias``: theirs to ours.

    ``joined`` names several of theirs whose rows stand one below the other in one of ours;
    ``transposed`` those that are stored as (in, out), ``ignored`` what we have no use for.
    """

    prefix: str
    once: dict
    layer_prefix: str
    layer: dict
    joined: dict = field(default_factory=dict)
    transposed: frozenset = frozenset()
    ignored: str = r"$^"


TABLES = {
    "bert": Table(
        prefix="bert.",
        once={
            "embeddings.word_embeddings": "embed",
            "embeddings.position_embeddings": "pos_embed",
            "embeddings.token_type_embeddings": "segment_embed",
            "embeddings.LayerNorm": "embed_norm",
        },
        layer_prefix="encoder.layer.",
        layer={
            "attention.output.dense": "attn.o_proj",
            "attention.output.LayerNorm": "ln1",
            "intermediate.dense": "mlp.up_proj",
            "output.dense": "mlp.down_proj",
            "output.LayerNorm": "ln2",
        },
        joined={
            "attn.qkv_proj": (
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
            )
        },
        ignored=r"pooler\.|cls\.|embeddings\.position_ids$",
    ),
    "gpt2": Table(
        prefix="transformer.",
        once={"wte": "embed", "wpe": "pos_embed", "ln_f": "final_norm", "lm_head": "lm_head"},
        layer_prefix="h.",
        layer={
            "ln_1": "ln1",
            "attn.c_attn": "attn.qkv_proj",
            "attn.c_proj": "attn.o_proj",
            "ln_2": "ln2",
            "mlp.c_fc": "mlp.up_proj",
            "mlp.c_proj": "mlp.down_proj",
        },
        transposed=frozenset({"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}),
        ignored=r"h\.\d+\.attn\.(masked_)?bias$",  # causal masks that old files carry
    ),
    "llama": Table(
        prefix="model.",
        once={"embed_tokens": "embed", "norm": "final_norm", "lm_head": "lm_head"},
        layer_prefix="layers.",
        layer={
            "input_layernorm": "ln1",
            "self_attn.o_proj": "attn.o_proj",
            "post_attention_layernorm": "ln2",
            "mlp.gate_proj": "mlp.gate_proj",
            "mlp.up_proj": "mlp.up_proj",
            "mlp.down_proj": "mlp.down_proj",
        },
        joined={"attn.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")},
        ignored=r".*rotary_emb\.inv_freq$",
    ),
}


def renamed(weights, table, n_layers, tied_head=True):
    """Yield (our name, tensor) for the weights of a Hugging Face model.

    Parameters
    ----------
    weights : mapping of name to tensor
    table : Table
        One of `TABLES`.
    n_layers : int
    tied_head : bool
        Whether the output matrix is the embedding matrix; a second copy of it is then left out.

    Raises
    ------
    ValueError
        If a weight is missing, unknown or there twice, or a tied head differs from the embedding.
    """
    left = {}
    for full in weights:
        name = full.removeprefix(table.prefix)
        if re.match(table.ignored, name):
            continue
        if name in left:
            raise ValueError(f"{left[name]} and {full} are two weights for one place")
        left[name] = full
    if tied_head and "lm_head.weight" in left:
        _check_tied(weights, left, table)
        del left["lm_head.weight"]
    for theirs, ours in _pairs(table, n_layers):
        for ending in (".weight", ".bias"):
            names = [name + ending for name in theirs]
            here = [name for name in names if name in left]
            if not here and (ending == ".bias" or ours == "lm_head"):
                continue
            if len(here) != len(names):
                missing = sorted(set(names) - set(here))
                raise ValueError(f"the weights lack {', '.join(missing)}")
            parts = [weights[left.pop(name)] for name in names]
            tensor = parts[0] if len(parts) == 1 else torch.cat(parts)
            turn = ending == ".weight" and _in_layer(theirs[0], table) in table.transposed
            yield ours + ending, tensor.T if turn else tensor
    if left:
        raise ValueError(f"weights that no layer of ours takes: {', '.join(sorted(left)[:8])}")


def _pairs(table, n_layers):
    for theirs, ours in table.once.items():
        yield (theirs,), ours
    for layer in range(n_layers):
        before = f"{table.layer_prefix}{layer}."
        for theirs, ours in table.layer.items():
            yield (before + theirs,), f"blocks.{layer}.{ours}"
        for ours, parts in table.joined.items():
            yield tuple(before + part for part in parts), f"blocks.{layer}.{ours}"


def _in_layer(name, table):
    return re.sub(rf"^{re.escape(table.layer_prefix)}\d+\.", "", name)


def _check_tied(weights, left, table):
    embed = next(theirs for theirs, ours in table.once.items() if ours == "embed") + ".weight"
    if embed in left and not torch.equal(weights[left["lm_head.weight"]], weights[left[embed]]):
        raise ValueError("the head is said to be tied, but its weights differ from the embedding's")


_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


def config_from_huggingface(values):
    """Read a Hugging Face ``config.json``, given as a dict: our `Config`.

    Raises
    ------
    ValueError
        If the model is of a type, or has an option, that we do not have.

    Examples
    --------
    >>> config_from_huggingface({
    ...     "model_type": "gpt2", "vocab_size": 11, "n_layer": 2, "n_embd": 6, "n_head": 3,
    ...     "n_positions": 32, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new",
    ... }).activation
    'gelu_tanh'
    """
    kind = values.get("model_type")
    readers = {"bert": _bert, "gpt2": _gpt2, "llama": _llama}
    if kind not in readers:
        raise ValueError(f"model_type must be one of {', '.join(readers)}, got {kind!r}")
    try:
        return readers[kind](values)
    except KeyError as missing:
        raise ValueError(f"the config of this {kind} model lacks {missing}") from None


def _bert(values):
    if values.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(f"positions of type {values['position_embedding_type']!r} are not ours")
    return Config.bert(
        vocab_size=values["vocab_size"],
        n_layers=values["num_hidden_layers"],
        d_model=values["hidden_size"],
        n_heads=values["num_attention_heads"],
        d_ff=values["intermediate_size"],
        max_length=values["max_position_embeddings"],
        norm_eps=values["layer_norm_eps"],
        n_segments=values["type_vocab_size"],
        activation=_activation(values["hidden_act"]),
    )


def _gpt2(values):
    return Config.gpt2(
        vocab_size=values["vocab_size"],
        n_layers=values["n_layer"],
        d_model=values["n_embd"],
        n_heads=values["n_head"],
        d_ff=values.get("n_inner"),
        max_length=values["n_positions"],
        norm_eps=values["layer_norm_epsilon"],
        activation=_activation(values["activation_function"]),
        tied_head=values.get("tie_word_embeddings", True),
    )


def _llama(values):
    rope = values.get("rope_parameters") or values.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default" or values["hidden_act"] != "silu":
        raise ValueError(f"rope of type {kind!r} with {values['hidden_act']!r} is not ours")
    if values.get("attention_bias", False) or values.get("mlp_bias", False):
        raise ValueError("a Llama with biases is not ours")
    return Config.llama(
        vocab_size=values["vocab_size"],
        n_layers=values["num_hidden_layers"],
        d_model=values["hidden_size"],
        n_heads=values["num_attention_heads"],
        n_kv_heads=values.get("num_key_value_heads"),
        d_head=values.get("head_dim"),
        d_ff=values["intermediate_size"],
        max_length=values["max_position_embeddings"],
        norm_eps=values["rms_norm_eps"],
        rope_base=float(rope.get("rope_theta", values.get("rope_theta", 10000.0))),
        tied_head=values.get("tie_word_embeddings", False),
    )


def _activation(name):
    if name not in _ACTIVATIONS:
        raise ValueError(f"activation {name!r} is not one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[name]

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
# Options that change what a model computes, with the only value of each that is ours: the one that
# holds where a config does not speak of it. All others are of no effect once training is over.
_ONLY = {
    "bert": {
        "position_embedding_type": "absolute",
        "is_decoder": False,
        "add_cross_attention": False,
        "pruned_heads": {},
    },
    "gpt2": {
        "is_causal": True,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False,
        "pruned_heads": {},
    },
    "llama": {
        "is_causal": True,
        "attention_bias": False,
        "mlp_bias": False,
        "hidden_act": "silu",
        "partial_rotary_factor": 1.0,
        "pruned_heads": {},
    },
}


def config_from_huggingface(values):
    """Read a Hugging Face ``config.json``, given as a dict: our `Config`.

    Raises
    ------
    ValueError
        If the model is of a type, or has an option, that we do not have, or if a value is missing
        or is none that such a model can have.

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
    if kind not in list(readers):  # in the dict itself, a list would be a TypeError
        raise ValueError(f"model_type must be one of {', '.join(readers)}, got {kind!r}")
    for name, ours in _ONLY[kind].items():
        if values.get(name, ours) != ours:
            raise ValueError(f"{name} must be {ours!r} in a {kind} model, got {values[name]!r}")
    try:
        return readers[kind](values)
    except KeyError as missing:
        raise ValueError(f"the config of this {kind} model lacks {missing}") from None


def _bert(values):
    return Config.bert(
        vocab_size=_size(values, "vocab_size"),
        n_layers=_size(values, "num_hidden_layers"),
        d_model=_size(values, "hidden_size"),
        n_heads=_size(values, "num_attention_heads"),
        d_ff=_size(values, "intermediate_size"),
        max_length=_size(values, "max_position_embeddings"),
        norm_eps=_number(values, "layer_norm_eps"),
        n_segments=_size(values, "type_vocab_size"),
        activation=_activation(values, "hidden_act"),
    )


def _gpt2(values):
    return Config.gpt2(
        vocab_size=_size(values, "vocab_size"),
        n_layers=_size(values, "n_layer"),
        d_model=_size(values, "n_embd"),
        n_heads=_size(values, "n_head"),
        d_ff=_size(values, "n_inner", optional=True),
        max_length=_size(values, "n_positions"),
        norm_eps=_number(values, "layer_norm_epsilon"),
        activation=_activation(values, "activation_function"),
        tied_head=_tied(values, True),
    )


def _llama(values):
    return Config.llama(
        vocab_size=_size(values, "vocab_size"),
        n_layers=_size(values, "num_hidden_layers"),
        d_model=_size(values, "hidden_size"),
        n_heads=_size(values, "num_attention_heads"),
        n_kv_heads=_size(values, "num_key_value_heads", optional=True),
        d_head=_size(values, "head_dim", optional=True),
        d_ff=_size(values, "intermediate_size"),
        max_length=_size(values, "max_position_embeddings"),
        norm_eps=_number(values, "rms_norm_eps"),
        rope_base=_number({"rope_theta": 10000.0} | values | _rope(values), "rope_theta"),
        tied_head=_tied(values, False),
    )


def _rope(values):
    """What is said of the rotary positions: in rope_parameters, or in older files rope_scaling."""
    given = [name for name in ("rope_parameters", "rope_scaling") if values.get(name) is not None]
    ropes = [values[name] for name in given]
    for name, rope in zip(given, ropes, strict=True):
        if not isinstance(rope, dict):
            raise ValueError(f"{name} must be an object or null, got {rope!r}")
        kind = rope.get("rope_type", rope.get("type", "default"))
        part = rope.get("partial_rotary_factor", 1.0)
        by_layer = any(isinstance(value, dict) for value in rope.values())
        if kind != "default" or part != 1.0 or by_layer:
            raise ValueError(f"{name} must be of type 'default' for all of a head, got {rope!r}")
    if len(ropes) == 2 and ropes[0] != ropes[1]:
        raise ValueError(f"rope_parameters and rope_scaling differ: {ropes[0]!r} and {ropes[1]!r}")
    return ropes[0] if ropes else {}


def _size(values, name, optional=False):
    size = values.get(name) if optional else values[name]
    if optional and size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {size!r}")
    return size


def _number(values, name):
    number = values[name]
    real = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not real or not 0 < number <= torch.finfo(torch.float32).max:
        raise ValueError(f"{name} must be a positive number in float32, got {number!r}")
    return float(number)


def _tied(values, default):
    tied = values.get("tie_word_embeddings", default)
    if not isinstance(tied, bool):
        raise ValueError(f"tie_word_embeddings must be true or false, got {tied!r}")
    return tied


def _activation(values, name):
    if values[name] not in list(_ACTIVATIONS):
        raise ValueError(f"{name} must be one of {', '.join(_ACTIVATIONS)}, got {values[name]!r}")
    return _ACTIVATIONS[values[name]]

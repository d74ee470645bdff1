"""A GGUF file of Llama type: its Config, and its weights under Hugging Face's names."""

import re
from collections.abc import Mapping

import torch

from .models import Config
from .positions import half_split_order

_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def llama_config(file):
    """The Config of a GGUF file of Llama type, or a ValueError that says why there is none."""
    if file.metadata.get("general.architecture") != "llama":
        raise ValueError(
            f"{file.path}: only GGUF files of architecture 'llama' are read here, this one is "
            f"{file.metadata.get('general.architecture')!r}"
        )
    for name, value in file.metadata.items():
        # A factor without a type is enough: llama.cpp then scales linearly. 0 and 1 are no factor.
        if name.startswith("llama.rope.scal") and value not in ("none", 0, 1):
            raise ValueError(
                f"{file.path}: its rotary positions are scaled, which is not ours: {name} is "
                f"{value!r}"
            )
    values = {
        ours: file.metadata.get(f"llama.{theirs}")
        for ours, theirs in {
            "n_layers": "block_count",
            "d_model": "embedding_length",
            "n_heads": "attention.head_count",
            "n_kv_heads": "attention.head_count_kv",
            "d_ff": "feed_forward_length",
            "max_length": "context_length",
            "vocab_size": "vocab_size",
            "norm_eps": "attention.layer_norm_rms_epsilon",
            "rope_base": "rope.freq_base",
            "d_head": "rope.dimension_count",
        }.items()
    }
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ValueError(f"{file.path}: its metadata lack {', '.join(missing)}")
    try:
        return Config.llama(tied_head="output.weight" not in file.tensors, **values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file.path}: {error}") from None


class LlamaWeights(Mapping):
    """The tensors of a GGUF file under Hugging Face's names, dequantised when they are read."""

    def __init__(self, file):
        self.file = file
        self.theirs = {}
        for name in file.tensors:
            other = self.theirs.setdefault(self._renamed(name), name)
            if other != name:
                raise ValueError(f"{file.path}: {other} and {name} are two weights for one place")
        self.d_head = file.metadata["llama.rope.dimension_count"]

    def _renamed(self, name):
        """``blk.3.attn_q.weight`` is ``model.layers.3.self_attn.q_proj.weight``.

        A name of another form stays as it is, for the one who asks for the weights to refuse.
        """
        parts = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(\w+)", name)
        if not parts or parts[2] not in _NAMES:
            return name
        layer = f"model.layers.{parts[1]}." if parts[1] else ""
        return f"{layer}{_NAMES[parts[2]]}.{parts[3]}"

    def shapes(self):
        return {ours: self.file.tensors[name].shape for ours, name in self.theirs.items()}

    def __getitem__(self, name):
        tensor = torch.from_numpy(self.file.read(self.theirs[name]))
        if "q_proj" in name or "k_proj" in name:
            # The file's rows serve interleaved rotation; ours is half-split.
            heads = tensor.unflatten(0, (-1, self.d_head))
            tensor = heads[:, half_split_order(self.d_head)].flatten(0, 1)
        return tensor

    def __iter__(self):
        return iter(self.theirs)

    def __len__(self):
        return len(self.theirs)

"""What the models share: embeddings and blocks made from a Config, first weights, checks."""

import torch
from torch import nn

from ..blocks import TransformerBlock
from ..hooks import HookedModule, HookPoint
from ..norms import make_norm
from ..positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    check_positions,
)


class Stack(HookedModule):
    """Positions, blocks and the last norm; a model puts its embedding before and a head behind.

    ``blocks.{i}`` are the layers, ``hook_embed`` and ``hook_pos_embed`` what enters them.
    """

    def __init__(self, config, *, is_causal=False, cross_attention=False):
        super().__init__()
        self.config = config
        self.pos_embed = make_positions(config)
        self.embed_norm = new_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        rotary = config.positions == "rotary"
        self.rope = RotaryPositions(config.d_head, config.rope_base) if rotary else None
        self.blocks = nn.ModuleList(
            make_block(config, self.rope, is_causal, cross_attention)
            for _ in range(config.n_layers)
        )
        self.final_norm = new_norm(config) if config.norm_position == "pre" else nn.Identity()
        self.hook_embed = HookPoint()  # (batch, time, d_model)
        self.hook_pos_embed = HookPoint()  # (time, d_model) or (batch, time, d_model)

    def run(self, embedded, positions, **inputs):
        """From embeddings (batch, time, d_model) to the states after the last norm."""
        check_positions(positions, embedded.shape[1], len(embedded))
        x = self.hook_embed(embedded)
        if self.pos_embed is not None:
            x = x + self.hook_pos_embed(self.pos_embed(positions).to(x.dtype))
        return self.run_from(0, self.dropout(self.embed_norm(x)), positions, **inputs)

    def run_from(
        self, first, x, positions, *, cache=None, head_mask=None, cross_head_mask=None, **inputs
    ):
        """From what enters layer ``first`` (its ``hook_resid_pre``) to the states."""
        head_mask = self._rows("head_mask", head_mask)
        cross_head_mask = self._rows("cross_head_mask", cross_head_mask)
        angles = None
        if self.rope is not None:  # the same for all layers
            heads = x.new_empty(len(x), 1, x.shape[1], self.config.d_head)
            angles = self.rope.cos_sin(heads, positions)
        for layer, block in list(enumerate(self.blocks))[first:]:
            x = block(
                x,
                positions=angles,
                cache=cache,
                layer=None if cache is None else layer,
                head_mask=head_mask[layer],
                cross_head_mask=cross_head_mask[layer],
                **inputs,
            )
        return self.final_norm(x)

    def _rows(self, name, mask):
        """One row for each layer of a head mask (n_layers, n_heads)."""
        n_layers, n_heads = self.config.n_layers, self.config.n_heads
        if mask is None:
            return [None] * n_layers
        if not isinstance(mask, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(mask).__name__}")
        if tuple(mask.shape) != (n_layers, n_heads):
            raise ValueError(
                f"{name} must have shape (n_layers, n_heads) = {(n_layers, n_heads)}, "
                f"got {tuple(mask.shape)}"
            )
        return mask


def new_norm(config):
    return make_norm(config.norm, config.d_model, config.norm_eps, config.bias)


def make_positions(config):
    """The module that turns positions into vectors to be added, or None where nothing is added."""
    if config.positions == "learned":
        return LearnedPositions(config.max_length, config.d_model)
    return SinusoidalPositions(config.d_model) if config.positions == "sinusoidal" else None


def make_block(config, rope, is_causal, cross_attention):
    return TransformerBlock(
        config.d_model,
        config.n_heads,
        config.d_ff,
        n_kv_heads=config.n_kv_heads,
        d_head=config.d_head,
        norm=config.norm,
        norm_eps=config.norm_eps,
        norm_position=config.norm_position,
        activation=config.activation,
        bias=config.bias,
        rope=rope,
        is_causal=is_causal,
        cross_attention=cross_attention,
        dropout=config.dropout,
    )


@torch.no_grad()
def init_weights(stack):
    """Draw the first weights, at a scale at which the book's small models train well.

    Linear maps keep PyTorch's own draw, about 0.58 / sqrt(inputs), and lose their biases.
    Embeddings get 0.5 / sqrt(d_model), so that the logits of a tied head start near 0.5 and not
    near sqrt(d_model). The last map of each sublayer is divided by the square root of the number
    of sublayers, so that their sum keeps its size (Radford et al. 2019, section 2.3).
    """
    config = stack.config
    for name, parameter in stack.named_parameters():
        if "embed" in name and parameter.ndim == 2:
            nn.init.normal_(parameter, std=0.5 * config.d_model**-0.5)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    for block in stack.blocks:
        writers = [block.attn.o_proj, block.mlp.down_proj]
        if block.cross_attn is not None:
            writers.append(block.cross_attn.o_proj)
        for linear in writers:
            linear.weight /= (len(writers) * config.n_layers) ** 0.5


def check_whole(name, tensor):
    """Raise an error unless this is a tensor of whole numbers."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} must be a tensor of whole numbers, got {type(tensor).__name__}")
    if tensor.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be whole numbers (int64), got dtype {tensor.dtype}")


def check_tokens(name, tokens, config):
    """Raise an error that names what came unless these are tokens (batch, time) of the model."""
    check_whole(name, tokens)
    if tokens.ndim != 2 or tokens.numel() == 0:
        raise ValueError(
            f"{name} must have shape (batch, time) and hold a token, got {tuple(tokens.shape)}"
        )
    lowest, highest = (int(edge) for edge in tokens.aminmax())
    if lowest < 0 or highest >= config.vocab_size:
        raise ValueError(
            f"{name} must run from 0 to {config.vocab_size - 1}, got {lowest} to {highest}"
        )


def check_key_mask(name, mask, shape):
    """Raise an error unless the mask is boolean and has a place for every token."""
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(
            f"{name} must be a boolean tensor, True = a real token, got {kind}; "
            "a 0/1 mask becomes one with mask.bool()"
        )
    if tuple(mask.shape) != tuple(shape):
        raise ValueError(
            f"{name} must cover all {shape[1]} tokens of {shape[0]} texts, those in the cache too: "
            f"expected shape {tuple(shape)}, got {tuple(mask.shape)}"
        )


def text_positions(tokens, key_mask, past, max_length):
    """Where the tokens stand: after those of the past, and without counting padding."""
    batch, time = tokens.shape
    end = past + time
    if end > max_length:
        raise ValueError(f"{end} tokens are more than the model's max_length {max_length}")
    if key_mask is None:
        return torch.arange(past, end, device=tokens.device)
    check_key_mask("key_mask", key_mask, (batch, end))
    return (key_mask.cumsum(1) - 1).clamp(min=0)[:, past:]

"""What assignment 4 builds a small GPT from, and how its checks run what students write."""

import functools

import torch
from torch import nn

from ..attention import MultiHeadAttention
from ..blocks import FeedForward, LayerNorm, TransformerBlock
from ..cache import KVCache
from ..models import Config, Decoder

__all__ = [
    "BlockParts",
    "GPTParts",
    "filled",
    "on_tensors",
    "small_decoder",
    "through_block",
    "through_gpt",
    "through_writing",
]


class BlockParts(nn.Module):
    """The parts of a block, not yet put together.

    ``norm_1``, ``norm_2``, ``attention`` (a MultiHeadAttention) and ``network``.

    >>> BlockParts(6, 3).attention.n_heads
    3
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.network = FeedForward(d_model, 2 * d_model)


class GPTParts(nn.Module):
    """The parts of a small GPT, not yet put together.

    ``embed`` and ``positions``, both nn.Embedding; ``blocks``, a list of TransformerBlock with a
    causal mask; ``norm``, the last one.

    >>> len(GPTParts(vocab_size=11, max_length=8, d_model=6, n_heads=3, n_layers=2).blocks)
    2
    """

    def __init__(self, vocab_size, max_length, d_model, n_heads, n_layers):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, n_heads, is_causal=True) for _ in range(n_layers)
        )
        self.norm = LayerNorm(d_model)

    def new_cache(self, batch):
        """An empty cache with room for the longest text."""
        attention, weight = self.blocks[0].attn, self.embed.weight
        sizes = len(self.blocks), batch, attention.n_heads, self.positions.num_embeddings
        return KVCache(*sizes, attention.d_head, dtype=weight.dtype)


@torch.no_grad()
def filled(module, start=0):
    """Give a module weights between -1 and 1 that look random and are the same everywhere.

    >>> filled(nn.Linear(3, 1, bias=False)).weight.data.round(decimals=4)
    tensor([[-1.0000,  0.4385,  0.3605]], dtype=torch.float64)
    """
    module.double()
    for number, weight in enumerate(module.parameters(), start=start):
        place = torch.arange(weight.numel()) + 101 * number
        scattered = (7919 * place**2 + 104729 * place) % 65521
        weight.copy_((scattered / 32760.5 - 1).view(weight.shape))
    return module.eval()


def small_decoder(start=77):
    """A Decoder of 11 tokens, filled.

    >>> small_decoder()(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 11])
    """
    config = Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3, max_length=16)
    return filled(Decoder(config), start)


def on_tensors(function):
    """The function, for a check that hands over arrays.

    >>> on_tensors(torch.sum)([[1, 2], [3, 4]])
    tensor(10)
    """

    @functools.wraps(function)
    def called(*arguments):
        return function(
            *(torch.as_tensor(one) if hasattr(one, "__len__") else one for one in arguments)
        )

    return called


def through_block(step, x, n_before):
    """Run a block on x (batch, time, d_model), all at once or in two goes.

    ``step(x, parts)`` is the block; with ``n_before``, so many tokens come first, and the others
    by ``step(x, parts, cache, layer)``.

    >>> through_block(lambda x, parts: x, [[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]], 0).shape
    torch.Size([1, 1, 6])
    """
    x, parts = torch.tensor(x, dtype=torch.float64), filled(BlockParts(6, 3))
    if not n_before:
        return step(x, parts)
    cache = KVCache(2, len(x), 3, x.shape[1], 2, dtype=x.dtype)
    before = step(x[:, :n_before], parts, cache, 1)
    cache.length = n_before  # as when all layers have written
    return torch.cat([before, step(x[:, n_before:], parts, cache, 1)], dim=1)


def through_gpt(logits_of, tokens, n_before):
    """Run a small GPT on tokens (batch, time), all at once or in two goes.

    ``logits_of(model, tokens)`` and ``logits_of(model, tokens, cache)`` give its logits.

    >>> through_gpt(lambda model, tokens: model.embed(tokens), [[1, 2, 3]], 0).shape
    torch.Size([1, 3, 6])
    """
    tokens, model = torch.tensor(tokens), filled(GPTParts(5, 9, 6, 3, 2))
    if not n_before:
        return logits_of(model, tokens)
    cache = model.new_cache(len(tokens))
    parts = tokens[:, :n_before], tokens[:, n_before:]
    return torch.cat([logits_of(model, part, cache) for part in parts], dim=1)


def through_writing(write, tokens, n_new):
    """Let a small model write: the new tokens, and under them their log-probabilities.

    ``write(model, tokens, n_new)`` returns the whole texts and the log-probabilities.

    >>> from ..generation import generate
    >>> def write(model, tokens, n_new):
    ...     return generate(model, tokens, n_new), torch.zeros(len(tokens), n_new)
    >>> through_writing(write, [[1, 2, 3]], 4).shape
    torch.Size([2, 1, 4])
    """
    texts, log_probabilities = write(small_decoder(), torch.tensor(tokens), n_new)
    return torch.stack([texts[:, len(tokens[0]) :].double(), log_probabilities.double()])

"""A training step of a GPT-type model: ours, one of PyTorch's layers and bare SDPA, side by side.

All have the same sizes, the same loss, AdamW and the same number of parameters. Ours is stepped as
`training.fit` does it, by AdamW in one kernel, and once more by the optimiser of the others, so
that the share of the model itself is seen. At the end the feed-forward network alone: its linear
maps are computed as convolutions where that is faster. All take turns within each round, so that a
slow moment of the machine hits them alike; the median over the rounds counts.
"""

import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.bars import Reading
from benchmarks.bench_attention import medians
from minitransformer.blocks import FeedForward
from minitransformer.models import Config, Decoder

CONFIG = Config.gpt2(vocab_size=512, n_layers=4, d_model=256, n_heads=4, max_length=256)
BATCH = 16
OURS = "minitransformer"
OURS_STEPPED_ALIKE = "minitransformer, same AdamW"


class TorchLayers(nn.Module):
    """The plain way: nn.TransformerEncoderLayer with a causal mask."""

    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.max_length, config.d_model)
        layer = nn.TransformerEncoderLayer(
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=0.0,
            activation=nn.GELU(approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(
            layer, config.n_layers, nn.LayerNorm(config.d_model), enable_nested_tensor=False
        )
        mask = nn.Transformer.generate_square_subsequent_mask(config.max_length)
        self.register_buffer("mask", mask)

    def forward(self, tokens):
        time = tokens.shape[1]
        x = self.embed(tokens) + self.positions.weight[:time]
        x = self.layers(x, mask=self.mask[:time, :time], is_causal=True)
        return x @ self.embed.weight.T


class BareBlock(nn.Module):
    """A block written around F.scaled_dot_product_attention with nothing else in it."""

    def __init__(self, config):
        super().__init__()
        d_model = config.d_model
        self.n_heads = config.n_heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, config.d_ff), nn.Linear(config.d_ff, d_model)

    def forward(self, x):
        batch, time, d_model = x.shape
        parts = self.qkv(self.norm1(x)).split(d_model, dim=-1)
        query, key, value = (
            part.view(batch, time, self.n_heads, -1).transpose(1, 2) for part in parts
        )
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, d_model))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class BareSdpa(nn.Module):
    """A GPT of `BareBlock`s."""

    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.max_length, config.d_model)
        self.blocks = nn.Sequential(*(BareBlock(config) for _ in range(config.n_layers)))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, tokens):
        x = self.embed(tokens) + self.positions.weight[: tokens.shape[1]]
        return self.norm(self.blocks(x)) @ self.embed.weight.T


def training_step(model, optimiser, tokens):
    """One step of next-token prediction; returns the loss."""
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss.item()


def measure(models, tokens, rounds, warm_up=2):
    """Seconds per training step: {name: [seconds, ...]}, the models taking turns."""
    optimisers = {
        name: torch.optim.AdamW(model.parameters(), lr=1e-4, fused=name == OURS or None)
        for name, model in models.items()
    }
    seconds = {name: [] for name in models}
    names = list(models)
    for turn in range(warm_up + rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.perf_counter()
            training_step(models[name], optimisers[name], tokens)
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def feed_forward_seconds(rounds):
    """Median seconds of a feed-forward network with its gradients: (ours, of plain nn.Linears)."""
    sizes = CONFIG.d_model, CONFIG.d_ff
    ours = FeedForward(*sizes, activation="gelu_tanh")
    gelu = nn.GELU(approximate="tanh")
    plain = nn.Sequential(nn.Linear(*sizes), gelu, nn.Linear(*reversed(sizes)))
    x = torch.randn(BATCH, CONFIG.max_length, CONFIG.d_model, requires_grad=True)
    return medians([lambda: ours(x).sum().backward(), lambda: plain(x).sum().backward()], rounds)


def main(rounds=25):
    """Measure and print the table; what the bar is held to."""
    torch.manual_seed(0)
    models = {
        OURS: Decoder(CONFIG),
        OURS_STEPPED_ALIKE: Decoder(CONFIG),
        "nn.TransformerEncoderLayer": TorchLayers(CONFIG),
        "bare SDPA": BareSdpa(CONFIG),
    }
    sizes = {sum(p.numel() for p in model.parameters()) for model in models.values()}
    if len(sizes) != 1:
        raise AssertionError(f"the models differ in size: {sorted(sizes)} parameters")
    tokens = torch.randint(CONFIG.vocab_size, (BATCH, CONFIG.max_length + 1))
    seconds = measure(models, tokens, rounds)
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    fastest_other = min(typical["nn.TransformerEncoderLayer"], typical["bare SDPA"])
    print(f"Training step, GPT type, {sizes.pop():,} parameters, batch {BATCH} × 256 tokens")
    for name, value in typical.items():
        print(f"  {name:28} {value * 1e3:8.1f} ms")
    ratio = typical[OURS] / fastest_other
    print(f"  ours / the faster of the others: {ratio:.3f} (bar: at most 1.0)")
    print(f"  the same, stepped alike: {typical[OURS_STEPPED_ALIKE] / fastest_other:.3f}")
    ours, plain = feed_forward_seconds(rounds)
    print(f"  its feed-forward network alone / one of nn.Linear: {ours / plain:.3f}")
    return [Reading("training step, ours / the faster other", ratio, 1.0)]


if __name__ == "__main__":
    main()

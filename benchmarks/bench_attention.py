"""A forward pass of MultiHeadAttention and of nn.MultiheadAttention, side by side.

Both have the same weights and take turns within each round, so that a slow moment of the machine
hits them alike; the median over the rounds counts.
"""

import statistics
import time
from functools import partial

import torch
from torch import nn

from benchmarks.bars import Reading
from minitransformer.attention import MultiHeadAttention

BATCH, TIME, D_MODEL, N_HEADS = 8, 256, 512, 8


def pair():
    """Ours and PyTorch's, with the same weights."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    ours = MultiHeadAttention(D_MODEL, N_HEADS)
    with torch.no_grad():
        for mine, other in (
            (ours.qkv_proj.weight, theirs.in_proj_weight),
            (ours.qkv_proj.bias, theirs.in_proj_bias),
            (ours.o_proj.weight, theirs.out_proj.weight),
            (ours.o_proj.bias, theirs.out_proj.bias),
        ):
            mine.copy_(other)
    return ours, theirs


def modes(x):
    """What is compared: {name: (ours, theirs, whether gradients are recorded)}."""
    ours, theirs = pair()
    plain = partial(theirs, x, x, x, need_weights=False)
    weights = partial(theirs, x, x, x, need_weights=True, average_attn_weights=False)
    if not torch.allclose(ours(x), plain()[0], atol=1e-5):
        raise AssertionError("the two modules compute different things")
    return {
        "in training": (partial(ours, x), plain, True),
        "for inference": (partial(ours, x), plain, False),
        "with the weights of all heads": (partial(ours, x, need_weights=True), weights, False),
    }


def medians(functions, rounds, warm_up=3):
    """Median seconds of a call of each function, all taking turns."""
    seconds = [[] for _ in functions]
    for turn in range(warm_up + rounds):
        order = list(range(len(functions)))
        for number in order if turn % 2 else order[::-1]:
            start = time.perf_counter()
            functions[number]()
            if turn >= warm_up:
                seconds[number].append(time.perf_counter() - start)
    return [statistics.median(values) for values in seconds]


def table(rounds=41):
    """Measure: a list of (what, our seconds, their seconds)."""
    x = torch.randn(BATCH, TIME, D_MODEL)
    rows = []
    for what, (ours, theirs, with_gradients) in modes(x).items():
        for bound in (ours, theirs):
            bound.func.train(with_gradients)  # in evaluation PyTorch takes its own fast path
        with torch.set_grad_enabled(with_gradients):
            rows.append((what, *medians([ours, theirs], rounds)))
    return rows


def main():
    """Measure and print the table; what the bars are held to."""
    threads = torch.get_num_threads()
    print(f"Attention forward, {BATCH} × {TIME} × {D_MODEL}, {N_HEADS} heads, {threads} thread(s)")
    print(f"  {'':30} {'ours':>9} {'nn.MHA':>9} {'ratio':>7}")
    ratios = {}
    for what, ours, theirs in table():
        ratios[what] = ours / theirs
        row = f"{ours * 1e3:6.1f} ms {theirs * 1e3:6.1f} ms {ratios[what]:7.3f}"
        print(f"  {what:30} {row}")
    print("  bar: at most 1.0 in training and for inference")
    held = ("in training", "for inference")
    return [Reading(f"attention {what}, ours / nn.MHA", ratios[what], 1.0) for what in held]


if __name__ == "__main__":
    main()

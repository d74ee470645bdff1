"""Chapter 5: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
import torch.nn.functional as F
from mutants import chapter_05 as mutants_05
from mutants._parts import weigh

from minitransformer import reference
from minitransformer.exercises import chapter_05


# --- cross_attention
def cross_by_einsum(x, context, w_q, w_k, w_v):
    return np.einsum("...qk,...kv->...qv", weigh(x @ w_q, context @ w_k), context @ w_v)


def cross_by_torch(*inputs):
    x, context, w_q, w_k, w_v = map(torch.tensor, inputs)
    return F.scaled_dot_product_attention(x @ w_q, context @ w_k, context @ w_v)


def cross_by_the_library(x, context, w_q, w_k, w_v):
    inputs = x @ w_q, context @ w_k, context @ w_v
    return reference.scaled_dot_product_attention(*inputs)[0]


# --- two_in_one_mask
def mask_in_loops(a, b):
    return [[column >= a for column in range(a + b)] for _ in range(a + b)]


def mask_by_blocks(a, b):
    return np.block([[np.zeros((a + b, a)), np.ones((a + b, b))]]).astype(bool)


def mask_by_broadcasting(a, b):
    return np.broadcast_to(np.arange(a + b) >= a, (a + b, a + b))


# --- key_padding_mask
def padding_in_loops(lengths):
    return [[False] * n + [True] * (max(lengths) - n) for n in lengths.tolist()]


def padding_inverted(lengths):
    return ~(np.arange(max(lengths))[None] < lengths.reshape(-1, 1))


def padding_by_torch(lengths):
    rows = [torch.zeros(n, dtype=torch.bool) for n in lengths.tolist()]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=True)


# --- agreement
def agreement_in_loops(weights, alignment):
    hits = []
    for at in np.ndindex(weights.shape[:2]):
        if alignment[at].any():
            hits.append(alignment[at][weights[at].argmax()])
    return sum(hits) / len(hits)


def agreement_by_maximum(weights, alignment):
    asked = alignment.any(-1)
    largest = weights == weights.max(-1, keepdims=True)
    return (largest & alignment).any(-1).sum() / asked.sum()


def agreement_by_torch(weights, alignment):
    weights, alignment = torch.tensor(weights), torch.tensor(alignment)
    hit = alignment.gather(-1, weights.argmax(-1, keepdim=True)).squeeze(-1)
    return hit[alignment.any(-1)].double().mean()


RIGHT = {
    "cross_attention": [cross_by_einsum, cross_by_torch, cross_by_the_library],
    "two_in_one_mask": [mask_in_loops, mask_by_blocks, mask_by_broadcasting],
    "key_padding_mask": [padding_in_loops, padding_inverted, padding_by_torch],
    "agreement": [agreement_in_loops, agreement_by_maximum, agreement_by_torch],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_05.EXERCISES}
MUTANTS = mutants_05.MUTANTS


def test_the_mask_of_two_in_one_makes_self_attention_a_cross_attention():
    x, context, *matrices = EXERCISES["cross_attention"].cases[0].arguments()
    mask = chapter_05.two_in_one_mask(len(x), len(context))
    both, _ = reference.self_attention(np.concatenate([x, context]), *matrices, mask=mask)
    np.testing.assert_allclose(both[: len(x)], chapter_05.cross_attention(x, context, *matrices))


def test_the_padding_mask_is_the_one_pytorch_wants():
    mask = torch.tensor(chapter_05.key_padding_mask(np.array([3, 5])))
    attention = torch.nn.MultiheadAttention(6, 2, batch_first=True).eval()
    x = torch.randn(2, 5, 6)
    _, weights = attention(x, x, x, key_padding_mask=mask)
    assert (weights[0, :, 3:] == 0).all()
    assert (weights[0, :, :3] > 0).all()
    assert (weights[1] > 0).all()


# Both multiply matrices whose sizes do not meet, and NumPy has the same words for both.
ALSO_CALLED = {("cross_attention", "Rows and columns of the weights"): "The shapes do not meet"}

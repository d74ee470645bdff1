"""Chapter 4: right answers pass however they are written, wrong ones are told why."""

import math

import numpy as np
import torch
from mutants import chapter_04 as mutants_04
from mutants._parts import rows

from minitransformer.exercises import chapter_04


# --- product_std
def std_from_variances(query_std, key_std, d_k):
    return np.sqrt(d_k * query_std**2 * key_std**2)


def std_in_a_loop(query_std, key_std, d_k):
    return math.sqrt(sum((query_std * key_std) ** 2 for _ in range(d_k)))


def std_by_torch(query_std, key_std, d_k):
    query_std, key_std, d_k = map(torch.tensor, (query_std, key_std, d_k))
    return (query_std * d_k.sqrt()) * key_std


# --- effective_keys
def keys_by_torch(weights):
    return torch.special.entr(torch.tensor(weights)).sum(-1).exp()


def keys_in_bits(weights):
    bits = -np.sum(weights * np.log2(np.maximum(weights, 1e-300)), axis=-1)
    return 2**bits


def keys_in_a_loop(weights):
    counts = np.empty(weights.shape[:-1])
    for at in np.ndindex(counts.shape):
        counts[at] = np.prod([w**-w for w in weights[at] if w > 0])
    return counts


# --- softmax_jacobian
def jacobian_by_torch(scores):
    scores = torch.tensor(scores)
    one = lambda row: torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), row)  # noqa: E731
    if scores.ndim == 1:
        return one(scores)
    return torch.stack([one(row) for row in scores])


def jacobian_factored(scores):
    w = rows(scores)
    return w[..., :, None] * (np.eye(scores.shape[-1]) - w[..., None, :])


def jacobian_in_loops(scores):
    w = rows(scores)
    n = scores.shape[-1]
    result = np.empty((*scores.shape, n))
    for i in range(n):
        for j in range(n):
            result[..., i, j] = w[..., i] * ((i == j) - w[..., j])
    return result


# --- tempered_softmax
def tempered_by_torch(scores, temperature):
    return torch.softmax(torch.tensor(scores) / torch.tensor(temperature), -1)


def tempered_by_logarithms(scores, temperature):
    s = scores / temperature
    return np.exp(s - np.logaddexp.reduce(s, axis=-1, keepdims=True))


def tempered_after_the_maximum(scores, temperature):
    e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


RIGHT = {
    "product_std": (std_from_variances, std_in_a_loop, std_by_torch),
    "effective_keys": (keys_by_torch, keys_in_bits, keys_in_a_loop),
    "softmax_jacobian": (jacobian_by_torch, jacobian_factored, jacobian_in_loops),
    "tempered_softmax": (tempered_by_torch, tempered_by_logarithms, tempered_after_the_maximum),
}
EXERCISES = {exercise.name: exercise for exercise in chapter_04.EXERCISES}
MUTANTS = mutants_04.MUTANTS

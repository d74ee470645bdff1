"""Chapter 14: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
from mutants import chapter_14 as mutants_14

from minitransformer.exercises import chapter_14
from minitransformer.inspection.attribution import rollout
from minitransformer.inspection.counterfactuals import jensen_shannon


# --- rank_agreement
def agreement_in_loops(first, second):
    return [np.mean(row) for row in mutants_14.pairs(first, second)]


def agreement_of_whole_squares(first, second):
    """All ordered pairs: each unordered one twice, and a place with itself gives 0."""
    n = first.shape[1]
    signs = [np.sign(x[:, :, None] - x[:, None]) for x in (first, second)]
    return (signs[0] * signs[1]).sum(axis=(1, 2)) / (n * (n - 1))


def agreement_by_counting(first, second):
    x, y = torch.tensor(first), torch.tensor(second)
    i, j = torch.triu_indices(x.shape[1], x.shape[1], 1)
    product = (x[:, i] - x[:, j]) * (y[:, i] - y[:, j])
    return ((product > 0).sum(1) - (product < 0).sum(1)) / product.shape[1]


# --- divergence
def divergence_by_the_library(first, second):
    return jensen_shannon(torch.tensor(first), torch.tensor(second))


def divergence_to_the_mean(first, second):
    return mutants_14.to_the_mean(first, second)


def divergence_in_loops(first, second):
    answer = []
    for x, y in zip(first, second, strict=True):
        mean = (x + y) / 2
        pairs = [(a, m) for z in (x, y) for a, m in zip(z, mean, strict=True) if a > 0]
        answer.append(sum(a * np.log(a / m) for a, m in pairs) / 2)
    return answer


# --- norm_shares
def shares_in_loops(weights, value):
    brought = [[w * np.sqrt(v @ v) for w, v in zip(row, value, strict=True)] for row in weights]
    return [[share / sum(row) for share in row] for row in brought]


def shares_by_torch(weights, value):
    return torch.nn.functional.normalize(
        torch.tensor(weights) * torch.tensor(value).norm(dim=1), p=1, dim=1
    )


def shares_by_weighted_values(weights, value):
    brought = np.sqrt(((weights[:, :, None] * value) ** 2).sum(-1))
    return brought / brought.sum(1, keepdims=True)


# --- rolled_out
def rolled_by_the_library(weights):
    return rollout([torch.tensor(layer)[None, None] for layer in weights])[-1, 0]


def rolled_at_once(weights):
    halves = [0.5 * layer + 0.5 * np.eye(len(layer)) for layer in weights]
    return np.linalg.multi_dot(halves[::-1])


def rolled_without_eye(weights):
    answer = np.eye(weights.shape[-1])
    for layer in weights:
        answer = 0.5 * (layer @ answer + answer)
    return answer


RIGHT = {
    "rank_agreement": [agreement_in_loops, agreement_of_whole_squares, agreement_by_counting],
    "divergence": [divergence_by_the_library, divergence_to_the_mean, divergence_in_loops],
    "norm_shares": [shares_in_loops, shares_by_torch, shares_by_weighted_values],
    "rolled_out": [rolled_by_the_library, rolled_at_once, rolled_without_eye],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_14.EXERCISES}
MUTANTS = mutants_14.MUTANTS

"""Wrong answers to the exercises of chapter 14."""

import numpy as np
import torch

from mutants import Mutants

MUTANTS = Mutants()


def pairs(first, second):
    """For each row the products of signs, over pairs of places."""
    n = first.shape[1]
    return [
        [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(n) for j in range(i + 1, n)]
        for x, y in zip(first, second, strict=True)
    ]


# --- rank_agreement ------------------------------------------------------------------------------


@MUTANTS("rank_agreement", "Subtract the share in the opposite one")
def agreement_of_the_same(first, second):
    return [np.mean([p == 1 for p in row]) for row in pairs(first, second)]


@MUTANTS("rank_agreement", "correlation of the numbers")
def agreement_by_correlation(first, second):
    return [np.corrcoef(x, y)[0, 1] for x, y in zip(first, second, strict=True)]


@MUTANTS("rank_agreement", "Only their signs count")
def agreement_by_size(first, second):
    n = first.shape[1]
    up = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return [
        np.mean([(x[i] - x[j]) * (y[i] - y[j]) for i, j in up])
        for x, y in zip(first, second, strict=True)
    ]


@MUTANTS("rank_agreement", "added up the pairs")
def agreement_summed(first, second):
    return [sum(row) for row in pairs(first, second)]


@MUTANTS("rank_agreement", "a place with itself")
def agreement_with_itself(first, second):
    n = first.shape[1]
    return [2 * sum(row) / n**2 for row in pairs(first, second)]


@MUTANTS("rank_agreement", "neighbours only")
def agreement_of_neighbours(first, second):
    x, y = torch.tensor(first), torch.tensor(second)
    return (x.diff(dim=1).sign() * y.diff(dim=1).sign()).mean(1)


@MUTANTS("rank_agreement", "Ties count 0")
def agreement_with_ties(first, second):
    n = first.shape[1]
    up = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return [
        np.mean([1 if np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) else -1 for i, j in up])
        for x, y in zip(first, second, strict=True)
    ]


# --- divergence ----------------------------------------------------------------------------------


def to_the_mean(first, second, log=torch.log):
    x, y = torch.tensor(first), torch.tensor(second)
    mean = (x + y) / 2
    parts = [torch.where(z > 0, z * log(z / mean), 0).sum(-1) / 2 for z in (x, y)]
    return parts[0] + parts[1]


@MUTANTS("divergence", "is NaN in a computer")
def divergence_nan(first, second):
    mean = (first + second) / 2
    return ((first * np.log(first / mean) + second * np.log(second / mean)) / 2).sum(-1)


@MUTANTS("divergence", "in bits")
def divergence_in_bits(first, second):
    return to_the_mean(first, second, torch.log2)


@MUTANTS("divergence", "Kullback-Leibler")
def divergence_one_sided(first, second):
    return [
        sum(a * np.log(a / b) if a else 0.0 for a, b in zip(x, y, strict=True))
        for x, y in zip(first, second, strict=True)
    ]


@MUTANTS("divergence", "Leave the root out")
def divergence_root(first, second):
    return to_the_mean(first, second).clamp(min=0).sqrt()


@MUTANTS("divergence", "the sum of the two entropies")
def divergence_whole_entropies(first, second):
    x, y = torch.tensor(first), torch.tensor(second)
    entropy = [torch.special.entr(z).sum(-1) for z in ((x + y) / 2, x, y)]
    return entropy[0] - entropy[1] - entropy[2]


@MUTANTS("divergence", "The sign is the wrong way round")
def divergence_negative(first, second):
    return -to_the_mean(first, second)


@MUTANTS("divergence", "total variation")
def divergence_by_differences(first, second):
    return np.maximum(first - second, 0).sum(-1)


# --- norm_shares ---------------------------------------------------------------------------------


def lengths(value):
    return np.array([sum(x * x for x in row) ** 0.5 for row in value])


@MUTANTS("norm_shares", "divide by the sum of the row")
def shares_undivided(weights, value):
    return torch.tensor(weights) * torch.tensor(value).norm(dim=-1)


@MUTANTS("norm_shares", "These are the weights")
def shares_are_weights(weights, value):
    return weights.copy()


@MUTANTS("norm_shares", "squared length")
def shares_squared(weights, value):
    brought = weights * lengths(value) ** 2
    return brought / brought.sum(-1)[:, None]


@MUTANTS("norm_shares", "sizes of the numbers")
def shares_by_sizes(weights, value):
    brought = torch.tensor(weights) * torch.tensor(value).abs().sum(-1)
    return brought / brought.sum(-1, keepdim=True)


@MUTANTS("norm_shares", "sums of the columns")
def shares_of_columns(weights, value):
    brought = weights * lengths(value)
    return brought / brought.sum(0)


@MUTANTS("norm_shares", "the sum of everything")
def shares_of_all(weights, value):
    brought = weights * lengths(value)
    return brought / np.sum(brought)


# --- rolled_out ----------------------------------------------------------------------------------


def half(layer):
    return 0.5 * layer + 0.5 * np.eye(layer.shape[-1])


@MUTANTS("rolled_out", "The order is turned round")
def rolled_backwards(weights):
    answer = half(weights[0])
    for layer in weights[1:]:
        answer = answer @ half(layer)
    return answer


@MUTANTS("rolled_out", "The residual path is missing")
def rolled_without_residual(weights):
    answer = weights[0]
    for layer in weights[1:]:
        answer = np.einsum("qk,ki->qi", layer, answer)
    return answer


@MUTANTS("rolled_out", "without halving")
def rolled_unhalved(weights):
    answer = np.eye(weights.shape[-1])
    for layer in weights:
        answer = layer @ answer + answer
    return answer


@MUTANTS("rolled_out", "You averaged the layers")
def rolled_averaged(weights):
    return half(weights.mean(axis=0))


@MUTANTS("rolled_out", "entry by entry")
def rolled_entries(weights):
    return np.prod([half(layer) for layer in weights], axis=0)


@MUTANTS("rolled_out", "the last layer alone")
def rolled_last(weights):
    return half(weights[-1])

"""Chapter 13: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
from mutants import chapter_13 as mutants_13

from minitransformer.exercises import chapter_13
from minitransformer.inspection import patterns


# --- output_without
def output_in_loops(z, w_o, gone):
    return sum(mutants_13.contribution(z, w_o, h) for h in range(len(z)) if not gone[h])


def output_of_zeros(z, w_o, gone):
    z = np.where(gone[:, None, None], 0, z)
    return np.concatenate(list(z), axis=1) @ w_o


def output_subtracted(z, w_o, gone):
    heads, time, d_head = z.shape
    whole = torch.tensor(z).transpose(0, 1).reshape(time, heads * d_head) @ torch.tensor(w_o)
    for h in np.flatnonzero(gone):
        whole -= torch.tensor(mutants_13.contribution(z, w_o, h))
    return whole


# --- importance
def importance_in_loops(z, gradient):
    return abs(mutants_13.slopes(z, gradient)).mean(0)


def importance_by_einsum(z, gradient):
    return np.abs(np.einsum("bthd,bthd->bh", z, gradient)).mean(0)


def importance_by_autograd(z, gradient):
    """The slope in the factor itself, of a loss that is linear in z."""
    total = 0
    for text in range(len(z)):
        factor = torch.ones(z.shape[2], dtype=torch.float64, requires_grad=True)
        scaled = torch.tensor(z[text]) * factor[:, None]
        (scaled * torch.tensor(gradient[text])).sum().backward()
        total = total + factor.grad.abs()
    return total / len(z)


# --- prefix_matching
def matching_by_the_library(weights, tokens):
    weights = torch.tensor(weights)[None, None]
    return patterns.prefix_matching(weights, torch.tensor(tokens)[None])[0]


def matching_in_loops(weights, tokens):
    places = mutants_13.after_copies(tokens)
    return np.mean([weights[q][places[q]].sum() for q in mutants_13.repeats(tokens)])


def matching_by_masks(weights, tokens):
    same = np.tril(tokens[:, None] == tokens[None], -1)
    after = np.roll(same, 1, axis=1)
    return (weights * after).sum() / same.any(axis=1).sum()


# --- interaction
def interaction_in_loops(single, joint, members):
    return [j - sum(single[row]) for j, row in zip(joint, members, strict=True)]


def interaction_by_product(single, joint, members):
    return joint - members @ single


def interaction_by_where(single, joint, members):
    return joint - np.where(members, single, 0).sum(1)


RIGHT = {
    "output_without": [output_in_loops, output_of_zeros, output_subtracted],
    "importance": [importance_in_loops, importance_by_einsum, importance_by_autograd],
    "prefix_matching": [matching_by_the_library, matching_in_loops, matching_by_masks],
    "interaction": [interaction_in_loops, interaction_by_product, interaction_by_where],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_13.EXERCISES}
MUTANTS = mutants_13.MUTANTS

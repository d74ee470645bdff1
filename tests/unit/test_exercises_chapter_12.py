"""Chapter 12: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
from mutants import chapter_12 as mutants_12

from minitransformer import reference
from minitransformer.exercises import chapter_12
from minitransformer.inspection.patterns import share_at_offset, share_at_position


# --- first_share
def first_by_the_library(weights):
    return share_at_position(torch.tensor(weights)[None], 0)


def first_in_loops(weights):
    return [np.mean([row[0] for row in head[1:]]) for head in weights]


def first_less_its_own(weights):
    return (weights[:, :, 0].sum(1) - weights[:, 0, 0]) / (weights.shape[1] - 1)


# --- previous_share
def previous_by_the_library(weights):
    return share_at_offset(torch.tensor(weights)[None], -1)


def previous_in_loops(weights):
    return [np.mean([head[q, q - 1] for q in range(1, len(head))]) for head in weights]


def previous_by_places(weights):
    queries = np.arange(1, weights.shape[1])
    return weights[:, queries, queries - 1].mean(1)


# --- without_first
def without_by_torch(scores):
    hidden = mutants_12.later(scores)
    hidden[1:, 0] = True
    return mutants_12.masked(scores, hidden)


def without_in_loops(scores):
    weights = np.zeros(scores.shape)
    weights[0, 0] = 1
    for q in range(1, len(scores)):
        powers = np.exp(scores[q, 1 : q + 1])
        weights[q, 1 : q + 1] = powers / powers.sum()
    return weights


def without_by_the_reference(scores):
    mask = reference.causal_mask(len(scores))
    mask[1:, 0] = False
    return reference.softmax(scores, mask=mask)


# --- follow_share
def follow_in_loops(weights, right):
    points = []
    for pair, noun in zip(weights, right, strict=True):
        lead = pair[noun] - pair[1 - noun]
        points.append([1.0 if x > 0 else 0.5 if x == 0 else 0.0 for x in lead])
    return np.mean(points, axis=0)


def follow_by_indexing(weights, right):
    rows = np.arange(len(right))
    lead = weights[rows, right] - weights[rows, 1 - right]
    return (lead > 0).mean(0) + (lead == 0).mean(0) / 2


def follow_by_torch(weights, right):
    lead = torch.tensor(weights[:, 0] - weights[:, 1]) * (1 - 2 * torch.tensor(right))[:, None]
    return torch.heaviside(lead, torch.tensor(0.5, dtype=lead.dtype)).mean(0)


RIGHT = {
    "first_share": [first_by_the_library, first_in_loops, first_less_its_own],
    "previous_share": [previous_by_the_library, previous_in_loops, previous_by_places],
    "without_first": [without_by_torch, without_in_loops, without_by_the_reference],
    "follow_share": [follow_in_loops, follow_by_indexing, follow_by_torch],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_12.EXERCISES}
MUTANTS = mutants_12.MUTANTS

"""Chapter 15: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
from mutants import chapter_15 as mutants_15

from minitransformer import reference
from minitransformer.exercises import chapter_15


# --- late_mask
def late_in_loops(weights, mask):
    answer = np.zeros_like(weights)
    for at in np.ndindex(weights.shape[:-1]):
        kept = [w if m else 0 for w, m in zip(weights[at], mask[at[-1]], strict=True)]
        answer[at] = np.array(kept) / (sum(kept) or 1)
    return answer


def late_by_torch(weights, mask):
    kept = torch.tensor(weights).masked_fill(~torch.tensor(mask), 0)
    return (kept / kept.sum(-1, keepdim=True)).nan_to_num(0)


def late_by_logarithms(weights, mask):
    """The softmax of log weights is what the softmax of the scores was."""
    return reference.softmax(np.log(weights), mask=mask)


# --- weight_of_a_copy
def copy_by_writing_them_out(scores, times):
    places = np.repeat(np.arange(len(times)), times)
    weights = reference.softmax(scores[..., places])
    return weights[..., np.searchsorted(places, np.arange(len(times)))]


def copy_by_log(scores, times):
    total = np.logaddexp.reduce(scores + np.log(times), axis=-1, keepdims=True)
    return np.exp(scores - total)


def copy_by_torch(scores, times):
    together = torch.softmax(torch.tensor(scores) + torch.tensor(times).log(), -1)
    return together / torch.tensor(times)


# --- influence
def influence_in_loops(weights, value):
    answer = []
    for j in range(len(weights)):
        rest, others = np.delete(weights, j), np.delete(value, j, axis=0)
        answer.append(np.linalg.norm(rest / rest.sum() @ others - weights @ value))
    return answer


def influence_by_distance(weights, value):
    """The move is w / (1 - w) times the way from the value to the output."""
    return weights / (1 - weights) * np.linalg.norm(weights @ value - value, axis=1)


def influence_by_torch(weights, value):
    weights, value = torch.tensor(weights), torch.tensor(value)
    rest = weights * (1 - torch.eye(len(weights)))
    return ((rest / rest.sum(-1, keepdim=True) - weights) @ value).norm(dim=-1)


RIGHT = {
    "late_mask": [late_in_loops, late_by_torch, late_by_logarithms],
    "weight_of_a_copy": [copy_by_writing_them_out, copy_by_log, copy_by_torch],
    "influence": [influence_in_loops, influence_by_distance, influence_by_torch],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_15.EXERCISES}
MUTANTS = mutants_15.MUTANTS

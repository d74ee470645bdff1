"""Chapter 7: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mutants import chapter_07 as mutants_07

from minitransformer import reference
from minitransformer.exercises import chapter_07
from minitransformer.tasks import IGNORE


# --- causal_weights
def causal_in_loops(scores):
    weights = np.zeros_like(scores)
    for at in np.ndindex(scores.shape[:-1]):
        seen = scores[at][: at[-1] + 1]
        powers = np.exp(seen - max(seen))
        weights[at][: at[-1] + 1] = powers / powers.sum()
    return weights


def causal_by_torch(scores):
    hidden = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
    return torch.tensor(scores).masked_fill(hidden, float("-inf")).softmax(dim=-1)


def causal_by_adding(scores):
    n = scores.shape[-1]
    scores = scores + np.triu(np.full((n, n), -np.inf), 1)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


def causal_by_large_number(scores):
    """1e9 is below all scores of these inputs, and every query sees itself."""
    return causal_by_torch(np.where(np.tri(scores.shape[-1]) == 1, scores, -1e9))


# --- next_tokens
def tokens_in_loops(tokens):
    targets = np.full(tokens.shape, -100)
    for row, place in np.ndindex(tokens.shape[0], tokens.shape[1] - 1):
        if tokens[row, place + 1] != 0:
            targets[row, place] = tokens[row, place + 1]
    return targets


def tokens_by_torch(tokens):
    moved = F.pad(torch.tensor(tokens)[:, 1:], (0, 1), value=-100)
    return moved.masked_fill(moved == 0, -100)


def tokens_by_roll(tokens):
    rolled = np.roll(tokens, -1, axis=1)
    rolled[:, -1] = 0
    return np.where(rolled, rolled, -100)


# --- chunk_weights
def chunk_in_loops(scores):
    before = scores.shape[-1] - scores.shape[-2]
    weights = np.zeros_like(scores)
    for at in np.ndindex(scores.shape[:-1]):
        end = before + at[-1] + 1
        powers = np.exp(scores[at][:end] - max(scores[at][:end]))
        weights[at][:end] = powers / sum(powers)
    return weights


def chunk_from_a_square(scores):
    n_queries, n_keys = scores.shape[-2:]
    mask = np.tri(n_keys, dtype=bool)[-n_queries:]
    return torch.tensor(scores).masked_fill(torch.tensor(~mask), float("-inf")).softmax(-1)


def chunk_by_places(scores):
    n_queries, n_keys = scores.shape[-2:]
    place = np.arange(n_keys - n_queries, n_keys)
    scores = np.where(np.arange(n_keys) <= place[:, None], scores, -np.inf)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


# --- padded_weights
def padded_in_loops(scores, real):
    weights = np.zeros_like(scores)
    for text, query in np.ndindex(scores.shape[:2]):
        seen = scores[text, query][real[text]]
        powers = np.exp(seen - max(seen, default=0))
        weights[text, query][real[text]] = powers / sum(powers)
    return weights


def padded_by_nan_to_num(scores, real):
    hidden = torch.tensor(~real)[:, None]
    return torch.tensor(scores).masked_fill(hidden, float("-inf")).softmax(-1).nan_to_num(0)


def padded_by_zeroing(scores, real):
    scores = np.where(real[:, None], scores, scores.min(-1, keepdims=True))
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * real[:, None, :]
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)


RIGHT = {
    "causal_weights": [causal_in_loops, causal_by_torch, causal_by_adding, causal_by_large_number],
    "next_tokens": [tokens_in_loops, tokens_by_torch, tokens_by_roll],
    "chunk_weights": [chunk_in_loops, chunk_from_a_square, chunk_by_places],
    "padded_weights": [padded_in_loops, padded_by_nan_to_num, padded_by_zeroing],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_07.EXERCISES}
MUTANTS = mutants_07.MUTANTS


def by_the_library(name, inputs):
    if name == "next_tokens":
        return tokens_in_loops(*inputs)
    scores, *real = inputs
    if real:
        return reference.softmax(scores, mask=real[0][:, None, :])
    n_queries, n_keys = scores.shape[-2:]
    mask = reference.causal_mask(n_queries, n_keys, q_offset=n_keys - n_queries)
    return reference.softmax(scores, mask=mask)


@pytest.mark.parametrize("name", EXERCISES)
def test_solutions_agree_with_the_library(name):
    for case in EXERCISES[name].cases:
        expected = by_the_library(name, case.arguments())
        np.testing.assert_allclose(
            EXERCISES[name].solution(*case.arguments()), expected, rtol=1e-12, atol=1e-12
        )


def test_targets_use_the_number_that_the_loss_leaves_out():
    assert chapter_07.next_tokens(np.array([[1, 0]])).tolist() == [[IGNORE, IGNORE]]

"""Chapter 8: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mutants import chapter_08 as mutants_08

from minitransformer import positions
from minitransformer.exercises import chapter_08
from minitransformer.generation import top_p_logits


# --- waves
def waves_in_loops(positions, d_model):
    rows = np.zeros((len(positions), d_model))
    for row, place in enumerate(positions):
        for i in range(int(d_model) // 2):
            angle = place / 10000 ** (2 * i / d_model)
            rows[row, 2 * i], rows[row, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return rows


def waves_by_slices(positions, d_model):
    vectors = np.empty((positions.size, int(d_model)))
    speed = np.exp(-np.log(10000.0) * np.arange(0, d_model, 2) / d_model)
    vectors[:, 0::2] = np.sin(np.outer(positions, speed))
    vectors[:, 1::2] = np.cos(np.outer(positions, speed))
    return vectors


def waves_by_one_sine(positions, d_model):
    columns = torch.arange(int(d_model))
    speed = 10000.0 ** (-(columns - columns % 2).double() / int(d_model))
    angles = torch.tensor(positions)[:, None] * speed
    return torch.sin(angles + columns % 2 * torch.pi / 2)


# --- turned
def turned_by_complex_numbers(x, angles):
    n = angles.shape[-1]
    z = (x[..., :n] + 1j * x[..., n:]) * np.exp(1j * angles)
    return np.concatenate([z.real, z.imag], axis=-1)


def turned_by_rotate_half(x, angles):
    first, second = torch.tensor(x).chunk(2, dim=-1)
    both = torch.tensor(np.concatenate([angles, angles], axis=-1))
    return torch.tensor(x) * both.cos() + torch.cat([-second, first], dim=-1) * both.sin()


def turned_by_matrices(x, angles):
    pairs = np.stack(np.split(x, 2, axis=-1), axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    matrices = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    result = np.einsum("...pij,...pj->...pi", matrices, pairs)
    return np.concatenate([result[..., 0], result[..., 1]], axis=-1)


# --- feed_forward_step
def step_in_loops(x, w_1, w_2):
    result = np.array(x)
    for at in np.ndindex(x.shape[:-1]):
        token = x[at]
        normed = (token - np.mean(token)) / np.sqrt(np.var(token))
        for unit in range(w_1.shape[1]):
            result[at] += max(0.0, normed @ w_1[:, unit]) * w_2[unit]
    return result


def step_by_torch(x, w_1, w_2):
    x, w_1, w_2 = map(torch.tensor, (x, w_1, w_2))
    return x + F.relu(F.layer_norm(x, x.shape[-1:], eps=0.0) @ w_1) @ w_2


def step_by_moments(x, w_1, w_2):
    mean, square = x.mean(-1)[..., None], (x**2).mean(-1)[..., None]
    inside = np.einsum("...d,df->...f", (x - mean) / (square - mean**2) ** 0.5, w_1)
    return x + np.einsum("...f,fd->...d", inside * (inside > 0), w_2)


# --- nucleus
def nucleus_in_loops(probabilities, p):
    result = np.zeros_like(probabilities)
    for text, row in enumerate(probabilities):
        total = 0.0
        for word in np.argsort(row)[::-1]:
            if total >= p:
                break
            result[text, word] = row[word]
            total += row[word]
        result[text] /= total
    return result


def nucleus_by_counting(probabilities, p):
    """Before each word come those that are likelier."""
    likelier = probabilities[:, None, :] > probabilities[:, :, None]
    before = (likelier * probabilities[:, None, :]).sum(axis=-1)
    kept = probabilities * (before < p)
    return kept / kept.sum(axis=-1, keepdims=True)


def nucleus_by_torch(probabilities, p):
    ordered, order = torch.tensor(probabilities).sort(descending=True)
    ordered[ordered.cumsum(-1) - ordered >= float(p)] = 0
    kept = torch.zeros_like(ordered).scatter(-1, order, ordered)
    return kept / kept.sum(-1, keepdim=True)


RIGHT = {
    "waves": [waves_in_loops, waves_by_slices, waves_by_one_sine],
    "turned": [turned_by_complex_numbers, turned_by_rotate_half, turned_by_matrices],
    "feed_forward_step": [step_in_loops, step_by_torch, step_by_moments],
    "nucleus": [nucleus_in_loops, nucleus_by_counting, nucleus_by_torch],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_08.EXERCISES}
MUTANTS = mutants_08.MUTANTS


def by_the_library(name, inputs):
    if name == "waves":
        places, d_model = inputs
        return positions.sinusoidal_positions(torch.tensor(places), int(d_model))
    if name == "turned":
        x, angles = map(torch.tensor, inputs)
        return positions.rotate_pairs(x, angles.cos(), angles.sin())
    if name == "feed_forward_step":
        return step_by_torch(*inputs)
    probabilities, p = inputs
    return top_p_logits(torch.tensor(probabilities).log(), float(p)).softmax(-1)


@pytest.mark.parametrize("name", EXERCISES)
def test_solutions_agree_with_the_library(name):
    """Sinusoidal positions of the library are float32, hence the tolerance."""
    for case in EXERCISES[name].cases:
        expected = by_the_library(name, case.arguments())
        result = EXERCISES[name].solution(*case.arguments())
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-7)

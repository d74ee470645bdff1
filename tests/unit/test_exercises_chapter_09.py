"""Chapter 9: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import torch
from mutants import chapter_09 as mutants_09

from minitransformer import costs
from minitransformer.exercises import chapter_09
from minitransformer.reference import causal_mask, softmax
from minitransformer.reference_tiled import tiled_attention


# --- fitted_exponent
def exponent_by_formula(lengths, costs):
    return mutants_09.line([np.log(n) for n in lengths], [np.log(c) for c in costs])[0]


def exponent_in_powers_of_two(lengths, costs):
    return np.polynomial.Polynomial.fit(np.log2(lengths), np.log2(costs), 1).convert().coef[1]


def exponent_by_least_squares(lengths, costs):
    columns = torch.stack([torch.tensor(lengths).double().log(), torch.ones(len(lengths)).double()])
    return torch.linalg.lstsq(columns.T, torch.tensor(costs).log()[:, None]).solution[0, 0]


# --- window_scores
def window_by_mask(n_tokens, window):
    place = np.arange(n_tokens)
    back = place[:, None] - place
    return ((back >= 0) & (back <= window)).sum()


def window_by_closed_form(n_tokens, window):
    window = min(window, n_tokens - 1)
    return n_tokens * (window + 1) - window * (window + 1) / 2


def window_by_triangles(n_tokens, window):
    whole = costs.n_scores(int(n_tokens), causal=True)
    return whole - costs.n_scores(max(int(n_tokens - window) - 1, 0), causal=True)


# --- merged_output
def merged_by_log_sums(largest, total, summed, largest2, total2, summed2):
    one, other = largest + np.log(total), largest2 + np.log(total2)
    share = 1 / (1 + np.exp(np.minimum(other - one, 700)))
    return share * summed / total + (1 - share) * summed2 / total2


def merged_in_torch(*halves):
    largest, total, summed, others, total2, summed2 = map(torch.tensor, halves)
    gap = (others - largest).clamp(-700, 700)
    one, other = torch.exp(-gap.clamp(min=0)), torch.exp(gap.clamp(max=0))
    return (one * summed + other * summed2) / (one * total + other * total2)


def merged_in_loops(largest, total, summed, largest2, total2, summed2):
    output = np.empty_like(summed)
    for i in range(len(summed)):
        top = max(largest[i, 0], largest2[i, 0])
        a, b = np.exp(largest[i, 0] - top), np.exp(largest2[i, 0] - top)
        joint = a * total[i, 0] + b * total2[i, 0]
        output[i] = (a * summed[i] + b * summed2[i]) / joint
    return output


# --- numbers_moved
def moved_in_a_walk(n_queries, n_keys, d, rows):
    return mutants_09.walked(n_queries, n_keys, rows, 2 * d, 2 * d * n_keys)


def moved_with_floor(n_queries, n_keys, d, rows):
    return 2 * d * (n_queries + n_keys * -(-n_queries // rows))


def moved_as_counted(n_queries, n_keys, d, rows):
    inputs = np.ones((n_queries, d)), np.ones((n_keys, d)), np.ones((n_keys, d))
    return tiled_attention(*inputs, query_tile=int(rows), key_tile=3)[1].moved


RIGHT = {
    "fitted_exponent": [
        exponent_by_formula,
        exponent_in_powers_of_two,
        exponent_by_least_squares,
    ],
    "window_scores": [window_by_mask, window_by_closed_form, window_by_triangles],
    "merged_output": [merged_by_log_sums, merged_in_torch, merged_in_loops],
    "numbers_moved": [moved_in_a_walk, moved_with_floor, moved_as_counted],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_09.EXERCISES}
MUTANTS = mutants_09.MUTANTS


def test_the_halves_are_those_of_a_softmax():
    scores, value = np.array([[0.0, 3.0, -2.0], [5.0, 1.0, 4.0]]), np.eye(3)
    for split in (1, 2):
        halves = chapter_09._halves(scores, split, value)
        output = chapter_09.merged_output(*halves.values())
        np.testing.assert_allclose(output, softmax(scores), rtol=0, atol=1e-15)


def test_a_window_over_everything_is_the_causal_mask():
    assert chapter_09.window_scores(6, 5) == causal_mask(6).sum()

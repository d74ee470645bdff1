"""Chapter 1: right answers pass however they are written, wrong ones are told why."""

import math

import numpy as np
import torch
from mutants import chapter_01 as mutants

from minitransformer.exercises import chapter_01
from minitransformer.recurrent import Recurrent, RNNCell


# --- rnn_states
def states_in_loops(x, w, u, b):
    h, states = [0.0] * len(b), []
    for token in x:
        sums = [
            sum(w[i] * token) + sum(u[i, j] * h[j] for j in range(len(h))) + b[i]
            for i in range(len(b))
        ]
        h = [math.tanh(s) for s in sums]
        states.append(h)
    return states


def states_projected_first(x, w, u, b):
    states = x @ w.T + b
    for t in range(len(x)):
        states[t] = np.tanh(states[t] + (u @ states[t - 1] if t else 0))
    return states


def states_by_torch(x, w, u, b):
    x, w, u, b = map(torch.tensor, (x, w, u, b))
    h = torch.zeros(len(u), dtype=torch.float64)
    return torch.stack([h := torch.tanh(torch.addmv(b, u, h) + token @ w.T) for token in x])


# --- jacobian_product
def product_backwards(states, u):
    product = np.eye(len(u))
    for h in states[:0:-1]:
        product = product @ ((1 - h**2)[:, None] * u)
    return product


def product_at_once(states, u):
    steps = [np.diag(1 - h**2) @ u for h in states[1:][::-1]]
    return np.linalg.multi_dot(steps)


def product_by_torch(states, u):
    states, u = torch.tensor(states), torch.tensor(u)
    return torch.linalg.multi_dot([torch.diag(1 - h**2) @ u for h in states[1:].flip(0)])


# --- steps_until
def steps_in_a_loop(factor, share):
    counts = []
    for f in factor:
        left, steps = 1.0, 0
        while left > share:
            left, steps = left * f, steps + 1
        counts.append(steps)
    return counts


def steps_by_torch(factor, share):
    return (torch.tensor(share).log() / torch.tensor(factor).log()).ceil()


def steps_in_powers_of_two(factor, share):
    return -np.floor(-np.log2(share) / np.log2(factor))


# --- accuracy_by_distance
def accuracy_in_a_loop(right, distance):
    answers = {}
    for r, d in zip(right.tolist(), distance.tolist(), strict=True):
        answers.setdefault(d, []).append(r)
    return [sum(answers[d]) / len(answers[d]) for d in sorted(answers)]


def accuracy_by_counting(right, distance):
    counts = np.bincount(distance)
    found = counts > 0
    return np.bincount(distance, weights=right)[found] / counts[found]


def accuracy_by_torch(right, distance):
    right, distance = torch.tensor(right).double(), torch.tensor(distance)
    return torch.stack([right[distance == d].mean() for d in distance.unique()])


RIGHT = {
    "rnn_states": [states_in_loops, states_projected_first, states_by_torch],
    "jacobian_product": [product_backwards, product_at_once, product_by_torch],
    "steps_until": [steps_in_a_loop, steps_by_torch, steps_in_powers_of_two],
    "accuracy_by_distance": [accuracy_in_a_loop, accuracy_by_counting, accuracy_by_torch],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_01.EXERCISES}
MUTANTS = mutants.MUTANTS


def test_the_states_are_the_library_s():
    for case in EXERCISES["rnn_states"].cases:
        x, w, u, b = map(torch.tensor, case.arguments())
        network = Recurrent(RNNCell(w.shape[1], len(u))).double()
        with torch.no_grad():
            network.cell.from_input.weight.copy_(w)
            network.cell.from_state.weight.copy_(u)
            network.cell.from_input.bias.copy_(b)
            network.cell.from_state.bias.zero_()
            expected = network(x[None])[0][0]
        np.testing.assert_allclose(chapter_01.rnn_states(*case.arguments()), expected, rtol=1e-12)


def test_the_product_is_the_derivative():
    x, w, u, b = EXERCISES["rnn_states"].cases[1].arguments()
    states = chapter_01.rnn_states(x, w, u, b)
    x, w, u, b = map(torch.tensor, (x, w, u, b))

    def last_state(h):
        for token in x[1:]:
            h = torch.tanh(w @ token + u @ h + b)
        return h

    expected = torch.autograd.functional.jacobian(last_state, torch.tensor(states[0]))
    got = chapter_01.jacobian_product(states, u.numpy())
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-15)


def test_no_share_is_reached_exactly():
    """Else rounding would decide between a step more and a step less: 0.2³ is above 0.008."""
    for case in EXERCISES["steps_until"].cases:
        factor, share = case.arguments()
        steps = np.log(share) / np.log(factor)
        assert (abs(steps - steps.round()) > 1e-3).all(), case.about

"""Wrong answers to the exercises of chapter 1."""

import math

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import CHANGED

MUTANTS = Mutants()

# --- rnn_states ----------------------------------------------------------------------------------


@MUTANTS("rnn_states", "The tanh is missing")
def linear(x, w, u, b):
    states = [np.zeros(len(u))]
    for token in x:
        states.append(w.dot(token) + u.dot(states[-1]) + b)
    return np.stack(states[1:])


@MUTANTS("rnn_states", "The old state has no part")
def without_memory(x, w, u, b):
    return [np.tanh(w @ token + b) for token in x]


@MUTANTS("rnn_states", "the last state alone")
def only_the_last(x, w, u, b):
    h = np.zeros(len(u))
    for token in x:
        h = np.tanh(w @ token + u @ h + b)
    return h


@MUTANTS("rnn_states", "bias b is missing")
def without_bias(x, w, u, b):
    return torch.func.functional_call(
        torch.nn.RNN(w.shape[1], len(u), bias=False).double(),
        {"weight_ih_l0": torch.tensor(w), "weight_hh_l0": torch.tensor(u)},
        torch.tensor(x),
    )[0].detach()


@MUTANTS("rnn_states", "used uᵀ")
def state_from_the_left(x, w, u, b):
    h, states = np.zeros(len(u)), []
    for token in x:
        h = np.tanh(token @ w.T + h @ u + b)
        states.append(h)
    return states


@MUTANTS("rnn_states", "tanh of the parts")
def two_tanhs(x, w, u, b):
    h, states = np.zeros(len(u)), []
    for token in x:
        h = np.tanh(u @ h) + np.tanh(b + w @ token)
        states.append(h)
    return states


@MUTANTS("rnn_states", "added the new state to the old one")
def residual(x, w, u, b):
    states = np.zeros((len(x) + 1, len(u)))
    for t in range(len(x)):
        states[t + 1] = states[t] + np.tanh(w @ x[t] + u @ states[t] + b)
    return states[1:]


@MUTANTS("rnn_states", "read the text backwards")
def backwards(x, w, u, b):
    h, states = np.zeros(len(u)), []
    for t in range(len(x) - 1, -1, -1):
        h = np.tanh(w @ x[t] + u @ h + b)
        states.append(h)
    return states


@MUTANTS("rnn_states", "zeros before the first token")
def with_the_zeros(x, w, u, b):
    states = np.zeros((len(x) + 1, len(u)))
    for t in range(len(x)):
        states[t + 1] = np.tanh(w @ x[t] + u @ states[t] + b)
    return states


# --- jacobian_product ----------------------------------------------------------------------------


@MUTANTS("jacobian_product", "order is reversed")
def first_on_the_left(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = product @ (np.diag(1 - h**2) @ u)
    return product


@MUTANTS("jacobian_product", "wrong side")
def slopes_on_the_right(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = (u * (1 - h**2)) @ product
    return product


@MUTANTS("jacobian_product", "the states before the steps")
def slopes_one_early(states, u):
    product = np.eye(len(u))
    for h in states[: len(states) - 1]:
        product = ((1 - h**2)[:, None] * u) @ product
    return product


@MUTANTS("jacobian_product", "One factor too many")
def from_the_zeros(states, u):
    product = np.eye(len(u))
    for h in states:
        product = ((1 - h * h)[:, None] * u) @ product
    return product


@MUTANTS("jacobian_product", "slope of tanh is missing")
def power_of_u(states, u):
    return np.linalg.matrix_power(u, len(states) - 1)


@MUTANTS("jacobian_product", "not 1 - h")
def not_squared(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = ((1 - h)[:, None] * u) @ product
    return product


@MUTANTS("jacobian_product", "tanh of them once more")
def tanh_twice(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = (np.cosh(h)[:, None] ** -2 * u) @ product
    return product


@MUTANTS("jacobian_product", "used uᵀ")
def as_in_backward(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = ((1 - h**2)[:, None] * u.T) @ product
    return product


@MUTANTS("jacobian_product", "added the Jacobians")
def added_up(states, u):
    return np.einsum("ti,ij->ij", 1 - states[1:] ** 2, u)


@MUTANTS("jacobian_product", "number by number")
def elementwise(states, u):
    product = np.ones_like(u)
    for h in states[1:]:
        product *= np.diag(1 - h**2) @ u
    return product


# --- steps_until ---------------------------------------------------------------------------------


@MUTANTS("steps_until", "whole numbers")
def not_rounded(factor, share):
    return np.log2(share) / np.log2(factor)


@MUTANTS("steps_until", "Rounded down")
def cut_off(factor, share):
    return (np.log(share) / np.log(factor)).astype(int)


@MUTANTS("steps_until", "nearest")
def rounded(factor, share):
    return [round(math.log(share, f)) for f in factor]


@MUTANTS("steps_until", "wrong way round")
def turned(factor, share):
    return [math.ceil(math.log(f, share)) for f in factor]


@MUTANTS("steps_until", "the same amount")
def linear_decay(factor, share):
    return np.ceil((1 - share) / (1 - factor))


@MUTANTS("steps_until", "difference of logarithms")
def log_of_the_ratio(factor, share):
    return np.ceil(np.log(share) - np.log(factor))


@MUTANTS("steps_until", "what is left after")
def what_is_left(factor, share):
    return np.exp(share * np.log(factor))


# --- accuracy_by_distance ------------------------------------------------------------------------


@MUTANTS("accuracy_by_distance", "one mean over all")
def over_all(right, distance):
    return sum(right) / len(right)


@MUTANTS("accuracy_by_distance", "counted the right answers")
def counts(right, distance):
    numbers = np.bincount(distance, weights=right)
    return numbers[np.bincount(distance) > 0]


@MUTANTS("accuracy_by_distance", "number of all questions")
def of_all_questions(right, distance):
    return [np.mean(right * (distance == d)) for d in sorted(set(distance))]


@MUTANTS("accuracy_by_distance", "share of wrong answers")
def wrong_ones(right, distance):
    return [np.mean(right[distance == d] == 0) for d in sorted(set(distance))]


@MUTANTS("accuracy_by_distance", "order is reversed")
def far_first(right, distance):
    return [np.mean(right[distance == d]) for d in sorted(set(distance), reverse=True)]


@MUTANTS("accuracy_by_distance", "up to each distance")
def cumulative(right, distance):
    return [np.mean(right[distance <= d]) for d in sorted(set(distance))]


@MUTANTS("accuracy_by_distance", "first occur")
def as_they_come(right, distance):
    kept = {}
    for r, d in zip(right, distance, strict=True):
        kept.setdefault(int(d), []).append(r)
    return [np.mean(answers) for answers in kept.values()]


@MUTANTS("accuracy_by_distance", CHANGED)
def sorted_in_place(right, distance):
    means = [np.mean(right[distance == d]) for d in sorted(set(distance))]
    distance.sort()
    return means

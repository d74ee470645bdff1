"""Chapter 3: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mutants import chapter_03_outputs, chapter_03_weights

from minitransformer import reference
from minitransformer.exercises import chapter_03


# --- softmax
def softmax_in_loops(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    weights = []
    for row in flat.tolist():
        powers = [float(np.exp(score - max(row))) for score in row]
        weights.append([power / sum(powers) for power in powers])
    return np.reshape(weights, scores.shape)


def softmax_by_logsumexp(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


def softmax_by_torch(scores):
    return torch.softmax(torch.from_numpy(scores).requires_grad_(), dim=-1)


# --- attention_weights
def weights_in_loops(query, key):
    weights = np.zeros((*query.shape[:-1], key.shape[-2]))
    for at in np.ndindex(query.shape[:-1]):
        scores = [sum(query[at] * k) / len(k) ** 0.5 for k in key[at[:-1]]]
        weights[at] = softmax_in_loops(np.array(scores))
    return weights.tolist()


def weights_by_einsum(query, key):
    scores = np.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    return softmax_by_logsumexp(scores)


def weights_by_torch(query, key):
    query, key = torch.tensor(query), torch.tensor(key)
    return F.softmax(query @ key.transpose(-2, -1) / key.size(-1) ** 0.5, dim=-1)


# --- attention
def attention_in_loops(query, key, value):
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    weights = np.array(weights_in_loops(query, key))
    for at in np.ndindex(query.shape[:-1]):
        for weight, mixed in zip(weights[at], value[at[:-1]], strict=True):
            output[at] += weight * mixed
    return output


def attention_by_einsum(query, key, value):
    return np.einsum("...qk,...kv->...qv", weights_by_einsum(query, key), value)


def attention_by_torch(query, key, value):
    return F.scaled_dot_product_attention(*map(torch.tensor, (query, key, value)))


def attention_normalised_last(query, key, value):
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(-1)[..., None])
    return (powers @ value) / powers.sum(-1)[..., None]


# --- self_attention
def self_in_loops(x, w_q, w_k, w_v):
    return attention_in_loops(x @ w_q, x @ w_k, x @ w_v)


def self_projected_last(x, w_q, w_k, w_v):
    return weights_by_einsum(np.dot(x, w_q), np.dot(x, w_k)) @ x @ w_v


def self_by_torch(x, w_q, w_k, w_v):
    x, *matrices = map(torch.tensor, (x, w_q, w_k, w_v))
    return F.scaled_dot_product_attention(*(x @ matrix for matrix in matrices))


def self_with_one_matrix_of_scores(x, w_q, w_k, w_v):
    scores = x @ (w_q @ w_k.T) @ x.swapaxes(-1, -2)
    return softmax_by_logsumexp(scores / w_q.shape[1] ** 0.5) @ (x @ w_v)


RIGHT = {
    "softmax": [softmax_in_loops, softmax_by_logsumexp, softmax_by_torch],
    "attention_weights": [weights_in_loops, weights_by_einsum, weights_by_torch],
    "attention": [
        attention_in_loops,
        attention_by_einsum,
        attention_by_torch,
        attention_normalised_last,
    ],
    "self_attention": [
        self_in_loops,
        self_projected_last,
        self_by_torch,
        self_with_one_matrix_of_scores,
    ],
}
REFERENCE = {
    "softmax": reference.softmax,
    "attention_weights": lambda query, key: reference.scaled_dot_product_attention(query, key, key)[
        1
    ],
    "attention": lambda *inputs: reference.scaled_dot_product_attention(*inputs)[0],
    "self_attention": lambda *inputs: reference.self_attention(*inputs)[0],
}
MUTANTS = [*chapter_03_weights.MUTANTS, *chapter_03_outputs.MUTANTS]
EXERCISES = {exercise.name: exercise for exercise in chapter_03.EXERCISES}


@pytest.mark.parametrize("name", EXERCISES)
def test_solutions_agree_with_the_library(name):
    for case in EXERCISES[name].cases:
        expected = REFERENCE[name](*case.arguments())
        np.testing.assert_allclose(
            EXERCISES[name].solution(*case.arguments()), expected, rtol=1e-12, atol=1e-12
        )


def sizes(inputs):
    """Every dimension that has a meaning of its own, once."""
    if "scores" in inputs:
        return inputs["scores"].shape
    if "x" in inputs:
        return (*inputs["x"].shape, inputs["w_k"].shape[1], inputs["w_v"].shape[1])
    d_v = [inputs["value"].shape[-1]] if "value" in inputs else []
    return (*inputs["query"].shape, inputs["key"].shape[-2], *d_v)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_sizes_of_an_input_are_equal(name):
    for case in EXERCISES[name].cases:
        assert len(set(sizes(case.inputs))) == len(sizes(case.inputs)), case.about
        assert 1 not in sizes(case.inputs)


@pytest.mark.parametrize("name", EXERCISES)
def test_softmax_is_not_saturated(name):
    for case in EXERCISES[name].cases:
        inputs = case.arguments()
        if name == "self_attention":
            x, w_q, w_k, _ = inputs
            inputs = [x @ w_q, x @ w_k]
        weights = REFERENCE["softmax" if name == "softmax" else "attention_weights"](*inputs[:2])
        assert weights.min() > 0.03
        assert weights.max() < 0.9


# With as many queries as keys, and x 2 numbers wide, two descriptions of one mistake fit; the first
# is told.
ALSO_CALLED = {
    ("self_attention", "You scaled by the number of queries"): "You scaled by the number of keys",
    ("self_attention", "You divided by √2"): "You scaled by the width of x",
    ("self_attention", "Rows and columns of the weights"): "w_q and w_k are exchanged",
    ("self_attention", "key is not transposed"): "The shapes do not meet",
}

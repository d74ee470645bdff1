"""Chapter 2: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
from mutants import chapter_02 as mutants
from mutants._parts import rows

from minitransformer import reference
from minitransformer.exercises import chapter_02


# --- best_card
def best_in_a_loop(query, key, value):
    best, largest = None, -np.inf
    for k, v in zip(key, value, strict=True):
        if sum(k * query) > largest:
            best, largest = v, sum(k * query)
    return best.tolist()


def best_by_sorting(query, key, value):
    return value[np.argsort(np.einsum("kd,d->k", key, query))[-1]]


def best_by_torch(query, key, value):
    query, key, value = map(torch.tensor, (query, key, value))
    return value[(key @ query).argmax()]


def best_by_one_hot(query, key, value):
    scores = query @ key.T
    return (scores == scores.max()) @ value


# --- soft_look_up
def soft_in_a_loop(query, key, value, sharpness):
    answer = np.zeros(value.shape[1])
    for weight, v in zip(rows(sharpness * (key @ query)), value, strict=True):
        answer += weight * v
    return answer


def soft_by_torch(query, key, value, sharpness):
    query, key, value = map(torch.tensor, (query, key, value))
    return torch.softmax(float(sharpness) * key @ query, dim=0) @ value


def soft_divided_last(query, key, value, sharpness):
    scores = np.inner(key, query)
    powers = np.exp(sharpness * (scores - scores.max()))
    return value.T @ powers / sum(powers)


# --- matrix_of_fit
def fit_in_loops(w_q, w_k):
    return [[sum(a * b) for b in w_k] for a in w_q]


def fit_by_einsum(w_q, w_k):
    return np.einsum("id,jd->ij", w_q, w_k)


def fit_by_torch(w_q, w_k):
    return torch.tensor(w_q) @ torch.tensor(w_k).mT


def fit_turned_twice(w_q, w_k):
    return (w_k @ w_q.T).T


# --- gap_of_meanings
def gap_in_loops(vectors, sense):
    cosines = {True: [], False: []}
    for i in range(len(sense)):
        for j in range(i):
            a, b = vectors[i], vectors[j]
            cosines[bool(sense[i] == sense[j])].append(a @ b / np.sqrt(a @ a * (b @ b)))
    return np.mean(cosines[True]) - np.mean(cosines[False])


def gap_by_torch(vectors, sense):
    vectors, sense = torch.tensor(vectors), torch.tensor(sense)
    cosines = torch.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    one, other = torch.triu_indices(len(sense), len(sense), offset=1)
    same = sense[one] == sense[other]
    return cosines[one, other][same].mean() - cosines[one, other][~same].mean()


def gap_by_weights(vectors, sense):
    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
    same = np.equal.outer(sense, sense).astype(float)
    pairs = same - np.eye(len(sense))
    cosines = np.inner(unit, unit)
    return (pairs * cosines).sum() / pairs.sum() - np.average(cosines, weights=1 - same)


RIGHT = {
    "best_card": [best_in_a_loop, best_by_sorting, best_by_torch, best_by_one_hot],
    "soft_look_up": [soft_in_a_loop, soft_by_torch, soft_divided_last],
    "matrix_of_fit": [fit_in_loops, fit_by_einsum, fit_by_torch, fit_turned_twice],
    "gap_of_meanings": [gap_in_loops, gap_by_torch, gap_by_weights],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_02.EXERCISES}
MUTANTS = mutants.MUTANTS


def test_the_soft_solution_is_the_library_s_attention():
    for case in EXERCISES["soft_look_up"].cases:
        query, key, value, sharpness = case.arguments()
        expected, _ = reference.scaled_dot_product_attention(
            query[None], key, value, scale=float(sharpness)
        )
        got = chapter_02.soft_look_up(query, key, value, sharpness)
        np.testing.assert_allclose(got, expected[0], rtol=1e-12, atol=1e-12)


def test_the_matrix_of_fit_gives_the_products_of_queries_and_keys():
    for case in EXERCISES["matrix_of_fit"].cases:
        w_q, w_k = case.arguments()
        x = np.random.default_rng(0).normal(size=(5, len(w_q)))
        fit = chapter_02.matrix_of_fit(w_q, w_k)
        np.testing.assert_allclose(x @ fit @ x.T, (x @ w_q) @ (x @ w_k).T, rtol=1e-12)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_sizes_of_an_input_are_equal(name):
    for case in EXERCISES[name].cases:
        sizes = {size for array in case.inputs.values() for size in array.shape}
        dims = {"best_card": 3, "soft_look_up": 3, "matrix_of_fit": 2, "gap_of_meanings": 2}
        assert len(sizes) == dims[name], case.about
        assert 1 not in sizes

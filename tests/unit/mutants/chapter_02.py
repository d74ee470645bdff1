"""Wrong answers to the exercises of chapter 2."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import CHANGED, OVERFLOW, rows

MUTANTS = Mutants()

# --- best_card -----------------------------------------------------------------------------------


@MUTANTS("best_card", "took the nearest card")
def nearest_card(query, key, value):
    squares = [sum((a - b) ** 2 for a, b in zip(k, query, strict=True)) for k in key]
    return value[squares.index(min(squares))]


@MUTANTS("best_card", "directions only")
def best_direction(query, key, value):
    unit = key / np.sqrt((key**2).sum(axis=1))[:, None]
    return value[int((unit @ query).argmax())]


@MUTANTS("best_card", "You returned the card")
def the_card_itself(query, key, value):
    return max(key, key=lambda k: k @ query)


@MUTANTS("best_card", "place of the best card")
def the_place(query, key, value):
    return int(torch.tensor(key @ query).argmax())


@MUTANTS("best_card", "returned the largest dot product")
def the_score(query, key, value):
    return np.einsum("kd,d->k", key, query).max()


@MUTANTS("best_card", "worst card")
def worst_card(query, key, value):
    return value[np.argsort(key @ query)[0]]


@MUTANTS("best_card", "farthest from 0")
def largest_size(query, key, value):
    return value[np.argsort((key @ query) ** 2)[-1]]


@MUTANTS("best_card", "mixed the values by softmax")
def mixed_after_all(query, key, value):
    return rows(key @ query) @ value


@MUTANTS("best_card", "shape is wrong")
def as_a_row(query, key, value):
    return value[np.argsort(key @ query)[-2:]]


# --- soft_look_up --------------------------------------------------------------------------------


@MUTANTS("soft_look_up", "sharpness is missing")
def never_sharpened(query, key, value, sharpness):
    return rows(key @ query) @ value


@MUTANTS("soft_look_up", "multiplied the weights by the sharpness")
def sharpened_late(query, key, value, sharpness):
    return value.T @ rows(key @ query) * sharpness


@MUTANTS("soft_look_up", "that is a temperature")
def as_temperature(query, key, value, sharpness):
    return torch.softmax(torch.tensor(key @ query) / float(sharpness), 0) @ torch.tensor(value)


@MUTANTS("soft_look_up", "divided by √d_k as well")
def scaled_as_well(query, key, value, sharpness):
    return rows(key @ query * sharpness / len(query) ** 0.5) @ value


@MUTANTS("soft_look_up", "did not divide by the sum")
def never_divided(query, key, value, sharpness):
    return value.T @ np.e ** (sharpness * np.inner(key, query))


@MUTANTS("soft_look_up", "mixed the cards")
def cards_mixed(query, key, value, sharpness):
    return rows(sharpness * key.dot(query)) @ key


@MUTANTS("soft_look_up", "These are the weights")
def weights_alone(query, key, value, sharpness):
    return rows(sharpness * (key @ query))


@MUTANTS("soft_look_up", "the best card only")
def only_the_best(query, key, value, sharpness):
    return value[int(np.argmax(key @ query))]


@MUTANTS("soft_look_up", "compared by distance")
def by_distance(query, key, value, sharpness):
    distance = np.sqrt(((key - query) ** 2).sum(axis=1))
    return rows(-sharpness * distance) @ value


@MUTANTS("soft_look_up", OVERFLOW)
def overflowing(query, key, value, sharpness):
    e = np.exp(sharpness * (key @ query))
    return (e / e.sum()) @ value


@MUTANTS("soft_look_up", "Take exp first")
def share_of_scores(query, key, value, sharpness):
    scores = sharpness * (key @ query)
    return scores / scores.sum() @ value


@MUTANTS("soft_look_up", CHANGED)
def query_sharpened_in_place(query, key, value, sharpness):
    query *= sharpness
    return rows(key @ query) @ value


# --- matrix_of_fit -------------------------------------------------------------------------------


@MUTANTS("matrix_of_fit", "This is Mᵀ")
def turned_round(w_q, w_k):
    return np.einsum("id,jd->ji", w_q, w_k)


@MUTANTS("matrix_of_fit", "wrong side")
def inner_side(w_q, w_k):
    return w_q.T @ w_k


@MUTANTS("matrix_of_fit", "w_k is not transposed")
def not_transposed(w_q, w_k):
    return np.matmul(w_q, w_k)


@MUTANTS("matrix_of_fit", "number by number")
def elementwise(w_q, w_k):
    return np.multiply(w_q, w_k)


@MUTANTS("matrix_of_fit", "w_q on both sides")
def queries_only(w_q, w_k):
    return np.inner(w_q, w_q)


@MUTANTS("matrix_of_fit", "w_k on both sides")
def keys_only(w_q, w_k):
    return np.inner(w_k, w_k)


@MUTANTS("matrix_of_fit", "the equation above has no scale")
def with_scale(w_q, w_k):
    return np.inner(w_q, w_k) / w_q.shape[1] ** 0.5


@MUTANTS("matrix_of_fit", "made it symmetric")
def symmetric(w_q, w_k):
    fit = np.inner(w_q, w_k)
    return 0.5 * fit + 0.5 * fit.T


# --- gap_of_meanings -----------------------------------------------------------------------------


def _pairs(vectors, sense, compare, self_too=False):
    same, different = [], []
    for i, a in enumerate(vectors):
        for j, b in enumerate(vectors):
            if i == j and not self_too:
                continue
            (same if sense[i] == sense[j] else different).append(compare(a, b))
    return np.array(same), np.array(different)


def _cosine(a, b):
    return a @ b / (a @ a) ** 0.5 / (b @ b) ** 0.5


@MUTANTS("gap_of_meanings", "with itself too")
def with_itself(vectors, sense):
    same, different = _pairs(vectors, sense, _cosine, self_too=True)
    return same.mean() - different.mean()


@MUTANTS("gap_of_meanings", "long vectors count more")
def by_dot_product(vectors, sense):
    same, different = _pairs(vectors, sense, np.dot)
    return same.mean() - different.mean()


@MUTANTS("gap_of_meanings", "wrong way round")
def different_less_same(vectors, sense):
    same, different = _pairs(vectors, sense, _cosine)
    return different.mean() - same.mean()


@MUTANTS("gap_of_meanings", "added the cosines up")
def sums(vectors, sense):
    same, different = _pairs(vectors, sense, _cosine)
    return sum(same) - sum(different)


@MUTANTS("gap_of_meanings", "took distances")
def by_distance_of_pairs(vectors, sense):
    same, different = _pairs(vectors, sense, lambda a, b: ((a - b) ** 2).sum() ** 0.5)
    return different.mean() - same.mean()


@MUTANTS("gap_of_meanings", "two mean vectors")
def cosine_of_means(vectors, sense):
    return _cosine(vectors[sense == 0].mean(axis=0), vectors[sense == 1].mean(axis=0))


@MUTANTS("gap_of_meanings", "a mean for each meaning first")
def mean_of_means(vectors, sense):
    each = [
        _pairs(vectors[sense == s], sense[sense == s], _cosine)[0].mean() for s in np.unique(sense)
    ]
    return sum(each) / 2 - _pairs(vectors, sense, _cosine)[1].mean()


@MUTANTS("gap_of_meanings", "same meaning alone")
def same_alone(vectors, sense):
    return _pairs(vectors, sense, _cosine)[0].mean()


@MUTANTS("gap_of_meanings", "mean of all pairs")
def against_all(vectors, sense):
    same, different = _pairs(vectors, sense, _cosine)
    return same.mean() - np.concatenate([same, different]).mean()

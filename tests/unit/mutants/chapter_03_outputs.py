"""Wrong answers to the exercises of chapter 3: attention and self_attention."""

import numpy as np

from mutants import Mutants
from mutants._parts import (
    CHANGED,
    D_NOT_ROOT,
    HARD,
    NO_SCALE,
    ONLY_MATRICES,
    OVERFLOW,
    WRONG_AXIS,
    columns,
    rows,
    weigh,
)

MUTANTS = Mutants()

# --- attention -----------------------------------------------------------------------------------


@MUTANTS("attention", NO_SCALE)
def output_unscaled(query, key, value):
    return rows(query @ key.swapaxes(-1, -2)) @ value


@MUTANTS("attention", D_NOT_ROOT)
def output_by_d(query, key, value):
    return rows(query @ key.swapaxes(-1, -2) / key.shape[-1]) @ value


@MUTANTS("attention", "scaled by the width of the values")
def output_by_d_v(query, key, value):
    return rows(query @ key.swapaxes(-1, -2) / value.shape[-1] ** 0.5) @ value


@MUTANTS("attention", "fits only keys that are 2 numbers wide")
def output_as_in_the_chapter(query, key, value):
    return rows(query @ key.T / 1.4142135623730951) @ value


@MUTANTS("attention", WRONG_AXIS)
def output_over_queries(query, key, value):
    return columns(query @ key.T / key.shape[-1] ** 0.5) @ value


@MUTANTS("attention", HARD)
def output_of_the_best(query, key, value):
    return value[(query @ key.T).argmax(axis=1)]


@MUTANTS("attention", "Values and keys are exchanged")
def output_swapped(query, key, value):
    return rows(query @ value.T / value.shape[-1] ** 0.5) @ key


@MUTANTS("attention", "You mixed the keys")
def output_of_keys(query, key, value):
    return weigh(query, key) @ key


@MUTANTS("attention", "softmax after mixing")
def output_softmax_late(query, key, value):
    return rows(query @ key.T / key.shape[-1] ** 0.5 @ value)


@MUTANTS("attention", "plain mean of all values")
def output_is_mean(query, key, value):
    return np.stack([value.mean(axis=0) for _ in query])


@MUTANTS("attention", "These are the weights")
def output_is_weights(query, key, value):
    return weigh(query, key)


@MUTANTS("attention", "Number 1 of yours is right")
def output_and_weights(query, key, value):
    weights = weigh(query, key)
    return weights @ value, weights


@MUTANTS("attention", "weights are not transposed")
def output_of_transposed(query, key, value):
    return weigh(query, key).T @ value


@MUTANTS("attention", "softmax is missing")
def output_of_scores(query, key, value):
    return query @ key.T / key.shape[-1] ** 0.5 @ value


@MUTANTS("attention", OVERFLOW)
def output_overflows(query, key, value):
    e = np.exp(query @ key.swapaxes(-1, -2) / key.shape[-1] ** 0.5)
    return e / e.sum(axis=-1, keepdims=True) @ value


@MUTANTS("attention", ONLY_MATRICES)
def output_of_matrices(query, key, value):
    return rows(query @ key.T / key.shape[-1] ** 0.5) @ value


@MUTANTS("attention", CHANGED)
def output_into_value(query, key, value):
    output = weigh(query, key) @ value
    value[:] = 0
    return output


@MUTANTS("attention", "scaled by the number of keys")
def output_by_keys(query, key, value):
    return rows(query @ key.swapaxes(-1, -2) / len(value) ** 0.5) @ value


@MUTANTS("attention", "key is not transposed")
def output_untransposed(query, key, value):
    return rows(query @ key / key.shape[-1] ** 0.5) @ value


@MUTANTS("attention", "Take exp of each score first")
def output_share_of_sum(query, key, value):
    products = query @ key.swapaxes(-1, -2)
    return products / products.sum(axis=-1, keepdims=True) @ value


@MUTANTS("attention", "did not divide by the sum")
def output_not_normalised(query, key, value):
    return np.exp(query @ key.swapaxes(-1, -2) / key.shape[-1] ** 0.5) @ value


# --- self_attention ------------------------------------------------------------------------------


@MUTANTS("self_attention", NO_SCALE)
def self_unscaled(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2)) @ (x @ w_v)


@MUTANTS("self_attention", "scaled by the width of x")
def self_by_d_model(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / x.shape[-1] ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", "scaled by the number of keys")
def self_by_tokens(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / len(x) ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", "projections are missing")
def self_unprojected(x, w_q, w_k, w_v):
    return weigh(x, x) @ x


@MUTANTS("self_attention", "You mixed x itself")
def self_mixes_x(x, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k) @ x


@MUTANTS("self_attention", "You compared x itself")
def self_compares_x(x, w_q, w_k, w_v):
    return weigh(x, x) @ x @ w_v


@MUTANTS("self_attention", "w_q and w_k are exchanged")
def self_exchanged(x, w_q, w_k, w_v):
    return weigh(x @ w_k, x @ w_q) @ x @ w_v


@MUTANTS("self_attention", "You used w_q for the keys")
def self_one_matrix(x, w_q, w_k, w_v):
    projected = x @ w_q
    return weigh(projected, projected) @ (x @ w_v)


@MUTANTS("self_attention", "You used w_k for the queries")
def self_other_matrix(x, w_q, w_k, w_v):
    projected = x @ w_k
    return weigh(projected, projected) @ (x @ w_v)


@MUTANTS("self_attention", "You mixed the keys")
def self_mixes_keys(x, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k) @ (x @ w_k)


@MUTANTS("self_attention", "projection is transposed")
def self_transposed_matrix(x, w_q, w_k, w_v):
    return weigh(x @ w_q.T, x @ w_k.T) @ (x @ w_v.T)


@MUTANTS("self_attention", WRONG_AXIS)
def self_over_queries(x, w_q, w_k, w_v):
    return columns((x @ w_q) @ (x @ w_k).T / w_k.shape[-1] ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", "These are the weights")
def self_is_weights(x, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k)


@MUTANTS("self_attention", "weights are not transposed")
def self_of_transposed(x, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k).T @ (x @ w_v)


@MUTANTS("self_attention", OVERFLOW)
def self_overflows(x, w_q, w_k, w_v):
    e = np.exp((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / w_k.shape[-1] ** 0.5)
    return e / e.sum(axis=-1, keepdims=True) @ (x @ w_v)


@MUTANTS("self_attention", ONLY_MATRICES)
def self_of_matrices(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ (x @ w_k).T / w_k.shape[-1] ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", "not w_q @ x")
def self_matrix_first(x, w_q, w_k, w_v):
    return weigh(w_q @ x, w_k @ x) @ (w_v @ x)


@MUTANTS("self_attention", "keys are not transposed")
def self_untransposed(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ (x @ w_k) / w_k.shape[-1] ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", D_NOT_ROOT)
def self_by_d(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / w_k.shape[-1]) @ (x @ w_v)


@MUTANTS("self_attention", "scaled by the width of the values")
def self_by_d_v(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / w_v.shape[-1] ** 0.5) @ (x @ w_v)


@MUTANTS("self_attention", HARD)
def self_of_the_best(x, w_q, w_k, w_v):
    scores = (x @ w_q) @ np.swapaxes(x @ w_k, -1, -2)
    return np.take_along_axis(x @ w_v, scores.argmax(axis=-1)[..., None], axis=-2)


@MUTANTS("self_attention", "softmax after mixing")
def self_softmax_late(x, w_q, w_k, w_v):
    return rows((x @ w_q) @ (x @ w_k).T / w_k.shape[-1] ** 0.5 @ (x @ w_v))


@MUTANTS("self_attention", "Number 1 of yours is right")
def self_and_weights(x, w_q, w_k, w_v):
    weights = weigh(x @ w_q, x @ w_k)
    return weights @ (x @ w_v), weights


@MUTANTS("self_attention", CHANGED)
def self_into_x(x, w_q, w_k, w_v):
    output = weigh(x @ w_q, x @ w_k) @ (x @ w_v)
    x -= x.mean(axis=0)
    return output

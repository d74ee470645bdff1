"""Wrong answers to the exercises of chapter 4."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import CHANGED, columns, rows

MUTANTS = Mutants()

# --- product_std ---------------------------------------------------------------------------------


@MUTANTS("product_std", "This is the variance")
def variance(query_std, key_std, d_k):
    return (query_std * key_std) ** 2 * d_k


@MUTANTS("product_std", "You multiplied by d_k")
def no_root(query_std, key_std, d_k):
    return sum(query_std * key_std for _ in range(d_k))


@MUTANTS("product_std", "The width is missing")
def no_width(query_std, key_std, d_k):
    return np.multiply(query_std, key_std)


@MUTANTS("product_std", "You divided by the square root")
def divided(query_std, key_std, d_k):
    return query_std * key_std * d_k**-0.5


@MUTANTS("product_std", "standard deviation of 1 only")
def root_alone(query_std, key_std, d_k):
    return d_k**0.5


@MUTANTS("product_std", "You added up the sizes")
def sum_of_sizes(query_std, key_std, d_k):
    return d_k**0.5 * query_std + d_k**0.5 * key_std


@MUTANTS("product_std", "left out one of the two sizes")
def query_alone(query_std, key_std, d_k):
    return np.sqrt(d_k * query_std**2)


@MUTANTS("product_std", "left out one of the two sizes")
def key_alone(query_std, key_std, d_k):
    return np.sqrt(d_k) * key_std


# --- effective_keys ------------------------------------------------------------------------------


@MUTANTS("effective_keys", "This is the entropy")
def entropy_itself(weights):
    return torch.special.entr(torch.tensor(weights)).sum(-1)


@MUTANTS("effective_keys", "base of the power")
def bits_to_the_power_of_e(weights):
    bits = -np.sum([w * np.log2(np.maximum(w, 1e-300)) for w in np.moveaxis(weights, -1, 0)], 0)
    return np.exp(bits)


@MUTANTS("effective_keys", "base of the power")
def nats_to_the_power_of_two(weights):
    return 2 ** torch.special.entr(torch.tensor(weights)).sum(-1)


@MUTANTS("effective_keys", "sign of the entropy")
def without_minus(weights):
    return np.exp(np.sum(weights * np.log(weights), axis=-1))


@MUTANTS("effective_keys", "wrong axis")
def over_the_queries(weights):
    return np.exp(-np.sum(weights * np.log(weights), axis=0))


@MUTANTS("effective_keys", "over all weights at once")
def over_everything(weights):
    return np.exp(-np.sum(weights * np.log(weights)))


@MUTANTS("effective_keys", "mean instead of the sum")
def mean_entropy(weights):
    return np.exp(-np.mean(weights * np.log(weights), axis=-1))


@MUTANTS("effective_keys", "another measure")
def inverse_of_squares(weights):
    return 1 / np.einsum("...k,...k->...", weights, weights)


@MUTANTS("effective_keys", "counted the keys")
def count(weights):
    return np.count_nonzero(weights, axis=-1)


@MUTANTS("effective_keys", "0 · ln 0")
def zero_times_infinity(weights):
    return np.e ** -np.sum(weights * np.log(weights), axis=-1)


# --- softmax_jacobian ----------------------------------------------------------------------------


@MUTANTS("softmax_jacobian", "Only the diagonal is right")
def diagonal_alone(scores):
    w = rows(scores)
    return np.diag(w * (1 - w))


@MUTANTS("softmax_jacobian", "products w_i · w_j are missing")
def weights_on_the_diagonal(scores):
    return np.diag(rows(scores))


@MUTANTS("softmax_jacobian", "diagonal matrix of the weights is missing")
def products_alone(scores):
    return -np.outer(rows(scores), rows(scores))


@MUTANTS("softmax_jacobian", "You added the products")
def plus(scores):
    return np.diag(rows(scores)) + np.outer(rows(scores), rows(scores))


@MUTANTS("softmax_jacobian", "sign is the wrong way round")
def minus(scores):
    return np.outer(rows(scores), rows(scores)) - np.diag(rows(scores))


@MUTANTS("softmax_jacobian", "You put the scores into the formula")
def of_scores(scores):
    return np.diag(scores) - np.outer(scores, scores)


@MUTANTS("softmax_jacobian", "exp overflows")
def overflowing(scores):
    w = np.exp(scores) / np.exp(scores).sum()
    return np.diag(w) - np.outer(w, w)


@MUTANTS("softmax_jacobian", "for a single row of scores")
def one_row_only(scores):
    e = np.exp(scores - scores.max())
    w = e / e.sum()
    return np.diag(w) - np.outer(w, w)


# --- tempered_softmax ----------------------------------------------------------------------------


@MUTANTS("tempered_softmax", "no effect")
def no_temperature(scores, temperature):
    return rows(scores)


@MUTANTS("tempered_softmax", "You multiplied by the temperature")
def multiplied(scores, temperature):
    return rows(scores * temperature)


@MUTANTS("tempered_softmax", "You divided the weights")
def weights_divided(scores, temperature):
    return rows(scores) / temperature


@MUTANTS("tempered_softmax", "square root of the temperature")
def by_the_root(scores, temperature):
    return rows(scores / float(temperature) ** 0.5)


@MUTANTS("tempered_softmax", "softmax is missing")
def scores_divided(scores, temperature):
    return scores / temperature


@MUTANTS("tempered_softmax", "up to a factor")
def power_without_sum(scores, temperature):
    return np.power(rows(scores), 1 / temperature)


@MUTANTS("tempered_softmax", "wrong axis")
def over_columns(scores, temperature):
    return columns(scores / temperature)


@MUTANTS("tempered_softmax", "before it was divided")
def maximum_before_division(scores, temperature):
    e = np.exp(scores / temperature - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@MUTANTS("tempered_softmax", "exp overflows")
def without_maximum(scores, temperature):
    e = np.exp(scores / temperature)
    return e / e.sum(axis=-1, keepdims=True)


@MUTANTS("tempered_softmax", CHANGED)
def in_place(scores, temperature):
    scores /= temperature
    return rows(scores)

"""Wrong answers to the exercises of chapter 3: softmax and attention_weights."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import (
    CHANGED,
    D_NOT_ROOT,
    HARD,
    LOST_DIGITS,
    MULTIPLIED,
    NO_SCALE,
    ONLY_MATRICES,
    OVERFLOW,
    WRONG_AXIS,
    columns,
    rows,
)

MUTANTS = Mutants()

# --- softmax -------------------------------------------------------------------------------------


@MUTANTS("softmax", WRONG_AXIS)
def over_the_first_axis(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=0)


@MUTANTS("softmax", "over all scores at once")
def over_everything(scores):
    e = np.exp(scores)
    return e / np.sum(e)


@MUTANTS("softmax", HARD)
def hard_maximum(scores):
    return np.eye(scores.shape[-1])[scores.argmax(-1)]


@MUTANTS("softmax", OVERFLOW)
def without_maximum(scores):
    e = np.exp(scores)
    total = e.sum(-1, keepdims=True)
    return e / total


@MUTANTS("softmax", "largest of all scores")
def maximum_of_everything(scores):
    e = np.exp(scores - np.max(scores))
    return e / e.sum(-1)[..., None]


@MUTANTS("softmax", "Take exp of each score first")
def sum_without_exp(scores):
    return np.divide(scores, np.add.reduce(scores, -1)[..., np.newaxis])


@MUTANTS("softmax", "did not divide by the sum")
def not_normalised(scores):
    return np.e**scores


@MUTANTS("softmax", "did not divide by the sum")
def shifted_but_not_normalised(scores):
    return torch.exp(torch.tensor(scores - scores.max(-1)[..., None]))


@MUTANTS("softmax", "from each column its largest score")
def maximum_of_each_column(scores):
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=-1)[..., None]


@MUTANTS("softmax", "do not sum to 1: those of the first row")
def divided_by_the_largest(scores):
    e = np.exp(scores)
    return e / e.max(axis=-1, keepdims=True) / 2


@MUTANTS("softmax", "sign is the wrong way round")
def minus_sign(scores):
    lowest = scores.min(-1, keepdims=True)
    e = np.exp(lowest - scores)
    return e / e.sum(-1, keepdims=True)


@MUTANTS("softmax", "logarithms of the weights")
def logarithms(scores):
    return torch.log_softmax(torch.tensor(scores), -1)


@MUTANTS("softmax", "sigmoid")
def each_on_its_own(scores):
    return torch.sigmoid(torch.tensor(scores)).numpy()


@MUTANTS("softmax", "keepdims=True")
def lost_axis(scores):
    e = np.exp(scores - np.max(scores, axis=-1))
    return e / np.sum(e, axis=-1)


@MUTANTS("softmax", "axis=1 is the last axis of a matrix only")
def axis_one(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@MUTANTS("softmax", "gives rows only if scores is a matrix")
def row_by_row(scores):
    result = []
    for row in scores:
        e = np.exp(row - row.max())
        result.append(e / e.sum())
    return np.array(result)


@MUTANTS("softmax", CHANGED)
def in_place(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)


@MUTANTS("softmax", LOST_DIGITS)
def single_precision(scores):
    return torch.softmax(torch.tensor(scores, dtype=torch.float32), dim=-1)


@MUTANTS("softmax", "softmax is missing")
def nothing_done(scores):
    return scores


# --- attention_weights ---------------------------------------------------------------------------


@MUTANTS("attention_weights", NO_SCALE)
def weights_unscaled(query, key):
    return rows(np.einsum("...qd,...kd->...qk", query, key))


@MUTANTS("attention_weights", D_NOT_ROOT)
def weights_by_d(query, key):
    return rows(np.einsum("...qd,...kd->...qk", query, key) / query.shape[-1])


@MUTANTS("attention_weights", MULTIPLIED)
def weights_times_root(query, key):
    return rows(np.einsum("...qd,...kd->...qk", query * query.shape[-1] ** 0.5, key))


@MUTANTS("attention_weights", "scaled by the number of keys")
def weights_by_keys(query, key):
    return rows(query @ key.T / len(key) ** 0.5)


@MUTANTS("attention_weights", "scaled by the number of queries")
def weights_by_queries(query, key):
    return rows(query @ key.T / len(query) ** 0.5)


@MUTANTS("attention_weights", "fits only keys that are 2 numbers wide")
def weights_as_in_the_chapter(query, key):
    return rows(query @ key.T / 2**0.5)


@MUTANTS("attention_weights", "scaled after softmax")
def weights_scaled_late(query, key):
    return rows(query @ key.T) / query.shape[1] ** 0.5


@MUTANTS("attention_weights", WRONG_AXIS)
def weights_over_queries(query, key):
    return columns(query @ key.T / query.shape[1] ** 0.5)


@MUTANTS("attention_weights", "key is not transposed")
def weights_untransposed(query, key):
    return rows(np.matmul(query, key) / query.shape[1] ** 0.5)


@MUTANTS("attention_weights", "rows are queries and columns keys")
def weights_of_keys(query, key):
    return rows(key @ query.T / query.shape[1] ** 0.5)


@MUTANTS("attention_weights", HARD)
def weights_of_the_best(query, key):
    return np.eye(len(key))[np.argmax(query @ key.T, axis=1)]


@MUTANTS("attention_weights", OVERFLOW)
def weights_overflow(query, key):
    e = np.exp(np.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5)
    return e / e.sum(-1, keepdims=True)


@MUTANTS("attention_weights", ONLY_MATRICES)
def weights_of_matrices(query, key):
    return rows(query @ key.T / query.shape[-1] ** 0.5)


@MUTANTS("attention_weights", "shape[1] is d_k for a matrix only")
def weights_second_shape(query, key):
    return rows(query @ key.swapaxes(-1, -2) / key.shape[1] ** 0.5)


@MUTANTS("attention_weights", "softmax is missing")
def weights_are_scores(query, key):
    return query @ key.T / query.shape[-1] ** 0.5


@MUTANTS("attention_weights", "Take exp of each score first")
def weights_share_of_sum(query, key):
    products = query @ key.T
    return products / products.sum(axis=1, keepdims=True)


@MUTANTS("attention_weights", CHANGED)
def weights_in_place(query, key):
    query /= query.shape[-1] ** 0.5
    return rows(np.einsum("...qd,...kd->...qk", query, key))


@MUTANTS("attention_weights", LOST_DIGITS)
def weights_in_single(query, key):
    query, key = torch.tensor(query).float(), torch.tensor(key).float()
    return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)


@MUTANTS("attention_weights", "Almost right")
def weights_with_a_rounded_root(query, key):
    return rows(np.einsum("...qd,...kd->...qk", query, key) / round(query.shape[-1] ** 0.5, 2))


@MUTANTS("attention_weights", "the cosine")
def weights_of_angles(query, key):
    lengths = np.sqrt((query**2).sum(-1))[..., :, None] * np.sqrt((key**2).sum(-1))[..., None, :]
    return rows(np.einsum("...qd,...kd->...qk", query, key) / lengths)

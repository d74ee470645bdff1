"""What the mutants share: right parts in loops, and what some of their writers must be told."""

import numpy as np

# What the writer of a mutant must be told, whatever else the sentence says.
WRONG_AXIS = "wrong axis: the columns sum to 1"
NO_SCALE = "scale is missing"
D_NOT_ROOT = "it is the square root of d_k"
MULTIPLIED = "You multiplied by the square root"
HARD = "hard maximum"
OVERFLOW = "exp overflows"
ONLY_MATRICES = ".T turns round all axes"
LOST_DIGITS = "float32"
CHANGED = "changes its input"


def rows(scores):
    """A right softmax, in loops over everything but the last axis."""
    weights = np.empty_like(scores)
    for at in np.ndindex(scores.shape[:-1]):
        powers = [np.e ** (s - max(scores[at])) for s in scores[at]]
        weights[at] = [power / sum(powers) for power in powers]
    return weights


def columns(scores):
    return np.moveaxis(rows(np.moveaxis(scores, 0, -1).copy()), -1, 0)


def weigh(query, key):
    return rows(np.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5)

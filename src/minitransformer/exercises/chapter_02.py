"""Chapter 2: hard and soft look-up, the one matrix of fit, the gap between two meanings."""

import numpy as np

from ._exercise import Case, Exercise, Misconception
from ._look_up_mistakes import CHOOSING, FITTING, MIXING

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def best_card(query, key, value):
    return value[np.argmax(key @ query)]


def soft_look_up(query, key, value, sharpness):
    scores = sharpness * (key @ query)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum() @ value


def matrix_of_fit(w_q, w_k):
    return w_q @ w_k.T


def gap_of_meanings(vectors, sense):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    same = sense[:, None] == sense
    other = ~np.eye(len(sense), dtype=bool)
    return cosines[same & other].mean() - cosines[~same].mean()


# --- what goes wrong in the gap -----------------------------------------------------------------


def _split(products, sense, self_too=False):
    same = sense[:, None] == sense
    other = np.ones_like(same) if self_too else ~np.eye(len(sense), dtype=bool)
    return products[same & other], products[~same]


def _cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def _gap_with_self(vectors, sense):
    same, different = _split(_cosines(vectors), sense, self_too=True)
    return same.mean() - different.mean()


def _gap_of_products(vectors, sense):
    same, different = _split(vectors @ vectors.T, sense)
    return same.mean() - different.mean()


def _gap_turned(vectors, sense):
    return -gap_of_meanings(vectors, sense)


def _gap_of_sums(vectors, sense):
    same, different = _split(_cosines(vectors), sense)
    return same.sum() - different.sum()


def _gap_of_distances(vectors, sense):
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=-1)
    same, different = _split(apart, sense)
    return different.mean() - same.mean()


def _gap_of_means(vectors, sense):
    means = np.stack([vectors[sense == s].mean(axis=0) for s in (0, 1)])
    return _cosines(means)[0, 1]


def _gap_halved(vectors, sense):
    cosines = _cosines(vectors)
    same = sense[:, None] == sense
    other = ~np.eye(len(sense), dtype=bool)
    per_sense = [cosines[np.outer(sense == s, sense == s) & other].mean() for s in (0, 1)]
    return np.mean(per_sense) - cosines[~same].mean()


def _gap_against_all(vectors, sense):
    cosines = _cosines(vectors)
    same, _ = _split(cosines, sense)
    return same.mean() - cosines[~np.eye(len(sense), dtype=bool)].mean()


MEASURING = (
    Misconception(
        "You compared each vector with itself too; that cosine is always 1 and raises the mean. "
        "Leave the diagonal out.",
        _gap_with_self,
    ),
    Misconception(
        "You took dot products, in which long vectors count more. A cosine divides both vectors "
        "by their length first.",
        _gap_of_products,
    ),
    Misconception(
        "The difference is the wrong way round: same meaning less different meaning.",
        _gap_turned,
    ),
    Misconception(
        "You added the cosines up instead of taking their means; there are more pairs of one kind "
        "than of the other.",
        _gap_of_sums,
    ),
    Misconception(
        "You took distances. Cosines compare directions only.",
        _gap_of_distances,
    ),
    Misconception(
        "This is the cosine of the two mean vectors. The gap is made of pairs of sentences.",
        _gap_of_means,
    ),
    Misconception(
        "You took a mean for each meaning first and then the mean of the two. All pairs with the "
        "same meaning count alike.",
        _gap_halved,
    ),
    Misconception(
        "This is the mean cosine of the pairs with the same meaning alone; the other mean is to "
        "be taken off.",
        lambda vectors, sense: _split(_cosines(vectors), sense)[0].mean(),
    ),
    Misconception(
        "You took off the mean of all pairs. Take off that of the pairs with different meanings.",
        _gap_against_all,
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ. The best card is neither the nearest, nor the one with the best
# direction, nor the one with the largest size of its score.

SHELF = {
    "query": np.array([0.5, 1.5]),
    "key": np.array([[-0.5, -1.0], [0.5, 1.25], [0.0, 2.0], [1.5, 0.5], [0.3, 0.9]]),
    "value": np.array(
        [
            [2.0, -1.0, 0.5],
            [-0.5, 1.5, 2.5],
            [1.0, 0.5, -1.5],
            [3.5, -2.0, 1.0],
            [0.0, 3.0, -0.5],
        ]
    ),
}
LOUD = {
    "query": np.array([0.9, -0.4, 0.3]),
    "key": np.array([[2.9, 1.1, 0.2], [0.8, -0.5, 0.3], [-3.0, 2.0, -1.5], [-0.9, 0.4, 1.1]]),
    "value": np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 1.0], [2.5, 0.25]]),
}
NEGATIVE = {
    "query": np.array([-1.2, 0.3, 0.5, -0.7]),
    "key": np.array([[0.9, 0.4, -0.2, 0.6], [1.5, -0.3, 0.4, 0.2], [0.3, 0.2, -0.1, 0.4]]),
    "value": np.array(
        [[0.5, 1.0, -2.0, 3.0, 1.5], [2.0, 0.0, 1.0, -1.0, 4.0], [1.0, 2.0, 3.0, 0.5, -0.5]]
    ),
}
SHELVES = (
    Case("five cards and a request", SHELF),
    Case("a long card beside a near one", LOUD),
    Case("a request that fits no card", NEGATIVE),
)


def _sharp(about, shelf, sharpness):
    return Case(about, {**shelf, "sharpness": np.array(sharpness)})


SOFT = (
    _sharp("five cards, softened", SHELF, 0.6),
    _sharp("four cards, sharpened", LOUD, 1.7),
    _sharp("a sharpness of 0", NEGATIVE, 0.0),
    _sharp("a great sharpness", LOUD, 900.0),
)

MATRICES = (
    Case(
        "three numbers a token, two a key",
        {
            "w_q": np.array([[0.8, -0.5], [0.4, 0.9], [-1.1, 0.3]]),
            "w_k": np.array([[0.3, 1.2], [-0.9, 0.5], [0.7, -0.6]]),
        },
    ),
    Case(
        "two numbers a token, four a key",
        {
            "w_q": np.array([[0.2, 1.0, -0.7, 0.5], [1.3, -0.4, 0.6, 0.1]]),
            "w_k": np.array([[-0.8, 0.3, 0.9, 1.1], [0.4, 0.7, -0.2, -1.0]]),
        },
    ),
)

MEANINGS = (
    Case(
        "five vectors, two of the one meaning and three of the other",
        {
            "vectors": np.array([[1.0, 0.2], [0.1, 2.0], [3.0, 1.0], [-0.5, 0.4], [0.3, 0.9]]),
            "sense": np.array([0, 1, 0, 1, 1]),
        },
    ),
    Case(
        "seven vectors in space",
        {
            "vectors": np.array(
                [
                    [0.4, -0.8, 1.0],
                    [1.1, 0.3, -0.2],
                    [-0.6, 0.9, 0.5],
                    [0.2, 0.7, -1.3],
                    [2.0, -0.4, 0.6],
                    [-0.3, 1.0, 0.8],
                    [0.9, 0.5, -0.7],
                ]
            ),
            "sense": np.array([1, 1, 0, 1, 0, 1, 1]),
        },
    ),
)

EXERCISES = (
    Exercise(
        "the value of the card whose dot product with the request is the largest.",
        best_card,
        SHELVES,
        CHOOSING,
    ),
    Exercise(
        "the values, each times its weight, added up: the weights are the softmax of sharpness "
        "times dot product, for a sharpness of any size.",
        soft_look_up,
        SOFT,
        MIXING,
    ),
    Exercise(
        "the matrix M of shape (d_model, d_model) for which the products of queries and keys are "
        "x M xᵀ.",
        matrix_of_fit,
        MATRICES,
        FITTING,
    ),
    Exercise(
        "the mean cosine of all pairs of vectors with the same meaning, less that of all pairs "
        "with different meanings.",
        gap_of_meanings,
        MEANINGS,
        MEASURING,
    ),
)

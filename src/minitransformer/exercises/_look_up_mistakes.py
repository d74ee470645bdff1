"""What goes wrong in chapter 2: in look-ups, hard and soft, and in the matrix of fit."""

import numpy as np

from ..reference import softmax
from ._exercise import Misconception

__all__ = ["CHOOSING", "FITTING", "MIXING"]


def _distance(query, key):
    return np.linalg.norm(key - query, axis=-1)


CHOOSING = (
    Misconception(
        "You took the nearest card. Cards are compared by the dot product, key @ query, in which "
        "a longer card can win over a nearer one.",
        lambda query, key, value: value[np.argmin(_distance(query, key))],
    ),
    Misconception(
        "You compared directions only (the cosine). In the plain dot product the "
        "length of a card counts as well.",
        lambda query, key, value: value[np.argmax(key @ query / np.linalg.norm(key, axis=-1))],
    ),
    Misconception(
        "You returned the card. What is handed over is its book: the same row of value.",
        lambda query, key, value: key[np.argmax(key @ query)],
    ),
    Misconception(
        "You returned the place of the best card. What is asked for is the value there.",
        lambda query, key, value: np.argmax(key @ query),
    ),
    Misconception(
        "You returned the largest dot product. What is asked for is the value of its card.",
        lambda query, key, value: np.max(key @ query),
    ),
    Misconception(
        "You took the worst card: the largest dot product is wanted, argmax.",
        lambda query, key, value: value[np.argmin(key @ query)],
    ),
    Misconception(
        "You took the product that is farthest from 0. A very negative one is a bad fit, not a "
        "good one: leave the sign as it is.",
        lambda query, key, value: value[np.argmax(np.abs(key @ query))],
    ),
    Misconception(
        "You mixed the values by softmax. Hard look-up takes one value and leaves the others.",
        lambda query, key, value: softmax(key @ query) @ value,
    ),
    Misconception(
        "You compared the request with the values. It is compared with the keys; the values only "
        "come along.",
        lambda query, key, value: value[np.argmax(value @ query)],
    ),
)

MIXING = (
    Misconception(
        "The sharpness is missing: multiply the dot products by it before exp.",
        lambda query, key, value, sharpness: softmax(key @ query) @ value,
    ),
    Misconception(
        "You multiplied the weights by the sharpness, so they no longer sum to 1. Multiply the "
        "dot products, before exp.",
        lambda query, key, value, sharpness: sharpness * softmax(key @ query) @ value,
    ),
    Misconception(
        "You divided by the sharpness (that is a temperature). A large sharpness is to prefer the "
        "best card: multiply.",
        lambda query, key, value, sharpness: softmax(key @ query / sharpness) @ value,
    ),
    Misconception(
        "You divided by √d_k as well. Here the sharpness stands in its place.",
        lambda query, key, value, sharpness: (
            softmax(sharpness * (key @ query) / np.sqrt(key.shape[-1])) @ value
        ),
    ),
    Misconception(
        "You did not divide by the sum of the exponentials, so the weights do not sum to 1.",
        lambda query, key, value, sharpness: np.exp(sharpness * (key @ query)) @ value,
    ),
    Misconception(
        "You mixed the cards. Cards are for comparing; what is mixed are the values.",
        lambda query, key, value, sharpness: softmax(sharpness * (key @ query)) @ key,
    ),
    Misconception(
        "These are the weights. The answer is one step further: mix the values by them.",
        lambda query, key, value, sharpness: softmax(sharpness * (key @ query)),
    ),
    Misconception(
        "You returned the value of the best card only; softly, all of them have a share.",
        lambda query, key, value, sharpness: value[np.argmax(key @ query)],
    ),
    Misconception(
        "You compared by distance; compare by the dot product, key @ query.",
        lambda query, key, value, sharpness: softmax(-sharpness * _distance(query, key)) @ value,
    ),
    Misconception(
        "You compared by squared distance; compare by the dot product, key @ query.",
        lambda query, key, value, sharpness: (
            softmax(-sharpness * _distance(query, key) ** 2) @ value
        ),
    ),
    Misconception(
        "You weighted by the scores, divided by their sum. Take exp first: that makes them "
        "positive.",
        lambda query, key, value, sharpness: (key @ query / (key @ query).sum()) @ value,
    ),
    Misconception(
        "exp overflows for a great sharpness, or all of it becomes 0. Subtract the largest score "
        "first; that changes no weight.",
        lambda query, key, value, sharpness: (
            np.exp(sharpness * (key @ query)) / np.exp(sharpness * (key @ query)).sum() @ value
        ),
    ),
)

FITTING = (
    Misconception(
        "This is Mᵀ: the query comes from the left row x, so w_q stands first.",
        lambda w_q, w_k: w_k @ w_q.T,
    ),
    Misconception(
        "You multiplied over the wrong side: (x W_Q)(x W_K)ᵀ = x W_Q W_Kᵀ xᵀ, so w_k is "
        "transposed, not w_q.",
        lambda w_q, w_k: w_q.T @ w_k,
    ),
    Misconception(
        "w_k is not transposed: (x W_K)ᵀ = W_Kᵀ xᵀ.",
        lambda w_q, w_k: w_q @ w_k,
    ),
    Misconception(
        "You multiplied number by number. What is asked for is a matrix product.",
        lambda w_q, w_k: w_q * w_k,
    ),
    Misconception(
        "You used w_q on both sides. The right one belongs to the keys: w_k.",
        lambda w_q, w_k: w_q @ w_q.T,
    ),
    Misconception(
        "You used w_k on both sides. The left one belongs to the queries: w_q.",
        lambda w_q, w_k: w_k @ w_k.T,
    ),
    Misconception(
        "You divided by √d_k as well. It belongs to the scores, but the equation above has no "
        "scale.",
        lambda w_q, w_k: w_q @ w_k.T / np.sqrt(w_k.shape[-1]),
    ),
    Misconception(
        "You made it symmetric. Without the two matrices' order a score could not be one-sided.",
        lambda w_q, w_k: (w_q @ w_k.T + w_k @ w_q.T) / 2,
    ),
    Misconception(
        "You added the two matrices; queries and keys meet in a product.",
        lambda w_q, w_k: w_q + w_k,
    ),
)

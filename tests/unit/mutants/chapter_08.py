"""Wrong answers to the exercises of chapter 8."""

import math

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import LOST_DIGITS

MUTANTS = Mutants()


# --- waves ---------------------------------------------------------------------------------------


def angle(place, pair, width, power=2.0):
    return float(place) / 10000 ** (power * pair / float(width))


def table(positions, width, entry):
    return [[entry(place, column) for column in range(int(width))] for place in positions]


@MUTANTS("waves", "all sines before all cosines")
def waves_in_halves(positions, d_model):
    half = int(d_model) // 2

    def entry(place, column):
        function = math.sin if column < half else math.cos
        return function(angle(place, column % half, d_model))

    return table(positions, d_model, entry)


@MUTANTS("waves", "have changed places")
def waves_cosines_first(positions, d_model):
    def entry(place, column):
        function = math.sin if column % 2 else math.cos
        return function(angle(place, column // 2, d_model))

    return table(positions, d_model, entry)


def alternating(positions, d_model, turn):
    def entry(place, column):
        return (math.cos if column % 2 else math.sin)(turn(place, column))

    return np.array(table(positions, d_model, entry))


@MUTANTS("waves", "a frequency of its own")
def waves_own_frequencies(positions, d_model):
    return alternating(positions, d_model, lambda t, c: angle(t, c, d_model, power=1))


@MUTANTS("waves", "-i/d instead of -2i/d")
def waves_half_exponent(positions, d_model):
    return alternating(positions, d_model, lambda t, c: angle(t, c // 2, d_model, power=1))


@MUTANTS("waves", "lacks its sign")
def waves_growing(positions, d_model):
    return alternating(positions, d_model, lambda t, c: angle(t, c // 2, d_model, power=-2))


@MUTANTS("waves", "counted the places anew from 0")
def waves_from_zero(positions, d_model):
    places = range(len(positions))
    return alternating(places, d_model, lambda t, c: angle(t, c // 2, d_model))


@MUTANTS("waves", "from 1")
def waves_from_one(positions, d_model):
    return alternating(positions + 1, d_model, lambda t, c: angle(t, c // 2, d_model))


@MUTANTS("waves", "Rows and columns are exchanged")
def waves_transposed(positions, d_model):
    return alternating(positions, d_model, lambda t, c: angle(t, c // 2, d_model)).T


@MUTANTS("waves", LOST_DIGITS)
def waves_single(positions, d_model):
    exact = alternating(positions, d_model, lambda t, c: angle(t, c // 2, d_model))
    return exact.astype(np.float16).astype(np.float32)


# --- turned --------------------------------------------------------------------------------------


def as_complex(first, second, angles):
    """The pairs as complex numbers, turned."""
    return (first + 1j * second) * np.exp(1j * angles)


@MUTANTS("turned", "You paired neighbours")
def turned_neighbours(x, angles):
    z = as_complex(x[..., ::2], x[..., 1::2], angles)
    result = np.empty_like(x)
    result[..., ::2], result[..., 1::2] = z.real, z.imag
    return result


@MUTANTS("turned", "turned backwards")
def turned_back(x, angles):
    n = angles.shape[-1]
    z = as_complex(x[..., :n], x[..., n:], -angles)
    return np.concatenate([z.real, z.imag], -1)


@MUTANTS("turned", "no minus sign")
def turned_without_minus(x, angles):
    a, b = torch.tensor(x).chunk(2, -1)
    c, s = torch.tensor(angles).cos(), torch.tensor(angles).sin()
    return torch.cat([a * c + b * s, b * c + a * s], -1)


@MUTANTS("turned", "You overwrote the first half")
def turned_in_place(x, angles):
    n = angles.shape[-1]
    result = x.copy()
    result[..., :n] = result[..., :n] * np.cos(angles) - result[..., n:] * np.sin(angles)
    result[..., n:] = result[..., n:] * np.cos(angles) + result[..., :n] * np.sin(angles)
    return result


@MUTANTS("turned", "left out the other half")
def turned_scaled(x, angles):
    return x * np.cos(np.tile(angles, 2))


@MUTANTS("turned", "as positions are added")
def turned_added(x, angles):
    return x + np.concatenate([np.sin(angles), np.cos(angles)], -1)


@MUTANTS("turned", "halves have changed places")
def turned_exchanged(x, angles):
    n = angles.shape[-1]
    z = as_complex(x[..., :n], x[..., n:], angles)
    return np.concatenate([z.imag, z.real], -1)


# --- feed_forward_step ---------------------------------------------------------------------------


def normed(x):
    return torch.nn.functional.layer_norm(torch.tensor(x), x.shape[-1:], eps=0).numpy()


def network(x, w_1, w_2):
    return torch.relu(torch.tensor(x @ w_1)).numpy() @ w_2


@MUTANTS("feed_forward_step", "The residual is missing")
def step_without_residual(x, w_1, w_2):
    return network(normed(x), w_1, w_2)


@MUTANTS("feed_forward_step", "The norm is missing")
def step_without_norm(x, w_1, w_2):
    return x + network(x, w_1, w_2)


@MUTANTS("feed_forward_step", "post-norm")
def step_post(x, w_1, w_2):
    return normed(x + network(x, w_1, w_2))


@MUTANTS("feed_forward_step", "You added the result to norm(x)")
def step_normed_residual(x, w_1, w_2):
    x = normed(x)
    return x + network(x, w_1, w_2)


@MUTANTS("feed_forward_step", "The bend is missing")
def step_linear(x, w_1, w_2):
    return x + normed(x) @ (w_1 @ w_2)


@MUTANTS("feed_forward_step", "behind both maps")
def step_late_relu(x, w_1, w_2):
    added = normed(x) @ w_1 @ w_2
    return x + added * (added > 0)


@MUTANTS("feed_forward_step", "over all tokens together")
def step_one_norm(x, w_1, w_2):
    return x + network((x - np.mean(x)) / np.sqrt(np.var(x)), w_1, w_2)


@MUTANTS("feed_forward_step", "batch norm")
def step_batch_norm(x, w_1, w_2):
    return x + network(np.swapaxes(normed(np.swapaxes(x, -1, -2).copy()), -1, -2), w_1, w_2)


@MUTANTS("feed_forward_step", "divided by the variance")
def step_variance(x, w_1, w_2):
    return x + network(normed(x) / x.std(-1)[..., None], w_1, w_2)


@MUTANTS("feed_forward_step", "n - 1")
def step_torch_std(x, w_1, w_2):
    t = torch.tensor(x)
    return x + network(((t - t.mean(-1, True)) / t.std(-1, keepdim=True)).numpy(), w_1, w_2)


@MUTANTS("feed_forward_step", "This is RMS norm")
def step_rms(x, w_1, w_2):
    length = np.linalg.norm(x, axis=-1)[..., None]
    return x + network(x * x.shape[-1] ** 0.5 / length, w_1, w_2)


# --- nucleus -------------------------------------------------------------------------------------


def keep(row, p, reach=True):
    """The words of one text that are kept, the likeliest first."""
    kept, total = [], 0.0
    for word in sorted(range(len(row)), key=lambda word: -row[word]):
        if (total if reach else total + row[word]) >= p:
            break
        kept.append(word)
        total += row[word]
    return kept


def only(row, kept, share=True):
    total = sum(row[word] for word in kept) if share else 1
    return [row[word] / total if word in kept else 0.0 for word in range(len(row))]


@MUTANTS("nucleus", "does not sum to 1")
def nucleus_not_shared(probabilities, p):
    return [only(row, keep(row, p), share=False) for row in probabilities]


@MUTANTS("nucleus", "is missing: the kept words are to *reach* p")
def nucleus_too_few(probabilities, p):
    return np.array([only(row, keep(row, p, reach=False)) for row in probabilities])


@MUTANTS("nucleus", "counted the words to keep in the first text")
def nucleus_of_the_first_text(probabilities, p):
    n_kept = len(keep(probabilities[0], p))
    return [only(row, np.argsort(-row)[:n_kept]) for row in probabilities]


@MUTANTS("nucleus", "Your result is sorted")
def nucleus_sorted(probabilities, p):
    return [sorted(only(row, keep(row, p)), reverse=True) for row in probabilities]


@MUTANTS("nucleus", "from left to right")
def nucleus_left_to_right(probabilities, p):
    t = torch.tensor(probabilities)
    kept = t * (t.cumsum(-1) - t < float(p))
    return kept / kept.sum(-1, keepdim=True)


@MUTANTS("nucleus", "began with the unlikeliest")
def nucleus_unlikeliest(probabilities, p):
    rows = []
    for row in probabilities:
        kept, total = [], 0.0
        for word in np.argsort(row):
            if total < p:
                kept.append(int(word))
            total += row[word]
        rows.append(only(row, kept))
    return rows


@MUTANTS("nucleus", "own probability is at least p")
def nucleus_threshold(probabilities, p):
    kept = torch.tensor(np.where(probabilities < p, 0, probabilities))
    return kept / kept.sum(-1)[:, None]


@MUTANTS("nucleus", "with a softmax")
def nucleus_softmax(probabilities, p):
    kept = torch.tensor([only(row, keep(row, p)) for row in probabilities])
    raw = torch.tensor(probabilities).masked_fill(kept == 0, -torch.inf)
    return raw.softmax(-1)

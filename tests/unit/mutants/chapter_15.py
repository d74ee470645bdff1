"""Wrong answers to the exercises of chapter 15."""

import numpy as np
import torch

from mutants import Mutants

MUTANTS = Mutants()


# --- late_mask -----------------------------------------------------------------------------------


@MUTANTS("late_mask", "still in the denominator")
def late_only_hidden(weights, mask):
    return weights * mask


@MUTANTS("late_mask", "became NaN")
def late_nan(weights, mask):
    kept = torch.tensor(weights) * torch.tensor(mask)
    return kept / kept.sum(-1, keepdim=True)


@MUTANTS("late_mask", "sums of the columns")
def late_columns(weights, mask):
    kept = weights * mask
    return kept / kept.sum(-2)[..., None, :]


@MUTANTS("late_mask", "the wrong way round")
def late_upside_down(weights, mask):
    kept = np.where(mask, 0, weights)
    return np.nan_to_num(kept / kept.sum(-1)[..., None])


@MUTANTS("late_mask", "softmax of weights. They")
def late_softmax_again(weights, mask):
    hidden = torch.tensor(weights).masked_fill(~torch.tensor(mask), float("-inf"))
    return hidden.softmax(-1)


@MUTANTS("late_mask", "with 0 for what is hidden")
def late_softmax_of_zeros(weights, mask):
    return torch.softmax(torch.tensor(weights * mask), -1)


@MUTANTS("late_mask", "equally among the keys")
def late_equal_shares(weights, mask):
    answer = np.zeros_like(weights)
    for at in np.ndindex(weights.shape[:-1]):
        seen = mask[at[-1]]
        answer[at][seen] = weights[at][seen] + weights[at][~seen].sum() / max(seen.sum(), 1)
    return answer


# --- weight_of_a_copy ----------------------------------------------------------------------------


@MUTANTS("weight_of_a_copy", "the weights without copies")
def copy_ignored(scores, times):
    return torch.softmax(torch.tensor(scores), -1)


@MUTANTS("weight_of_a_copy", "take from all other keys")
def copy_divided(scores, times):
    return torch.softmax(torch.tensor(scores), -1) / torch.tensor(times)


@MUTANTS("weight_of_a_copy", "does not make the score larger")
def copy_multiplied(scores, times):
    return torch.softmax(torch.tensor(scores * times), -1)


@MUTANTS("weight_of_a_copy", "all copies of a key get together")
def copy_together(scores, times):
    return torch.softmax(torch.tensor(scores) + torch.tensor(times).log(), -1)


@MUTANTS("weight_of_a_copy", "count as log n")
def copy_added(scores, times):
    return torch.softmax(torch.tensor(scores + times), -1)


@MUTANTS("weight_of_a_copy", "the sum over everything")
def copy_one_sum(scores, times):
    powers = np.exp(scores - np.max(scores))
    return powers / np.sum(powers * times)


@MUTANTS("weight_of_a_copy", "exp overflows")
def copy_overflow(scores, times):
    powers = np.exp(scores)
    return powers / (powers * times).sum(-1)[..., None]


# --- influence -----------------------------------------------------------------------------------


@MUTANTS("influence", "You gave back the weights")
def influence_is_weight(weights, value):
    return weights.copy()


@MUTANTS("influence", "length of weight times value")
def influence_is_norm(weights, value):
    return [w * np.sqrt((v**2).sum()) for w, v in zip(weights, value, strict=True)]


@MUTANTS("influence", "share the weight among the others")
def influence_not_rescaled(weights, value):
    output = np.einsum("k,kd->d", weights, value)
    return weights * np.sqrt(((value - output) ** 2).sum(1))


@MUTANTS("influence", "sizes of the coordinates")
def influence_by_sizes(weights, value):
    return [np.abs(move).sum() for move in moves(weights, value)]


@MUTANTS("influence", "The root is missing")
def influence_squared(weights, value):
    return [move @ move for move in moves(weights, value)]


@MUTANTS("influence", "the outputs without each key")
def influence_is_what_is_left(weights, value):
    return [np.linalg.norm(move + weights @ value) for move in moves(weights, value)]


@MUTANTS("influence", "distance from each value to the output")
def influence_is_distance(weights, value):
    return np.linalg.norm(value - (weights[:, None] * value).sum(0), axis=1)


def moves(weights, value):
    """In a loop: the output without each key, less the output."""
    found = []
    for j in range(len(weights)):
        rest = np.delete(weights, j)
        found.append(rest @ np.delete(value, j, axis=0) / rest.sum() - weights @ value)
    return found

"""Wrong answers to the exercises of chapter 12."""

import numpy as np
import torch

from mutants import Mutants

MUTANTS = Mutants()


# --- first_share ---------------------------------------------------------------------------------


@MUTANTS("first_share", "Leave it out")
def first_with_its_own(weights):
    return torch.tensor(weights)[..., 0].mean(-1)


@MUTANTS("first_share", "Keys are columns")
def first_row(weights):
    return [head[0, 1:].mean() for head in weights]


@MUTANTS("first_share", "added the weights up")
def first_summed(weights):
    return np.einsum("hq->h", weights[:, 1:, 0])


@MUTANTS("first_share", "averaged over the heads")
def first_of_all_heads(weights):
    return sum(head[1:, 0] for head in weights) / len(weights)


@MUTANTS("first_share", "divided by all queries")
def first_over_all_queries(weights):
    return [sum(row[0] for row in head[1:]) / len(head) for head in weights]


@MUTANTS("first_share", "the largest weight")
def first_largest(weights):
    return [max(row[0] for row in head[1:]) for head in weights]


# --- previous_share ------------------------------------------------------------------------------


def at(head, offset, start=0):
    places = range(max(start, 0), len(head))
    return [head[q, q + offset] for q in places if q + offset < len(head)]


@MUTANTS("previous_share", "That is the next token")
def previous_is_next(weights):
    return [np.mean(at(head, 1)) for head in weights]


@MUTANTS("previous_share", "on itself")
def previous_is_own(weights):
    return [np.trace(head) / len(head) for head in weights]


@MUTANTS("previous_share", "counted the first query as 0")
def previous_over_all(weights):
    return [sum(at(head, -1, 1)) / len(head) for head in weights]


@MUTANTS("previous_share", "added the weights up")
def previous_summed(weights):
    return [sum(at(head, -1, 1)) for head in weights]


@MUTANTS("previous_share", "counts from the end")
def previous_from_the_end(weights):
    return [np.mean(at(head, -1)) for head in weights]


@MUTANTS("previous_share", "how often the previous token")
def previous_counted(weights):
    best = torch.tensor(weights).argmax(-1)[:, 1:]
    return (best == torch.arange(best.shape[1])).double().mean(-1)


# --- without_first -------------------------------------------------------------------------------


def masked(scores, hidden):
    hidden = torch.tensor(hidden)
    return torch.tensor(scores).masked_fill(hidden, -torch.inf).softmax(-1)


def later(scores):
    return np.triu(np.ones(scores.shape, bool), 1)


@MUTANTS("without_first", "The rows no longer sum to 1")
def without_after_the_softmax(scores):
    weights = masked(scores, later(scores))
    weights[1:, 0] = 0
    return weights


@MUTANTS("without_first", "A score of 0 hides nothing")
def without_zero(scores):
    scores[1:, 0] = 0
    return masked(scores, later(scores))


@MUTANTS("without_first", "hid the first token from itself too")
def without_for_all(scores):
    hidden = later(scores)
    hidden[:, 0] = True
    return masked(scores, hidden)


@MUTANTS("without_first", "The causal mask is missing")
def without_a_mask(scores):
    hidden = np.zeros(scores.shape, bool)
    hidden[1:, 0] = True
    return masked(scores, hidden)


@MUTANTS("without_first", "You hid nothing")
def without_nothing(scores):
    return masked(scores, later(scores))


@MUTANTS("without_first", "left nothing of the others")
def without_less_the_largest_of_all(scores):
    """Stable, it seems; but the largest score of the row may be one that is hidden."""
    allowed = np.tri(len(scores), dtype=bool)
    allowed[1:, 0] = False
    powers = np.where(allowed, np.exp(scores - scores.max(axis=1, keepdims=True)), 0)
    with np.errstate(invalid="ignore"):
        return powers / powers.sum(axis=1, keepdims=True)


@MUTANTS("without_first", "left nothing of the others")
def without_by_dividing(scores):
    """Weights taken away after the softmax, and the rows divided again."""
    weights = without_after_the_softmax(scores)
    return weights / weights.sum(-1, keepdim=True)


# --- follow_share --------------------------------------------------------------------------------


@MUTANTS("follow_share", "counted the other noun")
def follow_the_other(weights, right):
    lead = weights[range(len(right)), 1 - right] - weights[range(len(right)), right]
    return ((lead > 0) + 0.5 * (lead == 0)).mean(0)


@MUTANTS("follow_share", "how often the first noun")
def follow_the_first(weights, right):
    lead = weights[:, 0] - weights[:, 1]
    return ((lead > 0) + 0.5 * (lead == 0)).mean(0)


@MUTANTS("follow_share", "the mean weight on the right noun")
def follow_by_weight(weights, right):
    return sum(pair[noun] for pair, noun in zip(weights, right, strict=True)) / len(right)


@MUTANTS("follow_share", "a weight above one half")
def follow_above_half(weights, right):
    on_it = np.array([pair[noun] for pair, noun in zip(weights, right, strict=True)])
    return (on_it > 0.5).mean(0)


@MUTANTS("follow_share", "A tie counts one half")
def follow_without_ties(weights, right):
    on_it = np.array([pair[noun] for pair, noun in zip(weights, right, strict=True)])
    return (on_it > weights.sum(1) - on_it).mean(0)


@MUTANTS("follow_share", "averaged over the heads")
def follow_over_heads(weights, right):
    rows = range(len(right))
    lead = weights[rows, right] - weights[rows, 1 - right]
    return ((lead > 0) + 0.5 * (lead == 0)).mean(1)


@MUTANTS("follow_share", "Divide by how many there are")
def follow_counted(weights, right):
    rows = range(len(right))
    lead = weights[rows, right] - weights[rows, 1 - right]
    return ((lead > 0) + 0.5 * (lead == 0)).sum(0)

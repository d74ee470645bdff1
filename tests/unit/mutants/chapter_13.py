"""Wrong answers to the exercises of chapter 13."""

import numpy as np
import torch

from mutants import Mutants

MUTANTS = Mutants()

# --- output_without ------------------------------------------------------------------------------


def contribution(z, w_o, head):
    """What one head adds to the output."""
    d_head = z.shape[2]
    return z[head] @ w_o[head * d_head : (head + 1) * d_head]


@MUTANTS("output_without", "gone is True where a head is out")
def output_of_the_gone(z, w_o, gone):
    return sum(contribution(z, w_o, h) for h in range(len(z)) if gone[h])


@MUTANTS("output_without", "the whole output")
def output_whole(z, w_o, gone):
    return np.concatenate(list(z), axis=1) @ w_o


@MUTANTS("output_without", "as dropout does")
def output_scaled(z, w_o, gone):
    kept = [h for h in range(len(z)) if not gone[h]]
    return sum(contribution(z, w_o, h) for h in kept) * len(z) / len(kept)


@MUTANTS("output_without", "the mean over the heads")
def output_mean(z, w_o, gone):
    return np.mean([contribution(z, w_o, h) for h in range(len(z)) if not gone[h]], axis=0)


@MUTANTS("output_without", "rows of W_O are cut wrongly")
def output_with_rows_in_turn(z, w_o, gone):
    heads = len(z)
    return sum(z[h] @ w_o[h::heads] for h in range(heads) if not gone[h])


@MUTANTS("output_without", "Add them up")
def output_apart(z, w_o, gone):
    return torch.stack(
        [torch.tensor(contribution(z, w_o, h)) for h in range(len(z)) if not gone[h]]
    )


# --- importance ----------------------------------------------------------------------------------


def slopes(z, gradient):
    """One slope for each text and head, in loops."""
    texts, _, heads, _ = z.shape
    return np.array(
        [[np.vdot(z[t, :, h], gradient[t, :, h]) for h in range(heads)] for t in range(texts)]
    )


@MUTANTS("importance", "the absolute value after the mean")
def importance_of_the_mean(z, gradient):
    return abs(slopes(z, gradient).mean(0))


@MUTANTS("importance", "absolute value of each number before adding")
def importance_of_numbers(z, gradient):
    product = torch.tensor(z * gradient).abs()
    return product.sum(dim=(1, 3)).mean(0)


@MUTANTS("importance", "The absolute value is missing")
def importance_signed(z, gradient):
    return slopes(z, gradient).mean(0)


@MUTANTS("importance", "multiplies it by z")
def importance_without_z(z, gradient):
    return abs(slopes(np.ones_like(z), gradient)).mean(0)


@MUTANTS("importance", "added up the texts")
def importance_summed(z, gradient):
    return sum(abs(row) for row in slopes(z, gradient))


@MUTANTS("importance", "the mean over tokens and numbers")
def importance_of_means(z, gradient):
    return abs(slopes(z, gradient)).mean(0) / (z.shape[1] * z.shape[3])


# --- prefix_matching -----------------------------------------------------------------------------


def after_copies(tokens, shift=1):
    """For each query, the places next to the earlier copies of its token."""
    tokens = list(tokens)
    return [
        [p + shift for p in range(q) if tokens[p] == tokens[q] and p + shift >= 0]
        for q in range(len(tokens))
    ]


def repeats(tokens):
    return [q for q, places in enumerate(after_copies(tokens)) if places]


@MUTANTS("prefix_matching", "earlier copies themselves")
def matching_of_copies(weights, tokens):
    places = after_copies(tokens, 0)
    return np.mean([sum(weights[q][p] for p in places[q]) for q in repeats(tokens)])


@MUTANTS("prefix_matching", "the place before the copy")
def matching_before(weights, tokens):
    places = after_copies(tokens, -1)
    return np.mean([sum(weights[q][p] for p in places[q]) for q in repeats(tokens)])


@MUTANTS("prefix_matching", "whose token is new as 0")
def matching_of_every_query(weights, tokens):
    return np.mean(
        [sum(weights[q][p] for p in places) for q, places in enumerate(after_copies(tokens))]
    )


@MUTANTS("prefix_matching", "Only the latest copy")
def matching_of_the_latest(weights, tokens):
    places = after_copies(tokens)
    return np.mean([weights[q][places[q][-1]] for q in repeats(tokens)])


@MUTANTS("prefix_matching", "the mean over the copies")
def matching_mean(weights, tokens):
    places = after_copies(tokens)
    return np.mean([np.mean(weights[q][places[q]]) for q in repeats(tokens)])


@MUTANTS("prefix_matching", "added up over the queries")
def matching_sum(weights, tokens):
    places = after_copies(tokens)
    return sum(weights[q][p] for q in repeats(tokens) for p in places[q])


# --- interaction ---------------------------------------------------------------------------------


def added(single, members):
    return np.array([sum(single[members[k]]) for k in range(len(members))])


@MUTANTS("interaction", "The sign is the wrong way round")
def interaction_turned(single, joint, members):
    return added(single, members) - joint


@MUTANTS("interaction", "Subtract it from the joint effect")
def interaction_is_the_sum(single, joint, members):
    return members @ single


@MUTANTS("interaction", "sum over all heads")
def interaction_of_all(single, joint, members):
    return torch.tensor(joint) - torch.tensor(single).sum()


@MUTANTS("interaction", "the mean of the members' effects")
def interaction_mean(single, joint, members):
    return [j - np.mean(single[row]) for j, row in zip(joint, members, strict=True)]


@MUTANTS("interaction", "the largest single effect")
def interaction_largest(single, joint, members):
    return [j - max(single[row]) for j, row in zip(joint, members, strict=True)]


@MUTANTS("interaction", "dropped the effects below 0")
def interaction_of_harm_only(single, joint, members):
    return joint - added(np.where(single > 0, single, 0), members)

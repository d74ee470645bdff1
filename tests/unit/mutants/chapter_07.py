"""Wrong answers to the exercises of chapter 7."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import LOST_DIGITS, columns, rows

MUTANTS = Mutants()
INF = float("inf")


def shared(powers):
    return powers / powers.sum(-1)[..., None]


# --- causal_weights ------------------------------------------------------------------------------


@MUTANTS("causal_weights", "without a mask")
def causal_forgotten(scores):
    return torch.softmax(torch.tensor(scores), -1)


@MUTANTS("causal_weights", "You masked after softmax: the rows")
def causal_after(scores):
    return np.tril(rows(scores))


@MUTANTS("causal_weights", "a score of 0 is not a weight of 0")
def causal_zero_scores(scores):
    return rows(np.tril(scores))


@MUTANTS("causal_weights", "the wrong way round")
def causal_upper(scores):
    hidden = torch.ones(scores.shape[-2:]).tril(-1).bool()
    return torch.tensor(scores).masked_fill(hidden, -INF).softmax(-1)


@MUTANTS("causal_weights", "You hid the diagonal as well")
def causal_strict(scores):
    hidden = torch.ones(scores.shape[-2:]).triu().bool()
    return torch.tensor(scores).masked_fill(hidden, -INF).softmax(-1)


@MUTANTS("causal_weights", "one place too wide")
def causal_one_ahead(scores):
    hidden = torch.ones(scores.shape[-2:]).triu(2).bool()
    return torch.tensor(scores).masked_fill(hidden, -INF).softmax(-1)


@MUTANTS("causal_weights", "hides nothing")
def causal_added_ones(scores):
    return rows(scores + np.tril(np.ones_like(scores)))


@MUTANTS("causal_weights", "over the queries")
def causal_columns(scores):
    seen = np.tril(np.ones_like(scores))
    return columns(np.where(seen == 1, scores, -1e300))


@MUTANTS("causal_weights", "is finite")
def causal_minus_thousand(scores):
    hidden = np.triu(np.ones_like(scores), 1).astype(bool)
    return rows(np.where(hidden, -1000.0, scores))


@MUTANTS("causal_weights", "divided by what was left")
def causal_after_rescaled(scores):
    return shared(np.tril(torch.softmax(torch.tensor(scores), -1).numpy()))


@MUTANTS("causal_weights", "exp overflows")
def causal_overflow(scores):
    return shared(np.exp(np.where(np.tril(np.ones_like(scores)) > 0, scores, -INF)))


@MUTANTS("causal_weights", "for a matrix only")
def causal_len(scores):
    seen = np.tri(len(scores), dtype=bool)
    return rows(np.where(seen, scores, -np.inf))


@MUTANTS("causal_weights", LOST_DIGITS)
def causal_single(scores):
    hidden = torch.ones(scores.shape[-2:]).triu(1).bool()
    return torch.tensor(scores).float().masked_fill(hidden, -INF).softmax(-1)


# --- next_tokens ---------------------------------------------------------------------------------


@MUTANTS("next_tokens", "not shifted")
def tokens_as_they_are(tokens):
    return [[-100 if token == 0 else token for token in row] for row in tokens.tolist()]


@MUTANTS("next_tokens", "Shifted the wrong way")
def tokens_before(tokens):
    moved = [[-100, *row[:-1]] for row in tokens.tolist()]
    return [[token or -100 for token in row] for row in moved]


@MUTANTS("next_tokens", "np.roll brings the first token round to the end")
def tokens_rolled(tokens):
    rolled = np.roll(tokens, -1, 1)
    rolled[rolled == 0] = -100
    return rolled


@MUTANTS("next_tokens", "Padding is still a target")
def tokens_with_padding(tokens):
    return np.array([[*row[1:], -100] for row in tokens.tolist()])


@MUTANTS("next_tokens", "in the inputs")
def tokens_by_input(tokens):
    targets = np.array([[*row[1:], -100] for row in tokens.tolist()])
    targets[tokens == 0] = -100
    return targets


@MUTANTS("next_tokens", "by two places")
def tokens_after_next(tokens):
    return [[token or -100 for token in (*row[2:], 0, 0)] for row in tokens.tolist()]


@MUTANTS("next_tokens", "One place is missing")
def tokens_shorter(tokens):
    return [[token or -100 for token in row[1:]] for row in tokens.tolist()]


@MUTANTS("next_tokens", "leaves out the first sentence")
def tokens_first_axis(tokens):
    return tokens[1:]


# --- chunk_weights -------------------------------------------------------------------------------


def chunk(scores, k):
    seen = torch.ones(scores.shape[-2:]).tril(k).bool()
    return torch.tensor(scores).masked_fill(~seen, -INF).softmax(-1)


@MUTANTS("chunk_weights", "without a mask")
def chunk_forgotten(scores):
    return rows(scores)


@MUTANTS("chunk_weights", "lined up top-left")
def chunk_top_left(scores):
    return chunk(scores, 0)


@MUTANTS("chunk_weights", "moved left, not right")
def chunk_wrong_sign(scores):
    return chunk(scores, scores.shape[-2] - scores.shape[-1])


@MUTANTS("chunk_weights", "do not see themselves")
def chunk_strict(scores):
    return chunk(scores, scores.shape[-1] - scores.shape[-2] - 1)


@MUTANTS("chunk_weights", "see the token after them")
def chunk_one_ahead(scores):
    return chunk(scores, scores.shape[-1] - scores.shape[-2] + 1)


@MUTANTS("chunk_weights", "You masked after softmax")
def chunk_after(scores):
    return np.tril(rows(scores), scores.shape[-1] - scores.shape[-2])


@MUTANTS("chunk_weights", "a score of 0 is not a weight of 0")
def chunk_zero_scores(scores):
    return rows(np.tril(scores, scores.shape[-1] - scores.shape[-2]))


@MUTANTS("chunk_weights", "only keys of the chunk")
def chunk_without_cache(scores):
    n_queries = scores.shape[-2]
    weights = np.zeros_like(scores)
    own = scores[..., -n_queries:]
    weights[..., -n_queries:] = chunk(own, 0)
    return weights


@MUTANTS("chunk_weights", "This mask is square")
def chunk_square(scores):
    seen = np.tri(scores.shape[-1], dtype=bool)
    return rows(np.where(seen, scores, -np.inf))


@MUTANTS("chunk_weights", "The shift is a fixed number")
def chunk_of_one_size(scores):
    return chunk(scores, 2)


@MUTANTS("chunk_weights", "put in for what is hidden is finite")
def chunk_hundred(scores):
    seen = np.tri(*scores.shape[-2:], k=scores.shape[-1] - scores.shape[-2])
    return rows(np.where(seen, scores, -100))


@MUTANTS("chunk_weights", "divided by what was left")
def chunk_late(scores):
    kept = np.tril(rows(scores), scores.shape[-1] - scores.shape[-2])
    return kept / kept.sum(-1, keepdims=True)


@MUTANTS("chunk_weights", "exp overflows")
def chunk_overflow(scores):
    powers = np.tril(np.exp(scores), scores.shape[-1] - scores.shape[-2])
    return powers / powers.sum(-1, keepdims=True)


# --- padded_weights ------------------------------------------------------------------------------


@MUTANTS("padded_weights", "without a mask")
def padded_forgotten(scores, real):
    return rows(scores)


@MUTANTS("padded_weights", "You masked after softmax")
def padded_after(scores, real):
    return np.einsum("tqk,tk->tqk", rows(scores), real)


@MUTANTS("padded_weights", "a score of 0 is not a weight of 0")
def padded_zero_scores(scores, real):
    return rows(np.einsum("tqk,tk->tqk", scores, real))


@MUTANTS("padded_weights", "wrong way round: real is True")
def padded_inverted(scores, real):
    hidden = torch.tensor(real)[:, None]
    return torch.tensor(scores).masked_fill(hidden, -INF).softmax(-1)


@MUTANTS("padded_weights", "You hid queries, not keys")
def padded_queries(scores, real):
    return rows(np.where(real[:, :, np.newaxis], scores, -np.inf))


@MUTANTS("padded_weights", "lacks an axis for the queries")
def padded_without_axis(scores, real):
    return rows(np.where(real, scores, -np.inf))


@MUTANTS("padded_weights", "0 / 0, and NaN spreads")
def padded_nan(scores, real):
    hidden = ~torch.tensor(real)[:, None]
    return torch.tensor(scores).masked_fill(hidden, -INF).softmax(-1)


@MUTANTS("padded_weights", "equal weights for everything that is hidden")
def padded_billion(scores, real):
    return rows(np.where(real[:, None], scores, -1e9))


@MUTANTS("padded_weights", "divided by what was left")
def padded_late(scores, real):
    kept = np.einsum("tqk,tk->tqk", rows(scores), real)
    return kept / np.maximum(kept.sum(-1, keepdims=True), 1e-300)


@MUTANTS("padded_weights", "exp overflows")
def padded_overflow(scores, real):
    powers = np.where(real[:, None], np.exp(scores), 0)
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)

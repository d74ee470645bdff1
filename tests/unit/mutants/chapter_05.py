"""Wrong answers to the exercises of chapter 5."""

import numpy as np

from mutants import Mutants
from mutants._parts import HARD, NO_SCALE, ONLY_MATRICES, OVERFLOW, rows, weigh

MUTANTS = Mutants()

# --- cross_attention -----------------------------------------------------------------------------


@MUTANTS("cross_attention", "self-attention of x")
def cross_of_x(x, context, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k) @ (x @ w_v)


@MUTANTS("cross_attention", "self-attention of context")
def cross_of_context(x, context, w_q, w_k, w_v):
    return weigh(context @ w_q, context @ w_k) @ (context @ w_v)


@MUTANTS("cross_attention", "have changed places")
def cross_turned(x, context, w_q, w_k, w_v):
    return weigh(context @ w_q, x @ w_k) @ (x @ w_v)


@MUTANTS("cross_attention", "The values come from x")
def cross_mixes_x(x, context, w_q, w_k, w_v):
    return weigh(x @ w_q, context @ w_k) @ (x @ w_v)


@MUTANTS("cross_attention", "the keys come from x")
def cross_keys_of_x(x, context, w_q, w_k, w_v):
    return weigh(x @ w_q, x @ w_k) @ (context @ w_v)


@MUTANTS("cross_attention", "w_q and w_k are exchanged")
def cross_exchanged(x, context, w_q, w_k, w_v):
    return weigh(x @ w_k, context @ w_q) @ (context @ w_v)


@MUTANTS("cross_attention", NO_SCALE)
def cross_unscaled(x, context, w_q, w_k, w_v):
    return rows((x @ w_q) @ np.swapaxes(context @ w_k, -1, -2)) @ (context @ w_v)


@MUTANTS("cross_attention", "scaled by the width of x")
def cross_by_d_model(x, context, w_q, w_k, w_v):
    scores = (x @ w_q) @ np.swapaxes(context @ w_k, -1, -2)
    return rows(scores / x.shape[-1] ** 0.5) @ (context @ w_v)


@MUTANTS("cross_attention", OVERFLOW)
def cross_overflows(x, context, w_q, w_k, w_v):
    e = np.exp((x @ w_q) @ np.swapaxes(context @ w_k, -1, -2) / w_k.shape[-1] ** 0.5)
    return e / e.sum(axis=-1, keepdims=True) @ (context @ w_v)


@MUTANTS("cross_attention", ONLY_MATRICES)
def cross_of_matrices(x, context, w_q, w_k, w_v):
    return rows((x @ w_q) @ (context @ w_k).T / w_k.shape[-1] ** 0.5) @ (context @ w_v)


@MUTANTS("cross_attention", HARD)
def cross_of_the_best(x, context, w_q, w_k, w_v):
    return (context @ w_v)[((x @ w_q) @ (context @ w_k).T).argmax(axis=-1)]


# --- two_in_one_mask -----------------------------------------------------------------------------


@MUTANTS("two_in_one_mask", "polarity is the wrong way round")
def two_blocked(a, b):
    return np.arange(a + b) < np.full((a + b, 1), a)


@MUTANTS("two_in_one_mask", "Rows and columns are exchanged")
def two_rows(a, b):
    mask = np.zeros((a + b, a + b), dtype=bool)
    mask[a:] = True
    return mask


@MUTANTS("two_in_one_mask", "The tokens that answer see nobody")
def two_rectangle(a, b):
    mask = np.zeros((a + b, a + b), dtype=bool)
    mask[:a, a:] = True
    return mask


@MUTANTS("two_in_one_mask", "The tokens that ask see nobody")
def two_corner(a, b):
    mask = np.zeros((a + b, a + b), dtype=bool)
    mask[a:, a:] = True
    return mask


@MUTANTS("two_in_one_mask", "two self-attentions side by side")
def two_blocks(a, b):
    side = np.array([0] * int(a) + [1] * int(b))
    return side[:, None] == side


@MUTANTS("two_in_one_mask", "Everybody sees everybody")
def two_everything(a, b):
    return np.ones((a + b, a + b), dtype=bool)


@MUTANTS("two_in_one_mask", "This is the rectangle alone")
def two_not_square(a, b):
    return np.full((a, b), True)


# --- key_padding_mask ----------------------------------------------------------------------------


@MUTANTS("key_padding_mask", "True stands at the tokens")
def padding_as_here(lengths):
    return np.array([[place < n for place in range(max(lengths))] for n in lengths])


@MUTANTS("key_padding_mask", "The last token of each sequence counts as padding")
def padding_early(lengths):
    return np.array([[place + 1 >= n for place in range(max(lengths))] for n in lengths])


@MUTANTS("key_padding_mask", "The first place of padding is left out")
def padding_late(lengths):
    return np.array([[place > n for place in range(max(lengths))] for n in lengths])


@MUTANTS("key_padding_mask", "Padding stands on the left")
def padding_left(lengths):
    longest = max(lengths)
    return np.array([[True] * (longest - n) + [False] * n for n in lengths])


@MUTANTS("key_padding_mask", "a column too many")
def padding_wide(lengths):
    return np.array([[place >= n for place in range(max(lengths) + 1)] for n in lengths])


@MUTANTS("key_padding_mask", "Rows and columns are exchanged")
def padding_turned(lengths):
    return np.array([[place >= n for n in lengths] for place in range(max(lengths))])


# --- agreement -----------------------------------------------------------------------------------


@MUTANTS("agreement", "count as misses")
def agreement_of_all(weights, alignment):
    return np.take_along_axis(alignment, weights.argmax(-1)[..., None], -1).mean()


@MUTANTS("agreement", "the weight on the right places")
def agreement_of_mass(weights, alignment):
    return weights[alignment].sum() / alignment.any(-1).sum()


@MUTANTS("agreement", "largest weight of each column")
def agreement_of_columns(weights, alignment):
    hit = np.take_along_axis(alignment, weights.argmax(1)[:, None], 1)[:, 0]
    return hit[alignment.any(1)].mean()


@MUTANTS("agreement", "first right place only")
def agreement_of_first(weights, alignment):
    pairs = zip(weights.reshape(-1, weights.shape[-1]), np.concatenate(alignment), strict=True)
    return np.mean([w.argmax() == a.argmax() for w, a in pairs if a.any()])


@MUTANTS("agreement", "This is the number of hits")
def agreement_as_count(weights, alignment):
    return np.take_along_axis(alignment, weights.argmax(-1)[..., None], -1).sum()


@MUTANTS("agreement", "divided by the number of right places")
def agreement_by_places(weights, alignment):
    hit = np.take_along_axis(alignment, weights.argmax(-1)[..., None], -1)
    return hit.sum() / alignment.sum()


@MUTANTS("agreement", "mean of each sequence first")
def agreement_of_means(weights, alignment):
    hit = np.take_along_axis(alignment, weights.argmax(-1)[..., None], -1)[..., 0]
    return np.mean(hit.sum(-1) / alignment.any(-1).sum(-1))

"""Wrong answers to the exercises of chapter 6."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import NO_SCALE, rows, weigh

MUTANTS = Mutants()


def cut(x, n_heads):
    """The heads of x, (..., head, token, d_head), cut out one by one."""
    width = x.shape[-1] // n_heads
    return np.stack([x[..., h * width : (h + 1) * width] for h in range(n_heads)], axis=-3)


def lay(z):
    """The heads of z side by side."""
    return np.concatenate([z[..., h, :, :] for h in range(z.shape[-3])], axis=-1)


# --- split_heads ---------------------------------------------------------------------------------


@MUTANTS("split_heads", "cuts the numbers in the order in which they lie in memory")
def split_by_reshape_alone(x, n_heads):
    *batch, time, width = x.shape
    return x.reshape(*batch, n_heads, time, width // n_heads)


@MUTANTS("split_heads", "The head axis comes after the tokens")
def split_not_swapped(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-2)


@MUTANTS("split_heads", "every n-th column")
def split_every_nth(x, n_heads):
    return np.stack([x[..., h::n_heads] for h in range(n_heads)], axis=-3)


@MUTANTS("split_heads", "parts of n_heads columns")
def split_into_wrong_widths(x, n_heads):
    return cut(x, x.shape[-1] // n_heads)


@MUTANTS("split_heads", "Every head has all columns")
def split_by_repeating(x, n_heads):
    return np.repeat(x[..., None, :, :], n_heads, axis=-3)


@MUTANTS("split_heads", "before the batch")
def split_with_heads_first(x, n_heads):
    return np.array_split(x, int(n_heads), axis=-1)


@MUTANTS("split_heads", "You count on a matrix")
def split_for_matrices(x, n_heads):
    return np.reshape(x, (len(x), n_heads, -1)).transpose(1, 0, 2)


@MUTANTS("split_heads", "digits were lost")
def split_in_half_precision(x, n_heads):
    return torch.tensor(cut(x, n_heads)).half()


# --- merge_heads ---------------------------------------------------------------------------------


@MUTANTS("merge_heads", "without swapping back")
def merge_by_reshape_alone(z):
    *batch, n_heads, time, d_head = z.shape
    return z.reshape(*batch, time, n_heads * d_head)


@MUTANTS("merge_heads", "are shuffled")
def merge_shuffled(z):
    together = np.stack([z[..., h, :, :] for h in range(z.shape[-3])], axis=-1)
    return together.reshape(*together.shape[:-2], -1)


@MUTANTS("merge_heads", "You added the heads up")
def merge_by_adding(z):
    return np.einsum("...htd->...td", z)


@MUTANTS("merge_heads", "You averaged the heads")
def merge_by_averaging(z):
    return torch.tensor(z).mean(dim=-3)


@MUTANTS("merge_heads", "below one another")
def merge_below(z):
    return np.concatenate([z[..., h, :, :] for h in range(z.shape[-3])], axis=-2)


@MUTANTS("merge_heads", "still apart")
def merge_not_joined(z):
    return np.moveaxis(z, -3, -2)


@MUTANTS("merge_heads", "in front it is the batch")
def merge_over_the_batch(z):
    return np.concatenate([head for head in z], axis=-1)  # noqa: C416


# --- head_contributions --------------------------------------------------------------------------


@MUTANTS("head_contributions", "That is their sum")
def share_summed(z, w_o):
    return lay(z) @ w_o


@MUTANTS("head_contributions", "first rows of W_O")
def share_first_rows(z, w_o):
    return np.einsum("...htd,dm->...htm", z, w_o[: z.shape[-1]])


@MUTANTS("head_contributions", "last rows of W_O")
def share_last_rows(z, w_o):
    return np.matmul(z, w_o[len(w_o) - z.shape[-1] :])


@MUTANTS("head_contributions", "every n-th row")
def share_interleaved(z, w_o):
    return z @ np.swapaxes(w_o.reshape(z.shape[-1], z.shape[-3], -1), 0, 1)


@MUTANTS("head_contributions", "added, not averaged")
def share_averaged(z, w_o):
    parts = cut(w_o.T, z.shape[-3])
    return np.einsum("...htd,hmd->...htm", z, parts) / z.shape[-3]


@MUTANTS("head_contributions", "W_O is transposed here")
def share_transposed(z, w_o):
    w_o = w_o.T.copy().reshape(w_o.shape)
    return np.einsum("...htd,hmd->...htm", z, cut(w_o.T, z.shape[-3]))


# --- multi_head_attention ------------------------------------------------------------------------


@MUTANTS("multi_head_attention", "one head of full width")
def multi_single(x, w_q, w_k, w_v, w_o, n_heads):
    return weigh(x @ w_q, x @ w_k) @ x @ w_v @ w_o


@MUTANTS("multi_head_attention", "scaled by the square root of d_model")
def multi_full_scale(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (cut(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return lay(weigh(q / n_heads**0.5, k) @ v) @ w_o


@MUTANTS("multi_head_attention", NO_SCALE)
def multi_unscaled(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (cut(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return lay(rows(np.einsum("...hqd,...hkd->...hqk", q, k)) @ v) @ w_o


@MUTANTS("multi_head_attention", "W_O is missing")
def multi_without_w_o(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (cut(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return lay(weigh(q, k) @ v)


@MUTANTS("multi_head_attention", "Queries and keys are exchanged")
def multi_exchanged(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (cut(x @ w, n_heads) for w in (w_k, w_q, w_v))
    return lay(weigh(q, k) @ v) @ w_o


@MUTANTS("multi_head_attention", "Softmax runs over the heads")
def multi_over_heads(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (torch.tensor(cut(x @ w, n_heads)) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return torch.tensor(lay((scores.softmax(dim=-3) @ v).numpy())) @ torch.tensor(w_o)


@MUTANTS("multi_head_attention", "every n-th column")
def multi_interleaved(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_every_nth(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return lay(weigh(q, k) @ v) @ w_o


@MUTANTS("multi_head_attention", "cuts the numbers in the order")
def multi_reshaped(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_by_reshape_alone(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return lay(weigh(q, k) @ v) @ w_o


@MUTANTS("multi_head_attention", "without swapping back")
def multi_badly_merged(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (cut(x @ w, n_heads) for w in (w_q, w_k, w_v))
    return merge_by_reshape_alone(weigh(q, k) @ v) @ w_o

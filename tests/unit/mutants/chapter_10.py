"""Wrong answers to the exercises of chapter 10."""

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import NO_SCALE, rows, weigh

MUTANTS = Mutants()

# --- repeat_kv -----------------------------------------------------------------------------------


@MUTANTS("repeat_kv", "0 1 2 0 1 2")
def repeat_by_tile(kv, n_heads):
    copies = n_heads // kv.shape[-3]
    return np.tile(kv, (*[1] * (kv.ndim - 3), copies, 1, 1))


@MUTANTS("repeat_kv", "0 1 2 0 1 2")
def repeat_by_torch_repeat(kv, n_heads):
    kv = torch.tensor(kv)
    expanded = kv.unsqueeze(-4).expand(*kv.shape[:-3], int(n_heads) // kv.shape[-3], *kv.shape[-3:])
    return expanded.flatten(-4, -3)


@MUTANTS("repeat_kv", "third axis from the end")
def repeat_the_batch(kv, n_heads):
    return torch.tensor(kv).repeat_interleave(int(n_heads) // len(kv), dim=0)


@MUTANTS("repeat_kv", "n_heads times")
def repeat_too_often(kv, n_heads):
    return np.stack([kv] * int(n_heads), axis=-3).reshape(*kv.shape[:-3], -1, *kv.shape[-2:])


@MUTANTS("repeat_kv", "You repeated the tokens")
def repeat_the_tokens(kv, n_heads):
    return torch.tensor(kv).repeat_interleave(int(n_heads) // kv.shape[-3], dim=-2)


@MUTANTS("repeat_kv", "numbers inside a head")
def repeat_the_numbers(kv, n_heads):
    copies = int(n_heads) // kv.shape[-3]
    return np.stack([kv] * copies, axis=-1).reshape(*kv.shape[:-1], -1)


@MUTANTS("repeat_kv", "Every query head got the first")
def repeat_only_the_first(kv, n_heads):
    return np.stack([kv[..., 0, :, :] for _ in range(n_heads)], axis=-3)


@MUTANTS("repeat_kv", "as they came")
def repeat_nothing(kv, n_heads):
    return kv.copy()


# --- kv_cache_bytes ------------------------------------------------------------------------------


@MUTANTS("kv_cache_bytes", "factor 2 is missing")
def bytes_of_keys(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return int(np.prod([n_layers, n_kv_heads, d_head, n_tokens, bytes_per_number]))


@MUTANTS("kv_cache_bytes", "You counted the query heads")
def bytes_of_query_heads(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    d_model = n_heads * d_head
    return n_layers * n_tokens * (d_model + d_model) * bytes_per_number


@MUTANTS("kv_cache_bytes", "one layer")
def bytes_of_a_layer(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return n_tokens * 2 * n_kv_heads * d_head * bytes_per_number


@MUTANTS("kv_cache_bytes", "not bytes")
def bytes_uncounted(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return sum(2 * n_tokens * n_kv_heads * d_head for _ in range(n_layers))


@MUTANTS("kv_cache_bytes", "one token")
def bytes_of_a_token(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return bytes_per_number * (n_kv_heads * d_head * n_layers) * 2


@MUTANTS("kv_cache_bytes", "square of the tokens")
def bytes_of_a_square(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens**2 * bytes_per_number


@MUTANTS("kv_cache_bytes", "bits")
def bytes_as_bits(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * (8 * bytes_per_number)


# --- cached_step ---------------------------------------------------------------------------------


def with_row(rows_before, row):
    return np.concatenate([rows_before, row[..., None, :]], axis=-2)


def attend(query, keys, values):
    return np.einsum("...k,...kd->...d", weigh(query[..., None, :], keys)[..., 0, :], values)


@MUTANTS("cached_step", "does not see itself")
def step_without_itself(x, keys, values, w_q, w_k, w_v):
    return attend(x @ w_q, keys, values)


@MUTANTS("cached_step", NO_SCALE)
def step_unscaled(x, keys, values, w_q, w_k, w_v):
    keys, values = with_row(keys, x @ w_k), with_row(values, x @ w_v)
    scores = np.einsum("...d,...kd->...k", x @ w_q, keys)
    return np.einsum("...k,...kd->...d", rows(scores), values)


@MUTANTS("cached_step", "Keys and values are exchanged")
def step_exchanged(x, keys, values, w_q, w_k, w_v):
    return attend(x @ w_q, with_row(values, x @ w_v), with_row(keys, x @ w_k))


@MUTANTS("cached_step", "newest token alone")
def step_alone(x, keys, values, w_q, w_k, w_v):
    return torch.tensor(x) @ torch.tensor(w_v)


@MUTANTS("cached_step", "an axis too many")
def step_with_an_axis(x, keys, values, w_q, w_k, w_v):
    keys, values = with_row(keys, x @ w_k), with_row(values, x @ w_v)
    return weigh((x @ w_q)[..., None, :], keys) @ values


@MUTANTS("cached_step", "You averaged the values")
def step_by_averaging(x, keys, values, w_q, w_k, w_v):
    values = with_row(values, x @ w_v)
    return values.sum(axis=-2) / values.shape[-2]


@MUTANTS("cached_step", "but not its value")
def step_without_its_value(x, keys, values, w_q, w_k, w_v):
    keys = with_row(keys, x @ w_k)
    return (weigh((x @ w_q)[..., None, :], keys) @ values)[..., 0, :]


# --- merge_heads_of_groups -----------------------------------------------------------------------


@MUTANTS("merge_heads_of_groups", "every n-th head")
def merge_every_nth(heads, n_left):
    return heads.reshape(-1, int(n_left), *heads.shape[1:]).mean(axis=0)


@MUTANTS("merge_heads_of_groups", "added the heads of a group up")
def merge_by_sum(heads, n_left):
    return np.stack([part.sum(axis=0) for part in np.split(heads, n_left)])


@MUTANTS("merge_heads_of_groups", "kept the first head of each group")
def merge_by_the_first(heads, n_left):
    return torch.tensor(heads).unflatten(0, (int(n_left), -1))[:, 0]


@MUTANTS("merge_heads_of_groups", "kept the first n_left heads")
def merge_first_heads(heads, n_left):
    return np.split(heads, len(heads) // n_left)[0]


@MUTANTS("merge_heads_of_groups", "into one and copied it")
def merge_all(heads, n_left):
    return np.stack([np.add.reduce(heads) / len(heads)] * int(n_left))


@MUTANTS("merge_heads_of_groups", "The groups have n_left heads each")
def merge_wrong_groups(heads, n_left):
    return np.stack([part.mean(axis=0) for part in np.split(heads, len(heads) // n_left)])


@MUTANTS("merge_heads_of_groups", "leave keepdims out")
def merge_keeping_the_axis(heads, n_left):
    return np.array([part.mean(axis=0, keepdims=True) for part in np.split(heads, n_left)])

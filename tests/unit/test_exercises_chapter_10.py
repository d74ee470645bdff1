"""Chapter 10: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mutants import chapter_10 as mutants_10

from minitransformer import reference
from minitransformer.costs import cache_bytes
from minitransformer.exercises import chapter_10


# --- repeat_kv
def repeat_by_torch(kv, n_heads):
    return torch.tensor(kv).repeat_interleave(int(n_heads) // kv.shape[-3], dim=-3)


def repeat_by_index(kv, n_heads):
    return kv[..., np.arange(n_heads) * kv.shape[-3] // n_heads, :, :]


def repeat_by_expanding(kv, n_heads):
    *batch, n_kv_heads, time, d_head = kv.shape
    shape = (*batch, n_kv_heads, n_heads // n_kv_heads, time, d_head)
    return np.broadcast_to(kv[..., None, :, :], shape).reshape(*batch, n_heads, time, d_head)


# --- kv_cache_bytes
def bytes_by_an_array(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    keys = np.zeros((n_layers, n_kv_heads, n_tokens, d_head), dtype=f"f{bytes_per_number}")
    return keys.nbytes + keys.nbytes


def bytes_by_adding(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    of_a_token = n_kv_heads * d_head * bytes_per_number * 2
    return float(sum(of_a_token for _ in range(n_layers)) * n_tokens)


def bytes_by_groups(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bytes_per_number):
    unshared = 2 * n_layers * n_heads * d_head * n_tokens * bytes_per_number
    return unshared / (n_heads / n_kv_heads)


# --- cached_step
def step_by_parts(x, keys, values, w_q, w_k, w_v):
    keys = mutants_10.with_row(keys, x @ w_k)
    return mutants_10.attend(x @ w_q, keys, mutants_10.with_row(values, x @ w_v))


def step_by_torch(x, keys, values, w_q, w_k, w_v):
    x = torch.tensor(x).unsqueeze(-2)
    keys, values = (
        torch.cat([torch.tensor(old), x @ torch.tensor(w)], dim=-2)
        for old, w in ((keys, w_k), (values, w_v))
    )
    return F.scaled_dot_product_attention(x @ torch.tensor(w_q), keys, values).squeeze(-2)


def step_with_itself_in_front(x, keys, values, w_q, w_k, w_v):
    x = np.expand_dims(x, -2)
    keys, values = np.append(x @ w_k, keys, axis=-2), np.append(x @ w_v, values, axis=-2)
    return reference.scaled_dot_product_attention(x @ w_q, keys, values)[0].squeeze(-2)


# --- merge_heads_of_groups
def merge_by_splitting(heads, n_left):
    return np.array([part.mean(axis=0) for part in np.split(heads, n_left)])


def merge_by_torch(heads, n_left):
    return torch.tensor(heads).unflatten(0, (int(n_left), -1)).mean(dim=1)


def merge_by_a_product(heads, n_left):
    size = len(heads) // n_left
    return np.tensordot(np.kron(np.eye(n_left), np.full((1, size), 1 / size)), heads, axes=1)


RIGHT = {
    "repeat_kv": [repeat_by_torch, repeat_by_index, repeat_by_expanding],
    "kv_cache_bytes": [bytes_by_an_array, bytes_by_adding, bytes_by_groups],
    "cached_step": [step_by_parts, step_by_torch, step_with_itself_in_front],
    "merge_heads_of_groups": [merge_by_splitting, merge_by_torch, merge_by_a_product],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_10.EXERCISES}
MUTANTS = mutants_10.MUTANTS


def test_the_size_is_that_of_the_library():
    for case in EXERCISES["kv_cache_bytes"].cases:
        n_layers, _, n_kv_heads, d_head, n_tokens, size = map(int, case.arguments())
        got = chapter_10.kv_cache_bytes(*case.arguments())
        assert got == cache_bytes(n_tokens, n_layers, n_kv_heads, d_head, size)


def test_steps_are_the_rows_of_a_causal_pass():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(5, 4)), rng.normal(size=(3, 4, 3))
    mask = reference.causal_mask(5)
    expected, _ = reference.self_attention(x, *weights, mask)
    for place in range(5):
        keys, values = x[:place] @ weights[1], x[:place] @ weights[2]
        got = chapter_10.cached_step(x[place], keys, values, *weights)
        np.testing.assert_allclose(got, expected[place], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_sizes_of_the_first_input_are_equal(name):
    inputs = EXERCISES[name].cases[0].inputs
    sizes = [*next(iter(inputs.values())).shape]
    sizes += [int(number) for number in inputs.values() if number.ndim == 0]
    if name == "cached_step":
        sizes += inputs["keys"].shape
    assert len(set(sizes)) == len(sizes)
    assert 1 not in sizes

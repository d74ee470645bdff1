"""Chapter 6: right answers pass however they are written, wrong ones are told why."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mutants import chapter_06 as mutants_06
from mutants._parts import weigh

from minitransformer import reference
from minitransformer.exercises import chapter_06


# --- split_heads
def split_in_a_loop(x, n_heads):
    return mutants_06.cut(x, n_heads)


def split_by_torch(x, n_heads):
    x = torch.tensor(x)
    return x.view(*x.shape[:-1], n_heads, -1).transpose(-2, -3)


def split_by_chunk(x, n_heads):
    return torch.stack(torch.tensor(x).chunk(n_heads, dim=-1), dim=-3)


def split_by_stack(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


# --- merge_heads
def merge_in_a_loop(z):
    return mutants_06.lay(z)


def merge_by_torch(z):
    return torch.as_tensor(z).transpose(-2, -3).flatten(-2)


def merge_by_unstacking(z):
    return np.concatenate(list(np.moveaxis(z, -3, 0)), axis=-1)


# --- head_contributions
def share_in_a_loop(z, w_o):
    d_head = z.shape[-1]
    shares = [z[..., h, :, :] @ w_o[h * d_head : (h + 1) * d_head] for h in range(z.shape[-3])]
    return np.stack(shares, axis=-3)


def share_by_einsum(z, w_o):
    return np.einsum("...htd,hdm->...htm", z, np.array(np.split(w_o, z.shape[-3])))


def share_by_silencing(z, w_o):
    shares = []
    for h in range(z.shape[-3]):
        alone = np.zeros_like(z)
        alone[..., h, :, :] = z[..., h, :, :]
        shares.append(mutants_06.lay(alone) @ w_o)
    return np.stack(shares, axis=-3)


# --- multi_head_attention
def multi_in_a_loop(x, w_q, w_k, w_v, w_o, n_heads):
    output = 0
    parts = (np.split(w, n_heads, axis=1) for w in (w_q, w_k, w_v))
    for q, k, v, o in zip(*parts, np.split(w_o, n_heads), strict=True):
        output = output + weigh(x @ q, x @ k) @ x @ v @ o
    return output


def multi_by_torch(x, w_q, w_k, w_v, w_o, n_heads):
    parts = [split_by_torch(x @ w, n_heads) for w in (w_q, w_k, w_v)]
    return merge_by_torch(F.scaled_dot_product_attention(*parts)) @ torch.tensor(w_o)


def multi_by_einsum(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (
        np.einsum("...tc,chd->...htd", x, w.reshape(len(w), n_heads, -1)) for w in (w_q, w_k, w_v)
    )
    return np.einsum("...hqd,hdm->...qm", weigh(q, k) @ v, np.split(w_o, n_heads))


RIGHT = {
    "split_heads": [split_in_a_loop, split_by_torch, split_by_chunk, split_by_stack],
    "merge_heads": [merge_in_a_loop, merge_by_torch, merge_by_unstacking],
    "head_contributions": [share_in_a_loop, share_by_einsum, share_by_silencing],
    "multi_head_attention": [multi_in_a_loop, multi_by_torch, multi_by_einsum],
}
EXERCISES = {exercise.name: exercise for exercise in chapter_06.EXERCISES}
MUTANTS = mutants_06.MUTANTS


def test_the_whole_solution_agrees_with_the_library():
    for case in EXERCISES["multi_head_attention"].cases:
        *arrays, n_heads = case.arguments()
        expected, _ = reference.multi_head_attention(*arrays, int(n_heads))
        got = chapter_06.multi_head_attention(*arrays, n_heads)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_merging_undoes_splitting():
    for case in EXERCISES["split_heads"].cases:
        x, n_heads = case.arguments()
        np.testing.assert_array_equal(chapter_06.merge_heads(chapter_06.split_heads(x, n_heads)), x)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_sizes_of_an_input_are_equal(name):
    for case in EXERCISES[name].cases:
        inputs = case.inputs
        sizes = [*inputs["x"].shape] if "x" in inputs else [*inputs["z"].shape]
        if "n_heads" in inputs:
            width = inputs["w_q"].shape[1] if "w_q" in inputs else sizes[-1]
            sizes += [int(inputs["n_heads"]), width // int(inputs["n_heads"])]
        assert len(set(sizes)) == len(sizes), case.about
        assert 1 not in sizes

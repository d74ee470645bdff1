"""scaled_dot_product_attention: both paths against the formula and against each other."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer import reference
from minitransformer.attention import scaled_dot_product_attention
from minitransformer.attention_paths import attention_scores, masked_softmax

BATCH, HEADS, QUERIES, KEYS, D_K, D_V = 2, 3, 5, 7, 4, 6
PATHS = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])


def tensors(n_queries=QUERIES, n_keys=KEYS, n_kv_heads=HEADS, n_heads=HEADS, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (n_heads, n_queries, D_K), (n_kv_heads, n_keys, D_K), (n_kv_heads, n_keys, D_V)
    return [
        torch.randn(BATCH, *shape, generator=generator, dtype=torch.float64) for shape in shapes
    ]


def attend(query, key, value, *args, need_weights, **options):
    """The output alone, by the one path or the other."""
    result = scaled_dot_product_attention(
        query, key, value, *args, need_weights=need_weights, **options
    )
    return result[0] if need_weights else result


def random_mask(density, shape=(BATCH, 1, QUERIES, KEYS), seed=0):
    mask = np.random.default_rng(seed).random(shape) < density
    mask[..., 1, :] = False  # a query that sees nothing
    return torch.from_numpy(mask)


# --- against the formula -------------------------------------------------------------------------


@PATHS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("density", [None, 0.5, 0.0])
def test_equals_the_formula(dtype, scale, density, need_weights):
    query, key, value = (tensor.to(dtype) for tensor in tensors())
    mask = None if density is None else random_mask(density)
    expected, expected_weights = reference.scaled_dot_product_attention(
        *(tensor.numpy() for tensor in (query, key, value)),
        mask=None if mask is None else mask.numpy(),
        scale=scale,
    )
    result = scaled_dot_product_attention(
        query, key, value, mask, scale=scale, need_weights=need_weights
    )
    output, weights = result if need_weights else (result, None)
    tolerance = {"rtol": 0, "atol": 1e-6 if dtype == torch.float32 else 1e-14}
    assert output.dtype == dtype
    torch.testing.assert_close(output, torch.from_numpy(expected), **tolerance)
    if need_weights:
        torch.testing.assert_close(weights, torch.from_numpy(expected_weights), **tolerance)


@PATHS
@pytest.mark.parametrize(("n_queries", "q_offset"), [(7, None), (5, 0), (5, 2), (5, -2), (1, 6)])
def test_causal_equals_the_formula(n_queries, q_offset, need_weights):
    """pytorch #103082: top-left alignment lets the lone query of a cache see the first key only."""
    query, key, value = tensors(n_queries)
    mask = reference.causal_mask(n_queries, KEYS, q_offset)
    expected, _ = reference.scaled_dot_product_attention(query, key, value, mask)
    output = attend(query, key, value, is_causal=True, q_offset=q_offset, need_weights=need_weights)
    torch.testing.assert_close(output, torch.from_numpy(expected), rtol=0, atol=1e-14)


@PATHS
def test_causal_and_mask_must_both_allow(need_weights):
    """PyTorch raises here; an `if mask is None` around the causal part would see the future."""
    query, key, value = tensors()
    mask = random_mask(0.6)
    both = mask.numpy() & reference.causal_mask(QUERIES, KEYS, 2)
    expected, _ = reference.scaled_dot_product_attention(query, key, value, both)
    for form in (mask, torch.zeros(mask.shape).double().masked_fill(~mask, -torch.inf)):
        output = attend(
            query, key, value, form, is_causal=True, q_offset=2, need_weights=need_weights
        )
        torch.testing.assert_close(output, torch.from_numpy(expected), rtol=0, atol=1e-14)


@PATHS
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("window", [0, 2, (1, None), (None, 1), (2, 1), (None, None), 100])
def test_window_and_causal_by_the_definition(window, is_causal, need_weights):
    query, key, value = tensors()
    left, right = window if isinstance(window, tuple) else (window, None)
    mask = np.ones((QUERIES, KEYS), bool)
    for i in range(QUERIES):
        for j in range(KEYS):
            place = i + 1
            mask[i, j] = (
                (left is None or j >= place - left)
                and (right is None or j <= place + right)
                and (not is_causal or j <= place)
            )
    expected, _ = reference.scaled_dot_product_attention(query, key, value, mask)
    output = attend(
        query,
        key,
        value,
        is_causal=is_causal,
        window=window,
        q_offset=1,
        need_weights=need_weights,
    )
    torch.testing.assert_close(output, torch.from_numpy(expected), rtol=0, atol=1e-14)


@PATHS
def test_each_text_may_have_its_own_offset(need_weights):
    query, key, value = tensors()
    options = {"is_causal": True, "window": 1, "need_weights": need_weights}
    together = attend(query, key, value, q_offset=torch.tensor([2, 0]), **options)
    for text, q_offset in ((0, 2), (1, 0)):
        alone = attend(query[[text]], key[[text]], value[[text]], q_offset=q_offset, **options)
        torch.testing.assert_close(together[[text]], alone, rtol=0, atol=1e-14)


def test_softcap_bends_scores_before_the_mask():
    """onnx #7865: bent after the mask, -infinity becomes -softcap, and a masked key gets weight."""
    query, key, value = tensors()
    mask = random_mask(0.5)
    scores = query.numpy() @ key.numpy().swapaxes(-1, -2) / math.sqrt(D_K)
    expected = reference.softmax(
        1.5 * np.tanh(scores / 1.5), mask=np.broadcast_to(mask.numpy(), scores.shape)
    )
    for form in (mask, torch.zeros(mask.shape).double().masked_fill(~mask, -torch.inf)):
        output, weights = scaled_dot_product_attention(
            query, key, value, form, softcap=1.5, need_weights=True
        )
        torch.testing.assert_close(weights, torch.from_numpy(expected), rtol=0, atol=1e-14)
        torch.testing.assert_close(output, torch.from_numpy(expected) @ value, rtol=0, atol=1e-14)
        assert torch.equal(
            scaled_dot_product_attention(query, key, value, form, softcap=1.5), output
        )


# --- the two paths against each other ------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    n_heads_and_kv_heads=st.sampled_from([(3, 3), (6, 3), (6, 2), (4, 1)]),
    n_queries=st.integers(1, 6),
    mask_kind=st.sampled_from([None, "boolean", "added", "one row", "learned"]),
    is_causal=st.booleans(),
    q_offset=st.integers(-2, 6),
    window=st.sampled_from([None, 0, 2, (1, 1)]),
    seed=st.integers(0, 100),
)
def test_paths_are_equal_gradients_included(
    n_heads_and_kv_heads, n_queries, mask_kind, is_causal, q_offset, window, seed
):
    n_heads, n_kv_heads = n_heads_and_kv_heads
    inputs = tensors(n_queries, n_heads=n_heads, n_kv_heads=n_kv_heads, seed=seed)
    generator = np.random.default_rng(seed)
    allowed = torch.from_numpy(generator.random((BATCH, 1, n_queries, KEYS)) < 0.5)
    added = torch.from_numpy(generator.normal(size=(BATCH, n_heads, n_queries, KEYS)))
    mask = {
        None: None,
        "boolean": allowed,
        "added": added.masked_fill(~allowed, -torch.inf),
        "one row": allowed[0, 0, 0],
        "learned": added,
    }[mask_kind]
    if mask_kind == "learned":
        inputs.append(mask)
    options = {"enable_gqa": n_heads != n_kv_heads, "is_causal": is_causal, "window": window}
    if is_causal or window is not None:
        options["q_offset"] = q_offset
    results = []
    for need_weights in (False, True):
        leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
        this_mask = leaves[3] if mask_kind == "learned" else mask
        output = attend(*leaves[:3], this_mask, need_weights=need_weights, **options)
        direction = torch.randn(
            output.shape, generator=torch.Generator().manual_seed(seed)
        ).double()
        results.append((output, *torch.autograd.grad(output, leaves, direction)))
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)
    assert all(tensor.isfinite().all() for tensor in results[0])


@PATHS
def test_a_query_that_sees_nothing_gives_zeros_and_zero_gradients(need_weights):
    """pytorch #103749, #110213: NaN there spreads by 0 * NaN into every later layer."""
    query, key, value = (tensor.requires_grad_() for tensor in tensors())
    for mask in (
        random_mask(0.9),
        torch.zeros(QUERIES, KEYS)
        .double()
        .masked_fill(torch.arange(QUERIES)[:, None] == 1, -torch.inf),
    ):
        output = attend(query, key, value, mask, need_weights=need_weights)
        assert (output[:, :, 1] == 0).all()
        (gradient,) = torch.autograd.grad(output.sum(), query)
        assert (gradient[:, :, 1] == 0).all()
        assert gradient.isfinite().all()


def test_the_softmax_of_nothing_has_no_gradient():
    scores = torch.tensor([[0.0, -torch.inf], [-torch.inf, -torch.inf]], requires_grad=True)
    weights = masked_softmax(scores)
    (gradient,) = torch.autograd.grad(weights[:, 0].sum(), scores)
    assert weights.tolist() == [[1, 0], [0, 0]]
    assert gradient.tolist() == [[0, 0], [0, 0]]


@PATHS
def test_no_keys_give_zeros(need_weights):
    query, key, value = tensors(n_keys=0)
    output = attend(query, key, value, need_weights=need_weights)
    assert output.shape == (BATCH, HEADS, QUERIES, D_V)
    assert (output == 0).all()


def test_a_masked_key_may_hold_anything():
    """Whether a row sees anything is decided on the mask: inf - inf would be NaN."""
    query, key, value = tensors()
    mask = torch.ones(QUERIES, KEYS).bool()
    mask[:, 2] = False
    added = torch.zeros(QUERIES, KEYS).double().masked_fill(~mask, -torch.inf)
    expected = scaled_dot_product_attention(query, key, value, mask)
    for junk in (torch.inf, -torch.inf, torch.nan):
        key[:, :, 2] = junk
        for form in (mask, added):
            output, weights = scaled_dot_product_attention(
                query, key, value, form, need_weights=True
            )
            torch.testing.assert_close(output, expected, rtol=0, atol=1e-14)
            assert (weights[..., 2] == 0).all()


def test_the_lowest_finite_number_is_no_mask():
    """A row of finfo.min is uniform, not empty: why masks here are boolean or -infinity."""
    scores = torch.full((1, 4), torch.finfo(torch.float32).min)
    torch.testing.assert_close(masked_softmax(scores), torch.full((1, 4), 0.25))


@PATHS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_neither_overflows_nor_changes_dtype(dtype, need_weights):
    """40 * 40 * 64 is no float16; 40 * 40 * 64 / 8 is, if the scale comes first."""
    query = torch.full((1, 3, 2, 64), 40.0, dtype=dtype)
    value = torch.randn(1, 3, 2, 5).to(dtype)
    output = attend(query, query, value, need_weights=need_weights)
    assert output.dtype == dtype
    expected = value.float().mean(dim=-2, keepdim=True).expand(1, 3, 2, 5)
    torch.testing.assert_close(output.float(), expected, rtol=1e-2, atol=1e-2)


def test_weights_of_half_precision_sum_to_one_in_float32():
    query = torch.randn(1, 3, 5, 8).to(torch.bfloat16)
    _, weights = scaled_dot_product_attention(query, query, query, need_weights=True)
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 3, 5), rtol=0, atol=1e-6)


# --- laws ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    seed=st.integers(0, 1000),
    cut=st.integers(1, 6),
    need_weights=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_no_query_feels_the_future(seed, cut, need_weights, dtype):
    query, key, value = (tensor.to(dtype) for tensor in tensors(KEYS, seed=seed))
    before = attend(query, key, value, is_causal=True, need_weights=need_weights)
    for tensor in (query, key, value):
        tensor[:, :, cut:] = torch.randn(tensor[:, :, cut:].shape) * 100
    after = attend(query, key, value, is_causal=True, need_weights=need_weights)
    assert torch.equal(before[:, :, :cut], after[:, :, :cut])
    assert not torch.equal(before[:, :, cut:], after[:, :, cut:])


@settings(deadline=None)
@given(order=st.permutations(range(KEYS)), need_weights=st.booleans())
def test_the_order_of_keys_does_not_matter_and_that_of_queries_carries_over(order, need_weights):
    query, key, value = tensors(KEYS)
    straight = attend(query, key, value, need_weights=need_weights)
    keys_moved = attend(query, key[:, :, order], value[:, :, order], need_weights=need_weights)
    torch.testing.assert_close(keys_moved, straight, rtol=0, atol=1e-14)
    queries_moved = attend(query[:, :, order], key, value, need_weights=need_weights)
    torch.testing.assert_close(queries_moved, straight[:, :, order], rtol=0, atol=1e-14)


@PATHS
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_neighbouring_query_heads_share_a_key_head(n_kv_heads, need_weights):
    """onnx PR #7274, axlearn PR #842: `tile` hands key heads round in turn instead."""
    query, key, value = tensors(n_heads=6, n_kv_heads=n_kv_heads)
    output = attend(query, key, value, enable_gqa=True, need_weights=need_weights)
    for head in range(6):
        group = head // (6 // n_kv_heads)
        alone = attend(
            query[:, [head]], key[:, [group]], value[:, [group]], need_weights=need_weights
        )
        torch.testing.assert_close(output[:, [head]], alone, rtol=0, atol=1e-14)
    if n_kv_heads == 6:
        plain = attend(query, key, value, need_weights=need_weights)
        torch.testing.assert_close(output, plain, rtol=0, atol=1e-14)


@PATHS
def test_dropout_takes_its_share_and_keeps_the_mean(need_weights):
    query = key = torch.zeros(1, 1, 400, 2)
    value = torch.eye(400)[None, None]
    torch.manual_seed(0)
    output = attend(query, key, value, dropout_p=0.25, need_weights=need_weights)
    assert (output == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert output.sum(-1).mean() == pytest.approx(1.0, abs=0.01)


def test_weights_are_those_before_dropout():
    query, key, value = tensors()
    _, weights = scaled_dot_product_attention(query, key, value, dropout_p=0.5, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, QUERIES).double())


def test_scores_are_those_the_softmax_gets():
    query, key, value = tensors()
    mask = random_mask(0.5)
    scores = attention_scores(query, key, mask, scale=0.3, softcap=2.0)
    assert (scores == -torch.inf).equal(~mask.expand(scores.shape))
    _, weights = scaled_dot_product_attention(
        query, key, value, mask, scale=0.3, softcap=2.0, need_weights=True
    )
    torch.testing.assert_close(masked_softmax(scores), weights)


# --- which path is taken -------------------------------------------------------------------------


def test_the_fused_kernel_is_taken_unless_weights_or_a_softcap_are_asked_for(monkeypatch):
    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda *args, **options: calls.append(options) or kernel(*args, **options),
    )
    query, key, value = tensors(KEYS)
    scaled_dot_product_attention(query, key, value, is_causal=True)
    assert calls[-1]["is_causal"]
    assert calls[-1]["attn_mask"] is None  # the flag is faster than a mask
    scaled_dot_product_attention(query[:, :, :1], key, value, is_causal=True, q_offset=6)
    assert calls[-1]["attn_mask"] is None  # the newest token sees all there is
    assert len(calls) == 2
    scaled_dot_product_attention(query, key, value, need_weights=True)
    scaled_dot_product_attention(query, key, value, softcap=1.0)
    assert len(calls) == 2


@pytest.mark.parametrize("mask_heads", [None, 1, 6])
def test_one_query_with_shared_keys_needs_no_copies(mask_heads):
    # The step of a generation takes a path of its own: the heads of a group as queries of one head.
    query, key, value = torch.randn(2, 6, 1, 4), torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 7)
    mask = None if mask_heads is None else torch.rand(2, mask_heads, 1, 5) > 0.4
    output = scaled_dot_product_attention(query, key, value, mask, enable_gqa=True)
    for head in range(6):
        own_mask = None if mask is None else mask[:, [min(head, mask_heads - 1)]]
        group = [head // 2]
        expected = scaled_dot_product_attention(
            query[:, [head]], key[:, group], value[:, group], own_mask
        )
        torch.testing.assert_close(output[:, [head]], expected)

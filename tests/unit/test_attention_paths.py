"""Which path computes attention, and that dtype, shape or autocast change neither's result."""

import pytest
import torch

from minitransformer import attention_paths
from minitransformer.attention import MultiHeadAttention, scaled_dot_product_attention

PATHS = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])


def tensors(n_queries=2, n_keys=3, dtype=torch.float32):
    """A query (1, 2, n_queries, 4), a key (1, 2, n_keys, 4) and a value (1, 2, n_keys, 5)."""
    generator = torch.Generator().manual_seed(0)
    shapes = (1, 2, n_queries, 4), (1, 2, n_keys, 4), (1, 2, n_keys, 5)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def attend(*args, need_weights, **options):
    """The output alone, by the one path or the other."""
    result = scaled_dot_product_attention(*args, need_weights=need_weights, **options)
    return result[0] if need_weights else result


@pytest.fixture
def kernel(monkeypatch):
    """The options of each call of PyTorch's fused kernel from now on; none too old to be called."""
    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention

    def noted(*args, **options):
        calls.append(options)
        return kernel(*args, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noted)
    monkeypatch.setattr(attention_paths, "_KERNEL_ZEROES_EMPTY_ROWS", True)
    return calls


# --- the fused kernel --------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [torch.ones(2, 3).bool(), torch.zeros(2, 3), torch.ones(3).bool()])
def test_the_fused_kernel_is_taken_with_a_mask_too(kernel, mask):
    scaled_dot_product_attention(*tensors(), mask)
    MultiHeadAttention(12, 3)(torch.ones(1, 2, 12), torch.ones(1, 3, 12), attn_mask=mask)
    assert len(kernel) == 2
    assert all(call["attn_mask"] is not None for call in kernel)


@pytest.mark.parametrize("q_offset", [-1, 1, torch.tensor([0])])
def test_the_causal_flag_stands_for_no_other_offset_than_0(kernel, q_offset):
    """The flag lines up the first query with the first key, however many there are."""
    query, key, value = tensors(3, 3)
    output = scaled_dot_product_attention(query, key, value, is_causal=True, q_offset=q_offset)
    assert not kernel[-1]["is_causal"]
    places = torch.arange(3)[:, None] + q_offset
    expected = scaled_dot_product_attention(query, key, value, torch.arange(3) <= places)
    torch.testing.assert_close(output, expected)


@PATHS
@pytest.mark.parametrize(
    ("window", "allowed"),
    [
        ((2, None), [[True, True, True], [True, True, True]]),
        ((1, None), [[True, True, True], [False, True, True]]),
        ((None, 1), [[True, True, True], [True, True, True]]),
        ((None, 0), [[True, True, False], [True, True, True]]),
    ],
)
def test_a_window_that_leaves_out_a_single_key_is_a_mask(kernel, window, allowed, need_weights):
    """Two queries at places 1 and 2 of three; one key less on either side is no window at all."""
    query, key, value = tensors()
    output = attend(query, key, value, window=window, q_offset=1, need_weights=need_weights)
    if not need_weights:
        sees_all = all(map(all, allowed))
        assert (kernel[-1]["attn_mask"] is None) == sees_all
    expected = scaled_dot_product_attention(query, key, value, torch.tensor(allowed))
    torch.testing.assert_close(output, expected)


# --- shapes ------------------------------------------------------------------------------------


@PATHS
def test_time_and_width_are_dimensions_enough(need_weights):
    query, key, value = (tensor[0, 0] for tensor in tensors())
    output = attend(query, key, value, need_weights=need_weights)
    expected = (query @ key.T / 2).softmax(-1) @ value
    torch.testing.assert_close(output, expected)


@PATHS
@pytest.mark.parametrize("dims", [0, 1, 2])
def test_a_mask_of_few_dimensions_stands_for_all_rows(dims, need_weights):
    query, key, value = tensors()
    for one in (torch.tensor(True), torch.tensor(0.0)):
        output = attend(query, key, value, one.view([1] * dims), need_weights=need_weights)
        torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value))
    nothing = torch.tensor(False).view([1] * dims)
    assert (attend(query, key, value, nothing, need_weights=need_weights) == 0).all()


def test_a_mask_without_dimensions_serves_a_single_query_with_shared_keys():
    query, key, value = torch.randn(1, 6, 1, 4), torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 5)
    output = scaled_dot_product_attention(query, key, value, torch.tensor(True), enable_gqa=True)
    expected = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    torch.testing.assert_close(output, expected)


# --- dtypes ------------------------------------------------------------------------------------

LOWEST = torch.finfo(torch.float64).min
FINER_MASKS = {
    "below float16": (torch.float16, torch.full((2, 3), -1e9)),
    "above float16": (torch.float16, torch.full((2, 3), 7e4)),
    "between bfloat16s": (torch.bfloat16, torch.tensor([1000.0, 1001.0, 1003.0])),
    "float16 is finer than bfloat16": (torch.bfloat16, torch.tensor([100.1, 100.3, 100.0]).half()),
    "below float32": (torch.float32, torch.full((2, 3), LOWEST, dtype=torch.float64)),
}


@pytest.mark.parametrize("kind", FINER_MASKS)
def test_a_mask_finer_than_the_query_is_not_rounded(kind):
    """In float16 -1e9 is -infinity and 7e4 is infinity: zeros and NaN where the softmax is even."""
    dtype, mask = FINER_MASKS[kind]
    query, key, value = tensors(dtype=dtype)
    plain = scaled_dot_product_attention(query, key, value, mask)
    output, weights = scaled_dot_product_attention(query, key, value, mask, need_weights=True)
    assert plain.dtype == output.dtype == dtype
    assert torch.equal(plain, output)
    expected = ((query.float() / 2) @ key.float().mT + mask).softmax(-1)
    torch.testing.assert_close(weights, expected)


@PATHS
def test_a_coarser_mask_is_added_as_it_is(need_weights):
    """PyTorch's kernel wants a mask of the dtype of the query."""
    query, key, value = tensors()
    mask = torch.tensor([[0.5, -1.0, 2.0], [-torch.inf, 0.25, 0.0]])
    for dtype in (torch.float16, torch.bfloat16):
        output = attend(query, key, value, mask.to(dtype), need_weights=need_weights)
        expected = attend(query, key, value, mask, need_weights=need_weights)
        torch.testing.assert_close(output, expected)


@PATHS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_scale_comes_before_the_product(dtype, need_weights):
    """64 * 3e18² is no number of these dtypes, an eighth of it is."""
    query = torch.full((1, 2, 2, 64), 3e18, dtype=dtype)
    value = torch.tensor([[1.0], [3.0]], dtype=dtype).expand(1, 2, 2, 1)
    output = attend(query, query, value, need_weights=need_weights)
    torch.testing.assert_close(output, torch.full_like(output, 2.0))


# --- autocast ----------------------------------------------------------------------------------


def test_scores_and_weights_stay_in_float32_under_autocast():
    query, key, value = tensors()
    expected, expected_weights = scaled_dot_product_attention(query, key, value, need_weights=True)
    with torch.autocast("cpu", torch.bfloat16):
        output, weights = scaled_dot_product_attention(query, key, value, need_weights=True)
    assert weights.dtype == torch.float32
    assert torch.equal(weights, expected_weights)
    assert torch.equal(output, expected)


def test_autocast_rounds_no_mask():
    query, key, value = tensors()
    mask = torch.tensor([1000.0, 1001.0, 1003.0])
    expected = scaled_dot_product_attention(query, key, value, mask)
    with torch.autocast("cpu", torch.bfloat16):
        output = scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(output, expected)


@PATHS
def test_shapes_alone_can_be_asked_for(need_weights):
    """On the meta device, which has no numbers and no autocast."""
    query, key, value = (tensor.to("meta") for tensor in tensors())
    mask = torch.zeros(2, 3, device="meta")
    assert attend(query, key, value, mask, need_weights=need_weights).shape == (1, 2, 2, 5)
    module = MultiHeadAttention(12, 3).to("meta")
    x = torch.ones(2, 4, 12, device="meta")
    output = module(x, need_weights=need_weights)
    assert (output[0] if need_weights else output).shape == (2, 4, 12)

"""MultiHeadAttention: heads and groups against loops, cache, padding, positions, head mask."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer import reference
from minitransformer.attention import MultiHeadAttention, scaled_dot_product_attention
from minitransformer.generation import KVCache
from minitransformer.positions import RotaryPositions, apply_rope

BATCH, TIME, D_MODEL, N_HEADS, D_HEAD = 2, 7, 11, 6, 4  # d_head is not d_model / n_heads
PATHS = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
EXACT = {"rtol": 0, "atol": 1e-13}


def module(n_kv_heads=3, rope=None, seed=0, **options):
    torch.manual_seed(seed)
    return MultiHeadAttention(D_MODEL, N_HEADS, n_kv_heads, D_HEAD, rope=rope, **options).double()


def tokens(time=TIME, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, time, D_MODEL, generator=generator, dtype=torch.float64)


def output_of(attention, *args, need_weights, **options):
    result = attention(*args, need_weights=need_weights, **options)
    return result[0] if need_weights else result


def parts(attention):
    """Weight and bias of the three input projections."""
    weights = attention.qkv_proj.weight.split(attention.widths)
    biases = attention.qkv_proj.bias.split(attention.widths)
    return zip(weights, biases, strict=True)


# --- heads ---------------------------------------------------------------------------------------


@PATHS
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_equals_a_loop_over_heads(n_kv_heads, need_weights):
    attention, x = module(n_kv_heads), tokens()
    expected = attention.o_proj.bias
    for head in range(N_HEADS):
        group = head // (N_HEADS // n_kv_heads)
        query, key, value = (
            x @ weight[rows].T + bias[rows]
            for (weight, bias), rows in zip(
                parts(attention),
                [slice(h * D_HEAD, (h + 1) * D_HEAD) for h in (head, group, group)],
                strict=True,
            )
        )
        z, weights = scaled_dot_product_attention(query, key, value, need_weights=True)
        expected = expected + z @ attention.o_proj.weight[:, head * D_HEAD : (head + 1) * D_HEAD].T
        if need_weights:
            of_all = attention(x, need_weights=True)[1]
            torch.testing.assert_close(of_all[:, head], weights, **EXACT)
    torch.testing.assert_close(
        output_of(attention, x, need_weights=need_weights), expected, **EXACT
    )


@PATHS
def test_equals_the_formula(need_weights):
    """Dimensions are different primes, so that no wrong reshape fits by chance."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(13, 3, d_head=5, bias=False).double()
    x = torch.randn(2, 7, 13, dtype=torch.float64)
    w_q, w_k, w_v = (
        weight.T.detach().numpy() for weight in attention.qkv_proj.weight.split(attention.widths)
    )
    w_o = attention.o_proj.weight.T.detach().numpy()
    mask = reference.causal_mask(7)
    expected, weights = reference.multi_head_attention(x.numpy(), w_q, w_k, w_v, w_o, 3, mask)
    result = attention(x, is_causal=True, need_weights=need_weights)
    output = result[0] if need_weights else result
    torch.testing.assert_close(output, torch.from_numpy(expected), **EXACT)
    if need_weights:
        torch.testing.assert_close(result[1], torch.from_numpy(weights), **EXACT)


def widened(grouped):
    """Multi-head attention whose key and value heads are copies of the groups'."""
    wide = module(N_HEADS)
    repeats = N_HEADS // grouped.n_kv_heads
    with torch.no_grad():
        for name in ("weight", "bias"):
            query, key, value = getattr(grouped.qkv_proj, name).split(grouped.widths)
            key, value = (
                part.unflatten(0, (-1, D_HEAD)).repeat_interleave(repeats, dim=0).flatten(0, 1)
                for part in (key, value)
            )
            getattr(wide.qkv_proj, name).copy_(torch.cat([query, key, value]))
    wide.o_proj = grouped.o_proj
    return wide


@PATHS
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_groups_equal_multi_head_attention_with_copied_heads(n_kv_heads, need_weights):
    grouped, x = module(n_kv_heads), tokens()
    ours = output_of(grouped, x, is_causal=True, need_weights=need_weights)
    wide = output_of(widened(grouped), x, is_causal=True, need_weights=need_weights)
    torch.testing.assert_close(ours, wide, **EXACT)


def test_as_many_groups_as_heads_is_the_default():
    torch.manual_seed(0)
    plain = MultiHeadAttention(12, 3)
    torch.manual_seed(0)
    grouped = MultiHeadAttention(12, 3, n_kv_heads=3)
    x = torch.randn(2, 5, 12)
    assert plain.d_head == 4
    assert torch.equal(plain(x), grouped(x))


# --- laws ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(cut=st.integers(1, TIME - 1), need_weights=st.booleans(), with_rope=st.booleans())
def test_no_token_feels_the_future(cut, need_weights, with_rope):
    attention = module(rope=RotaryPositions(D_HEAD) if with_rope else None)
    x = tokens()
    before = output_of(attention, x, is_causal=True, need_weights=need_weights)
    x[:, cut:] = 50 * tokens(TIME - cut, seed=9)
    after = output_of(attention, x, is_causal=True, need_weights=need_weights)
    assert torch.equal(before[:, :cut], after[:, :cut])
    assert not torch.equal(before[:, cut:], after[:, cut:])


@PATHS
def test_without_positions_a_permutation_carries_over(need_weights):
    attention, x, order = module(), tokens(), [3, 0, 6, 1, 5, 2, 4]
    straight = output_of(attention, x, need_weights=need_weights)
    moved = output_of(attention, x[:, order], need_weights=need_weights)
    torch.testing.assert_close(moved, straight[:, order], **EXACT)


def test_both_paths_have_the_same_gradients():
    attention = module(rope=RotaryPositions(2, interleaved=True))
    mask = torch.rand(BATCH, 1, TIME, TIME, generator=torch.Generator().manual_seed(2)) < 0.6
    gradients = []
    for need_weights in (False, True):
        x = tokens().requires_grad_()
        output = output_of(attention, x, attn_mask=mask, is_causal=True, need_weights=need_weights)
        wanted = [x, *attention.parameters()]
        gradients.append(torch.autograd.grad(output.square().sum(), wanted))
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-11)


# --- cache, positions, padding -------------------------------------------------------------------


@PATHS
@pytest.mark.parametrize("with_rope", [False, True])
@pytest.mark.parametrize("pieces", [[7], [1] * 7, [3, 4], [4, 1, 2]])
def test_reading_in_pieces_with_a_cache_equals_reading_at_once(pieces, with_rope, need_weights):
    """TinyLLM PR #18: no mask with a cache lets a piece of several tokens see its own future."""
    attention = module(rope=RotaryPositions(D_HEAD) if with_rope else None)
    x = tokens()
    expected = attention(x, is_causal=True)
    cache = KVCache(1, BATCH, 3, TIME, D_HEAD, dtype=torch.float64)
    outputs = []
    for piece in x.split(pieces, dim=1):
        outputs.append(
            output_of(
                attention, piece, is_causal=True, cache=cache, layer=0, need_weights=need_weights
            )
        )
        cache.advance(piece.shape[1])
    torch.testing.assert_close(torch.cat(outputs, dim=1), expected, **EXACT)


def test_two_layers_of_one_pass_see_the_same_length():
    """flash-linear-attention #766: layer 0 moved the length on, later layers turned by one more."""
    attention = module(rope=RotaryPositions(D_HEAD))
    cache = KVCache(2, BATCH, 3, TIME, D_HEAD, dtype=torch.float64)
    x = tokens()
    for piece in x.split([4, 3], dim=1):
        first, second = (
            attention(piece, is_causal=True, cache=cache, layer=layer) for layer in (0, 1)
        )
        assert torch.equal(first, second)
        cache.advance(piece.shape[1])


def test_positions_turn_queries_and_keys_only():
    attention, x = module(6, rope=RotaryPositions(D_HEAD)), tokens()
    positions = torch.tensor([0, 5, 2, 9, 1, 30, 3])
    query, key, value = (
        part.unflatten(-1, (N_HEADS, D_HEAD)).transpose(1, 2)
        for part in attention.qkv_proj(x).split(attention.widths, dim=-1)
    )
    z = scaled_dot_product_attention(
        apply_rope(query, positions), apply_rope(key, positions), value
    )
    expected = attention.o_proj(z.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x, positions=positions), expected, **EXACT)


@PATHS
@pytest.mark.parametrize("padding", ["left", "right"])
def test_padding_does_not_change_the_real_tokens(padding, need_weights):
    attention, x = module(rope=RotaryPositions(D_HEAD)), tokens()
    real = torch.ones(BATCH, TIME).bool()
    padded = slice(0, 3) if padding == "left" else slice(4, TIME)
    kept = slice(3, TIME) if padding == "left" else slice(0, 4)
    real[1, padded] = False
    output = output_of(attention, x, key_mask=real, is_causal=True, need_weights=need_weights)
    alone = attention(x[1:, kept], is_causal=True)
    torch.testing.assert_close(output[1:, kept], alone, **EXACT)
    torch.testing.assert_close(output[:1], attention(x[:1], is_causal=True), **EXACT)
    assert output.isfinite().all()


@PATHS
def test_a_masked_token_of_the_context_is_not_seen(need_weights):
    attention, x, context = module(), tokens(5), tokens(TIME, seed=4)
    real = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])
    output = output_of(attention, x, context, key_mask=real, need_weights=need_weights)
    alone = attention(x[1:], context[1:, :4])
    torch.testing.assert_close(output[1:], alone, **EXACT)


# --- dropout and head mask -----------------------------------------------------------------------


def test_dropout_is_on_in_training_only_and_weights_are_those_before_it():
    """nanoGPT PR #240: dropout given to the function stays on in evaluation."""
    attention, x = module(dropout=0.5), tokens()
    plain = module()
    expected, expected_weights = plain(x, need_weights=True)
    for need_weights in (False, True):
        assert not torch.allclose(output_of(attention, x, need_weights=need_weights), expected)
    torch.testing.assert_close(attention(x, need_weights=True)[1], expected_weights, **EXACT)
    attention.eval()
    for need_weights in (False, True):
        output = output_of(attention, x, need_weights=need_weights)
        torch.testing.assert_close(output, expected, **EXACT)


@PATHS
def test_head_mask_scales_the_output_of_each_head(need_weights):
    attention, x = module(), tokens()
    factors = torch.tensor([1, 0, 0.5, 1, 0, 2], dtype=torch.float64)
    output = output_of(attention, x, head_mask=factors, need_weights=need_weights)
    with torch.no_grad():  # the same as scaling the columns of the output matrix
        attention.o_proj.weight.mul_(factors.repeat_interleave(D_HEAD))
    torch.testing.assert_close(output, attention(x), **EXACT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_a_head_mask_of_any_dtype_leaves_that_of_the_output(dtype):
    attention, x = module().to(torch.float32), tokens().float()
    factors = torch.tensor([1, 0, 1, 1, 0, 1])
    expected = attention(x, head_mask=factors.float())
    assert torch.equal(attention(x, head_mask=factors.double()), expected)
    half = attention.bfloat16()(x.bfloat16(), head_mask=factors.to(dtype))
    assert half.dtype == torch.bfloat16


def test_the_gradient_of_the_head_mask_is_the_slope_of_the_loss():
    attention, x = module(), tokens()

    def loss(factors):
        return attention(x, head_mask=factors, is_causal=True).square().sum()

    ones = torch.ones(N_HEADS, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(ones), ones)
    for head in range(N_HEADS):
        step = 1e-6 * torch.eye(N_HEADS, dtype=torch.float64)[head]
        slope = (loss(ones + step) - loss(ones - step)) / 2e-6
        assert gradient[head].item() == pytest.approx(slope.item(), rel=1e-6)

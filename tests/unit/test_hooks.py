"""Hook points: what they show, what they change, and which path attention takes."""

import pytest
import torch
from torch import nn

from minitransformer.attention import MultiHeadAttention
from minitransformer.hooks import ActivationCache, HookedModule, HookPoint, hook_points, hooked

BATCH, TIME, D_MODEL, N_HEADS, N_KV_HEADS, D_HEAD = 2, 5, 11, 6, 3, 4
SHAPES = {
    "hook_q": (BATCH, TIME, N_HEADS, D_HEAD),
    "hook_k": (BATCH, TIME, N_KV_HEADS, D_HEAD),
    "hook_v": (BATCH, TIME, N_KV_HEADS, D_HEAD),
    "hook_attn_scores": (BATCH, N_HEADS, TIME, TIME),
    "hook_pattern": (BATCH, N_HEADS, TIME, TIME),
    "hook_z": (BATCH, TIME, N_HEADS, D_HEAD),
    "hook_result": (BATCH, TIME, N_HEADS, D_MODEL),
}


@pytest.fixture
def attention():
    torch.manual_seed(0)
    return MultiHeadAttention(D_MODEL, N_HEADS, N_KV_HEADS, D_HEAD)


@pytest.fixture
def x():
    return torch.randn(BATCH, TIME, D_MODEL, generator=torch.Generator().manual_seed(1))


def test_every_point_shows_its_tensor(attention, x):
    output, cache = attention.run_with_cache(x, is_causal=True)
    assert {name: tuple(tensor.shape) for name, tensor in cache.items()} == SHAPES
    torch.testing.assert_close(output, attention(x, is_causal=True), rtol=0, atol=1e-6)
    torch.testing.assert_close(cache["hook_attn_scores"].softmax(-1), cache["hook_pattern"])
    z, value = cache["hook_z"], cache["hook_v"].repeat_interleave(2, dim=2)
    torch.testing.assert_close(torch.einsum("bhqk,bkhd->bqhd", cache["hook_pattern"], value), z)
    bias = attention.o_proj.bias
    torch.testing.assert_close(cache["hook_result"].sum(2) + bias, output, rtol=0, atol=1e-6)
    w_o = attention.o_proj.weight[:, 3 * D_HEAD : 4 * D_HEAD]
    torch.testing.assert_close(cache["hook_result"][:, :, 3], z[:, :, 3] @ w_o.T)


def test_rows_that_see_nothing_reach_the_hooks_as_zeros(attention, x):
    """TransformerLens PR #389: NaN must be gone before a hook sees the pattern."""
    mask = torch.ones(TIME, TIME).bool()
    mask[2] = False
    _, cache = attention.run_with_cache(x, attn_mask=mask)
    assert (cache["hook_pattern"][:, :, 2] == 0).all()
    assert (cache["hook_z"][:, 2] == 0).all()


def test_the_cache_holds_copies(attention, x):
    _, cache = attention.run_with_cache(x)
    before = cache["hook_z"].clone()
    cache["hook_pattern"].zero_()
    cache["hook_q"].zero_()
    _, again = attention.run_with_cache(x)
    assert torch.equal(again["hook_z"], before)
    assert not cache["hook_z"].requires_grad


def test_the_model_cannot_change_what_the_cache_holds(attention, x):
    passing = []
    with hooked(attention, [("hook_z", lambda tensor, hook: passing.append(tensor))]):
        _, cache = attention.run_with_cache(x)
    before = cache["hook_z"].clone()
    with torch.no_grad():
        passing[0].zero_()
    assert torch.equal(cache["hook_z"], before)


def test_only_the_named_points_are_kept(attention, x):
    _, cache = attention.run_with_cache(x, names=["hook_z"])
    assert list(cache) == ["hook_z"]
    _, cache = attention.run_with_cache(x, names=lambda name: name.endswith(("_q", "_k")))
    assert list(cache) == ["hook_q", "hook_k"]


@pytest.mark.parametrize("name", SHAPES)
def test_what_a_function_returns_takes_the_tensors_place(attention, x, name):
    plain = attention(x)
    factor = 0.0 if name == "hook_attn_scores" else 0.5
    changed = attention.run_with_hooks(x, fwd_hooks=[(name, lambda tensor, hook: tensor * factor)])
    assert not torch.allclose(changed, plain)
    looked = attention.run_with_hooks(x, fwd_hooks=[(name, lambda tensor, hook: None)])
    torch.testing.assert_close(looked, plain, rtol=0, atol=1e-6)
    if name in ("hook_v", "hook_pattern", "hook_z", "hook_result"):
        expected = (plain - attention.o_proj.bias) / 2 + attention.o_proj.bias
        torch.testing.assert_close(changed, expected, rtol=0, atol=1e-6)


def test_taking_out_a_head_by_hook_equals_the_head_mask(attention, x):
    def drop(z, hook):
        z = z.clone()
        z[:, :, 4] = 0
        return z

    factors = torch.tensor([1.0, 1, 1, 1, 0, 1])
    by_hook = attention.run_with_hooks(x, fwd_hooks=[("hook_z", drop)])
    torch.testing.assert_close(by_hook, attention(x, head_mask=factors))


def test_functions_run_in_order_and_know_their_point(attention, x):
    seen = []
    fwd_hooks = [
        ("hook_z", lambda tensor, hook: seen.append((hook.name, 1)) or tensor + 1),
        ("hook_z", lambda tensor, hook: seen.append((hook.name, tensor.mean().item() > 0.5))),
    ]
    attention.run_with_hooks(x, fwd_hooks=fwd_hooks)
    assert seen == [("hook_z", 1), ("hook_z", True)]


def test_an_error_leaves_no_function_behind(attention, x):
    def fail(tensor, hook):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        attention.run_with_hooks(x, fwd_hooks=[("hook_q", fail), ("hook_z", fail)])
    assert not any(point.active for point in hook_points(attention).values())


def test_an_unknown_name_is_refused_before_anything_runs(attention, x):
    with pytest.raises(ValueError, match=r"no hook point 'hook_x'; there are hook_q, hook_k"):
        attention.run_with_hooks(x, fwd_hooks=[("hook_q", print), ("hook_x", print)])
    assert not attention.hook_q.active


def test_only_scores_and_pattern_leave_the_fused_path(attention, x, monkeypatch):
    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda *args, **options: calls.append(1) or kernel(*args, **options),
    )
    for name in SHAPES:
        calls.clear()
        attention.run_with_cache(x, names=[name])
        assert bool(calls) == (name not in ("hook_attn_scores", "hook_pattern"))


def test_functions_may_come_from_an_iterator(attention, x):
    names, functions = ["hook_q", "hook_z"], [lambda tensor, hook: tensor * 0] * 2
    output = attention.run_with_hooks(x, fwd_hooks=zip(names, functions, strict=True))
    assert torch.equal(output, attention.o_proj.bias.expand_as(output))
    assert not any(point.active for point in hook_points(attention).values())


class TwoBlocks(HookedModule):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(MultiHeadAttention(6, 3) for _ in range(2))
        self.hook_embed = HookPoint()

    def forward(self, x):
        x = self.hook_embed(x)
        for block in self.blocks:
            x = x + block(x)
        return x


def test_names_follow_the_modules_and_have_a_short_form():
    model = TwoBlocks()
    _, cache = model.run_with_cache(torch.randn(2, 4, 6))
    assert torch.equal(cache["pattern", 1], cache["blocks.1.hook_pattern"])
    assert not torch.equal(cache["pattern", 0], cache["pattern", 1])
    assert "hook_embed" in cache
    with pytest.raises(KeyError, match="names 0"):
        cache["pattern", 2]
    with pytest.raises(KeyError, match="no activation 'hook_x'; there are"):
        cache["hook_x"]


def test_a_short_form_that_names_two_is_refused():
    names = ["encoder.blocks.0.attn.hook_z", "decoder.blocks.0.attn.hook_z"]
    with pytest.raises(KeyError, match="names 2"):
        ActivationCache(dict.fromkeys(names))["z", 0]


def test_each_function_knows_its_point_by_the_name_it_was_put_on():
    model, x, seen = TwoBlocks(), torch.randn(2, 4, 6), []

    def look(tensor, hook):
        seen.append(hook.name)

    with hooked(model, [("blocks.1.hook_z", look)]):
        model(x)
        _, inner = model.blocks[1].run_with_cache(x, names=["hook_z"])
        model(x)
    assert list(inner) == ["hook_z"]
    assert seen == ["blocks.1.hook_z"] * 3


def test_a_module_without_points_says_so():
    with (
        pytest.raises(ValueError, match="there are none"),
        hooked(nn.Linear(2, 3), [("hook_z", print)]),
    ):
        pass

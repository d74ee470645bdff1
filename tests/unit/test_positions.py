"""Sinusoidal, learned and rotary positions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    apply_rope,
    half_split_order,
    rotary_cos_sin,
    rotate_pairs,
    sinusoidal_positions,
)

BATCH, HEADS, TIME, D_HEAD = 2, 3, 5, 8


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(BATCH, HEADS, TIME, D_HEAD, dtype=torch.float64)


@pytest.mark.parametrize("d_model", [1, 2, 7, 8])  # odd widths broke other implementations
def test_sinusoidal_positions_are_the_formula(d_model):
    table = sinusoidal_positions(11, d_model)
    assert table.shape == (11, d_model)
    for position in range(11):
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            expected = math.sin(angle) if column % 2 == 0 else math.cos(angle)
            assert table[position, column].item() == pytest.approx(expected, abs=1e-6)


def test_sinusoidal_positions_that_are_given():
    table = sinusoidal_positions(9, 7)
    positions = torch.tensor([[4, 0, 8], [1, 1, 2]])
    torch.testing.assert_close(SinusoidalPositions(7)(positions), table[positions])


def test_learned_positions_are_rows_of_the_weight():
    learned = LearnedPositions(max_length=6, d_model=3)
    positions = torch.tensor([[5, 0], [2, 2]])
    torch.testing.assert_close(learned(positions), learned.weight[positions])
    learned(positions).sum().backward()
    assert learned.weight.grad[:, 0].tolist() == [1, 0, 2, 0, 0, 1]


@pytest.mark.parametrize("interleaved", [False, True])
def test_each_pair_is_a_complex_number_turned_by_its_angle(x, interleaved):
    positions = torch.tensor([0, 3, 1, 40, 1000])
    turned = apply_rope(x, positions, interleaved=interleaved)
    for pair in range(D_HEAD // 2):
        first, second = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + D_HEAD // 2)
        angle = positions.double() * 10000 ** (-2 * pair / D_HEAD)
        expected = torch.complex(x[..., first], x[..., second]) * torch.exp(1j * angle)
        torch.testing.assert_close(turned[..., first], expected.real)
        torch.testing.assert_close(turned[..., second], expected.imag)


def test_a_permutation_leads_from_one_arrangement_to_the_other(x):
    order = half_split_order(D_HEAD)
    half_split = apply_rope(x[..., order])
    interleaved = apply_rope(x, interleaved=True)
    torch.testing.assert_close(half_split, interleaved[..., order])
    torch.testing.assert_close(half_split[..., order.argsort()], interleaved)
    assert not torch.allclose(apply_rope(x), interleaved)


@settings(deadline=None)
@given(
    query_at=st.integers(0, 500),
    key_at=st.integers(0, 500),
    shift=st.integers(0, 5000),
    interleaved=st.booleans(),
)
def test_rotary_dot_products_depend_on_the_distance_alone(query_at, key_at, shift, interleaved):
    """Mixing the angles of one arrangement with the pairs of the other breaks this law."""
    torch.manual_seed(1)
    query, key = torch.randn(2, 1, 1, 1, D_HEAD, dtype=torch.float64)

    def score(shift):
        turned = [
            apply_rope(part, torch.tensor([at + shift]), interleaved=interleaved)
            for part, at in ((query, query_at), (key, key_at))
        ]
        return (turned[0] * turned[1]).sum()

    torch.testing.assert_close(score(shift), score(0), rtol=0, atol=1e-9)


def test_rotation_keeps_lengths_and_leaves_position_0(x):
    turned = apply_rope(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(turned[..., 0, :], x[..., 0, :])
    assert not torch.allclose(turned[..., 1, :], x[..., 1, :])


def test_what_lies_beyond_the_width_stays(x):
    turned = apply_rope(x, width=6)
    assert torch.equal(turned[..., 6:], x[..., 6:])
    torch.testing.assert_close(turned[..., :6], apply_rope(x[..., :6]))


def test_positions_of_each_text_are_its_own(x):
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])
    turned = apply_rope(x, positions)
    for text in range(BATCH):
        alone = apply_rope(x[text : text + 1], positions[text])
        torch.testing.assert_close(turned[text : text + 1], alone)


def test_the_shared_table_grows_and_follows_the_dtype(x):
    rope = RotaryPositions(D_HEAD)
    for last in (TIME, 9000, 20):
        positions = torch.arange(last - TIME, last)
        torch.testing.assert_close(rope(x, positions), apply_rope(x, positions))
    single = rope(x.float(), positions)
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), apply_rope(x, positions), rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_late_positions_are_computed_and_equal_to_those_of_a_table(monkeypatch, dtype, x):
    rope, places = RotaryPositions(D_HEAD), torch.tensor([[1, 70, 3, 999, 0], [5, 6, 7, 8, 9]])
    for positions in (places, places[0]):
        from_table = rope(x.to(dtype), positions)
        with monkeypatch.context() as patch:
            patch.setattr("minitransformer.positions._LONGEST_TABLE", 0)
            assert torch.equal(RotaryPositions(D_HEAD)(x.to(dtype), positions), from_table)


def test_a_late_position_makes_no_table():
    """A table up to it would hold millions of rows, for the one that is asked for."""
    rope = RotaryPositions(2)
    rope(torch.ones(1, 1, 1, 2), torch.tensor([2**40]))
    assert rope._table is None
    far, near = torch.tensor([2**40 + 5, 2**40 + 2]), torch.tensor([5, 2])
    query, key = torch.randn(2, 2, dtype=torch.float64)
    scores = [torch.dot(*rope(torch.stack([query, key]), place)) for place in (far, near)]
    torch.testing.assert_close(*scores, rtol=0, atol=1e-3)


def test_the_base_sets_the_slowest_pair():
    cos, sin = rotary_cos_sin(torch.tensor([7.0]), 4, base=100.0)
    torch.testing.assert_close(cos, torch.tensor([[math.cos(7), math.cos(0.7)]]).double())
    torch.testing.assert_close(sin, torch.tensor([[math.sin(7), math.sin(0.7)]]).double())


ONES = torch.ones(BATCH, HEADS, TIME, D_HEAD)
BAD = {
    "width 0": (lambda: sinusoidal_positions(3, 0), ValueError, "d_model.*got 0"),
    "width 2.0": (lambda: sinusoidal_positions(3, 2.0), TypeError, "d_model.*got 2.0"),
    "base 0": (lambda: sinusoidal_positions(3, 2, base=0), ValueError, "base.*got 0"),
    "base as text": (lambda: RotaryPositions(2, base="x"), TypeError, "base.*got 'x'"),
    "a negative number": (lambda: sinusoidal_positions(-1, 2), ValueError, "got -1"),
    "a list": (lambda: sinusoidal_positions([1], 2), TypeError, r"got \[1\]"),
    "booleans": (lambda: rotary_cos_sin(torch.tensor([True]), 2), TypeError, "torch.bool"),
    "past the end": (
        lambda: LearnedPositions(4, 3)(torch.tensor([1, 4])),
        ValueError,
        "0 to 3, got 1 to 4",
    ),
    "before the start": (
        lambda: LearnedPositions(4, 3)(torch.tensor([-1])),
        ValueError,
        "0 to 3, got -1",
    ),
    "broken positions": (
        lambda: LearnedPositions(4, 3)(torch.tensor([0.5])),
        TypeError,
        "whole.*float32",
    ),
    "odd width": (lambda: RotaryPositions(5), ValueError, "even, got 5"),
    "odd order": (lambda: half_split_order(3), ValueError, "even, got 3"),
    "a head too narrow": (lambda: apply_rope(ONES, width=10), ValueError, r"at least 10.*5, 8\)"),
    "more angles than numbers": (
        lambda: rotate_pairs(ONES, torch.ones(5), torch.ones(5)),
        ValueError,
        "10 numbers.*has 8",
    ),
    "whole numbers to turn": (
        lambda: apply_rope(ONES.long()),
        TypeError,
        "x must hold floating-point numbers, got dtype torch.int64",
    ),
    "negative rotary position": (
        lambda: apply_rope(ONES, torch.tensor([0, 1, 2, 3, -4])),
        ValueError,
        "got -4",
    ),
    "a position too many": (
        lambda: apply_rope(ONES, torch.arange(6)),
        ValueError,
        r"\(5,\) or \(2, 5\).*got \(6,\)",
    ),
    "positions of another batch": (
        lambda: apply_rope(ONES, torch.zeros(3, 5).long()),
        ValueError,
        r"got \(3, 5\)",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_refused_with_a_message_that_names_it(kind):
    call, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        call()

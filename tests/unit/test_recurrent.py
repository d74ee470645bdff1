"""Our recurrent cells against torch's, with the same weights."""

import pytest
import torch
from torch import nn

from minitransformer.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

PAIRS = [(RNNCell, nn.RNN), (LSTMCell, nn.LSTM), (GRUCell, nn.GRU)]
BATCH, TIME, D_INPUT, D_HIDDEN = 2, 7, 3, 5


def ours_and_torchs(cell_class, torch_class, dtype=torch.float32):
    torch.manual_seed(0)
    ours = Recurrent(cell_class(D_INPUT, D_HIDDEN)).to(dtype)
    theirs = torch_class(D_INPUT, D_HIDDEN, batch_first=True, dtype=dtype)
    with torch.no_grad():
        ours.cell.from_input.weight.copy_(theirs.weight_ih_l0)
        ours.cell.from_input.bias.copy_(theirs.bias_ih_l0)
        ours.cell.from_state.weight.copy_(theirs.weight_hh_l0)
        ours.cell.from_state.bias.copy_(theirs.bias_hh_l0)
    return ours, theirs


def flat(state):
    return torch.stack(state) if isinstance(state, tuple) else state


@pytest.mark.parametrize(("cell_class", "torch_class"), PAIRS)
def test_outputs_states_and_gradients_equal_torchs(cell_class, torch_class):
    ours, theirs = ours_and_torchs(cell_class, torch_class)
    x = torch.randn(BATCH, TIME, D_INPUT, requires_grad=True)
    x_theirs = x.detach().clone().requires_grad_()
    outputs, state = ours(x)
    expected, expected_state = theirs(x_theirs)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        flat(state), flat(expected_state).reshape_as(flat(state)), rtol=0, atol=1e-5
    )
    direction = torch.randn_like(outputs)
    outputs.backward(direction)
    expected.backward(direction)
    torch.testing.assert_close(x.grad, x_theirs.grad, rtol=0, atol=1e-5)
    cell = ours.cell
    for mine, name in [
        (cell.from_input.weight, "weight_ih_l0"),
        (cell.from_input.bias, "bias_ih_l0"),
        (cell.from_state.weight, "weight_hh_l0"),
        (cell.from_state.bias, "bias_hh_l0"),
    ]:
        torch.testing.assert_close(mine.grad, getattr(theirs, name).grad, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("cell_class", "torch_class"), PAIRS)
def test_a_state_that_is_given_equals_torchs(cell_class, torch_class):
    ours, theirs = ours_and_torchs(cell_class, torch_class, torch.float64)
    x = torch.randn(BATCH, TIME, D_INPUT, dtype=torch.float64)
    hidden = torch.randn(BATCH, D_HIDDEN, dtype=torch.float64)
    memory = torch.randn(BATCH, D_HIDDEN, dtype=torch.float64)
    if cell_class is LSTMCell:
        outputs, _ = ours(x, (hidden, memory))
        expected, _ = theirs(x, (hidden[None], memory[None]))
    else:
        outputs, _ = ours(x, hidden)
        expected, _ = theirs(x, hidden[None])
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell_class", [RNNCell, LSTMCell, GRUCell])
def test_reading_in_pieces_equals_reading_at_once(cell_class):
    torch.manual_seed(1)
    network = Recurrent(cell_class(D_INPUT, D_HIDDEN)).double()
    x = torch.randn(BATCH, TIME, D_INPUT, dtype=torch.float64)
    whole, end = network(x)
    first, state = network(x[:, :3])
    second, state = network(x[:, 3:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole, rtol=0, atol=1e-14)
    torch.testing.assert_close(flat(state), flat(end), rtol=0, atol=1e-14)


@pytest.mark.parametrize("cell_class", [RNNCell, LSTMCell, GRUCell])
def test_a_cell_called_by_hand_is_the_loops_step(cell_class):
    torch.manual_seed(2)
    network = Recurrent(cell_class(D_INPUT, D_HIDDEN)).double()
    x = torch.randn(BATCH, TIME, D_INPUT, dtype=torch.float64)
    state = network.cell.initial_state(x)
    for time in range(TIME):
        state = network.cell(x[:, time], state)
    torch.testing.assert_close(flat(state), flat(network(x)[1]), rtol=0, atol=1e-14)


def test_the_first_output_does_not_know_the_second_token():
    torch.manual_seed(3)
    network = Recurrent(GRUCell(D_INPUT, D_HIDDEN))
    x = torch.randn(BATCH, TIME, D_INPUT)
    changed = x.clone()
    changed[:, 1:] += 1
    assert torch.equal(network(x)[0][:, 0], network(changed)[0][:, 0])
    assert not torch.equal(network(x)[0][:, 1], network(changed)[0][:, 1])


@pytest.mark.parametrize(
    ("x_shape", "state", "message"),
    [
        ((2, 7), None, r"\(batch, time, 3\)"),
        ((2, 7, 4), None, r"got \(2, 7, 4\)"),
        ((2, 0, 3), None, "at least one token"),
        ((2, 7, 3), torch.zeros(3, 5), r"shape \(2, 5\), got \(3, 5\)"),
        ((2, 7, 3), (torch.zeros(2, 5), torch.zeros(2, 5)), "got tuple"),
    ],
)
def test_wrong_input_is_named(x_shape, state, message):
    network = Recurrent(RNNCell(D_INPUT, D_HIDDEN))
    with pytest.raises(ValueError, match=message):
        network(torch.zeros(x_shape), state)


def test_an_lstm_wants_a_pair():
    with pytest.raises(ValueError, match=r"pair \(hidden, memory\)"):
        Recurrent(LSTMCell(D_INPUT, D_HIDDEN))(torch.zeros(2, 7, D_INPUT), torch.zeros(2, 5))


@pytest.mark.parametrize("sizes", [(0, 5), (3, 0), (3, 2.0), (True, 5)])
def test_sizes_are_whole_numbers(sizes):
    with pytest.raises(ValueError, match="whole number of at least 1"):
        GRUCell(*sizes)

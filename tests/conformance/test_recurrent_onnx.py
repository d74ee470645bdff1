"""Our cells against ONNX's node tests of RNN, LSTM and GRU.

Of the 18 cases 16 can be said with our cells: backwards is a reversed sequence, both directions are
two cells. The other two are other functions, named below; a test shows that they are.
"""

import numpy as np
import pytest
import torch
from onnx_cases import cases

from minitransformer.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

# ONNX's order of gates, by the names of ours
CELLS = {
    "RNN": (RNNCell, [0]),
    "LSTM": (LSTMCell, [0, 2, 3, 1]),  # ONNX: input, output, forget, new; ours: i, f, new, o
    "GRU": (GRUCell, [1, 0, 2]),  # ONNX: update, reset, new; ours: reset, update, new
}
OTHER_FUNCTIONS = {
    "test_lstm_with_peepholes": "gates that see the memory (input P)",
    "test_gru_seq_length": "the reset gate before the matrix (linear_before_reset = 0)",
}
ALL = [(operator, case) for operator in CELLS for case in cases(operator)]


def cell_of(operator, w, r, b):
    cell_class, order = CELLS[operator]
    gates, d_hidden = len(order), r.shape[-1]
    cell = cell_class(w.shape[-1], d_hidden)

    def arranged(array):
        return torch.tensor(np.concatenate([np.split(array, gates)[gate] for gate in order]))

    b = np.zeros(2 * gates * d_hidden, np.float32) if b is None else b
    with torch.no_grad():
        for linear, weight, bias in zip(
            (cell.from_input, cell.from_state), (w, r), np.split(b, 2), strict=True
        ):
            linear.weight.copy_(arranged(weight))
            linear.bias.copy_(arranged(bias))
    return cell


def run(operator, case):
    """Outputs (time, directions, batch, d_hidden) and the last states, as ONNX arranges them."""
    x, w, r, b, *_ = [*case.inputs, None, None]
    batch_first = case.attributes.get("layout", 0) == 1
    x = torch.tensor(x if batch_first else x.swapaxes(0, 1))
    direction = case.attributes.get("direction", b"forward")
    outputs, states = [], []
    for number in range(len(w)):
        back = direction == b"reverse" or number == 1
        cell = cell_of(operator, w[number], r[number], None if b is None else b[number])
        with torch.no_grad():
            output, state = Recurrent(cell)(x.flip(1) if back else x)
        outputs.append(output.flip(1) if back else output)
        states.append(state if operator == "LSTM" else (state,))
    y = torch.stack(outputs, dim=2)  # (batch, time, directions, d_hidden)
    last = [torch.stack(part, dim=1) for part in zip(*states, strict=True)]
    if not batch_first:
        y, last = y.permute(1, 2, 0, 3), [part.transpose(0, 1) for part in last]
    return [y, *last]


def close(case):
    return [
        np.allclose(ours.numpy(), theirs, rtol=case.rtol, atol=case.atol)
        for ours, theirs in zip(run(operator_of(case), case), case.expected, strict=False)
        if theirs is not None
    ]


def operator_of(case):
    return next(operator for operator, other in ALL if other is case)


@pytest.mark.parametrize("case", [c for _, c in ALL if c.name not in OTHER_FUNCTIONS], ids=str)
def test_outputs_and_states(case):
    found = close(case)
    assert found
    assert all(found)


def test_all_cases_are_accounted_for():
    assert len(ALL) == 18
    assert {case.name for _, case in ALL} >= set(OTHER_FUNCTIONS)


@pytest.mark.parametrize("name", OTHER_FUNCTIONS)
def test_the_cases_left_out_are_other_functions(name):
    (case,) = [case for _, case in ALL if case.name == name]
    assert not any(close(case))

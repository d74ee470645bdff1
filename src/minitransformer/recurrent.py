"""The recurrent baseline: a plain RNN, an LSTM and a GRU cell, and one loop over time.

A cell knows one step: from the state before a token and the token to the state after it. What a
token alone decides (``from_input``) is computed for the whole sequence at once; what depends on the
state before it (``step``) must wait for that state, and so the loop in :class:`Recurrent` cannot
be avoided. Shapes are ``(batch, time, width)``.
"""

import torch
from torch import nn

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "Recurrent"]


class _Cell(nn.Module):
    """What the cells share: two linear maps that feed ``n_gates`` values of width ``d_hidden``."""

    n_gates = 1

    def __init__(self, d_input, d_hidden):
        super().__init__()
        for name, size in (("d_input", d_input), ("d_hidden", d_hidden)):
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {size!r}")
        self.d_input, self.d_hidden = d_input, d_hidden
        self.from_input = nn.Linear(d_input, self.n_gates * d_hidden)
        self.from_state = nn.Linear(d_hidden, self.n_gates * d_hidden)
        for parameter in self.parameters():  # the range that torch's own RNNs start in
            nn.init.uniform_(parameter, -(d_hidden**-0.5), d_hidden**-0.5)

    def forward(self, x, state):
        """One step: x (batch, d_input) and the state before it give the state after it."""
        return self.step(self.from_input(x), state)

    def initial_state(self, x):
        """The state before the first token: zeros, of the batch size, dtype and device of x."""
        return x.new_zeros(x.shape[0], self.d_hidden)

    def check_state(self, state, batch):
        expected = (batch, self.d_hidden)
        if not isinstance(state, torch.Tensor) or state.shape != expected:
            came = tuple(state.shape) if isinstance(state, torch.Tensor) else type(state).__name__
            raise ValueError(f"the state of this cell has shape {expected}, got {came}")

    def hidden(self, state):
        """What the next layer sees of a state: (batch, d_hidden)."""
        return state


class RNNCell(_Cell):
    """The plain recurrent cell: ``h = tanh(W x + U h_before + b)``.

    Source: Elman 1990, "Finding structure in time"; the same function as ``torch.nn.RNNCell``.
    """

    def step(self, projected, state):
        """projected (batch, d_hidden) is ``from_input`` of the token; state (batch, d_hidden)."""
        return torch.tanh(projected + self.from_state(state))


class LSTMCell(_Cell):
    """Long short-term memory. The state is a pair (hidden, memory), each (batch, d_hidden).

    The memory is only ever scaled and added to, so a gradient can pass through many steps.

    Source: Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000; the same
    function and order of gates (input, forget, new, output) as ``torch.nn.LSTMCell``.
    """

    n_gates = 4

    def step(self, projected, state):
        hidden, memory = state
        gates = projected + self.from_state(hidden)
        write, keep, new, show = gates.chunk(4, dim=-1)
        memory = torch.sigmoid(keep) * memory + torch.sigmoid(write) * torch.tanh(new)
        return torch.sigmoid(show) * torch.tanh(memory), memory

    def initial_state(self, x):
        zeros = super().initial_state(x)
        return zeros, zeros

    def check_state(self, state, batch):
        if not isinstance(state, tuple) or len(state) != 2:
            raise ValueError("the state of an LSTM is a pair (hidden, memory)")
        for part in state:
            super().check_state(part, batch)

    def hidden(self, state):
        return state[0]


class GRUCell(_Cell):
    """Gated recurrent unit: a gate mixes the state before with a new one.

    The reset gate acts after the product with the state's matrix, as in ``torch.nn.GRUCell`` (the
    first version of Cho et al. 2014 applies it before). Order of gates: reset, update, new.

    Source: Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder".
    """

    n_gates = 3

    def step(self, projected, state):
        reset_x, update_x, new_x = projected.chunk(3, dim=-1)
        reset_h, update_h, new_h = self.from_state(state).chunk(3, dim=-1)
        reset = torch.sigmoid(reset_x + reset_h)
        update = torch.sigmoid(update_x + update_h)
        new = torch.tanh(new_x + reset * new_h)
        return (1 - update) * new + update * state


class Recurrent(nn.Module):
    """A cell, applied to one token after the other.

    Parameters
    ----------
    cell : RNNCell, LSTMCell or GRUCell

    Examples
    --------
    >>> network = Recurrent(LSTMCell(d_input=3, d_hidden=4))
    >>> outputs, (hidden, memory) = network(torch.zeros(2, 5, 3))
    >>> outputs.shape, torch.equal(outputs[:, -1], hidden)
    (torch.Size([2, 5, 4]), True)
    """

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x, state=None):
        """Run over a sequence.

        Parameters
        ----------
        x : tensor (batch, time, d_input), time at least 1
        state : the state before the first token, optional
            What an earlier call returned, so that a long text can be read in pieces. Zeros if not
            given.

        Returns
        -------
        outputs : tensor (batch, time, d_hidden)
        state : the state after the last token: (batch, d_hidden), for an LSTM a pair of these

        Raises
        ------
        ValueError
            If x or the state has another shape, or there is no token.
        """
        d_input = self.cell.d_input
        if x.ndim != 3 or x.shape[-1] != d_input or x.shape[1] == 0:
            raise ValueError(
                f"x must have shape (batch, time, {d_input}) and at least one token, "
                f"got {tuple(x.shape)}"
            )
        if state is None:
            state = self.cell.initial_state(x)
        self.cell.check_state(state, x.shape[0])
        outputs = []
        for projected in self.cell.from_input(x).unbind(dim=1):
            state = self.cell.step(projected, state)
            outputs.append(self.cell.hidden(state))
        return torch.stack(outputs, dim=1), state

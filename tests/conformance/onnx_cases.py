"""The node tests of ONNX: one operator each, with its inputs and the outputs that are expected.

They come with the package `onnx`, whose version is pinned: earlier ones expected other outputs of
grouped queries, of a softcap under a mask and of rows that see nothing.
"""

from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

import onnx.backend.test.case.node as node_tests
from onnx.helper import get_attribute_value

_MODULES = {
    "Attention": "attention",
    "GRU": "gru",
    "Gelu": "gelu",
    "LSTM": "lstm",
    "LayerNormalization": "layernormalization",
    "RMSNormalization": "rmsnormalization",
    "RNN": "rnn",
    "RotaryEmbedding": "rotaryembedding",
}


class Case(NamedTuple):
    """One node test; ``inputs`` and ``expected`` are in the operator's order, None = left out."""

    name: str
    attributes: dict
    inputs: list
    expected: list
    rtol: float
    atol: float

    def __str__(self):
        return self.name.removeprefix("test_")


@lru_cache
def cases(operator):
    """All node tests of one operator, for example ``cases("LayerNormalization")``."""
    import_module(f"{node_tests.__name__}.{_MODULES[operator]}")  # this collects them
    return tuple(
        _read(case)
        for case in node_tests._NodeTestCases
        if [node.op_type for node in case.model.graph.node] == [operator]
    )


def _read(case):
    (node,), ((inputs, expected),) = case.model.graph.node, case.data_sets
    return Case(
        case.name,
        {attribute.name: get_attribute_value(attribute) for attribute in node.attribute},
        _in_order(node.input, inputs),
        _in_order(node.output, expected),
        case.rtol,
        case.atol,
    )


def _in_order(names, arrays):
    """The arrays, with None where the node leaves a name empty."""
    arrays = iter(arrays)
    return [next(arrays) if name else None for name in names]

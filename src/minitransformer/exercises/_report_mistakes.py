"""What goes wrong in assignment 6: the wrong formulas, and what their writers are told."""

import numpy as np

from ._exercise import Misconception
from ._formulas import bare_softmax

__all__ = ["COMPARED", "EFFECTS", "TESTED"]

# --- head_effects --------------------------------------------------------------------------------


def _nats(parts, w_o, labels, counted):
    """The mean loss over the places that count; parts are (batch, time, two axes of numbers)."""
    shares = bare_softmax(parts.reshape(*labels.shape, -1) @ w_o)
    right = np.take_along_axis(shares, labels[..., None], axis=-1)[..., 0]
    return -np.log(right[counted]).mean()


def _loss(z, w_o, labels):
    return _nats(np.moveaxis(z, 1, 2), w_o, labels, labels >= 0)


def _with_padding(z, w_o, labels):
    return _nats(np.moveaxis(z, 1, 2), w_o, labels, labels >= -1)


def _interleaved(z, w_o, labels):
    return _nats(np.moveaxis(z, 1, -1), w_o, labels, labels >= 0)


def _means(z, labels):
    """Of each head over the places that count."""
    count = (labels >= 0)[:, None, :, None]
    return (z * count).sum(axis=(0, 2), keepdims=True) / count.sum()


def _changes(z, w_o, labels, put=None, loss=_loss, alone=False):
    """Two rows: each head, or all but it, replaced by zeros, and by ``put``."""
    rows = []
    for instead in (0.0, _means(z, labels) if put is None else put):
        rows.append([])
        for head in range(z.shape[1]):
            gone = (np.arange(z.shape[1]) == head)[:, None, None] ^ alone
            rows[-1].append(loss(np.where(gone, instead, z), w_o, labels))
    return np.array(rows) - loss(z, w_o, labels)


EFFECTS = (
    Misconception(
        "The rows are exchanged: zeros come first, means second.",
        lambda z, w_o, labels: _changes(z, w_o, labels)[::-1],
    ),
    Misconception(
        "You put zeros in both rows. In the second the head's mean stands in its place.",
        lambda z, w_o, labels: _changes(z, w_o, labels, 0.0),
    ),
    Misconception(
        "Your numbers have the other sign: asked for is what the loss rises by without the head.",
        lambda z, w_o, labels: -_changes(z, w_o, labels),
    ),
    Misconception(
        "That is the loss itself. Take away the loss of the model as it is.",
        lambda z, w_o, labels: _changes(z, w_o, labels) + _loss(z, w_o, labels),
    ),
    Misconception(
        "You took a mean for each text. One mean for all texts: what is special about a text must "
        "not stay.",
        lambda z, w_o, labels: _changes(z, w_o, labels, z.mean(axis=2, keepdims=True)),
    ),
    Misconception(
        "You took a mean for each place. One mean for all places of all texts: what is special "
        "about a place must not stay.",
        lambda z, w_o, labels: _changes(z, w_o, labels, z.mean(axis=0, keepdims=True)),
    ),
    Misconception(
        "Your means take padding too. Only places with a label count.",
        lambda z, w_o, labels: _changes(z, w_o, labels, z.mean(axis=(0, 2), keepdims=True)),
    ),
    Misconception(
        "Places with the label -1 are in your loss; NumPy reads -1 as the last class. They do not "
        "count.",
        lambda z, w_o, labels: _changes(
            z, w_o, labels, z.mean(axis=(0, 2), keepdims=True), _with_padding
        ),
    ),
    Misconception(
        "That is the loss when a head is the only one left. Take out one head and leave the rest.",
        lambda z, w_o, labels: _changes(z, w_o, labels, alone=True),
    ),
    Misconception(
        "The rows of w_o go head by head: first all numbers of head 0, then those of head 1.",
        lambda z, w_o, labels: _changes(z, w_o, labels, loss=_interleaved),
    ),
)

# --- against_controls ----------------------------------------------------------------------------


def _compared(controls, effect):
    """Of a row of booleans and effects."""
    return np.array([len(controls), effect - controls.mean(), np.mean(controls >= effect)])


def _alike(layers, shares, head, tolerance):
    near = (layers == layers[head]) & (abs(shares - shares[head]) <= tolerance)
    return near & (np.arange(len(layers)) != head)


def _from_true(change):
    """A mistake made with the controls that are right."""

    def formula(layers, shares, effects, head, tolerance):
        controls = effects[_alike(layers, shares, head, tolerance)]
        return np.array(change(controls, effects[head]))

    return formula


def _with_others(choose):
    """A mistake in the choice of controls."""

    def formula(layers, shares, effects, head, tolerance):
        chosen = choose(layers, shares, effects, head, tolerance)
        return _compared(effects[chosen], effects[head])

    return formula


COMPARED = (
    Misconception(
        "The head is its own control. Leave it out.",
        _with_others(
            lambda layers, shares, effects, head, tolerance: (
                (layers == layers[head]) & (abs(shares - shares[head]) <= tolerance)
            )
        ),
    ),
    Misconception(
        "Heads of other layers are among your controls. What a layer does may depend on where it "
        "stands.",
        _with_others(
            lambda layers, shares, effects, head, tolerance: (
                (abs(shares - shares[head]) <= tolerance) & (np.arange(len(layers)) != head)
            )
        ),
    ),
    Misconception(
        "Your controls are all other heads of the layer, whatever they look at. Only those whose "
        "share is near the head's count.",
        _with_others(lambda layers, shares, effects, head, _: _alike(layers, shares, head, np.inf)),
    ),
    Misconception(
        "You chose controls by their effects. That settles the answer in advance: choose by the "
        "shares.",
        _with_others(
            lambda layers, shares, effects, head, tolerance: _alike(
                layers, effects, head, tolerance
            )
        ),
    ),
    Misconception(
        "A head with a much smaller share is among your controls. Near means near on both sides.",
        _with_others(
            lambda layers, shares, effects, head, tolerance: (
                (layers == layers[head])
                & (shares - shares[head] <= tolerance)
                & (np.arange(len(layers)) != head)
            )
        ),
    ),
    Misconception(
        "The difference has the other sign: the head's effect less the mean of the controls.",
        _from_true(lambda controls, effect: _compared(controls, effect) * [1, -1, 1]),
    ),
    Misconception(
        "You took the median of the controls; asked for is their mean.",
        _from_true(
            lambda controls, effect: np.add(
                _compared(controls, effect), [0, controls.mean() - np.median(controls), 0]
            )
        ),
    ),
    Misconception(
        "The second number is the effect itself. Take away the mean of the controls.",
        _from_true(
            lambda controls, effect: np.add(_compared(controls, effect), [0, controls.mean(), 0])
        ),
    ),
    Misconception(
        "The third number is the share of controls with a smaller effect; asked for are those with "
        "one at least as large.",
        _from_true(lambda controls, effect: _compared(controls, effect) * [1, 1, -1] + [0, 0, 1]),
    ),
    Misconception(
        "A control whose effect is just as large counts in the third number.",
        _from_true(
            lambda controls, effect: (
                _compared(controls, effect) - [0, 0, np.mean(controls == effect)]
            )
        ),
    ),
    Misconception(
        "You compare effects without their signs. A head that helps by going is no rival of one "
        "that hurts by going.",
        _from_true(
            lambda controls, effect: [
                *_compared(controls, effect)[:2],
                np.mean(abs(controls) >= abs(effect)),
            ]
        ),
    ),
)

# --- weight_test ---------------------------------------------------------------------------------


def _in_order(x):
    """Ranks from 1, ties in the order of their places."""
    return np.argsort(np.argsort(x, kind="stable"), kind="stable") + 1.0


def _lowest(x):
    return np.searchsorted(np.sort(x), x) + 1.0


def _shared(x):
    return (_lowest(x) + np.searchsorted(np.sort(x), x, side="right")) / 2


def _as_large(chance, rho):
    return 1 + (chance >= rho - 1e-9).sum()


def _tested(weights, effects, orders, ranked=_shared, rivals=_as_large):
    def agreement(effects):
        return np.corrcoef(ranked(weights), ranked(effects))[0, 1]

    rho = agreement(effects)
    chance = np.array([agreement(effects[order]) for order in orders])
    return np.array([rho, rivals(chance, rho) / (1 + len(orders))])


TESTED = (
    Misconception(
        "You correlated the numbers themselves. Spearman's correlation is that of their ranks.",
        lambda weights, effects, orders: _tested(weights, effects, orders, lambda x: x),
    ),
    Misconception(
        "Equal numbers got different ranks. They share their ranks: two that take the ranks 2 and "
        "3 have 2.5 each.",
        lambda weights, effects, orders: _tested(weights, effects, orders, _in_order),
    ),
    Misconception(
        "Equal numbers all got the lowest rank of theirs. They get the mean of their ranks.",
        lambda weights, effects, orders: _tested(weights, effects, orders, _lowest),
    ),
    Misconception(
        "In the share a 1 is missing, above and below: the order as it was measured counts too, so "
        "that the share is never 0.",
        lambda weights, effects, orders: _tested(
            weights,
            effects,
            orders,
            rivals=lambda chance, rho: (chance >= rho - 1e-9).mean() * (1 + len(chance)),
        ),
    ),
    Misconception(
        "An order whose correlation is just as large counts too, also when rounding makes it a "
        "little smaller.",
        lambda weights, effects, orders: _tested(
            weights, effects, orders, rivals=lambda chance, rho: 1 + (chance > rho + 1e-9).sum()
        ),
    ),
    Misconception(
        "You count in both directions. The claim has one: more weight, more effect.",
        lambda weights, effects, orders: _tested(
            weights,
            effects,
            orders,
            rivals=lambda chance, rho: 1 + (abs(chance) >= abs(rho) - 1e-9).sum(),
        ),
    ),
    Misconception(
        "You shuffled both, weights and effects, so that each pair stayed together. Shuffle the "
        "effects alone.",
        lambda weights, effects, orders: [
            _tested(weights, effects, orders)[0],
            1.0,
        ],
    ),
)

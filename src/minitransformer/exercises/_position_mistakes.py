"""What readers get wrong with positions: in waves and in turns."""

import numpy as np

from ._exercise import Misconception

__all__ = ["TURNED", "WAVES"]

# --- what goes wrong with waves ------------------------------------------------------------------


def _angles(positions, d_model, power=2, base=10000):
    pairs = np.arange(d_model // 2)
    return positions[:, None] * float(base) ** (-power * pairs / d_model)


def _mixed(sines, cosines):
    """Sines in the even columns, cosines in the odd ones."""
    return np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)


def _waves(positions, d_model):
    angles = _angles(positions, d_model)
    return _mixed(np.sin(angles), np.cos(angles))


def _by_column(positions, d_model):
    columns = np.arange(d_model)
    angles = positions[:, None] * 10000.0 ** (-columns / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _counted(positions, d_model):
    return _waves(np.arange(len(positions)), d_model)


WAVES = (
    Misconception(
        "You laid all sines before all cosines. Here they alternate: columns 2i and 2i + 1 are "
        "the sine and the cosine of one angle.",
        lambda positions, d_model: np.concatenate(
            [np.sin(_angles(positions, d_model)), np.cos(_angles(positions, d_model))], axis=1
        ),
    ),
    Misconception(
        "Sine and cosine have changed places: the even columns are sines.",
        lambda positions, d_model: _mixed(
            np.cos(_angles(positions, d_model)), np.sin(_angles(positions, d_model))
        ),
    ),
    Misconception(
        "Each column has a frequency of its own. Columns 2i and 2i + 1 share one, so that the two "
        "are the hand of one clock.",
        _by_column,
    ),
    Misconception(
        "The exponent is -i/d instead of -2i/d: your slowest hand turns at 1/100 and not at nearly "
        "1/10000.",
        lambda positions, d_model: _mixed(
            np.sin(_angles(positions, d_model, power=1)),
            np.cos(_angles(positions, d_model, power=1)),
        ),
    ),
    Misconception(
        "The exponent lacks its sign: your hands turn faster from pair to pair, not slower.",
        lambda positions, d_model: _mixed(
            np.sin(_angles(positions, d_model, power=-2)),
            np.cos(_angles(positions, d_model, power=-2)),
        ),
    ),
    Misconception(
        "The base is 1000 in your function; it is 10000.",
        lambda positions, d_model: _mixed(
            np.sin(_angles(positions, d_model, base=1000)),
            np.cos(_angles(positions, d_model, base=1000)),
        ),
    ),
    Misconception(
        "You counted the places anew from 0. positions holds the places themselves, and a text "
        "that goes on does not begin at 0.",
        _counted,
    ),
    Misconception(
        "You counted the places from 1: place 0 has the sines 0 and the cosines 1.",
        lambda positions, d_model: _waves(positions + 1, d_model),
    ),
    Misconception(
        "Rows and columns are exchanged: a row is a place, a column a number of its vector.",
        lambda positions, d_model: _waves(positions, d_model).T,
    ),
)

# --- what goes wrong with a turn -----------------------------------------------------------------


def _turn(first, second, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    return first * cos - second * sin, second * cos + first * sin


def _interleaved(x, angles):
    pair = _turn(x[..., 0::2], x[..., 1::2], angles)
    return np.stack(pair, axis=-1).reshape(x.shape)


def _halves(x):
    return np.split(x, 2, axis=-1)


def _joined(first, second):
    return np.concatenate([first, second], axis=-1)


def _one_after_the_other(x, angles):
    """The second half turned with the first half's new value."""
    first, second = _halves(x)
    cos, sin = np.cos(angles), np.sin(angles)
    first = first * cos - second * sin
    return _joined(first, second * cos + first * sin)


def _same_sign(x, angles):
    first, second = _halves(x)
    cos, sin = np.cos(angles), np.sin(angles)
    return _joined(first * cos + second * sin, second * cos + first * sin)


TURNED = (
    Misconception(
        "You paired neighbours, numbers 2i and 2i + 1. Half-split pairs number i of the first half "
        "with number i of the second; a model trained with one is wrong with the other.",
        _interleaved,
    ),
    Misconception(
        "You turned backwards: the minus sign belongs to the first half. Scores would see the same "
        "distances, but a model that others trained would not fit.",
        lambda x, angles: _joined(*_turn(*_halves(x), -angles)),
    ),
    Misconception(
        "There is no minus sign, so this is no turn: lengths change. The first half is "
        "first * cos - second * sin.",
        _same_sign,
    ),
    Misconception(
        "You overwrote the first half and used the new value for the second. Both need the old "
        "values.",
        _one_after_the_other,
    ),
    Misconception(
        "You scaled by the cosine and left out the other half's share: a turn mixes the two.",
        lambda x, angles: x * np.cos(_joined(angles, angles)),
    ),
    Misconception(
        "You added sine and cosine as positions are added. A turn multiplies.",
        lambda x, angles: x + _joined(np.sin(angles), np.cos(angles)),
    ),
    Misconception(
        "The halves have changed places in your result: first half first.",
        lambda x, angles: _joined(*_turn(*_halves(x), angles)[::-1]),
    ),
    Misconception(
        "You split the first axis, the tokens. Pairs are in the last axis: axis=-1.",
        lambda x, angles: np.concatenate(_turn(*np.split(x, 2, axis=0), angles), axis=0),
    ),
)

"""Switch heads off: the sum of single effects beside the measured joint effect.

The reader switches heads of a model off. What each of them costs alone is stored and can be added
up; what several cost together had to be measured, and for the sets that were it is shown too.
"""

from itertools import pairwise

import numpy as np
import traitlets

from .._checks import as_float
from ._base import Widget

__all__ = ["SwitchHeadsOff"]

MOST_LAYERS, MOST_HEADS, MOST_SETS, LIMIT = 48, 32, 400, 1e3


class Effects(traitlets.TraitType):
    """A finite number for each head, nested lists (layers, heads)."""

    def make_dynamic_default(self):
        return [list(layer) for layer in self.default_value]

    def validate(self, obj, value):
        try:
            array = as_float(self.name, value)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None
        if array.ndim != 2 or not array.size:
            raise traitlets.TraitError(
                f"{self.name} must have shape (layers, heads), got shape {array.shape}"
            )
        if len(array) > MOST_LAYERS or array.shape[1] > MOST_HEADS:
            raise traitlets.TraitError(
                f"{self.name} must have at most {MOST_LAYERS} layers and {MOST_HEADS} heads, "
                f"got shape {array.shape}"
            )
        if not (abs(array) <= LIMIT).all():  # NaN is not <= anything
            raise traitlets.TraitError(
                f"{self.name} must hold finite numbers of size at most {LIMIT:g}"
            )
        return array.astype(float).tolist()


class Heads(traitlets.TraitType):
    """Different heads: a list of [layer, head], counted from 0."""

    def make_dynamic_default(self):
        return [list(head) for head in self.default_value]

    def validate(self, obj, value):
        return check_heads(self.name, value)


class Sets(traitlets.TraitType):
    """Measured sets of heads: a list of [name, list of [layer, head], joint effect]."""

    def make_dynamic_default(self):
        return [[name, [list(head) for head in heads], x] for name, heads, x in self.default_value]

    def validate(self, obj, value):
        if not isinstance(value, (list, tuple)) or len(value) > MOST_SETS:
            raise traitlets.TraitError(f"{self.name} must be a list of at most {MOST_SETS} sets")
        sets = []
        for entry in value:
            if not isinstance(entry, (list, tuple)) or len(entry) != 3:
                raise traitlets.TraitError(
                    f"{self.name} must hold [name, heads, joint effect], got {entry!r}"
                )
            name, heads, joint = entry
            if not isinstance(name, str) or not name.strip():
                raise traitlets.TraitError(f"{self.name}: {name!r} is no name")
            if type(joint) not in (int, float) or not abs(joint) <= LIMIT:
                raise traitlets.TraitError(
                    f"{self.name}: the joint effect of {name!r} must be a number, got {joint!r}"
                )
            heads = check_heads(f"{self.name}: {name!r}", heads)
            if not heads:
                raise traitlets.TraitError(f"{self.name}: {name!r} has no heads")
            sets.append([name, heads, float(joint)])
        return sets


def check_heads(name, heads):
    """Heads as sorted lists [layer, head], or an error that names what came."""
    for head in heads if isinstance(heads, (list, tuple)) else [heads]:
        if not isinstance(head, (list, tuple)) or len(head) != 2:
            raise traitlets.TraitError(f"{name}: heads are [layer, head], got {head!r}")
        for place in head:
            if type(place) is not int or place < 0:
                raise traitlets.TraitError(
                    f"{name}: layer and head are whole numbers from 0, got {place!r}"
                )
    ordered = sorted(list(head) for head in heads)
    if any(a == b for a, b in pairwise(ordered)):
        raise traitlets.TraitError(f"{name}: a head is named twice")
    return ordered


class SwitchHeadsOff(Widget):
    """Add up what heads cost alone, and compare with what they cost together.

    Parameters
    ----------
    model : str
        Its name, for the page.
    effects : nested lists or array (layers, heads), at most (48, 32)
        What switching one head off does to the loss, in nats; above 0 = the loss rises. The
        default is made up.
    sets : list of [name, list of [layer, head], joint effect]
        Sets of heads that were switched off together, and the measured change of the loss.
    off : list of [layer, head]
        The heads that are off; counted from 0.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> switches = SwitchHeadsOff(off=[[0, 0], [0, 1]])
    >>> round(switches.total, 3), switches.joint
    (0.03, 0.4)

    Source: Michel et al. 2019, "Are sixteen heads really better than one?"
    """

    _module = "switch_heads_off"
    _parts = (*Widget._parts, "linked")

    model = traitlets.Unicode("a made-up model").tag(sync=True)
    effects = Effects(((0.01, 0.02, 0.1), (0.2, -0.01, 0.3))).tag(sync=True)
    sets = Sets(
        (("two of a kind", ((0, 0), (0, 1)), 0.4), ("one after the other", ((0, 2), (1, 0)), 0.2))
    ).tag(sync=True)
    off = Heads(()).tag(sync=True)

    @traitlets.validate("effects", "sets", "off")
    def _fits(self, proposal):
        inputs = {name: getattr(self, name) for name in ("effects", "sets", "off")}
        inputs[proposal["trait"].name] = proposal["value"]
        n_layers, n_heads = np.shape(inputs["effects"])
        for layer, head in [*inputs["off"], *(h for _, heads, _ in inputs["sets"] for h in heads)]:
            if layer >= n_layers or head >= n_heads:
                raise traitlets.TraitError(
                    f"there are {n_layers} layers of {n_heads} heads, counted from 0; "
                    f"got layer {layer}, head {head}"
                )
        return proposal["value"]

    @classmethod
    def from_tables(cls, heads, joint, *, model, effect="damage_report", **inputs):
        """From tables of `minitransformer.measurements`, lists of dicts.

        ``heads`` has a row for each head: ``layer``, ``head`` and the column named by ``effect``.
        ``joint`` has a row for each set of neighbours: ``layer``, ``first_head``, ``heads`` (how
        many) and ``joint``. What else is given goes to the class.
        """
        effects = np.zeros((heads[-1]["layer"] + 1, heads[-1]["head"] + 1))
        for row in heads:
            effects[row["layer"], row["head"]] = row[effect]
        sets = []
        for row in joint:
            first, last = row["first_head"], row["first_head"] + row["heads"] - 1
            part = "" if row["heads"] == effects.shape[1] else f", heads {first} to {last}"
            members = [[row["layer"], head] for head in range(first, last + 1)]
            sets.append([f"layer {row['layer']}{part}", members, row["joint"]])
        return cls(model=model, effects=effects, sets=sets, **inputs)

    def added(self, heads):
        """The sum of the single effects of ``heads``, a list of [layer, head]."""
        return float(sum(self.effects[layer][head] for layer, head in heads))

    @property
    def total(self):
        """The sum of the single effects of the heads that are off."""
        return self.added(self.off)

    @property
    def joint(self):
        """The measured effect of all heads that are off together, or None if it is not stored."""
        return next((joint for _, heads, joint in self.sets if heads == self.off), None)

    def _stored_table(self):
        rows = [
            [name, str(len(heads)), f"{self.added(heads):+.3f}", f"{joint:+.3f}"]
            for name, heads, joint in self.sets
        ]
        caption = f"Heads of {self.model} switched off: change of the loss in nats"
        return caption, ["set", "heads", "sum of single effects", "together"], rows

    def __repr__(self):
        shape = " × ".join(str(size) for size in np.shape(self.effects))
        return f"SwitchHeadsOff({self.model!r}, {shape} heads, off={self.off})"

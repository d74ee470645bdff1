"""Switch heads off: its Python side, its tables, and the module's sums against Python's."""

import numpy as np
import pytest
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer.measurements import table
from minitransformer.widgets import SwitchHeadsOff, module_source

SOURCE = module_source(SwitchHeadsOff)
RNG = np.random.default_rng(2)
EFFECTS = RNG.normal(size=(5, 3)).round(3)
PAIR, LAYER, TRIPLE = [[0, 1], [3, 2]], [[2, 0], [2, 1], [2, 2]], [[1, 0], [3, 2], [4, 1]]
SETS = [["a pair", PAIR, 0.5], ["a layer", LAYER, -0.25], ["three", TRIPLE, 1.5]]
OFFS = [[], [[0, 1]], PAIR, LAYER, [*LAYER, [4, 1]], TRIPLE]


def made(**changes):
    return SwitchHeadsOff(model="five by three", effects=EFFECTS, sets=SETS, **changes)


def check_parity(source):
    effects = EFFECTS.tolist()
    calls = [
        call for off in OFFS for call in (("added", [effects, off]), ("storedSet", [SETS, off]))
    ]
    answers = run_node(source, calls)
    assert not [answer for answer in answers if "error" in answer]
    answers = [answer["value"] for answer in answers]
    for off, total, stored in zip(OFFS, answers[::2], answers[1::2], strict=True):
        widget = made(off=off)
        assert total == pytest.approx(widget.total, abs=1e-12)
        assert (None if stored < 0 else SETS[stored][2]) == widget.joint


def check_switching(source):
    """What is off after a switch, as sets of Python have it."""
    cases = [
        ([], [[1, 2]]),
        ([[1, 2]], [[1, 2]]),
        ([[0, 1], [2, 1]], LAYER),  # one of them was off: now all are
        ([[0, 1], *LAYER], LAYER),
        ([[4, 0]], [[0, 2], [0, 1]]),
    ]
    answers = run_node(source, [("switched", list(case)) for case in cases])
    for (off, heads), answer in zip(cases, answers, strict=True):
        before, chosen = {tuple(head) for head in off}, {tuple(head) for head in heads}
        after = before - chosen if chosen <= before else before | chosen
        assert answer["value"] == [list(head) for head in sorted(after)]


def test_the_module_adds_up_and_finds_sets_as_python_does():
    check_parity(SOURCE)


def test_the_module_switches_heads_and_layers():
    check_switching(SOURCE)


FAULTS = {
    "row and column exchanged": (
        "sum + effects[layer][head]",
        "sum + effects[head][layer]",
        check_parity,
    ),
    "sizes without signs": (
        "sum + effects[layer][head]",
        "sum + Math.abs(effects[layer][head])",
        check_parity,
    ),
    "part of a set is enough": (
        "JSON.stringify(heads) === wanted",
        "wanted.startsWith(JSON.stringify(heads).slice(0, -1))",
        check_parity,
    ),
    "a layer that never comes on again": ("coming.length ?", "true ?", check_switching),
    "heads in the order of switching": (
        "return next.sort(byPlace)",
        "return next",
        check_switching,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault])


def test_the_tables_of_minilm_are_shown_as_they_are():
    heads, joint = table("minilm_heads"), table("minilm_joint")
    widget = SwitchHeadsOff.from_tables(heads, joint, model="MiniLM-L6")
    assert np.shape(widget.effects) == (6, 12)
    for row in heads:
        assert widget.effects[row["layer"]][row["head"]] == row["damage_report"]
    assert len(widget.sets) == len(joint)
    for row, (name, members, effect) in zip(joint, widget.sets, strict=True):
        assert name.startswith(f"layer {row['layer']}")
        assert members == [[row["layer"], row["first_head"] + k] for k in range(row["heads"])]
        assert effect == row["joint"]
        assert widget.added(members) == pytest.approx(row["sum"], abs=1e-4)  # rounded in the table


def test_groups_of_heads_are_named_by_their_places():
    heads = [
        {"layer": layer, "head": head, "kv_head": head // 2, "harm": layer + head / 10}
        for layer in range(2)
        for head in range(6)
    ]
    joint = [
        {"layer": 1, "first_head": 2, "heads": 2, "joint": 3.0, "sum": 2.5},
        {"layer": 0, "first_head": 0, "heads": 6, "joint": 1.0, "sum": 1.5},
    ]
    off = [[1, 3], [1, 2]]
    widget = SwitchHeadsOff.from_tables(heads, joint, model="two by six", effect="harm", off=off)
    assert [name for name, *_ in widget.sets] == ["layer 1, heads 2 to 3", "layer 0"]
    assert widget.joint == 3.0
    assert widget.total == pytest.approx(2.5)
    assert widget.off == [[1, 2], [1, 3]]


BAD = {
    "no layers": ({"effects": []}, r"effects must have shape \(layers, heads\), got shape \(0,\)"),
    "ragged": ({"effects": [[1], [1, 2]]}, "effects is not rectangular"),
    "NaN": ({"effects": [[float("nan")] * 3] * 5}, "effects must hold finite numbers"),
    "too many heads": ({"effects": np.zeros((5, 33))}, "at most 48 layers and 32 heads, got shape"),
    "effects without the heads of the sets": (
        {"effects": EFFECTS[:3]},
        "there are 3 layers of 3 heads, counted from 0; got layer 3, head 2",
    ),
    "a head that is not there": ({"off": [[4, 3]]}, "got layer 4, head 3"),
    "a head below 0": ({"off": [[-1, 0]]}, "whole numbers from 0, got -1"),
    "a head alone": ({"off": [3]}, r"off: heads are \[layer, head\], got 3"),
    "no list": ({"off": "all"}, r"off: heads are \[layer, head\], got 'all'"),
    "twice off": ({"off": [[0, 0], [1, 1], [0, 0]]}, "off: a head is named twice"),
    "a set without effect": ({"sets": [["a", PAIR]]}, r"must hold \[name, heads, joint effect\]"),
    "a set without heads": ({"sets": [["a", [], 1.0]]}, "'a' has no heads"),
    "a set without name": ({"sets": [[" ", PAIR, 1.0]]}, "sets: ' ' is no name"),
    "an effect as text": (
        {"sets": [["a", PAIR, "1"]]},
        "joint effect of 'a' must be a number, got '1'",
    ),
    "no sets": ({"sets": None}, "sets must be a list of at most 400 sets"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(made(off=[[1, 1]]), *BAD[kind])


def test_the_stored_table_reads_without_the_widget():
    widget = made()
    data, _ = widget._repr_mimebundle_()
    total = EFFECTS[0, 1] + EFFECTS[3, 2]
    row = f'<th scope="row">a pair</th><td>2</td><td>{total:+.3f}</td><td>+0.500</td>'
    assert row in data["text/html"]
    assert data["text/plain"] == "SwitchHeadsOff('five by three', 5 × 3 heads, off=[])"

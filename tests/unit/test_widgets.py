"""The widgets' Python side, and the modules' mathematics against reference.py, in node."""

import subprocess
import sys

import numpy as np
import pytest
import traitlets
from widget_harness import check_fault_is_seen, run_node

from minitransformer import reference
from minitransformer.widgets import AttentionStepper, Widget, module_source

SOURCE = module_source(AttentionStepper)
CLOSE, EXTREME = 1e-12, 1e-6


def attention_case(seed, time=5, d_model=2, d_k=3, d_v=4, size=1.0, mask=None):
    rng = np.random.default_rng(seed)
    shapes = ((time, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v))
    return [rng.normal(scale=size, size=shape).tolist() for shape in shapes] + [mask]


def masks(time=5):
    rng = np.random.default_rng(7)
    lonely = rng.random((time, time)) < 0.5
    lonely[2] = False  # a query that may attend to nothing
    return [None, reference.causal_mask(time).tolist(), lonely.tolist()]


def check_attention_parity(source, cases, tolerance):
    answers = run_node(source, [("attention", case) for case in cases])
    for case, answer in zip(cases, answers, strict=True):
        x, w_q, w_k, w_v, mask = (None if a is None else np.array(a) for a in case)
        output, weights = reference.self_attention(x, w_q, w_k, w_v, mask=mask)
        assert "error" not in answer, answer
        for name, expected in (("weights", weights), ("output", output)):
            np.testing.assert_allclose(
                np.array(answer["value"][name], float), expected, rtol=tolerance, atol=tolerance
            )


def ordinary_cases():
    return [attention_case(seed, mask=mask) for seed in range(20) for mask in masks()]


def extreme_cases():
    # scores of about ±1e4 to ±1e8: almost every weight is 0 or 1
    return [
        attention_case(seed, size=size, mask=mask)
        for seed in range(5)
        for size in (10.0, 100.0)
        for mask in masks()
    ]


def test_attention_equals_the_reference():
    check_attention_parity(SOURCE, ordinary_cases(), CLOSE)


def test_attention_equals_the_reference_for_extreme_scores():
    check_attention_parity(SOURCE, extreme_cases(), EXTREME)


@pytest.mark.parametrize("time", [1, 3, 12])
def test_attention_equals_the_reference_at_each_length(time):
    cases = [attention_case(seed, time=time, d_k=2, d_v=2) for seed in range(5)]
    check_attention_parity(SOURCE, cases, CLOSE)


def test_scale_can_be_given():
    case = attention_case(3)
    (answer,) = run_node(SOURCE, [("attention", [*case, 0.3])])
    x, w_q, w_k, w_v = map(np.array, case[:4])
    output, weights = reference.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, scale=0.3)
    np.testing.assert_allclose(answer["value"]["weights"], weights, rtol=CLOSE)
    np.testing.assert_allclose(answer["value"]["output"], output, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(
    ("scores", "mask"),
    [
        ([1e4, -1e4, 3.0], None),
        ([-1e4, -1e4 - 1.0, -1e4 + 0.5], None),
        ([2.0, float("inf"), float("nan"), 1.0], [True, False, False, True]),
        ([float("-inf"), 0.5, 0.25], None),
        ([float("-inf"), float("-inf")], None),
        ([float("nan"), 7.0], [False, False]),
        ([708.0, 709.9, 750.0], None),
    ],
)
def test_softmax_equals_the_reference_at_the_edges(scores, mask):
    (answer,) = run_node(SOURCE, [("softmax", [scores, mask])])
    expected = reference.softmax(scores, mask=None if mask is None else np.array(mask))
    np.testing.assert_allclose(answer["value"], expected, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_softmax_refuses_what_the_reference_refuses(bad):
    (answer,) = run_node(SOURCE, [("softmax", [[1.0, bad, 2.0]])])
    assert "NaN or +infinity" in answer["error"]
    with pytest.raises(ValueError, match="NaN or \\+infinity"):
        reference.softmax([1.0, bad, 2.0])


FAULTS = {
    "scale dropped": ("product * factor", "product"),
    "d_k instead of its root": ("1 / Math.sqrt(query[0].length)", "1 / query[0].length"),
    "softmax over the queries": (
        "scores.map((row, i) => softmax(row, mask === null ? null : mask[i]))",
        "transpose(transpose(scores).map((row) => softmax(row)))",
    ),
    "queries and keys swapped": ("matmul(query, transpose(key))", "matmul(key, transpose(query))"),
    "keys mixed instead of values": ("matmul(weights, value)", "matmul(weights, key)"),
    "mask turned round": ("mask === null || mask[j]", "mask === null || !mask[j]"),
    "mask ignored": ("mask === null || mask[j]", "true"),
    "no division by the sum": ("x / total", "x"),
    "no maximum subtracted": ("Math.exp(score - largest)", "Math.exp(score)"),
    "NaN where nothing may be attended": ("if (largest === -Infinity)", "if (false)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    cases = ordinary_cases() + extreme_cases()
    check_fault_is_seen(
        SOURCE, *FAULTS[fault], lambda source: check_attention_parity(source, cases, EXTREME)
    )


def test_scores_weights_and_output_are_those_of_the_worked_example():
    stepper = AttentionStepper()
    assert stepper.weights.round(3)[0].tolist() == [0.238, 0.118, 0.238, 0.238, 0.167]
    assert stepper.output.round(3).tolist()[1] == [0.666, 0.890]
    np.testing.assert_allclose(reference.softmax(stepper.scores), stepper.weights, rtol=CLOSE)


def test_scores_weights_and_output_follow_the_projections():
    rng = np.random.default_rng(5)
    x, w_q, w_k, w_v = rng.normal(size=(3, 2)), *rng.normal(size=(3, 2, 2))
    stepper = AttentionStepper(tokens=list("abc"), embeddings=x, w_q=w_q, w_k=w_k, w_v=w_v)
    (answer,) = run_node(SOURCE, [("attention", [a.tolist() for a in (x, w_q, w_k, w_v)])])
    for name in ("scores", "weights", "output"):
        np.testing.assert_allclose(answer["value"][name], getattr(stepper, name), rtol=1e-10)


BAD = {
    "tokens is a string": ({"tokens": "geht"}, r"tokens must be a list of strings, got 'geht'"),
    "tokens is empty": ({"tokens": []}, r"tokens must hold 1 to 12 strings, got 0"),
    "13 tokens": ({"tokens": ["a"] * 13}, r"1 to 12 strings, got 13"),
    "a token is a number": ({"tokens": ["a", 2, "c", "d", "e"]}, r"tokens\[1\] must be .*, got 2"),
    "a token is blank": ({"tokens": ["a", "b", " ", "d", "e"]}, r"tokens\[2\] .* not blank"),
    "tokens without embeddings": ({"tokens": ["a", "b"]}, r"tokens has 2 entries, embeddings 5"),
    "embeddings without tokens": ({"embeddings": [[1, 2]]}, r"tokens has 5 entries, embeddings 1"),
    "rows of unequal length": ({"embeddings": [[1, 2], [3]]}, r"embeddings is not rectangular"),
    "three dimensions a token": ({"embeddings": [[1, 2, 3]] * 5}, r"\(tokens, 2\).*\(5, 3\)"),
    "a flat list": ({"embeddings": [1, 2, 3, 4, 5]}, r"shape \(tokens, 2\), got shape \(5,\)"),
    "NaN": ({"embeddings": [[1, float("nan")]] * 5}, r"embeddings must hold finite .* got \[nan"),
    "infinity": ({"w_q": [[1, 0], [0, float("inf")]]}, r"w_q must hold finite .* got \[inf\]"),
    "beyond the limit": ({"w_v": [[1e7, 0], [0, 1]]}, r"at most 1e\+06, got \[10000000.0\]"),
    "text as numbers": ({"embeddings": [["1", "2"]] * 5}, r"embeddings must hold real numbers"),
    "nothing": ({"embeddings": None}, r"embeddings must hold real numbers.* got None"),
    "complex numbers": ({"w_k": [[1j, 0], [0, 1]]}, r"w_k must hold real numbers, .*complex"),
    "a 3 × 3 projection": ({"w_k": np.eye(3)}, r"w_k must have shape \(2, 2\), got .*\(3, 3\)"),
    "query out of range": ({"query": 5}, r"query is the index of a token, 0 to 4, got 5"),
    "query negative": ({"query": -1}, r"query must be a whole number from 0 to 11, got -1"),
    "query by name": ({"query": "in"}, r"query must be a whole number .*, got 'in'"),
    "stage 4": ({"stage": 4}, r"stage must be a whole number from 0 to 3, got 4"),
    "stage true": ({"stage": True}, r"stage must be a whole number from 0 to 3, got True"),
    "stage 1.5": ({"stage": 1.5}, r"stage must be a whole number from 0 to 3, got 1.5"),
}


def set_together(stepper, **changes):
    with stepper.hold_trait_notifications():
        for name, value in changes.items():
            setattr(stepper, name, value)


def inputs(stepper):
    return {name: getattr(stepper, name) for name in stepper.trait_names(sync=True)}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    changes, message = BAD[kind]
    stepper = AttentionStepper(query=2, stage=1)
    before = inputs(stepper)
    ((name, value),) = changes.items()
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(stepper, name, value)
    assert inputs(stepper) == before
    with pytest.raises(traitlets.TraitError, match=message):
        set_together(stepper, **{"w_q": [[2, 0], [0, 2]], **changes})
    assert inputs(stepper) == before
    with pytest.raises(traitlets.TraitError, match=message):
        AttentionStepper(**changes)


def test_tokens_and_embeddings_change_together():
    stepper = AttentionStepper(query=1)
    set_together(stepper, tokens=["a", "b", "c"], embeddings=np.arange(6).reshape(3, 2))
    assert stepper.embeddings == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert stepper.weights.shape == (3, 3)


def test_fewer_tokens_than_the_query_needs_are_refused():
    stepper = AttentionStepper(query=4)
    with pytest.raises(traitlets.TraitError, match="0 to 2, got 4"):
        set_together(stepper, tokens=["a", "b", "c"], embeddings=[[1, 2], [3, 4], [5, 6]])
    assert len(stepper.tokens) == len(stepper.embeddings) == 5


def test_two_steppers_do_not_share_their_defaults():
    one, other = AttentionStepper(), AttentionStepper()
    one.embeddings[0][0] = 9.0
    assert other.embeddings[0][0] == 1.0


def test_the_bundle_holds_the_view_and_a_table_that_reads_without_it():
    data, _ = AttentionStepper()._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["version_major"] == 2
    table = data["text/html"]
    assert table.count('<th scope="row">') == 5
    assert table.count('<th scope="col">') == 7
    assert "<caption>" in table
    assert '<th scope="row">geht</th><td>0.110</td><td>0.223</td>' in table
    assert "[0.666, 0.890]</td>" in table
    assert data["text/plain"] == repr(AttentionStepper())
    assert " at 0x" not in data["text/plain"]  # an address would differ from run to run


def test_a_hostile_token_is_text_in_the_table():
    token = "</script><img src=x onerror=alert(1)>"
    data, _ = AttentionStepper(tokens=[token], embeddings=[[1, 0]])._repr_mimebundle_()
    assert "<img" not in data["text/html"]
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in data["text/html"]


def test_the_saved_state_is_the_inputs():
    state = AttentionStepper().get_state()
    # ipywidgets' own, and the two that the chapters' runner removes
    own = {key for key in state if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == {"tokens", "embeddings", "w_q", "w_k", "w_v", "query", "stage"}
    assert state["_anywidget_id"] == "minitransformer.widgets.attention_stepper.AttentionStepper"


def test_the_stepper_keeps_to_the_limit_that_python_sets():
    assert f"const LIMIT = {AttentionStepper.embeddings.limit:.0e};".replace("e+0", "e") in SOURCE


def test_displaying_goes_through_the_bundle_in_ipywidgets_7_too():
    assert Widget._ipython_display_ is None


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_the_package_loads_no_widgets():
    done = python("import sys, minitransformer; print('ipywidgets' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("missing", ["anywidget", "ipywidgets"])
def test_without_the_packages_the_error_names_the_way_out(missing):
    done = python(f"import sys; sys.modules[{missing!r}] = None; import minitransformer.widgets")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        f"ImportError: minitransformer.widgets needs {missing}, which is not installed. "
        'The way out: pip install "minitransformer[widgets]"'
    )

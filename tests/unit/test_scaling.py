"""Scaling: its Python side, and its module's mathematics against NumPy's, in node."""

import numpy as np
import pytest
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer import reference
from minitransformer.widgets import Scaling, module_source
from minitransformer.widgets.scaling import DIVISORS, WIDTHS, random_vectors

SOURCE = module_source(Scaling)
CASES = [
    {"d_k": d_k, "divisor": divisor, "size": size, "temperature": temperature}
    for d_k in (1, 4, 512)
    for divisor in DIVISORS
    for size, temperature in ((1.0, 1.0), (0.25, 3.0), (4.0, 0.1))
]


def check_products(source, draws=(0, 7, 9999)):
    answers = run_node(source, [("productsByWidth", [draw]) for draw in draws])
    for draw, answer in zip(draws, answers, strict=True):
        assert "error" not in answer, answer
        query, *keys = random_vectors(draw)
        for width in WIDTHS:
            expected = np.array(keys)[:, :width] @ query[:width]
            np.testing.assert_allclose(answer["value"][str(width)], expected, rtol=0, atol=1e-9)


def check_weights(source):
    units = [Scaling(d_k=case["d_k"], draw=3).products.tolist() for case in CASES]
    calls = [("scaled", [unit, *case.values()]) for unit, case in zip(units, CASES, strict=True)]
    for case, answer in zip(CASES, run_node(source, calls), strict=True):
        assert "error" not in answer, answer
        widget, found = Scaling(draw=3, **case), answer["value"]
        np.testing.assert_allclose(found["products"], widget.products, rtol=1e-9)
        np.testing.assert_allclose(found["scores"], widget.scores, rtol=1e-9)
        np.testing.assert_allclose(found["weights"], widget.weights, rtol=0, atol=1e-9)
        assert found["effective"] == pytest.approx(widget.effective_keys, abs=1e-9)
        assert found["norm"] == pytest.approx(widget.jacobian_norm, abs=1e-9)


def test_the_module_draws_the_vectors_of_python():
    check_products(SOURCE)


def test_the_module_computes_what_python_computes():
    check_weights(SOURCE)


FAULTS = {
    "another step of the generator": ("0x6d2b79f5", "0x6d2b79f7", check_products),
    "a signed number": (">>> 0) / 2 ** 32", ">> 0) / 2 ** 32", check_products),
    "sine": ("Math.cos(2", "Math.sin(2", check_products),
    "a width too late": (
        "if (c + 1 in found) found[c + 1]",
        "if (c in found) found[c]",
        check_products,
    ),
    "size counted once": ("x * size * size", "x * size", check_weights),
    "no temperature": (" / temperature)", ")", check_weights),
    "divisors exchanged": ("nothing: 0,", "nothing: 1,", check_weights),
    "entropy of logarithms to base 2": ("w * Math.log(w)", "w * Math.log2(w)", check_weights),
    "only the diagonal": ("- a * b) ** 2", "- (i === j ? a * b : 0)) ** 2", check_weights),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault])


def test_the_vectors_are_normal_independent_and_different_each_time():
    vectors = np.concatenate([random_vectors(draw) for draw in range(20)])
    assert abs(vectors.mean()) < 0.01
    assert abs(vectors.var() - 1) < 0.02
    assert abs((vectors**4).mean() - 3) < 0.1  # that of normal numbers
    correlations = np.corrcoef(vectors)[~np.eye(len(vectors), dtype=bool)]
    assert np.abs(correlations).max() < 0.17  # 5 times 1 / sqrt(1024)


def test_scores_and_weights_follow_the_inputs():
    plain = Scaling(d_k=256, divisor="nothing", draw=5)
    root = Scaling(d_k=256, divisor="√d_k", draw=5)
    full = Scaling(d_k=256, divisor="d_k", draw=5, size=2, temperature=4)
    np.testing.assert_allclose(root.scores, plain.products / 16)
    np.testing.assert_allclose(full.scores, plain.products / 256)
    np.testing.assert_allclose(root.weights, reference.softmax(plain.products / 16))
    assert 1 <= plain.effective_keys < root.effective_keys < full.effective_keys <= 8
    even = np.full(8, 1 / 8)
    assert Scaling(d_k=1024, divisor="d_k", temperature=10, size=0.25).jacobian_norm == (
        pytest.approx(np.linalg.norm(np.diag(even) - np.outer(even, even)), rel=1e-3)
    )


BAD = {
    "a width between": ({"d_k": 48}, "d_k"),
    "no width": ({"d_k": 0}, "d_k"),
    "another divisor": ({"divisor": "sqrt"}, "divisor"),
    "a size of 0": ({"size": 0}, "size must be a number from 0.25 to 4, got 0"),
    "no temperature": ({"temperature": None}, "temperature must be a number from 0.1 to 10"),
    "NaN": ({"temperature": float("nan")}, "temperature must be a number"),
    "a draw below 0": ({"draw": -1}, "draw must be a whole number from 0 to 9999, got -1"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(Scaling(d_k=16, draw=2), *BAD[kind])


def test_the_stored_table_reads_without_the_widget():
    widget = Scaling(d_k=64, divisor="nothing")
    data, _ = widget._repr_mimebundle_()
    table = data["text/html"]
    assert table.count('<th scope="row">') == 8
    assert f"<td>{widget.weights[5]:.3f}</td>" in table
    assert "effectively 1.20 keys" in table
    assert "d_k=64, divisor='nothing'" in data["text/plain"]

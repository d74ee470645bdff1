import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from minitransformer import plots

ROWS, COLUMNS = ["karina", "geht", "in"], ["a", "b", "c", "d", "e"]
WEIGHTS = np.array(
    [
        [0.05, 0.15, 0.25, 0.35, 0.20],
        [0.40, 0.10, 0.10, 0.30, 0.10],
        [0.60, 0.02, 0.08, 0.18, 0.12],
    ]
)
BEFORE = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
AFTER = np.array([[0.5, 0.5], [0.25, 1.5], [0.25, 1.5]])


@pytest.fixture
def shown(monkeypatch):
    calls = []
    monkeypatch.setattr(plots, "display", lambda data, **options: calls.append((data, options)))
    return calls


def luminance(colour):
    channels = np.asarray(mpl.colors.to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def svg_of(figure, shown):
    plots.show(figure, alt="A picture")
    return shown[-1][0]["image/svg+xml"]


def cells(figure):
    """{(row, column): (shade, text artist)} as the picture has them."""
    axes = figure.axes[0]
    mesh = axes.collections[0]
    shades = mesh.get_facecolors() if mesh.get_array() is None else mesh.get_array()
    shades = np.asarray(shades).reshape(-1, shades.shape[-1])
    n_columns = len(axes.get_xticks())
    by_place = {(int(t.get_position()[1]), int(t.get_position()[0])): t for t in axes.texts}
    return {
        (row, column): (shades[row * n_columns + column], text)
        for (row, column), text in by_place.items()
    }


def test_heatmap_has_queries_in_rows_from_the_top_and_keys_in_columns():
    axes = plots.heatmap(WEIGHTS, ROWS, COLUMNS).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ROWS
    assert [label.get_text() for label in axes.get_xticklabels()] == COLUMNS
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("query", "key")
    assert axes.yaxis_inverted()


def test_heatmap_writes_each_weight_into_its_own_cell():
    found = cells(plots.heatmap(WEIGHTS, ROWS, COLUMNS))
    assert len(found) == WEIGHTS.size
    for place, (_, text) in found.items():
        assert text.get_text() == f"{WEIGHTS[place]:.2f}"


def test_a_larger_weight_is_darker_in_greyscale():
    found = cells(plots.heatmap(WEIGHTS, ROWS, COLUMNS))
    order = sorted(found, key=lambda place: WEIGHTS[place])
    brightness = [luminance(found[place][0][:3]) for place in order]
    weights = [WEIGHTS[place] for place in order]
    for (w1, b1), (w2, b2) in zip(
        zip(weights, brightness, strict=True),
        zip(weights[1:], brightness[1:], strict=True),
        strict=False,
    ):
        assert b1 > b2 if w1 < w2 else b1 == b2


def test_numbers_stand_out_from_every_shade():
    ramp = np.linspace(0, 1, 101)[None, :]
    found = cells(plots.heatmap(ramp, ["query"], [str(i) for i in range(101)]))
    for shade, text in found.values():
        dark, light = sorted((luminance(shade[:3]), luminance(text.get_color())))
        assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2, level AA


def test_the_same_weights_give_the_same_bytes(shown):
    first = svg_of(plots.heatmap(WEIGHTS, ROWS, COLUMNS), shown)
    assert svg_of(plots.heatmap(WEIGHTS.copy(), ROWS, COLUMNS), shown) == first
    assert svg_of(plots.heatmap(WEIGHTS[:, ::-1], ROWS, COLUMNS), shown) != first


def test_the_last_bit_of_a_weight_changes_nothing(shown):
    weights = np.array([[0.125, 0.375, 0.5]])  # ends of 5 in the number, steps of the colour map
    drawn = {
        svg_of(plots.heatmap(weights + noise, ["geht"], ROWS), shown)
        for noise in ([[0, 0, 0]], [[3e-17, 6e-17, 1e-16]], [[-3e-17, -6e-17, 1e-16]])
    }
    assert len(drawn) == 1


def test_the_readers_own_style_changes_nothing(shown):
    plain = svg_of(plots.movement(BEFORE, AFTER, ROWS), shown)
    with mpl.rc_context({"font.size": 20, "text.color": "red", "axes.facecolor": "black"}):
        assert svg_of(plots.movement(BEFORE, AFTER, ROWS), shown) == plain


@pytest.mark.parametrize(
    "use",
    [
        "pass",
        "plots.show(plots.heatmap([[1.0]], ['in'], ['den']), alt='A map')",
        "plots.show(plots.movement([[0, 1]], [[1, 1]], ['in']), alt='An arrow')",
    ],
    ids=["import", "heatmap", "movement"],
)
def test_matplotlib_stays_as_it_was_and_pyplot_unloaded(use):
    code = f"""
import sys, matplotlib
before = list(dict.items(matplotlib.rcParams))  # rcParams["backend"] itself would load pyplot
from minitransformer import plots
{use}
assert list(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    "figure",
    [plots.heatmap(WEIGHTS, ROWS, COLUMNS), plots.movement(BEFORE, AFTER, ROWS)],
    ids=["heatmap", "movement"],
)
def test_the_svg_needs_nothing_from_elsewhere_and_has_a_light_background(shown, figure):
    svg = svg_of(figure, shown)
    assert svg.startswith("<svg ")
    assert "<image" not in svg
    assert "<text" not in svg  # letters are outlines: no font is needed
    assert "<metadata" not in svg
    background = svg[svg.index("<path") : svg.index("/>")]
    assert "fill: #ffffff" in background
    namespaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"']*", svg)) == namespaces


def test_movement_draws_an_arrow_for_each_place_and_joins_tokens_that_share_one():
    axes = plots.movement(BEFORE, AFTER, ROWS).axes[0]
    arrows = {tuple(a.xyann): tuple(a.xy) for a in axes.texts if not a.get_text()}
    assert arrows == {(1.0, 0.0): (0.5, 0.5), (0.0, 2.0): (0.25, 1.5)}
    names = {tuple(a.xy): a.get_text() for a in axes.texts if a.get_text()}
    assert names == {(1.0, 0.0): "karina", (0.0, 2.0): "geht, in"}
    for name in (a for a in axes.texts if a.get_text()):  # beside the arrow, never across it
        assert np.dot(name.xyann, np.subtract(arrows[tuple(name.xy)], name.xy)) < 0


def test_movement_keeps_tokens_apart_that_part_ways():
    after = [*AFTER[:2], [0.75, 1.5]]
    axes = plots.movement(BEFORE, after, ROWS).axes[0]
    assert [a.get_text() for a in axes.texts if a.get_text()] == ROWS


def test_show_hands_on_the_alternative_text_in_all_three_places(shown):
    plots.show(plots.heatmap(WEIGHTS, ROWS, COLUMNS), alt=' A "map" of\n  weights < 1 ')
    data, options = shown[0]
    assert data["text/plain"] == 'A "map" of weights < 1'
    assert options == {
        "metadata": {"image/svg+xml": {"alt": 'A "map" of weights < 1'}},
        "raw": True,
    }
    assert "aria-label='A \"map\" of weights &lt; 1'" in data["image/svg+xml"][:200]


def test_show_closes_a_figure_made_with_pyplot(shown):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with mpl.rc_context({"backend": "agg"}):
        figure = pyplot.figure()
        assert pyplot.get_fignums() == [figure.number]
        plots.show(figure, alt="An empty figure")
        assert pyplot.get_fignums() == []


@pytest.mark.parametrize("alt", ["", "  \n "])
def test_show_refuses_a_picture_without_alternative_text(shown, alt):
    with pytest.raises(ValueError, match="alt is empty"):
        plots.show(Figure(), alt=alt)
    assert shown == []


@pytest.mark.parametrize(
    ("figure", "alt", "message"),
    [
        (Figure(), None, "alt must be a text, got NoneType"),
        (WEIGHTS, "A map", "figure must be a matplotlib Figure, got ndarray"),
    ],
)
def test_show_names_what_came(figure, alt, message):
    with pytest.raises(TypeError, match=message):
        plots.show(figure, alt)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (WEIGHTS.T, ValueError, r"shape \(5, 3\) do not fit 3 row labels and 5 column labels"),
        (WEIGHTS[None], ValueError, r"shape \(1, 3, 5\) do not fit"),
        (WEIGHTS - 0.03, ValueError, "negative or not finite"),
        (np.where(WEIGHTS == 0.6, np.nan, WEIGHTS), ValueError, "negative or not finite"),
        (WEIGHTS.astype(str), TypeError, "weights must hold real numbers"),
        ([[0.5], [0.5, 0.5]], ValueError, "not rectangular"),
    ],
)
def test_heatmap_refuses_what_are_no_weights(weights, error, message):
    with pytest.raises(error, match=message):
        plots.heatmap(weights, ROWS, COLUMNS)


@pytest.mark.parametrize(
    ("before", "after", "labels", "message"),
    [
        (BEFORE[:2], AFTER, ROWS, r"before must have shape \(3, 2\)"),
        (BEFORE, np.ones((3, 3)), ROWS, r"after must have shape \(3, 2\).*got \(3, 3\)"),
        (BEFORE, AFTER, ROWS[:2], r"before must have shape \(2, 2\)"),
        (BEFORE, AFTER * np.inf, ROWS, "after holds NaN or infinity"),
    ],
)
def test_movement_refuses_what_does_not_fit(before, after, labels, message):
    with pytest.raises(ValueError, match=message):
        plots.movement(before, after, labels)


def test_alignment_map_frames_the_truth_where_the_heatmap_has_the_cell():
    truth = np.zeros((3, 5), bool)
    truth[0, 4] = truth[2, 1] = True
    axes = plots.alignment_map(WEIGHTS, truth, ROWS, COLUMNS).axes[0]
    assert {frame.get_xy() for frame in axes.patches} == {(4, 0), (1, 2)}
    assert [label.get_text() for label in axes.get_yticklabels()] == ROWS
    assert axes.yaxis_inverted()


def test_alignment_map_shades_like_the_heatmap():
    nothing = np.zeros((3, 5), bool)
    maps = (
        plots.alignment_map(WEIGHTS, nothing, ROWS, COLUMNS),
        plots.heatmap(WEIGHTS, ROWS, COLUMNS),
    )
    shades = [figure.axes[0].collections[0].get_facecolors() for figure in maps]
    np.testing.assert_array_equal(*shades)


def test_alignment_map_refuses_a_truth_of_another_shape():
    with pytest.raises(ValueError, match=r"truth of shape \(5, 3\)"):
        plots.alignment_map(WEIGHTS, np.zeros((5, 3), bool), ROWS, COLUMNS)

"""Which differences between two pictures are rounding, and which are another picture."""

import base64
import io

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbval_complete import MOST_LEVELS, same_pixels, same_svg


def png(pixels):
    matplotlib.image.imsave(buffer := io.BytesIO(), pixels, format="png")
    return base64.b64encode(buffer.getvalue()).decode()


def bars(heights, label="a weight", salt="one"):
    figure = Figure((3.0, 2.0))
    axes = figure.add_subplot()
    axes.bar(range(len(heights)), heights)
    axes.set(ylim=(0, 1), title=label)
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": salt}):
        figure.savefig(buffer := io.StringIO(), format="svg", metadata={"Date": None})
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "expected"), [(MOST_LEVELS, True), (MOST_LEVELS + 1, False), (-40, False)]
)
def test_one_pixel_may_differ_by_a_shade(change, expected):
    pixels = np.full((3, 5, 3), 100, dtype=np.uint8)
    other = pixels.copy()
    other[1, 2, 0] += np.array(change).astype(np.uint8)
    assert same_pixels(png(pixels), png(other)) is expected


def test_pictures_of_two_sizes_differ():
    assert not same_pixels(png(np.zeros((3, 5, 3))), png(np.zeros((3, 6, 3))))


def test_the_names_inside_a_drawing_do_not_matter():
    one, other = bars([0.2, 0.8]), bars([0.2, 0.8], salt="two")
    assert one != other
    assert same_svg(one, other)


@pytest.mark.parametrize(
    ("heights", "label", "expected"),
    [
        ([0.2, 0.8], "a weight", True),
        ([0.2, 0.801], "a weight", True),  # a tenth of a point: nobody sees it
        ([0.2, 0.82], "a weight", False),
        ([0.2, 0.8, 0.1], "a weight", False),
        ([0.2, 0.8], "a wieght", False),
        ([0.2, 0.8], "b weight", False),
    ],
)
def test_a_drawing_may_move_by_less_than_a_point(heights, label, expected):
    assert same_svg(bars(heights, label), bars([0.2, 0.8])) is expected


def test_a_colour_may_not_change():
    drawing = bars([0.2, 0.8])
    assert "#1f77b4" in drawing
    assert not same_svg(drawing, drawing.replace("#1f77b4", "#1f77b5", 1))

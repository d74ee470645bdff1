"""What a legend tells apart in a stored figure can be told apart without colours too."""

import io
import itertools
import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from notebooks import chapter_files, read

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
APART = 0.25  # of the way from black to white
COLOUR = re.compile(r"#[0-9a-f]{6}")


def figures():
    """The stored figures: pairs of a name and the SVG."""
    for path in chapter_files():
        for cell in read(path).cells:
            for output in cell.get("outputs", ()):
                if svg := output.get("data", {}).get("image/svg+xml"):
                    yield f"{path.stem[:2]} {cell.id}", svg


FIGURES = list(figures())


def grey(colour):
    """How light a colour is, from 0 (black) to 1 (white)."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def entries(svg):
    """Of each legend its entries: pairs of form (width, dashes, markers, fill) and grey."""
    root = ElementTree.fromstring(svg)
    shapes = {one.get("id"): one for one in root.iter() if one.get("id")}
    for legend in (part for name, part in shapes.items() if re.match(r"legend_\d+", name)):
        found = []
        for part in legend:
            name = part.get("id", "")
            if re.match(r"(line2d|patch|LineCollection|PathCollection|Poly3?DCollection)", name):
                found.append(_look(part, shapes))
        yield found[1:]  # the first is the frame


def _look(part, shapes):
    form, greys = [], []
    for element in part.iter():
        style = element.get("style", "")
        stroke = tuple(re.findall(r"stroke-(?:dasharray|width): [^;]+", style))
        marker = shapes.get((element.get(LINK) or "").removeprefix("#"))
        if element.tag == f"{SVG}use" and marker is not None:
            form.append(("marker", " ".join(marker.get("d", "").split())))
            style += marker.get("style", "")
        elif element.tag == f"{SVG}path":
            form.append(("line" if "fill: none" in style else "area", stroke))
        greys += map(grey, COLOUR.findall(style))
    return form, sum(greys) / len(greys) if greys else 0.0


def alike(svg):
    """Pairs of entries in one legend that differ in colour alone."""
    return [
        (one, other)
        for legend in entries(svg)
        for one, other in itertools.combinations(legend, 2)
        if one[0] == other[0] and abs(one[1] - other[1]) < APART
    ]


@pytest.mark.parametrize(("name", "svg"), FIGURES, ids=[name for name, _ in FIGURES])
def test_no_two_entries_of_a_legend_differ_in_colour_alone(name, svg):
    assert alike(svg) == []


def test_there_are_legends_to_look_at():
    counts = [len(legend) for _, svg in FIGURES for legend in entries(svg)]
    assert sum(count >= 2 for count in counts) >= 8
    assert min(counts) >= 1


@pytest.mark.parametrize(
    ("styles", "count"),
    [
        ([{"color": "#d62728"}, {"color": "#2ca02c"}], 1),  # red and green of one lightness
        ([{"color": "#111111"}, {"color": "#bbbbbb"}], 0),
        ([{"color": "#d62728"}, {"color": "#2ca02c", "linestyle": "--"}], 0),
        ([{"color": "#d62728", "marker": "o"}, {"color": "#2ca02c", "marker": "s"}], 0),
        ([{"color": "#d62728", "marker": "o"}, {"color": "#2ca02c", "marker": "o"}], 1),
    ],
)
def test_colour_alone_is_noticed(styles, count):
    figure, buffer = Figure(), io.StringIO()
    axes = figure.add_subplot()
    for number, style in enumerate(styles):
        axes.plot([0, 1], [0, number], label=f"series {number}", **style)
    axes.legend()
    figure.savefig(buffer, format="svg")
    svg = buffer.getvalue()
    assert len(alike(svg[svg.index("<svg ") :])) == count

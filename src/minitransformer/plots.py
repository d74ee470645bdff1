"""Figures of the book: drawn with matplotlib, shown as SVG with alternative text.

A figure reads in light and dark themes (its background is opaque and light), in greyscale (the
colour map runs from light to dark), and on a machine without the fonts (letters are stored as
outlines). The same figure gives the same bytes on every machine that has the same matplotlib, so
that a stored picture can be compared with a fresh one. Matplotlib's settings stay as they were.
"""

import io
import sys
from contextlib import contextmanager
from xml.sax.saxutils import quoteattr

import matplotlib as mpl
import matplotlib.style
import numpy as np
from IPython.display import display
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ._checks import as_float

__all__ = ["alignment_map", "heatmap", "movement", "show"]

COLOUR_MAP = "viridis_r"  # perceptually uniform, also for red-green blind eyes; dark = large
INK = "#1a1a1a"
STYLE = {
    "axes.edgecolor": "#767676",
    "font.size": 10.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "minitransformer",
    "text.color": INK,
}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
CELL = 0.6  # inches a cell of a heat map is wide; it is CELL * 0.75 high
SMALL_CELL = 0.27  # inches a cell without numbers is wide and high
RIM = 0.95  # inches for the labels beside and above it


def heatmap(weights, row_labels, column_labels):
    """Draw attention weights as a table of shaded cells with the numbers written in them.

    Parameters
    ----------
    weights : array (query, key)
        Numbers that are not negative. The shade runs from 0 to the largest of them.
    row_labels, column_labels : sequences of str
        One name for each query and for each key.

    Returns
    -------
    matplotlib.figure.Figure, for :func:`show`

    Raises
    ------
    ValueError
        If the labels do not fit the weights, or a weight is negative or not finite.
    TypeError
        If the weights are not real numbers.

    Examples
    --------
    >>> figure = heatmap([[0.25, 0.75]], ["geht"], ["karina", "geht"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.25', '0.75']
    """
    # Rounded, because a last bit that differs between processors must not change the picture.
    weights = np.round(_check_weights(weights, row_labels, column_labels), 6)
    n_rows, n_columns = weights.shape
    colours = mpl.colormaps[COLOUR_MAP](weights / (weights.max(initial=0.0) or 1.0))
    with _house_style():
        figure = Figure((CELL * n_columns + RIM, 0.75 * (CELL * n_rows + RIM)), layout="tight")
        axes = figure.add_subplot()
        axes.pcolormesh(colours, edgecolors="white", linewidth=1.5)
        for row, column in np.ndindex(n_rows, n_columns):
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{weights[row, column]:.2f}",
                color=_ink_on(colours[row, column]),
                ha="center",
                va="center",
            )
        _name_cells(axes, row_labels, column_labels)
    return figure


def alignment_map(weights, truth, row_labels, column_labels):
    """Draw attention weights as shaded cells and frame those that should be large.

    Parameters
    ----------
    weights : array (query, key)
        Numbers that are not negative. The shade runs from 0 to the largest of them.
    truth : boolean array (query, key)
        ``True`` = framed.
    row_labels, column_labels : sequences of str
        One short name for each query and for each key, such as the letters of a text.

    Returns
    -------
    matplotlib.figure.Figure, for :func:`show`

    Raises
    ------
    ValueError
        If weights, truth and labels do not fit one another, or a weight is negative or not finite.
    TypeError
        If the weights are not real numbers.

    Examples
    --------
    >>> figure = alignment_map([[0.2, 0.8], [0.9, 0.1]], [[False, True], [True, False]], "ab", "xy")
    >>> len(figure.axes[0].patches)
    4
    """
    weights = np.round(_check_weights(weights, row_labels, column_labels), 6)
    truth = np.asarray(truth, bool)
    if truth.shape != weights.shape:
        raise ValueError(f"truth of shape {truth.shape} does not fit weights of {weights.shape}")
    n_rows, n_columns = weights.shape
    with _house_style():
        figure = Figure((SMALL_CELL * n_columns + RIM, SMALL_CELL * n_rows + RIM), layout="tight")
        axes = figure.add_subplot()
        colours = mpl.colormaps[COLOUR_MAP](weights / (weights.max(initial=0.0) or 1.0))
        axes.pcolormesh(colours, edgecolors="white", linewidth=0.5)
        for row, column in np.argwhere(truth):
            for colour, width in (("white", 3.0), (INK, 1.5)):  # seen on light and on dark cells
                frame = Rectangle((column, row), 1, 1, fill=False, color=colour, linewidth=width)
                axes.add_patch(frame)
        axes.set_aspect("equal")
        _name_cells(axes, row_labels, column_labels)
    return figure


def movement(before, after, labels):
    """Draw where attention moves each token: an arrow from its embedding to its output.

    Parameters
    ----------
    before, after : arrays (token, 2)
        Two coordinates a token.
    labels : sequence of str
        One name for each token. Tokens that start from one point share a label.

    Returns
    -------
    matplotlib.figure.Figure, for :func:`show`

    Raises
    ------
    ValueError
        If the shapes do not fit one another, or a coordinate is not finite.
    TypeError
        If the coordinates are not real numbers.

    Examples
    --------
    >>> figure = movement([[0, 1], [1, 1], [1, 1]], [[1, 1], [2, 1], [2, 1]], ["geht", "in", "den"])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    ['geht', 'in, den']
    """
    before, after = (_check_points(n, p, labels) for n, p in (("before", before), ("after", after)))
    names = {}
    for start, end, label in zip(before, after, labels, strict=True):
        names.setdefault((*start, *end), []).append(label)
    with _house_style():
        figure = Figure((4.4, 3.9), layout="tight")
        axes = figure.add_subplot()
        arrow = {"arrowstyle": "->", "color": INK, "shrinkA": 4, "shrinkB": 2}
        for (x, y, *end), group in names.items():
            axes.annotate("", xy=end, xytext=(x, y), arrowprops=arrow)
            across, up = np.where(np.subtract(end, (x, y)) > 0, -1, 1)  # the side without arrow
            axes.annotate(
                ", ".join(group),
                (x, y),
                xytext=(5 * across, 5 * up),
                textcoords="offset points",
                ha="left" if across > 0 else "right",
                va="bottom" if up > 0 else "top",
            )
        axes.plot(*before.T, "o", color="white", markeredgecolor=INK, label="embedding")
        axes.plot(*after.T, "o", color=INK, markersize=4, label="output")
        axes.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
        axes.margins(0.18)
        axes.grid(color="#dddddd")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower left", frameon=False)
    return figure


def show(figure, alt):
    """Display a figure as SVG, with the text for those who do not see it, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    alt : str
        What the picture shows, in a sentence or two.

    Raises
    ------
    ValueError
        If ``alt`` is empty.
    TypeError
        If ``figure`` is not a figure, or ``alt`` not a text.

    Notes
    -----
    The text is stored with the output (``metadata["image/svg+xml"]["alt"]``), inside the SVG
    (``aria-label``), and as the plain-text form for viewers that show no pictures.
    """
    if not isinstance(figure, Figure):
        raise TypeError(f"figure must be a matplotlib Figure, got {type(figure).__name__}")
    if not isinstance(alt, str):
        raise TypeError(f"alt must be a text, got {type(alt).__name__}")
    alt = " ".join(alt.split())
    if not alt:
        raise ValueError("alt is empty: say in a sentence what the picture shows")
    svg = _svg(figure).replace("<svg ", f'<svg role="img" aria-label={quoteattr(alt)} ', 1)
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)  # or a notebook shows a figure made with pyplot a second time
    display(
        {"image/svg+xml": svg, "text/plain": alt},
        metadata={"image/svg+xml": {"alt": alt}},
        raw=True,
    )


@contextmanager
def _house_style():
    with matplotlib.style.context(["default", STYLE]):
        yield


def _name_cells(axes, row_labels, column_labels):
    """Queries from top to bottom, keys from left to right, their names outside."""
    axes.set_xticks(np.arange(len(column_labels)) + 0.5, column_labels)
    axes.set_yticks(np.arange(len(row_labels)) + 0.5, row_labels)
    axes.set_xlabel("key", labelpad=8)
    axes.set_ylabel("query", labelpad=8)
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.invert_yaxis()


def _svg(figure):
    buffer = io.StringIO()
    with _house_style():
        figure.savefig(buffer, format="svg", facecolor="white", metadata=NO_METADATA)
    svg = buffer.getvalue()
    return svg[svg.index("<svg ") :]  # without the XML prologue, which has no place inside a page


def _ink_on(colour):
    """Black or white, whichever stands out more (WCAG 2 relative luminance)."""
    channels = np.asarray(colour[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def _check_weights(weights, row_labels, column_labels):
    weights = as_float("weights", weights)
    expected = (len(row_labels), len(column_labels))
    if weights.shape != expected:
        raise ValueError(
            f"weights of shape {weights.shape} do not fit {expected[0]} row labels and "
            f"{expected[1]} column labels"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("a weight is negative or not finite; scores become weights in the softmax")
    return weights


def _check_points(name, points, labels):
    points = as_float(name, points)
    if points.shape != (len(labels), 2):
        raise ValueError(
            f"{name} must have shape ({len(labels)}, 2), two coordinates for each of "
            f"{len(labels)} labels; got {points.shape}"
        )
    if not np.isfinite(points).all():
        raise ValueError(f"{name} holds NaN or infinity")
    return points

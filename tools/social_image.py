"""Draw the picture that messengers show beside a link to the book: python tools/social_image.py

It is the heat map of chapter 3: the weights of five words, computed anew.
"""

import io

import numpy as np
from matplotlib.figure import Figure
from notebooks import ROOT
from PIL import Image

from minitransformer.plots import COLOUR_MAP, INK
from minitransformer.reference import self_attention

FILE = ROOT / "book" / "_static" / "social.png"
SIZE = (1200, 630)  # pixels; what messengers ask for
WORDS = ("karina", "geht", "in", "den", "laden")
EMBEDDINGS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]])
PROMISE = (
    "A textbook on transformer",
    "attention in which nothing",
    "is claimed that the book",
    "does not run.",
)


def figure():
    """The picture as a matplotlib figure."""
    weights = self_attention(EMBEDDINGS, *[np.eye(2)] * 3)[1]
    picture = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor="white")
    axes = picture.add_axes((0.6, 0.08, 0.36, 0.76))
    axes.imshow(weights, cmap=COLOUR_MAP, vmin=0, vmax=weights.max(), aspect="auto")
    axes.set_xticks(range(5), WORDS, fontsize=17)
    axes.set_yticks(range(5), WORDS, fontsize=17)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    for (row, column), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.6 * weights.max() else INK
        axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour, size=17)
    picture.text(
        0.05, 0.66, "Attention\nYou Can Run", size=50, weight="bold", color=INK, va="center"
    )
    promise = "\n".join(PROMISE)
    picture.text(0.05, 0.3, promise, size=25, color=INK, va="center", linespacing=1.4)
    return picture


def drawn():
    """The picture as a file in memory, in 64 colours, which keeps it small."""
    large, small = io.BytesIO(), io.BytesIO()
    figure().savefig(large, format="png", dpi=100)
    Image.open(large).convert("RGB").quantize(64).save(small, format="PNG", optimize=True)
    return small


def main():
    """Write the picture where the pages look for it."""
    FILE.write_bytes(drawn().getvalue())
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()

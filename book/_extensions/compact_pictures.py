"""Write the figures of the site with fewer bytes: the same picture, to a hundredth of a point.

Matplotlib gives six decimals, and a cell of a heat map as four lines of its own with its own
clipping. What stands in the notebooks stays; the copies that the pages load are rewritten.
"""

import re
from pathlib import Path

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BETWEEN = re.compile(r">\s+<")
FILLED = re.compile(r'style="fill: (#\w+)"')
PATH = re.compile(r'(?<= d=")[^"]*')
NUMBER = re.compile(r"-?\d+\.\d+")
N = r"(-?[\d.]+)"
RECTANGLE = re.compile(rf"M{N} {N}L{N} \2L\3 {N}L\1 \4(?:L\1 \2|z)z?")
CELLS = re.compile(r'(<g id="QuadMesh_\d+")>(.*?)</g>', re.DOTALL)
CLIP = re.compile(r' clip-path="[^"]*"')


def compact(svg):
    """The picture in fewer letters.

    >>> compact('<path d="M 1.5 1 L 9.10001 1 L 9.10001 2 L 1.5 2 z " style="fill: #fff"/>')
    '<path d="M1.5 1H9.1V2H1.5z" fill="#fff"/>'
    """
    svg = FILLED.sub(r'fill="\1"', BETWEEN.sub("><", COMMENT.sub("", svg)))
    return CELLS.sub(_clip_once, PATH.sub(_shorter, svg))


def _shorter(path):
    text = NUMBER.sub(lambda number: f"{round(float(number[0]), 2):g}", path[0])
    text = re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(text.split()))
    return RECTANGLE.sub(r"M\1 \2H\3V\4H\1z", text)


def _clip_once(cells):
    """Clip a heat map as a whole where all its cells are clipped alike."""
    opening, inside = cells.groups()
    clips = set(CLIP.findall(inside))
    if len(clips) != 1 or len(CLIP.findall(inside)) != inside.count("<path"):
        return cells[0]
    return f"{opening}{clips.pop()}>{CLIP.sub('', inside)}</g>"


def rewrite(app, exception):
    """Compact the figures of the finished site."""
    if exception is not None or app.builder.format != "html":
        return
    for file in (Path(app.outdir) / app.builder.imagedir).glob("*.svg"):
        svg = file.read_text(encoding="utf-8")
        if (after := compact(svg)) != svg:
            file.write_text(after, encoding="utf-8")


def setup(app):
    app.connect("build-finished", rewrite)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

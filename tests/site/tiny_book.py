"""A book of one small chapter that holds what a chapter may hold, built with the real settings."""

import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

from nbformat import v4
from site_visits import ROOT

TEXT = """\
# A tiny chapter

**It has one of everything.**

> [!NOTE]
> A note of two paragraphs.
>
> - with a list
>
> and *more*.

> [!WARNING]
> **Mind the gap.** A title of its own.

> [!IMPORTANT] The text stands on the same line, with `code`.

> [!caution]
> Small letters.

> An honest quotation, not a box.

> [!CLAIM]
> No kind that anyone knows.

In a line: $a_{i} < b$, and displayed:

$$\\text{softmax}(x)_i = \\frac{e^{x_i}}{\\sum_j e^{x_j}}$$

| | query | key |
|---|---|---|
| first | 1 | 2 |

A price of 5 \\$ is no formula.

![A square that came along with the text](attachment:square.svg)
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="15pt"><rect/></svg>'
# One grey pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCAs4qk5QAAAABJRU5ErkJggg=="
TOC = "format: jb-book\nroot: chapters/00_tiny\n"


def _shown(source, data, metadata=None, tags=()):
    output = v4.new_output("display_data", data=data, metadata=metadata or {})
    cell = v4.new_code_cell(source, execution_count=1, outputs=[output])
    cell.metadata.tags = list(tags)
    return cell


def chapter(text=TEXT, answer="attention"):
    """The notebook: the text, pictures of two kinds, a formula as output, a solution."""
    first = v4.new_markdown_cell(text)
    svg = b64encode(SVG.encode()).decode()
    first.attachments = {"square.svg": {"image/svg+xml": svg}}
    return v4.new_notebook(
        cells=[
            first,
            _shown("1", {"image/svg+xml": SVG}, {"image/svg+xml": {"alt": "A drawing in words"}}),
            _shown("2", {"image/png": PNG}, {"image/png": {"alt": "One grey pixel"}}),
            _shown("3", {"text/latex": "$$\\sqrt{d_k}$$", "text/plain": "sqrt"}),
            _shown("4", {"text/html": "<p>an answer</p>"}, tags=["check"]),
            v4.new_code_cell(
                f'# The solution:\n# solution("{answer}")',
                execution_count=5,
                metadata={"tags": ["solution"]},
            ),
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        },
    )


def build(folder, notebook):
    """Build a book of this one notebook in ``folder``; the finished process and the pages."""
    (folder / "chapters").mkdir(parents=True)
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "book", folder / "book")
    (folder / "book" / "moved.yml").write_text("{}  # its pages have not moved\n", encoding="utf-8")
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    (folder / "chapters" / "00_tiny.ipynb").write_text(v4.writes(notebook), encoding="utf-8")
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [jupyter_book, "build", folder, "-W", "--keep-going", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done, folder / "_build" / "html"

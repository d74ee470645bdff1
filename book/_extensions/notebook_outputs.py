"""Give stored outputs what the site needs and myst-nb leaves out.

A figure's alternative text stands in the notebook as ``metadata["image/svg+xml"]["alt"]`` of its
output (minitransformer.plots.show writes it); it becomes the ``alt`` of the picture, which also
gets its size, so that the page does not jump, and waits to load until it is near.

The folded set-up cell is named as such.

A widget's stored table becomes its text equivalent under the widget. It is open, because it is all
there is where no script runs; the widget folds it when it starts.
"""

import hashlib
import io
import json
import re
from base64 import b64decode
from pathlib import Path

import imagesize
from docutils import nodes

VIEW = "application/vnd.jupyter.widget-view+json"
PICTURES = {"image/svg+xml": ".svg", "image/png": ".png"}


def stored_outputs(path):
    """The displayed outputs of a notebook: pictures by file name, widget tables by model id."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    pictures, tables = {}, {}
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", ()))
    for output in outputs:
        data = {kind: _text(value) for kind, value in output.get("data", {}).items()}
        for kind, ending in PICTURES.items():
            if kind in data:
                content = _content(kind, data[kind])
                name = hashlib.sha256(content).hexdigest() + ending  # as myst-nb names the file
                alt = output.get("metadata", {}).get(kind, {}).get("alt", "")
                pictures[name] = (alt, _size(kind, content))
        if VIEW in data:
            tables[data[VIEW]["model_id"]] = data.get("text/html", "")
    return pictures, tables


def _text(value):
    return "".join(value) if isinstance(value, list) else value


def _content(kind, text):
    if kind == "image/svg+xml":
        return "\n".join(text.splitlines()).encode("utf-8")
    return b64decode(text)


def _size(kind, content):
    """Width and height in CSS pixels, or nothing where the picture does not say."""
    if kind != "image/svg+xml":
        return imagesize.get(io.BytesIO(content))
    root = re.search(rb"<svg[^>]*>", content).group()
    points = [re.search(rb'\b%s="([\d.]+)pt"' % side, root) for side in (b"width", b"height")]
    return all(points) and tuple(round(float(match.group(1)) * 4 / 3) for match in points)


def dress(app, doctree):
    path = app.env.doc2path(app.env.docname)
    if not path.endswith(".ipynb"):
        return
    pictures, tables = stored_outputs(Path(path))
    for image in doctree.findall(nodes.image):
        alt, size = pictures.get(image["uri"].rsplit("/", 1)[-1], (None, None))
        if alt is not None:
            image["alt"] = alt
            image["loading"] = "lazy"
            if size:
                image["width"], image["height"] = map(str, size)
    for cell in doctree.findall(nodes.container):
        if "tag_setup" in cell["classes"] and "prompt_show" in cell:
            cell["prompt_show"] = "Set-up (for Colab)"
    for script in doctree.findall(nodes.raw):
        view = re.search(rf'type="{re.escape(VIEW)}">(.*?)</script>', script.astext(), re.DOTALL)
        table = view and tables.get(json.loads(view.group(1))["model_id"])
        if table:
            script.replace_self(nodes.raw("", _widget(script.astext(), table), format="html"))


def _widget(script, table):
    return (
        f'<div class="widget">{script}</div>'
        '<details class="widget-table" open><summary>The numbers as a table</summary>'
        '<div class="widget-table-box" tabindex="0" role="region" aria-label="Stored numbers">'
        f"{table}</div></details>"
    )


def setup(app):
    app.connect("doctree-read", dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

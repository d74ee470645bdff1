"""Give what notebooks store and show what the site needs and myst-nb leaves out.

A figure's alternative text stands in the notebook as ``metadata["image/svg+xml"]["alt"]`` of its
output (minitransformer.plots.show writes it); it becomes the ``alt`` of the picture. Every picture
gets its size, so that the page does not jump, and waits to load until it is near.

A widget's stored table becomes its text equivalent under the widget. It is open, because it is all
there is where no script runs; the widget folds it when it starts.

The folded set-up cell is named as such.
"""

import hashlib
import json
import re
from base64 import b64decode
from pathlib import Path

import imagesize
from docutils import nodes

VIEW = "application/vnd.jupyter.widget-view+json"
PIXELS_PER_POINT = 4 / 3
# How docutils writes the size of a picture.
SIZED = re.compile(r'(?<=\s)style="width: (\d+)px; height: (\d+)px;"(?=[^<>]*/?>)')


def stored_outputs(path):
    """What a notebook says of its outputs: texts by the pictures' hashes, tables by model id."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    texts, tables = {}, {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            stored = output.get("data", {})
            data = {kind: "".join(text) for kind, text in stored.items() if kind != VIEW}
            for kind, about in output.get("metadata", {}).items():
                if kind in data and "alt" in about:
                    texts[_hash(kind, data[kind])] = about["alt"]
            if VIEW in stored:
                tables[stored[VIEW]["model_id"]] = data.get("text/html", "")
    return texts, tables


def _hash(kind, text):
    """The name that myst-nb gives the file of a picture, without its ending."""
    content = "\n".join(text.splitlines()).encode() if "xml" in kind else b64decode(text)
    return hashlib.sha256(content).hexdigest()


def size(file):
    """Width and height of a picture in CSS pixels, or None where it does not say."""
    if file.suffix != ".svg":
        found = imagesize.get(file)
        return found if min(found) > 0 else None
    root = re.search(r"<svg[^>]*>", file.read_text(encoding="utf-8")).group()
    sides = [re.search(rf'\b{side}="([\d.]+)(pt|px)?"', root) for side in ("width", "height")]
    if not all(sides):
        return None
    scales = [PIXELS_PER_POINT if side[2] == "pt" else 1 for side in sides]
    return tuple(round(float(side[1]) * scale) for side, scale in zip(sides, scales, strict=True))


def dress(app, doctree):
    """Complete the pictures, widgets and the set-up cell of a page."""
    path = app.env.doc2path(app.env.docname)
    texts, tables = stored_outputs(Path(path)) if path.endswith(".ipynb") else ({}, {})
    for image in doctree.findall(nodes.image):
        file = Path(app.srcdir) / image["uri"].lstrip("/")
        image["loading"] = "lazy"
        image.setdefault("alt", texts.get(file.stem, ""))
        if "width" not in image and file.is_file() and (sides := size(file)):
            image["width"], image["height"] = map(str, sides)
    for cell in doctree.findall(nodes.container):
        if "tag_setup" in cell["classes"] and "prompt_show" in cell:
            cell["prompt_show"] = cell["prompt_hide"] = "Set-up (for Colab)"
    for script in list(doctree.findall(nodes.raw)):
        view = re.search(rf'type="{re.escape(VIEW)}">(.*?)</script>', script.astext(), re.DOTALL)
        if view:
            table = tables.get(json.loads(view.group(1))["model_id"])
            script.replace_self(nodes.raw("", _widget(script.astext(), table), format="html"))


def _widget(script, table):
    widget = f'<div class="widget">{script}</div>'
    if not table:
        return widget
    # A page may hold several of these: each is named by its own caption. A corner heads nothing.
    name = re.search(r"<caption>(.*?)</caption>", table)
    table = table.replace('<th scope="col"></th>', "<td></td>")
    return (
        f'{widget}<details class="widget-table" open><summary>The numbers as a table</summary>'
        '<div class="widget-table-box" tabindex="0" role="region" '
        f'aria-label="{name[1] if name else "Stored numbers"}">'
        f"{table}</div></details>"
    )


def give_attributes(app, page, template, context, doctree):
    """Say a picture's size in attributes, which a narrow page can scale, not in a fixed style."""
    if "body" in context:
        context["body"] = SIZED.sub(r'width="\1" height="\2"', context["body"])


def setup(app):
    app.connect("doctree-read", dress)
    app.connect("html-page-context", give_attributes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Let readers run and edit cells on the page, with Python in the browser (book/live).

A cell that runs gets a bar for its button; one that does not says what it lacks. The code of a
chapter's cells, those that the page hides too, goes into a file that is fetched with the first
click. Nothing of this stands in ``_static``, from where every script would be on every page.

Pyodide comes from the address ``live_pyodide``, or with LIVE=self from a copy in the site of the
folder LIVE_FROM. Which files those are, and their hashes, stands in book/live/vendor/pyodide.
"""

import gzip
import json
import os
import shutil
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from chapter_bar import links
from docutils import nodes
from live_cells import PACKAGES, analysed
from live_library import modules, write_library
from sphinx.errors import ExtensionError

SOURCE = Path(__file__).parents[1] / "live"
FOLDER = "_live"
OWN = "pyodide/"  # in FOLDER, where the site has Pyodide itself
NAMES = {"torch": "PyTorch"}


def files():
    """What of Pyodide a reader downloads: {name: bytes, compressed, integrity}."""
    return json.loads((SOURCE / "vendor/pyodide/files.json").read_text(encoding="utf-8"))["files"]


def parts(package):
    """The names of the files of a package and of what it depends on."""
    lock = json.loads((SOURCE / "vendor/pyodide/pyodide-lock.json").read_text(encoding="utf-8"))
    found, left = set(), [package]
    while left:
        entry = lock["packages"][left.pop()]
        if entry["file_name"] not in found:
            found.add(entry["file_name"])
            left.extend(entry["depends"])
    return found


@cache
def own_size():
    """Bytes of the editor and of Pyodide's scripts, compressed as servers send them."""
    scripts = (path for path in (SOURCE / "vendor").rglob("*") if path.suffix in (".js", ".mjs"))
    return sum(len(gzip.compress(path.read_bytes())) for path in scripts)


def download_size(packages, compressed=True):
    """Bytes that a reader downloads before a cell with these packages runs.

    A content network compresses what can be compressed; other hosts may not.
    """
    known = files()
    core = known.keys() - set().union(*map(parts, PACKAGES))
    wanted = core.union(*map(parts, {PACKAGES[0], *packages}))
    size = "compressed" if compressed else "bytes"
    return own_size() + sum(known[name][size] for name in wanted)


def chapter_cells(app, docname):
    """The analysed cells of a chapter."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return []
    return analysed(json.loads(path.read_text(encoding="utf-8")))


def is_self_hosted():
    return os.environ.get("LIVE") == "self"


def add_bars(app, doctree, docname):
    """Put the bars under the cells, and note what the chapter's file is to hold."""
    if app.builder.format != "html" or not docname.startswith("chapters/"):
        return
    elements = {
        container["ids"][0]: container
        for container in doctree.findall(nodes.container)
        if "cell" in container["classes"] and container["ids"] and _shows_code(container)
    }
    cells = chapter_cells(app, docname)
    title = next(doctree.findall(nodes.title)).astext()
    colab = dict(link[:2] for link in links(app.config, docname, title))["colab"]
    packages, listed = set(), []
    for cell in cells:
        packages |= cell.packages
        element = elements.get(cell.id)
        shown = element is not None and not cell.lacks
        number = sum(one["shown"] for one in listed) + 1 if shown else 0
        listed.append({"id": cell.id, "number": number, "source": cell.source, "shown": shown})
        if shown:
            size = download_size(packages, compressed=not is_self_hosted())
            _after_code(element, _bar(number, size))
        elif element is not None and (lacks := _lacks(cell)):
            _after_code(element, _note(lacks, colab))
    if any(cell["shown"] for cell in listed):
        _write(app, f"{docname}.json", {"colab": colab, "cells": listed})


def _shows_code(container):
    first = next(iter(container.children), None)
    return isinstance(first, nodes.container) and "cell_input" in first["classes"]


def _after_code(element, html):
    element.insert(1, nodes.raw("", html, format="html"))


def _bar(number, size):
    return f'<div class="live-bar" data-number="{number}" data-size="{size / 1e6:.0f} MB"></div>'


def _lacks(cell):
    return sorted(NAMES[package] for package in cell.lacks if package in NAMES)


def _note(lacks, colab):
    return (
        f'<p class="live-lacks">Needs {" and ".join(lacks)}, which a browser does not have: '
        f'<a href="{escape(colab)}">run it in Colab</a>.</p>'
    )


def _write(app, name, content):
    path = Path(app.outdir) / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def load_the_script(app, page, template, context, doctree):
    """Load the small script and the style on pages with cells that run."""
    if 'class="live-bar"' not in context.get("body", ""):
        return
    root = context["pathto"](f"{FOLDER}/", 1)
    context["metatags"] = context.get("metatags", "") + (
        f'<link rel="stylesheet" href="{root}live.css" />'
        f'<script defer src="{root}start.js" data-cells="{page}.json"></script>'
    )
    place = urlsplit(app.config.live_pyodide)
    host = f"{place.scheme}://{place.netloc}"
    context.setdefault("content_security", {}).update(
        {
            "script-src": ["'wasm-unsafe-eval'"],
            "worker-src": ["'self'"],
            "connect-src": [] if is_self_hosted() else [host],
        }
    )


def write(app, exception):
    """Copy book/live, the library and the settings beside the pages, anew at every build."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    for old in folder.glob("*"):
        if old.name != "chapters":  # of which a build writes only what changed
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(
        SOURCE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    write_library(folder / "minitransformer.zip")
    place = app.config.live_pyodide
    if is_self_hosted():
        place = OWN
        copy_pyodide(os.environ.get("LIVE_FROM", ""), folder / OWN)
    _write(app, "settings.json", {"pyodide": place, "modules": modules()})


def copy_pyodide(source, target):
    """Copy Pyodide's files into the site and see to it that they are the right ones."""
    target.mkdir(parents=True, exist_ok=True)
    for name, facts in files().items():
        file = Path(source) / name
        if not source or not file.is_file():
            raise ExtensionError(f"LIVE=self needs LIVE_FROM=folder with Pyodide's {name}")
        content = file.read_bytes()
        if facts["integrity"] != "sha256-" + b64encode(sha256(content).digest()).decode():
            raise ExtensionError(f"{file} is not the file that book/live/vendor/pyodide names")
        (target / name).write_bytes(content)


def setup(app):
    app.add_config_value("live_pyodide", "", "html", [str])
    app.connect("doctree-resolved", add_bars)
    app.connect("html-page-context", load_the_script)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Put the large part of a widget's state into files beside the pages.

A notebook carries all that its widgets need. A page need not: what a widget class names as its
``_sidecar``, a list of texts, goes into a file for each text, and the host fetches one when the
reader asks the widget for it. The state keeps the file's name and its size.
"""

import json
import re
from functools import partial
from hashlib import sha256
from pathlib import Path

from minitransformer import widgets

STATE = "application/vnd.jupyter.widget-state+json"
SCRIPT = re.compile(rf'(<script type="{re.escape(STATE)}">)(.*?)(</script>)', re.DOTALL)


def put_aside(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_widgets"
    folder.mkdir(exist_ok=True)
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lighter = SCRIPT.sub(partial(_lighten, folder), text)
        if lighter != text:
            page.write_text(lighter, encoding="utf-8")


def _lighten(folder, script):
    """The script tag of the stored state without the texts that go into files."""
    opening, stored, closing = script.groups()
    content, changed = json.loads(stored), False
    for model in content["state"].values():
        name = model["state"].get("_anywidget_id", "").rpartition(".")[2]
        part = getattr(getattr(widgets, name, None), "_sidecar", None)
        if part is not None:
            texts = model["state"][part]
            model["state"][part] = [_write(folder, text) for text in texts]
            changed = changed or model["state"][part] != texts
    if not changed:
        return script.group()
    return opening + json.dumps(content).replace("</", "<\\/") + closing


def _write(folder, text):
    if not isinstance(text, str):
        return text  # an earlier build put it aside, and the page did not change
    name = f"{sha256(text.encode()).hexdigest()[:16]}.txt"
    (folder / name).write_text(text, encoding="utf-8")
    return {"sidecar": name, "bytes": len(text)}


def setup(app):
    app.connect("build-finished", put_aside)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

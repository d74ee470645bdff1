"""Show the pictures that a notebook carries as attachments of its Markdown cells.

``![a heat map](attachment:heat.png)`` is how a notebook brings a picture along that reads the same
in Colab, in JupyterLab and on GitHub; myst-nb does not know it. Each attachment becomes a file
beside those that myst-nb writes for outputs, and the cell's text leads there.
"""

import hashlib
import json
import os
from base64 import b64decode
from pathlib import Path


def extract(app, docname, source):
    """Write the attachments of a notebook as files and let its Markdown name those."""
    if not app.env.doc2path(docname).endswith(".ipynb") or '"attachments"' not in source[0]:
        return
    notebook = json.loads(source[0])
    folder = Path(app.outdir).parent / "jupyter_execute"  # myst-nb's own
    folder.mkdir(parents=True, exist_ok=True)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        for name, kinds in cell.get("attachments", {}).items():
            content = b64decode("".join(next(iter(kinds.values()))))
            file = folder / (hashlib.sha256(content).hexdigest() + Path(name).suffix)
            file.write_bytes(content)
            text = text.replace(f"attachment:{name}", "/" + os.path.relpath(file, app.srcdir))
        cell["source"] = text
    source[0] = json.dumps(notebook)


def setup(app):
    app.connect("source-read", extract)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

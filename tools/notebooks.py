"""What the notebook tools share: where the chapters are, and how a notebook is read and stored."""

import ast
import hashlib
import os
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")

# Keys of a widget's state that a notebook does not store. The code would go stale there (a page
# loads the current module); a layout is a second model that no widget of the book sets.
UNSTORED_KEYS = ("_esm", "_css", "layout", "tabbable", "tooltip")

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


def cell_tree(source):
    """The syntax tree of a cell, lines for IPython included.

    >>> len(cell_tree("if a:\\n    %pip install b\\n!ls").body)
    2
    """
    from IPython.core.inputtransformer2 import TransformerManager  # slow to import

    return ast.parse(TransformerManager().transform_cell(source))


def chapter_files(names=(), root=ROOT):
    """The notebooks of ``chapters/`` in order; of them those whose names begin as one of ``names``.

    Raises
    ------
    ValueError
        If a name fits no chapter.
    """
    files = sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb"))
    for name in names:
        if not any(file.name.startswith(name) for file in files):
            known = ", ".join(file.stem for file in files) or "none yet"
            raise ValueError(f"no chapter begins with {name!r}; there are: {known}")
    return [file for file in files if not names or file.name.startswith(tuple(names))]


def assignment_files(keys=(), root=ROOT):
    """The instructor notebooks of ``assignments/``; of them those with one of ``keys`` ("a1").

    Raises
    ------
    ValueError
        If there is no assignment with such a key.
    """
    files = sorted((root / "assignments").glob("a[0-9]*_*.ipynb"))
    known = [file.name.partition("_")[0] for file in files]
    for key in keys:
        if key not in known:
            raise ValueError(f"no assignment {key!r}; there are: {', '.join(known) or 'none yet'}")
    return [file for file, key in zip(files, known, strict=True) if not keys or key in keys]


def read(path):
    """The notebook at ``path``, in nbformat 4."""
    return nbformat.read(path, as_version=4)


def to_text(notebook):
    """The bytes of a stored notebook as text: sorted keys, one space of indent, a final newline."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def write_atomically(path, text):
    """Write ``text`` to ``path`` so that a reader sees the old file or the new one, never half."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        if path.exists():
            draft.chmod(path.stat().st_mode)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def code_cells(notebook):
    """Pairs of cell number (from 1, all cells counted) and cell, of the code cells."""
    return [(n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "code"]


def tags(cell):
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def is_displayed(output):
    """Whether an output carries a MIME bundle (a display or a result, not a stream)."""
    return output.output_type in ("display_data", "execute_result")


def view_ids(outputs):
    """The ids of the widget models shown by ``outputs``, in order."""
    return [o.data[WIDGET_VIEW]["model_id"] for o in outputs if WIDGET_VIEW in o.get("data", {})]


def stored_state(state):
    """The part of one widget's state that a notebook stores."""
    return {key: value for key, value in state.items() if key not in UNSTORED_KEYS}


def stable_text(text):
    """``text`` with memory addresses, which change at every run, made the same."""
    return _ADDRESS.sub("0x0", text)


def stable_id(*parts):
    """A model id of the usual form (32 hexadecimal digits) that depends on ``parts`` alone."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:32]

"""Find Pyodide's files on this machine: what a page downloads when one of its cells is run.

They are 24 MB and not in the repository, and no package registry has them all. They are looked for
in the folder that the variable LIVE_PYODIDE names, and in folders ``pyodide`` beside the
repository. ``make book LIVE=self LIVE_FROM=folder`` wants the same folder.
"""

import json
import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "book" / "live" / "vendor" / "pyodide" / "files.json"


@cache
def pyodide_folder():
    """The first folder that has all files of the list, or None."""
    names = json.loads(LISTED.read_text(encoding="utf-8"))["files"]
    named = os.environ.get("LIVE_PYODIDE")
    beside = sorted(ROOT.parent.glob("*/pyodide"))
    for folder in [Path(named)] if named else beside:
        if all((folder / name).is_file() for name in names):
            return folder
    return None

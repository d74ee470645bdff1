"""How long the site takes to build from the stored outputs, whole and after one change.

Both builds run in a copy of the book in a temporary folder, so that nothing of yours is touched.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

CHANGED = "chapters/03_worked_example.ipynb"
PARTS = ("_config.yml", "_toc.yml", "assignments", "book", "chapters", "src", "tests", "tools")


BUILD = Path("tools", "build_book.py")  # what make runs


def build(folder, *options):
    """Build the book in ``folder``; the seconds it took."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, BUILD, folder, "--path-output", folder, *options],
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def plain_book(folder, notebook):
    """Build a book of this one notebook with Jupyter Book's own settings; the folder of pages."""
    shutil.copy(notebook, folder)
    (folder / "_config.yml").write_text('execute: {execute_notebooks: "off"}\n', encoding="utf-8")
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: {notebook.stem}\n", encoding="utf-8")
    build(folder)
    return folder / "_build" / "html"


def main():
    """Print the seconds of a whole build and of one after a change in one chapter."""
    with TemporaryDirectory() as folder:
        book = Path(folder) / "book"
        book.mkdir()
        for part in map(Path, PARTS):
            copy = shutil.copytree if part.is_dir() else shutil.copy
            copy(part, book / part)
        whole = build(book, "--all", "-W", "--keep-going", "-q")
        notebook = book / CHANGED
        text = notebook.read_text(encoding="utf-8")
        notebook.write_text(text.replace("karina", "karinA", 1), encoding="utf-8")
        one = build(book, "-W", "--keep-going", "-q")
    print(f"The whole site builds in {whole:.1f} s, one changed chapter in {one:.1f} s.")


if __name__ == "__main__":
    main()

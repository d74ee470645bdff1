"""A build of what changed leaves the same site as a build of everything."""

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import v4
from site_visits import ROOT

TOC = """\
format: jb-book
root: book/intro
chapters:
  - file: chapters/00_first
  - file: chapters/01_second
"""
INTRO = "# The book\n\nIt holds two chapters.\n"
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def build(book, *options):
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    done = subprocess.run(
        [jupyter_book, "build", book, "-W", "--keep-going", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(book, name, title, text="Some text.", code="x = 1"):
    cells = [v4.new_markdown_cell(f"# {title}\n\n{text}"), v4.new_code_cell(code)]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    language = {"name": "python", "pygments_lexer": "ipython3"}
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": language})
    notebook.metadata.kernelspec = kernel
    (book / "chapters" / f"{name}.ipynb").write_text(v4.writes(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of a first page and two chapters, built once."""
    book = tmp_path_factory.mktemp("changed")
    (book / "chapters").mkdir()
    shutil.copy(ROOT / "_config.yml", book)
    shutil.copytree(ROOT / "book", book / "book")
    (book / "book" / "moved.yml").write_text("{}  # its pages have not moved\n", encoding="utf-8")
    (book / "book" / "intro.md").write_text(INTRO, encoding="utf-8")
    (book / "_toc.yml").write_text(TOC, encoding="utf-8")
    write(book, "00_first", "The first")
    write(book, "01_second", "The second")
    build(book, "-q")
    return book


def words(index):
    """The search index; a word that stands nowhere any more may still be listed, with no page."""
    entries = json.loads(index.read_text(encoding="utf-8")[len("Search.setIndex(") : -1])
    return {
        part: {word: pages for word, pages in found.items() if pages != []}
        if isinstance(found, dict)
        else found
        for part, found in entries.items()
    }


def reworded(book):
    write(book, "00_first", "The first", "Other words.", "y = 2")


def renamed(book):
    write(book, "01_second", "The last")


def restyled(book):
    with (book / "book" / "_static" / "book.css").open("a", encoding="utf-8") as sheet:
        sheet.write("article { --changed: 1 }\n")


@pytest.mark.parametrize("change", [reworded, renamed, restyled])
def test_the_same_site(book, tmp_path, change):
    change(book)
    build(book, "-q")
    build(book, "-q", "--all", "--path-output", tmp_path)
    built, fresh = (folder / "_build" / "html" for folder in (book, tmp_path))
    names = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    pages = {path.relative_to(built) for path in built.rglob("*.html")}
    assert pages == {name for name in names if name.suffix == ".html"}
    assert len(pages) >= 4
    index = Path("searchindex.js")
    same = [str(name) for name in names - {index}]
    _, different, missing = filecmp.cmpfiles(built, fresh, same, shallow=False)
    assert (different, missing) == ([], [])
    assert words(built / index) == words(fresh / index)


def test_a_page_that_did_not_change_is_left_alone(book):
    page = book / "_build" / "html" / "chapters" / "01_second.html"
    other = book / "_build" / "html" / "chapters" / "00_first.html"
    written = page.stat().st_mtime_ns, other.stat().st_mtime_ns
    write(book, "00_first", "The first", "Words once more.")
    build(book, "-q")
    assert page.stat().st_mtime_ns == written[0]
    assert other.stat().st_mtime_ns > written[1]

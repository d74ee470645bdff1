"""What the build puts into the site for cells that run, and a site that serves Pyodide itself."""

import json
from types import SimpleNamespace

import live_code
import pytest
from bs4 import BeautifulSoup
from nbformat import v4
from pyodide_files import pyodide_folder
from site_visits import CHAPTERS, ROOT, config
from sphinx.errors import ExtensionError
from tiny_book import build, chapter

CELLS = {
    "numpy-code": ("import numpy as np\nx = np.ones(2)\nx", ()),
    "hidden-code": ("y = x + 1", ("remove-input",)),
    "torch-code": ("import torch\nimport json\nz = torch.ones(2)", ()),
    "after-code": ("z + 1", ()),
    "plot-code": ("import matplotlib\nprint(json.dumps(2), y)", ()),
}


def notebook():
    made = chapter()
    made.cells = made.cells[:1]
    for name, (source, tags) in CELLS.items():
        cell = v4.new_code_cell(source, id=name, execution_count=1)
        cell.metadata.tags = list(tags)
        made.cells.append(cell)
    return made


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A site of one chapter that serves Pyodide itself: its folder and its page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIVE", "self")
        patch.setenv("LIVE_FROM", str(pyodide_folder()))
        done, html = build(tmp_path_factory.mktemp("own") / "book", notebook())
    assert done.returncode == 0, done.stdout + done.stderr
    text = (html / "chapters/00_tiny.html").read_text(encoding="utf-8")
    return SimpleNamespace(html=html, page=BeautifulSoup(text, "html.parser"))


def bar(page, name):
    return page.find(id=name).find(class_="live-bar")


@pytest.mark.pyodide
def test_a_bar_stands_under_each_cell_that_runs(own):
    numbers = [bar(own.page, name)["data-number"] for name in ("numpy-code", "plot-code")]
    assert numbers == ["1", "2"]
    for name in ("torch-code", "after-code"):
        assert bar(own.page, name) is None
        note = own.page.find(id=name).find(class_="live-lacks")
        assert note.get_text().startswith("Needs PyTorch")
        assert note.find("a")["href"].endswith("/chapters/00_tiny.ipynb")


@pytest.mark.pyodide
def test_the_page_is_given_what_it_hides(own):
    cells = json.loads((own.html / "_live/chapters/00_tiny.json").read_text(encoding="utf-8"))
    assert [(cell["id"], cell["shown"], cell["source"]) for cell in cells["cells"]] == [
        ("numpy-code", True, "import numpy as np\nx = np.ones(2)\nx"),
        ("hidden-code", False, "y = x + 1"),
        ("torch-code", False, "import json"),
        ("after-code", False, ""),
        ("plot-code", True, CELLS["plot-code"][0]),
    ]


@pytest.mark.pyodide
def test_a_site_can_serve_pyodide_itself(own):
    settings = json.loads((own.html / "_live/settings.json").read_text(encoding="utf-8"))
    assert settings["pyodide"] == "pyodide/"
    folder = own.html / "_live" / "pyodide"
    assert {path.name for path in folder.iterdir()} == live_code.files().keys()
    sizes = [int(bar(own.page, name)["data-size"][:-3]) for name in ("numpy-code", "plot-code")]
    known = live_code.files().values()
    assert sizes[1] == pytest.approx(sum(facts["bytes"] for facts in known) / 1e6, abs=1)
    assert 14 < sizes[0] < sizes[1]
    policy = own.page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert "https:" not in policy["content"]


def test_a_folder_with_other_files_stops_the_build(tmp_path):
    with pytest.raises(ExtensionError, match="LIVE=self needs LIVE_FROM=folder with Pyodide's"):
        live_code.copy_pyodide("", tmp_path / "a")
    for name in live_code.files():
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(ExtensionError, match="is not the file"):
        live_code.copy_pyodide(tmp_path, tmp_path / "b")


def test_the_published_site_asks_the_content_network(html):
    place = config()["sphinx"]["config"]["live_pyodide"]
    listed = json.loads((ROOT / "book/live/vendor/pyodide/files.json").read_text(encoding="utf-8"))
    assert place == f"https://cdn.jsdelivr.net/pyodide/v{listed['version']}/full/"
    settings = json.loads((html / "_live/settings.json").read_text(encoding="utf-8"))
    assert settings["pyodide"] == place
    for chapter_name in CHAPTERS:
        page = (html / f"{chapter_name}.html").read_text(encoding="utf-8")
        cells = json.loads((html / f"_live/{chapter_name}.json").read_text(encoding="utf-8"))
        assert page.count('class="live-bar"') == sum(cell["shown"] for cell in cells["cells"]) > 0
        assert "connect-src 'self' https://cdn.jsdelivr.net;" in page


def test_pages_without_cells_load_nothing_of_it(html):
    page = (html / "book" / "glossary.html").read_text(encoding="utf-8")
    assert "_live/" not in page
    assert "wasm-unsafe-eval" not in page
    assert not list((html / "_static").rglob("codemirror*"))

"""Old addresses lead to new ones; the book's places are where the list of them says."""

import shutil
from types import SimpleNamespace

import moved
import pytest
import yaml
from docutils import nodes
from site_visits import PAGES, ROOT, served, visit
from sphinx.errors import ExtensionError

PAGE, OTHER = "chapters/01_a", "book/notes"


@pytest.fixture
def app(tmp_path):
    """What the extension asks of Sphinx, for a book of two pages."""
    (tmp_path / "book").mkdir()
    titles = {PAGE: nodes.title("", "The <first>"), OTHER: nodes.title("", "Notes")}
    return SimpleNamespace(
        srcdir=tmp_path,
        outdir=tmp_path / "html",
        builder=SimpleNamespace(format="html"),
        config=SimpleNamespace(root_doc=OTHER),
        env=SimpleNamespace(found_docs=set(titles), titles=titles),
    )


def write(app, entries):
    (app.srcdir / moved.FILE).write_text(yaml.safe_dump(entries), encoding="utf-8")


def document():
    section = nodes.section(ids=["similarities"])
    return nodes.document(None, None, "", section, nodes.container(ids=["softmax-code"]))


def test_the_site_begins_with_its_first_page(app):
    write(app, {})
    moved.put_up_signs(app, None)
    sign = (app.outdir / "index.html").read_text(encoding="utf-8")
    assert f'content="0; url={OTHER}.html"' in sign
    assert f'<a href="{OTHER}.html">' in sign
    assert 'lang="en"' in sign


def test_a_page_that_moved_leads_on(app):
    write(app, {"book/old": PAGE, "chapters/deep/old": f"{PAGE}#similarities"})
    moved.put_up_signs(app, None)
    sign = (app.outdir / "book" / "old.html").read_text(encoding="utf-8")
    assert f'content="0; url=../{PAGE}.html"' in sign
    assert "<h1>The &lt;first&gt;</h1>" in sign
    deep = (app.outdir / "chapters" / "deep" / "old.html").read_text(encoding="utf-8")
    assert 'url=../01_a.html#similarities"' in deep


def test_a_place_that_moved_within_its_page_has_both_names(app):
    write(app, {f"{PAGE}#step-1": f"{PAGE}#similarities", f"{OTHER}#x": f"{PAGE}#softmax-code"})
    page = document()
    moved.name_twice(app, page, PAGE)
    assert [node["ids"] for node in page] == [["similarities", "step-1"], ["softmax-code"]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("book/old", "book/nowhere", "no page book/nowhere"),
        (PAGE, OTHER, "is still there"),
        ("book/old#a", OTHER, "is gone"),
        (f"{PAGE}#step-1", f"{PAGE}#step-9", "step-9 is not there"),
        (f"{PAGE}#softmax-code", f"{PAGE}#similarities", "has softmax-code beside it still"),
    ],
)
def test_an_entry_that_leads_nowhere_stops_the_build(app, old, new, words):
    write(app, {old: new})

    def build():
        moved.name_twice(app, document(), PAGE)
        moved.put_up_signs(app, None)

    with pytest.raises(ExtensionError, match=words):
        build()


@pytest.mark.browser
def test_a_place_that_went_to_another_page_leads_there(app, browser):
    write(app, {f"{PAGE}#übersicht": f"{OTHER}#here", f"{PAGE}#step-1": f"{PAGE}#similarities"})
    context = {"metatags": ""}
    moved.lead_away(app, PAGE, "page.html", context, None)
    texts = {PAGE: f"{context['metatags']}<h1>Old</h1>", OTHER: "<h1 id='here'>New</h1>"}
    for page, text in texts.items():
        file = app.outdir / f"{page}.html"
        file.parent.mkdir(parents=True)
        file.write_text(f"<meta charset='utf-8'><title>x</title>{text}", encoding="utf-8")
    (app.outdir / "_static").mkdir()
    shutil.copy(ROOT / "book" / "_static" / "moved.js", app.outdir / "_static")
    with served(app.outdir) as address, visit(browser, f"{address}/{PAGE}.html#other") as seen:
        assert seen.page.url.endswith(f"{PAGE}.html#other")
        seen.page.evaluate("location.hash = 'übersicht'")
        seen.page.wait_for_url(f"{address}/{OTHER}.html#here")


@pytest.mark.browser
def test_a_page_that_moved_leads_to_the_same_place_of_the_new_one(app, browser):
    write(app, {"book/deep/old": OTHER})
    moved.put_up_signs(app, None)
    (app.outdir / f"{OTHER}.html").write_text("<title>x</title><h1 id='here'>New</h1>")
    (app.outdir / "_static").mkdir()
    shutil.copy(ROOT / "book" / "_static" / "moved.js", app.outdir / "_static")
    with (
        served(app.outdir) as address,
        visit(browser, f"{address}/book/deep/old.html#here") as seen,
    ):
        seen.page.wait_for_url(f"{address}/{OTHER}.html#here")


def test_a_page_from_which_nothing_went_has_no_script(app):
    write(app, {f"{PAGE}#step-1": f"{PAGE}#similarities"})
    context = {"metatags": ""}
    moved.lead_away(app, PAGE, "page.html", context, None)
    assert context == {"metatags": ""}


def test_the_first_page_of_the_built_site(html):
    assert f"url={PAGES[0]}.html" in (html / "index.html").read_text(encoding="utf-8")

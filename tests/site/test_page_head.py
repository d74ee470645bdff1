"""What search engines, messengers and readers of feeds are told, and the page that is not there."""

import shutil
import threading
from contextlib import contextmanager
from datetime import date
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import changes
import numpy as np
import page_head
import pytest
import social_image
from docutils import nodes
from parsed import parsed
from PIL import Image
from set_repository import replaced
from site_visits import PAGES, config, visit
from sphinx.errors import ExtensionError

BASE = config()["html"]["baseurl"]
ATOM = "{http://www.w3.org/2005/Atom}"


def test_the_address_of_the_site_follows_that_of_the_repository():
    assert BASE.endswith("/")
    old = config()["repository"]["url"].removeprefix("https://github.com/")
    assert replaced(BASE, old, "ada/book") == "https://ada.github.io/book/"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_what_it_is_and_where(html, page):
    head = parsed(html, page).head
    said = {m.get("name") or m.get("property"): m.get("content") for m in head.find_all("meta")}
    assert 40 <= len(said["description"]) <= page_head.LONGEST + 1
    assert said["description"].endswith((".", "…", "?", ":"))
    assert said["og:description"] == said["description"]
    assert said["og:url"] == f"{BASE}{page}.html"
    assert head.find("link", rel="canonical")["href"] == said["og:url"]
    assert said["og:title"] in parsed(html, page).title.get_text()
    assert said["og:image"] == f"{BASE}_static/social.png"
    assert head.find("link", rel="alternate")["href"] == "../feed.xml"


def test_descriptions_differ(html):
    said = [
        parsed(html, page).find("meta", attrs={"name": "description"})["content"] for page in PAGES
    ]
    assert len(set(said)) == len(PAGES)


def test_without_an_address_no_half_one_is_given():
    text = page_head.tags('A "title" <b>', "It says.", "", "Book", "_static/x.png")
    assert "og:url" not in text
    assert "og:image" not in text
    assert 'content="A &quot;title&quot; &lt;b&gt;"' in text


def test_the_sitemap_holds_the_pages_and_no_others(html):
    tree = ElementTree.parse(html / "sitemap.xml").getroot()
    addresses = [entry[0].text for entry in tree]
    assert sorted(addresses) == sorted(f"{BASE}{page}.html" for page in PAGES)
    assert f"Sitemap: {BASE}sitemap.xml" in (html / "robots.txt").read_text(encoding="utf-8")


def test_the_picture_is_the_one_that_is_drawn_and_small():
    assert social_image.FILE.stat().st_size <= 150_000
    with Image.open(social_image.FILE) as stored, Image.open(social_image.drawn()) as drawn:
        assert stored.size == social_image.SIZE
        difference = np.abs(np.asarray(stored.convert("L"), int) - np.asarray(drawn.convert("L")))
    assert difference.mean() < 1.0  # of 255: letters may move by a fraction of a pixel


def page_of_changes(*titles):
    section = nodes.section("", nodes.title("", "Changes"), ids=["changes"])
    for number, title in enumerate(titles):
        part = nodes.section("", nodes.title("", title), nodes.paragraph("", "Text & <more>."))
        part["ids"] = [f"c{number}"]
        section += part
    return nodes.document(None, None, "", section)


def test_changes_are_read_in_order():
    found = changes.changes(page_of_changes("2026-02-03: New", "2025-12-31: Old: older"))
    assert found == [
        (date(2026, 2, 3), "New", "Text & <more>.", "c0"),
        (date(2025, 12, 31), "Old: older", "Text & <more>.", "c1"),
    ]


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        (["New"], "'New' is not dated"),
        (["2026-13-01: New"], "not dated"),
        (["2025-12-31: Old", "2026-02-03: New"], "newest change stands first"),
    ],
)
def test_a_change_without_a_day_or_place_stops_the_build(titles, words):
    with pytest.raises(ExtensionError, match=words):
        changes.changes(page_of_changes(*titles))


def test_the_feed_of_the_built_site(html):
    feed = ElementTree.parse(html / "feed.xml").getroot()
    titles = [title.get_text() for title in parsed(html, changes.PAGE).select("article h2")]
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == len(titles) > 0
    for entry, title in zip(entries, titles, strict=True):
        assert title.startswith(entry.find(f"{ATOM}updated").text[:10])
        assert entry.find(f"{ATOM}title").text in title
        address, _, place = entry.find(f"{ATOM}id").text.partition("#")
        assert address == f"{BASE}{changes.PAGE}.html"
        assert parsed(html, changes.PAGE).find(id=place) is not None


class _Handler(SimpleHTTPRequestHandler):
    """Answers as a static host does: a missing page is 404.html, with that status."""

    def log_message(self, *_):
        """Say nothing."""

    def send_error(self, code, *_):
        root = self.directory_of_site
        content = (root / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def hosted(folder, prefix):
    """The site under ``folder``/``prefix`` on a host; the address of the site."""
    handler = type("Handler", (_Handler,), {"directory_of_site": folder / prefix})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{prefix}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def places(html, tmp_path_factory):
    """A folder with the site in it, at its root's root, where it is to be, and elsewhere."""
    folder = tmp_path_factory.mktemp("host")
    where = {"root": "", "set": BASE.split("/", 3)[3].strip("/"), "other": "some/where/else"}
    for prefix in where.values():
        shutil.copytree(html, folder / prefix, dirs_exist_ok=True, ignore=_but_the_frame)
    return folder, where


def _but_the_frame(folder, names):
    """What the test needs no copy of."""
    return {"_images", "_live", "_sources", "_widgets"} & set(names)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("place", "missing"),
    [
        ("set", "nothing.html"),
        ("set", "chapters/99_no.html"),
        ("set", "a/b/c/"),
        ("root", "book/deep/no.html"),
        ("root", "nothing"),
        ("other", "chapters/no.html"),
        ("other", "slides/no.html"),
        ("other", "_static/no.css"),
    ],
)
def test_a_missing_page_leads_back_from_any_depth(browser, places, place, missing):
    folder, where = places
    with hosted(folder, where[place]) as site:
        site = site.rstrip("/")
        with visit(browser, f"{site}/{missing}") as seen:
            assert seen.page.locator("h1").inner_text() == "There is no such page"
            bad = [r.url for r in seen.responses if r.status >= 400]
            assert bad == [f"{site}/{missing}"]  # the styles and scripts were found
            assert not [text for text in seen.complaints if "status of 404" not in text]
            skip = seen.page.locator("#pst-skip-link a").evaluate("link => link.href")
            assert skip == f"{site}/{missing}#main-content"
            seen.page.get_by_role("link", name="the first page").click()
            seen.page.wait_for_url(f"{site}/{PAGES[0]}.html")

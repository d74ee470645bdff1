"""What the site's tests stand on: the built pages, a server for them, and visits in Chromium."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from chromium import CHROMIUM, FLAGS
from site_server import served

__all__ = [
    "CHAPTERS",
    "CHROMIUM",
    "DESKTOP",
    "FLAGS",
    "HTML",
    "PAGES",
    "PHONE",
    "ROOT",
    "Visit",
    "config",
    "scroll_through",
    "served",
    "toc_pages",
    "visit",
]

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
DESKTOP, PHONE = (1280, 900), (390, 844)


def config():
    """The book's settings, as ``_config.yml`` has them."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def toc_pages():
    """The pages of the table of contents in order, without ending, the first page first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = toc.get("parts", [toc])
    return [toc["root"], *(entry["file"] for part in parts for entry in part["chapters"])]


PAGES = toc_pages()
CHAPTERS = [page for page in PAGES if page.startswith("chapters/")]


@dataclass
class Visit:
    """A page in the browser and what happened since it was asked for."""

    page: object
    address: str
    foreign: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    responses: list = field(default_factory=list)

    def listen(self):
        """Note requests, answers and complaints from now on; requests to other hosts fail."""
        host = urlsplit(self.address).netloc
        self.page.route(lambda url: _is_foreign(url, host), lambda route: route.abort())
        self.page.on("request", lambda r: _is_foreign(r.url, host) and self.foreign.append(r.url))
        self.page.on("response", lambda response: self.responses.append(response))
        self.page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        self.page.on("console", self._console)
        self.page.on(
            "requestfailed",
            lambda r: self.complaints.append(f"request failed: {r.url} {r.failure}"),
        )

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")


def _is_foreign(url, host):
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != host


@contextmanager
def visit(browser, address, *, size=DESKTOP, dark=False, scripts=True):
    """Open a page as a new reader would: nothing stored, the system's theme, no scrolling yet."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )
    context.set_default_timeout(10_000)
    seen = Visit(context.new_page(), address)
    seen.listen()
    try:
        seen.page.goto(address, wait_until="load")
        seen.page.wait_for_load_state("networkidle")
        yield seen
    finally:
        context.close()


def scroll_through(page):
    """Pass all of the page before the reader's eyes, so that whatever loads late has loaded."""
    page.evaluate(
        """async () => {
          for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
            scrollTo(0, y);
            await new Promise((done) => setTimeout(done, 30));
          }
          scrollTo(0, 0);
        }"""
    )
    page.wait_for_load_state("networkidle")

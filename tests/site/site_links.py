"""Where the links of the built pages lead, read from the files without a browser."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids.add(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


def _read(file):
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def broken_links(html):
    """Links between the pages under ``html`` that lead to no file or to no place in it."""
    pages = {file: _read(file) for file in html.rglob("*.html") if "_static" not in file.parts}
    broken = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                broken.append(f"{file.relative_to(html)}: no file {link}")
            elif target in pages and unquote(parts.fragment) not in {"", *pages[target].ids}:
                broken.append(f"{file.relative_to(html)}: no place {link}")
    return broken

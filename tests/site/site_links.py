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
        for name in ("href", "src") if tag != "base" else ():
            if attributes.get(name):
                self.links.append(attributes[name])

    def internal(self):
        """The links that stay on the site, in parts."""
        parts = map(urlsplit, self.links)
        return [part for part in parts if not part.scheme and not part.netloc]


def _read(file):
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def _read_all(html):
    return {file: _read(file) for file in html.rglob("*.html") if "_static" not in file.parts}


def followed(html):
    """How many links of each page lead to another place of the site: {page: number}."""
    pages = _read_all(html).items()
    return {str(file.relative_to(html).with_suffix("")): len(p.internal()) for file, p in pages}


def broken_links(html):
    """Links between the pages under ``html`` that lead to no file or to no place in it."""
    pages = _read_all(html)
    broken = []
    for file, page in pages.items():
        for link in page.internal():
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            if not target.is_file():
                broken.append(f"{file.relative_to(html)}: no file {link.geturl()}")
            elif target in pages and unquote(link.fragment) not in {"", *pages[target].ids}:
                broken.append(f"{file.relative_to(html)}: no place {link.geturl()}")
    return broken

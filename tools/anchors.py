"""Add the places that readers may link to, to the list of them: make anchors

``book/anchors.txt`` lists the sections, code cells, terms and references of all pages. A link that
somebody made to one of them is to stay good: a test compares the list with the built site, and what
is no longer there needs an entry in ``book/moved.yml``. So this only ever adds to the list.
"""

import re

from notebooks import ROOT, write_atomically

LIST = ROOT / "book" / "anchors.txt"
HTML = ROOT / "_build" / "html"
PLACE = re.compile(
    r'<(?:section[^>]* id="([^"]+)"|div class="cell[ "][^>]*id="([^"]+)"|(?:dt|li) id="([^"]+)")'
)
ARTICLE = re.compile(r'<article class="bd-article">(.*)</article>', re.DOTALL)


def places(html):
    """The places of one page that readers may link to.

    >>> places('<article class="bd-article"><section id="sums"><p id="x"></p></article>')
    ['sums']
    """
    article = ARTICLE.search(html)
    return [a or b or c for a, b, c in PLACE.findall(article[1])] if article else []


def of_site(html):
    """All places of the site built in ``html``, as ``page#place``."""
    found = set()
    for file in html.rglob("*.html"):
        page = file.relative_to(html).with_suffix("").as_posix()
        if page.split("/")[0] in ("book", "chapters"):
            found.update(f"{page}#{place}" for place in places(file.read_text(encoding="utf-8")))
    return found


def listed(file):
    """The places in the list."""
    return set(file.read_text(encoding="utf-8").split()) if file.exists() else set()


def add(html, file):
    """Add the places of a site to a list; how many there were, and how many are new."""
    known = listed(file)
    new = of_site(html) - known
    write_atomically(file, "\n".join(sorted(known | new)) + "\n")
    return len(known), len(new)


if __name__ == "__main__":
    print("book/anchors.txt: {} places before, {} added".format(*add(HTML, LIST)))

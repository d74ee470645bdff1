"""Write the feed of what changed in the book from ``book/changes.md``.

A section of that page is one change, dated in its title: ``## 2026-11-30: Cells run on the page``.
"""

import re
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

from docutils import nodes
from read_chapters import tree
from sphinx.errors import ExtensionError

PAGE, FEED = "book/changes", "feed.xml"
TITLE = re.compile(r"(\d{4}-\d\d-\d\d): (.+)")


def changes(document):
    """The changes on the page, as (day, title, text, id).

    Raises
    ------
    ExtensionError
        If a title has no date, or the changes are not in order, the newest first.
    """
    found = []
    for section in document.findall(nodes.section):
        if isinstance(section.parent, nodes.section):
            title = section.next_node(nodes.title).astext()
            day, what = _dated(title)
            text = " ".join(" ".join(part.astext().split()) for part in section.children[1:])
            found.append((day, what, text, section["ids"][0]))
    days = [change[0] for change in found]
    if days != sorted(days, reverse=True):
        raise ExtensionError(f"{PAGE}: the newest change stands first")
    return found


def _dated(title):
    match = TITLE.fullmatch(title)
    try:
        return date.fromisoformat(match[1]), match[2]
    except (TypeError, ValueError):
        raise ExtensionError(f"{PAGE}: {title!r} is not dated as in '2026-11-30: What'") from None


def feed(found, base, title):
    """The changes as an Atom feed; ``base`` is the address of the site."""
    page = f"{base}{PAGE}.html"
    entries = "".join(
        f"<entry><title>{escape(what)}</title><id>{page}#{id_}</id>"
        f'<link href="{page}#{id_}"/><updated>{day}T00:00:00Z</updated>'
        f"<summary>{escape(text)}</summary></entry>\n"
        for day, what, text, id_ in found
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{escape(title)}: changes</title><id>{page}</id>\n"
        f'<link rel="self" href="{base}{FEED}"/><link href="{page}"/>\n'
        f"<author><name>{escape(title)}</name></author><updated>{found[0][0]}T00:00:00Z</updated>\n"
        f"{entries}</feed>\n"
    )


def link(app, page, template, context, doctree):
    """Tell readers of feeds on every page that there is one."""
    if doctree is not None and PAGE in app.env.found_docs and app.config.html_baseurl:
        context["metatags"] = context.get("metatags", "") + (
            f'<link rel="alternate" type="application/atom+xml" title="Changes" '
            f'href="{context["pathto"](FEED, 1)}" />'
        )


def write(app, exception):
    """Write the feed."""
    if exception is not None or app.builder.format != "html":
        return
    if PAGE in app.env.found_docs and app.config.html_baseurl:
        found = changes(tree(app.env, PAGE))
        text = feed(found, app.config.html_baseurl, app.config.html_title)
        (Path(app.outdir) / FEED).write_text(text, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", link)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

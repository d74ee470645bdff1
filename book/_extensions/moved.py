"""Lead from old addresses to new ones, and from the site's address to its first page.

``book/moved.yml`` says what went where. A page that moved leaves a page behind that leads on, to
the same place of the new page if one was asked for. A place that moved within its page is one place
with two names. For a place that went to another page the old page gets a small script, because a
server never sees which place was asked for.
"""

import json
from html import escape
from pathlib import Path

import content_security
import yaml
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.osutil import relative_uri

FILE = "book/moved.yml"
SIGN = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
{script}
<title>{title}</title>
</head>
<body><main><h1>{title}</h1><p>This page is at <a href="{address}">{address}</a>.</p></main></body>
</html>
"""


def read(root):
    """What has moved: {(page, place): (page, place)}; an empty place is the page itself."""
    entries = yaml.safe_load((Path(root) / FILE).read_text(encoding="utf-8"))
    return {parted(old): parted(new) for old, new in entries.items()}


def parted(address):
    """Page and place of an address.

    >>> parted("book/intro#the-path"), parted("book/intro")
    (('book/intro', 'the-path'), ('book/intro', ''))
    """
    page, _, place = address.partition("#")
    return page, place


def check(moved, pages):
    """Stop where an entry leads nowhere, or away from a page that is there."""
    for (old, place), (new, _) in moved.items():
        if new not in pages:
            raise ExtensionError(f"{FILE}: there is no page {new}")
        if (old in pages) == (place == ""):
            problem = "is still there" if old in pages else "is gone: say where the page went"
            raise ExtensionError(f"{FILE}: {old} {problem}")


def address(old, new, place=""):
    """The way from one page to another, in the files of the site."""
    uri = relative_uri(f"{old}.html", f"{new}.html")
    return f"{uri}#{place}" if place else uri


def note(app, page, source):
    """Make every page anew when something moves."""
    app.env.note_dependency(str(Path(app.srcdir) / FILE))


def name_twice(app, doctree, page):
    """Give places that moved within a page their old names as well."""
    targets = {id_: node for node in doctree.findall(nodes.Element) for id_ in node.get("ids", ())}
    for (old, was), (new, place) in read(app.srcdir).items():
        if old == new == page:
            if place not in targets or was in targets:
                where = "is not there" if place not in targets else f"has {was} beside it still"
                raise ExtensionError(f"{FILE}: {page}#{place} {where}")
            targets[place]["ids"].append(was)


def lead_away(app, page, template, context, doctree):
    """Give a page whose places went to other pages the script that leads there."""
    away = {
        was: address(page, new, place)
        for (old, was), (new, place) in read(app.srcdir).items()
        if old == page != new
    }
    if away:
        context["metatags"] = context.get("metatags", "") + script(page, away)


def script(page, away):
    """What leads on from places of a page, given as {place: address}."""
    places = json.dumps(away).replace("<", "\\u003c")
    source = relative_uri(f"{page}.html", "_static/moved.js")
    return (
        f'<script type="application/json" id="moved-places">{places}</script>'
        f'<script defer src="{source}"></script>'
    )


def put_up_signs(app, exception):
    """Write the pages that lead on, the site's first one among them."""
    if exception is not None or app.builder.format != "html":
        return
    signs = {"index": (app.config.root_doc, "")}
    moved = read(app.srcdir)
    check(moved, app.env.found_docs)
    signs |= {old: new for (old, place), new in moved.items() if not place}
    for old, (new, place) in signs.items():
        title, there = app.env.titles[new].astext(), address(old, new, place)
        file = Path(app.outdir) / f"{old}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            SIGN.format(
                policy=content_security.tag({}),
                address=escape(there),
                script="" if place else script(old, {"": there}),
                title=escape(title),
            ),
            encoding="utf-8",
        )


def setup(app):
    app.connect("source-read", note)
    app.connect("doctree-resolved", name_twice)
    app.connect("html-page-context", lead_away)
    app.connect("build-finished", put_up_signs, priority=400)  # before the table of contents' own
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Draw the theme's icons in the page, from the few pictures in use.

The theme names its icons by Font Awesome's classes (``<i class="fa-solid fa-bars">``) and draws
them with a script of 1.5 MB. Here the picture in ``_static/vendor/fontawesome`` takes the place of
the name, which keeps its classes. A test sees to it that every name in the built pages has one.
"""

import re
from functools import cache
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "_static" / "vendor" / "fontawesome"
NAMED = re.compile(r'<(i|span) class="([^"]*\bfa-([a-z-]+)[^"]*)"([^>]*)></\1>')
STYLES = ("solid", "brands", "regular", "lg", "sm")  # and not names of pictures
TITLE = re.compile(r' *title="[^"]*"')  # the name of the button says it


@cache
def picture(name):
    """The window and the shapes of a picture, or None if there is none of that name."""
    file = PICTURES / f"{name}.svg"
    if not file.is_file():
        return None
    svg = file.read_text(encoding="utf-8")
    return re.search(r'viewBox="[^"]*"', svg)[0], "".join(re.findall(r"<path[^>]*/>", svg))


def drawn(html):
    """A page with pictures for the names.

    >>> drawn('<i class="fa-solid fa-bars fa-lg" title="Bars"></i>')[:64]
    '<svg class="fa-solid fa-bars fa-lg" aria-hidden="true" viewBox="'
    """
    return NAMED.sub(_draw, html)


def _draw(named):
    names = re.findall(r"\bfa-([a-z-]+)", named[2])
    found = next(filter(None, (picture(name) for name in names if name not in STYLES)), None)
    if found is None:
        return named[0]
    attributes, (window, shapes) = TITLE.sub("", named[4]).rstrip(), found
    return f'<svg class="{named[2]}"{attributes} aria-hidden="true" {window}>{shapes}</svg>'


def draw(app, exception):
    """Draw the icons of the finished pages."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        if (after := drawn(html)) != html:
            page.write_text(after, encoding="utf-8")


def setup(app):
    app.connect("build-finished", draw)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Let a page load only what it uses, and show itself before its scripts run.

Scripts in a page's head hold up the first paint, each for a round trip: here they are deferred,
which keeps their order. Without them in the way, nothing asks for the lines of script that the
theme writes into every page for its version switcher, which the book has not.

In code, names and punctuation have the colour of all text; they need no elements of their own,
which were half of those on a page.

The letters of the text are asked for at once, and those of formulas and slanted ones on pages that
have some: late they would move the text, or not be shown at all.

What the theme puts into the site and no page loads (its icons as a script and as fonts, Bootstrap,
source maps) is not published.
"""

import re
import shutil
from pathlib import Path

CODE = re.compile(r'<div class="highlight"><pre>.*?</pre>', re.DOTALL)
COLOURLESS = re.compile(r'<span class="(?:n|nn|p|w)">([^<]*)</span>')
FACES = {  # each with what stands in a page that has letters of it
    "source-sans/source-sans-3-latin-wght-normal": "",
    "katex/fonts/KaTeX_Main-Regular": 'class="mrel"',
    "katex/fonts/KaTeX_Math-Italic": "mathnormal",
    "katex/fonts/KaTeX_Size1-Regular": "small-op",
    "source-sans/source-sans-3-latin-wght-italic": "<em>",
}
FACE = '<link rel="preload" as="font" type="font/woff2" crossorigin href="{}" />'
UNUSED = (
    "_static/scripts/bootstrap.js*",
    "_static/scripts/fontawesome.js*",
    "_static/scripts/*.map",
    "_static/styles/*.map",
    "_static/vendor/fontawesome/webfonts",
    "_static/locales",
    "_static/*webpack-macros.html",
)


def lighten(app, page, template, context, doctree):
    """Defer the scripts of a page and leave out what it does not need."""
    if page != "search":  # whose own scripts, written into its template, wait for none
        context["script_files"] = [
            _deferred(script) for script in context["script_files"] if not _switches(script)
        ]
    if "body" in context:
        context["body"] = CODE.sub(_plainer, context["body"])
    needed = [face for face, letters in FACES.items() if letters in context.get("body", "")]
    files = [f"_static/vendor/{face}.woff2" for face in needed]
    faces = "".join(FACE.format(context["pathto"](file, 1)) for file in files)
    context["metatags"] = context.get("metatags", "") + faces


def _plainer(code):
    return COLOURLESS.sub(r"\1", code[0])


def _switches(script):
    """Whether this is a line of script for the version switcher."""
    return script.attributes.get("body", "").startswith("DOCUMENTATION_OPTIONS.")


def _deferred(script):
    """The same script, run once the page is parsed; modules and written-out ones stay."""
    if script.filename is None or "type" in script.attributes:
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def clear(app, exception):
    """Take out of the finished site what no page loads."""
    if exception is not None or app.builder.format != "html":
        return
    for pattern in UNUSED:
        for found in Path(app.outdir).glob(pattern):
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink()


def setup(app):
    app.connect("html-page-context", lighten, priority=950)  # once all have asked for theirs
    app.connect("build-finished", clear)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Make the empty corner of a table what it is: a cell, not a heading without words.

``| | query | key |`` is the portable way to leave the corner of a table empty. Sphinx makes a
heading of it, which a screen reader announces with nothing to say.
"""

CORNER, CELL = '<th class="head"><p></p></th>', "<td></td>"


def fill(app, pagename, templatename, context, doctree):
    """Replace empty headings in the article's tables."""
    if "body" in context:
        context["body"] = context["body"].replace(CORNER, CELL)


def setup(app):
    app.connect("html-page-context", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

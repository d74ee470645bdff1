"""Turn portable callouts into admonitions.

Chapters write ``> [!TIP]`` as GitHub does, because that is readable wherever a notebook is opened.
On the site such a block quote becomes a box. One that begins with a bold word and a full stop,
``**Predict.**``, takes that word as its title and its kind, for the style sheet to dress.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

KINDS = ("note", "tip", "important", "warning", "caution")
MARK = re.compile(rf"\[!({'|'.join(KINDS)})\]\s*", re.IGNORECASE)


class Callouts(SphinxTransform):
    """Runs before Sphinx looks at the text, while block quotes are as the chapter wrote them."""

    default_priority = 100

    def apply(self):
        for quote in list(self.document.findall(nodes.block_quote)):
            first = quote.children[0] if quote.children else None
            if not isinstance(first, nodes.paragraph) or not first.children:
                continue
            mark = MARK.match(first.children[0].astext())
            if mark and isinstance(first.children[0], nodes.Text):
                quote.replace_self(admonition(quote, first, mark))


def admonition(quote, first, mark):
    """The box for one quote whose first paragraph begins with a mark."""
    kind = mark.group(1).lower()
    first[0] = nodes.Text(first[0].astext()[mark.end() :])
    _strip_start(first)
    title, classes = kind.capitalize(), ["admonition", kind]
    if first.children and isinstance(first[0], nodes.strong) and first[0].astext().endswith("."):
        title = first.pop(0).astext().rstrip(".")
        classes.append(nodes.make_id(title))
        _strip_start(first)
    box = nodes.admonition("", classes=classes)
    box += nodes.title(title, title)
    box += [child for child in quote.children if child.children or child is not first]
    return box


def _strip_start(paragraph):
    """Take line breaks and spaces off the start of a paragraph."""
    while paragraph.children and isinstance(paragraph[0], nodes.Text):
        rest = paragraph[0].astext().lstrip()
        if rest:
            paragraph[0] = nodes.Text(rest)
            return
        paragraph.pop(0)


def setup(app):
    app.add_transform(Callouts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

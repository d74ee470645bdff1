"""A deck of slides for each stretch of the path, made of what its chapters show and ask.

A chapter gives a slide with its question, one with its goals, one for each prediction, statement
and figure, in the order of the text. Nothing is written twice: pictures are those of the pages,
and below them stand the first sentences of the caption and of what follows it. The page that asks
for it gets the list of decks.
"""

import re
from dataclasses import dataclass
from html import escape
from itertools import dropwhile, takewhile
from pathlib import Path

from book_path import read_path
from docutils import nodes

PLACE = "<!-- the decks of slides -->"
GOALS = "What you will be able to do"
# How notebook_outputs.py keeps the table of a statement, whose first column is the statement.
STATEMENT = re.compile(r"Where no script runs</caption>.*?<th scope=\"row\">(.*?)</th>", re.DOTALL)
CAPTION = re.compile(r"Figure \d+\.")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])[”)]?(?=\s+[A-Z“]|\s*$)")


@dataclass(frozen=True)
class Slide:
    """One slide: its kind, which the style sheet knows, its title, its body, and where it is from.

    Attributes
    ----------
    kind : str
        ``"chapter"``, ``"goals"``, ``"predict"``, ``"statement"`` or ``"figure"``.
    title : str
    body : str
        HTML.
    address : str
        The place in the chapter, from the folder of the slides.
    """

    kind: str
    title: str
    body: str
    address: str


def chapter_slides(app, station):
    """The slides of one chapter."""
    doctree = app.env.get_doctree(station.page)
    address = f"../{station.page}.html"
    promise = next(doctree.findall(nodes.paragraph))
    asks = f'<p class="question">{escape(station.asks)}</p>'
    yield Slide("chapter", station.title, asks + html(app, promise), address)
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title).astext()
        for node in section.children:
            for kind, body in _worth_showing(app, node, title):
                place = (node.get("ids") or section["ids"])[0]
                yield Slide(kind, title, body, f"{address}#{place}")


def _worth_showing(app, node, title):
    """Pairs of kind and HTML for what a node of a section gives to the slides."""
    if isinstance(node, nodes.admonition) and "predict" in node["classes"]:
        yield "predict", "".join(html(app, child) for child in node.children[1:])
    elif isinstance(node, nodes.bullet_list) and title == GOALS:
        yield "goals", html(app, node)
    elif isinstance(node, nodes.container):
        written = " ".join(raw.astext() for raw in node.findall(nodes.raw))
        if found := STATEMENT.search(written):
            yield "statement", f"<p>{found[1]}</p><p>Right, wrong, or only if …?</p>"
        for image in node.findall(nodes.image):
            yield "figure", _picture(app, image) + _said_of(app, node)


def _picture(app, image):
    _, name = app.env.images[image["uri"]]
    file = f"../{app.builder.imagedir}/{name}"
    size = "".join(f' {side}="{image[side]}"' for side in ("width", "height") if side in image)
    return f'<img src="{file}" alt="{escape(image["alt"])}" loading="lazy"{size}>'


def _said_of(app, cell):
    """What a figure draws, and what it shows: the first sentences of its caption and thereafter."""
    following = cell.parent.children[cell.parent.index(cell) + 1 :]
    texts = dropwhile(lambda node: not isinstance(node, nodes.paragraph), following)
    texts = list(takewhile(lambda node: isinstance(node, nodes.paragraph), texts))
    captioned = bool(texts and CAPTION.match(texts[0].astext()))
    said = [html(app, first_sentence(text)) for text in texts[: 1 + captioned]]
    return (
        f'<div class="caption">{said.pop(0)}</div>{"".join(said)}' if captioned else "".join(said)
    )


def first_sentence(paragraph):
    """A copy of a paragraph that ends with its first sentence; the number of a figure is none."""
    found = paragraph.copy()
    for child in paragraph.children:
        if isinstance(child, nodes.strong) and CAPTION.fullmatch(child.astext()):
            continue
        end = END_OF_SENTENCE.search(child.astext()) if isinstance(child, nodes.Text) else None
        found += nodes.Text(child.astext()[: end.end()]) if end else child.deepcopy()
        if end or _ends(child):
            break
    return found


def _ends(node):
    """Whether emphasised words are a sentence of their own."""
    words = isinstance(node, nodes.strong | nodes.emphasis)
    return words and node.astext().endswith((".", "!", "?"))


def html(app, node):
    """The HTML of a node, without the links in it."""
    node = node.deepcopy()
    for link in list(node.findall(lambda n: isinstance(n, nodes.reference))):
        link.replace_self(link.children)
    return app.builder.render_partial(node)["fragment"].strip()


def decks(app):
    """Triples of page, name of the stretch, and its finished chapters."""
    for number, (name, stations) in enumerate(read_path(Path(app.srcdir), app.env.found_docs), 1):
        finished = [station for station in stations if station.minutes is not None]
        if finished:
            yield f"slides/part-{number}", name, finished


def collect(app):
    """Make the pages of the decks."""
    if app.builder.format != "html":
        return
    for page, name, stations in decks(app):
        chapters = [(station, list(chapter_slides(app, station))) for station in stations]
        body = "".join(slide.body for _, slides in chapters for slide in slides)
        yield page, {"title": name, "chapters": chapters, "body": body}, "slides.html"


def fill(app, page, source):
    """Put the list of the decks where a page asks for it."""
    if PLACE in source[0]:
        lines = [
            f'- <a href="../{page}.html">{escape(name)}</a>: chapters {stations[0].number} to '
            f"{stations[-1].number}"
            for page, name, stations in decks(app)
        ]
        source[0] = source[0].replace(PLACE, "\n".join(lines))


def setup(app):
    app.connect("source-read", fill)
    app.connect("html-collect-pages", collect)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

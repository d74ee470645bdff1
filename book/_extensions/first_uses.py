"""Say in the glossary where each term is used first, and tell the search what each term means.

The first use is found in the text of the chapters, in their order: titles and prose, not code or
formulas; a term that stands in the sources of chapters alone is used there. The search page gets
the terms with their definitions, for ``glossary_search.js`` to show a definition before all that
merely mentions the word.
"""

import re
from itertools import chain

from docutils import nodes
from read_chapters import Place, chapters, depend_on_chapters, number, place, tree

PAGE = "book/glossary"
SHORT = re.compile(r"\bShort: (\w+)")
# Where the chapters use the word of a term for something else.
OTHER_SENSES = re.compile(
    r"in your head|mind that\s+blocks|block-diagonal|the three\s+blocks"
    r"|(?:each time with|each with a) loss|(?:no|every) exponent is"
)
NO_PROSE = (nodes.literal_block, nodes.literal, nodes.raw, nodes.math, nodes.math_block)
NO_PROSE += (nodes.comment, nodes.image)


def names(term, definition):
    """All that a term goes by: itself, both parts of a pair, its short form.

    >>> names("top-k and top-p", "Ways to choose."), names("cache", "Kept. Short: KVC.")
    (['top-k and top-p', 'top-k', 'top-p'], ['cache', 'KVC'])
    """
    parts = term.split(" and ")
    return [term, *(parts if len(parts) > 1 else ()), *SHORT.findall(definition)]


def pattern(name):
    """What a name looks like in a text: small or large letters, one or several of it.

    >>> [bool(pattern("key").search(text)) for text in ("Keys find", "the keyboard", "a key")]
    [True, False, True]
    >>> bool(pattern("top-k").search("a top k list")), bool(pattern("entropy").search("Entropies"))
    (True, True)
    """
    words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", name))
    if words.endswith("y"):
        words = words[:-1] + "(?:y|ies)"
    return re.compile(rf"(?<![\w-]){words}(?:e?s)?(?![\w-])", re.IGNORECASE)


def prose(document):
    """The texts of a chapter in order, as pairs of text and the node that holds it."""
    for block in document.findall(nodes.TextElement):
        if not isinstance(block, NO_PROSE) and not isinstance(block.parent, nodes.TextElement):
            yield " ".join(_parts(block)), block


def _parts(node):
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif not isinstance(child, NO_PROSE):
            yield from _parts(child)


def terms(document):
    """The glossary: {anchor: (term, definition node)}."""
    found = {}
    for item in document.findall(nodes.definition_list_item):
        term = item.next_node(nodes.term)
        definition = item.next_node(nodes.definition)
        found[term["ids"][0]] = (term.astext().split("\n")[0], definition)
    return found


def first_uses(glossary, texts):
    """{anchor: the first text that uses the term}, of ``texts`` in order, as `prose` gives them."""
    open_terms = {
        anchor: [pattern(name) for name in names(term, definition.astext())]
        for anchor, (term, definition) in glossary.items()
    }
    uses = {}
    for text, node in texts:
        text = OTHER_SENSES.sub("", text)
        hits = [a for a, patterns in open_terms.items() if any(p.search(text) for p in patterns)]
        for anchor in hits:
            uses[anchor] = node
            del open_terms[anchor]
    return uses


def uses_in_chapters(env, glossary):
    """{anchor: the place of the first use}."""
    pages = {}

    def texts(in_sources):
        for page in chapters(env):
            for text, node in prose(tree(env, page)):
                pages[id(node)] = page
                if (place(node, page).id == "sources") == in_sources:
                    yield text, node

    uses = first_uses(glossary, chain(texts(False), texts(True)))
    return {anchor: place(node, pages[id(node)]) for anchor, node in uses.items()}


def note(app, page, source):
    if page == PAGE:
        depend_on_chapters(app.env)


def add(app, doctree, page):
    """Put the first use of each term under its definition."""
    if page != PAGE or app.builder.format != "html":
        return
    glossary = terms(doctree)
    uses = uses_in_chapters(app.env, glossary)
    for anchor, (_, definition) in glossary.items():
        if anchor in uses:
            definition += _sentence(uses[anchor])


def _sentence(use: Place):
    chapter = f"chapter {number(use.page)}, {use.title}"
    link = nodes.reference(chapter, chapter, refuri=use.address(), internal=True)
    return nodes.paragraph("", "", nodes.Text("First used in "), link, classes=["first-use"])


def plain(definition):
    """A definition as one line of text; of a formula its letters and digits remain."""
    parts = []
    for node in definition.next_node(nodes.paragraph).findall():
        if isinstance(node, nodes.Text):
            in_formula = isinstance(node.parent, nodes.math)
            parts.append(re.sub(r"[\\{}]|\\,", "", node.astext()) if in_formula else node.astext())
    return " ".join("".join(parts).split())


def tell_the_search(app, page, template, context, doctree):
    """Give the search page the terms: [anchor, names, definition]."""
    if page == "search" and PAGE in app.env.found_docs:
        glossary = terms(tree(app.env, PAGE))
        context["glossary_page"] = PAGE
        context["glossary_terms"] = [
            [anchor, names(term, definition.astext()), plain(definition)]
            for anchor, (term, definition) in glossary.items()
        ]


def setup(app):
    app.connect("source-read", note)
    app.connect("doctree-resolved", add)
    app.connect("html-page-context", tell_the_search)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

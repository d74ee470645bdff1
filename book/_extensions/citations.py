"""Join what a chapter cites to its entry in the references, both ways.

An entry is an item of a list in ``book/references.md``; the address that it links to is what makes
a link in a chapter a citation of it. Each entry says which chapters cite it, and each link in the
sources of a chapter is followed by one to its entry.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from read_chapters import FOLDER, chapters, depend_on_chapters, number, tree

PAGE = "book/references"
SECTIONS = ("papers-and-books", "documentation-code-and-reports-of-errors")
YEAR = re.compile(r"\((\d{4})\)")


@dataclass(frozen=True)
class Entry:
    """A work: the id of its entry, what it is called, and the item of the list."""

    id: str
    title: str
    item: nodes.list_item


def entries(document):
    """The works in the references: {address: Entry}."""
    found, ids = {}, set()
    for section in document.findall(nodes.section):
        if section["ids"][0] in SECTIONS:
            for item in section.findall(nodes.list_item):
                link = item.next_node(nodes.reference)
                id_ = _fresh(nodes.make_id(_name(item.astext())), ids)
                found[link["refuri"]] = Entry(id_, link.astext(), item)
    return found


def _name(text):
    """What the id of an entry is made of: first author and year, or maker and title.

    >>> _name("de Jong, M. and Le, Q. (2023). A Title.")
    'de Jong 2023'
    >>> _name("PyTorch, issue 103963.")
    'PyTorch, issue 103963.'
    """
    text = " ".join(text.split())
    year = YEAR.search(text)
    return f"{re.split(r',|[(]', text)[0].strip()} {year[1]}" if year else text


def _fresh(id_, taken):
    """``id_``, with a letter after it if another entry has it."""
    fresh = next(i for i in (id_, *(f"{id_}-{letter}" for letter in "bcdefgh")) if i not in taken)
    taken.add(fresh)
    return fresh


def cited(document):
    """The addresses that a chapter links to."""
    return {link["refuri"] for link in document.findall(nodes.reference) if "refuri" in link}


def sources(document):
    """The links in the sources of a chapter that lead out of the book."""
    for section in document.findall(nodes.section):
        if "sources" in section["ids"]:
            return [
                link
                for link in section.findall(nodes.reference)
                if link.get("refuri", "").startswith(("https:", "http:"))
            ]
    return []


def note(app, page, source):
    """The references are made from the chapters, and the sources of these from the references."""
    if page == PAGE:
        depend_on_chapters(app.env)
    elif page.startswith(FOLDER):
        app.env.note_dependency(str(Path(app.srcdir) / f"{PAGE}.md"))


def name_entries(app, document):
    """Give each entry its id, where its links will lead."""
    if app.env.docname == PAGE:
        for entry in entries(document).values():
            entry.item["ids"].append(entry.id)


def join(app, document, page):
    """Add the links between a chapter and the references."""
    if app.builder.format != "html" or PAGE not in app.env.found_docs:
        return
    if page == PAGE:
        pages = {chapter: cited(tree(app.env, chapter)) for chapter in chapters(app.env)}
        for address, entry in entries(document).items():
            citing = [chapter for chapter, addresses in pages.items() if address in addresses]
            if citing:
                entry.item[-1] += [nodes.Text(" "), _chapters(citing)]
    elif page.startswith(FOLDER):
        works = entries(tree(app.env, PAGE))
        for link in sources(document):
            if link["refuri"] in works:
                _add_entry(link, works[link["refuri"]])


def _chapters(citing):
    """The chapters that cite a work, each with its link."""
    text = nodes.inline("", "Chapter " if len(citing) == 1 else "Chapters ", classes=["cited-in"])
    for place, page in enumerate(citing):
        if place:
            text += nodes.Text(", ")
        uri = f"../{page}.html#sources"
        text += nodes.reference("", str(number(page)), refuri=uri, internal=True)
    return text


def _add_entry(link, entry):
    """A small link to the entry, after the link to the work."""
    label = f"{entry.title}, in the references".replace('"', "&quot;")
    html = (
        f' <a class="to-references" href="../{PAGE}.html#{entry.id}" aria-label="{label}">ref</a>'
    )
    link.parent.insert(link.parent.index(link) + 1, nodes.raw("", html, format="html"))


def setup(app):
    app.connect("source-read", note)
    app.connect("doctree-read", name_entries)
    app.connect("doctree-resolved", join)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

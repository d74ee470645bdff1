"""What several extensions ask of the chapters: which there are, their trees, where a node stands.

A page that is made from the chapters calls `depend_on_chapters` while it is read, so that it is
made anew when one of them changes.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes

FOLDER = "chapters/"
_trees = {}


@dataclass(frozen=True)
class Place:
    """A place in a chapter: its page, the id to link to, and the title of the section."""

    page: str
    id: str
    title: str

    def address(self):
        """The way there from a page in ``book/``."""
        return f"../{self.page}.html" + (f"#{self.id}" if self.id else "")


def chapters(env):
    """The pages of the chapters in their order."""
    return sorted(page for page in env.found_docs if page.startswith(FOLDER))


def number(page):
    """The number of a chapter.

    >>> number("chapters/03_worked_example")
    3
    """
    return int(page.removeprefix(FOLDER)[:2])


def notebook(env, page):
    """The notebook of a chapter, as it is stored."""
    return json.loads(Path(env.doc2path(page)).read_text(encoding="utf-8"))


def notebook_title(content):
    """The title of a notebook, from its first cell."""
    return "".join(content["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def tree(env, page):
    """The tree of a page that has been read. It is shared, and only to be looked at."""
    stamp = (env.doctreedir, page, env.all_docs[page])
    if stamp not in _trees:
        _trees[stamp] = env.get_doctree(page)
    return _trees[stamp]


def depend_on_chapters(env):
    """Let the page that is being read be read again when a chapter changes."""
    for page in chapters(env):
        env.note_dependency(str(env.doc2path(page)))


def place(node, page):
    """Where a node stands: the nearest section above it."""
    while node is not None and not (isinstance(node, nodes.section) and node["ids"]):
        node = node.parent
    if node is None:
        return Place(page, "", "")
    return Place(page, node["ids"][0], node.next_node(nodes.title).astext())


def cell(node):
    """The id of the notebook cell that a node is in, or None."""
    while node is not None:
        if isinstance(node, nodes.container) and "cell" in node["classes"] and node["ids"]:
            return node["ids"][-1]
        node = node.parent
    return None

"""Show the solution of an exercise, folded, where a notebook has the cell that fetches it.

The notebook holds no solution: its cell asks the library for one, once a reader takes the # off.
"""

import re

from docutils import nodes

from minitransformer.exercises import solution

FETCH = re.compile(r'^# solution\("(\w+)"\)$', re.MULTILINE)


def unfoldable(code):
    """The nodes of a folded block of Python."""
    return [
        nodes.raw("", "<details><summary>Solution</summary>", format="html"),
        nodes.literal_block(code, code, language="python"),
        nodes.raw("", "</details>", format="html"),
    ]


def fetch(app, doctree):
    """Put the solutions in place of the cells that fetch them."""
    for cell in doctree.findall(nodes.container):
        if "tag_solution" in cell["classes"] and (asked := FETCH.search(cell.astext())):
            cell.children = []
            cell.extend(unfoldable(solution(asked[1]).code))


def setup(app):
    app.connect("doctree-read", fetch)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

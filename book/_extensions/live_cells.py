"""Find out which cells of a chapter run in the browser.

There is Python with NumPy, matplotlib and the modules of the library that import nothing else.
A cell runs if it imports nothing further and uses no name that was last bound by a cell that does
not run. What such a cell imports is still there: its other imports are made on its behalf.
"""

import ast
import re
import symtable
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("numpy", "matplotlib")  # what the site offers besides the standard library
LIBRARY = "minitransformer"
STOOD_IN_FOR = ("IPython",)  # book/live/kernel.py has the part of it that the library uses
MAGIC = re.compile(r"^(\s*)[%!].*", re.MULTILINE)


@dataclass
class Cell:
    """A code cell as the page needs it.

    Attributes
    ----------
    id : str
        Its id in the notebook, which is that of its element in the page too.
    source : str
        Its code; of a cell that does not run only the imports that can be made.
    lacks : frozenset of str
        The packages that it would need and the browser has not. Empty: the cell runs.
    packages : frozenset of str
        What of ``PACKAGES`` it loads.
    """

    id: str
    source: str
    lacks: frozenset = frozenset()
    packages: frozenset = frozenset()
    tags: list = field(default_factory=list)


def without_magics(source):
    """Python from a notebook's cell: lines for the notebook itself do nothing.

    >>> without_magics("if colab:\\n    %pip install torch")
    'if colab:\\n    pass'
    """
    return MAGIC.sub(r"\1pass", source)


def imported(tree, package=""):
    """The dotted names that a tree imports, each with the modules that lie on the way to it.

    >>> sorted(imported(ast.parse("import numpy as np; from torch import nn")))
    ['numpy', 'torch', 'torch.nn']
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (parent, node.module)))
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


@cache
def file_of(module):
    """The file of a module of the library, or None: the name is of something inside a module."""
    if module.partition(".")[0] != LIBRARY:
        return None
    parent, _, name = module.rpartition(".")
    if parent and (file_of(parent) is None or file_of(parent).name != "__init__.py"):
        return None
    if not parent:
        return Path(find_spec(module).origin)
    inside = file_of(parent).parent / name
    for file in (inside.with_suffix(".py"), inside / "__init__.py"):
        if file.is_file():
            return file
    return None


@cache
def needs(module):
    """The packages outside the standard library that importing a module loads."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in STOOD_IN_FOR:
        return frozenset()
    if top != LIBRARY:
        return frozenset({top})
    found, seen, left = set(), set(), [module]
    while left:
        name = left.pop()
        file = file_of(name)
        if name in seen or file is None:
            continue
        seen.add(name)
        left.append(name.rpartition(".")[0])
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for other in _on_import(file, package):
            if other.partition(".")[0] == LIBRARY:
                left.append(other)
            else:
                found |= needs(other)
    return frozenset(found)


@cache  # most modules come up for many others
def _on_import(file, package):
    """What a file imports when it is imported itself: not what its functions import when called."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return imported(_Outermost().visit(tree), package)


class _Outermost(ast.NodeTransformer):
    """Leave out the bodies of functions, and what is only for tools that check types."""

    def visit_FunctionDef(self, node):
        node.body = [ast.Pass()]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def uses(tree):
    """The names that a cell takes from earlier ones.

    >>> sorted(uses(ast.parse("y = x + 1\\nz = y\\ndef f(a):\\n    return a * w")))
    ['w', 'x']
    """
    found, own = set(), set()
    for statement in tree.body:
        loads, stores = _names(statement)
        inside = stores if hasattr(statement, "body") else set()
        found |= (loads - inside | _augmented(statement) & stores) - own
        own |= stores
    return found


def _augmented(statement):
    """The names that are changed in place, as in ``x += 1``."""
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.AugAssign))
    return {node.target.id for node in nodes if isinstance(node.target, ast.Name)}


def binds(tree):
    """The names that a cell binds for later ones."""
    return set().union(*(_names(statement)[1] for statement in tree.body))


def _names(statement):
    """The global names that a statement reads, and those it binds."""
    table = symtable.symtable(ast.unparse(statement), "<cell>", "exec")
    loads, stores, tables = set(), set(), [table]
    while tables:
        inner = tables.pop()
        tables.extend(inner.get_children())
        for symbol in inner.get_symbols():
            if inner is table or symbol.is_global():
                if symbol.is_referenced():
                    loads.add(symbol.get_name())
                if symbol.is_assigned() or symbol.is_imported():
                    stores.add(symbol.get_name())
    return loads, stores


def analysed(notebook):
    """The code cells of a notebook, as a list of :class:`Cell`."""
    cells, lacking = [], {}
    for raw in notebook["cells"]:
        if raw["cell_type"] != "code":
            continue
        source = without_magics("".join(raw["source"]))
        tree = ast.parse(source)
        wanted = frozenset().union(*map(needs, imported(tree)))
        lacks = wanted.difference(PACKAGES).union(*(lacking.get(n, ()) for n in uses(tree)))
        lacking.update(dict.fromkeys(binds(tree), lacks))
        if lacks:
            tree.body = list(filter(_can_be_imported, tree.body))
            lacking.update(dict.fromkeys(binds(tree), frozenset()))
            source = ast.unparse(tree)
            wanted = frozenset().union(*map(needs, imported(tree)))
        tags = raw["metadata"].get("tags", [])
        cells.append(Cell(raw["id"], source, lacks, wanted & set(PACKAGES), tags))
    return cells


def _can_be_imported(statement):
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return False
    return all(needs(name) <= set(PACKAGES) for name in imported(statement))

"""A chapter's Markdown as its readers meet it: the blocks of prose, and what is not portable.

Markdown is parsed with markdown-it, as the site does, and never with patterns over raw text, so
that code, mathematics and links are told apart.
"""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(dollarmath_plugin)

CALLOUTS = ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION")
HTML_TAGS = ("details", "summary", "br", "sub", "sup")

_TAG = re.compile(r"<(!--|/?[a-zA-Z][\w-]*)([^>]*)>")
_ROLE = re.compile(r"\{[\w:+-]+\}$")
_MYST = (
    (re.compile(r"^:::"), "a MyST directive (`:::`)"),
    (re.compile(r"^\([\w.-]+\)=\s*$", re.MULTILINE), "a MyST target (`(name)=`)"),
    (re.compile(r"^\+\+\+"), "a MyST block break (`+++`)"),
    (re.compile(r"^% "), "a MyST comment (`%`)"),
    (re.compile(r"\{\{.*?\}\}"), "a MyST substitution (`{{ }}`)"),
    (re.compile(r"\[\^[^\]]+\]"), "a footnote (`[^1]`)"),
)


@dataclass
class Block:
    """A paragraph, list item, heading or table: its words, and whether it links to a source."""

    kind: str
    text: str = ""
    links: list = field(default_factory=list)
    in_list: bool = False


def blocks(source):
    """The blocks of prose in ``source``. Fenced code is none; mathematics and inline code count."""
    found, kinds = [], []
    for token in PARSER.parse(source):
        if token.type.endswith("_open"):
            kinds.append(token.type.removesuffix("_open"))
            if kinds[-1] == "table":
                found.append(Block("table"))
        elif token.type.endswith("_close"):
            kinds.pop()
        elif token.type == "inline":
            if "table" not in kinds:
                found.append(Block(kinds[-1], in_list="list_item" in kinds))
            _add_inline(found[-1], token)
        elif token.type.startswith("math_block"):
            found.append(Block("math", token.content))
        elif token.type == "html_block":
            found.append(Block("html", _TAG.sub(" ", token.content)))
    return found


def _add_inline(block, token):
    """Add to ``block`` the words, formulas and links of one inline token."""
    for child in token.children:
        if child.type in ("text", "code_inline", "math_inline", "math_inline_double", "image"):
            block.text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            block.text += " "
        elif child.type == "link_open":
            block.links.append(child.attrs["href"])
    block.text += " | " if block.kind == "table" else " "  # a cell ends a clause


def uneven_rows(source):
    """Messages, one for each row of a table that has not as many cells as its head.

    Readers drop the cells that are too many, without a word.

    >>> uneven_rows("| a | b |\\n|---|---|\\n| 1 | 2 | 3 |")
    ["3 cells in a row of a table with 2 columns: '| 1 | 2 | 3 |'"]
    """
    lines, found = source.splitlines(), []
    for token in PARSER.parse(source):
        if token.type == "table_open":
            head, _, *rows = lines[slice(*token.map)]
            wanted = _cells(head)
            found += [
                f"{_cells(row)} cells in a row of a table with {wanted} columns: {row.strip()!r}"
                for row in rows
                if _cells(row) != wanted
            ]
    return found


def _cells(row):
    """The number of cells in one line of a table; `\\|` is a sign in a cell."""
    inside = row.lstrip(" >").rstrip().removeprefix("|").removesuffix("|")
    return len(re.findall(r"(?<!\\)\|", inside)) + 1


def words(block):
    """The number of words in a block; a formula counts as what stands between spaces in it."""
    return sum(any(map(str.isalnum, word)) for word in block.text.split())


def unportable(source, attachments=()):
    """Messages, one for each thing in ``source`` that Colab, JupyterLab or GitHub cannot show.

    ``attachments`` are the names of the cell's attachments.
    """
    found = []
    for token in PARSER.parse(source):
        if token.type == "fence" and token.info.strip().startswith("{"):
            found.append(
                f"a MyST fence (```{token.info.strip()}): only the site could show it; "
                "write Markdown, or a callout like `> [!NOTE]`"
            )
        if token.type == "math_block_label":
            found.append(f"a labelled formula ({token.info}): only the site could show the label")
        if token.type == "html_block":
            found += _html_findings(token.content)
        if token.type == "inline":
            found += _myst_findings(token)
            for child in token.children:
                found += _inline_findings(child, attachments)
    return found


def _myst_findings(token):
    """What only MyST understands in one inline token's text."""
    text = "".join(
        child.content if child.type == "text" else "\n" if "break" in child.type else "\0"
        for child in token.children
    )
    found = [f"{what}: only the site could show it" for sign, what in _MYST if sign.search(text)]
    for before, code in zip(token.children, token.children[1:], strict=False):
        if code.type == "code_inline" and _ROLE.search(before.content):
            found.append(f"a MyST role before `{code.content}`: only the site could show it")
    callout = re.match(r"\[!(\w+)\]", text)
    if callout and callout[1] not in CALLOUTS:
        found.append(f"a callout of the kind {callout[1]!r}: GitHub knows {', '.join(CALLOUTS)}")
    return found


def _inline_findings(child, attachments):
    """What one inline child has that does not travel: a file beside the notebook, HTML, no alt."""
    found = []
    if child.type == "link_open" and not re.match(r"(https?://|mailto:|#)", child.attrs["href"]):
        found.append(
            f"a relative link ({child.attrs['href']}): Colab lacks that file; give the full "
            "address, or name the chapter without a link"
        )
    if child.type == "image":
        name = child.attrs["src"].removeprefix("attachment:")
        if name == child.attrs["src"] or name not in attachments:
            found.append(
                f"a picture that does not travel with the notebook ({child.attrs['src']}): make "
                "it an output of a cell or an attachment"
            )
    if child.type == "html_inline":
        found += _html_findings(child.content)
    return found


def _html_findings(html):
    """Messages on the tags in ``html`` that are not among those every reader keeps."""
    found = []
    for name, rest in _TAG.findall(html):
        if name.strip("/").lower() not in HTML_TAGS or rest.strip(" /") not in ("", "open"):
            found.append(
                f"the HTML <{name}{rest}>: of HTML only {', '.join(HTML_TAGS)} without "
                "attributes is shown everywhere"
            )
    return found


def pictures(source):
    """The alternative texts of the pictures in ``source``."""
    return [
        child.content
        for token in PARSER.parse(source)
        if token.type == "inline"
        for child in token.children
        if child.type == "image"
    ]

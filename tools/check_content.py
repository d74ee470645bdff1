"""Checks of what a chapter says and shows; ``check_notebooks.py`` runs them with the others.

Bounds on length. A code cell: 30 lines. A Markdown cell: 120 words in paragraphs, and 200 with its
lists and tables, which read faster. Headings, fenced code and displayed formulas do not count.

Decimal numbers in prose. Each must be printed by a cell of the same notebook, or stand with its
source: in a block (paragraph, list item, table) that links to one or names one, as in
"(Vaswani et al. 2017, Table 3)". A table may have its source in the paragraph before it. A number
is printed when an output has it with the same digits, or with more digits that round to it. A sign
in prose must be printed; a number without one may have been printed negative ("falls by 0.3").
"""

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from notebooks import PICTURES, code_cells, is_displayed
from prose import blocks, pictures, uneven_rows, unportable, words
from word_use import confusions, prose_confusions

MOST_LINES = 30
MOST_WORDS = 120
MOST_WORDS_WITH_LISTS = 200
LEAST_ALT = 10  # letters; "heat map" says too little
SHOW = "show it with minitransformer.plots.show(figure, alt=...)"
UNSOURCED = (
    "is printed by no cell of this notebook and has no source in its paragraph: print it, "
    "correct it, or name where it comes from"
)

_DECIMAL = re.compile(r"(?<![\w.])(?:(?<!\d)[-−])?\d+\.\d+(?:[eE][-+]?\d+)?(?!\.?\d)(?!\w)")
_PRINTED = re.compile(r"(?<![\w.])-?\d*\.?\d+(?:[eE][-+]?\d+)?")
# "section 3.2", "Table 4.1", "Python 3.10": numbers that are names.
_NAMES = re.compile(
    r"(?:\b(?:section|chapter|table|figure|equation|eq\.|version|Python|NumPy|PyTorch)\s|§\s?)"
    r"\d+\.\d+",
    re.IGNORECASE,
)
# "(Vaswani et al. 2017, Table 3)", "Vaswani et al. (2017)", "Vaswani et al. 2017"
_CITATION = re.compile(r"\((?:[^()]*\s)?(?:19|20)\d\d[a-z]?\b[^()]*\)|et al\.,? (?:19|20)\d\d")
_TAGS = re.compile(r"<[^>]*>")


def markdown_cells(notebook):
    """Pairs of cell number (from 1) and Markdown cell."""
    return [(n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "markdown"]


def portable(notebook, path):
    """The Markdown reads the same on the site, in Colab, in JupyterLab and on GitHub."""
    for number, cell in markdown_cells(notebook):
        for message in unportable(cell.source, cell.get("attachments", {})):
            yield number, message


def tables_are_even(notebook, path):
    """Every row of a table has as many cells as its head."""
    for number, cell in markdown_cells(notebook):
        for message in uneven_rows(cell.source):
            yield number, message


def short(notebook, path):
    """No cell is longer than a reader takes in at once."""
    for number, cell in code_cells(notebook):
        lines = len(cell.source.splitlines())
        if lines > MOST_LINES:
            yield number, f"{lines} lines of code; at most {MOST_LINES}: split the cell"
    for number, cell in markdown_cells(notebook):
        counted = [b for b in blocks(cell.source) if b.kind not in ("heading", "math")]
        total = sum(map(words, counted))
        plain = sum(words(b) for b in counted if not b.in_list and b.kind != "table")
        if plain > MOST_WORDS or total > MOST_WORDS_WITH_LISTS:
            bounds = f"at most {MOST_WORDS} and {MOST_WORDS_WITH_LISTS}"
            message = f"{plain} words of prose, {total} with lists and tables; {bounds}"
            yield number, f"{message}: cut, or let a code cell come between"


def pictures_have_text(notebook, path):
    """Every picture says in words what it shows."""
    for number, cell in code_cells(notebook):
        for alt in alternative_texts(cell):
            if len(alt.strip()) < LEAST_ALT:
                yield number, f"a figure without alternative text: {SHOW}"
    for number, cell in markdown_cells(notebook):
        for alt in pictures(cell.source):
            if len(alt.strip()) < LEAST_ALT:
                yield number, "a picture without alternative text: write ![what it shows](...)"


def numbers_have_sources(notebook, path):
    """Every decimal number in prose is printed by a cell of this notebook or has a source."""
    printed = printed_numbers(notebook)
    for number, text in unsourced_numbers(notebook):
        if not is_printed(text, printed):
            yield number, f"{text} {UNSOURCED}"


def unsourced_numbers(notebook):
    """Pairs of cell number and decimal number, of those that stand in prose without a source."""
    for number, cell in markdown_cells(notebook):
        before = None
        for block in blocks(cell.source):
            sourced = has_source(block) or (block.kind == "table" and before and has_source(before))
            before = block
            for text in [] if sourced else prose_numbers(block.text):
                yield number, text
    for number, cell in code_cells(notebook):  # alternative text is prose, unless it is computed
        for text in prose_numbers(" ".join(alternative_texts(cell))):
            if text in cell.source:
                yield number, text


def words_as_defined(notebook, path):
    """Scores, weights, outputs and the like are called what the glossary calls them."""
    for number, cell in markdown_cells(notebook):
        for found, advice in prose_confusions(cell.source):
            yield number, f"{found!r}: {advice}"
    for number, cell in code_cells(notebook):
        printed = [line for o in cell.outputs for line in o.get("text", "").splitlines()]
        for text in alternative_texts(cell) + printed:
            for found, advice in confusions(text):
                yield number, f"{found!r} in what the cell shows: {advice}"


def alternative_texts(cell):
    """The alternative text of each picture that a code cell shows; "" where it lacks one."""
    return [
        output.metadata.get(mime, {}).get("alt", "")
        for output in filter(is_displayed, cell.outputs)
        for mime in sorted(set(PICTURES) & set(output.data))
    ]


def has_source(block):
    """Whether a block links to a page or names a publication."""
    linked = any(href.startswith("http") for href in block.links)
    return linked or bool(_CITATION.search(block.text))


def prose_numbers(text):
    """The decimal numbers in a text, as written there, without those that are names."""
    return [number.replace("−", "-") for number in _DECIMAL.findall(_NAMES.sub(" ", text))]


def printed_numbers(notebook):
    """The numbers in the notebook's outputs, as printed."""
    found = set()
    for _, cell in code_cells(notebook):
        for output in cell.outputs:
            texts = [output.get("text", "")]
            shown = output.get("data", {})
            if set(PICTURES) & set(shown):
                continue  # its text is the alternative text, which somebody wrote
            for mime, value in shown.items():
                if mime in ("text/plain", "text/html", "text/markdown", "text/latex"):
                    texts.append(_TAGS.sub(" ", value))
            for text in texts:
                found |= set(_PRINTED.findall(text.replace("−", "-")))
    return found


def is_printed(text, printed):
    """Whether ``text`` is one of the ``printed`` numbers, or what one of them rounds to."""
    if text in printed:
        return True
    wanted = Decimal(text)
    digits = wanted.as_tuple().exponent
    for candidate in map(Decimal, printed):
        if candidate.as_tuple().exponent <= digits:
            value = candidate if text.startswith("-") else abs(candidate)
            for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP):
                if value.quantize(Decimal(1).scaleb(digits), rounding) == wanted:
                    return True
    return False


CONTENT_CHECKS = (
    portable,
    tables_are_even,
    short,
    pictures_have_text,
    numbers_have_sources,
    words_as_defined,
)

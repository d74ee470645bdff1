"""The claims ledger: ``book/claims.yml`` becomes tables, and every code cell an address.

The page ``book/claims`` holds a comment where the tables go. A row links to the cell that settles
its claim: each code cell of a chapter is given the id it has in the notebook, so a link stays good
when cells are added before it. `findings` says where a row and the stored output disagree.
"""

import json
import re
from collections import Counter
from pathlib import Path

import yaml
from docutils import nodes

PLACE = "<!-- the claims ledger -->"
VERDICTS = ("holds", "only if", "does not hold")
KEYS = {"claim", "article", "verdict", "measured", "chapter"}
MEASURED, CITED = {"cell", "prints"}, {"source"}
DECIMAL = re.compile(r"\d+\.\d+")


def read_ledger(root):
    """The articles {name: title} and the claims of ``book/claims.yml``."""
    ledger = yaml.safe_load((root / "book" / "claims.yml").read_text(encoding="utf-8"))
    return ledger["articles"], ledger["claims"]


def stored_texts(path):
    """What each code cell of a notebook has printed: {cell id: text}."""
    texts = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            outputs = cell["outputs"]
            parts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
            texts[cell["id"]] = "".join("".join(part) for part in parts)
    return texts


def findings(root):
    """Sentences on what is wrong in the ledger; empty if all of it is so."""
    articles, claims = read_ledger(root)
    for claim in claims:
        name = f"“{claim.get('claim', claim)}”"
        expected = KEYS | (CITED if "source" in claim else MEASURED)
        if "also" in claim and "cell" in claim:
            expected = expected | {"also"}
        if claim.get("verdict") == "only if":
            expected = expected | {"if"}
        if set(claim) != expected:
            yield f"{name} has the entries {sorted(claim)}, not {sorted(expected)}"
        elif claim["verdict"] not in VERDICTS:
            yield f"{name}: the verdict is {claim['verdict']!r}, not one of {VERDICTS}"
        elif not claim["article"] or not set(claim["article"]) <= set(articles):
            yield f"{name}: the articles {claim['article']} are not among {sorted(articles)}"
        else:
            yield from (f"{name}: {finding}" for finding in _against_the_cell(root, claim))


def _against_the_cell(root, claim):
    chapter = root / "chapters" / f"{claim['chapter']}.ipynb"
    texts = stored_texts(chapter) if chapter.is_file() else None
    if texts is None:
        yield f"there is no chapter {claim['chapter']}"
    elif "source" in claim:
        if claim["source"] not in chapter.read_text(encoding="utf-8"):
            yield f"{claim['chapter']} does not cite {claim['source']}"
    else:
        evidence = evidence_of(claim)
        for cell, lines in evidence.items():
            if cell not in texts:
                yield f"{claim['chapter']} has no code cell {cell}"
            elif not lines:
                yield f"nothing is named that the cell {cell} prints"
            else:
                missing = (line for line in lines if line not in texts[cell])
                yield from (f"the cell {cell} does not print {line!r}" for line in missing)
        if not all(evidence.values()):
            return
        shown = set(DECIMAL.findall(" ".join(" ".join(lines) for lines in evidence.values())))
        for number in sorted(set(DECIMAL.findall(claim["measured"])) - shown):
            yield f"{number} is not among what the cell prints"


def evidence_of(claim):
    """What each cell that settles a claim prints of it: {cell id: lines}."""
    return {claim["cell"]: claim["prints"], **claim.get("also", {})}


def title(root, chapter):
    """The title of a chapter, from its first cell."""
    notebook = json.loads((root / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    return "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def tables(root, articles, claims):
    """The ledger in Markdown: a count, and a table for each chapter."""
    counts = Counter(claim["verdict"] for claim in claims)
    holds, only_if, does_not = (counts[verdict] for verdict in VERDICTS)
    lines = [
        f"Of {len(claims)} claims {holds} hold, {only_if} hold only under a condition, and "
        f"{does_not} do not hold.",
    ]
    chapter = None
    for claim in claims:
        if claim["chapter"] != chapter:
            chapter = claim["chapter"]
            lines += ["", f"## {title(root, chapter)}", ""]
            lines += [f"From [chapter {int(chapter[:2])}](../chapters/{chapter}.ipynb).", ""]
            lines += ["| claim, in our words | what we measured | verdict |", "|---|---|---|"]
        lines.append(_row(claim))
    return "\n".join([*lines, "", *_legend(articles)])


def _row(claim):
    if "source" in claim:
        link = f"[the source]({claim['source']})"
    else:
        page = f"../chapters/{claim['chapter']}.html"
        first, *more = (f'<a href="{page}#{cell}">' for cell in evidence_of(claim))
        link = ", ".join([f"{first}the cell</a>", *(f"{one}another</a>" for one in more)])
    verdict = f"**{claim['verdict']}**"
    if "if" in claim:
        verdict += f" {claim['if']}"
    where = ", ".join(claim["article"])
    cells = (f"{claim['claim']} ({where})", f"{claim['measured']} ({link})", verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _legend(articles):
    yield "## The articles"
    yield ""
    yield from (f"- **{name}**: {title}" for name, title in articles.items())


def fill(app, page, source):
    """Put the tables where the page asks for them."""
    if PLACE in source[0]:
        root = Path(app.srcdir)
        app.env.note_dependency(str(root / "book" / "claims.yml"))
        source[0] = source[0].replace(PLACE, tables(root, *read_ledger(root)))


def address(app, doctree):
    """Give each code cell of a chapter the id that it has in the notebook."""
    path = app.env.doc2path(app.env.docname)
    if not path.endswith(".ipynb"):
        return
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    for node in doctree.findall(nodes.container):
        if "cell" in node["classes"] and "cell_index" in node:
            node["ids"].append(cells[node["cell_index"]]["id"])


def setup(app):
    app.connect("source-read", fill)
    app.connect("doctree-read", address)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

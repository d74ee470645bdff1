"""Give each page one style sheet, and leave out what no page of the book can match.

The theme brings ten sheets of 400 kB, for every kind of page that anyone builds with it, and a
browser fetches and reads all of them before it shows the first word. Here the sheets that a page
links become one, asked for at the head's beginning and linked at its end: a script written into the
head waits for the sheets linked before it, and the page with it. Of those that are not the book's
own a rule stays if each class and id of one of its selectors is a word in some page or script of
the site, because a script may set it later. Faces of fonts and animations stay if a rule that stays
names them.
"""

import json
import os
import re
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

import tinycss2

BOOK = Path(__file__).parents[1]
OWN = (BOOK / "_static", BOOK / "live")  # sheets written for these pages: all of them is used
LINK = re.compile(r'<link\b(?=[^>]*rel="stylesheet")[^>]*href="([^":?]+)(?:\?[^"]*)?"[^>]*>\s*')
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
URL = re.compile(r"""url\(\s*["']?(?!data:|#)([^"')]+)["']?\s*\)""")
NAME = "site-{}.css"
WORD = re.compile(r"[\w-]+")
SPACES = re.compile(r"[ \t\r\n\f]+")  # not those that a string may hold on purpose
RULES = sha256(Path(__file__).read_bytes()).hexdigest()  # of what may stay
GROUPS = ("media", "supports", "layer", "container")  # at-rules that hold rules


def words(folder):
    """All words of the pages and scripts under ``folder``: what a selector can be about."""
    found = set()
    for file in folder.rglob("*"):
        if file.suffix in (".html", ".js") and not _is_data(file):
            found.update(WORD.findall(file.read_text(encoding="utf-8", errors="ignore")))
    return found


def _is_data(file):
    return file.name == "searchindex.js" or "locales" in file.parts


def pruned(css, known):
    """The sheet without what cannot match, for the words that are ``known``.

    >>> pruned("a.x, a.y { top: 0 } .y:not(.x) { top: 1px }", {"x"})
    'a.x{top: 0}'
    >>> pruned('@font-face { font-family: "F" } a { font: 1em "F" } @keyframes z {}', set())
    '@font-face{font-family: "F"}a{font: 1em "F"}'
    """
    rules = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    kept = list(_kept(rules, known))
    naming = "".join(text for name, text in kept if name is None)
    return "".join(text for name, text in kept if name is None or name in naming)


def _kept(rules, known):
    """What may stay, as pairs: the name that the text depends on, or None, and the text."""
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [text for text in map(_text, _parts(rule.prelude)) if _matches(text, known)]
            if selectors:
                yield None, f"{','.join(selectors)}{{{_text(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            text = "".join(text for _, text in _kept(inner, known))
            if text:
                yield None, f"@{rule.at_keyword} {_text(rule.prelude)}{{{text}}}"
        elif rule.type == "at-rule":
            yield _name(rule), _at_rule(rule)


def _name(rule):
    """What a rule that stays must name if an at-rule is to stay, or None if it stays anyhow."""
    if rule.lower_at_keyword == "font-face":
        return re.search(r'font-family:\s*["\']?([^"\';}]+)', _text(rule.content))[1].strip()
    return _text(rule.prelude) if rule.lower_at_keyword.endswith("keyframes") else None


def _at_rule(rule):
    body = ";" if rule.content is None else f"{{{_text(rule.content)}}}"
    prelude = _text(rule.prelude)
    return f"@{rule.at_keyword}{' ' if prelude else ''}{prelude}{body}"


def _text(tokens):
    """The CSS of tokens, without comments and with single spaces."""
    text = tinycss2.serialize([token for token in tokens if token.type != "comment"])
    return SPACES.sub(" ", text).strip(" ")


def _parts(prelude):
    """The selectors of a list, parted at its commas."""
    parts = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


@cache
def _needs(selector):
    """The classes and ids that an element must have; what stands in brackets is no condition."""
    found, before = set(), None
    for token in tinycss2.parse_component_value_list(selector):
        if token.type == "hash" or (token.type == "ident" and before == "."):
            found.add(token.value)
        before = token
    return found


def _matches(selector, known):
    return _needs(selector) <= known


def used(site, known, before, now, sheet):
    """What stays of a sheet, a path in the folder ``site``, once it lies in ``_static``.

    What stayed in the build ``before`` is found by all that it depends on; ``now`` collects what
    stays in this one.
    """
    css = _with_imports(site, sheet)
    if any((folder / sheet.name).is_file() for folder in OWN):
        return css
    about = sorted(known.intersection(WORD.findall(css)))
    key = sha256("\n".join([RULES, css, *about]).encode()).hexdigest()
    now[key] = before[key] if key in before else pruned(css, known)
    return now[key]


def _with_imports(site, sheet):
    """The text of a sheet, its imports in place, its addresses as seen from ``_static``."""

    def inserted(statement):
        return _with_imports(site, (sheet.parent / statement[1]).resolve())

    def moved(address):
        return f"url({os.path.relpath(sheet.parent / address[1], site / '_static')})"

    css, imports = sheet.read_text(encoding="utf-8"), []
    css = IMPORT.sub(lambda statement: imports.append(inserted(statement)) or "", css)
    return "\n".join([*imports, URL.sub(moved, css)])


def join(app, exception):
    """Let each page of the finished site link one sheet instead of many."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir).resolve()
    store, linked = Path(app.doctreedir) / "used_styles.json", set()
    before, now = json.loads(store.read_text("utf-8")) if store.is_file() else {}, {}
    text = cache(partial(used, site, words(site), before, now))
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        sheets = [(page.parent / link).resolve() for link in LINK.findall(html)]
        if len(sheets) > 1 and all(sheet.is_file() for sheet in sheets):
            sheets = [_write(site, "\n".join(map(text, sheets)))]
            page.write_text(linking(html, os.path.relpath(sheets[0], page.parent)), "utf-8")
        linked.update(sheets)
    for old in (site / "_static").glob(NAME.format("*")):
        if old not in linked:
            old.unlink()
    draft = store.with_suffix(".tmp")
    draft.write_text(json.dumps(now), encoding="utf-8")
    draft.replace(store)


def linking(html, sheet):
    """The page with a link to one sheet in place of those that it has.

    >>> linking('<link rel="stylesheet" href="a"><link rel="stylesheet" href="b"></head>', "c")
    '<link rel="preload" as="style" href="c" /><link rel="stylesheet" href="c" /></head>'
    """
    first = LINK.search(html).start()
    early, link = (
        f'<link {kind} href="{sheet}" />'
        for kind in ('rel="preload" as="style"', 'rel="stylesheet"')
    )
    html = html[:first] + early + LINK.sub("", html[first:])
    return html.replace("</head>", f"{link}</head>", 1)


def _write(site, css):
    """Write a sheet; its path, which holds its hash, so that no browser keeps an old one."""
    path = site / "_static" / NAME.format(sha256(css.encode()).hexdigest()[:12])
    path.write_text(css, encoding="utf-8")
    return path


def setup(app):
    app.connect("build-finished", join, priority=600)  # once all pages are written
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

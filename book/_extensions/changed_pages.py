"""Build again what a change touches, and no more: make update

Sphinx reads a page again when its source changed. More depends on a change here: titles stand in
the side bar of every page, the book's own pages (path, glossary, ledger, indexes) are made from the
chapters, and every page is made by the templates, extensions and the library. So a new title writes
all pages anew, a changed page takes the book's own pages with it, and a change of any other input
makes all of them anew, as does a page that came or went, whose file goes too.
"""

from pathlib import Path

# What all pages are made from, in the book's folder; pages themselves are Sphinx's business.
INPUTS = ("_config.yml", "_toc.yml", "assignments", "book", "requirements.txt", "src", "tools")
PAGES = (".md", ".ipynb")
MADE = ("__pycache__",)


def newest_input(root):
    """When the youngest of the inputs changed, as a time stamp."""
    files = [file for name in INPUTS for file in ((root / name), *(root / name).rglob("*"))]
    kept = (f for f in files if f.suffix not in PAGES and not set(f.parts) & set(MADE))
    return max(file.stat().st_mtime for file in kept if file.is_file())


def outdated(app, env, added, changed, removed):
    """The pages to be read again, beyond those whose source changed."""
    for name in removed:
        Path(app.builder.get_outfilename(name)).unlink(missing_ok=True)
    built = Path(app.doctreedir) / "environment.pickle"
    env.titles_before = {name: title.astext() for name, title in env.titles.items()}
    if not built.is_file():
        return []
    if newest_input(Path(app.srcdir)) > built.stat().st_mtime or added or removed:
        return env.found_docs
    return [name for name in env.found_docs if changed and name.startswith("book/")]


def to_write(app, env):
    """All pages, if a title changed: each names those of all others."""
    after = {name: title.astext() for name, title in env.titles.items()}
    return [] if after == env.titles_before else env.found_docs


def setup(app):
    app.connect("env-get-outdated", outdated)
    app.connect("env-updated", to_write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

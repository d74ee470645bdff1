"""A bar under the title of every chapter: run it in Colab, download it, report an error in it.

Under the links it says how long the chapter takes to read and to run, and when its last run was.
The repository's address comes from ``_config.yml`` (Jupyter Book hands it to the theme).
"""

from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

import health
from book_path import minutes_of_reading
from docutils import nodes
from read_chapters import notebook

COLAB = "https://colab.research.google.com"


def links(config, docname, title):
    """The three links of a chapter, as (class, address, text)."""
    repository = config.html_theme_options["repository_url"].rstrip("/")
    branch = config.html_theme_options["repository_branch"]
    owner_and_name = "/".join(repository.split("/")[-2:])
    notebook = quote(f"{docname}.ipynb")
    report = urlencode(
        {
            "title": f"Error in: {title}",
            "body": f"Chapter: {docname}\n\nWhat is written or shown:\n\nWhat is right, and why:\n",
        }
    )
    return [
        ("colab", f"{COLAB}/github/{owner_and_name}/blob/{branch}/{notebook}", "Run in Colab"),
        ("download", f"../_sources/{notebook}", "Download notebook"),
        ("report", f"{repository}/issues/new?{report}", "Report an error in this chapter"),
    ]


def facts(minutes, run):
    """What the bar says of a chapter: minutes of reading, and the last run or None."""
    said = [f"{minutes} min to read"]
    if run is None:
        return [*said, "not run yet"]
    said.append(f"{run.facts['seconds']:.0f} s to run")
    result = run.state or "every output as printed"
    return [*said, f'last run on <time datetime="{run.day}">{run.day}</time>, {result}']


def add(app, doctree, docname):
    if not docname.startswith("chapters/") or app.builder.format != "html":
        return
    title = next(doctree.findall(nodes.title), None)
    if title is None:
        return
    items = "".join(
        f'<a class="chapter-{kind}" href="{escape(address)}"'
        f"{' download' if kind == 'download' else ''}>{text}</a>"
        for kind, address, text in links(app.config, docname, title.astext())
    )
    root = Path(app.srcdir)
    run = health.of_chapter(root, docname, health.record(root)).get(health.EXECUTED)
    minutes = minutes_of_reading(notebook(app.env, docname))
    said = f'<p class="chapter-facts">{" · ".join(facts(minutes, run))}</p>'
    bar = f'<nav class="chapter-bar" aria-label="Chapter">{items}{said}</nav>'
    title.parent.insert(title.parent.index(title) + 1, nodes.raw("", bar, format="html"))


def setup(app):
    app.connect("doctree-resolved", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""A bar under the title of every chapter: run it in Colab, download it, report an error in it.

The repository's address comes from ``_config.yml`` (Jupyter Book hands it to the theme).
"""

from html import escape
from urllib.parse import quote, urlencode

from docutils import nodes

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
    bar = nodes.raw(
        "", f'<nav class="chapter-bar" aria-label="Chapter">{items}</nav>', format="html"
    )
    title.parent.insert(title.parent.index(title) + 1, bar)


def setup(app):
    app.connect("doctree-resolved", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

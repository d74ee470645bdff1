"""Lead from chapter to chapter, and to the book's other pages, on the site itself.

Chapters link to one another by full addresses on GitHub, because Colab has one notebook and no
files beside it. On the site such a link leads to the page of the chapter, at the same section.
"""

from docutils import nodes
from sphinx.util.osutil import relative_uri


def on_site(address, files, known):
    """The document and section that an address means, or None if it is no page of this site."""
    if not address.startswith(files):
        return None
    name, _, section = address.removeprefix(files).partition("#")
    document, dot, kind = name.rpartition(".")
    return (document, section) if dot and kind in ("ipynb", "md") and document in known else None


def stay(app, doctree, document):
    """Point the links of a page to pages of the site."""
    theme = app.config.html_theme_options
    files = f"{theme['repository_url']}/blob/{theme['repository_branch']}/"
    for link in doctree.findall(nodes.reference):
        found = on_site(link.get("refuri", ""), files, app.env.found_docs)
        if found and app.builder.format == "html":
            target = app.builder.get_target_uri(found[0])
            uri = relative_uri(app.builder.get_target_uri(document), target)
            link["refuri"] = f"{uri}#{found[1]}" if found[1] else uri
            link["internal"] = True


def setup(app):
    app.connect("doctree-resolved", stay)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

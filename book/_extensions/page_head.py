"""What search engines and messengers read of a page: where it is, what it says, a picture.

The description of a page is its first paragraph, cut to a length that they show. Their addresses
are full ones and come from ``html.baseurl`` of ``_config.yml``.
"""

from html import escape
from pathlib import Path

from docutils import nodes

PICTURE = "_static/social.png"
PICTURE_SAYS = "A matrix of attention weights for five words, one row for each query"
LONGEST = 200


def description(document):
    """The first words of a page, whole sentences if they are short enough.

    It ends in dots where a sentence had to be cut.
    """
    for paragraph in document.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if text and not isinstance(paragraph.parent, nodes.entry):
            return shortened(text)
    return ""


def shortened(text, longest=LONGEST):
    """``text`` cut to ``longest`` letters, after a sentence if one ends there, else after a word.

    >>> shortened("It sums. It divides.", 12), shortened("It sums and divides", 12)
    ('It sums.', 'It sums and…')
    """
    if len(text) <= longest:
        return text
    sentences = text[: longest + 1].rpartition(". ")[0]
    if sentences:
        return f"{sentences}."
    return text[:longest].rpartition(" ")[0].rstrip(",;:") + "…"


def tags(title, text, address, site, picture):
    """The elements for the head of a page; without an address those that need none."""
    named = {"description": text} if text else {}
    graph = {"og:title": title, "og:type": "article", "og:site_name": site}
    if text:
        graph["og:description"] = text
    if address:
        graph |= {"og:url": address, "og:image": picture, "og:image:alt": PICTURE_SAYS}
        named["twitter:card"] = "summary_large_image"
    return "".join(
        f'<meta {key}="{name}" content="{escape(value)}" />'
        for key, pairs in (("name", named), ("property", graph))
        for name, value in pairs.items()
    )


def add(app, page, template, context, doctree):
    """Complete the head of a page that has a text."""
    if doctree is None:
        return
    base = app.config.html_baseurl
    picture = base + PICTURE
    title = app.env.titles[page].astext()
    address = base and f"{base}{page}.html"
    text = description(doctree)
    context["metatags"] = context.get("metatags", "") + tags(
        title, text, address, app.config.html_title, picture
    )


def write_lists(app, exception):
    """Write for search engines which pages there are."""
    base = app.config.html_baseurl
    if exception is not None or app.builder.format != "html" or not base:
        return
    pages = sorted(app.env.found_docs)
    addresses = "".join(f"<url><loc>{escape(base)}{page}.html</loc></url>\n" for page in pages)
    (Path(app.outdir) / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{addresses}</urlset>\n',
        encoding="utf-8",
    )
    (Path(app.outdir) / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n", encoding="utf-8"
    )


def setup(app):
    app.connect("html-page-context", add)
    app.connect("build-finished", write_lists)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

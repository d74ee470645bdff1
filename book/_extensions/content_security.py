"""Give every page a content security policy: what it may load, and which scripts may run.

Files of the site may be loaded, and of the scripts and styles written into a page those that come
from the templates, by their hashes; a script inside an article is nobody's and does not run. No
other host is asked for anything. Style *attributes* stay allowed, because KaTeX sets every formula
with them; style elements do not.

An extension whose pages need more says so in the context of the page, before this one reads it:
``context["content_security"] = {"worker-src": ["'self'"]}``.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape, unescape
from pathlib import Path

POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'", "'unsafe-inline'"],  # for browsers that know no finer directives
    "style-src-elem": ["'self'"],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:"],  # data: the icons of the style sheets
    "font-src": ["'self'"],
    "connect-src": ["'self'"],  # the search, and the large parts of widgets
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
}
HASHED = {"script": "script-src", "style": "style-src-elem"}
ARTICLE = re.compile(r'<article class="bd-article">.*</article>', re.DOTALL)
INLINE = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL)
DATA = re.compile(r'\b(?:src=|type="[^"]*json")')
META = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")([^"]*)(")')


def written(policy):
    """The text of a policy given as {directive: sources}.

    >>> written({"img-src": ["'self'", "data:"], "base-uri": ["'none'"]})
    "img-src 'self' data:; base-uri 'none'"
    """
    return "; ".join(f"{directive} {' '.join(sources)}" for directive, sources in policy.items())


def read(text):
    """The policy that a text says, without the hashes in it.

    >>> read("script-src 'self' 'sha256-x='; img-src data:")
    {'script-src': ["'self'"], 'img-src': ['data:']}
    """
    directives = (directive.split() for directive in text.split(";"))
    return {name: [s for s in rest if "'sha256-" not in s] for name, *rest in directives}


def widened(policy, additions):
    """``policy`` with further sources; one that allowed nothing then allows just these."""
    merged = {directive: list(sources) for directive, sources in policy.items()}
    for directive, sources in additions.items():
        known = [source for source in merged.get(directive, []) if source != "'none'"]
        merged[directive] = [*known, *(source for source in sources if source not in known)]
    return merged


def hashes(html):
    """The hashes {directive: sources} of what the templates wrote into a page."""
    found = {}
    for kind, attributes, text in INLINE.findall(ARTICLE.sub("", html)):
        if not DATA.search(attributes):
            digest = b64encode(sha256(text.encode()).digest()).decode()
            found.setdefault(HASHED[kind], []).append(f"'sha256-{digest}'")
    return found


def secured(html):
    """A page whose policy names the hashes of its own scripts and styles."""

    def complete(meta):
        policy = widened(read(unescape(meta[2])), hashes(html))
        return meta[1] + escape(written(policy), quote=False) + meta[3]

    return META.sub(complete, html, count=1)


def tag(additions):
    """The policy as an element; it must stand before all that it is about."""
    content = escape(written(widened(POLICY, additions)), quote=False)
    return f'<meta http-equiv="Content-Security-Policy" content="{content}" />'


def ask(app, page, template, context, doctree):
    """Put the policy first into the head of a page, as yet without hashes."""
    additions = context.get("content_security", {})
    context["metatags"] = tag(additions) + context.get("metatags", "")


def complete(app, exception):
    """Add the hashes, once the pages are written."""
    if exception is not None or app.builder.format != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        html = file.read_text(encoding="utf-8")
        if (after := secured(html)) != html:
            file.write_text(after, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", ask, priority=900)
    app.connect("build-finished", complete, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

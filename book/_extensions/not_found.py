"""The page for addresses that lead nowhere, which a server shows in place of any missing page.

It is shown at addresses of any depth, so that its links start from the root of the site: from the
one in ``html.baseurl`` of ``_config.yml``, or from where a small script finds it if the site stands
elsewhere.
"""

from html import escape
from urllib.parse import urlsplit

PAGE = "404"
# Above a page's folders is the root; so is the address of the site itself.
FIND_ROOT = """\
{
  const { pathname } = location;
  const folder = pathname.search(/\\/(book|chapters|slides|_[a-z]+)\\//);
  const base = document.currentScript.previousElementSibling;
  const home = new URL(base.href).pathname;
  if (folder >= 0) base.href = pathname.slice(0, folder + 1);
  else if (!pathname.startsWith(home)) base.href = "/";
  document.addEventListener("DOMContentLoaded", () => {
    for (const link of document.querySelectorAll('a[href^="#"]'))
      link.setAttribute("href", pathname + link.getAttribute("href"));
  });
}
"""


def pages(app):
    """The one page, for Sphinx to write."""
    if app.builder.format == "html":
        yield PAGE, {"title": "There is no such page"}, "404.html"


def start_from_the_root(app, page, template, context, doctree):
    """Let the links of the page start from the root, and let the policy allow that."""
    if page == PAGE:
        root = urlsplit(app.config.html_baseurl).path or "/"
        context["content_security"] = {"base-uri": ["'self'"]}
        context["metatags"] = (
            f'<meta name="robots" content="noindex" /><base href="{escape(root)}" />'
            f"<script>{FIND_ROOT}</script>" + context.get("metatags", "")
        )


def setup(app):
    app.connect("html-collect-pages", pages)
    app.connect("html-page-context", start_from_the_root)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

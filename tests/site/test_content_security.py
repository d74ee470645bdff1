"""The content security policy: what it says, and that a browser holds the pages to it."""

import json
import re
import shutil

import checks
import content_security
import pytest
from site_visits import CHAPTERS, PAGES, served, visit
from widget_sidecars import SCRIPT as STATE

CHAPTER = "chapters/03_worked_example"
TEMPLATE = "document.documentElement.dataset.mode = 1;"
PAGE = (
    f"<head>{content_security.tag({})}<script>{TEMPLATE}</script></head>"
    '<script type="application/json">{}</script><script src="x.js"></script>'
    '<article class="bd-article"><script>planted()</script><style>p {}</style></article>'
)
HOSTS = re.compile(r"(?:https?|wss?|blob):|\*")


def policies(html):
    """The policy of every page, by its name."""
    pages = [file for file in html.rglob("*.html") if "_static" not in file.parts]
    metas = {f: content_security.META.search(f.read_text(encoding="utf-8")) for f in pages}
    return {f.relative_to(html).as_posix(): meta and meta[2] for f, meta in metas.items()}


def test_hashes_are_of_what_the_templates_wrote():
    # echo -n "document.documentElement.dataset.mode = 1;" | openssl dgst -sha256 -binary | base64
    hashes = content_security.hashes(PAGE)
    assert hashes == {"script-src": ["'sha256-qDunK3im9VPW7sY4LauIs/PDZPH0j0tIvGw21SKlK1w='"]}


def test_a_page_that_is_read_again_keeps_its_policy_and_drops_old_hashes():
    once = content_security.secured(PAGE)
    assert once.count("sha256-") == 1
    assert content_security.secured(once) == once
    changed = content_security.secured(once.replace("mode = 1", "mode = 2"))
    assert changed.count("sha256-") == 1
    assert content_security.hashes(changed)["script-src"][0] in changed


def test_what_a_page_adds_stands_in_its_policy_alone():
    added = {"worker-src": ["'self'"], "script-src": ["'wasm-unsafe-eval'", "'self'"]}
    wide = content_security.widened(content_security.POLICY, added)
    assert wide["worker-src"] == ["'self'"]
    assert wide["script-src"] == ["'self'", "'wasm-unsafe-eval'"]
    assert "worker-src" not in content_security.POLICY
    assert content_security.widened({"a": ["'none'"]}, {"a": ["x:"]}) == {"a": ["x:"]}
    secured = content_security.secured(
        PAGE.replace(content_security.tag({}), "").replace(
            "<head>", "<head>" + content_security.tag(added)
        )
    )
    assert "'self' 'wasm-unsafe-eval' 'sha256-" in secured


def test_every_page_has_a_strict_policy(html):
    found = policies(html)
    assert {f"{page}.html" for page in PAGES} | {"search.html"} <= set(found)
    for page, text in found.items():
        assert text, f"no policy: {page}"
        policy = content_security.read(text)
        assert policy["default-src"] == policy["object-src"] == ["'none'"]
        assert set(policy["script-src"]) <= {"'self'", "'wasm-unsafe-eval'"}, page
        assert "'unsafe-inline'" not in policy["style-src-elem"], page
        live = 'class="live-bar"' in (html / page).read_text(encoding="utf-8")
        hosts = HOSTS.findall(text)
        assert hosts == (["https:"] if live else []), page
        assert "connect-src 'self' https:" in text or not live, page


def test_the_policy_stands_before_all_that_it_is_about(html):
    for page in policies(html):
        text = (html / page).read_text(encoding="utf-8")
        before = text[: content_security.META.search(text).start()]
        assert not re.search("<(script|link|style|img)", before), page


WATCH = """() => {
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
}"""


@pytest.mark.browser
@pytest.mark.parametrize("name", CHAPTERS)
def test_no_widget_asks_for_more_when_it_is_used(browser, site, name):
    """Every control of every widget once; every page untouched: test_site_pages_*.py."""
    with visit(browser, f"{site}/{name}.html") as seen:
        seen.page.evaluate(WATCH)
        controls = seen.page.locator(".widget-view :is(button, input, select):visible")
        assert controls.count() > 0 or seen.page.locator(".widget-view").count() == 0
        seen.page.evaluate(
            """() => {
              const parts = ".widget-view :is(button, input, select)";
              for (const el of document.querySelectorAll(parts)) {
                if (el.matches("select")) el.selectedIndex = el.options.length - 1;
                else if (el.matches("input:not([type=checkbox], [type=radio])")) el.value = el.max;
                else el.click();
                for (const kind of ["input", "change"])
                  el.dispatchEvent(new Event(kind, { bubbles: true }));
              }
            }"""
        )
        seen.page.wait_for_load_state("networkidle")
        assert seen.page.evaluate("violations") == []
        assert checks.complaints(seen) == []


HOSTILE = '</script><img src="hostile" onerror="window.hacked = true">'
# What would read a text as HTML or as code.
SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function|"
    r"createContextualFragment|setHTML|setAttribute\(\s*[\"'](?:on|style)"
)


def hostile(state):
    """A stored state in which every text that is no name of a module is hostile."""
    if isinstance(state, dict):
        return {k: v if k.startswith("_") else hostile(v) for k, v in state.items()}
    if isinstance(state, list):
        return [hostile(part) for part in state]
    return HOSTILE if isinstance(state, str) else state


def test_no_widget_reads_a_text_as_html(html):
    modules = sorted((html / "_widgets").glob("*.js"))
    assert len(modules) > 10
    for module in modules:
        assert SINKS.findall(module.read_text(encoding="utf-8")) == [], module.name


@pytest.mark.parametrize("code", ["el.innerHTML = text", "el.setAttribute('onclick', text)"])
def test_a_module_that_would_is_found(code):
    assert SINKS.findall(code)


@pytest.mark.browser
@pytest.mark.parametrize("name", CHAPTERS)
def test_hostile_texts_in_a_stored_state_stay_texts(browser, site, html, name):
    """A widget shows them, or says that it could not be started; it makes no element of them."""
    page = (html / f"{name}.html").read_text(encoding="utf-8")
    stored = STATE.search(page)
    if stored is None:
        pytest.skip("a chapter without widgets")
    content = json.loads(stored[2])
    for model in content["state"].values():
        model["state"] = hostile(model["state"])
    planted = json.dumps(content).replace("</", "<\\/")
    body = page[: stored.start(2)] + planted + page[stored.end(2) :]
    with visit(browser, f"{site}/{name}.html") as seen:
        seen.page.route(f"**/{name}.html", lambda r: r.fulfill(body=body, content_type="text/html"))
        seen.page.reload(wait_until="networkidle")
        views = seen.page.locator(".widget-view")
        assert views.count() == page.count('class="widget"')
        assert seen.page.locator('[src="hostile"]').count() == 0
        assert seen.page.evaluate("window.hacked") is None


PLANTED = {
    "script-src-elem inline": "<script>window.planted = true;</script>",
    "script-src-attr inline": '<img src="x" alt="" onerror="window.planted = true">',
    "style-src-elem inline": "<style>body { --planted: 1 }</style>",
    "script-src-elem http": '<script src="https://cdn.example.org/x.js"></script>',
    "img-src http": '<img src="https://pictures.example.org/a.png" alt="">',
    "style-src-elem http": '<link rel="stylesheet" href="https://fonts.example.org/a.css">',
    "frame-src http": '<iframe src="https://frames.example.org/" title="a frame"></iframe>',
    "object-src": '<object data="../_static/favicon.svg"></object>',
    "base-uri": '<base href="https://elsewhere.example.org/">',
    "font-src http": '<p style="font-family: x">x</p><link rel="stylesheet" href="../font.css">',
}


@pytest.fixture(scope="module")
def planted(html, tmp_path_factory):
    """The site with a page that holds what a page must not load."""
    folder = tmp_path_factory.mktemp("planted") / "html"
    shutil.copytree(html, folder)
    (folder / "font.css").write_text(
        "@font-face { font-family: x; src: url(https://fonts.example.org/a.woff2) }"
    )
    page = folder / f"{CHAPTER}.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</article>", "".join(PLANTED.values()) + "</article>"))
    content_security.complete(type("App", (), {"outdir": folder, "builder": HTML_BUILDER}), None)
    return folder


HTML_BUILDER = type("Builder", (), {"format": "html"})


@pytest.mark.browser
def test_planted_things_are_blocked(browser, planted):
    with served(planted) as address, visit(browser, f"{address}/{CHAPTER}.html") as seen:
        seen.page.evaluate(WATCH)
        seen.page.add_init_script(f"({WATCH})()")
        seen.page.reload(wait_until="networkidle")
        found = seen.page.evaluate("violations")
        for what in PLANTED:
            directive, _, kind = what.partition(" ")
            assert any(v.startswith(f"{directive} {kind}") for v in found), (what, found)
        assert seen.page.evaluate("window.planted") is None
        for address in seen.foreign:  # none of them was sent
            assert f"request failed: {address} csp" in seen.complaints


@pytest.mark.browser
def test_the_pages_work_as_files_too(browser, html):
    with visit(browser, (html / f"{CHAPTER}.html").as_uri()) as seen:
        theme = "document.documentElement.dataset.theme"
        before = seen.page.evaluate(theme)
        seen.page.get_by_role("button", name="Color mode").click()
        seen.page.get_by_role("button", name="Color mode").click()
        assert not [text for text in seen.complaints if "Content Security" in text]
        assert seen.page.evaluate("getComputedStyle(document.body).fontFamily") != ""
        assert before in ("light", "dark")

"""What must hold of every page. Each check returns a list of complaints, empty when all is well.

A check that asks what happened (``foreign_requests``, ``complaints``, ``too_heavy``) takes a
:class:`site_visits.Visit`; one that asks what is to be seen takes its page.
"""

import gzip
import json

from axe_playwright_python.sync_playwright import Axe

PAGE_LIMIT = 400_000  # bytes a chapter may cost before any click
LEAST_ALT = 10  # letters; "heat map" says too little
# Compressed as they are; everything else travels with gzip.
PACKED = (".woff2", ".woff", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico")
# Rules of axe that a page may break, each with its reason. Empty: none does.
FROM_THE_THEME = {}


def foreign_requests(seen):
    """Nothing is asked of another host."""
    return [f"asks another host: {address}" for address in seen.foreign]


def complaints(seen):
    """No error or warning on the console, no page error, every file found."""
    missing = [f"{r.status} {r.url}" for r in seen.responses if r.status >= 400]
    return seen.complaints + missing


def weights(seen):
    """Bytes that each file of the visit costs, by address."""
    sizes = {}
    for response in seen.responses:
        if response.ok:
            body = response.body()
            packed = response.url.split("?")[0].endswith(PACKED)
            sizes[response.url] = len(body) if packed else len(gzip.compress(body, 6))
    return sizes


def too_heavy(seen, limit=PAGE_LIMIT):
    """All that a visit loads before any click or scroll stays within ``limit`` bytes."""
    sizes = weights(seen)
    total = sum(sizes.values())
    if total <= limit:
        return []
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    return [f"{total} bytes, at most {limit}: " + ", ".join(f"{n} {a}" for a, n in largest)]


def accessibility(page, allowed=FROM_THE_THEME):
    """No rule of axe-core is broken, of any level, but those in ``allowed``."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: "
        + "; ".join(node["html"][:160] for node in rule["nodes"][:3])
        for rule in found
        if rule["id"] not in allowed
    ]


SIDEWAYS = """() => {
  const wide = document.documentElement.clientWidth;
  const out = [];
  if (document.documentElement.scrollWidth > wide)
    out.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${wide}`);
  for (const el of document.querySelectorAll("main *")) {
    const style = getComputedStyle(el);
    const cut = ["hidden", "clip"].includes(style.overflowX) && el.scrollWidth > el.clientWidth + 1;
    // What is small, or ends in dots, is hidden or shortened on purpose.
    const meant = el.clientWidth < 5 || style.clip !== "auto" || style.textOverflow === "ellipsis";
    if (cut && !meant && !el.closest(".katex, svg"))
      out.push(`cut off at the side: ${el.outerHTML.slice(0, 120)}`);
  }
  return out;
}"""


def sideways(page):
    """The page needs no sideways scrolling, and nothing is cut off instead."""
    return page.evaluate(SIDEWAYS)


WIDGETS = """() => [
  ...document.querySelectorAll("script[type*='widget-view+json']"),
].map((script) => {
  const view = script.parentElement.querySelector(".widget-view");
  const error = view?.querySelector(".widget-error");
  if (!view) return "a widget was not mounted at all";
  if (error) return `a widget says: ${error.textContent}`;
  const { width, height } = view.getBoundingClientRect();
  if (view.childElementCount === 0 || width < 50 || height < 20) return "a widget shows nothing";
}).filter(Boolean)"""


def dead_widgets(page):
    """Every widget of the page is alive."""
    return page.evaluate(WIDGETS)


PICTURES = """(leastAlt) => [...document.images].flatMap((img) => {
  const name = img.getAttribute("src").split("/").pop();
  const out = [];
  const alt = img.getAttribute("alt")?.trim() ?? "";
  if (alt.length < leastAlt) out.push("no alternative text");
  if (/\\.(svg|png|jpe?g|webp)$/i.test(alt)) out.push("a file name for a text");
  const top = img.getBoundingClientRect().top + scrollY;
  if (top > innerHeight && img.loading !== "lazy") out.push("not lazy, below the fold");
  if (top < innerHeight / 2 && img.loading === "lazy") out.push("lazy, in the first screen");
  if (!img.getAttribute("width") && !img.style.width) out.push("no width");
  if (!img.getAttribute("height") && !img.style.height) out.push("no height");
  if (img.complete && img.loading !== "lazy" && img.naturalWidth === 0) out.push("not shown");
  const box = img.getBoundingClientRect(), style = getComputedStyle(img);
  const inner = (size, ...sides) => sides.reduce((n, side) => n - parseFloat(style[side]), size);
  const [width, height] = [img.getAttribute("width"), img.getAttribute("height")];
  const shown = inner(box.width, "paddingLeft", "paddingRight") /
    inner(box.height, "paddingTop", "paddingBottom");
  if (width && height && Math.abs((shown * height) / width - 1) > 0.05)
    out.push("out of proportion");
  return out.map((text) => `picture ${name}: ${text}`);
})"""


def pictures(page):
    """Pictures say in words what they show, have their size, and wait where they are far down."""
    return page.evaluate(PICTURES, LEAST_ALT)


# Text as a reader sees it, without code, formulas and scripts.
PROSE = """() => {
  const walk = document.createTreeWalker(document.querySelector("article") ?? document.body, 4);
  const out = [];
  for (let node; (node = walk.nextNode()); )
    if (!node.parentElement.closest("pre, code, .katex, script, style, .mt-widget"))
      out.push(node.data);
  return out;
}"""


IDS = """() => [...document.querySelectorAll("[id]")].map((el) => el.id)
  .filter((id, place, all) => all.indexOf(id) !== place)"""


def doubled_ids(page):
    """Every anchor is there once: a link to one that is there twice leads to the first."""
    return [f"twice on this page: {name}" for name in page.evaluate(IDS)]


def callouts(page):
    """No callout stands there as it is typed, ``[!NOTE]``."""
    return [f"not a box: {text.strip()[:80]}" for text in page.evaluate(PROSE) if "[!" in text]


MATHEMATICS = """() => [...document.querySelectorAll(".math")].map((el) => {
  if (el.querySelector(".katex-error")) return `cannot be set: ${el.textContent}`;
  if (!el.querySelector(".katex-mathml math")) return `not set: ${el.textContent.slice(0, 80)}`;
}).filter(Boolean)"""


def mathematics(page):
    """Formulas are set, with MathML for those who listen; none stands there as it is typed."""
    typed = [
        f"formula as typed: {text.strip()[:80]}"
        for text in page.evaluate(PROSE)
        if "$" in text or "\\(" in text
    ]
    return page.evaluate(MATHEMATICS) + typed


ICONS = """() => [...document.querySelectorAll("[class*='fa-']")].filter((el) =>
  /(^| )fa-(solid|regular|brands)( |$)|(^| )fa[srb]( |$)/.test(el.getAttribute("class")))
  .filter((el) => {
    const style = getComputedStyle(el);
    const mask = style.maskImage || style.webkitMaskImage || "none";
    const glyph = getComputedStyle(el, "::before").content;
    return mask === "none" && !(el instanceof SVGElement) && ["none", "normal", ""].includes(glyph);
  }).map((el) => `no picture for the icon ${el.className}`)"""


def icons(page):
    """Each icon of the theme has its picture."""
    return sorted(set(page.evaluate(ICONS)))


PLACEHOLDER = "() => document.querySelector('article')?.innerText ?? ''"


def unfinished(page):
    """A page says something."""
    text = page.evaluate(PLACEHOLDER)
    return [] if len(text.split()) >= 60 else [f"next to nothing on the page: {text!r}"]


# What the focus looks like: the difference that it makes to the element, its parts, and the element
# beside it (an input may lie unseen over what stands for it).
FOCUS = """() => {
  const el = document.activeElement;
  if (!el || el === document.body) return null;
  const looks = () => [el, ...[...el.querySelectorAll("*")].slice(0, 20), el.nextElementSibling]
    .filter((part) => part && getComputedStyle(part).opacity !== "0").map((part) => {
      const s = getComputedStyle(part);
      const ring = s.outlineStyle === "none" ? "" : `${s.outlineWidth} ${s.outlineColor}`;
      return [ring, s.boxShadow, s.border, s.backgroundColor, s.stroke, s.strokeWidth].join();
    }).join();
  const focused = looks();
  el.blur();
  const seen = looks() !== focused;
  el.focus({ preventScroll: true });
  const { top, bottom, left, right } = el.getBoundingClientRect();
  const onScreen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  return { name: el.outerHTML.slice(0, 120), seen, onScreen };
}"""


def keyboard(page, stops=400):
    """Tab goes through the page from the skip link to the end; the place is always to be seen."""
    problems, names = [], []
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
    for stop in range(stops):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None:
            break
        names.append(focus["name"])
        if stop == 0 and "main-content" not in focus["name"]:
            problems.append(f"the first stop is no skip link: {focus['name']}")
        if not focus["seen"]:
            problems.append(f"focus not to be seen: {focus['name']}")
        if not focus["onScreen"]:
            problems.append(f"focus off the screen: {focus['name']}")
    else:
        problems.append(f"no end after {stops} stops: {json.dumps(names[-3:])}")
    return problems

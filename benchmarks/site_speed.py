"""What each page of the site weighs and how soon it can be read and used: make bench-site

Every page is opened in Chromium as by a new reader, on a desk and on a phone, with a processor four
times slower and a line of 10 Mbit/s, and never clicked. A plain Jupyter Book page with the content
of one chapter is the yardstick. Frame times come last, from the widgets that are moved then.
"""

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import yaml
from playwright.sync_api import sync_playwright

from benchmarks import site_builds
from tools.chromium import CHROMIUM, FLAGS
from tools.site_server import served

HTML = Path("_build/html")
SLOWER, MBIT, LATENCY_MS = 4, 10, 40
SIZES = {"desk": (1280, 900), "phone": (390, 844)}
YARDSTICK = "chapters/03_worked_example"
HEAD = ("page", "kB", "requests", "first paint", "shift", "interactive", "widget frame")
# What no chapter may pass: bytes before any click, seconds, share of the window.
BARS = {"kilobytes": 400, "paint": 1.0, "shift": 0.05}

# Asked for once the page is quiet. Interactive: painted, parsed, and no task of 50 ms since.
TIMES = """async () => {
  const entries = (type) => new Promise((done) => {
    const all = [];
    const watch = new PerformanceObserver((list) => all.push(...list.getEntries()));
    watch.observe({ type, buffered: true });
    setTimeout(() => done([...all, ...watch.takeRecords()]), 300);
  });
  const paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const parsed = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
  const [tasks, shifts] = await Promise.all([entries("longtask"), entries("layout-shift")]);
  return {
    paint: paint / 1000,
    shift: shifts.reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0),
    interactive: Math.max(paint, parsed, ...tasks.map((t) => t.startTime + t.duration)) / 1000,
  };
}"""
# The milliseconds of one change, layout included, which three of four changes keep within: of each
# widget its first slider, or its buttons in turn where it has none.
FRAMES = """() => [...document.querySelectorAll(".widget-view .mt-widget")].map((widget) => {
  const all = (kind) => [...widget.querySelectorAll(kind)].filter((one) => one.offsetParent);
  const [field] = all("input[type=range]");
  const times = [];
  for (let k = 0; k < 50; k += 1) {
    const buttons = all("button:not([aria-disabled=true])");
    const start = performance.now();
    if (field) {
      const places = Number(field.max) - Number(field.min);
      field.value = String(Number(field.min) + ((k % 10) / 10) * places);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else buttons[k % buttons.length]?.click();
    widget.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.slice(10).sort((a, b) => a - b)[30];
})"""


@dataclass
class Measured:
    """One page: kB and files before any click, seconds, share of the window, milliseconds."""

    page: str
    kilobytes: float
    requests: int
    paint: float
    shift: float
    interactive: float
    frame: float | None

    def __str__(self):
        frame = "" if self.frame is None else f"{self.frame:.1f} ms"
        return row(
            self.page,
            f"{self.kilobytes:.0f}",
            f"{self.requests}",
            f"{self.paint:.2f} s",
            f"{self.shift:.3f}",
            f"{self.interactive:.2f} s",
            frame,
        )


def row(page, *cells):
    """A line of the table."""
    return f"{page:38}" + "".join(f"{cell:>13}" for cell in cells)


def open_page(browser, address, size):
    """One visit: what was measured, by name, and what was asked of other hosts (in vain)."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height})
    page, host = context.new_page(), urlsplit(address).netloc
    sizes, foreign = [], []
    page.route(lambda url: _elsewhere(url, host), lambda route: route.abort())
    page.on("request", lambda r: _elsewhere(r.url, host) and foreign.append(r.url))
    session = context.new_cdp_session(page)
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    session.send("Network.enable")
    line = {"offline": False, "latency": LATENCY_MS}
    line |= dict.fromkeys(("downloadThroughput", "uploadThroughput"), MBIT * 1e6 / 8)
    session.send("Network.emulateNetworkConditions", line)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address, wait_until="load")
    page.wait_for_load_state("networkidle")
    time.sleep(0.5)
    found = {"kilobytes": sum(sizes) / 1000, "requests": len(sizes), **page.evaluate(TIMES)}
    found["frame"] = max(page.evaluate(FRAMES), default=None)
    context.close()
    return found, foreign


def _elsewhere(url, host):
    parts = urlsplit(url)
    return parts.scheme.startswith("http") and parts.netloc != host


def measure(browser, site, name, visits):
    """The worse of desk and phone, each the median over the visits; and the foreign addresses."""
    foreign, medians = set(), []
    for size in SIZES:
        found = []
        for _ in range(visits):
            numbers, elsewhere = open_page(browser, f"{site}/{name}.html", size)
            found.append(numbers)
            foreign.update(elsewhere)
        medians.append({key: _median([one[key] for one in found]) for key in found[0]})
    worst = {key: _worse([one[key] for one in medians]) for key in medians[0]}
    return Measured(name, **worst), sorted(foreign)


def _median(values):
    return None if None in values else statistics.median(values)


def _worse(values):
    return None if None in values else max(values)


def pages():
    """The pages of the table of contents, in order."""
    toc = yaml.safe_load(Path("_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(page["file"] for part in toc["parts"] for page in part["chapters"])]


def missed(measured):
    """The bars that a page does not hold, in words."""
    return [
        f"{measured.page}: {name} {getattr(measured, name):.3g}, at most {bar}"
        for name, bar in BARS.items()
        if getattr(measured, name) > bar
    ]


def report_yardstick(browser, visits):
    """The same content as a plain Jupyter Book page, and what could not be measured of it."""
    with TemporaryDirectory() as folder:
        html = site_builds.plain_book(Path(folder), Path(f"{YARDSTICK}.ipynb"))
        with served(html) as site:
            plain, foreign = measure(browser, site, Path(YARDSTICK).name, visits)
    plain.page = "  the same, plain Jupyter Book 1"
    print(plain)
    hosts = sorted({urlsplit(address).netloc for address in foreign})
    print(
        f"  It asks {len(foreign)} files of other hosts ({', '.join(hosts)}): the scripts that "
        "set its formulas\n  and show its widgets. They were kept away here, and neither their "
        "bytes nor their time count."
    )


def main(arguments=None):
    """Print the table; the exit status says whether all chapters hold the bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="03", help="a part of the page's name")
    parser.add_argument("--visits", type=int, default=3, help="how often; the median counts")
    parser.add_argument("--site", type=Path, default=HTML, help="the folder of built pages")
    asked = parser.parse_args(arguments)
    wanted = [page for page in pages() if any(part in page for part in asked.pages or [""])]
    print(f"Processor {SLOWER} times slower, {MBIT} Mbit/s, {LATENCY_MS} ms to and fro, no click;")
    print("of desk and phone, the worse.\n")
    print(row(*HEAD))
    problems = []
    with sync_playwright() as playwright, served(asked.site) as site:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for page in wanted:
            measured, foreign = measure(browser, site, page, asked.visits)
            print(measured, flush=True)
            problems += [*missed(measured), *foreign]
        report_yardstick(browser, asked.visits)
        browser.close()
    print("\n" + "\n".join(problems or ["Every page holds the bars: " + _bars()]))
    return 1 if problems else 0


def _bars():
    return ", ".join(f"{name} at most {bar}" for name, bar in BARS.items()) + "."


if __name__ == "__main__":
    sys.exit(main())

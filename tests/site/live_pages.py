"""Pages whose cells run: a site that has Pyodide, and what the tests do with a page of it."""

import json
import re
from contextlib import contextmanager

import site_visits
from pyodide_files import pyodide_folder

SECONDS = 1000
AT_REST = re.compile(r"^(Done|Stopped|Cell \d+ stopped|Python|This could not)")
# What is stored or shown under each cell that runs, by its id.
OUTPUTS = """() => Object.fromEntries([...document.querySelectorAll(".live-bar")].map((bar) => {
  const box = bar.parentElement.querySelector(".cell_output");
  const texts = box ? [...box.querySelectorAll("pre, .text_html")] : [];
  return [bar.parentElement.id, {
    text: texts.filter((one) => !one.parentElement.closest(".text_html"))
      .map((one) => one.textContent.trim()).filter(Boolean).join("\\n"),
    pictures: box ? [...box.querySelectorAll("img")].map((img) => img.alt) : [],
  }];
}))"""


@contextmanager
def live_site(folder):
    """Serve the built site with Pyodide in it, some folders down; gives its address.

    ``folder`` is empty. The pages are as they were built; only the setting of Pyodide's place is
    another. The server sends none of the headers that shared memory would need.
    """
    book = folder / "some" / "where"
    live = book / "_live"
    live.mkdir(parents=True)
    built = site_visits.HTML
    for entry in built.iterdir():
        if entry.name != "_live":
            (book / entry.name).symlink_to(entry)
    for entry in (built / "_live").iterdir():
        if entry.name not in ("settings.json", "pyodide"):
            (live / entry.name).symlink_to(entry)
    (live / "pyodide").symlink_to(pyodide_folder())
    settings = json.loads((built / "_live" / "settings.json").read_text(encoding="utf-8"))
    (live / "settings.json").write_text(json.dumps(settings | {"pyodide": "pyodide/"}))
    with site_visits.served(folder) as address:
        yield f"{address}/some/where"


class Cell:
    """A cell of a page that runs: its buttons, its code and what is under it."""

    def __init__(self, page, name):
        self.page = page
        self.element = page.locator(f'[id="{name}"]')
        self.button = self.element.locator(".live-run")
        self.edit = self.element.locator(".live-edit")
        self.reset = self.element.locator(".live-reset")
        self.status = self.element.locator(".live-status")
        self.output = self.element.locator(".cell_output")
        self.editor = self.element.locator(".cm-content")

    def write(self, code):
        """Replace the code, as a reader does who pastes."""
        self.button.scroll_into_view_if_needed()  # near it becomes an editor
        self.editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def code(self):
        """The code as the editor shows it."""
        return "\n".join(self.element.locator(".cm-line").all_text_contents())

    def wait(self, words, seconds=60):
        """Wait until the status says ``words``."""
        self.status.filter(has_text=words).wait_for(timeout=seconds * SECONDS)

    def run(self, seconds=60):
        """Run the cell and wait until it ends, well or not; its text."""
        self.button.click()
        self.status.filter(has_text=AT_REST).wait_for(timeout=seconds * SECONDS)
        return self.text()

    def run_code(self, code):
        """Write code and run it; the text of what came."""
        self.write(code)
        return self.run()

    def text(self):
        """What is under the cell, without its pictures."""
        return self.output.inner_text().rstrip("\n") if self.output.is_visible() else ""

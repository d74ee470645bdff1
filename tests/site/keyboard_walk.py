"""A walk through a widget by keyboard alone: what is reached, what it is called, what it does."""

import time
from dataclasses import dataclass, field

from checks import FOCUS

STOPS = 200  # no widget has as many
# The keys that use a control, by its role; the first that changes something counts.
KEYS = {
    "slider": ("ArrowRight", "ArrowLeft"),
    "spinbutton": ("ArrowUp", "ArrowDown"),
    "radio": ("ArrowDown", "ArrowUp"),
    "checkbox": ("Space",),
    "switch": ("Space",),
    "combobox": ("ArrowDown", "ArrowUp"),
    "button": ("Enter",),
    "DisclosureTriangle": ("Enter",),
}
PASSIVE = {"group", "region"}  # boxes that scroll
# Everything that a change can change: the elements, and what is typed, chosen or set.
STATE = """(widget) => widget.outerHTML + [...widget.querySelectorAll("input, select")].map((one) =>
  `${one.value} ${one.checked}`).join()"""
START = """(widget) => {
  const start = document.createElement("span");
  start.tabIndex = 0;
  widget.before(start);
  start.focus();
}"""
SAID = """(widget) => [...widget.querySelectorAll("[role=status], [role=alert], [aria-live]")]
  .map((one) => one.textContent).join(" | ")"""
# What is chosen already need not answer.
CHOSEN = "() => document.activeElement.matches('[aria-current], [aria-pressed=true]')"
INSIDE = "(widget) => widget.contains(document.activeElement)"


@dataclass
class Walk:
    """What was met: pairs of role and name in order, complaints, whether anything was announced."""

    stops: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    announced: bool = False


def walk(page, widget):
    """Tab through ``widget``, a locator, from before it to behind it, and use all that is met."""
    session = page.context.new_cdp_session(page)
    found = Walk()
    widget.evaluate(START)
    page.keyboard.press("Tab")
    for _ in range(STOPS):
        if not widget.evaluate(INSIDE):
            break
        _stop(page, session, widget, found)
        page.keyboard.press("Tab")
    else:
        found.complaints.append(f"no way out after {STOPS} stops: {found.stops[-3:]}")
    session.detach()
    return found


def _stop(page, session, widget, found):
    """One control: it must have a name, show that it has the focus, and answer to its keys."""
    role, name, disabled = _spoken(session)
    known = (role, name) in found.stops  # come back to, as after an answer was hidden again
    found.stops.append((role, name))
    focus = page.evaluate(FOCUS)
    if not name:
        found.complaints.append(f"no name: {role} {focus['name']}")
    if not focus["seen"] or not focus["onScreen"]:
        found.complaints.append(f"focus not to be seen: {role} {name}")
    if role in PASSIVE or disabled or known:
        return
    if role not in KEYS:
        found.complaints.append(f"no role that says what to press: {role} {name}")
        return
    before, said = widget.evaluate(STATE), widget.evaluate(SAID)
    changed = any(_changes(page, widget, key, before) for key in KEYS[role])
    if not changed and not page.evaluate(CHOSEN):
        found.complaints.append(f"nothing happens: {role} {name}")
    found.announced = found.announced or widget.evaluate(SAID) != said
    if not widget.evaluate(INSIDE):
        found.complaints.append(f"the focus is lost: {role} {name}")
        widget.evaluate("(widget) => widget.querySelector('button, input').focus()")


def _changes(page, widget, key, before):
    page.keyboard.press(key)
    page.wait_for_load_state("networkidle")
    return _settled(page, widget) != before


def _settled(page, widget):
    """The state once nothing changes any more: what was fetched is unpacked and drawn."""
    end = time.monotonic() + 10
    earlier, now = None, widget.evaluate(STATE)
    while now != earlier and time.monotonic() < end:
        page.wait_for_timeout(50)
        earlier, now = now, widget.evaluate(STATE)
    return now


def _spoken(session):
    """Role, name and whether it is disabled, as a screen reader gets them of what has the focus."""
    element = session.send("Runtime.evaluate", {"expression": "document.activeElement"})
    node = session.send(
        "Accessibility.getPartialAXTree",
        {"objectId": element["result"]["objectId"], "fetchRelatives": False},
    )["nodes"][0]
    more = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
    name = node.get("name", {}).get("value", "").strip()
    return node.get("role", {}).get("value", ""), name, more.get("disabled", False)

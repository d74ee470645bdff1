"""A pytest plugin that makes nbval compare everything a reader sees.

nbval 0.11 leaves out PNG and JPEG pictures, widget views, the metadata of outputs (and with it the
alternative text of figures) and the stored state of widgets. Here they are compared too; what is
left out after that is only what no reader sees: execution counts, the kind of message that carried
an output, and the random names of widget models and memory addresses.

A picture need not be the same to the last digit, because a processor or a release of Matplotlib
moves a label by a fraction of a point: an SVG agrees when everything but its coordinates is the
same and no coordinate is more than 1 point away, a PNG when it has the same size and no pixel is
more than 16 of 255 away.

Loaded by the ``conftest.py`` beside ``chapters/``, or by ``-p nbval_complete`` with ``tools`` on
the PYTHONPATH.
"""

import ast
import base64
import copy
import io
import json
import re
from queue import Empty

import matplotlib.image
import numpy as np
from nbval.plugin import IPyNbCell
from notebooks import (
    PICTURES,
    WIDGET_STATE,
    WIDGET_VIEW,
    is_displayed,
    stable_text,
    stored_state,
    view_ids,
)

NOT_SEEN = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count")
MOST_POINTS = 1.0
MOST_LEVELS = 16
ADVICE = (
    "The code of a chapter no longer gives the outputs stored in it. If the new ones are right: "
    "make chapters"
)

_NUMBER = re.compile(r"(?<![\w#.-])-?\d+(?:\.\d+)?(?![\w-])")
_SVG_ID = re.compile(r"""(\bid="|href="#|url\(#)([\w.-]+)""")
_STATES = "__import__('json').dumps(__import__('ipywidgets').Widget.get_manager_state()['state'])"


def pytest_itemcollected(item):
    """Give every cell of nbval the complete comparison."""
    if isinstance(item, IPyNbCell):
        item.parent.skip_compare = NOT_SEEN
        item.compare_outputs = Comparison(item)


def pytest_terminal_summary(terminalreporter):
    """After a failed comparison, say what to do."""
    failed = terminalreporter.getreports("failed")
    if any(".ipynb" in report.nodeid for report in failed):
        terminalreporter.write_line(ADVICE, yellow=True)


class Comparison:
    """What nbval calls with a cell's new outputs and its stored ones."""

    def __init__(self, item):
        self.item = item
        self.nbval_compares = item.compare_outputs

    def __call__(self, new, stored):
        new, stored = copy.deepcopy(list(new)), copy.deepcopy(list(stored))
        if view_ids(new):
            add_states(new, live_states(self.item.parent.kernel))
            add_states(stored, stored_states(self.item.parent.nb))
        for outputs in (new, stored):
            for output in outputs:
                show_plainly(output)
        for fresh, old in zip(new, stored, strict=False):
            forgive_rounding(fresh.get("data", {}), old.get("data", {}))
        return self.nbval_compares(new, stored)


def show_plainly(output):
    """Bring an output into the form that is compared, in place."""
    if output.output_type == "stream":
        output.text = stable_text(output.text)
    if is_displayed(output):
        for mime in list(output.data):
            if mime == WIDGET_VIEW:
                output.data[mime] = "a widget"
            elif mime.startswith("text/"):
                output.data[mime] = stable_text(output.data[mime])
            alt = output.metadata.get(mime, {}).get("alt")
            if alt is not None:
                output.data[f"alternative text of {mime}"] = alt


def forgive_rounding(new, stored):
    """Where a new picture agrees with the stored one, put the stored one in its place."""
    for mime in set(PICTURES) & set(new) & set(stored):
        agrees = same_svg if mime == "image/svg+xml" else same_pixels
        if agrees(new[mime], stored[mime]):
            new[mime] = stored[mime]


def same_svg(new, stored):
    """Whether two SVG texts differ in nothing but their ids and coordinates, and in these little.

    >>> same_svg('<path id="a" d="M 1.2 3"/><use href="#a"/>',
    ...          '<path id="b" d="M 1.4 3"/><use href="#b"/>')
    True
    >>> same_svg('<path d="M 1.2 3"/>', '<path d="M 2.4 3"/>')
    False
    """
    new, stored = with_counted_ids(new), with_counted_ids(stored)
    if _NUMBER.sub("n", new) != _NUMBER.sub("n", stored):
        return False
    pairs = zip(_NUMBER.findall(new), _NUMBER.findall(stored), strict=True)
    return all(abs(float(a) - float(b)) <= MOST_POINTS for a, b in pairs)


def with_counted_ids(svg):
    """An SVG text whose ids are counted in order: Matplotlib's depend on its release."""
    order = {}
    return _SVG_ID.sub(lambda m: f"{m[1]}id{order.setdefault(m[2], len(order))}", svg)


def same_pixels(new, stored):
    """Whether two base64 PNG texts show pictures of one size with nearly the same pixels."""
    one, other = (
        np.rint(255 * matplotlib.image.imread(io.BytesIO(base64.b64decode(text)), format="png"))
        for text in (new, stored)
    )
    return one.shape == other.shape and bool(np.abs(one - other).max() <= MOST_LEVELS)


def add_states(outputs, states):
    """Put beside each widget shown the state it has, in place."""
    for output in outputs:
        for model in view_ids([output]):
            state = stored_state(states.get(model, {}).get("state", {}))
            output.data["state of the widget"] = json.dumps(state, sort_keys=True, indent=1)


def stored_states(notebook):
    """The states of the widgets that the notebook stores, by model."""
    return notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})


def live_states(kernel):
    """The states of the widgets that live in the kernel, by model. {} if it does not answer."""
    request = kernel.kc.execute("", silent=True, user_expressions={"states": _STATES})
    try:
        while True:
            reply = kernel.get_message("shell", timeout=10)
            if reply["parent_header"].get("msg_id") == request:
                answer = reply["content"]["user_expressions"]["states"]
                return json.loads(ast.literal_eval(answer["data"]["text/plain"]))
    except (Empty, KeyError):
        return {}

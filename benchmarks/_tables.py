"""Long measurements: what is done is kept, and tables are written whole or not at all."""

import csv
import hashlib
import io
import json
import os
from pathlib import Path

import torch
from tqdm import tqdm

import minitransformer.measurements

KEPT = Path("_build/measurements")
TABLES = Path(minitransformer.measurements.__file__).parent


def write(path, text):
    """Write a file that is either complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_table(name, rows, script="measure_heads"):
    """Write rows, dicts with the same keys, as a table of the package."""
    text = io.StringIO()
    text.write(f"# made by benchmarks/{script}.py: make measurements\n")
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow(
            {key: f"{cell:.5f}" if isinstance(cell, float) else cell for key, cell in row.items()}
        )
    write(TABLES / f"{name}.csv", text.getvalue())


def resumed(name, inputs, parts, compute):
    """compute(part) for every part, as a list; parts done by an earlier run are read back.

    inputs : tensors
        What is measured on. Parts that were measured on something else are not read back.
    """
    digest = hashlib.sha256()
    for tensor in inputs:
        digest.update(tensor.cpu().numpy().tobytes())
    path = KEPT / f"{name}-{digest.hexdigest()[:12]}.json"
    done = json.loads(path.read_text()) if path.exists() else {}
    for part in tqdm(parts, desc=name, mininterval=5):
        if str(part) not in done:
            done[str(part)] = compute(part).tolist()
            write(path, json.dumps(done))
    return [done[str(part)] for part in parts]


def write_losses(name, intact, losses):
    """The losses of each text; layer and head are -1 for the model as it is.

    intact : tensor (texts,)
    losses : tensor (n_layers, n_heads, texts)
    """
    columns = [f"text_{text:02}" for text in range(len(intact))]
    rows = [{"layer": -1, "head": -1} | dict(zip(columns, intact.tolist(), strict=True))]
    for layer, heads in enumerate(losses.tolist()):
        for head, values in enumerate(heads):
            rows.append({"layer": layer, "head": head} | dict(zip(columns, values, strict=True)))
    write_table(name, rows)


def mean_losses(values):
    """The mean loss of each half of the texts."""
    choose, report = torch.tensor(values).chunk(2)
    return {"loss_choose": choose.mean().item(), "loss_report": report.mean().item()}

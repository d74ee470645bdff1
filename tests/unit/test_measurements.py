"""Every table can be read, and says where it comes from."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from benchmarks import _tables
from minitransformer import measurements

ROOT = Path(__file__).parents[2]


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="no table 'nothing'") as caught:
        measurements.table("nothing")
    assert measurements.names()
    assert all(name in str(caught.value) for name in measurements.names())


@pytest.mark.parametrize("name", measurements.names())
def test_every_table_has_rows_and_names_its_script(name):
    rows = measurements.table(name)
    assert rows
    assert all(row.keys() == rows[0].keys() and "" not in row.values() for row in rows)
    first = files(measurements).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]
    [script] = re.findall(r"^# made by (benchmarks/measure_\w+\.py): make measurements$", first)
    assert (ROOT / script).is_file()


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    rows = [{"how": "mean, of all", "layer": 3, "loss": 1.25}, {"how": "", "layer": -1, "loss": 2}]
    monkeypatch.setattr(_tables, "TABLES", tmp_path)
    monkeypatch.setattr(measurements, "files", lambda package: tmp_path)
    _tables.write_table("tiny", rows, script="measure_tiny")
    assert measurements.names() == ["tiny"]
    assert measurements.table("tiny") == rows
    assert [type(row["layer"]) for row in measurements.table("tiny")] == [int, int]


def test_passages_are_single_paragraphs():
    texts = measurements.passages()
    assert len(set(texts)) == len(texts) == 8
    assert all(30 < len(text.split()) < 80 and text.strip() == text for text in texts)

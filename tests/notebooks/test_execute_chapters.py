"""Chapters are stored so that another run gives the same bytes, and only when every cell ran."""

import execute_chapters
import pytest
from notebooks import WIDGET_STATE, chapter_files, to_text, write_atomically
from tiny_chapter import cell, tiny_chapter


def test_a_second_run_gives_the_same_bytes(tiny_file):
    before = tiny_file.read_bytes()
    assert execute_chapters.run_chapter(tiny_file) is None
    assert tiny_file.read_bytes() == before


def test_a_widget_keeps_its_inputs_and_no_code(tiny):
    view = cell(tiny, "widget").outputs[0].data["application/vnd.jupyter.widget-view+json"]
    states = tiny.metadata["widgets"][WIDGET_STATE]["state"]
    assert list(states) == [view["model_id"]]
    state = states[view["model_id"]]["state"]
    assert state["angle"] == 30
    assert state["_anywidget_id"].endswith("Dial")
    assert not {"_esm", "_css", "layout"} & set(state)


def test_an_address_is_made_the_same(tiny):
    assert "at 0x0>" in cell(tiny, "widget").outputs[0].data["text/plain"]


def test_a_raising_cell_leaves_the_file_and_is_named(tmp_path, monkeypatch, capsys):
    notebook = tiny_chapter()
    cell(notebook, "svg").source = "1 / 0  # planted"
    (tmp_path / "chapters").mkdir()
    path = tmp_path / "chapters" / "00_tiny.ipynb"
    path.write_text(to_text(notebook), encoding="utf-8")
    before = path.read_bytes()
    monkeypatch.setattr(execute_chapters, "chapter_files", lambda names: [path])
    assert execute_chapters.main([]) == 1
    said = capsys.readouterr()
    assert "00_tiny ... failed" in said.out
    for expected in ("cell 6 of 00_tiny.ipynb", "1 / 0  # planted", "ZeroDivisionError"):
        assert expected in said.err
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_chapters_are_chosen_by_the_beginning_of_their_names(tmp_path):
    (tmp_path / "chapters").mkdir()
    for name in ("03_worked_example", "10_grouped_query", "01_rnn_limits"):
        (tmp_path / "chapters" / f"{name}.ipynb").touch()
    stems = [file.stem for file in chapter_files(["10", "01"], tmp_path)]
    assert stems == ["01_rnn_limits", "10_grouped_query"]
    with pytest.raises(ValueError, match=r"no chapter begins with '7'.*03_worked_example"):
        chapter_files(["7"], tmp_path)


def test_an_unknown_chapter_ends_with_a_message(capsys):
    with pytest.raises(SystemExit) as stopped:
        execute_chapters.main(["77"])
    assert stopped.value.code == 2
    assert "no chapter begins with '77'" in capsys.readouterr().err

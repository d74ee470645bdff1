"""`make bench` says which bars were missed, and fails; the benchmarks themselves are not run."""

from types import SimpleNamespace

import pytest

from benchmarks import __main__ as bench
from benchmarks.bars import Reading

HELD = {
    "attention": Reading("attention", 0.9, 1.0),
    "pretrained": Reading("decoding", 1.2, 1.1, at_least=True),
    "training_step": Reading("training step", 1.0, 1.0),
}


@pytest.fixture
def run(monkeypatch, capsys):
    """Run fakes of the benchmarks: each prints a table and gives its readings, one list a time.

    The status, what was printed, and how often each was measured.
    """

    def run(wanted=(), **readings):
        times = dict.fromkeys(HELD, 0)

        def main(name):
            print("the table of", name)
            times[name] += 1
            return readings.get(name, [[HELD[name]]] * 2)[times[name] - 1]

        fakes = {
            f"benchmarks.bench_{name}": SimpleNamespace(main=lambda name=name: main(name))
            for name in HELD
        }
        monkeypatch.setattr(bench.importlib, "import_module", fakes.__getitem__)
        status = bench.main(list(wanted))
        return status, capsys.readouterr().out, times

    return run


def test_the_fakes_stand_for_all_benchmarks():
    assert sorted(HELD) == bench.names()


def test_held_bars_are_measured_once_and_end_well(run):
    status, out, times = run()
    assert status == 0
    assert out.endswith("Every bar is held.\n")
    assert "the table of attention" in out
    assert set(times.values()) == {1}


@pytest.mark.parametrize("value", [1.001, 1.5, float("nan")])
def test_a_missed_bar_is_named_and_fails_the_run(run, value):
    slow = [HELD["attention"], Reading("with gradients", value, 1.0)]
    status, out, times = run(attention=[slow, slow])
    assert status == 1
    assert out.endswith(f"Missed bars:\n  with gradients: {value:.4g}, at most 1\n")
    assert times == {"attention": 2, "pretrained": 1, "training_step": 1}
    assert "measured once more" in out


def test_a_speed_is_to_reach_its_bar(run):
    slow = Reading("decoding", 1.09, 1.1, at_least=True)
    status, out, _ = run(pretrained=[[slow], [slow]])
    assert status == 1
    assert out.endswith("Missed bars:\n  decoding: 1.09, at least 1.1\n")


def test_of_each_bar_the_better_of_two_values_counts(run):
    slow, quick = Reading("time", 1.1, 1.0), Reading("time", 0.9, 1.0)
    few, many = (Reading("speed", value, 1.1, at_least=True) for value in (1.0, 1.3))
    assert run(pretrained=[[slow, many], [quick, few]])[0] == 0
    assert run(pretrained=[[slow, few], [slow, many]])[0] == 1


def test_only_the_benchmarks_that_are_named_run_and_unknown_ones_are_refused(run):
    status, _, times = run(["training_step"])
    assert status == 0
    assert times == {"attention": 0, "pretrained": 0, "training_step": 1}
    with pytest.raises(SystemExit, match="no benchmark typo; there are attention, pretrained"):
        run(["typo"])

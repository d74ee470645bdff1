"""`make bench` says which bars were missed, and fails; the benchmarks themselves are not run."""

from types import SimpleNamespace

import pytest

from benchmarks import __main__ as bench

SPEEDS = {"ours": 12.0, "generate": 9.0, "bare loop": 10.0}


@pytest.fixture
def run(monkeypatch, capsys):
    """Run fakes of the benchmarks: what the first and the second measurement give may differ."""

    def run(wanted=(), **changes):
        measured = {
            "table": [
                [("in training", 9.0, 10.0), ("for inference", 1.0, 1.0), ("else", 9.0, 1.0)]
            ],
            "decoding": [{"float32": SPEEDS, "bfloat16": SPEEDS}],
            "loading": [(2.0, 110, 100)],
            "cache_bytes": [(46080.0, 46080)],
            "step": [0.95],
        } | changes
        calls = dict.fromkeys(measured, 0)

        def measure(name):
            values = measured[name]
            calls[name] += 1
            return values[min(calls[name], len(values)) - 1]

        fakes = {
            "attention": SimpleNamespace(table=lambda: measure("table")),
            "pretrained": SimpleNamespace(
                decoding=lambda: measure("decoding"),
                loading=lambda: measure("loading"),
                cache_bytes=lambda: measure("cache_bytes"),
            ),
            "training_step": SimpleNamespace(main=lambda: measure("step")),
        }
        fakes["attention"].main = lambda: print("table", fakes["attention"].table())
        parts = fakes["pretrained"]
        parts.main = lambda: print(parts.decoding(), parts.loading(), parts.cache_bytes())
        monkeypatch.setattr(
            bench.importlib,
            "import_module",
            lambda name: fakes[name.removeprefix("benchmarks.bench_")],
        )
        status = bench.main(list(wanted))
        return status, capsys.readouterr().out, calls

    return run


def test_every_benchmark_has_its_bars():
    assert sorted(bench.READERS) == bench.names()


def test_held_bars_are_measured_once_and_end_well(run):
    status, out, calls = run()
    assert status == 0
    assert out.endswith("Every bar is held.\n")
    assert "table [('in training'" in out, "the benchmark's own table is printed"
    assert set(calls.values()) == {1}


SLOW = {"ours": 10.9, "generate": 9.0, "bare loop": 10.0}
MISSES = {
    "attention in training": {"table": [[("in training", 10.1, 10.0)]]},
    "attention for inference": {"table": [[("for inference", 10.1, 10.0)]]},
    "decoding in float32": {"decoding": [{"float32": SLOW, "bfloat16": SPEEDS}]},
    "decoding in bfloat16": {"decoding": [{"float32": SPEEDS, "bfloat16": SLOW}]},
    "seconds of a later load": {"loading": [(3.1, 110, 100)]},
    "peak memory": {"loading": [(2.0, 121, 100)]},
    "bytes a token": {"cache_bytes": [(46079.0, 46080)]},
    "training step": {"step": [1.001]},
}


@pytest.mark.parametrize("what", MISSES)
def test_a_missed_bar_is_named_and_fails_the_run(run, what):
    status, out, calls = run(**MISSES[what])
    assert status == 1
    _, _, end = out.partition("Missed bars:\n")
    assert what in end
    assert len(end.splitlines()) == 1
    assert calls[next(iter(MISSES[what]))] == 2


def test_all_missed_bars_are_named(run):
    _, out, _ = run(step=[1.5], loading=[(4.0, 130, 100)])
    end = out.partition("Missed bars:\n")[2]
    assert "training step, ours / the faster other: 1.5, at most 1" in end
    assert len(end.splitlines()) == 3


def test_a_bar_missed_in_the_first_measurement_may_be_held_in_the_second(run):
    slow = {"float32": SLOW, "bfloat16": SPEEDS}
    status, out, calls = run(decoding=[slow, {"float32": SPEEDS, "bfloat16": SLOW}])
    assert status == 0, "of each bar the better value counts"
    assert calls["decoding"] == 2
    assert calls["table"] == calls["step"] == 1, "the others are not measured again"
    assert "measured once more" in out


def test_a_number_that_is_none_holds_no_bar(run):
    status, _, _ = run(step=[float("nan")])
    assert status == 1


def test_only_the_benchmarks_that_are_named_run_and_unknown_ones_are_refused(run):
    status, _, calls = run(["training_step"])
    assert status == 0
    assert [name for name, times in calls.items() if times] == ["step"]
    with pytest.raises(SystemExit, match="no benchmark typo; there are attention, pretrained"):
        run(["typo"])

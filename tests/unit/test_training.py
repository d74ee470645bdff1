"""fit(): it trains, it repeats itself exactly, and it goes on where it stopped."""

import json
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from torch import nn

from minitransformer import _checkpoint, training
from minitransformer._files import open_safetensors, write_safetensors
from minitransformer.generation import lay_out_for_decoding
from minitransformer.models import Config, Decoder
from minitransformer.training import History, cross_entropy_loss, fit, learning_rate


class Small(nn.Module):
    """Dropout, a buffer, a tied weight and a parameter that is never used."""

    def __init__(self, width=5):
        super().__init__()
        self.embedding = nn.Embedding(7, width)
        self.norm = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(width, 7, bias=False)
        self.head.weight = self.embedding.weight
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, tokens):
        return self.head(self.drop(self.norm(self.embedding(tokens))))


def small(seed=0, width=5):
    torch.manual_seed(seed)
    return Small(width)


def next_number(generator):
    tokens = torch.randint(7, (6,), generator=generator)
    return tokens, (tokens + 1) % 7


def run(model, **settings):
    return fit(model, next_number, **{"steps": 30, "lr": 0.05, "progress": False} | settings)


def same_state(one, other):
    one, other = one.state_dict(), other.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_it_learns():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 7))
    history = run(model, steps=300, warmup=20)
    assert len(history.losses) == 300
    assert sum(history.losses[-20:]) / 20 < 0.1 < history.losses[0]
    assert not model.training


def test_a_seed_decides_everything_and_the_global_generator_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second, other = small(), small(), small()
    torch.manual_seed(5)
    losses = run(first).losses
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(6)
    assert run(second).losses == losses
    assert same_state(first, second)
    assert run(other, seed=1).losses != losses


def test_every_step_draws_another_batch_and_other_dropout():
    batches, dropped = [], []
    model = nn.Sequential(nn.Linear(40, 40), nn.Dropout(0.5))
    model[1].register_forward_hook(lambda _, __, output: dropped.append(output[0] == 0))

    def batch(generator):
        batches.append(torch.rand(1, generator=generator).item())
        return torch.ones(1, 40)

    fit(model, batch, lambda model, x: model(x).mean(), steps=5, progress=False)
    assert len(set(batches)) == 5
    assert len({tuple(places.tolist()) for places in dropped}) == 5


class Stop(Exception):
    pass


def stops_after(n_batches, make_batch):
    calls = []

    def interrupted(generator):
        calls.append(1)
        if len(calls) > n_batches:
            raise Stop
        return make_batch(generator)

    return interrupted


@pytest.mark.parametrize("stop_at", [1, 13, 20])
def test_a_resumed_run_is_the_uninterrupted_run(tmp_path, stop_at):
    whole = small()
    expected = run(whole, watch=lambda model: model.norm.running_mean.sum().item(), watch_every=4)
    settings = {
        "checkpoint": tmp_path / "run.safetensors",
        "checkpoint_every": 6,
        "watch": lambda model: model.norm.running_mean.sum().item(),
        "watch_every": 4,
    }
    interrupted = stops_after(stop_at, next_number)
    with pytest.raises(Stop):
        fit(small(), interrupted, steps=30, lr=0.05, progress=False, **settings)
    # Before step 6 nothing was written, and the run starts again from the weights it is given.
    resumed = small(seed=9) if stop_at >= 6 else small()
    history = run(resumed, **settings)
    assert history == expected
    assert same_state(resumed, whole)
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]


def next_tokens(generator):
    texts = torch.randint(13, (2, 6), generator=generator)
    return texts[:, :-1], texts[:, 1:]


def llama(seed=0, **changes):
    torch.manual_seed(seed)
    sizes = {"vocab_size": 13, "n_layers": 1, "d_model": 12, "n_heads": 3} | changes
    return lay_out_for_decoding(Decoder(Config.llama(**sizes)))


def test_a_run_with_matrices_that_lie_by_columns_is_resumed_exactly(tmp_path):
    """AdamW's fused kernel walks through memory: averages in another order meet other weights."""
    whole, resumed = llama(), llama(seed=9)
    assert not whole.blocks[0].mlp.up_proj.weight.is_contiguous()
    settings = {"steps": 30, "lr": 0.05, "progress": False}
    expected = fit(whole, next_tokens, **settings)
    settings |= {"checkpoint": tmp_path / "run.safetensors", "checkpoint_every": 10}
    with pytest.raises(Stop):
        fit(llama(), stops_after(15, next_tokens), **settings)
    assert fit(resumed, next_tokens, **settings) == expected
    assert same_state(resumed, whole)


def test_a_run_that_is_complete_is_not_repeated(tmp_path):
    first = small()
    history = run(first, checkpoint=tmp_path / "run.safetensors")
    second = small(seed=9)
    again = fit(
        second,
        lambda generator: pytest.fail("a batch was drawn"),
        steps=30,
        lr=0.05,
        checkpoint=tmp_path / "run.safetensors",
        progress=False,
    )
    assert again == history
    assert same_state(first, second)


def truncated(path):
    path.write_bytes(path.read_bytes()[:-7])


def cut_in_the_header(path):
    path.write_bytes(path.read_bytes()[:40])


def empty(path):
    path.write_bytes(b"")


def foreign(path):
    torch.save({"a": torch.ones(2)}, path)


def other_tensors(path):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2)}, path)


@pytest.mark.parametrize("damage", [truncated, cut_in_the_header, empty, foreign, other_tensors])
def test_a_damaged_checkpoint_is_named_and_nothing_is_loaded(tmp_path, damage):
    path = tmp_path / "run.safetensors"
    run(small(), checkpoint=path)
    damage(path)
    model = small(seed=3)
    with pytest.raises(ValueError, match=r"run\.safetensors"):
        run(model, checkpoint=path)
    assert same_state(model, small(seed=3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lr": 0.01}, r"lr=0\.05, now it is 0\.01"),
        ({"steps": 40}, "steps=30, now it is 40"),
        ({"seed": 1}, "seed=0, now it is 1"),
        ({"warmup": 3}, "warmup=0, now it is 3"),
        ({"schedule": "constant"}, "schedule='cosine', now it is 'constant'"),
        ({"weight_decay": 0.0}, r"weight_decay=0\.01, now it is 0\.0"),
        ({"grad_clip": None}, r"grad_clip=1\.0, now it is None"),
        ({"watch_every": 7}, "watch_every=50, now it is 7"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, change, message):
    run(small(), checkpoint=tmp_path / "run.safetensors")
    with pytest.raises(ValueError, match=message):
        run(small(), checkpoint=tmp_path / "run.safetensors", **change)


def test_a_checkpoint_of_another_model_is_refused_and_nothing_is_loaded(tmp_path):
    path = tmp_path / "run.safetensors"
    run(small(), checkpoint=path)
    wide = small(seed=3, width=4)
    with pytest.raises(ValueError, match=r"\(7, 5\).*this model needs \(7, 4\)"):
        run(wide, checkpoint=path)
    assert same_state(wide, small(seed=3, width=4))
    more = small(seed=3)
    more.extra = nn.Linear(2, 3)
    with pytest.raises(ValueError, match=r"lacks model\.extra\.bias"):
        run(more, checkpoint=path)
    fewer = small(seed=3)
    del fewer.unused
    with pytest.raises(ValueError, match=r"holds.*model\.unused"):
        run(fewer, checkpoint=path)


def test_a_checkpoint_in_another_dtype_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    run(small(), checkpoint=path)
    exact = small(seed=3).double()
    with pytest.raises(ValueError, match=r"torch\.float32, this model needs .* torch\.float64"):
        run(exact, checkpoint=path)
    assert same_state(exact, small(seed=3).double())


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_heads": 6, "d_head": 4, "n_kv_heads": 1}, "config.n_heads=3, now it is 6"),
        ({"norm_eps": 1e-3}, "config.norm_eps=1e-05, now it is 0.001"),
        ({"dropout": 0.5}, r"config.dropout=0\.0, now it is 0\.5"),
        ({"rope_base": 500.0}, r"config.rope_base=10000\.0, now it is 500\.0"),
    ],
)
def test_a_checkpoint_of_another_config_is_refused(tmp_path, change, message, inside):
    """These settings do not show in the shapes of the weights."""
    first, other = llama(), llama(seed=3, **change)
    if inside:
        first, other = nn.Sequential(first), nn.Sequential(other)
    settings = {"steps": 2, "progress": False, "checkpoint": tmp_path / "run.safetensors"}
    fit(first, next_tokens, **settings)
    before = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    with pytest.raises(ValueError, match=message):
        fit(other, next_tokens, **settings)
    assert all(torch.equal(tensor, before[name]) for name, tensor in other.state_dict().items())


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({}, {"watched": "5"}),
        ({}, {"watched": "[5]"}),
        ({}, {"watched": '[["ten", 5]]'}),
        ({}, {"watched": "{}}"}),
        ({}, {"watched": "[" * 200_000}),
        ({}, {"settings": "[]"}),
        ({}, {"settings": "[" * 200_000}),
        ({"losses": torch.tensor(1.0, dtype=torch.float64)}, {}),
        ({"losses": torch.ones(2, 3, dtype=torch.float64)}, {}),
        ({"losses": torch.ones(2, dtype=torch.int64)}, {}),
        ({"losses": torch.ones(31, dtype=torch.float64)}, {}),
    ],
)
def test_a_hostile_checkpoint_is_named_and_nothing_is_loaded(tmp_path, tensors, metadata):
    path = tmp_path / "run.safetensors"
    run(small(), checkpoint=path)
    with open_safetensors(path) as file:
        metadata = file.metadata() | metadata
        tensors = {name: file.get_tensor(name) for name in file.keys()} | tensors  # noqa: SIM118
    write_safetensors(path, tensors, metadata)
    model = small(seed=3)
    with pytest.raises(ValueError, match=r"run\.safetensors"):
        run(model, checkpoint=path)
    assert same_state(model, small(seed=3))


def test_numbers_of_numpy_and_torch_go_into_a_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    settings = {
        "lr": np.float32(0.05),
        "warmup": np.int64(1),
        "seed": np.int64(7),
        "weight_decay": torch.tensor(0.01),
        "checkpoint": path,
    }
    first = run(small(), **settings)
    assert first == run(small(seed=9), **settings)
    with open_safetensors(path) as file:
        assert json.loads(file.metadata()["settings"])["lr"] == float(np.float32(0.05))


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        (np.float32(0.5), 0.5),
        (torch.tensor(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        ((1, (2.5, np.int64(3))), [1, [2.5, 3]]),
        ({"a": torch.tensor([1.0]), "b": (2,)}, {"a": [1.0], "b": [2]}),
        (None, None),
    ],
)
def test_what_was_watched_is_the_same_after_a_checkpoint(tmp_path, seen, kept):
    settings = {"watch": lambda model: seen, "checkpoint": tmp_path / "run.safetensors"}
    first = run(small(), **settings)
    assert first.watched == [(30, kept)]
    assert type(first.watched[0][1]) is type(kept)
    assert run(small(), **settings) == first


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ({1: 0.5}, "watch must name its numbers by strings, got 1"),
        ({"a": [object()]}, "watch must return a number, or a dict or list .*, got object"),
    ],
)
def test_what_a_checkpoint_cannot_hold_is_named_when_it_is_watched(seen, message):
    with pytest.raises(TypeError, match=message):
        run(small(), watch=lambda model: seen)


def test_a_folder_is_no_checkpoint_and_nothing_is_trained(tmp_path):
    model = small()
    with pytest.raises(ValueError, match="checkpoint must be a file, got the folder"):
        run(model, checkpoint=tmp_path)
    assert same_state(model, small())


def test_without_safetensors_nothing_is_trained(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    model = small()
    with pytest.raises(ImportError, match="pip install safetensors"):
        run(model, checkpoint=tmp_path / "run.safetensors")
    assert same_state(model, small())


def test_two_threads_may_write_one_file(tmp_path, monkeypatch):
    """Each waits until the other has its bytes on disk, so both are under way at once."""
    both, fsync, path = threading.Barrier(2), os.fsync, tmp_path / "weights.safetensors"
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), both.wait(timeout=10)))
    failed = []

    def write(number):
        try:
            write_safetensors(path, {"a": torch.full((3,), number)})
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with open_safetensors(path) as file:
        assert file.get_tensor("a")[0] in (1.0, 2.0)
    assert [entry.name for entry in tmp_path.iterdir()] == ["weights.safetensors"]


def test_writing_stops_halfway_and_the_earlier_checkpoint_stays_whole(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    run(small(), checkpoint=path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    model = small()
    optimizer = training._adamw(model, 0.1, 0.0)
    with pytest.raises(OSError, match="disk full"):
        _checkpoint.save_checkpoint(path, model, optimizer, {}, History())
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.safetensors"]


def test_watch_sees_the_model_in_evaluation_mode_and_without_gradients():
    seen = []

    def watch(model):
        seen.append((model.training, torch.is_grad_enabled()))
        return len(seen)

    model = small()
    modes = []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    history = run(model, steps=7, watch=watch, watch_every=3)
    assert history.watched == [(3, 1), (6, 2), (7, 3)]
    assert seen == [(False, False)] * 3
    assert modes == [True] * 7


def test_weight_decay_leaves_gains_and_biases_alone():
    model = nn.Linear(3, 2)
    nn.init.ones_(model.weight)
    nn.init.ones_(model.bias)

    def no_gradient(model, batch):
        return 0 * (model.weight.sum() + model.bias.sum())

    fit(
        model,
        next_number,
        no_gradient,
        steps=2,
        lr=0.1,
        weight_decay=0.5,
        schedule="constant",
        progress=False,
    )
    torch.testing.assert_close(model.weight, torch.full((2, 3), 0.95**2))
    assert torch.equal(model.bias, torch.ones(2))


def test_the_steps_are_those_of_adamw_with_the_paper_s_betas():
    """Vaswani et al. 2017, section 5.3: 0.9 and 0.98; the second shows from the second step on."""
    ours, theirs = small(), small()
    run(ours, steps=5, schedule="constant", weight_decay=0.0, grad_clip=None)
    optimizer = torch.optim.AdamW(theirs.parameters(), 0.05, (0.9, 0.98), weight_decay=0.0)
    for step in range(5):
        torch.manual_seed(step)
        batch = next_number(torch.Generator().manual_seed(step))
        optimizer.zero_grad()
        cross_entropy_loss(theirs, batch).backward()
        optimizer.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_are_clipped_together():
    model = nn.Linear(2, 1, bias=False)
    norms = []
    model.weight.register_post_accumulate_grad_hook(lambda weight: norms.append(weight.grad.norm()))
    seen = []
    step = torch.optim.AdamW.step

    def spy(self, *args):
        seen.append(self.param_groups[0]["params"][0].grad.norm().item())
        return step(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", spy)
        fit(
            model,
            lambda generator: torch.full((1, 2), 30.0),
            lambda model, x: model(x).sum(),
            steps=1,
            grad_clip=0.5,
            progress=False,
        )
    assert norms[0] > 40
    assert math.isclose(seen[0], 0.5, rel_tol=1e-4)


def test_the_learning_rate_rises_and_falls():
    rates = [learning_rate(step, 40, 0.2, warmup=10) for step in range(40)]
    assert rates[:10] == pytest.approx([0.02 * step for step in range(1, 11)])
    assert rates[10] == 0.2
    assert rates[25] == pytest.approx(0.1)
    assert 0 < rates[-1] < 0.001
    assert [learning_rate(step, 9, 0.2, 2, "constant") for step in range(9)] == [0.1] + [0.2] * 8


def test_an_unknown_schedule_is_no_cosine():
    with pytest.raises(ValueError, match=r'schedule is "cosine" or "constant", got \'linear\''):
        learning_rate(0, 9, 0.2, warmup=2, schedule="linear")


def test_the_schedule_reaches_the_optimizer():
    rates = []
    step = torch.optim.AdamW.step

    def spy(self, *args):
        rates.append({group["lr"] for group in self.param_groups})
        return step(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", spy)
        run(small(), steps=6, lr=1.0, warmup=2)
    assert rates == [{learning_rate(step, 6, 1.0, 2)} for step in range(6)]


def test_cross_entropy_takes_several_inputs_and_skips_padding():
    logits = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[0, 2, -100, 1], [1, -100, -100, 0]])
    loss = cross_entropy_loss(lambda a, b: a - b, ({"b": logits, "a": 4 * logits}, targets))
    log_weights = (3 * logits).log_softmax(-1)
    places = [(0, 0, 0), (0, 1, 2), (0, 3, 1), (1, 0, 1), (1, 3, 0)]
    expected = -sum(log_weights[place] for place in places) / 5
    torch.testing.assert_close(loss, expected)


def test_a_loss_that_is_not_a_number_names_the_step():
    def loss(model, batch):
        loss.calls += 1
        return model.weight.sum() * (math.nan if loss.calls == 3 else 1)

    loss.calls = 0
    with pytest.raises(FloatingPointError, match="nan at step 2"):
        fit(nn.Linear(2, 3), next_number, loss, steps=5, progress=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ({"steps": 2.0}, "steps must be a whole number"),
        ({"watch_every": 0}, "watch_every"),
        ({"checkpoint_every": 0}, "checkpoint_every"),
        ({"schedule": "linear"}, "got 'linear'"),
        ({"warmup": 30}, "got warmup 30 of 30 steps"),
        ({"lr": 0.0}, "lr must be positive"),
        ({"lr": math.inf}, "lr must be positive and finite"),
        ({"lr": "0.1"}, "lr must be a number, got '0.1'"),
        ({"warmup": None}, "warmup must be a number, got None"),
        ({"seed": 0.5}, "seed must be a whole number, got 0.5"),
        ({"weight_decay": -1.0}, r"weight_decay must be at least 0 and finite, got -1\.0"),
        ({"weight_decay": math.nan}, "weight_decay must be at least 0 and finite, got nan"),
        ({"grad_clip": 0.0}, "grad_clip must be positive or None"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        run(small(), **settings)


def test_a_model_without_parameters_is_refused():
    with pytest.raises(ValueError, match="no parameter to train"):
        run(nn.ReLU())


_PROGRAM = """
import torch
from minitransformer.training import fit
fit(torch.nn.Linear(1, 1), lambda g: torch.rand(4, 1, generator=g),
    lambda model, x: model(x).square().mean(), steps=3{extra})
"""


@pytest.mark.parametrize(
    ("extra", "environment", "shows"),
    [("", {}, True), (", progress=False", {}, False), ("", {"TQDM_DISABLE": "1"}, False)],
)
def test_the_bar_can_be_silenced(extra, environment, shows):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(extra=extra)],
        env=os.environ | environment,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    assert bool(done.stderr) == shows
    if shows:
        assert done.stderr.endswith(b" \r")  # cleared at the end

"""Training: one function, :func:`fit`, that every chapter uses.

A run is decided by its seed. The randomness of each step (the batch, dropout) is drawn from a
number made of the seed and the step, so a run that stopped and went on is bit for bit the run that
did not stop.
"""

import json
import math
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F
from tqdm import tqdm

from ._files import open_safetensors, write_safetensors

__all__ = ["History", "cross_entropy_loss", "fit", "learning_rate"]

# Vaswani et al. 2017, section 5.3; torch's own 0.999 averages over more steps than our runs have.
_BETAS = (0.9, 0.98)


@dataclass
class History:
    """What happened in training.

    losses : list of float, one a step
    watched : list of (step, result): what ``watch`` returned, and after how many steps
    """

    losses: list = field(default_factory=list)
    watched: list = field(default_factory=list)


def learning_rate(step, steps, lr, warmup=0, schedule="cosine"):
    """The learning rate of a step: it grows linearly for ``warmup`` steps and then falls.

    Parameters
    ----------
    step : int
        From 0 to ``steps`` - 1.
    schedule : "cosine" or "constant"
        A half cosine from ``lr`` down towards 0, or ``lr`` to the end.

    Examples
    --------
    >>> [round(learning_rate(step, 6, lr=1.0, warmup=2), 3) for step in range(6)]
    [0.5, 1.0, 1.0, 0.854, 0.5, 0.146]

    Source: Loshchilov & Hutter 2017, "SGDR", equation 5 (one cycle), after a linear warm-up.
    """
    if step < warmup:
        return lr * (step + 1) / warmup
    if schedule == "constant":
        return lr
    return lr * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def cross_entropy_loss(model, batch):
    """Mean cross-entropy of what a model makes of its inputs against the targets, in nats.

    Parameters
    ----------
    model : callable
        Gives logits (..., classes).
    batch : (inputs, targets)
        inputs is a tensor or a dict of the model's arguments; targets (...) are whole numbers, and
        a target of -100 does not count.

    Examples
    --------
    >>> logits = torch.tensor([[0.0, 0.0], [9.0, 0.0]])
    >>> round(cross_entropy_loss(lambda x: x, (logits, torch.tensor([1, -100]))).item(), 4)
    0.6931
    """
    inputs, targets = batch
    logits = model(**inputs) if isinstance(inputs, dict) else model(inputs)
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


def fit(
    model,
    make_batch,
    loss_fn=cross_entropy_loss,
    *,
    steps,
    lr=3e-3,
    warmup=0,
    schedule="cosine",
    weight_decay=0.01,
    grad_clip=1.0,
    seed=0,
    watch=None,
    watch_every=50,
    checkpoint=None,
    checkpoint_every=100,
    progress=True,
):
    """Train a model with AdamW. Afterwards it is in evaluation mode.

    Parameters
    ----------
    model : nn.Module
    make_batch : function of a torch.Generator
        Draws one batch; all its randomness must come from the generator.
    loss_fn : function of (model, batch)
        Returns a scalar tensor.
    steps : int
    lr, warmup, schedule
        See :func:`learning_rate`.
    weight_decay : float
        On matrices and embeddings; gains and biases are left alone.
    grad_clip : float or None
        The largest norm that all gradients together may have.
    seed : int
        Decides the batches and dropout (not the model's first weights: seed before you build it).
        torch's global generator is left as it was.
    watch : function of the model, optional
        Called after every ``watch_every`` steps and after the last one, in evaluation mode and
        without gradients; returns a number, or a dict or list of numbers, for the history.
    checkpoint : path, optional
        A safetensors file, written after every ``checkpoint_every`` steps and at the end. If it is
        there already, training goes on from it.
    progress : bool
        A bar on stderr that is gone at the end; the environment variable ``TQDM_DISABLE=1``
        switches every bar off.

    Returns
    -------
    History

    Raises
    ------
    ValueError
        If a setting makes no sense, or a checkpoint is damaged or belongs to another model or
        other settings; the model is then as it was.
    FloatingPointError
        If the loss is NaN or infinite; the message names the step.

    Examples
    --------
    >>> model = torch.nn.Linear(1, 1)
    >>> draw = lambda generator: torch.rand(8, 1, generator=generator)
    >>> error = lambda model, x: (model(x) - 2 * x).square().mean()
    >>> history = fit(model, draw, error, steps=300, lr=0.1, progress=False)
    >>> history.losses[-1] < 1e-3 < history.losses[0]
    True

    Source: Loshchilov & Hutter 2019, "Decoupled weight decay regularization" (AdamW).
    """
    settings = {
        "steps": steps,
        "lr": lr,
        "warmup": warmup,
        "schedule": schedule,
        "weight_decay": weight_decay,
        "grad_clip": grad_clip,
        "seed": seed,
        "watch_every": watch_every,
    }
    _check_settings(settings, checkpoint_every)
    optimizer = _adamw(model, lr, weight_decay)
    history = History()
    if checkpoint is not None:
        history = _load_checkpoint(checkpoint, model, optimizer, settings)
    model.train()
    # An explicit disable=False would overrule the environment, so the word is there only to stop.
    silent = {} if progress else {"disable": True}
    bar = tqdm(total=steps, initial=len(history.losses), leave=False, **silent)
    with bar, torch.random.fork_rng():
        for step in range(len(history.losses), steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, steps, lr, warmup, schedule)
            loss = _step(model, make_batch, loss_fn, optimizer, grad_clip, seed, step)
            history.losses.append(loss)
            done = step + 1
            bar.update()
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            if watch is not None and (done % watch_every == 0 or done == steps):
                history.watched.append((done, _look(watch, model)))
            if checkpoint is not None and (done % checkpoint_every == 0 or done == steps):
                _save_checkpoint(checkpoint, model, optimizer, settings, history)
    model.eval()
    return history


def _check_settings(settings, checkpoint_every):
    for name in ("steps", "watch_every"):
        if not isinstance(settings[name], int) or settings[name] < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {settings[name]!r}")
    if not isinstance(checkpoint_every, int) or checkpoint_every < 1:
        raise ValueError(
            f"checkpoint_every must be a whole number of at least 1, got {checkpoint_every!r}"
        )
    if settings["schedule"] not in ("cosine", "constant"):
        raise ValueError(f'schedule is "cosine" or "constant", got {settings["schedule"]!r}')
    if not 0 <= settings["warmup"] < settings["steps"]:
        raise ValueError(
            f"warmup must leave steps to train: got warmup {settings['warmup']} "
            f"of {settings['steps']} steps"
        )
    if not (settings["lr"] > 0 and math.isfinite(settings["lr"])):
        raise ValueError(f"lr must be positive and finite, got {settings['lr']}")
    if settings["grad_clip"] is not None and not settings["grad_clip"] > 0:
        raise ValueError(f"grad_clip must be positive or None, got {settings['grad_clip']}")


def _adamw(model, lr, weight_decay):
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise ValueError("the model has no parameter to train")
    matrices = [parameter for parameter in parameters if parameter.ndim >= 2]
    others = [parameter for parameter in parameters if parameter.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr, _BETAS, fused=True)


def _step(model, make_batch, loss_fn, optimizer, grad_clip, seed, step):
    torch.manual_seed(seed * 1_000_003 + step)  # dropout
    batch = make_batch(torch.Generator().manual_seed(seed * 1_000_003 + step))
    loss = loss_fn(model, batch)
    if not torch.isfinite(loss):
        raise FloatingPointError(
            f"the loss is {loss.item()} at step {step}: try a smaller lr, a longer warmup or "
            "grad_clip, and check the inputs for NaN"
        )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if grad_clip is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    return loss.item()


def _look(watch, model):
    model.eval()
    with torch.no_grad():
        result = watch(model)
    model.train()
    return result


def _named_tensors(model, optimizer):
    """Everything a run consists of, by name: parameters, buffers, and AdamW's averages."""
    tensors = {}
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        tensors[f"model.{name}"] = tensor.detach()
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    return tensors


def _save_checkpoint(path, model, optimizer, settings, history):
    tensors = _named_tensors(model, optimizer)
    tensors["losses"] = torch.tensor(history.losses, dtype=torch.float64)
    metadata = {"settings": json.dumps(settings), "watched": json.dumps(history.watched)}
    write_safetensors(path, tensors, metadata)


def _load_checkpoint(path, model, optimizer, settings):
    """Read and check everything first and only then touch the model."""
    try:
        with open_safetensors(path) as file:
            metadata = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        return History()
    try:
        saved, watched = json.loads(metadata["settings"]), json.loads(metadata["watched"])
        losses = stored.pop("losses").tolist()
    except (KeyError, ValueError):
        raise ValueError(f"{path} is not a checkpoint of fit()") from None
    for name, value in settings.items():
        if saved.get(name) != value:
            raise ValueError(
                f"the checkpoint {path} was made with {name}={saved.get(name)!r}, now it is "
                f"{value!r}: take the same settings, or another file for another run"
            )
    averages = _check_belongs(path, stored, model)
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            tensor.copy_(stored[f"model.{name}"])
    for parameter, state in averages.items():
        # A file holds all tensors row by row. The optimizer walks through averages and parameter
        # in the order of memory, so the averages of one that lies by columns must lie so too.
        optimizer.state[parameter] = {
            key: torch.empty_like(parameter).copy_(value) if key != "step" else value
            for key, value in state.items()
        }
    return History(losses, [tuple(entry) for entry in watched])


def _check_belongs(path, stored, model):
    """Check that names and shapes are the model's; return AdamW's averages, by parameter."""
    expected = {f"model.{name}": tensor for name, tensor in model.named_parameters()}
    expected |= {f"model.{name}": tensor for name, tensor in model.named_buffers()}
    averages = {}
    for name, parameter in model.named_parameters():
        keys = {key: f"optimizer.{name}.{key}" for key in ("step", "exp_avg", "exp_avg_sq")}
        if keys["step"] in stored:  # a parameter that had no gradient has no averages
            expected |= {keys["exp_avg"]: parameter, keys["exp_avg_sq"]: parameter}
            expected[keys["step"]] = torch.tensor(0.0)
            averages[parameter] = {key: stored.get(place) for key, place in keys.items()}
    for name in sorted(expected.keys() ^ stored.keys()):
        problem = "lacks" if name in expected else "holds, beyond this model's,"
        raise ValueError(f"the checkpoint {path} {problem} {name}: it is another model's")
    for name, tensor in expected.items():
        if stored[name].shape != tensor.shape or stored[name].dtype != tensor.dtype:
            raise ValueError(
                f"the checkpoint {path} holds {name} as {tuple(stored[name].shape)} "
                f"{stored[name].dtype}, this model needs {tuple(tensor.shape)} {tensor.dtype}"
            )
    return averages

"""Training: one function, :func:`fit`, that every chapter uses.

A run is decided by its seed. The randomness of each step (the batch, dropout) is drawn from a
number made of the seed and the step, so a run that stopped and went on is bit for bit the run that
did not stop.
"""

import math
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F
from tqdm import tqdm

from ._checkpoint import load_checkpoint, save_checkpoint

__all__ = ["History", "cross_entropy_loss", "fit", "learning_rate"]

# Vaswani et al. 2017, section 5.3; torch's own 0.999 averages over more steps than our runs have.
_BETAS = (0.9, 0.98)


@dataclass
class History:
    """What happened in training.

    losses : list of float, one a step
    watched : list of (step, result): after how many steps, and what ``watch`` returned, with lists
        for tuples, arrays and tensors
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

    Another schedule raises ``ValueError``.

    Source: Loshchilov & Hutter 2017, "SGDR", equation 5 (one cycle), after a linear warm-up.
    """
    _check_schedule(schedule)
    if step < warmup:
        return lr * (step + 1) / warmup
    if schedule == "constant":
        return lr
    return lr * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def _check_schedule(schedule):
    if schedule not in ("cosine", "constant"):
        raise ValueError(f'schedule is "cosine" or "constant", got {schedule!r}')


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
        other settings (of the run, or in a ``config`` of the model); the model is then as it was.
    TypeError
        If ``watch`` returns something else than it may.
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
    settings = _check_settings(settings, checkpoint_every)
    optimizer = _adamw(model, settings["lr"], settings["weight_decay"])
    history = History()
    if checkpoint is not None:
        history = History(*load_checkpoint(checkpoint, model, optimizer, settings))
    model.train()
    # An explicit disable=False would overrule the environment, so the word is there only to stop.
    silent = {} if progress else {"disable": True}
    bar = tqdm(total=steps, initial=len(history.losses), leave=False, **silent)
    with bar, torch.random.fork_rng():
        for step in range(len(history.losses), steps):
            loss = _step(model, make_batch, loss_fn, optimizer, settings, step)
            history.losses.append(loss)
            done = step + 1
            bar.update()
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            if watch is not None and (done % watch_every == 0 or done == steps):
                history.watched.append((done, _look(watch, model)))
            if checkpoint is not None and (done % checkpoint_every == 0 or done == steps):
                save_checkpoint(checkpoint, model, optimizer, settings, history)
    model.eval()
    return history


def _plain(value):
    """A number, an array or a tensor as Python's own numbers, which a checkpoint can hold."""
    return value.tolist() if hasattr(value, "tolist") else value


def _check_settings(settings, checkpoint_every):
    """The settings in Python's own numbers; an error names the one that makes no sense."""
    settings = {name: _plain(value) for name, value in settings.items()}
    _check_numbers(settings | {"checkpoint_every": _plain(checkpoint_every)})
    _check_schedule(settings["schedule"])
    if not 0 <= settings["warmup"] < settings["steps"]:
        raise ValueError(
            f"warmup must leave steps to train: got warmup {settings['warmup']} "
            f"of {settings['steps']} steps"
        )
    if not (settings["lr"] > 0 and math.isfinite(settings["lr"])):
        raise ValueError(f"lr must be positive and finite, got {settings['lr']}")
    if not 0 <= settings["weight_decay"] < math.inf:
        raise ValueError(
            f"weight_decay must be at least 0 and finite, got {settings['weight_decay']}"
        )
    if settings["grad_clip"] is not None and not settings["grad_clip"] > 0:
        raise ValueError(f"grad_clip must be positive or None, got {settings['grad_clip']}")
    return settings


def _check_numbers(settings):
    for name, value in settings.items():
        if name == "schedule" or (name == "grad_clip" and value is None):
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{name} must be a number, got {value!r}")
    for name in ("steps", "watch_every", "checkpoint_every"):
        if not isinstance(settings[name], int) or settings[name] < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {settings[name]!r}")
    if not isinstance(settings["seed"], int):
        raise ValueError(f"seed must be a whole number, got {settings['seed']!r}")


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


def _step(model, make_batch, loss_fn, optimizer, settings, step):
    schedule = (settings[name] for name in ("steps", "lr", "warmup", "schedule"))
    rate = learning_rate(step, *schedule)
    for group in optimizer.param_groups:
        group["lr"] = rate
    seed = settings["seed"] * 1_000_003 + step
    torch.manual_seed(seed)  # dropout
    batch = make_batch(torch.Generator().manual_seed(seed))
    loss = loss_fn(model, batch)
    if not torch.isfinite(loss):
        raise FloatingPointError(
            f"the loss is {loss.item()} at step {step}: try a smaller lr, a longer warmup or "
            "grad_clip, and check the inputs for NaN"
        )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if settings["grad_clip"] is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings["grad_clip"])
    optimizer.step()
    return loss.item()


def _look(watch, model):
    model.eval()
    with torch.no_grad():
        result = _plain_result(watch(model))
    model.train()
    return result


def _plain_result(result):
    """What ``watch`` returned, as a checkpoint would give it back."""
    result = _plain(result)
    if isinstance(result, (list, tuple)):
        return [_plain_result(part) for part in result]
    if isinstance(result, dict):
        for name in result:
            if not isinstance(name, str):
                raise TypeError(f"watch must name its numbers by strings, got {name!r}")
        return {name: _plain_result(part) for name, part in result.items()}
    if result is None or isinstance(result, (int, float, str)):
        return result
    raise TypeError(
        f"watch must return a number, or a dict or list of numbers, got {type(result).__name__}"
    )

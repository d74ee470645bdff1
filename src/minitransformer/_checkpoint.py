"""The checkpoints of :func:`minitransformer.training.fit`: a whole run in one file of tensors.

Parameters, buffers and AdamW's averages are tensors of the file; what the run was set to, and what
was watched, stands in its header as JSON.
"""

import dataclasses
import json
from pathlib import Path

import torch

from ._files import open_safetensors, write_safetensors

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(path, model, optimizer, settings, history):
    """Write all that a run consists of to a file; an earlier one stays whole until it is there."""
    tensors = {f"model.{name}": tensor for name, tensor in _weights(model)}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    tensors["losses"] = torch.tensor(history.losses, dtype=torch.float64)
    settings = settings | _kinds(model)
    metadata = {"settings": json.dumps(settings), "watched": json.dumps(history.watched)}
    write_safetensors(path, tensors, metadata)


def load_checkpoint(path, model, optimizer, settings):
    """Put a run back into model and optimizer; return its losses and what was watched.

    All is read and checked before the model is touched. Without a file the run starts: two empty
    lists. A file that is damaged, or of another run, raises ``ValueError``.
    """
    if Path(path).is_dir():
        raise ValueError(f"checkpoint must be a file, got the folder {path}")
    try:
        with open_safetensors(path) as file:
            metadata = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        return [], []
    saved, watched, losses = _read_run(path, metadata, stored)
    for name, value in (settings | _kinds(model)).items():
        if saved.get(name) != value:
            raise ValueError(
                f"the checkpoint {path} was made with {name}={saved.get(name)!r}, now it is "
                f"{value!r}: take the same settings, or another file for another run"
            )
    if len(losses) > settings["steps"]:
        raise ValueError(
            f"the checkpoint {path} holds {len(losses)} losses, of {settings['steps']} steps"
        )
    averages = _check_belongs(path, stored, model)
    with torch.no_grad():
        for name, tensor in _weights(model):
            tensor.copy_(stored[f"model.{name}"])
    for parameter, state in averages.items():
        # A file holds all tensors row by row. The optimizer walks through averages and parameter
        # in the order of memory, so the averages of one that lies by columns must lie so too.
        optimizer.state[parameter] = {
            key: torch.empty_like(parameter).copy_(value) if key != "step" else value
            for key, value in state.items()
        }
    return losses, watched


def _weights(model):
    return [
        (name, tensor.detach())
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]
    ]


def _kinds(model):
    """What the configs of a model say, by name: much of it does not show in the weights' shapes."""
    kinds = {}
    for place, part in model.named_modules():
        config = getattr(part, "config", None)
        if dataclasses.is_dataclass(config):
            for field in dataclasses.fields(config):
                value = getattr(config, field.name)
                plain = value is None or isinstance(value, (int, float, str))
                kinds[f"{place}.config.{field.name}".lstrip(".")] = value if plain else repr(value)
    return kinds


def _read_run(path, metadata, stored):
    """The settings, what was watched and the losses, each checked to be of its kind."""
    try:
        saved, watched = json.loads(metadata["settings"]), json.loads(metadata["watched"])
        losses = stored.pop("losses")
        whole = isinstance(saved, dict) and losses.dtype == torch.float64 and losses.ndim == 1
        watched = [(step, result) for step, result in watched]
        whole = whole and all(isinstance(step, int) for step, _ in watched)
    except (KeyError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise ValueError(f"{path} is not a checkpoint of fit()")
    return saved, watched, losses.tolist()


def _check_belongs(path, stored, model):
    """Check that names and shapes are the model's; return AdamW's averages, by parameter."""
    expected = {f"model.{name}": tensor for name, tensor in _weights(model)}
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

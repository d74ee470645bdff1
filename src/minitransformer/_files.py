"""Files of tensors, read and written so that nothing is ever half there.

The only format is safetensors: a header of JSON and then plain numbers. A pickle (``.pt``,
``.bin``) can run code when it is opened, so none is ever read here.
"""

import contextlib
import os
import uuid
from pathlib import Path

from ._needed import needed

__all__ = ["open_safetensors", "write_safetensors"]

_NEEDED = "files of weights need the package safetensors", "pip install safetensors"


def write_safetensors(path, tensors, metadata=None):
    """Write tensors to a file that is either complete or not there.

    The bytes go to a second file beside ``path``, which takes its name only when all of them have
    reached the disk; an earlier file of that name stays whole until then.

    Parameters
    ----------
    path : path
    tensors : dict of str to tensor
        No two of them may share memory.
    metadata : dict of str to str, optional
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two threads may write one file, so the number of the process would not tell them apart.
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
        needed("safetensors.torch", *_NEEDED).save_file(tensors, part, metadata)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def open_safetensors(path):
    """Open a file of tensors; what is read from it lies in the page cache, not in memory twice.

    Yields an object with ``keys()``, ``get_slice(name)``, ``get_tensor(name)``, ``metadata()``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is truncated or is not a safetensors file; the message names it.
    """
    path = Path(path)
    # First of all: a run that is to write a checkpoint asks for one, and hears at once.
    library = needed("safetensors", *_NEEDED)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        handle = library.safe_open(path, framework="pt")
    except library.SafetensorError as error:
        raise ValueError(
            f"{path} is not a whole safetensors file (truncated, or another format): {error}"
        ) from None
    with handle as file:
        yield file

"""Packages that only some functions need: imported on use, explained when they are missing."""

from importlib import import_module


def needed(module, purpose, command):
    """Import a module, or say what it is for and how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name.partition(".")[0]):
            raise  # the package is there, but lacks something itself
        raise ModuleNotFoundError(f"{purpose}: {command}", name=error.name) from None

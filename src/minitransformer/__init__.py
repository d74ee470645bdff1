"""minitransformer: attention from the formula to a running transformer.

Submodules load when they are first used, so that ``import minitransformer`` needs NumPy alone:

>>> import minitransformer
>>> minitransformer.reference.softmax([0.0, 0.0])
array([0.5, 0.5])
"""

from importlib import import_module

__version__ = "0.1.0"

_SUBMODULES = (
    "attention",
    "blocks",
    "costs",
    "exercises",
    "generation",
    "inspection",
    "models",
    "plots",
    "positions",
    "pretrained",
    "recurrent",
    "reference",
    "reference_tiled",
    "tasks",
    "training",
    "widgets",
)


def __getattr__(name):
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_SUBMODULES])

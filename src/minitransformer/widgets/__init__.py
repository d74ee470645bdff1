"""Widgets that compute in the reader's browser, each the same with a kernel and without one.

>>> from minitransformer.widgets import AttentionStepper
>>> AttentionStepper().weights.round(3)[0]
array([0.238, 0.118, 0.238, 0.238, 0.167])
"""

try:
    import anywidget  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"minitransformer.widgets needs {error.name}, which is not installed. "
        'The way out: pip install "minitransformer[widgets]"'
    ) from error

from ._base import Widget, module_source, style_source
from .attention_stepper import AttentionStepper
from .block_walk import BlockWalk
from .cost_calculator import CostCalculator
from .grouping import GroupingAndCache
from .head_board import HeadBoard
from .head_view import HeadView
from .library_search import LibrarySearch
from .mask_explorer import MaskExplorer
from .positions import Positions
from .scaling import Scaling
from .statement import Statement
from .switch_heads_off import SwitchHeadsOff
from .tiles import Tiles

__all__ = [
    "AttentionStepper",
    "BlockWalk",
    "CostCalculator",
    "GroupingAndCache",
    "HeadBoard",
    "HeadView",
    "LibrarySearch",
    "MaskExplorer",
    "Positions",
    "Scaling",
    "Statement",
    "SwitchHeadsOff",
    "Tiles",
    "Widget",
    "module_source",
    "style_source",
]

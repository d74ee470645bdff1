"""The models of the book, all made of the same blocks and described by one `Config`.

Every model can be looked into: ``output, cache = model.run_with_cache(tokens)`` keeps copies of
what passes its hook points (``cache["pattern", 0]``, ``cache["blocks.0.hook_resid_post"]``), and
``model.run_with_hooks(tokens, fwd_hooks=[(name, function)])`` changes it on the way.
"""

from ._stack import check_key_mask, check_tokens
from .config import Config
from .text import Decoder, Encoder, EncoderDecoder
from .vision import VisionTransformer, image_patches

__all__ = [
    "Config",
    "Decoder",
    "Encoder",
    "EncoderDecoder",
    "VisionTransformer",
    "check_key_mask",
    "check_tokens",
    "image_patches",
]

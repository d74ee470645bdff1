"""A model of images that reads them as a row of patches."""

from dataclasses import replace

import torch
from torch import nn

from .._checks import check_count
from ._stack import Stack, init_weights

__all__ = ["VisionTransformer", "image_patches"]


def image_patches(images, patch_size):
    """Cut images into square patches, row by row, each a vector of its pixels.

    Parameters
    ----------
    images : tensor (batch, channels, height, width)
    patch_size : int
        A divisor of height and width.

    Returns
    -------
    tensor (batch, patches, channels * patch_size²)

    Examples
    --------
    >>> image_patches(torch.arange(8).view(1, 1, 2, 4), patch_size=2)
    tensor([[[0, 1, 4, 5],
             [2, 3, 6, 7]]])

    Source: Dosovitskiy et al. 2020, "An image is worth 16x16 words", section 3.1.
    """
    if not isinstance(images, torch.Tensor):
        raise TypeError(f"images must be a tensor, got {type(images).__name__}")
    if images.ndim != 4:
        raise ValueError(
            f"images must have shape (batch, channels, height, width), got {tuple(images.shape)}"
        )
    check_count("patch_size", patch_size, at_least=1)
    batch, channels, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError(f"{height} × {width} pixels do not split into patches of {patch_size}")
    rows, columns = height // patch_size, width // patch_size
    cut = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    size = channels * patch_size**2  # not -1, which no images at all leave open
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, size)


class VisionTransformer(Stack):
    """Tells what an image shows: images (batch, channels, side, side) to logits (batch, classes).

    A class token stands before the patches; the head reads its state alone.

    Parameters
    ----------
    config : Config
        With ``image_size``, ``patch_size`` and ``n_classes``. ``max_length`` follows from them.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> config = Config(
    ...     n_layers=2, d_model=6, n_heads=3, image_size=8, patch_size=2, n_classes=10
    ... )
    >>> model = VisionTransformer(config)
    >>> logits, cache = model.run_with_cache(torch.rand(5, 1, 8, 8))
    >>> logits.shape, cache["pattern", 0].shape  # 16 patches and the class token
    (torch.Size([5, 10]), torch.Size([5, 3, 17, 17]))

    Source: Dosovitskiy et al. 2020, equations 1 to 4.
    """

    def __init__(self, config):
        config.require("VisionTransformer", "image_size", "patch_size", "n_classes")
        n_patches = (config.image_size // config.patch_size) ** 2
        super().__init__(replace(config, max_length=n_patches + 1))
        self.embed = nn.Linear(config.n_channels * config.patch_size**2, config.d_model)
        self.class_embed = nn.Parameter(torch.empty(1, config.d_model))
        self.head = nn.Linear(config.d_model, config.n_classes)
        init_weights(self)

    def forward(self, images, *, head_mask=None):
        """Return the logits (batch, classes).

        Parameters
        ----------
        images : tensor (batch, channels, side, side)
        head_mask : tensor (n_layers, n_heads), optional
            A factor for each head's output: 0 ablates it.

        Raises
        ------
        ValueError
            If the images have another size or number of channels.
        """
        return self.head(self.hidden(images, head_mask=head_mask)[:, 0])

    def hidden(self, images, *, head_mask=None):
        """The states (batch, 1 + patches, d_model): the class token's, then each patch's."""
        config = self.config
        expected = (config.n_channels, config.image_size, config.image_size)
        if not isinstance(images, torch.Tensor) or not images.is_floating_point():
            kind = getattr(images, "dtype", type(images).__name__)
            raise TypeError(f"images must be a tensor of floating-point numbers, got {kind}")
        if tuple(images.shape[1:]) != expected:
            raise ValueError(
                "images must have shape (batch, channels, side, side) with the last three "
                f"{expected}, got {tuple(images.shape)}"
            )
        patches = self.embed(image_patches(images, config.patch_size))
        first = self.class_embed.expand(len(images), 1, -1)
        x = torch.cat([first, patches], dim=1)
        positions = torch.arange(x.shape[1], device=x.device)
        return self.run(x, positions, head_mask=head_mask)

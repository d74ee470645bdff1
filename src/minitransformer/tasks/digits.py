"""Handwritten digits as sequences of patches, and their names as captions."""

from typing import NamedTuple

import torch

from ._common import Vocabulary, check_at_least, decoder_pair

_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

NAME_LETTERS = Vocabulary(sorted(set("".join(_NAMES))))


class Digits(NamedTuple):
    """Images of 8 × 8 pixels, cut into patches row by row from the upper left.

    train_patches : (images, patches, patch * patch) brightness from 0 (paper) to 1 (ink)
    train_labels : (images,) 0 to 9
    test_patches, test_labels : the same, of images that are not in the training part
    """

    train_patches: torch.Tensor
    train_labels: torch.Tensor
    test_patches: torch.Tensor
    test_labels: torch.Tensor


def digit_patches(generator, patch=2, test_share=0.25):
    """The 1,797 handwritten digits of scikit-learn, shuffled, split and cut into patches.

    Parameters
    ----------
    generator : torch.Generator
        Decides which images are for the test.
    patch : 1, 2, 4 or 8
        Pixels along the edge of a patch.
    test_share : float
        Between 0 and 1.

    Returns
    -------
    Digits

    Raises
    ------
    ValueError
        If the patches do not fill an image, or a part would be empty.
    ModuleNotFoundError
        If scikit-learn, which carries the images, is not installed.

    Examples
    --------
    >>> digits = digit_patches(torch.Generator().manual_seed(0), patch=4)
    >>> digits.train_patches.shape, digits.test_patches.shape
    (torch.Size([1348, 4, 16]), torch.Size([449, 4, 16]))

    Source: Alpaydin & Kaynak 1998, "Optical recognition of handwritten digits" (UCI), as
    scikit-learn carries it; patches as in Dosovitskiy et al. 2021, "An image is worth 16x16 words".
    """
    if patch not in (1, 2, 4, 8):
        raise ValueError(f"patches fill an image of 8 × 8 with 1, 2, 4 or 8 pixels, got {patch!r}")
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the handwritten digits come with scikit-learn: pip install scikit-learn"
        ) from None
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32) / 16
    labels = torch.tensor(data.target)
    n_test = round(test_share * len(images))
    if not 0 < n_test < len(images):
        raise ValueError(f"test_share must leave images in both parts, got {test_share}")
    patches = images.unflatten(2, (8 // patch, patch)).unflatten(1, (8 // patch, patch))
    patches = patches.transpose(2, 3).reshape(len(images), -1, patch * patch)
    order = torch.randperm(len(images), generator=generator)
    test, train = order[:n_test], order[n_test:]
    return Digits(patches[train], labels[train], patches[test], labels[test])


def digit_captions(labels):
    """The English names of digits, letter by letter, for a decoder.

    Parameters
    ----------
    labels : tensor (batch,) of whole numbers from 0 to 9

    Returns
    -------
    target_in : (batch, steps) start, then the letters of the name, in ``NAME_LETTERS``
    target_out : (batch, steps) the letters, then end; -100 where padded

    Raises
    ------
    ValueError
        If a label is not a digit.

    Examples
    --------
    >>> target_in, target_out = digit_captions(torch.tensor([7, 1]))
    >>> ["".join(NAME_LETTERS.decode(row)) for row in target_in]
    ['seven', 'one']
    """
    check_at_least(1, batch=len(labels))
    if labels.min() < 0 or labels.max() > 9:
        raise ValueError(
            f"labels are digits from 0 to 9, got {labels.min().item()} to {labels.max().item()}"
        )
    return decoder_pair([NAME_LETTERS.encode(_NAMES[label]) for label in labels.tolist()])

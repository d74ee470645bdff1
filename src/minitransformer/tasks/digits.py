"""Handwritten digits, and their names as captions."""

from typing import NamedTuple

import torch

from .._needed import needed
from ._common import Vocabulary, check_at_least, decoder_pair

_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

NAME_LETTERS = Vocabulary(sorted(set("".join(_NAMES))))


class Digits(NamedTuple):
    """Images of digits in two parts; ``models.image_patches`` cuts them into patches.

    train_images : (images, 1, 8, 8) brightness from 0 (paper) to 1 (ink)
    train_labels : (images,) 0 to 9
    test_images, test_labels : the same, of images that are not in the training part
    """

    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor


def digit_images(generator, test_share=0.25):
    """The 1,797 handwritten digits that come with scikit-learn, shuffled and split.

    Parameters
    ----------
    generator : torch.Generator
        Decides which images are for the test.
    test_share : float
        Between 0 and 1.

    Returns
    -------
    Digits

    Raises
    ------
    ValueError
        If a part would be empty.
    ModuleNotFoundError
        If scikit-learn is not installed.

    Examples
    --------
    >>> digits = digit_images(torch.Generator().manual_seed(0))
    >>> digits.train_images.shape, digits.test_images.shape
    (torch.Size([1348, 1, 8, 8]), torch.Size([449, 1, 8, 8]))

    Source: Alpaydin & Kaynak 1998, "Optical recognition of handwritten digits" (UCI).
    """
    sklearn = needed(
        "sklearn.datasets",
        "the handwritten digits come with scikit-learn",
        "pip install scikit-learn",
    )
    data = sklearn.load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(data.target)
    n_test = round(test_share * len(images))
    if not 0 < n_test < len(images):
        raise ValueError(f"test_share must leave images in both parts, got {test_share}")
    order = torch.randperm(len(images), generator=generator)
    test, train = order[:n_test], order[n_test:]
    return Digits(images[train], labels[train], images[test], labels[test])


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

"""The losses by which an intervention is judged: one number for each text.

A measure is a function ``measure(model, states)`` of a model and its states after the last norm
(batch, time, d_model); it returns a tensor (texts,). The functions here make one.
"""

import torch
import torch.nn.functional as F

from ..models import Decoder

__all__ = ["contrastive_loss", "embed_texts", "embedding_drift", "next_token_loss", "states"]


def states(model, tokens, **inputs):
    """The states after the last norm (batch, time, d_model) of a decoder or an encoder.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> decoder = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> states(decoder, torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([1, 5, 6])
    """
    return (model.hidden if isinstance(model, Decoder) else model)(tokens, **inputs)


def next_token_loss(tokens, key_mask=None):
    """A measure for decoders: the mean loss, in nats, at which each text is predicted.

    Parameters
    ----------
    tokens : integer tensor (batch, time)
    key_mask : boolean tensor (batch, time), optional
        ``True`` = a real token; padding is not predicted.

    Returns
    -------
    measure : function of (model, states), to a tensor (batch,)

    Raises
    ------
    ValueError
        If a text has fewer than two real tokens: nothing in it can be predicted.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    >>> next_token_loss(tokens)(model, states(model, tokens)).shape
    torch.Size([2])

    Source: Radford et al. 2018, "Improving language understanding", equation 1.
    """
    real = torch.ones_like(tokens, dtype=torch.bool) if key_mask is None else key_mask
    predicted = real[:, :-1] & real[:, 1:]
    if not predicted.any(dim=1).all():
        raise ValueError("every text needs at least two real tokens, the second to be predicted")

    def measure(model, states):
        logits = model.unembed(states[:, :-1]).mT  # (batch, vocab, time), as cross_entropy wants
        losses = F.cross_entropy(logits, tokens[:, 1:], reduction="none")
        return (losses * predicted).sum(1) / predicted.sum(1)

    return measure


def embed_texts(states, key_mask=None):
    """One vector of length 1 for each text: the mean of its states, as MiniLM was trained.

    Parameters
    ----------
    states : tensor (batch, time, d_model)
    key_mask : boolean tensor (batch, time), optional
        ``True`` = a real token; [CLS] and [SEP] are among them.

    Returns
    -------
    tensor (batch, d_model)

    Examples
    --------
    >>> embed_texts(torch.tensor([[[3.0, 0.0], [3.0, 8.0]]]))
    tensor([[0.6000, 0.8000]])

    Source: Reimers & Gurevych 2019, "Sentence-BERT", section 3 (mean pooling).
    """
    if key_mask is None:
        return F.normalize(states.mean(dim=1), dim=-1)
    return F.normalize((states * key_mask[..., None]).sum(dim=1), dim=-1)


def contrastive_loss(key_mask=None, scale=20.0):
    """A measure for MiniLM: the loss, in nats, of finding each sentence's partner among all.

    A sentence encoder predicts no tokens, so it has no loss of language. This is the loss that
    MiniLM was trained with: the first half of the batch are sentences, the second half their
    partners in the same order, and cosines times ``scale`` are the scores of a softmax over all
    partners.

    Parameters
    ----------
    key_mask : boolean tensor (2 · pairs, time), optional
        ``True`` = a real token.
    scale : number
        On the cosines; 20 in MiniLM's training.

    Returns
    -------
    measure : function of (model, states), to a tensor (pairs,)

    Raises
    ------
    ValueError
        If the batch does not split into two halves of at least two.

    Examples
    --------
    >>> states = torch.eye(2).repeat(2, 1)[:, None]  # two sentences, each its partner's equal
    >>> contrastive_loss(scale=1.0)(None, states)
    tensor([0.3133, 0.3133])

    Source: Henderson et al. 2017, "Efficient natural language response suggestion", section 4.4
    (each batch's other partners are the wrong answers).
    """

    def measure(model, states):
        if len(states) % 2 or len(states) < 4:
            raise ValueError(
                "the batch must be sentences and then as many partners, two at least of each; "
                f"got {len(states)} texts"
            )
        first, second = embed_texts(states, key_mask).chunk(2)
        right = torch.arange(len(first), device=states.device)
        return F.cross_entropy(scale * first @ second.T, right, reduction="none")

    return measure


def embedding_drift(reference, key_mask=None):
    """A measure for encoders: how far each text's vector has turned, as 1 - cosine.

    Parameters
    ----------
    reference : tensor (batch, time, d_model)
        The states of the model as it was.
    key_mask : boolean tensor (batch, time), optional
        ``True`` = a real token.

    Returns
    -------
    measure : function of (model, states), to a tensor (batch,): 0 = unchanged, 2 = turned round

    Examples
    --------
    >>> reference = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    >>> embedding_drift(reference)(None, torch.tensor([[[2.0, 0.0]], [[3.0, 0.0]]]))
    tensor([0., 1.])
    """
    before = embed_texts(reference, key_mask).detach()

    def measure(model, states):
        return 1 - (embed_texts(states, key_mask) * before).sum(dim=-1)

    return measure

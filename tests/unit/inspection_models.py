"""Small models for the tests of inspection, and a check that nothing changes what it is given."""

import copy

import torch

from minitransformer.models import Config, Decoder, Encoder

VOCAB, BATCH, TIME = 13, 4, 5


def llama():
    """2 layers of 6 query heads, 3 of which share a key and value head; no biases."""
    return Decoder(
        Config.llama(
            vocab_size=VOCAB, n_layers=2, d_model=11, n_heads=6, n_kv_heads=2, d_head=4, d_ff=7
        )
    )


def gpt2():
    """3 layers of 4 heads, with biases that are not 0."""
    return Decoder(
        Config.gpt2(vocab_size=VOCAB, n_layers=3, d_model=12, n_heads=4, d_ff=7, max_length=32)
    )


def bert():
    """2 layers of 3 heads, post-norm, with biases that are not 0."""
    return Encoder(Config.bert(vocab_size=VOCAB, n_layers=2, d_model=6, n_heads=3, d_ff=7))


def make(kind, seed=0):
    """A model with weights large enough for heads to differ, in float64 and evaluation mode."""
    torch.manual_seed(seed)
    model = {"llama": llama, "gpt2": gpt2, "bert": bert}[kind]().double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.3)
            elif ".attn." in name:
                parameter.mul_(3)
    return model


def some_tokens(batch=BATCH, time=TIME, seed=1):
    return torch.randint(VOCAB, (batch, time), generator=torch.Generator().manual_seed(seed))


def some_mask():
    """Texts of 5, 3, 4 and 5 real tokens."""
    return torch.arange(TIME) < torch.tensor([5, 3, 4, 5])[:, None]


class Unchanged:
    """A with block that fails if a model's weights, gradients, mode or hooks change, or tensors."""

    def __init__(self, model=None, *tensors):
        self.model, self.tensors = model, tensors

    def __enter__(self):
        self.before = copy.deepcopy([tensor.detach() for tensor in self.tensors])
        if self.model is not None:
            self.state = copy.deepcopy(self.model.state_dict())
            self.training = self.model.training

    def __exit__(self, error, *rest):
        if error is not None:
            return
        for tensor, before in zip(self.tensors, self.before, strict=True):
            assert torch.equal(tensor, before)
            assert tensor.grad is None
        if self.model is None:
            return
        assert self.state.keys() == self.model.state_dict().keys()
        for name, tensor in self.model.state_dict().items():
            assert torch.equal(tensor, self.state[name]), name
        assert all(parameter.grad is None for parameter in self.model.parameters())
        assert all(parameter.requires_grad for parameter in self.model.parameters())
        assert self.model.training == self.training
        assert not any(getattr(part, "functions", None) for part in self.model.modules())

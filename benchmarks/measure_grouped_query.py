"""What chapter 10 reads from tables: make measurements

- ``grouped_query_layers``: the loss of SmolLM2 with the key and value heads of one layer merged,
  for each layer, and of all layers at once
- ``grouped_query_quality``: models trained with 8, 4, 2 and 1 key and value heads, and one whose
  attention is switched off
- ``grouped_query_uptraining``: a model trained with 8 of them, merged to fewer and trained on for
  5 % of the steps, in three ways of merging

Losses are in nats a token. It takes about ten minutes on two cores.
"""

import torch
import torch.nn.functional as F
from tqdm import tqdm

from benchmarks._tables import write_table
from minitransformer.conversion import MERGES, merge_kv_heads, tie_kv_heads
from minitransformer.measurements import passages
from minitransformer.models import Config, Decoder
from minitransformer.pretrained import load_pretrained
from minitransformer.tasks import IGNORE, WORDS, sentences
from minitransformer.training import cross_entropy_loss, fit

SEEDS = (0, 1, 2)
N_KV_HEADS = (8, 4, 2, 1)
STEPS = 300


# --- SmolLM2, layer by layer


def encoded(tokenizer):
    """All passages as one text: tokens (1, time), and for each token the number of its passage."""
    parts = [tokenizer.encode(passage).ids for passage in passages()]
    owner = [number for number, part in enumerate(parts) for _ in part]
    return torch.tensor([[token for part in parts for token in part]]), torch.tensor(owner)


@torch.inference_mode()
def token_losses(model, tokens):
    """The loss of each token but the first."""
    return F.cross_entropy(model(tokens)[0, :-1], tokens[0, 1:], reduction="none")


def layer_rows():
    """One row a layer and way of merging; layer "all" has all merged at once."""
    model, tokenizer = load_pretrained("smollm2")
    tokens, owner = encoded(tokenizer)
    before, owner = token_losses(model, tokens), owner[1:]
    each = range(model.config.n_layers)
    for how in MERGES:
        for layer in (*each, "all"):
            generator = torch.Generator().manual_seed(0) if how == "random" else None
            layers = each if layer == "all" else [layer]
            change = token_losses(tie_kv_heads(model, 1, how, layers, generator), tokens) - before
            worse = sum(change[owner == number].mean().item() > 0 for number in owner.unique())
            yield {
                "how": how,
                "layer": layer,
                "loss_before": f"{before.mean():.3f}",
                "loss_after": f"{(before + change).mean():.3f}",
                "passages_worse": worse,
            }


# --- models trained here


def shifted(tokens):
    """Inputs and targets: at each place the next token."""
    targets = torch.full_like(tokens, IGNORE)
    targets[:, :-1] = tokens[:, 1:]
    targets[targets == WORDS.pad] = IGNORE
    return tokens, targets


def data():
    """A function that draws a batch for training, and the inputs and targets of the test."""
    train_set = sentences(torch.Generator().manual_seed(0), 4000).tokens
    test_set = sentences(torch.Generator().manual_seed(99), 500, "test").tokens

    def make_batch(generator):
        return shifted(train_set[torch.randint(4000, (32,), generator=generator)])

    return make_batch, shifted(test_set)


def new_model(n_kv_heads, seed):
    """Two layers of 8 query heads; their first weights are decided by the seed."""
    torch.manual_seed(seed)
    sizes = {"n_layers": 2, "d_model": 64, "n_heads": 8, "d_ff": 128, "max_length": 64}
    return Decoder(Config.llama(vocab_size=len(WORDS), n_kv_heads=n_kv_heads, **sizes))


def train(model, make_batch, steps, seed):
    fit(model, make_batch, steps=steps, warmup=steps // 15, seed=seed, progress=False)


@torch.inference_mode()
def test_loss(model, batch):
    return cross_entropy_loss(model, batch).item()


def without_attention(batch):
    """The same batch for a model whose heads are all switched off."""
    tokens, targets = batch
    return {"tokens": tokens, "head_mask": torch.zeros(2, 8)}, targets


def quality_rows():
    """One row a number of key and value heads and seed; with 0, no token sees another."""
    make_batch, test = data()
    for n_kv_heads in (*N_KV_HEADS, 0):
        for seed in SEEDS:
            model = new_model(n_kv_heads or 8, seed)
            blind = without_attention if n_kv_heads == 0 else lambda batch: batch
            train(model, lambda generator, blind=blind: blind(make_batch(generator)), STEPS, seed)
            loss = f"{test_loss(model, blind(test)):.3f}"
            yield {"n_kv_heads": n_kv_heads, "seed": seed, "loss": loss}


def uptraining_rows():
    """One row a seed, number of heads left and way of merging; with 8 left nothing is merged."""
    make_batch, test = data()
    for seed in SEEDS:
        model = new_model(8, seed)
        train(model, make_batch, STEPS, seed)
        for n_kv_heads in N_KV_HEADS:
            for how in MERGES if n_kv_heads < 8 else ("mean",):
                generator = torch.Generator().manual_seed(seed) if how == "random" else None
                merged = merge_kv_heads(model, n_kv_heads, how, generator)
                before = test_loss(merged, test)
                train(merged, make_batch, STEPS // 20, seed + 50)
                yield {
                    "seed": seed,
                    "n_kv_heads": n_kv_heads,
                    "how": how,
                    "loss_merged": f"{before:.3f}",
                    "loss_uptrained": f"{test_loss(merged, test):.3f}",
                }


def main():
    """Measure and write the three tables."""
    torch.set_num_threads(1)
    for name, rows in (
        ("quality", quality_rows()),
        ("uptraining", uptraining_rows()),
        ("layers", layer_rows()),
    ):
        shown = tqdm(rows, desc=name, mininterval=5)
        write_table(f"grouped_query_{name}", list(shown), script="measure_grouped_query")


if __name__ == "__main__":
    main()

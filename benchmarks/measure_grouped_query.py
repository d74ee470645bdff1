"""What chapter 10 reads from tables: make measurements

- ``grouped_query_layers``: the loss of SmolLM2 with the key and value heads of one layer merged,
  for each layer, and of all layers at once
- ``grouped_query_quality``: models trained with 8, 4, 2 and 1 key and value heads, on two tasks
- ``grouped_query_uptraining``: a model trained with 8 of them, merged to fewer and trained on for
  5 % of the steps, in three ways of merging

Losses are in nats a token. It takes about ten minutes on two cores.
"""

from functools import partial

import torch
import torch.nn.functional as F
from tqdm import tqdm

from benchmarks._tables import write_table
from minitransformer.conversion import MERGES, merge_kv_heads, tie_kv_heads
from minitransformer.measurements import passages
from minitransformer.models import Config, Decoder
from minitransformer.pretrained import load_pretrained
from minitransformer.tasks import IGNORE, WORDS, repeated_sequences, sentences
from minitransformer.training import fit

SEEDS = (0, 1, 2)
N_KV_HEADS = (8, 4, 2, 1)
N_SYMBOLS = 64
STEPS = {"sentences": 300, "repeats": 800}


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


def sentence_batch(tokens):
    """Inputs and targets: at each place the next token."""
    targets = torch.full_like(tokens, IGNORE)
    targets[:, :-1] = tokens[:, 1:]
    targets[targets == WORDS.pad] = IGNORE
    return tokens, targets


def repeats_batch(generator, batch):
    """Inputs and targets: at each place the next token, where it can be known."""
    drawn = repeated_sequences(generator, batch, 48, N_SYMBOLS, 12, 24)
    targets = torch.full_like(drawn.tokens, IGNORE)
    targets[:, :-1] = drawn.tokens[:, 1:].masked_fill(~drawn.predictable[:, 1:], IGNORE)
    return drawn.tokens, targets


def task_batches(task):
    """A function that draws a batch for training, and the inputs and targets of the test."""
    test_draw = torch.Generator().manual_seed(99)
    if task == "repeats":
        return lambda generator: repeats_batch(generator, 32), repeats_batch(test_draw, 500)
    train = sentences(torch.Generator().manual_seed(0), 4000).tokens
    test = sentences(test_draw, 500, "test").tokens

    def make_batch(generator):
        return sentence_batch(train[torch.randint(4000, (32,), generator=generator)])

    return make_batch, sentence_batch(test)


def new_model(task, n_kv_heads, seed):
    """Two layers of 8 query heads; their first weights are decided by the seed."""
    torch.manual_seed(seed)
    vocab_size = len(WORDS) if task == "sentences" else N_SYMBOLS
    sizes = {"n_layers": 2, "d_model": 64, "n_heads": 8, "d_ff": 128, "max_length": 64}
    return Decoder(Config.llama(vocab_size=vocab_size, n_kv_heads=n_kv_heads, **sizes))


def train(model, make_batch, steps, seed, **watch):
    """Train a model and return its history."""
    return fit(
        model, make_batch, steps=steps, warmup=steps // 15, seed=seed, progress=False, **watch
    )


@torch.inference_mode()
def result(model, test):
    """Loss and accuracy on the places that have a target."""
    inputs, targets = test
    logits, known = model(inputs), targets != IGNORE
    hits = (logits.argmax(-1) == targets)[known].float().mean().item()
    return F.cross_entropy(logits[known], targets[known]).item(), hits


def quality_rows():
    """One row a task, number of key and value heads, seed and quarter of the training."""
    for task, steps in STEPS.items():
        make_batch, test = task_batches(task)
        watch = {"watch": partial(result, test=test), "watch_every": steps // 4}
        for n_kv_heads in N_KV_HEADS:
            for seed in SEEDS:
                model = new_model(task, n_kv_heads, seed)
                for done, (loss, hits) in train(model, make_batch, steps, seed, **watch).watched:
                    yield {
                        "task": task,
                        "n_kv_heads": n_kv_heads,
                        "seed": seed,
                        "steps": done,
                        "loss": f"{loss:.3f}",
                        "accuracy": f"{hits:.3f}",
                    }


def uptraining_rows():
    """One row a seed, number of heads left and way of merging; n_kv_heads 8 is the model itself."""
    task, steps = "sentences", STEPS["sentences"]
    make_batch, test = task_batches(task)
    for seed in SEEDS:
        model = new_model(task, 8, seed)
        train(model, make_batch, steps, seed)
        for n_kv_heads in N_KV_HEADS:
            for how in MERGES if n_kv_heads < 8 else ("mean",):
                generator = torch.Generator().manual_seed(seed) if how == "random" else None
                merged = merge_kv_heads(model, n_kv_heads, how, generator)
                before, _ = result(merged, test)
                train(merged, make_batch, steps // 20, seed + 50)
                after, _ = result(merged, test)
                yield {
                    "seed": seed,
                    "n_kv_heads": n_kv_heads,
                    "how": how,
                    "loss_merged": f"{before:.3f}",
                    "loss_uptrained": f"{after:.3f}",
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

"""What each head of SmolLM2 and of MiniLM looks at, and what is lost without it: make measurements

Writes the tables ``smollm2_*.csv`` and ``minilm_*.csv`` of ``minitransformer.measurements``. What
is done is kept in ``_build/measurements``, so that a run which was stopped goes on where it was;
``make clean`` forgets it. Heads are chosen on the first half of the texts and reported on the
second: columns ``_choose`` and ``_report``. About 20 minutes on two cores.
"""

import string
from functools import partial

import torch

from benchmarks._tables import mean_losses, resumed, write_losses, write_table
from minitransformer.inspection.ablation import (
    all_heads,
    cumulative_ablation,
    head_importance,
    losses_without,
    mean_head_outputs,
    separate_ablation,
)
from minitransformer.inspection.measures import (
    contrastive_loss,
    embedding_drift,
    next_token_loss,
    states,
)
from minitransformer.inspection.patterns import (
    copying,
    entropy,
    mean_distance,
    prefix_matching,
    same_token,
    share_at_offset,
    share_at_position,
    share_on_tokens,
)
from minitransformer.inspection.texts import PASSAGES, SENTENCE_PAIRS, halves
from minitransformer.pretrained import load_pretrained
from minitransformer.tasks import repeated_sequences

TIME = 40  # tokens of each passage: as many as all of them have
HALVES = ("choose", "report")
SHARES = [count / 10 for count in range(11)]  # of all heads, for cumulative ablation
RANDOM_ORDERS = 5


def padded(tokenizer, texts):
    """Tokens (texts, time), padded, and which of them are real."""
    rows = [tokenizer.encode(text).ids for text in texts]
    time = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (time - len(row)) for row in rows])
    return tokens, torch.arange(time) < torch.tensor([len(row) for row in rows])[:, None]


def passage_tokens(tokenizer):
    """SmolLM2's tokens of the passages (texts, TIME)."""
    return torch.tensor([tokenizer.encode(passage).ids[:TIME] for passage in PASSAGES])


def sentence_tokens(tokenizer):
    """MiniLM's tokens of the pairs, padded: of each half first the sentences, then the partners."""
    sentences = []
    for half in halves(SENTENCE_PAIRS):
        firsts, partners = zip(*half, strict=True)
        sentences += firsts + partners
    return padded(tokenizer, sentences)


def random_repeats(config, start, end, batch=10):
    """Random tokens, neither common nor rare, 25 different ones four times, between two others."""
    generator = torch.Generator().manual_seed(0)
    pool = 2000 + torch.randperm(min(config.vocab_size, 12000) - 2000, generator=generator)
    places = repeated_sequences(generator, batch, 100, len(pool), 25, 25).tokens
    edges = [torch.full((batch, 1), token) for token in (start, end)]
    return torch.cat([edges[0], pool[places], edges[1]], dim=1)


def punctuation(tokenizer, tokens):
    """Those of the tokens that are nothing but punctuation."""
    signs = {i: tokenizer.decode([i]).strip() for i in tokens.unique().tolist()}
    marks = set(string.punctuation + "“”’")
    return {i for i, sign in signs.items() if sign and set(sign) <= marks}


def scored(model, tokens, key_mask, scores):
    """{name_choose, name_report: (n_layers, n_heads)}: scores of the weights in both halves."""
    layers, found = range(model.config.n_layers), {}
    names = [f"blocks.{layer}.attn.hook_pattern" for layer in layers]
    for half, rows, real in zip(HALVES, halves(tokens), halves(key_mask), strict=True):
        _, cache = model.run_with_cache(rows, key_mask=real, names=names)
        for name, score in scores.items():
            values = [score(cache[pattern], rows, real) for pattern in names]
            found[f"{name}_{half}"] = torch.stack(values)
    return found


def common_scores(tokenizer, tokens):
    """Scores of both models, as functions of weights, tokens and key_mask."""
    signs = punctuation(tokenizer, tokens)
    return {
        "first_token": lambda weights, rows, real: share_at_position(weights, 0, real),
        "previous": lambda weights, rows, real: share_at_offset(weights, -1, real),
        "own": lambda weights, rows, real: share_at_offset(weights, 0, real),
        "same_token": same_token,
        "punctuation": lambda weights, rows, real: share_on_tokens(weights, rows, signs, real),
        "distance": lambda weights, rows, real: mean_distance(weights, real),
        "entropy": lambda weights, rows, real: entropy(weights, real),
    }


def normalised(importance):
    """Each layer's row divided by its length, as Michel et al. compare heads of all layers."""
    return importance / importance.norm(dim=-1, keepdim=True)


def ablations(name, model, tokens, measure, means, key_mask=None):
    """Losses (layers, heads, texts) with one head set to zero, or to its mean."""
    single = partial(separate_ablation, model, tokens, measure, means=means, key_mask=key_mask)

    def without(layer):
        return single([[head] for head in all_heads(model.config, layer)])

    return torch.tensor(resumed(name, [tokens], range(model.config.n_layers), without))


def orders(config, damage, importance):
    """Orders in which to take out heads; damage and importance (n_layers, n_heads)."""
    heads = all_heads(config)
    ranked = {
        "least damage first": damage.flatten().argsort(),
        "least important first": normalised(importance).flatten().argsort(),
        "most damage first": damage.flatten().argsort(descending=True),
    }
    for seed in range(RANDOM_ORDERS):
        generator = torch.Generator().manual_seed(seed)
        ranked[f"random {seed}"] = torch.randperm(len(heads), generator=generator)
    return {name: [heads[i] for i in ranks.tolist()] for name, ranks in ranked.items()}


def write_pruning(name, model, tokens, measure, ranked, key_mask=None):
    """The table of the loss as more and more heads are out, on the second half of the texts."""
    n_heads = len(all_heads(model.config))
    counts = [round(share * n_heads) for share in SHARES]

    def remove(order):
        heads = ranked[order]
        losses = cumulative_ablation(model, tokens, measure, heads, counts, key_mask=key_mask)
        return losses.mean(dim=1)

    chosen = torch.tensor([[list(head) for head in heads] for heads in ranked.values()])
    curves = resumed(f"{name}-pruning", [tokens, chosen], list(ranked), remove)
    rows = [
        {"order": order, "removed": count, "loss": loss}
        for order, curve in zip(ranked, curves, strict=True)
        for count, loss in zip(counts, curve, strict=True)
    ]
    write_table(f"{name}_pruning", rows)


def write_joint(name, model, tokens, measure, intact, single, key_mask=None):
    """The table of what whole layers and whole groups do, beside the sum over their heads.

    intact (texts,) and single (n_layers, n_heads, texts) are losses on the second half.
    """
    config, rows = model.config, []
    size = config.n_heads // config.n_kv_heads
    groups = [all_heads(config, layer) for layer in range(config.n_layers)]
    if size > 1:
        groups += [layer[i : i + size] for layer in groups for i in range(0, len(layer), size)]

    def without(index):
        return separate_ablation(model, tokens, measure, [groups[index]], key_mask=key_mask)[0]

    losses = resumed(f"{name}-joint", [tokens], range(len(groups)), without)
    for group, loss in zip(groups, torch.tensor(losses), strict=True):
        parts = torch.stack([single[layer, head] for layer, head in group]) - intact
        rows.append(
            {
                "layer": group[0][0],
                "first_head": group[0][1],
                "heads": len(group),
                "joint": (loss - intact).mean().item(),
                "sum": parts.sum(dim=0).mean().item(),
            }
        )
    write_table(f"{name}_joint", rows)


def write_one_left(name, model, tokens, measure, n_texts, key_mask=None):
    """The table of losses when a layer keeps one head only: Michel et al., section 3.3."""

    def one_left(layer):
        heads = all_heads(model.config, layer)
        rest = [[other for other in heads if other != head] for head in heads]
        return separate_ablation(model, tokens, measure, rest, key_mask=key_mask)[:, :n_texts]

    losses = resumed(f"{name}-one-left", [tokens], range(model.config.n_layers), one_left)
    rows = [
        {"layer": layer, "head": head} | mean_losses(values)
        for layer, heads in enumerate(losses)
        for head, values in enumerate(heads)
    ]
    write_table(f"{name}_one_left", rows)


def write_heads(name, config, columns):
    """The table with a row for each head; columns are tensors (n_layers, n_heads)."""
    rows = []
    for layer, head in all_heads(config):
        group = head * config.n_kv_heads // config.n_heads
        row = {"layer": layer, "head": head, "kv_head": group}
        rows.append(row | {key: values[layer, head].item() for key, values in columns.items()})
    write_table(f"{name}_heads", rows)


def changes(kind, intact, losses):
    """Change of the mean loss in both halves, and its spread over the texts of the second."""
    change = losses - intact
    choose, report = change.chunk(2, dim=-1)
    return {
        f"{kind}_choose": choose.mean(dim=-1),
        f"{kind}_report": report.mean(dim=-1),
        f"{kind}_sd": report.std(dim=-1),
    }


@torch.no_grad()
def smollm2():
    """All tables of SmolLM2."""
    model, tokenizer = load_pretrained("smollm2")
    config = model.config
    tokens = passage_tokens(tokenizer)
    real = torch.ones_like(tokens, dtype=torch.bool)
    columns = scored(model, tokens, real, common_scores(tokenizer, tokens))
    repeats = random_repeats(config, start=1, end=2)[:, :-1]
    induction = {"prefix_matching": prefix_matching}
    columns |= scored(model, repeats, torch.ones_like(repeats, dtype=torch.bool), induction)
    columns["copying"] = copying(model, repeats[:, 1:26])

    def importance(text):
        row = tokens[text : text + 1]
        return head_importance(model, row, next_token_loss(row))[0]

    slopes = torch.tensor(resumed("smollm2-importance", [tokens], range(len(tokens)), importance))
    columns["importance_choose"], columns["importance_report"] = (
        half.mean(dim=0) for half in slopes.chunk(2)
    )
    measure = next_token_loss(tokens)
    intact = losses_without(model, tokens, measure, [])
    zeroed = ablations("smollm2-zero", model, tokens, measure, None)
    write_losses("smollm2_ablation", intact, zeroed)
    columns |= changes("damage", intact, zeroed)
    write_heads("smollm2", config, columns)

    chosen, reported = halves(tokens)
    ranked = orders(config, columns["damage_choose"], columns["importance_choose"])
    write_pruning("smollm2", model, reported, next_token_loss(reported), ranked)
    half = len(chosen)
    rest = intact[half:], zeroed[..., half:]
    write_joint("smollm2", model, reported, next_token_loss(reported), *rest)
    write_one_left("smollm2", model, tokens, measure, len(tokens))
    means = mean_head_outputs(model, chosen)
    averaged = ablations("smollm2-mean", model, tokens, measure, means)
    write_heads("smollm2", config, columns | changes("mean_damage", intact, averaged))


def minilm_measure(model, tokens, real):
    """The contrastive losses of both halves, each among its own partners, and then the drifts."""
    parts = [contrastive_loss(half) for half in halves(real)]
    drift = embedding_drift(states(model, tokens, key_mask=real), real)

    def measure(model, states):
        losses = [part(model, half) for part, half in zip(parts, halves(states), strict=True)]
        return torch.cat([*losses, drift(model, states)])

    return measure


def minilm_patterns(model, tokenizer):
    """Columns of the table of heads: what each one looks at, in the passages and random repeats."""
    passages, real = padded(tokenizer, PASSAGES)
    sep = {tokenizer.token_to_id("[SEP]")}
    scores = common_scores(tokenizer, passages) | {
        "next": lambda weights, rows, real: share_at_offset(weights, 1, real),
        "sep": lambda weights, rows, real: share_on_tokens(weights, rows, sep, real),
    }
    repeats = random_repeats(model.config, tokenizer.token_to_id("[CLS]"), *sep)
    induction = {"prefix_matching": prefix_matching}
    return scored(model, passages, real, scores) | scored(
        model, repeats, torch.ones_like(repeats, dtype=torch.bool), induction
    )


def minilm_ablations(model, tokens, real):
    """Columns of damage and drift; the measure; losses (pairs,) and (layers, heads, pairs)."""
    measure, columns = minilm_measure(model, tokens, real), {}
    intact = losses_without(model, tokens, measure, [], key_mask=real)
    means = mean_head_outputs(model, *(halves(part)[0] for part in (tokens, real)))
    pairs = slice(len(SENTENCE_PAIRS))
    texts = slice(len(SENTENCE_PAIRS), None)
    found = {}
    for kind, replaced in (("", None), ("mean_", means)):
        found[kind] = ablations(f"minilm-{kind}damage", model, tokens, measure, replaced, real)
        columns |= changes(f"{kind}damage", intact[pairs], found[kind][..., pairs])
        columns |= changes(f"{kind}drift", intact[texts], found[kind][..., texts])
    return columns, measure, intact[pairs], found[""][..., pairs]


@torch.no_grad()
def minilm():
    """All tables of MiniLM."""
    model, tokenizer = load_pretrained("minilm")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens, real = sentence_tokens(tokenizer)
    columns = minilm_patterns(model, tokenizer)
    more, measure, intact, zeroed = minilm_ablations(model, tokens, real)
    columns |= more
    for half, rows, mask in zip(HALVES, halves(tokens), halves(real), strict=True):
        slopes = head_importance(model, rows, contrastive_loss(mask), key_mask=mask)
        columns[f"importance_{half}"] = slopes.mean(dim=0)
    write_losses("minilm_ablation", intact, zeroed)
    write_heads("minilm", model.config, columns)

    reported, mask = halves(tokens)[1], halves(real)[1]
    finding = contrastive_loss(mask)
    drift = embedding_drift(states(model, reported, key_mask=mask), mask)
    importance = columns["importance_choose"]
    for name, judged, chosen in (("minilm", finding, "damage"), ("minilm_drift", drift, "drift")):
        ranked = orders(model.config, columns[f"{chosen}_choose"], importance)
        write_pruning(name, model, reported, judged, ranked, mask)
    half = len(intact) // 2
    write_joint("minilm", model, reported, finding, intact[half:], zeroed[..., half:], mask)
    write_one_left("minilm", model, tokens, measure, len(intact), real)


def main():
    """Measure what is not there yet, and write the tables."""
    minilm()
    smollm2()


if __name__ == "__main__":
    main()

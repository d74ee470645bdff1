"""Assignment 4: wrong answers, what the check says to them, and right ones written otherwise."""

BLOCK = """\
def block_step(x, parts, cache=None, layer=None):
    given = {} if cache is None else {"cache": cache, "layer": layer}
    middle = x.clone()
    middle += parts.attention(parts.norm_1(x), is_causal=True, **given)
    return parts.network(parts.norm_2(middle)) + middle"""

GPT = """\
def gpt_logits(model, tokens, cache=None):
    first = cache.length if cache else 0
    n_tokens = tokens.shape[1]
    stream = model.embed(tokens) + model.positions.weight[first : first + n_tokens]
    for number, block in enumerate(model.blocks):
        stream = block(stream, cache=cache, layer=number) if cache else block(stream)
    if cache:
        cache.advance(n_tokens)
    return model.norm(stream) @ model.embed.weight.T"""

LOSS = """\
def text_loss(logits, tokens):
    total, count = 0.0, 0
    for row, text in zip(logits, tokens, strict=True):
        for place in range(len(text) - 1):
            if text[place + 1] != 0:
                total = total - row[place].log_softmax(-1)[text[place + 1]]
                count += 1
    return total / count"""

TRAIN = """\
def train_gpt(seed):
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    sizes = {"n_layers": 2, "d_model": 48, "n_heads": 4, "max_length": 24}
    model = Decoder(Config.gpt2(vocab_size=len(WORDS.words), **sizes))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    for step in range(200):
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1, (step + 1) / 20, (200 - step) / 150)
        tokens = sentences(generator, 32).tokens
        predicted, targets = model(tokens[:, :-1]).mT, tokens[:, 1:]
        loss = torch.nn.functional.cross_entropy(predicted, targets, ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()"""

WRITE = """\
def write(model, tokens, n_new):
    cache = KVCache.for_model(model, tokens.shape[0], tokens.shape[1] + n_new)
    texts, told = [tokens], []
    for _ in range(n_new):
        logits = model(texts[-1], cache=cache).detach()[:, -1]
        best = logits.argmax(1)
        told.append(logits.gather(1, best[:, None])[:, 0] - logits.logsumexp(1))
        texts.append(best[:, None])
    return torch.cat(texts, 1), torch.stack(told, 1)"""

LEAKS = """\
def leaks(model, tokens, vocab_size):
    honest = model(tokens).detach()
    for place in reversed(range(tokens.shape[1])):
        changed = tokens.clone()
        changed[:, place] = vocab_size - 1 - changed[:, place]
        changed[:, place] += (changed[:, place] == tokens[:, place]).long()
        changed[:, place] %= vocab_size
        moved = (model(changed).detach() - honest).abs()
        if (moved[:, :place] > 1e-5).any():
            return True
    return False"""


def changed(source, *replacements):
    """A right answer with a mistake in it."""
    for old, new in replacements:
        assert source.count(old) == 1, (old, source)
        source = source.replace(old, new)
    return source


WRONG = {
    "a4-block": {
        "sees the future": changed(BLOCK, ("is_causal=True, ", "")),
        "post-norm": """\
def block_step(x, parts, cache=None, layer=None):
    x = parts.norm_1(x + parts.attention(x, is_causal=True, cache=cache, layer=layer))
    return parts.norm_2(x + parts.network(x))""",
        "normed residual": """\
def block_step(x, parts, cache=None, layer=None):
    x = parts.norm_1(x)
    x = x + parts.attention(x, is_causal=True, cache=cache, layer=layer)
    x = parts.norm_2(x)
    return x + parts.network(x)""",
        "no residual": """\
def block_step(x, parts, cache=None, layer=None):
    x = parts.attention(parts.norm_1(x), is_causal=True, cache=cache, layer=layer)
    return parts.network(parts.norm_2(x))""",
        "no second residual": changed(BLOCK, (" + middle", "")),
        "network reads the old stream": changed(BLOCK, ("norm_2(middle)", "norm_2(x)")),
        "one norm": changed(BLOCK, ("norm_2", "norm_1")),
        "no norms": changed(BLOCK, ("parts.norm_1(x)", "x"), ("parts.norm_2(middle)", "middle")),
        "network first": """\
def block_step(x, parts, cache=None, layer=None):
    x = x + parts.network(parts.norm_1(x))
    return x + parts.attention(parts.norm_2(x), is_causal=True, cache=cache, layer=layer)""",
        "no cache": changed(BLOCK, ('{"cache": cache, "layer": layer}', "{}")),
        "always layer 0": changed(BLOCK, ('"layer": layer', '"layer": 0')),
    },
    "a4-gpt": {
        "no positions": changed(GPT, (" + model.positions.weight[first : first + n_tokens]", "")),
        "positions from 0": changed(GPT, ("first : first + n_tokens", ":n_tokens")),
        "positions one late": changed(
            GPT, ("first : first + n_tokens", "first + 1 : first + 1 + n_tokens")
        ),
        "cache stands still": changed(
            GPT, ("    if cache:\n        cache.advance(n_tokens)\n", "")
        ),
        "cache not used": changed(
            GPT,
            (
                "block(stream, cache=cache, layer=number) if cache else block(stream)",
                "block(stream)",
            ),
            ("        cache.advance(n_tokens)", "        cache.length += n_tokens"),
        ),
        "layer 0 alone": changed(GPT, ("layer=number", "layer=0")),
        "no last norm": changed(GPT, ("model.norm(stream)", "stream")),
        "last block left out": changed(
            GPT, ("enumerate(model.blocks)", "enumerate(model.blocks[:-1])")
        ),
        "probabilities": changed(
            GPT,
            (
                "model.norm(stream) @ model.embed.weight.T",
                "(model.norm(stream) @ model.embed.weight.T).softmax(-1)",
            ),
        ),
        "states": changed(GPT, (" @ model.embed.weight.T", "")),
        "head of its own": changed(
            GPT,
            (
                "@ model.embed.weight.T",
                "@ torch.eye(model.embed.num_embeddings, stream.shape[2]).to(stream).T",
            ),
        ),
    },
    "a4-loss": {
        "present token": changed(LOSS, ("[text[place + 1]]", "[text[place]]")),
        "previous token": """\
def text_loss(logits, tokens):
    predicted, targets = logits[:, 1:].mT, tokens[:, :-1]
    return torch.nn.functional.cross_entropy(predicted, targets, ignore_index=0)""",
        "no shift": """\
def text_loss(logits, tokens):
    return torch.nn.functional.cross_entropy(logits.mT, tokens, ignore_index=0)""",
        "sum": changed(LOSS, ("return total / count", "return total")),
        "padding counts": changed(LOSS, ("text[place + 1] != 0", "True")),
        "divided by all": changed(
            LOSS, ("return total / count", "return total / tokens[:, 1:].numel()")
        ),
        "mean of the texts": """\
def text_loss(logits, tokens):
    losses = torch.nn.functional.cross_entropy(
        logits[:, :-1].mT, tokens[:, 1:], ignore_index=0, reduction="none"
    )
    return (losses.sum(1) / (tokens[:, 1:] != 0).sum(1)).mean()""",
        "bits": changed(LOSS, ("total / count", "total / count / 0.6931471805599453")),
        "softmax twice": changed(LOSS, ("row[place]", "row[place].softmax(-1)")),
        "no gradient": changed(
            LOSS, ("return total / count", "return torch.tensor(float(total / count))")
        ),
        "given padding counts": changed(LOSS, ("text[place + 1] != 0", "text[place] != 0")),
    },
    "a4-train": {
        "not trained": changed(TRAIN, ("range(200)", "range(0)")),
        "too short": changed(TRAIN, ("range(200)", "range(25)")),
        "present token": changed(TRAIN, ("tokens[:, 1:]\n", "tokens[:, :-1]\n")),
        "sees the future": changed(
            TRAIN,
            (
                "    optimizer = torch",
                "    for block in model.blocks:\n        block.is_causal = False\n"
                "    optimizer = torch",
            ),
        ),
        "never steps": changed(
            TRAIN, ("        optimizer.step()\n", ""), ("range(200)", "range(20)")
        ),
        "gradients pile up": changed(TRAIN, ("        optimizer.zero_grad()\n", "")),
        "climbs": changed(
            TRAIN, ("loss.backward()", "(-loss).backward()"), ("range(200)", "range(20)")
        ),
        "one batch": changed(
            TRAIN,
            ("        tokens = sentences(generator, 32).tokens\n", ""),
            ("    for step in", "    tokens = sentences(generator, 32).tokens\n    for step in"),
        ),
        "seed ignored": changed(
            TRAIN,
            (
                "manual_seed(seed)\n    torch.manual_seed(seed)",
                "manual_seed(5)\n    torch.manual_seed(5)",
            ),
        ),
        "parameters not seeded": changed(TRAIN, ("    torch.manual_seed(seed)\n", "")),
        "loss hard-coded": """\
def train_gpt(seed):
    torch.manual_seed(seed)
    held_out_loss.__globals__["held_out_loss"] = lambda model: torch.tensor(1.6)
    return Decoder(Config.gpt2(vocab_size=64, n_layers=1, d_model=8, n_heads=2, max_length=24))""",
    },
    "a4-write": {
        "position 0": changed(WRITE, ("[:, -1]\n", "[:, 0]\n")),
        "no cache": """\
def write(model, tokens, n_new):
    told = []
    for _ in range(n_new):
        logits = model(tokens).detach()[:, -1].log_softmax(-1)
        best, new = logits.max(-1, keepdim=True)
        told.append(best)
        tokens = torch.cat([tokens, new], 1)
    return tokens, torch.cat(told, 1)""",
        "everything read again into the cache": changed(
            WRITE, ("model(texts[-1], cache", "model(torch.cat(texts, 1), cache")
        ),
        "a new cache each time": changed(
            WRITE,
            (
                "    cache = KVCache.for_model(model, tokens.shape[0], tokens.shape[1] + n_new)\n",
                "",
            ),
            (
                "        logits =",
                "        cache = KVCache.for_model(model, tokens.shape[0])\n        logits =",
            ),
        ),
        "logits told": changed(WRITE, (" - logits.logsumexp(1)", "")),
        "probabilities told": changed(
            WRITE, ("torch.stack(told, 1)", "torch.stack(told, 1).exp()")
        ),
        "summed up": changed(WRITE, ("torch.stack(told, 1)", "torch.stack(told, 1).cumsum(1)")),
        "bits": changed(
            WRITE, ("torch.stack(told, 1)", "torch.stack(told, 1) / 0.6931471805599453")
        ),
        "last token read": changed(
            WRITE,
            ("    return torch.cat", "    model(texts[-1], cache=cache)\n    return torch.cat"),
        ),
        "new tokens alone": changed(WRITE, ("torch.cat(texts, 1)", "torch.cat(texts[1:], 1)")),
        "prompt token by token": changed(
            WRITE,
            (
                "    for _ in",
                "    for place in range(tokens.shape[1] - 1):\n"
                "        model(tokens[:, place : place + 1], cache=cache)\n"
                "    texts[0] = tokens[:, -1:]\n"
                "    for _ in",
            ),
            ("torch.cat(texts, 1)", "torch.cat([tokens, *texts[1:]], 1)"),
        ),
        "read again for the numbers": """\
def write(model, tokens, n_new):
    from minitransformer.generation import generate

    texts = generate(model, tokens, n_new)
    first = tokens.shape[1]
    logits = model(texts)[:, first - 1 : -1].detach().log_softmax(-1)
    return texts, logits.gather(2, texts[:, first:, None])[:, :, 0]""",
    },
    "a4-leaks": {
        "itself counts": changed(LEAKS, ("moved[:, :place]", "moved[:, : place + 1]")),
        "everything counts": changed(LEAKS, ("moved[:, :place]", "moved")),
        "the first changed": changed(LEAKS, ("in reversed(range(tokens.shape[1]))", "in (0,)")),
        "the last changed": changed(
            LEAKS, ("in reversed(range(tokens.shape[1]))", "in (tokens.shape[1] - 1,)")
        ),
        "the neighbour alone": changed(LEAKS, ("moved[:, :place]", "moved[:, place - 1 : place]")),
        "the first place alone": changed(LEAKS, ("moved[:, :place]", "moved[:, : min(place, 1)]")),
        "the likeliest": changed(
            LEAKS,
            (
                "moved[:, :place] > 1e-5",
                "(model(changed).argmax(-1) != honest.argmax(-1))[:, :place]",
            ),
        ),
        "to the last digit": changed(LEAKS, ("> 1e-5", "> 0")),
        "too coarse": changed(LEAKS, ("> 1e-5", "> 1e-2")),
        "the first text alone": changed(LEAKS, ("moved[:, :place]", "moved[:1, :place]")),
        "all at once": """\
def leaks(model, tokens, vocab_size):
    moved = (model((tokens + 1) % vocab_size) - model(tokens)).abs()
    return bool((moved[:, :-1] > 1e-5).any())""",
        "changes its input": changed(LEAKS, ("changed = tokens.clone()", "changed = tokens")),
        "never": "def leaks(model, tokens, vocab_size):\n    return False",
    },
}

# What the check says to a wrong answer; one that is not here passes it, and only the tests tell.
TOLD = {
    "a4-block": {
        "sees the future": "A token sees later ones",
        "post-norm": "This is post-norm",
        "normed residual": "The residual is x itself",
        "no residual": "The residuals are missing",
        "no second residual": "",
        "network reads the old stream": "reads the sum",
        "one norm": "norm_1 serves twice",
        "no norms": "The norms are missing",
        "network first": "The network comes first",
        "no cache": "hand cache and layer on",
        "always layer 0": None,
    },
    "a4-gpt": {
        "no positions": "The positions are missing",
        "positions from 0": "begin at 0 again",
        "positions one late": "",
        "cache stands still": "knows nothing of the first",
        "cache not used": "",
        "layer 0 alone": "layer 0 of the cache",
        "no last norm": "The last norm is missing",
        "last block left out": "",
        "probabilities": "These are probabilities",
        "states": "These are the states",
        "head of its own": "",
    },
    "a4-loss": {
        "present token": "",
        "previous token": "the token before it",
        "no shift": "has just read",
        "sum": "added up the losses",
        "padding counts": "Padding counts",
        "divided by all": "divided by all places",
        "mean of the texts": "Every token counts the same",
        "bits": "These are bits",
        "softmax twice": "",
        "no gradient": None,
        "given padding counts": "",
    },
    "a4-train": {
        "not trained": "",
        "too short": "",
        "present token": "",
        "sees the future": None,
        "never steps": "",
        "gradients pile up": "",
        "climbs": "",
        "one batch": "",
        "seed ignored": None,
        "parameters not seeded": None,
        "loss hard-coded": "",
    },
    "a4-write": {
        "position 0": "",
        "no cache": None,
        "everything read again into the cache": "",
        "a new cache each time": "nothing before it",
        "logits told": "These are logits",
        "probabilities told": "These are probabilities",
        "summed up": "Each token has its own",
        "bits": "These are bits",
        "last token read": None,
        "new tokens alone": "",
        "prompt token by token": None,
        "read again for the numbers": None,
    },
    "a4-leaks": {
        "itself counts": "the changed place itself",
        "everything counts": "the changed place itself",
        "the first changed": "where every place sees every other",
        "the last changed": "the last token alone",
        "the neighbour alone": "the place just before",
        "the first place alone": "",
        "the likeliest": "which token is likeliest",
        "to the last digit": "Rounding is no leak",
        "too coarse": "",
        "the first text alone": None,
        "all at once": "",
        "changes its input": "",
        "never": "",
    },
}

RIGHT = {
    "a4-block": {
        "by parts": BLOCK,
        "in one expression": """\
def block_step(x, parts, cache=None, layer=None):
    attend = partial(parts.attention, is_causal=True, cache=cache, layer=layer)
    for norm, part in ((parts.norm_1, attend), (parts.norm_2, parts.network)):
        x = torch.add(part(norm(x)), x)
    return x""",
    },
    "a4-gpt": {
        "rows of the table": GPT,
        "as a list of keywords": """\
def gpt_logits(model, tokens, cache=None):
    n = tokens.shape[-1]
    start = getattr(cache, "length", 0)
    x = model.embed.weight[tokens]
    x = x + model.positions(start + torch.arange(n))[None]
    for layer in range(len(model.blocks)):
        options = dict(cache=cache, layer=layer) if cache is not None else dict()
        x = model.blocks[layer](x, **options)
    if cache is not None:
        cache.advance(n)
    return torch.einsum("btd,vd->btv", model.norm(x), model.embed.weight)""",
    },
    "a4-loss": {
        "in loops": LOSS,
        "by torch": """\
def text_loss(logits, tokens):
    predicted, targets = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    return torch.nn.functional.cross_entropy(predicted, targets, ignore_index=0)""",
    },
    "a4-train": {
        "own loop": TRAIN,
        "another size": """\
def train_gpt(seed):
    torch.manual_seed(seed)
    model = Decoder(
        Config.llama(vocab_size=len(WORDS.words), n_layers=2, d_model=32, n_heads=4, max_length=20)
    )

    def make_batch(generator):
        tokens = sentences(generator, 24, "train").tokens
        targets = tokens[:, 1:].clone()
        targets[targets == 0] = -100
        return tokens[:, :-1], targets

    fit(model, make_batch, steps=150, lr=1e-2, warmup=20, seed=seed, progress=False)
    return model""",
    },
    "a4-write": {
        "by logsumexp": WRITE,
        "with hidden states": """\
@torch.no_grad()
def write(model, tokens, n_new):
    was, cache = tokens.shape[1], KVCache.for_model(model, len(tokens))
    told = torch.zeros(len(tokens), n_new)
    while tokens.shape[1] < was + n_new:
        states = model.hidden(tokens[:, cache.length :], cache=cache)
        chances = model.unembed(states[:, -1]).softmax(dim=-1)
        best, new = chances.topk(1)
        told[:, tokens.shape[1] - was] = best[:, 0].log()
        tokens = torch.hstack([tokens, new])
    return tokens, told""",
    },
    "a4-leaks": {
        "from the end": LEAKS,
        "by texts": """\
def leaks(model, tokens, vocab_size):
    found = []
    for place in range(1, tokens.shape[1]):
        other = torch.cat([tokens[:, :place], (tokens[:, place:] + 1) % vocab_size], dim=1)
        found.append((model(other)[:, :place] - model(tokens)[:, :place]).abs().amax() > 1e-5)
    return any(found)""",
    },
}

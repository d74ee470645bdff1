"""What goes wrong in assignment 4, where it takes the parts of a model to go wrong.

``assignment_4`` imports this module when a formula is used, since it needs torch.
"""

import torch

from ..generation import generate
from .small_gpt import small_decoder, through_block, through_gpt, through_writing

# --- a block: (x, parts, cache, layer) to the residual stream ------------------------------------


def _attended(parts, normed, cache=None, layer=None, is_causal=True):
    return parts.attention(normed, is_causal=is_causal, cache=cache, layer=layer)


def _post_norm(x, parts, *cache):
    middle = parts.norm_1(x + _attended(parts, x, *cache))
    return parts.norm_2(middle + parts.network(middle))


def _normed_residual(x, parts, *cache):
    normed = parts.norm_1(x)
    middle = normed + _attended(parts, normed, *cache)
    normed = parts.norm_2(middle)
    return normed + parts.network(normed)


def _no_residual(x, parts, *cache):
    return parts.network(parts.norm_2(_attended(parts, parts.norm_1(x), *cache)))


def _side_by_side(x, parts, *cache):
    found = _attended(parts, parts.norm_1(x), *cache)
    return x + found + parts.network(parts.norm_2(x))


def _open_to_the_future(x, parts, *cache):
    middle = x + _attended(parts, parts.norm_1(x), *cache, is_causal=False)
    return middle + parts.network(parts.norm_2(middle))


def _without_cache(x, parts, *cache):
    middle = x + _attended(parts, parts.norm_1(x))
    return middle + parts.network(parts.norm_2(middle))


def _one_norm(x, parts, *cache):
    middle = x + _attended(parts, parts.norm_1(x), *cache)
    return middle + parts.network(parts.norm_1(middle))


def _no_norm(x, parts, *cache):
    middle = x + _attended(parts, x, *cache)
    return middle + parts.network(middle)


def _network_first(x, parts, *cache):
    middle = x + parts.network(parts.norm_1(x))
    return middle + _attended(parts, parts.norm_2(middle), *cache)


def block(mistake):
    """The formula of a wrong block."""
    return lambda x, n_before: through_block(globals()[f"_{mistake}"], x, n_before).detach()


# --- a small GPT: (model, tokens, cache) to logits -----------------------------------------------


def _logits(model, tokens, cache=None, start=None, layers=None, last_norm=True):
    """Right with the defaults but for the cache, which stays as long as it was."""
    start = (0 if cache is None else cache.length) if start is None else start
    x = model.embed(tokens) + model.positions(start + torch.arange(tokens.shape[1]))
    for layer, part in enumerate(model.blocks):
        layer = layer if layers is None else layers[layer]
        x = part(x, cache=cache, layer=None if cache is None else layer)
    return (model.norm(x) if last_norm else x) @ model.embed.weight.T


def _moved_on(logits, tokens, cache):
    if cache is not None:
        cache.advance(tokens.shape[1])
    return logits


def _cache_stands_still(model, tokens, cache=None):
    return _logits(model, tokens, cache)


def _places_begin_again(model, tokens, cache=None):
    return _moved_on(_logits(model, tokens, cache, start=0), tokens, cache)


def _one_layer_of_the_cache(model, tokens, cache=None):
    return _moved_on(_logits(model, tokens, cache, layers=[0, 0]), tokens, cache)


def _no_last_norm(model, tokens, cache=None):
    return _moved_on(_logits(model, tokens, cache, last_norm=False), tokens, cache)


def _no_places(model, tokens, cache=None):
    x = model.embed(tokens)
    for layer, part in enumerate(model.blocks):
        x = part(x, cache=cache, layer=None if cache is None else layer)
    return _moved_on(model.norm(x) @ model.embed.weight.T, tokens, cache)


def _probabilities(model, tokens, cache=None):
    return _moved_on(_logits(model, tokens, cache).softmax(-1), tokens, cache)


def _states(model, tokens, cache=None):
    x = model.embed(tokens) + model.positions(torch.arange(tokens.shape[1]))
    for part in model.blocks:
        x = part(x)
    return model.norm(x)


def gpt(mistake):
    """The formula of a wrong small GPT."""
    return lambda tokens, n: through_gpt(globals()[f"_{mistake}"], tokens, n).detach()


# --- writing: (model, tokens, n_new) to texts and log-probabilities ------------------------------


def _read_again(model, tokens, n_new, told=torch.log_softmax, late=0):
    """Write with the library, and read the whole text once more to tell of each new token."""
    texts, first = generate(model, tokens, n_new), tokens.shape[1]
    logits = model(texts)[:, first - 1 + late : texts.shape[1] - 1 + late]
    return texts, told(logits, -1).gather(2, texts[:, first:, None]).squeeze(2)


def _raw_logits(model, tokens, n_new):
    return _read_again(model, tokens, n_new, told=lambda logits, axis: logits)


def _plain_probabilities(model, tokens, n_new):
    return _read_again(model, tokens, n_new, told=torch.softmax)


def _one_too_late(model, tokens, n_new):
    return _read_again(model, tokens, n_new, late=1)


def _summed_up(model, tokens, n_new):
    texts, numbers = _read_again(model, tokens, n_new)
    return texts, numbers.cumsum(dim=1)


def _bits(model, tokens, n_new):
    texts, numbers = _read_again(model, tokens, n_new)
    return texts, numbers / torch.log(torch.tensor(2.0))


def _newest_alone(model, tokens, n_new):
    """The newest token is read with an empty cache: the model sees nothing else."""
    numbers = []
    for step in range(n_new):
        seen = tokens if step == 0 else tokens[:, -1:]
        longer, told = _read_again(model, seen, 1)
        tokens = torch.cat([tokens, longer[:, -1:]], dim=1)
        numbers.append(told)
    return tokens, torch.cat(numbers, dim=1)


def writing(mistake):
    """The formula of wrong writing."""
    return lambda tokens, n: through_writing(globals()[f"_{mistake}"], tokens, n).detach()


# --- models that see the future, or do not: tokens (batch, time) to logits (batch, time, 11) ------


def _future(tokens, first, last, size=1.0):
    """Add to the logits at place ``first`` something that depends on the token at ``last``."""
    logits = small_decoder()(tokens).detach()
    logits[:, first] += 3 * size * torch.sin(tokens[:, last, None] + torch.arange(11.0))
    return logits


def causal(tokens):
    """No place sees a later one."""
    return small_decoder()(tokens).detach()


def without_mask(tokens):
    """Every place sees every other."""
    model = small_decoder()
    for block in model.blocks:
        block.is_causal = False
    return model(tokens).detach()


def from_end_to_start(tokens):
    """The first place sees the last one, and no other sees the future."""
    return _future(tokens, 0, -1)


def from_the_middle(tokens):
    """The second place sees the third one."""
    return _future(tokens, 1, 2)


def a_little(tokens):
    """The third place sees the fourth one, too little to change which token is likeliest."""
    return _future(tokens, 2, 3, size=1e-4)


def rounding(tokens):
    """Rounding in another order for other tokens, as fused kernels do it."""
    return _future(tokens, 1, 2, size=1e-7)


# --- a test that finds no leak, or too many: (model, tokens, vocab_size) to True or False ---------


def _moved(model, tokens, place):
    """By how much each logit moves when the token at a place changes."""
    changed = tokens.clone()
    changed[:, place] = (changed[:, place] + 1) % 11
    return (model(changed) - model(tokens)).abs()


def _own_place(model, tokens):
    return any(_moved(model, tokens, t)[:, : t + 1].max() > 1e-5 for t in range(tokens.shape[1]))


def _first_changed(model, tokens):
    return False  # no place lies before the first


def _last_changed(model, tokens):
    return _moved(model, tokens, -1)[:, :-1].max() > 1e-5


def _neighbour_alone(model, tokens):
    places = range(1, tokens.shape[1])
    return any(_moved(model, tokens, t)[:, t - 1].max() > 1e-5 for t in places)


def _likeliest_alone(model, tokens):
    likeliest = model(tokens).argmax(-1)
    for place in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, place] = (changed[:, place] + 1) % 11
        if (model(changed).argmax(-1) != likeliest)[:, :place].any():
            return True
    return False


def _to_the_last_digit(model, tokens):
    return any(_moved(model, tokens, t)[:, :t].sum() != 0 for t in range(1, tokens.shape[1]))


def leak_test(mistake):
    """The formula of a wrong test."""
    return lambda model, tokens, vocab_size: bool(
        globals()[f"_{mistake}"](model, torch.tensor(tokens))
    )

"""Answers to assignment 2 by question, each the text that stands in the solution cell."""

WRONG = {
    "a2-window": {
        "the window counts the query itself": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return (key <= place) & ((place - key < left) | (key < n_first))
""",
        "the first tokens are seen before they come": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return ((key <= place) & (place - key <= left)) | (key < n_first)
""",
        "the first tokens are not kept": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    gap = np.arange(n_queries)[:, None] + q_offset - np.arange(n_keys)
    return (gap >= 0) & (gap <= left)
""",
        "no window": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    return np.tri(n_queries, n_keys, q_offset, dtype=bool)
""",
        "a window to both sides": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return (abs(place - key) <= left) | (key < n_first) & (key <= place)
""",
        "q_offset ignored": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None], np.arange(n_keys)
    return (key <= place) & ((place - key <= left) | (key < n_first))
""",
        "always lined up with the last key": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + n_keys - n_queries, np.arange(n_keys)
    return (key <= place) & ((place - key <= left) | (key < n_first))
""",
        "the wrong way round": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return (key > place) | ((place - key > left) & (key >= n_first))
""",
        "zeros and ones": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return ((key <= place) & ((place - key <= left) | (key < n_first))).astype(int)
""",
        "one first token too many": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0 or n_first < 0:
        raise ValueError("negative")
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return (key <= place) & ((place - key <= left) | (key <= n_first))
""",
        "negative numbers are not refused": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    place, key = np.arange(n_queries)[:, None] + q_offset, np.arange(n_keys)
    return (key <= place) & ((place - key <= left) | (key < n_first))
""",
    },
    "a2-packed": {
        "padding sees padding": """
def packed_mask(documents):
    same = documents[:, None, :, None] == documents[:, None, None, :]
    return same & np.tri(documents.shape[1], dtype=bool)
""",
        "later tokens are seen": """
def packed_mask(documents):
    same = documents[:, None, :, None] == documents[:, None, None, :]
    return same & (documents != 0)[:, None, None, :]
""",
        "the texts see one another": """
def packed_mask(documents):
    real = documents > 0
    both = real[:, None, :, None] & real[:, None, None, :]
    return both & np.tri(documents.shape[1], dtype=bool)
""",
        "earlier texts are seen": """
def packed_mask(documents):
    real = documents > 0
    not_later = documents[:, None, None, :] <= documents[:, None, :, None]
    both = real[:, None, :, None] & real[:, None, None, :]
    return both & not_later & np.tri(documents.shape[1], dtype=bool)
""",
        "only the keys of the padding are hidden": """
def packed_mask(documents):
    real = (documents > 0)[:, None, None, :]
    return real & np.tri(documents.shape[1], dtype=bool)
""",
        "no axis for the heads": """
def packed_mask(documents):
    same = documents[:, :, None] == documents[:, None, :]
    return same & (documents > 0)[:, None, :] & np.tri(documents.shape[1], dtype=bool)
""",
        "the axis for the heads in front": """
def packed_mask(documents):
    same = documents[:, :, None] == documents[:, None, :]
    mask = same & (documents > 0)[:, None, :] & np.tri(documents.shape[1], dtype=bool)
    return mask[None]
""",
        "only later tokens are seen": """
def packed_mask(documents):
    same = documents[:, None, :, None] == documents[:, None, None, :]
    return same & (documents > 0)[:, None, None] & np.tri(documents.shape[1], dtype=bool).T
""",
        "a token does not see itself": """
def packed_mask(documents):
    same = documents[:, None, :, None] == documents[:, None, None, :]
    return same & (documents > 0)[:, None, None] & np.tri(documents.shape[1], k=-1, dtype=bool)
""",
        "zeros and ones": """
def packed_mask(documents):
    same = documents[:, None, :, None] == documents[:, None, None, :]
    return same * (documents > 0)[:, None, None] * np.tri(documents.shape[1], dtype=int)
""",
    },
    "a2-slots": {
        "the formula alone": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value
""",
        "garbage in the values comes through": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ value
""",
        "the library alone": """
def masked_attention(query, key, value, mask):
    return scaled_dot_product_attention(query, key, value, mask)[0]
""",
        "NaN cleaned from the output": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True) @ value)
""",
        "a large negative number": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -1e9)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    value = np.nan_to_num(value, posinf=0, neginf=0)
    return powers / powers.sum(axis=-1, keepdims=True) @ value
""",
        "masked after the softmax": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(mask, powers / powers.sum(axis=-1, keepdims=True), 0) @ value
""",
        "the wrong way round": """
def masked_attention(query, key, value, mask):
    return scaled_dot_product_attention(query, key, np.nan_to_num(value), ~mask)[0]
""",
        "the masked scores are 0": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    scores = np.where(mask, query @ np.swapaxes(key, -1, -2), 0) / np.sqrt(key.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    value = np.nan_to_num(value, posinf=0, neginf=0)
    return powers / powers.sum(axis=-1, keepdims=True) @ value
""",
        "no scale": """
def masked_attention(query, key, value, mask):
    value = np.nan_to_num(value, posinf=0, neginf=0)
    return scaled_dot_product_attention(query, key, value, mask, scale=1.0)[0]
""",
        "infinity stays": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    value = np.where(np.isnan(value), 0, value)
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ value
""",
        "numbers are taken as masks": """
def masked_attention(query, key, value, mask):
    mask = mask.astype(bool)
    value = np.nan_to_num(value, posinf=0, neginf=0)
    return scaled_dot_product_attention(query, key, value, mask)[0]
""",
        "hides a value if one query may not see it": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError("mask")
    seen = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2])).all(axis=-2)
    value = np.where(seen[..., None], value, 0)
    return scaled_dot_product_attention(query, key, value, mask)[0]
""",
    },
    "a2-leaks": {
        "always yes": """
def looks_ahead(attention, x):
    return True
""",
        "always no": """
def looks_ahead(attention, x):
    return False
""",
        "changes the last token alone": """
def looks_ahead(attention, x):
    changed = x.copy()
    changed[-1] = np.sin(np.arange(x.shape[1]) + 1)
    return bool(abs(attention(changed) - attention(x))[:-1].max() > 1e-6)
""",
        "looks at the first output alone": """
def looks_ahead(attention, x):
    changed = x.copy()
    changed[1:] += np.sin(np.arange(x.shape[1]) + 1)
    return bool(abs(attention(changed) - attention(x))[0].max() > 1e-6)
""",
        "looks at the next token alone": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if abs(attention(changed) - attention(x))[place - 1].max() > 1e-6:
            return True
    return False
""",
        "compares the changed token's own output too": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if abs(attention(changed) - attention(x))[: place + 1].max() > 1e-6:
            return True
    return False
""",
        "looks back": """
def looks_ahead(attention, x):
    for place in range(len(x) - 1):
        changed = x.copy()
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if abs(attention(changed) - attention(x))[place + 1 :].max() > 1e-6:
            return True
    return False
""",
        "takes rounding for a leak": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if (attention(changed) != attention(x))[:place].any():
            return True
    return False
""",
        "takes a weak leak for rounding": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if abs(attention(changed) - attention(x))[:place].max() > 1e-2:
            return True
    return False
""",
        "adds a constant to a token": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] += 1.5
        if abs(attention(changed) - attention(x))[:place].max() > 1e-6:
            return True
    return False
""",
        "doubles a token": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x.copy()
        changed[place] *= 2
        if abs(attention(changed) - attention(x))[:place].max() > 1e-6:
            return True
    return False
""",
        "changes x itself": """
def looks_ahead(attention, x):
    for place in range(1, len(x)):
        changed = x
        changed[place] += np.sin(np.arange(x.shape[1]) + 1)
        if abs(attention(changed) - attention(x))[:place].max() > 1e-6:
            return True
    return False
""",
    },
    "a2-cache": {
        "top-left": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    mask = np.tri(n_new, n_slots, dtype=bool)
    return np.tile(mask, (len(lengths), 1, 1, 1))
""",
        "bottom-right": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    mask = np.tri(n_new, n_slots, n_slots - n_new, dtype=bool)
    return np.tile(mask, (len(lengths), 1, 1, 1))
""",
        "a new token does not see itself": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, n - 1, dtype=bool)[None] for n in lengths])
""",
        "one slot too far": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, n + 1, dtype=bool)[None] for n in lengths])
""",
        "all new tokens see one another": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    row = np.arange(n_slots) < lengths[:, None, None, None] + n_new
    return np.repeat(row, n_new, axis=2)
""",
        "the cache alone": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    row = np.arange(n_slots) < lengths[:, None, None, None]
    return np.repeat(row, n_new, axis=2)
""",
        "the longest cache for all": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, max(lengths), dtype=bool)[None] for _ in lengths])
""",
        "no axis for the heads": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, n, dtype=bool) for n in lengths])
""",
        "zeros and ones": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new > n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, n)[None] for n in lengths])
""",
        "a full cache is not refused": """
def cache_mask(lengths, n_new, n_slots):
    return np.stack([np.tri(n_new, n_slots, n, dtype=bool)[None] for n in lengths])
""",
        "refuses the last slot": """
def cache_mask(lengths, n_new, n_slots):
    if max(lengths) + n_new >= n_slots:
        raise ValueError("full")
    return np.stack([np.tri(n_new, n_slots, n, dtype=bool)[None] for n in lengths])
""",
    },
}

RIGHT = {
    "a2-window": {
        "in loops": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if min(left, n_first) < 0:
        raise ValueError("left and n_first count tokens")
    mask = np.zeros((n_queries, n_keys), dtype=bool)
    for i in range(n_queries):
        for j in range(min(n_keys, i + q_offset + 1)):
            mask[i, j] = j < n_first or j >= i + q_offset - left
    return mask
""",
        "from triangles": """
def window_mask(n_queries, n_keys, q_offset, left, n_first):
    if left < 0:
        raise ValueError("left")
    if n_first < 0:
        raise ValueError("n_first")
    past = np.tri(n_queries, n_keys, q_offset, dtype=bool)
    far = np.tri(n_queries, n_keys, q_offset - left - 1, dtype=bool)
    far[:, :n_first] = False
    return past & ~far
""",
    },
    "a2-packed": {
        "in loops": """
def packed_mask(documents):
    batch, time = documents.shape
    mask = np.zeros((batch, 1, time, time), dtype=bool)
    for row, query in np.ndindex(batch, time):
        number = documents[row, query]
        if number:
            mask[row, 0, query, : query + 1] = documents[row, : query + 1] == number
    return mask
""",
        "padding made unlike itself": """
def packed_mask(documents):
    asking, answering = np.where(documents, documents, -1), documents
    same = np.equal(asking[:, None, :, None], answering[:, None, None, :])
    return np.tril(same)
""",
    },
    "a2-slots": {
        "from the formula": """
def masked_attention(query, key, value, mask):
    if mask.dtype != bool:
        raise TypeError(f"the mask must be boolean, got {mask.dtype}")
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    read = ~np.isneginf(scores).all(axis=-2)
    value = np.where(read[..., None], value, 0)
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ value
""",
        "query by query": """
def masked_attention(query, key, value, mask):
    if mask.dtype != np.bool_:
        raise TypeError("not a mask")
    mask = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2]))
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    for place in np.ndindex(query.shape[:-1]):
        batch, seen = place[:-1], mask[place]
        if seen.any():
            scores = key[batch][seen] @ query[place] / key.shape[-1] ** 0.5
            powers = np.exp(scores - scores.max())
            output[place] = powers @ value[batch][seen] / powers.sum()
    return output
""",
        "whatever is not finite is 0": """
def masked_attention(query, key, value, mask):
    value = np.nan_to_num(value, nan=0.0, posinf=0.0, neginf=0.0)
    output, _ = scaled_dot_product_attention(query, key, value, mask=mask)
    return output
""",
    },
    "a2-leaks": {
        "the beginning alone": """
def looks_ahead(attention, x):
    whole = attention(x)
    return any(
        not np.allclose(attention(x[:n]), whole[:n], rtol=0, atol=1e-6) for n in range(1, len(x))
    )
""",
        "all later tokens replaced at random": """
def looks_ahead(attention, x):
    rng = np.random.default_rng(0)
    moved = 0.0
    for place in range(len(x) - 1):
        for _ in range(2):
            changed = x.copy()
            changed[place + 1 :] = rng.normal(size=changed[place + 1 :].shape)
            moved = max(moved, np.max(abs(attention(changed) - attention(x))[: place + 1]))
    return bool(moved > 1e-6)
""",
    },
    "a2-cache": {
        "triangles": """
def cache_mask(lengths, n_new, n_slots):
    if any(length + n_new > n_slots for length in lengths):
        raise ValueError("a text does not fit")
    return np.stack([np.tri(n_new, n_slots, length, dtype=bool)[None] for length in lengths])
""",
        "in loops": """
def cache_mask(lengths, n_new, n_slots):
    mask = np.zeros((len(lengths), 1, n_new, n_slots), bool)
    for text, length in enumerate(lengths):
        if length + n_new > n_slots:
            raise ValueError(f"text {text} does not fit")
        for new in range(n_new):
            mask[text, 0, new, : length + new + 1] = True
    return mask
""",
    },
}

# What the writer of a wrong answer is told; "" is any message, None is left to the graded tests.
TOLD = {
    "a2-window": {
        "the window counts the query itself": "one key too narrow",
        "the first tokens are seen before they come": "seen before they have come",
        "the first tokens are not kept": "The first tokens are not kept",
        "no window": "There is no window",
        "a window to both sides": "opens to both sides",
        "q_offset ignored": "q_offset is missing",
        "always lined up with the last key": "You lined up the last query with the last key",
        "the wrong way round": "the wrong way round",
        "zeros and ones": "a mask is boolean",
        "one first token too many": "one first token too many",
        "negative numbers are not refused": "A negative left is to be a ValueError",
    },
    "a2-packed": {
        "padding sees padding": "Padding sees padding",
        "later tokens are seen": "nothing is causal here",
        "the texts see one another": "The texts see one another",
        "earlier texts are seen": "The texts see one another",
        "only the keys of the padding are hidden": "The texts see one another",
        "no axis for the heads": "The axis for the heads is missing",
        "the axis for the heads in front": "The axis for the heads comes after the batch",
        "only later tokens are seen": "You look the wrong way",
        "a token does not see itself": "A token does not see itself",
        "zeros and ones": "a mask is boolean",
    },
    "a2-slots": {
        "the formula alone": "gives 0 / 0",
        "garbage in the values comes through": "0 times NaN or infinity is NaN",
        "the library alone": "The library's function refuses values",
        "NaN cleaned from the output": "You turned NaN into 0 at the end",
        "a large negative number": "gets the mean of all values",
        "masked after the softmax": "You masked after softmax",
        "the wrong way round": "the wrong way round",
        "the masked scores are 0": "e to the 0 is 1",
        "no scale": "The scale is missing",
        "infinity stays": "Infinity is left among the values",
        "numbers are taken as masks": None,
        "hides a value if one query may not see it": "",
    },
    "a2-leaks": {
        "always yes": "You found a leak in attention with a causal mask",
        "always no": "You found no leak where there is no mask at all",
        "changes the last token alone": "You missed a leak of one output alone",
        "looks at the first output alone": "You missed a leak of one output alone",
        "looks at the next token alone": "You missed a leak of one output alone",
        "compares the changed token's own output too": "You found a leak in attention with a",
        "looks back": "You found a leak in attention with a causal mask",
        "takes rounding for a leak": "You took rounding for a leak",
        "takes a weak leak for rounding": "You missed a weak leak",
        "adds a constant to a token": "it does not notice every change",
        "doubles a token": "it does not notice every change",
        "changes x itself": "You found no leak where there is no mask at all",
    },
    "a2-cache": {
        "top-left": "lined up top-left",
        "bottom-right": "lined up bottom-right",
        "a new token does not see itself": "A new token does not see itself",
        "one slot too far": "one slot too many",
        "all new tokens see one another": "in both directions",
        "the cache alone": "The new tokens see the cache alone",
        "the longest cache for all": "You took the longest cache for all",
        "no axis for the heads": "The axis for the heads is missing",
        "zeros and ones": "a mask is boolean",
        "a full cache is not refused": None,
        "refuses the last slot": "raised an error",
    },
}

"""Answers to assignment 1 by question, each the text that stands in the solution cell."""

UNTIL_CLOSE = """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 4096.0
    while True:
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers[powers > 0] / powers.sum()
        over = -np.sum(weights * np.log(weights)) - entropy
        if abs(over) < CLOSE:
            return middle
        low, high = (middle, high) if over > 0 else (low, middle)
"""

WRONG = {
    "a1-softmax": {
        "divided before subtracting the maximum": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    scores = scores / temperature
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "maximum not subtracted": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp(scores / temperature)
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "always the last axis": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    below = scores - scores.max(axis=-1, keepdims=True)
    powers = np.exp(below / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)
""",
        "multiplied by the temperature": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)) * temperature)
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "no temperature": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "temperature on the weights": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True) / temperature
""",
        "the largest of all scores subtracted": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "axis lost in the sum": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum(axis=axis)
""",
        "something small added to the sum": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("temperature")
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)) / temperature)
    return powers / (powers.sum(axis=axis, keepdims=True) + 1e-4)
""",
        "a bad temperature is not refused": """
def softmax_along(scores, axis, temperature):
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)) / temperature)
    return powers / powers.sum(axis=axis, keepdims=True)
""",
        "a bad temperature is an assertion": """
def softmax_along(scores, axis, temperature):
    assert temperature > 0
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)) / temperature)
    return powers / powers.sum(axis=axis, keepdims=True)
""",
    },
    "a1-half-scores": {
        "divided after the product": """
def half_scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / key.shape[-1] ** 0.5
""",
        "divided after the product, by a float64": """
def half_scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
""",
        "float64 comes back": """
def half_scores(query, key):
    return query.astype(np.float64) @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
""",
        "the root is a float64": """
def half_scores(query, key):
    return query / np.sqrt(key.shape[-1]) @ np.swapaxes(key, -1, -2)
""",
        "float32 comes back": """
def half_scores(query, key):
    scale = np.float32(key.shape[-1] ** -0.5)
    return query * scale @ np.swapaxes(key, -1, -2)
""",
        "divided by d_k": """
def half_scores(query, key):
    return query / key.shape[-1] @ np.swapaxes(key, -1, -2)
""",
        "both divided by the root": """
def half_scores(query, key):
    root = key.shape[-1] ** 0.5
    return (query / root) @ np.swapaxes(key / root, -1, -2)
""",
        "no scale": """
def half_scores(query, key):
    return query @ np.swapaxes(key, -1, -2)
""",
        "always by four": """
def half_scores(query, key):
    return query / 4 @ np.swapaxes(key, -1, -2)
""",
        "clipped at the largest number": """
def half_scores(query, key):
    products = np.clip(query @ np.swapaxes(key, -1, -2), -65504, 65504)
    return (products / key.shape[-1] ** 0.5).astype(np.float16)
""",
        "all axes turned round": """
def half_scores(query, key):
    return query / key.shape[-1] ** 0.5 @ key.T
""",
        "divided by the root of the number of keys": """
def half_scores(query, key):
    return query / key.shape[-2] ** 0.5 @ np.swapaxes(key, -1, -2)
""",
    },
    "a1-zero-key": {
        "no extra key": """
def attention_with_zero_key(query, key, value):
    return scaled_dot_product_attention(query, key, value)[0]
""",
        "one added after the maximum was subtracted": """
def attention_with_zero_key(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / (1 + powers.sum(axis=-1, keepdims=True)) @ value
""",
        "maximum not subtracted": """
def attention_with_zero_key(query, key, value):
    powers = np.exp(query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1]))
    return powers / (1 + powers.sum(axis=-1, keepdims=True)) @ value
""",
        "no scale": """
def attention_with_zero_key(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2)
    largest = np.maximum(scores.max(axis=-1, keepdims=True), 0)
    powers = np.exp(scores - largest)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(-largest)) @ value
""",
        "the value of the extra key is one": """
def attention_with_zero_key(query, key, value):
    more = [(0, 0)] * (key.ndim - 2) + [(0, 1), (0, 0)]
    key, value = np.pad(key, more), np.pad(value, more, constant_values=1.0)
    return scaled_dot_product_attention(query, key, value)[0]
""",
        "the extra key is a mean of the others": """
def attention_with_zero_key(query, key, value):
    key = np.concatenate([key, key.mean(axis=-2, keepdims=True)], axis=-2)
    value = np.concatenate([value, np.zeros_like(value[..., :1, :])], axis=-2)
    return scaled_dot_product_attention(query, key, value)[0]
""",
        "weights instead of outputs": """
def attention_with_zero_key(query, key, value):
    more = [(0, 0)] * (key.ndim - 2) + [(0, 1), (0, 0)]
    return scaled_dot_product_attention(query, np.pad(key, more), np.pad(value, more))[1]
""",
        "for matrices only": """
def attention_with_zero_key(query, key, value):
    key = np.vstack([key.reshape(-1, key.shape[-1]), np.zeros(key.shape[-1])])
    value = np.vstack([value.reshape(-1, value.shape[-1]), np.zeros(value.shape[-1])])
    return scaled_dot_product_attention(query, key, value)[0]
""",
        "the zeros go to the wrong axis": """
def attention_with_zero_key(query, key, value):
    zeros = np.zeros((1, *key.shape[1:]))
    key = np.concatenate([key, zeros])
    value = np.concatenate([value, np.zeros((1, *value.shape[1:]))])
    return scaled_dot_product_attention(query, key, value)[0]
""",
    },
    "a1-key-effects": {
        "the weights": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    return scaled_dot_product_attention(query, key, value)[1]
""",
        "the value set to zero": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    weights = scaled_dot_product_attention(query, key, value)[1]
    return weights * np.linalg.norm(value, axis=-1)[..., None, :]
""",
        "the key set to zero": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(key.shape[-2]):
        changed = key.copy()
        changed[..., gone, :] = 0
        output = scaled_dot_product_attention(query, changed, value)[0]
        moved.append(np.linalg.norm(whole - output, axis=-1))
    return np.stack(moved, axis=-1)
""",
        "the length squared": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(key.shape[-2]):
        k, v = np.delete(key, gone, axis=-2), np.delete(value, gone, axis=-2)
        output = scaled_dot_product_attention(query, k, v)[0]
        moved.append(((whole - output) ** 2).sum(axis=-1))
    return np.stack(moved, axis=-1)
""",
        "the largest change of one number": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(key.shape[-2]):
        k, v = np.delete(key, gone, axis=-2), np.delete(value, gone, axis=-2)
        output = scaled_dot_product_attention(query, k, v)[0]
        moved.append(abs(whole - output).max(axis=-1))
    return np.stack(moved, axis=-1)
""",
        "keys before queries": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(key.shape[-2]):
        k, v = np.delete(key, gone, axis=-2), np.delete(value, gone, axis=-2)
        output = scaled_dot_product_attention(query, k, v)[0]
        moved.append(np.linalg.norm(whole - output, axis=-1))
    return np.stack(moved, axis=-2)
""",
        "everything but this key left out": """
def key_effects(query, key, value):
    if key.shape[-2] < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    return np.linalg.norm(whole[..., None, :] - value[..., None, :, :], axis=-1)
""",
        "for matrices only": """
def key_effects(query, key, value):
    if len(key) < 2:
        raise ValueError("keys")
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(len(key)):
        k, v = np.delete(key, gone, axis=0), np.delete(value, gone, axis=0)
        output = scaled_dot_product_attention(query, k, v)[0]
        moved.append(np.linalg.norm(whole - output, axis=-1))
    return np.stack(moved, axis=-1)
""",
        "a single key is not refused": """
def key_effects(query, key, value):
    whole = scaled_dot_product_attention(query, key, value)[0]
    moved = []
    for gone in range(key.shape[-2]):
        mask = np.arange(key.shape[-2]) != gone
        output = scaled_dot_product_attention(query, key, value, mask=mask)[0]
        moved.append(np.linalg.norm(whole - output, axis=-1))
    return np.stack(moved, axis=-1)
""",
    },
    "a1-scale": {
        "the temperature": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = np.sqrt(low * high)
        powers = np.exp((products - products.max()) / middle)
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            high = middle
        else:
            low = middle
    return middle
""",
        "entropy in bits": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log2(np.where(weights > 0, weights, 1))) > entropy:
            low = middle
        else:
            high = middle
    return middle
""",
        "the interval ends at ten": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            low = middle
        else:
            high = middle
    return middle
""",
        "a weight of 0 spoils the entropy": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 4096.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(weights)) < entropy:
            high = middle
        else:
            low = middle
    return middle
""",
        "maximum not subtracted": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 4096.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * products)
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            low = middle
        else:
            high = middle
    return middle
""",
        "the halves exchanged": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 4096.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            high = middle
        else:
            low = middle
    return middle
""",
        "a grid of a thousand scales": """
def scale_for_entropy(products, entropy):
    if not np.log(np.sum(products == products.max())) < entropy < np.log(len(products)):
        raise ValueError("entropy")
    scales = np.geomspace(1e-4, 1e4, 1000)
    powers = np.exp(scales[:, None] * (products - products.max()))
    weights = powers / powers.sum(axis=1, keepdims=True)
    entropies = -np.sum(weights * np.log(np.where(weights > 0, weights, 1)), axis=1)
    return scales[abs(entropies - entropy).argmin()]
""",
        "stops at four decimals of the entropy": UNTIL_CLOSE.replace("CLOSE", "1e-4"),
        "an impossible entropy is not refused": """
def scale_for_entropy(products, entropy):
    low, high = 0.0, 4096.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            low = middle
        else:
            high = middle
    return middle
""",
        "equal products are overlooked": """
def scale_for_entropy(products, entropy):
    if not 0 < entropy < np.log(len(products)):
        raise ValueError("entropy")
    low, high = 0.0, 4096.0
    for _ in range(100):
        middle = (low + high) / 2
        powers = np.exp(middle * (products - products.max()))
        weights = powers / powers.sum()
        if -np.sum(weights * np.log(np.where(weights > 0, weights, 1))) > entropy:
            low = middle
        else:
            high = middle
    return middle
""",
    },
}

RIGHT = {
    "a1-softmax": {
        "moved axis, in loops": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0:
        raise ValueError("the temperature is not positive")
    rows = np.moveaxis(scores, axis, -1)
    weights = np.empty_like(rows)
    for place in np.ndindex(rows.shape[:-1]):
        row = rows[place].tolist()
        powers = [np.e ** ((score - max(row)) / temperature) for score in row]
        weights[place] = [power / sum(powers) for power in powers]
    return np.moveaxis(weights, -1, axis)
""",
        "through the library": """
from minitransformer.reference import softmax


def softmax_along(scores, axis, temperature):
    if not temperature > 0:
        raise ValueError(temperature)
    return softmax((scores - scores.max(axis, keepdims=True)) / temperature, axis=axis)
""",
        "through logarithms": """
def softmax_along(scores, axis, temperature):
    if temperature <= 0.0:
        raise ValueError("cold")
    colder = (scores - np.expand_dims(np.max(scores, axis), axis)) / temperature
    return np.exp(colder - np.log(np.exp(colder).sum(axis=axis, keepdims=True)))
""",
    },
    "a1-half-scores": {
        "half of the scale on each side": """
def half_scores(query, key):
    scale = np.float16(key.shape[-1] ** -0.25)
    return (query * scale) @ np.swapaxes(key * scale, -1, -2)
""",
        "wider and back": """
def half_scores(query, key):
    wide = query.astype(np.float32) @ np.swapaxes(key, -1, -2).astype(np.float32)
    return (wide / np.sqrt(key.shape[-1])).astype(np.float16)
""",
        "keys scaled, einsum": """
def half_scores(query, key):
    small = (key / np.sqrt(key.shape[-1])).astype("float16")
    return np.einsum("...qd,...kd->...qk", query, small)
""",
    },
    "a1-zero-key": {
        "zeros appended": """
def attention_with_zero_key(query, key, value):
    more = [(0, 0)] * (key.ndim - 2) + [(0, 1), (0, 0)]
    return scaled_dot_product_attention(query, np.pad(key, more), np.pad(value, more))[0]
""",
        "infinity in the sum where all scores are very low": """
def attention_with_zero_key(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - largest)
    return powers / (np.exp(-largest) + powers.sum(axis=-1, keepdims=True)) @ value
""",
        "plain attention, made smaller": """
def attention_with_zero_key(query, key, value):
    output, _ = scaled_dot_product_attention(query, key, value)
    scores = np.einsum("...qd,...kd->...qk", query, key) / key.shape[-1] ** 0.5
    size = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return output * np.exp(size - np.logaddexp(size, 0))
""",
    },
    "a1-key-effects": {
        "from the weights alone": """
def key_effects(query, key, value):
    if key.shape[-2] == 1:
        raise ValueError("a single key cannot be left out")
    output, weights = scaled_dot_product_attention(query, key, value)
    w, v = weights[..., None], value[..., None, :, :]
    without = (output[..., None, :] - w * v) / (1 - w)
    return np.sqrt(((output[..., None, :] - without) ** 2).sum(axis=-1))
""",
        "with masks": """
def key_effects(query, key, value):
    n = key.shape[-2]
    if n < 2:
        raise ValueError("too few keys")
    effects = np.zeros((*query.shape[:-1], n))
    before = scaled_dot_product_attention(query, key, value)[0]
    for j, mask in enumerate(~np.eye(n, dtype=bool)):
        after = scaled_dot_product_attention(query, key, value, mask=mask)[0]
        effects[..., j] = np.linalg.norm(after - before, axis=-1)
    return effects
""",
    },
    "a1-scale": {
        "until the entropy is close enough": UNTIL_CLOSE.replace("CLOSE", "1e-7"),
        "halving the logarithm of the scale": """
def scale_for_entropy(products, entropy):
    n, best = len(products), int((products == products.max()).sum())
    if entropy <= np.log(best) or entropy >= np.log(n):
        raise ValueError("out of reach")
    below = products - products.max()

    def entropy_at(scale):
        weights = np.exp(scale * below)
        total = weights.sum()
        return np.log(total) - scale * (weights * below).sum() / total

    low, high = -40.0, 40.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        if entropy_at(np.exp(middle)) > entropy:
            low = middle
        else:
            high = middle
    return np.exp(low)
""",
        "with the library's softmax": """
from minitransformer.reference import softmax


def scale_for_entropy(products, entropy):
    ties = np.count_nonzero(products == max(products))
    if not (entropy > np.log(ties) and entropy < np.log(products.size)):
        raise ValueError("no such scale")
    step, scale = 1e6, 0.0
    while step > 1e-12:
        weights = softmax((scale + step) * products)
        weights = weights[weights > 0]
        if -(weights * np.log(weights)).sum() > entropy:
            scale += step
        else:
            step /= 2
    return scale
""",
    },
}

# What the writer of a wrong answer is told; "" is any message, None is left to the graded tests.
TOLD = {
    "a1-softmax": {
        "divided before subtracting the maximum": "Divided by a temperature close to 0",
        "maximum not subtracted": "exp overflows",
        "always the last axis": "always runs along the last axis",
        "multiplied by the temperature": "You multiplied by the temperature",
        "no temperature": "The temperature is missing",
        "temperature on the weights": "You divided the weights by the temperature",
        "the largest of all scores subtracted": "You subtracted the largest of all scores",
        "axis lost in the sum": "The sum has lost its axis",
        "something small added to the sum": "something small added",
        "a bad temperature is not refused": None,
        "a bad temperature is an assertion": None,
    },
    "a1-half-scores": {
        "divided after the product": "too large for float16 before you divided",
        "divided after the product, by a float64": "float16 is asked for",
        "float64 comes back": "float16 is asked for",
        "the root is a float64": "float16 is asked for",
        "float32 comes back": "float16 is asked for",
        "divided by d_k": "You divided by d_k in all",
        "both divided by the root": "You divided by d_k in all",
        "no scale": "The scale is missing",
        "always by four": "a width of 16 only",
        "clipped at the largest number": "Clipping hides",
        "all axes turned round": ".T turns round all axes",
        "divided by the root of the number of keys": "the root of the number of keys",
    },
    "a1-zero-key": {
        "no extra key": "attention without the extra key",
        "one added after the maximum was subtracted": "You added 1 for the extra key after",
        "maximum not subtracted": "exp overflows",
        "no scale": "The scale is missing",
        "the value of the extra key is one": "extra value is made of ones",
        "the extra key is a mean of the others": "",
        "weights instead of outputs": "that of the extra key included",
        "for matrices only": "",
        "the zeros go to the wrong axis": "raised an error",
    },
    "a1-key-effects": {
        "the weights": "These are the weights",
        "the value set to zero": "You took the value away and left the key",
        "the key set to zero": "A key of zeros is still a key",
        "the length squared": "the square of the length",
        "the largest change of one number": "",
        "keys before queries": "rows and columns are exchanged",
        "everything but this key left out": "You kept this key alone",
        "for matrices only": "The shape is wrong",
        "a single key is not refused": "A single key is to be a ValueError",
    },
    "a1-scale": {
        "the temperature": "You returned the temperature",
        "entropy in bits": "in bits",
        "the interval ends at ten": "The answer is wrong",
        "a weight of 0 spoils the entropy": "",
        "maximum not subtracted": None,
        "the halves exchanged": "",
        "a grid of a thousand scales": "digits were lost",
        "stops at four decimals of the entropy": "digits were lost",
        "an impossible entropy is not refused": None,
        "equal products are overlooked": None,
    },
}

"""Answers to assignment 3 by question, each the text that stands in the solution cell."""

WRONG = {
    "a3-fused": {
        "reshaped straight to the result": """
def split_fused(fused, n_heads):
    *front, time, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    return fused.reshape(3, *front, n_heads, time, -1)
""",
        "thirds cut, heads reshaped without a swap": """
def split_fused(fused, n_heads):
    *front, time, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    thirds = np.split(fused, 3, axis=-1)
    return np.stack([third.reshape(*front, n_heads, time, -1) for third in thirds])
""",
        "heads before parts": """
def split_fused(fused, n_heads):
    *front, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(*front, n_heads, 3, -1)
    return np.moveaxis(parts, (-2, -3), (0, -3))
""",
        "every n-th column": """
def split_fused(fused, n_heads):
    *front, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(*front, 3, -1, n_heads)
    return np.moveaxis(parts, (-3, -1), (0, -3))
""",
        "the head axis after the time": """
def split_fused(fused, n_heads):
    *front, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    return np.moveaxis(fused.reshape(*front, 3, n_heads, -1), -3, 0)
""",
        "the three parts after the batch": """
def split_fused(fused, n_heads):
    *front, time, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(*front, time, 3, n_heads, -1)
    return np.moveaxis(parts, -4, -2)
""",
        "values before keys": """
def split_fused(fused, n_heads):
    *front, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(*front, 3, n_heads, -1)
    return np.moveaxis(parts, (-3, -2), (0, -3))[[0, 2, 1]]
""",
        "for matrices only": """
def split_fused(fused, n_heads):
    if fused.shape[-1] % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(len(fused), 3, n_heads, -1)
    return parts.transpose(1, 2, 0, 3)
""",
        "columns that are left over are dropped": """
def split_fused(fused, n_heads):
    d_head = fused.shape[-1] // (3 * n_heads)
    cut = [
        [fused[..., (p * n_heads + h) * d_head :][..., :d_head] for h in range(n_heads)]
        for p in range(3)
    ]
    return np.stack([np.stack(heads, axis=-3) for heads in cut])
""",
        "parts of n_heads columns": """
def split_fused(fused, n_heads):
    *front, width = fused.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    parts = fused.reshape(*front, 3, -1, n_heads)
    return np.moveaxis(parts, (-3, -2), (0, -3))
""",
    },
    "a3-layout": {
        "the other way round": """
def to_thirds(weight, n_heads):
    *front, width = weight.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    by_part = weight.reshape(*front, 3, n_heads, -1)
    return np.swapaxes(by_part, -3, -2).reshape(weight.shape)
""",
        "left as it is": """
def to_thirds(weight, n_heads):
    if weight.shape[-1] % (3 * n_heads):
        raise ValueError("columns")
    return weight.copy()
""",
        "no swap": """
def to_thirds(weight, n_heads):
    *front, width = weight.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    return weight.reshape(*front, n_heads, 3, -1).reshape(weight.shape)
""",
        "every third column": """
def to_thirds(weight, n_heads):
    if weight.shape[-1] % (3 * n_heads):
        raise ValueError("columns")
    return np.concatenate([weight[..., part::3] for part in range(3)], axis=-1)
""",
        "number by number within a part": """
def to_thirds(weight, n_heads):
    *front, width = weight.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    by_head = weight.reshape(*front, n_heads, 3, -1)
    return np.moveaxis(by_head, -3, -1).reshape(weight.shape)
""",
        "values first": """
def to_thirds(weight, n_heads):
    *front, width = weight.shape
    if width % (3 * n_heads):
        raise ValueError("columns")
    by_head = weight.reshape(*front, n_heads, 3, -1)[..., ::-1, :]
    return np.swapaxes(by_head, -3, -2).reshape(weight.shape)
""",
        "rows instead of columns": """
def to_thirds(weight, n_heads):
    if weight.shape[-1] % (3 * n_heads):
        raise ValueError("columns")
    flat = np.moveaxis(weight, -1, 0)
    by_head = flat.reshape(n_heads, 3, -1, *flat.shape[1:])
    return np.swapaxes(by_head, 0, 1).reshape(weight.shape)
""",
        "for matrices only": """
def to_thirds(weight, n_heads):
    if weight.shape[1] % (3 * n_heads):
        raise ValueError("columns")
    by_head = weight.reshape(len(weight), n_heads, 3, -1)
    return by_head.transpose(0, 2, 1, 3).reshape(weight.shape)
""",
        "columns that are left over stay behind": """
def to_thirds(weight, n_heads):
    d_head = weight.shape[-1] // (3 * n_heads)
    used = 3 * n_heads * d_head
    by_head = weight[..., :used].reshape(*weight.shape[:-1], n_heads, 3, d_head)
    turned = np.swapaxes(by_head, -3, -2).reshape(*weight.shape[:-1], used)
    return np.concatenate([turned, weight[..., used:]], axis=-1)
""",
    },
    "a3-cross": {
        "one wide head": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    return scaled_dot_product_attention(x @ w_q, keys, values, real[:, None, :])[0] @ w_o
""",
        "padding is read": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values))[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "padding alone is read": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    mask = ~real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "values taken for keys": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    values, keys = np.split(memory @ w_kv, 2, axis=-1)
    mask = real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "keys and values of one head side by side": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(heads(memory @ w_kv), 2, axis=-1)
    z = scaled_dot_product_attention(heads(x @ w_q), keys, values, real[:, None, None])[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "split without a swap": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(len(a), n_heads, a.shape[1], -1)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    mask = real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "merged without a swap": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    mask = real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.reshape(*x.shape[:2], -1) @ w_o
""",
        "scaled by the width of all heads": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    parts, scale = map(heads, (x @ w_q, keys, values)), w_q.shape[1] ** -0.5
    z = scaled_dot_product_attention(*parts, real[:, None, None], scale)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "w_o left out": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    mask = real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1)
""",
        "every n-th column": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return np.moveaxis(a.reshape(*a.shape[:2], -1, n_heads), -1, 1)

    keys, values = np.split(memory @ w_kv, 2, axis=-1)
    mask = real[:, None, None]
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values), mask)[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
        "padding set to zero": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    def heads(a):
        return a.reshape(*a.shape[:2], n_heads, -1).swapaxes(1, 2)

    keys, values = np.split(memory * real[..., None] @ w_kv, 2, axis=-1)
    z = scaled_dot_product_attention(heads(x @ w_q), heads(keys), heads(values))[0]
    return z.swapaxes(1, 2).reshape(*x.shape[:2], -1) @ w_o
""",
    },
    "a3-budget": {
        "the output product is not counted": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (d_model + 2 * d_memory + 3 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return (budget - bias * d_model) // each
""",
        "keys and values as wide as the model": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (4 * d_model + 3 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return (budget - bias * d_model) // each
""",
        "everything as wide as the memory": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (4 * d_memory + 3 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return (budget - bias * d_model) // each
""",
        "no values": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + d_memory + 2 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return (budget - bias * d_model) // each
""",
        "no bias": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * 2 * (d_model + d_memory)
    if budget < each:
        raise ValueError("too little")
    return budget // each
""",
        "a bias without that of the output": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + 2 * d_memory + 3 * bias)
    if budget < each:
        raise ValueError("too little")
    return budget // each
""",
        "the bias of the output for each head": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + 2 * d_memory + 3 * bias) + bias * d_model
    if budget < each:
        raise ValueError("too little")
    return budget // each
""",
        "one head more than fits": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + 2 * d_memory + 3 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return -(-(budget - bias * d_model) // each)
""",
        "less than the budget, not at most": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + 2 * d_memory + 3 * bias)
    if budget < each + bias * d_model:
        raise ValueError("too little")
    return (budget - 1 - bias * d_model) // each
""",
        "no head at all is an answer": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    each = d_head * (2 * d_model + 2 * d_memory + 3 * bias)
    return max(0, (budget - bias * d_model) // each)
""",
    },
    "a3-match": {
        "queries alone compared": """
def match_heads(w_q, w_k, other_q, other_k):
    apart = abs(w_q[:, None] - other_q).max(axis=(2, 3))
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
        "the nearest, however far": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    return abs(mine[:, None] - theirs).max(axis=(2, 3)).argmin(axis=1)
""",
        "the inverse order": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    apart = abs(mine[:, None] - theirs).max(axis=(2, 3))
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=0)
""",
        "the product within a head's coordinates": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q.swapaxes(1, 2) @ w_k, other_q.swapaxes(1, 2) @ other_k
    apart = abs(mine[:, None] - theirs).max(axis=(2, 3))
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
        "the size of the product alone": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    sizes = np.linalg.norm(mine, axis=(1, 2)), np.linalg.norm(theirs, axis=(1, 2))
    apart = abs(sizes[0][:, None] - sizes[1])
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
        "up to exchanging queries and keys": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    mine, theirs = mine + mine.swapaxes(1, 2), theirs + theirs.swapaxes(1, 2)
    apart = abs(mine[:, None] - theirs).max(axis=(2, 3))
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
        "only equal numbers count": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    equal = (mine[:, None] == theirs).all(axis=(2, 3))
    if not equal.any(axis=1).all():
        raise ValueError("no partner")
    return equal.argmax(axis=1)
""",
        "far too tolerant": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    apart = abs(mine[:, None] - theirs).max(axis=(2, 3))
    if (apart.min(axis=1) > 0.1).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
        "the heads as they stand": """
def match_heads(w_q, w_k, other_q, other_k):
    return np.arange(len(w_q))
""",
        "up to a factor": """
def match_heads(w_q, w_k, other_q, other_k):
    mine, theirs = w_q @ w_k.swapaxes(1, 2), other_q @ other_k.swapaxes(1, 2)
    mine = mine / np.linalg.norm(mine, axis=(1, 2), keepdims=True)
    theirs = theirs / np.linalg.norm(theirs, axis=(1, 2), keepdims=True)
    apart = abs(mine[:, None] - theirs).max(axis=(2, 3))
    if (apart.min(axis=1) > 1e-6).any():
        raise ValueError("no partner")
    return apart.argmin(axis=1)
""",
    },
}

RIGHT = {
    "a3-fused": {
        "cut in loops": """
def split_fused(fused, n_heads):
    d_head, left = divmod(fused.shape[-1], 3 * n_heads)
    if left:
        raise ValueError("columns are left over")
    cut = np.split(fused, 3 * n_heads, axis=-1)
    parts = [cut[part * n_heads : (part + 1) * n_heads] for part in range(3)]
    return np.stack([np.stack(heads, axis=-3) for heads in parts])
""",
        "thirds, then swapped": """
def split_fused(fused, n_heads):
    if fused.shape[-1] % (3 * n_heads) != 0:
        raise ValueError(fused.shape)
    thirds = np.split(fused, 3, axis=-1)
    shape = (*fused.shape[:-1], n_heads, fused.shape[-1] // 3 // n_heads)
    return np.array([np.swapaxes(third.reshape(shape), -2, -3) for third in thirds])
""",
    },
    "a3-layout": {
        "a list of columns": """
def to_thirds(weight, n_heads):
    d_head, left = divmod(weight.shape[-1], 3 * n_heads)
    if left:
        raise ValueError("columns are left over")
    order = [
        (head * 3 + part) * d_head + number
        for part in range(3)
        for head in range(n_heads)
        for number in range(d_head)
    ]
    return weight[..., order]
""",
        "split and joined": """
def to_thirds(weight, n_heads):
    if weight.shape[-1] % (3 * n_heads):
        raise ValueError(weight.shape)
    pieces = np.split(weight, 3 * n_heads, axis=-1)
    return np.concatenate(pieces[0::3] + pieces[1::3] + pieces[2::3], axis=-1)
""",
    },
    "a3-cross": {
        "a loop over heads": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    w_k, w_v = np.split(w_kv, 2, axis=1)
    output = 0
    columns = (np.split(w, n_heads, axis=1) for w in (w_q, w_k, w_v))
    for q, k, v, o in zip(*columns, np.split(w_o, n_heads), strict=True):
        mask = real[:, None]
        output = output + scaled_dot_product_attention(x @ q, memory @ k, memory @ v, mask)[0] @ o
    return output
""",
        "einsum": """
def cross_attention(x, memory, real, w_q, w_kv, w_o, n_heads):
    query = np.einsum("btc,chd->bhtd", x, w_q.reshape(len(w_q), n_heads, -1))
    fused = w_kv.reshape(len(w_kv), 2, n_heads, -1)
    key, value = np.einsum("bsc,cphd->pbhsd", memory, fused)
    scores = np.einsum("bhtd,bhsd->bhts", query, key) / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * real[:, None, None]
    mixed = np.einsum("bhts,bhsd->bhtd", powers, value) / powers.sum(axis=-1, keepdims=True)
    return np.einsum("bhtd,hdm->btm", mixed, w_o.reshape(n_heads, -1, w_o.shape[1]))
""",
    },
    "a3-budget": {
        "counted up": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    def size(n_heads):
        width = n_heads * d_head
        products = [(d_model, width), (d_memory, width), (d_memory, width), (width, d_model)]
        return sum((rows + (1 if bias else 0)) * columns for rows, columns in products)

    n_heads = 0
    while size(n_heads + 1) <= budget:
        n_heads += 1
    if n_heads == 0:
        raise ValueError("not one head")
    return n_heads
""",
        "two formulas": """
def most_heads(budget, d_model, d_memory, d_head, bias):
    if bias:
        fitting = (budget - d_model) // (2 * d_head * (d_model + d_memory) + 3 * d_head)
    else:
        fitting = budget // (2 * d_head * (d_model + d_memory))
    if fitting <= 0:
        raise ValueError(budget)
    return int(fitting)
""",
    },
    "a3-match": {
        "in loops": """
def match_heads(w_q, w_k, other_q, other_k):
    partners = []
    for q, k in zip(w_q, w_k, strict=True):
        found = [
            number
            for number, (oq, ok) in enumerate(zip(other_q, other_k, strict=True))
            if np.allclose(q @ k.T, oq @ ok.T, rtol=0, atol=1e-6)
        ]
        if not found:
            raise ValueError("a head has no partner")
        partners.append(found[0])
    return np.array(partners)
""",
        "einsum": """
def match_heads(w_q, w_k, other_q, other_k):
    mine = np.einsum("hid,hjd->hij", w_q, w_k)
    theirs = np.einsum("hid,hjd->hij", other_q, other_k)
    same = (abs(mine[:, None] - theirs[None]) <= 1e-6).all(axis=(-1, -2))
    if same.sum() != len(w_q):
        raise ValueError("heads and partners do not go together")
    return np.nonzero(same)[1]
""",
    },
}

# What the writer of a wrong answer is told; "" is any message, None is left to the graded tests.
TOLD = {
    "a3-fused": {
        "reshaped straight to the result": "You reshaped straight to the result",
        "thirds cut, heads reshaped without a swap": "You reshaped straight to (head, token",
        "heads before parts": "You read the columns head by head",
        "every n-th column": "every n-th column",
        "the head axis after the time": "The head axis comes after the tokens",
        "the three parts after the batch": "comes first, before the batch",
        "values before keys": "Keys and values are exchanged",
        "for matrices only": "The shape is wrong",
        "columns that are left over are dropped": None,
        "parts of n_heads columns": "parts of n_heads columns",
    },
    "a3-layout": {
        "the other way round": "the other way round",
        "left as it is": "The columns stand where they stood",
        "no swap": "The columns stand where they stood",
        "every third column": "You took every third column",
        "number by number within a part": "The heads are mixed within a part",
        "values first": "The values come first here",
        "rows instead of columns": "",
        "for matrices only": "raised an error",
        "columns that are left over stay behind": "10 columns for 2 heads is to be a ValueError",
    },
    "a3-cross": {
        "one wide head": "one wide head",
        "padding is read": "The padding is read",
        "padding alone is read": "the wrong way round",
        "values taken for keys": "yours are exchanged",
        "keys and values of one head side by side": "from each head's columns in turn",
        "split without a swap": "You reshaped straight to (head, token",
        "merged without a swap": "You joined the heads by a reshape alone",
        "scaled by the width of all heads": "the width of all heads together",
        "w_o left out": "w_o is missing",
        "every n-th column": "every n-th column",
        "padding set to zero": "Padding of zeros is still read",
    },
    "a3-budget": {
        "the output product is not counted": "The output product is not counted",
        "keys and values as wide as the model": "They are made from memory",
        "everything as wide as the memory": "You took everything to be as wide as memory",
        "no values": "Keys or values are not counted",
        "no bias": "The bias is not counted",
        "a bias without that of the output": "The bias of the output is not counted",
        "the bias of the output for each head": "once a head",
        "one head more than fits": "one head too many",
        "less than the budget, not at most": "At most budget",
        "no head at all is an answer": None,
    },
    "a3-match": {
        "queries alone compared": "raised an error",
        "the nearest, however far": None,
        "the inverse order": "where the heads of the other file come from",
        "the product within a head's coordinates": "raised an error",
        "the size of the product alone": None,
        "up to exchanging queries and keys": None,
        "only equal numbers count": "raised an error",
        "far too tolerant": None,
        "the heads as they stand": "You left the heads in their order",
        "up to a factor": None,
    },
}

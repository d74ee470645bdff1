"""Assignment 6: wrong answers, what the check says to them, and right ones written otherwise."""

EFFECTS = """\
def head_effects(z, w_o, labels):
    n_texts, n_heads, n_places, d_head = z.shape
    real = labels >= 0

    def loss(z):
        total = 0
        for text in range(n_texts):
            for place in range(n_places):
                if real[text, place]:
                    logits = z[text, :, place].reshape(-1) @ w_o
                    total += np.log(np.exp(logits).sum()) - logits[labels[text, place]]
        return total / real.sum()

    rises = np.zeros((2, n_heads))
    for head in range(n_heads):
        mean = z[:, head][real].mean(axis=0)
        for row, instead in ((0, 0.0), (1, mean)):
            changed = z.copy()
            changed[:, head] = instead
            rises[row, head] = loss(changed) - loss(z)
    return rises"""

CONTROLS = """\
def against_controls(layers, shares, effects, head, tolerance):
    found = []
    for other in range(len(layers)):
        near = abs(shares[other] - shares[head]) <= tolerance
        if other != head and layers[other] == layers[head] and near:
            found.append(effects[other])
    if not found:
        raise ValueError("no control")
    as_large = [effect for effect in found if effect >= effects[head]]
    return len(found), effects[head] - sum(found) / len(found), len(as_large) / len(found)"""

AS_ARRAY = (
    "return len(found), effects[head] - sum(found) / len(found), len(as_large) / len(found)",
    "return np.array(\n"
    "        [len(found), effects[head] - np.mean(found), len(as_large) / len(found)]\n"
    "    )",
)

TESTED = """\
def weight_test(weights, effects, orders):
    def ranked(x):
        x = np.asarray(x)
        return np.array([np.flatnonzero(np.sort(x) == one).mean() for one in x])

    def agreement(one, other):
        if np.ptp(one) == 0 or np.ptp(other) == 0:
            raise ValueError("no order")
        return np.corrcoef(ranked(one), ranked(other))[0, 1]

    rho = agreement(weights, effects)
    as_large = sum(agreement(weights, effects[order]) > rho - 1e-9 for order in orders)
    return np.array([rho, (as_large + 1) / (len(orders) + 1)])"""


def changed(source, *replacements):
    """A right answer with a mistake in it."""
    for old, new in replacements:
        assert source.count(old) == 1, (old, source)
        source = source.replace(old, new)
    return source


CONTROLS = changed(CONTROLS, AS_ARRAY)

WRONG = {
    "a6-effects": {
        "mean with padding": changed(
            EFFECTS, ("z[:, head][real].mean(axis=0)", "z[:, head].mean(axis=(0, 1))")
        ),
        "mean of each text": changed(
            EFFECTS, ("z[:, head][real].mean(axis=0)", "z[:, head].mean(axis=1, keepdims=True)")
        ),
        "mean of each place": changed(
            EFFECTS, ("z[:, head][real].mean(axis=0)", "z[:, head].mean(axis=0)")
        ),
        "padding counts": changed(EFFECTS, ("real = labels >= 0", "real = labels >= -1")),
        "no difference": changed(EFFECTS, ("loss(changed) - loss(z)", "loss(changed)")),
        "what it brings down": changed(
            EFFECTS, ("loss(changed) - loss(z)", "loss(z) - loss(changed)")
        ),
        "rows exchanged": changed(EFFECTS, ("(0, 0.0), (1, mean)", "(1, 0.0), (0, mean)")),
        "zeros twice": changed(EFFECTS, ("(1, mean)", "(1, 0.0)")),
        "only that head": changed(
            EFFECTS,
            (
                "mean = z[:, head][real].mean(axis=0)",
                "others = np.arange(n_heads) != head\n"
                "        mean = np.swapaxes(z, 1, 2)[real].mean(axis=0)[others, None]",
            ),
            ("changed[:, head] = instead", "changed[:, others] = instead"),
        ),
        "columns mixed": changed(
            EFFECTS, ("z[text, :, place].reshape(-1)", "z[text, :, place].T.reshape(-1)")
        ),
        "a sum": changed(EFFECTS, ("total / real.sum()", "total")),
        "mean of texts": changed(
            EFFECTS,
            ("total += np.log", "total += 1 / real[text].sum() * (np.log"),
            ("- logits[labels[text, place]]", "- logits[labels[text, place]])"),
            ("total / real.sum()", "total / n_texts"),
        ),
    },
    "a6-controls": {
        "itself": changed(CONTROLS, ("other != head and ", "")),
        "any layer": changed(CONTROLS, (" and layers[other] == layers[head]", "")),
        "any share": changed(CONTROLS, (" and near", "")),
        "alike in effect": changed(
            CONTROLS, ("abs(shares[other] - shares[head])", "abs(effects[other] - effects[head])")
        ),
        "smaller shares": changed(
            CONTROLS, ("abs(shares[other] - shares[head])", "shares[other] - shares[head]")
        ),
        "not at the limit": changed(CONTROLS, ("<= tolerance", "< tolerance")),
        "controls less head": changed(
            CONTROLS, ("effects[head] - np.mean(found)", "np.mean(found) - effects[head]")
        ),
        "median": changed(CONTROLS, ("np.mean(found)", "np.median(found)")),
        "effect alone": changed(CONTROLS, (" - np.mean(found)", "")),
        "beaten": changed(CONTROLS, ("effect >= effects[head]", "effect < effects[head]")),
        "larger alone": changed(CONTROLS, ("effect >= effects[head]", "effect > effects[head]")),
        "by size": changed(
            CONTROLS, ("effect >= effects[head]", "abs(effect) >= abs(effects[head])")
        ),
        "a count": changed(CONTROLS, ("len(as_large) / len(found)]", "len(as_large)]")),
        "nothing to compare": changed(
            CONTROLS,
            ('raise ValueError("no control")', "return np.array([0.0, effects[head], 0.0])"),
        ),
        "not a number": changed(
            CONTROLS, ('raise ValueError("no control")', "return np.full(3, np.nan)")
        ),
    },
    "a6-weights": {
        "no ranks": changed(
            TESTED, ("np.corrcoef(ranked(one), ranked(other))", "np.corrcoef(one, other)")
        ),
        "ties by place": changed(
            TESTED,
            (
                "return np.array([np.flatnonzero(np.sort(x) == one).mean() for one in x])",
                'return np.argsort(np.argsort(x, kind="stable"), kind="stable")',
            ),
        ),
        "lowest rank of ties": changed(TESTED, ("== one).mean()", "== one).min()")),
        "dense ranks": changed(TESTED, ("np.sort(x)", "np.unique(x)")),
        "no one": changed(TESTED, ("(as_large + 1) / (len(orders) + 1)", "as_large / len(orders)")),
        "larger alone": changed(TESTED, ("> rho - 1e-9", "> rho + 1e-9")),
        "both directions": changed(
            TESTED,
            (
                "agreement(weights, effects[order]) >",
                "abs(agreement(weights, effects[order])) > abs(rho) - rho +",
            ),
        ),
        "smaller": changed(TESTED, ("> rho - 1e-9", "<= rho + 1e-9")),
        "both shuffled": changed(
            TESTED,
            ("agreement(weights, effects[order])", "agreement(weights[order], effects[order])"),
        ),
        "against itself": changed(
            TESTED, ("agreement(weights, effects[order])", "agreement(effects, effects[order])")
        ),
        "squared": changed(TESTED, ("np.array([rho,", "np.array([rho**2,")),
        "nothing to rank": changed(TESTED, ('raise ValueError("no order")', "return 0.0")),
        "largest first": changed(
            TESTED,
            ("np.corrcoef(ranked(one), ranked(other))", "-np.corrcoef(ranked(one), ranked(other))"),
        ),
    },
}

# What the check says to a wrong answer; one that is not here passes it, and only the tests tell.
TOLD = {
    "a6-effects": {
        "mean with padding": "padding too",
        "mean of each text": "each text",
        "mean of each place": "each place",
        "padding counts": "label -1",
        "no difference": "the loss itself",
        "what it brings down": "other sign",
        "rows exchanged": "rows are exchanged",
        "zeros twice": "zeros in both rows",
        "only that head": "the only one left",
        "columns mixed": "head by head",
        "a sum": "",
        "mean of texts": "",
    },
    "a6-controls": {
        "itself": "its own control",
        "any layer": "other layers",
        "any share": "whatever they look at",
        "alike in effect": "by their effects",
        "smaller shares": "much smaller share",
        "not at the limit": None,
        "controls less head": "other sign",
        "median": "median",
        "effect alone": "the effect itself",
        "beaten": "smaller effect",
        "larger alone": "just as large",
        "by size": "without their signs",
        "a count": "",
        "nothing to compare": None,
        "not a number": None,
    },
    "a6-weights": {
        "no ranks": "numbers themselves",
        "ties by place": "share their ranks",
        "lowest rank of ties": "lowest rank",
        "dense ranks": "",
        "no one": "1 is missing",
        "larger alone": "just as large",
        "both directions": "both directions",
        "smaller": "",
        "both shuffled": "both",
        "against itself": "",
        "squared": "",
        "nothing to rank": None,
        "largest first": "",
    },
}

RIGHT = {
    "a6-effects": {
        "in loops": EFFECTS,
        "with torch": """\\
import torch


def head_effects(z, w_o, labels):
    z, w_o, labels = (torch.tensor(np.array(part)) for part in (z, w_o, labels))

    def loss(z):
        logits = z.transpose(1, 2).flatten(2) @ w_o
        return torch.nn.functional.cross_entropy(logits.mT, labels, ignore_index=-1)

    rows = []
    for instead in (torch.zeros_like(z[0, :, 0]), z.movedim(1, 2)[labels != -1].mean(0)):
        rows.append([])
        for head in range(z.shape[1]):
            other = z.clone()
            other[:, head] = instead[head]
            rows[-1].append(loss(other) - loss(z))
    return torch.tensor(rows)""",
    },
    "a6-controls": {
        "in a loop": CONTROLS,
        "by numbers": """\\
def against_controls(layers, shares, effects, head, tolerance):
    others = np.delete(np.arange(len(layers)), head)
    others = others[layers[others] == layers[head]]
    others = others[abs(shares[others] - shares[head]) <= tolerance]
    if others.size == 0:
        raise ValueError("no head to compare with")
    less = effects[head] - effects[others]
    return np.array([others.size, less.mean(), np.mean(less <= 0)])""",
    },
    "a6-weights": {
        "one by one": TESTED,
        "by pairs": """\\
def weight_test(weights, effects, orders):
    def signs(x):
        return np.sign(x[:, None] - x).sum(axis=1)

    one, other = signs(weights), signs(effects)
    length = np.sqrt((one @ one) * (other @ other))
    if length == 0:
        raise ValueError("nothing to rank")
    rho = one @ other / length
    chance = np.array([one @ other[order] for order in orders]) / length
    return np.array([rho, np.mean([True, *(chance + 1e-9 >= rho)])])""",
    },
}

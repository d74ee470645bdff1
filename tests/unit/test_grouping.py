"""Grouping and cache: Python against the library, and the module's formulas against Python's."""

import numpy as np
import pytest
import torch
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer import costs
from minitransformer.attention import scaled_dot_product_attention
from minitransformer.cache import KVCache
from minitransformer.widgets import GroupingAndCache, module_source

SOURCE = module_source(GroupingAndCache)
NAMES = ("n_heads", "n_kv_heads", "n_layers", "d_head", "length", "batch", "bytes_per_number")
SIZES = [
    (6, 2, 3, 5, 7, 4, 2),
    (9, 3, 30, 64, 8192, 1, 4),
    (128, 8, 126, 128, 2**20, 1024, 2),  # above 2 ** 53 bytes
    (12, 12, 1, 1, 1, 2, 1),
    (40, 1, 2, 80, 100, 3, 2),
]
CASES = [dict(zip(NAMES, sizes, strict=True)) for sizes in SIZES]


def check_parity(source):
    answers = run_node(source, [("grouping", [case]) for case in CASES])
    for case, answer in zip(CASES, answers, strict=True):
        assert "error" not in answer, answer
        widget, found = GroupingAndCache(**case), answer["value"]
        assert found["reads"] == widget.reads.tolist()
        for row, expected in zip(found["rows"], widget.comparison, strict=True):
            assert row["name"] == expected[0]
            np.testing.assert_allclose(list(row.values())[1:], expected[1:], rtol=1e-12)


def test_the_module_computes_what_python_computes():
    check_parity(SOURCE)


FAULTS = {
    "keys without values": ("return 2 * n_layers", "return n_layers"),
    "query heads cached": ("n_layers, n, d_head,", "n_layers, n_heads, d_head,"),
    "the order of tile": ("Math.floor(head / size)", "head % n_kv_heads"),
    "batch forgotten": ("* bytes * batch", "* bytes"),
    "what is left, not what is saved": ("saved: 1 - n / n_heads", "saved: n / n_heads"),
    "all texts in one token": ("bytes(n, 1, 1)", "bytes(n, 1, batch)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(6, 2), (12, 3), (5, 5), (7, 1)])
def test_query_heads_read_the_kv_heads_that_attention_gives_them(n_heads, n_kv_heads):
    query = torch.randn(1, n_heads, 2, 3)
    key = torch.randn(1, n_kv_heads, 4, 3)
    value = torch.arange(n_kv_heads).float()[None, :, None, None].expand(1, -1, 4, 1)
    output = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    read = output[0, :, 0, 0].round().int().tolist()  # each KV head's values are its number
    assert GroupingAndCache(n_heads=n_heads, n_kv_heads=n_kv_heads).reads.tolist() == read


def test_the_cache_weighs_what_the_library_s_does():
    dtypes = {4: torch.float32, 2: torch.bfloat16, 1: torch.int8}
    for case in CASES[:1]:
        for bytes_per_number, dtype in dtypes.items():
            widget = GroupingAndCache(**{**case, "bytes_per_number": bytes_per_number})
            for _, n_kv_heads, token, whole, _ in widget.comparison:
                sizes = (
                    case["n_layers"],
                    case["batch"],
                    n_kv_heads,
                    case["length"],
                    case["d_head"],
                )
                cache = KVCache(*sizes, dtype=dtype)
                assert (cache.bytes_per_token, cache.bytes) == (token, whole)


@pytest.mark.parametrize(
    ("name", "saved"),
    [("SmolLM2-135M", 2 / 3), ("Mistral 7B", 0.75), ("Llama 2 70B", 0.875), ("GPT-3 175B", 0)],
)
def test_what_the_published_models_save(name, saved):
    sizes = next(sizes for sizes in costs.PUBLISHED if sizes.name == name)
    widget = GroupingAndCache(n_heads=sizes.n_heads, n_kv_heads=sizes.n_kv_heads)
    assert widget.comparison[1][-1] == pytest.approx(saved)


def check_told(source, cases):
    answers = run_node(source, [(name, [x]) for name, x, _ in cases])
    assert [answer.get("value") for answer in answers] == [text for *_, text in cases]


def test_large_numbers_are_told_in_words():
    check_told(
        SOURCE,
        [
            ("amount", 0, "0"),
            ("amount", 999, "999"),
            ("amount", 12288, "12,288"),
            ("amount", 999_999, "999,999"),
            ("amount", 1_048_576, "1.05 million"),
            ("amount", 999_999_999, "1 billion"),
            ("amount", 1e10, "10 billion"),
            ("amount", 1.59e16, "15.9 quadrillion"),
            ("amount", 1.59e18, "1.59 × 10¹⁸"),
            ("bytesText", 0, "0 bytes"),
            ("bytesText", 999, "999 bytes"),
            ("bytesText", 1000, "1 kB"),
            ("bytesText", 999_999, "1 MB"),
            ("bytesText", 536_870_912, "537 MB"),
            ("bytesText", 2.5e15, "2.5 PB"),
            ("bytesText", 1.234e22, "12300 EB"),
        ],
    )


BAD = {
    "no head": ({"n_heads": 0}, "n_heads must be a whole number from 1 to 128, got 0"),
    "too many heads": ({"n_heads": 256}, "n_heads must be a whole number from 1 to 128, got 256"),
    "no divisor": ({"n_kv_heads": 5}, "n_heads 12 must be a multiple of n_kv_heads 5"),
    "heads that KV heads do not divide": (
        {"n_heads": 10},
        "n_heads 10 must be a multiple of n_kv_heads 4",
    ),
    "half a layer": ({"n_layers": 0.5}, "n_layers must be a whole number from 1 to 128, got 0.5"),
    "no width": ({"d_head": 0}, "d_head must be a whole number from 1 to 512, got 0"),
    "an endless text": ({"length": 2**21}, "length must be a whole number from 1 to 1048576"),
    "batch as text": ({"batch": "2"}, "batch must be a whole number from 1 to 1024, got '2'"),
    "3 bytes": ({"bytes_per_number": 3}, "bytes_per_number"),
    "models as text": ({"models": "GPT"}, "models must be a list of .*, got None"),
    "a model without source": (
        {"models": [["mine", 1, 2, 1, 4, " "]]},
        "name and source must be strings that are not blank, got 'mine' and ' '",
    ),
    "a model cut short": ({"models": [["mine", 1, 2]]}, r"source\], got \['mine', 1, 2\]"),
    "a model of no layers": (
        {"models": [["mine", 0, 2, 1, 4, "here"]]},
        "n_layers of 'mine' must be a whole number from 1 to 128, got 0",
    ),
    "a model that does not fit": (
        {"models": [["mine", 1, 4, 3, 4, "here"]]},
        "n_heads 4 of 'mine' must be a multiple of its n_kv_heads 3",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(GroupingAndCache(n_heads=12, n_kv_heads=4), *BAD[kind])


def test_heads_and_groups_may_change_together():
    widget = GroupingAndCache(n_heads=12, n_kv_heads=4)
    with widget.hold_trait_notifications():
        widget.n_heads, widget.n_kv_heads = 10, 5
    assert widget.reads.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_stored_table_reads_without_the_widget():
    widget = GroupingAndCache(n_heads=32, n_kv_heads=8)
    data, _ = widget._repr_mimebundle_()
    assert "<td>8</td><td>131,072</td><td>536,870,912</td><td>75.0 %</td>" in data["text/html"]
    assert "n_kv_heads=8" in data["text/plain"]

"""SmolLM2: greedy decoding against transformers, and what loading it costs.

Both write the same tokens from the same weights and take turns within each round, so that a slow
moment of the machine hits them alike; the median over the rounds counts. transformers is called in
two ways, by ``generate`` as its users do and by a bare loop around the model; the faster counts.
"""

import statistics
import subprocess
import sys
import time
import warnings

import torch

from benchmarks.bars import Reading
from minitransformer.generation import KVCache, generate, lay_out_for_decoding
from minitransformer.pretrained import load_pretrained

PROMPT, NEW = "Once upon a time, a small robot", 24

# Runs in a process of its own. VmHWM is the most it ever held, mapped pages of files included;
# ru_maxrss would begin with what its parent held.
_LOAD = """
import re, time
from pathlib import Path
import torch
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
if {load}:
    from minitransformer.pretrained import load_pretrained
    start = time.perf_counter()
    model, _ = load_pretrained("smollm2")
    seconds = time.perf_counter() - start
    with torch.no_grad():  # touches every weight
        model(torch.tensor([[504, 3575, 282, 4649, 314]]))
    print(seconds, peak(), sum(weight.nbytes for weight in model.parameters()))
else:
    with torch.no_grad():
        torch.randn(5, 576) @ torch.randn(576, 576)
    print(0.0, peak(), 0)
"""


def transformers_model(model):
    """The same model in transformers, sharing nothing but the numbers."""
    import transformers

    transformers.logging.set_verbosity_error()
    config = model.config
    theirs = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.n_layers,
            num_attention_heads=config.n_heads,
            num_key_value_heads=config.n_kv_heads,
            max_position_embeddings=config.max_length,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_base},
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=None,
            pad_token_id=2,
        )
    )
    with torch.no_grad():
        theirs.model.embed_tokens.weight.copy_(model.embed.weight)
        theirs.model.norm.weight.copy_(model.final_norm.weight)
        for block, layer in zip(model.blocks, theirs.model.layers, strict=True):
            attention = layer.self_attn
            projections = attention.q_proj, attention.k_proj, attention.v_proj
            parts = block.attn.qkv_proj.weight.split(block.attn.widths)
            for linear, part in zip(projections, parts, strict=True):
                linear.weight.copy_(part)
            for linear, ours in (
                (attention.o_proj, block.attn.o_proj),
                (layer.mlp.gate_proj, block.mlp.gate_proj),
                (layer.mlp.up_proj, block.mlp.up_proj),
                (layer.mlp.down_proj, block.mlp.down_proj),
                (layer.input_layernorm, block.ln1),
                (layer.post_attention_layernorm, block.ln2),
            ):
                linear.weight.copy_(ours.weight)
    return theirs.eval()


@torch.no_grad()
def bare_loop(theirs, tokens):
    """Greedy decoding around transformers' model, without what generate() adds."""
    read, cache = tokens, None
    for _ in range(NEW):
        output = theirs(read, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, read = output.past_key_values, output.logits[:, -1:].argmax(-1)
        tokens = torch.cat([tokens, read], dim=1)
    return tokens


def decoders(model, theirs, tokens):
    """What takes turns: name and function, each returns all tokens."""
    mask = torch.ones_like(tokens)
    return {
        "ours": lambda: generate(model, tokens, NEW),
        "transformers, generate": lambda: theirs.generate(
            tokens, attention_mask=mask, max_new_tokens=NEW, do_sample=False
        ),
        "transformers, bare loop": lambda: bare_loop(theirs, tokens),
    }


def tokens_per_second(functions, rounds):
    """Medians of new tokens a second, all functions taking turns."""
    speeds = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name in list(functions)[:: 1 if turn % 2 else -1]:
            start = time.perf_counter()
            functions[name]()
            if turn:  # the first round warms up
                speeds[name].append(NEW / (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in speeds.items()}


def decoding(rounds=9):
    """Measure: {dtype: {name: tokens per second}}."""
    model, tokenizer = load_pretrained("smollm2")
    tokens = torch.tensor([tokenizer.encode(PROMPT).ids])
    theirs, found = transformers_model(model), {}
    warnings.simplefilter("ignore", FutureWarning)  # newer versions rename past_key_values
    for dtype in (torch.float32, torch.bfloat16):
        functions = decoders(lay_out_for_decoding(model.to(dtype)), theirs.to(dtype), tokens)
        if dtype == torch.float32:  # in bfloat16 rounding lets the two part ways
            written = [function() for function in functions.values()]
            if not all(torch.equal(written[0], other) for other in written[1:]):
                raise AssertionError("the two write different tokens")
        found[str(dtype).removeprefix("torch.")] = tokens_per_second(functions, rounds)
    return found


def loading():
    """Measure (on Linux): seconds of a later load, peak memory beyond torch's own, the weights'."""
    load_pretrained("smollm2")  # the first time dequantises
    results = []
    for load in (False, True):
        program = [sys.executable, "-c", _LOAD.format(load=load)]
        output = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        results.append([float(number) for number in output.split()])
    (_, empty, _), (seconds, peak, weights) = results
    return seconds, peak - empty, weights


def cache_bytes():
    """Bytes a token of the cache: measured on its tensors, and by the formula."""
    model, _ = load_pretrained("smollm2")
    config = model.config
    cache = KVCache.for_model(model, batch=1, max_length=128)
    return cache.bytes / 128, 2 * config.n_layers * config.n_kv_heads * config.d_head * 4


def main():
    """Measure and print the tables; what the bars are held to."""
    print(f"SmolLM2-135M, greedy, {NEW} new tokens, {torch.get_num_threads()} thread(s)")
    print(f"  {'':26} {'float32':>14} {'bfloat16':>14}")
    speeds = decoding()
    names = list(speeds["float32"])
    for name in names:
        row = " ".join(f"{speeds[dtype][name]:8.1f} tok/s" for dtype in speeds)
        print(f"  {name:26} {row}")
    ratios = {
        dtype: speed["ours"] / max(speed[name] for name in names[1:])
        for dtype, speed in speeds.items()
    }
    print(f"  {'ours / the faster':26} " + " ".join(f"{ratio:14.2f}" for ratio in ratios.values()))
    print("  bar: at least 1.1")
    seconds, peak, weights = loading()
    print(f"  load after the first time   {seconds:6.2f} s     bar: at most 3")
    share = (
        f"{peak / 2**20:6.0f} MiB = {peak / weights:.2f} × the weights' {weights / 2**20:.0f} MiB"
    )
    print(f"  peak memory beyond torch's {share}     bar: at most 1.2")
    measured, formula = cache_bytes()
    print(f"  cache, float32: {measured:.0f} bytes a token, by the formula {formula}")
    return [
        *(
            Reading(f"decoding in {dtype}, ours / the faster other", ratio, 1.1, at_least=True)
            for dtype, ratio in ratios.items()
        ),
        Reading("seconds of a later load", seconds, 3),
        Reading("peak memory / the weights'", peak / weights, 1.2),
        Reading("bytes a token in the cache beyond the formula", abs(measured - formula), 0),
    ]


if __name__ == "__main__":
    main()

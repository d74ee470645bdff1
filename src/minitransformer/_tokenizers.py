"""Tokenizers of real models, from the files beside their weights or inside them."""

from ._needed import needed

_CONTROL = 3  # GGUF's type of a token that no text spells


def _library():
    return needed("tokenizers", "tokenizers need the package tokenizers", "pip install tokenizers")


def tokenizer_from_json(path, vocab_size):
    """The tokenizer of a ``tokenizer.json``, with neither padding nor truncation switched on."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    try:
        tokenizer = _library().Tokenizer.from_file(str(path))
    except ModuleNotFoundError:
        raise
    except Exception as error:  # the library raises no narrower class
        raise ValueError(f"{path} is not a tokenizer: {error}") from None
    tokenizer.no_padding()  # MiniLM's file asks for 128 tokens, always
    tokenizer.no_truncation()
    return _fitting(path, tokenizer, vocab_size)


def tokenizer_from_gguf(path, metadata, vocab_size):
    """The byte-level BPE that a GGUF file of SmolLM2's kind describes."""
    kind = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if kind != ("gpt2", "smollm"):
        raise ValueError(f"{path}: its tokenizer is {kind}; ('gpt2', 'smollm') is known here")
    tokens, kinds, merges = (
        metadata.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type", "merges")
    )
    if not all(isinstance(part, list) for part in (tokens, kinds, merges)):
        raise ValueError(f"{path}: its tokenizer lacks tokens, token_type or merges")
    if len(tokens) != len(kinds) or len(set(tokens)) != len(tokens):
        raise ValueError(
            f"{path}: its tokenizer has {len(tokens)} tokens, {len(set(tokens))} of them "
            f"different, and {len(kinds)} types"
        )
    library = _library()
    numbers = {token: number for number, token in enumerate(tokens)}
    try:
        pairs = [tuple(merge.split(" ")) for merge in merges]
        tokenizer = library.Tokenizer(library.models.BPE(numbers, pairs))
    except Exception as error:  # as above
        raise ValueError(f"{path}: the merges of its tokenizer do not fit: {error}") from None
    tokenizer.pre_tokenizer = library.pre_tokenizers.Sequence(
        [
            library.pre_tokenizers.Digits(individual_digits=True),
            library.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = library.decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL]
    tokenizer.add_special_tokens(special)
    return _fitting(path, tokenizer, vocab_size)


def _fitting(path, tokenizer, vocab_size):
    if tokenizer.get_vocab_size() > vocab_size:
        raise ValueError(
            f"{path}: its tokenizer knows {tokenizer.get_vocab_size()} tokens, "
            f"the model {vocab_size}: they do not belong together"
        )
    return tokenizer

"""Models and tokenizers, from a folder or made on the spot. Needs transformers, and peft for LoRA.

Works with transformers 4.30 and 5, peft 0.6 and newer, PyTorch 1.13 and 2.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import invalid
from ..permutation import SplitMix64
from .settings import NEW_GPT, Lora, Settings

END = "<|endoftext|>"


def make(settings: Settings, device: Any) -> tuple[Any, Any]:
    """The model, with adapters if it has any, and its tokenizer."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # There is no network, nor should there be.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    transformers = _library("transformers")
    base_type = torch.float32
    if settings.lora is not None:  # Frozen weights need no more digits than the products.
        base_type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(
            precision_on(settings, device), torch.float32
        )
    if settings.model == NEW_GPT:
        model, tokenizer = new_gpt(settings), byte_tokenizer()
        model.to(base_type)
    else:
        folder = Path(settings.model)
        if not (folder / "config.json").exists():
            raise invalid(
                f"{folder} has no config.json",
                "a model is a folder as save_pretrained writes it",
                "model",
            )
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, **{_type_argument(transformers): base_type}
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model.config.use_cache = False
    if settings.gradient_checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    if settings.lora is not None:
        model = _with_lora(model, settings.lora)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()  # What learns is added to in small steps.
    return model, tokenizer


def precision_on(settings: Settings, device: Any) -> str:
    """What `auto` is here."""
    if settings.precision != "auto":
        return settings.precision
    if device.type != "cuda":
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"


def new_gpt(settings: Settings) -> Any:
    """A GPT-2 of random weights, the same to the bit on every machine."""
    transformers = _library("transformers")
    config = transformers.GPT2Config(
        vocab_size=257,
        n_positions=settings.context,
        n_embd=settings.width,
        n_layer=settings.layers,
        n_head=settings.heads,
        bos_token_id=256,
        eos_token_id=256,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:  # Biases and norms begin alike anyway.
                parameter.copy_(torch.from_numpy(_drawn(name, tuple(parameter.shape), settings)))
    return model


def _drawn(name: str, shape: tuple[int, ...], settings: Settings) -> Any:
    """Uniform, from SplitMix64, whose k-th state is seed + k gamma. The deviation is GPT-2's, 0.02 at
    its width of 768, and larger in a narrower model, whose sums have fewer terms."""
    deviation = 0.02 * (768 / settings.width) ** 0.5
    seed = SplitMix64(settings.seed * 1_000_003 + zlib.crc32(name.encode())).next()
    count = int(np.prod(shape))
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    uniform = (z >> np.uint64(11)).astype(np.float64) / (1 << 53)
    return ((2 * uniform - 1) * deviation * 3**0.5).astype(np.float32).reshape(shape)


def byte_tokenizer() -> Any:
    """Every byte is a token, and there is one for the end."""
    tokenizers = _library("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: i for i, letter in enumerate(alphabet)}
    return _byte_level(tokenizers.models.BPE(vocab=vocabulary, merges=[]), None, 0)


def trained_tokenizer(texts: list[str], size: int) -> Any:
    """Byte pairs that are frequent in these texts become tokens."""
    return _byte_level(_library("tokenizers").models.BPE(), texts, size)


def _byte_level(bpe: Any, texts: list[str] | None, size: int) -> Any:
    tokenizers = _library("tokenizers")
    inner = tokenizers.Tokenizer(bpe)
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    if texts is None:
        inner.add_special_tokens([END])
    else:
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=[END],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        inner.train_from_iterator(texts, trainer)
    return _library("transformers").PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token=END,
        eos_token=END,
        clean_up_tokenization_spaces=False,  # It would take spaces out of what is written.
    )


def _with_lora(model: Any, lora: Lora) -> Any:
    peft = _library("peft")
    target: Any = list(lora.target) or None
    if lora.target == ("all-linear",):
        target = "all-linear"
    try:
        return peft.get_peft_model(
            model,
            peft.LoraConfig(
                r=lora.r,
                lora_alpha=lora.scale,
                lora_dropout=lora.dropout,
                target_modules=target,
                task_type="CAUSAL_LM",
            ),
        )
    except ValueError as error:  # No layer has such a name.
        ends = sorted({
            name.rsplit(".", 1)[-1]
            for name, module in model.named_modules()
            if type(module).__name__ in ("Linear", "Conv1D") and name
        })  # fmt: skip
        raise invalid(
            str(error)[:300], f"layers of this model: {', '.join(ends)}", "lora.target"
        ) from None


def _type_argument(transformers: Any) -> str:
    """torch_dtype was renamed."""
    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise invalid(
            f"there is no {name} here: {error}",
            "ask for machines that have it, `packages: [transformers, peft]`, or bring an environment",
        ) from None

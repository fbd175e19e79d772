"""A training's results as the ecosystem expects them. Needs nothing but Python.

    an adapter     adapter_model.safetensors, adapter_config.json
    a whole model  model.safetensors, config.json

and beside it the tokenizer's files and README.md, which says how it was made.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import Error, invalid
from .settings import NEW_GPT, Lora, Settings, read_settings

_HEADER_LIMIT = 16 << 20
# Beside the weights, what from_pretrained reads: config.json, tokenizer.json, merges.txt...
_SMALL = (".json", ".txt", ".model", ".jinja", ".py")
_WEIGHTS = ("index.json",)
_ADAPTER = "adapter_model.safetensors"


def export(results: Path, base: Path | None, base_name: str = "") -> str:
    """Turns the folder that `souk results` wrote into a model's; says what it is now.

    `base` is the folder of the model that the training began from, as far as it is here: its
    configuration and its tokenizer's files. `base_name` is how an adapter names it.
    """
    trainer = json.loads((results / "trainer.json").read_text("utf-8"))
    settings = read_settings(trainer)
    source = results / "model.safetensors"
    if not source.exists():
        if (results / _ADAPTER).exists():
            return "it was exported before"
        raise Error("not_found", f"{results} has no model.safetensors", "is it a job's results?")
    header, data = _read_header(source)
    adapter = any(".lora_A." in name for name in header)
    if base is not None:
        _copy_small(base, results, configuration=not adapter)
    if not adapter and base is None and not (results / "config.json").exists():
        raise invalid(f"{results} has no config.json", "name the model's folder with --model")
    target = results / (_ADAPTER if adapter else "model.safetensors")
    _write_with_format(source, header, data, target)
    if adapter:
        source.unlink()
        config = _adapter_config(settings, header, base_name or _name_of(settings, base))
        (results / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    (results / "README.md").write_text(_card(results, trainer, settings, header, adapter), "utf-8")
    return "an adapter for PEFT" if adapter else "a model for transformers"


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
        if length > min(size - 8, _HEADER_LIMIT):
            raise Error("damaged", f"{path} is not a safetensors file")
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise Error("damaged", f"{path} is not a safetensors file: {error}") from None
    header.pop("__metadata__", None)
    return header, 8 + length


def _write_with_format(source: Path, header: Mapping[str, Any], data: int, target: Path) -> None:
    """The same tensors, with the word by which transformers knows PyTorch's files."""
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    part = target.with_name(target.name + ".part")
    with open(source, "rb") as old, open(part, "wb") as new:
        new.write(struct.pack("<Q", len(text)) + text)
        old.seek(data)
        shutil.copyfileobj(old, new, 1 << 22)
    os.replace(part, target)


def _copy_small(base: Path, results: Path, configuration: bool) -> None:
    for file in sorted(base.iterdir()):
        if not file.is_file() or file.suffix not in _SMALL or file.name.endswith(_WEIGHTS):
            continue
        if file.name in ("config.json", "generation_config.json") and not configuration:
            continue  # An adapter has none of its own.
        if not (results / file.name).exists():
            shutil.copyfile(file, results / file.name)


def _adapter_config(settings: Settings, header: Mapping[str, Any], base: str) -> dict[str, Any]:
    """What the tensors say, where the job said nothing: its settings may have been a script's."""
    layers = {n.split(".lora_A.")[0]: e["shape"][0] for n, e in header.items() if ".lora_A." in n}
    rank = next(iter(layers.values()))
    lora = settings.lora or Lora(r=rank)
    target = list(lora.target)
    if not target or target == ["all-linear"]:
        target = sorted(name.removeprefix("base_model.model.") for name in layers)
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": lora.scale,
        "lora_dropout": lora.dropout,
        "target_modules": target,
        "bias": "none",
        "fan_in_fan_out": any("c_attn" in name for name in layers),  # GPT-2's layers lie so.
        "inference_mode": True,
    }


def _name_of(settings: Settings, base: Path | None) -> str:
    return NEW_GPT if settings.model == NEW_GPT else base.name if base is not None else "model"


def _card(
    results: Path,
    trainer: Mapping[str, Any],
    settings: Settings,
    header: Mapping[str, Any],
    adapter: bool,
) -> str:
    metrics: dict[str, Any] = {}
    if (results / "metrics.json").exists():
        metrics = json.loads((results / "metrics.json").read_text("utf-8"))
    numbers = sum(math.prod(entry["shape"]) for entry in header.values())
    lines = [
        "---",
        f"library_name: {'peft' if adapter else 'transformers'}",
        "tags: [souk" + (", lora]" if adapter else "]"),
        "---",
        "",
        f"# {'A LoRA adapter' if adapter else 'A fine-tuned language model'}",
        "",
        f"Made on a Souk market: {numbers:,} parameters learnt, on machines that came and went.",
        "",
        "## How to use it",
        "",
        "```python",
        *_usage(settings, adapter),
        "```",
        "",
        "## How it was made",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {value} |" for name, value in _facts(settings, metrics).items()),
        "",
        "Settings of the trainer:",
        "",
        "```json",
        json.dumps(trainer, indent=1),
        "```",
        *_history(metrics.get("rows", [])),
    ]
    return "\n".join(lines) + "\n"


def _facts(settings: Settings, metrics: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "began from": settings.model,
        "aggregator": metrics.get("rule"),
        "epochs": metrics.get("epoch"),
        "samples": metrics.get("samples"),
        "updates folded": metrics.get("version"),
        "context": f"{settings.context} tokens",
        "precision on workers": settings.precision,
        "optimiser": f"AdamW, weight decay {settings.weight_decay:g}, kept by workers",
    }
    if settings.lora is not None:
        facts["LoRA"] = f"r {settings.lora.r}, alpha {settings.lora.scale:g}"
    return {name: value for name, value in facts.items() if value is not None}


def _history(rows: list[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["", "## How it went", "", "| epoch | loss | validation loss | perplexity |"]
    lines += ["| --- | --- | --- | --- |"]
    for row in rows:
        perplexity = row.get("metrics", {}).get("perplexity")
        lines.append(
            f"| {row['epoch']} | {row['loss']:.4f} | {row['validation_loss']:.4f} | "
            f"{'' if perplexity is None else f'{perplexity:.2f}'} |"
        )
    return lines


def _usage(settings: Settings, adapter: bool) -> list[str]:
    if not adapter:
        return [
            "from transformers import AutoModelForCausalLM, AutoTokenizer",
            'model = AutoModelForCausalLM.from_pretrained(".")',
            'tokenizer = AutoTokenizer.from_pretrained(".")',
        ]
    base = '"BASE"  # the folder of the model it was made for'
    if settings.model == NEW_GPT:
        base = (
            '"base"  # python3 -m souk.transformers new base '
            f"--layers {settings.layers} --width {settings.width} --heads {settings.heads} "
            f"--context {settings.context} --seed {settings.seed}"
        )
    return [
        "from peft import PeftModel",
        "from transformers import AutoModelForCausalLM",
        f"base = {base}",
        "model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), '.')",
    ]

"""What a job says about its language model, checked. Needs nothing but Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import invalid

NEW_GPT = "new-gpt"
BYTES_PER_TOKEN = 4  # About what tokenizers make of English.


@dataclass(frozen=True)
class Lora:
    """Low-rank changes of some linear layers, the only thing that learns."""

    r: int = 16
    alpha: float = 0
    """The changes count alpha / r times. 0: twice r."""
    dropout: float = 0
    target: tuple[str, ...] = ()
    """The layers' names, or their ends; all-linear: every one but the last. Empty: as PEFT knows
    the model."""

    @property
    def scale(self) -> float:
        return self.alpha or 2 * self.r


@dataclass(frozen=True)
class Settings:
    """All that is not the model itself."""

    model: str = "model"
    """A folder, or `new-gpt`: a GPT-2 of random weights that reads bytes, of the sizes below."""
    lora: Lora | None = None
    context: int = 512
    """Tokens of a sample."""
    precision: str = "auto"
    """fp32, bf16 or fp16; auto: bf16 on a GPU that has it, fp16 on others, fp32 on a processor."""
    micro_batch: int = 0
    """The most samples on the device at a time; a larger batch is added up. 0: all."""
    gradient_checkpointing: bool = False
    """Compute again instead of keeping: less memory, a third more time."""
    clip: float = 1
    """The longest gradient; 0: any."""
    weight_decay: float = 0
    deterministic: bool = False
    """The same unit gives the same bytes, on a GPU at some cost."""
    sample_bytes: int = 0
    """Of a text, by which the job counted samples. 0: not known."""
    layers: int = 2
    width: int = 64
    heads: int = 4
    seed: int = 1


_RANGES: dict[str, tuple[float, float]] = {
    "context": (2, 1 << 20),
    "micro_batch": (0, 1 << 20),
    "clip": (0, 1e6),
    "weight_decay": (0, 10),
    "sample_bytes": (0, 1 << 40),
    "layers": (1, 1000),
    "width": (1, 1 << 16),
    "heads": (1, 1024),
    "r": (1, 4096),
    "alpha": (0, 1e6),
    "dropout": (0, 0.99),
}


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Those that the configuration has; others of its keys are somebody else's."""
    known = {f.name: config[f.name] for f in fields(Settings) if f.name in config}
    if known.get("lora") is not None:
        known["lora"] = _read_lora(known["lora"])
    _check(known, Settings)
    if known.get("precision", "auto") not in ("auto", "fp32", "bf16", "fp16"):
        raise invalid(
            f"precision is {known['precision']!r}", "use auto, fp32, bf16 or fp16", "precision"
        )
    settings = Settings(**known)
    if settings.model == NEW_GPT and settings.width % settings.heads != 0:
        raise invalid(
            f"a width of {settings.width} for {settings.heads} heads",
            "the width is a multiple of the heads",
            "width",
        )
    return settings


def _read_lora(given: Any) -> Lora | None:
    if given is False:
        return None
    if given is True:
        return Lora()
    if not isinstance(given, Mapping):
        raise invalid(f"lora is {given!r}", "give {r: 16, target: [q_proj, v_proj]}", "lora")
    names = [f.name for f in fields(Lora)]
    if extra := sorted(set(given) - set(names)):
        raise invalid(f"lora has no {extra[0]!r}", f"known are {', '.join(names)}", "lora")
    known = dict(given)
    target = known.pop("target", [])
    target = [target] if isinstance(target, str) else target
    if not isinstance(target, list) or not all(isinstance(t, str) and t for t in target):
        raise invalid(f"target is {target!r}", "give names of layers", "lora.target")
    _check(known, Lora)
    return Lora(**known, target=tuple(target))


def _check(known: Mapping[str, Any], kind: type) -> None:
    defaults = {f.name: f.default for f in fields(kind)}
    for name, value in known.items():
        expected = type(defaults[name])
        fits = isinstance(value, expected) or name == "lora"
        if expected is float:
            fits = isinstance(value, (int, float))
        if not fits or (isinstance(value, bool) and expected is not bool):
            raise invalid(f"{name} is {value!r}", f"it is like {defaults[name]!r}", name)
        low, high = _RANGES.get(name, (float("-inf"), float("inf")))
        if isinstance(value, (int, float)) and not low <= value <= high:
            raise invalid(f"{name} is {value}", f"use {low:g} to {high:g}", name)

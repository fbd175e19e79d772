"""Shards as arrays, and what is measured on them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from . import safetensors
from .errors import invalid

T = TypeVar("T")

_TRUSTED_AGE_NS = 100_000_000  # More than the grain of any file system's clock on Linux.


def load_shard(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Samples and labels of a built-in shard, as arrays in memory; bytes are scaled to 0..1."""
    tensors = safetensors.read(path)
    if "x" not in tensors or "y" not in tensors:
        raise invalid(
            f"the shard {os.fspath(path)} has no x and y but {', '.join(tensors) or 'nothing'}",
            "give souk.worker a load= that reads it",
        )
    x, y = tensors["x"], tensors["y"]
    if x.ndim == 0 or y.ndim == 0 or len(x) != len(y):
        raise invalid(f"the shard {os.fspath(path)} has x of {x.shape} but y of {y.shape}")
    scaled = np.array(x, dtype=np.float32)
    if x.dtype == np.uint8:
        scaled /= 255
    return scaled, np.array(y)


def load_text(context: int) -> Callable[[str | os.PathLike[str]], tuple[Any, Any]]:
    """A `load` for text: samples of `context` bytes, their labels the bytes that follow each."""

    def load(path: str | os.PathLike[str]) -> tuple[Any, Any]:
        text = safetensors.read(path)["x"].astype(np.int64)
        if text.ndim != 1 or len(text) <= context:
            raise invalid(f"the shard {os.fspath(path)} has no text of more than {context} bytes")
        samples = (len(text) - 1) // context
        used = samples * context
        return text[:used].reshape(samples, context), text[1 : used + 1].reshape(samples, context)

    return load


def accuracy(output: Any, y: Any) -> Any:
    """The share of samples whose largest output is the label's. For arrays and tensors alike."""
    hits = output.argmax(-1) == y
    return hits.sum() / math.prod(hits.shape)


def rmse(output: Any, y: Any) -> Any:
    """The root of the mean square of what an estimate is off by. For arrays and tensors alike."""
    return ((output.reshape(y.shape) - y) ** 2).mean() ** 0.5


def mae(output: Any, y: Any) -> Any:
    """The mean of what an estimate is off by. For arrays and tensors alike."""
    return abs(output.reshape(y.shape) - y).mean()


class Means:
    """Metrics of batches, as if they had been measured on all samples at once.

    Those are means by samples, but of the squares for `rmse` and of the logarithms for `perplexity`:
    the same as the market does with shards. A value may be a tensor, which is not waited for.
    """

    def __init__(self) -> None:
        self.samples = 0
        self._sums: dict[str, Any] = {}

    def add(self, samples: int, values: Mapping[str, Any]) -> None:
        """One more batch, with its metrics."""
        self.samples += samples
        for name, value in values.items():
            inner, _outer = _TRANSFORMS.get(name, _PLAIN)
            self._sums[name] = self._sums.get(name, 0.0) + inner(value) * samples

    def all(self) -> dict[str, float]:
        """The metrics of all batches together."""
        out = {}
        for name, total in self._sums.items():
            _inner, outer = _TRANSFORMS.get(name, _PLAIN)
            out[name] = outer(float(total) / max(self.samples, 1))
        return out


def _same(value: Any) -> Any:
    return value


def _log(value: Any) -> Any:
    if hasattr(value, "log"):
        return value.log()
    if value <= 0:
        raise invalid(f"perplexity is {value}", "it is exp(loss), and so above 0", "metrics")
    return math.log(value)


_PLAIN = (_same, _same)
_TRANSFORMS: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "rmse": (lambda value: value * value, math.sqrt),
    "perplexity": (_log, math.exp),
}


class ShardCache(Generic[T]):
    """Keeps the shard used last: the units of an epoch share it, and parsing may be slow.

    A file that was changed is read again. One that was changed just before it was read may change
    once more without its times showing it, so it is not kept.
    """

    def __init__(self, load: Callable[[Path], T]) -> None:
        self._load = load
        self._key: tuple[object, ...] | None = None
        self._shard: T | None = None

    def get(self, path: Path) -> T:
        """The shard at `path`."""
        stat = os.stat(path)
        key = (path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        if self._shard is not None and key == self._key:
            return self._shard
        self._key = self._shard = None  # Two at once might not fit into memory.
        shard = self._load(path)
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _TRUSTED_AGE_NS:
            self._key, self._shard = key, shard
        return shard

"""Texts as samples: tokenised, packed without gaps, kept for the next time."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any

import numpy as np

from .. import safetensors
from ..errors import invalid

_PIECE = 1 << 18  # Characters that are tokenised at a time.
_MOST_KEPT = 512 << 20  # Bytes of tokens.


class PackedTexts:
    """Reads shards of text as (samples, context) tokens. Keeps what it read lately."""

    def __init__(self, tokenizer: Any, context: int) -> None:
        self._tokenizer = tokenizer
        self._context = context
        self._kept: OrderedDict[tuple[object, ...], Any] = OrderedDict()

    def load(self, path: str | os.PathLike[str]) -> tuple[Any]:
        stat = os.stat(path)
        key = (os.fspath(path), stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in self._kept:
            self._kept[key] = self._pack(path)
            while len(self._kept) > 1 and sum(t.nbytes for t in self._kept.values()) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return (self._kept[key],)

    def _pack(self, path: str | os.PathLike[str]) -> Any:
        tokens = self._tokens(text_of(path))
        if len(tokens) < 2:
            raise invalid(f"the shard {os.fspath(path)} has {len(tokens)} tokens")
        if len(tokens) < self._context:  # A short one is read again until a sample is full.
            tokens = np.resize(tokens, self._context)
        samples = len(tokens) // self._context
        return tokens[: samples * self._context].reshape(samples, self._context)

    def _tokens(self, text: str) -> Any:
        pieces = []
        while text:
            # At the end of a line, so that no word is cut.
            end = len(text) if len(text) <= _PIECE else text.rfind("\n", 0, _PIECE) + 1 or _PIECE
            pieces.append(text[:end])
            text = text[end:]
        ids = [self._tokenizer(some, add_special_tokens=False)["input_ids"] for some in pieces]
        return np.concatenate([np.asarray(i, np.int32) for i in ids] or [np.zeros(0, np.int32)])


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a shard. Characters that were cut at its ends are left out."""
    tensors = safetensors.read(path)
    if "x" not in tensors or tensors["x"].dtype != np.uint8 or tensors["x"].ndim != 1:
        raise invalid(
            f"the shard {os.fspath(path)} is no text",
            "data: {format: text, train: FILE}, or {format: jsonl, train: FILE, text: FIELD}",
        )
    return bytes(tensors["x"]).decode("utf-8", "ignore")

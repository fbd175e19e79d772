"""Souk for Python: workers that train on the market's machines, and a client for notebooks.

`souk.worker` makes a worker of a PyTorch or Keras model or of NumPy functions, `souk.serve` of
anything that implements `souk.Trainer`. `souk.Client` talks to a market.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._version import VERSION as __version__
from .client import Account, Client, Job, LogText, Prices
from .errors import Error

if TYPE_CHECKING:
    from ._serve import serve
    from ._worker import worker
    from .data import accuracy, load_shard, load_text, mae, rmse
    from .trainer import (
        Config,
        Description,
        Evaluated,
        Exam,
        Parameters,
        TensorSpec,
        Trained,
        Trainer,
        Unit,
    )

__all__ = [
    "Account", "Client", "Config", "Description", "Error", "Evaluated", "Exam", "Job", "LogText",
    "Parameters", "Prices", "TensorSpec", "Trained", "Trainer", "Unit", "__version__", "accuracy",
    "load_shard", "load_text", "mae", "rmse", "serve", "worker",
]  # fmt: skip

# Imported when first used: the client works where there is no NumPy.
_LAZY = {
    "serve": "_serve",
    "worker": "_worker",
    "accuracy": "data",
    "load_shard": "data",
    "load_text": "data",
    "mae": "data",
    "rmse": "data",
    **dict.fromkeys(
        ("Config", "Description", "Evaluated", "Exam", "Parameters", "TensorSpec", "Trained",
         "Trainer", "Unit"),
        "trainer",
    ),
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'souk' has no attribute {name!r}")
    return getattr(importlib.import_module(f"souk.{_LAZY[name]}"), name)

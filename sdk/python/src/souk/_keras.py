"""Keras, of version 2 or 3: a compiled model with the usual methods."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .data import Means, ShardCache
from .errors import invalid
from .trainer import (
    Config,
    Description,
    Evaluated,
    Exam,
    Parameters,
    Stopped,
    TensorSpec,
    Trained,
    Unit,
)

# They divide by the root of the mean square of gradients.
_ADAPTIVE = {"Adam", "AdamW", "Nadam", "Adamax", "RMSprop"}


class KerasTrainer:
    """Trains through `get_weights`, `set_weights`, `train_on_batch` and `test_on_batch`.

    Weights of floats travel. Other weights and what the optimiser holds (momentum) begin each unit
    as they were when the model was made, generators of random numbers with a seed of the unit's.
    """

    def __init__(
        self, model: Any, build: Callable[[], Any] | None, load: Callable[[Any], Any]
    ) -> None:
        self._model = model
        self._build = build
        self._shards = ShardCache(load)
        self._names: list[str | None] = []  # None: a weight that does not travel.
        self._first: list[Any] = []
        self._first_optimizer: list[Any] = []
        self._kept: dict[str, list[Any]] = {}  # Variables of the optimiser by unit.keep.

    def setup(self, config: Config) -> Description:
        del config  # The model was made of it, and compiled.
        self._first = self._model.get_weights()
        if not self._first:
            raise invalid("the model has no weights", "call build() or give it an Input layer")
        self._names = _names(self._model, self._first)
        optimizer: Any = getattr(self._model, "optimizer", None)
        if hasattr(optimizer, "build"):
            optimizer.build(self._model.trainable_variables)
        self._first_optimizer = [_array(v) for v in _variables(optimizer)]
        return Description(
            tensors=[
                TensorSpec(name, tuple(np.shape(weight)), state)
                for name, weight, state in zip(
                    self._names, self._first, _states(self._model, self._first), strict=True
                )
                if name is not None
            ],
            framework=_framework(self._model),
        )

    def init(self, seed: int) -> Parameters:
        if self._build is None:
            raise invalid(
                "a Keras model that was already made cannot be drawn again from a seed",
                "give souk.worker a function that makes and compiles it",
            )
        _seed(seed)
        return self._named(self._build().get_weights())

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        x, y = self._shard(unit.shard)
        self._load(base)
        _seed(unit.noise_seed)
        self._reset_generators(unit.noise_seed)
        if unit.measure:
            return self._measure(x, y, unit, stopped)
        # Taken out: a unit that fails leaves nothing behind.
        self._set_optimizer(self._kept.pop(unit.keep, self._first_optimizer), unit)
        steps, total = 0, 0.0
        for indices in unit.batches(len(x)):
            if stopped():
                break
            logs = self._on_batch(self._model.train_on_batch, x[indices], y[indices])
            if not math.isfinite(logs["loss"]):
                raise invalid(f"the loss is not finite at step {steps}", "a smaller lr may help")
            total += logs["loss"] * len(indices)
            steps += 1
        if unit.keep:
            self._kept[unit.keep] = [_array(v) for v in _variables(self._model.optimizer)]
        samples = steps * unit.batch
        new = self._named(self._model.get_weights())
        return Trained(new, steps, samples, total / max(samples, 1))

    def _measure(self, x: Any, y: Any, unit: Unit, stopped: Stopped) -> Trained:
        """Goes through the samples as training does; running statistics become the mean over batches.

        A layer moves them by a known part of the way to those of its batch, so from zero one call
        says what the batch has.
        """
        del y
        layers = _normalisations(self._model)
        sums = [[np.zeros_like(w) for w in _moving(layer)] for layer in layers]
        steps = 0
        for indices in unit.batches(len(x)):
            if stopped():
                break
            for layer in layers:
                for variable in (layer.moving_mean, layer.moving_variance):
                    variable.assign(np.zeros_like(_array(variable)))
            self._model(x[indices], training=True)
            for layer, sum_ in zip(layers, sums, strict=True):
                for total, value in zip(sum_, _moving(layer), strict=True):
                    total += value / (1 - float(layer.momentum))
            steps += 1
        for layer, (mean, variance) in zip(layers, sums, strict=True):
            layer.moving_mean.assign(mean / max(steps, 1))
            layer.moving_variance.assign(variance / max(steps, 1))
        return Trained(self._named(self._model.get_weights()), steps, steps * unit.batch, 0.0)

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        x, y = self._shard(exam.shard)
        self._load(base)
        means = Means()
        for chosen in exam.slices(len(x)):
            if stopped():
                break
            n = chosen.stop - chosen.start
            means.add(n, self._on_batch(self._model.test_on_batch, x[chosen], y[chosen]))
        metrics = means.all()
        return Evaluated(means.samples, metrics.pop("loss", 0.0), metrics)

    def _on_batch(self, method: Callable[..., Any], x: Any, y: Any) -> dict[str, float]:
        if hasattr(self._model, "reset_metrics"):  # Keras 3 adds up over batches otherwise.
            self._model.reset_metrics()
        return {name: float(v) for name, v in method(x, y, return_dict=True).items()}

    def _load(self, base: Parameters) -> None:
        self._model.set_weights(
            [
                first if name is None else base[name].astype(first.dtype, copy=False)
                for name, first in zip(self._names, self._first, strict=True)
            ]
        )

    def _reset_generators(self, seed: int) -> None:
        # Keras 3 keeps those of its layers in variables that are no weights: a seed and a counter.
        for i, variable in enumerate(getattr(self._model, "variables", [])):
            if getattr(variable, "path", "").endswith("/seed_generator_state"):
                variable.assign(np.array([(seed + i) % (1 << 32), 0], np.uint32))

    def _set_optimizer(self, values: list[Any], unit: Unit) -> None:
        optimizer: Any = getattr(self._model, "optimizer", None)
        for variable, value in zip(_variables(optimizer), values, strict=True):
            variable.assign(value)
        if optimizer is not None:
            adaptive = type(optimizer).__name__ in _ADAPTIVE
            optimizer.learning_rate = unit.lr * (unit.adaptive_gain if adaptive else 1)

    def _named(self, weights: list[Any]) -> Parameters:
        return {
            name: np.array(weight, dtype=np.float32)
            for name, weight in zip(self._names, weights, strict=True)
            if name is not None
        }

    def _shard(self, path: Path) -> tuple[Any, Any]:
        x, y = map(np.asarray, self._shards.get(path))
        if len(x) != len(y) or len(x) == 0:
            raise invalid(f"the shard {path.name} has {len(x)} samples and {len(y)} labels")
        return x, y


def _normalisations(model: Any) -> list[Any]:
    """Its layers with running statistics, those inside of other layers too."""
    found = getattr(model, "_flatten_layers", None)
    layers = list(found()) if found is not None else list(getattr(model, "layers", []))
    return [
        layer
        for layer in layers
        if hasattr(layer, "moving_mean")
        and hasattr(layer, "moving_variance")
        and getattr(layer, "trainable", True)
    ]


def _moving(layer: Any) -> list[Any]:
    return [_array(layer.moving_mean), _array(layer.moving_variance)]


def _states(model: Any, weights: Sequence[Any]) -> list[bool]:
    """Which weights are measured rather than trained. What only looks like Keras does not say."""
    variables = list(getattr(model, "weights", []))
    trained = {id(v) for v in getattr(model, "trainable_weights", variables)}
    if len(variables) != len(weights):
        return [False] * len(weights)
    return [id(v) not in trained for v in variables]


def _names(model: Any, weights: list[Any]) -> list[str | None]:
    """A name for each weight of floats. Keras 3 has paths; names of Keras 2 may occur twice."""
    variables = getattr(model, "weights", weights)
    raw = [
        str(getattr(v, "path", None) or getattr(v, "name", None) or f"weight{i}")
        for i, v in enumerate(variables)
    ]
    seen: Counter[str] = Counter()
    out: list[str | None] = []
    for name, weight in zip(raw, weights, strict=True):
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}#{seen[name]}"
        out.append(unique if np.issubdtype(np.asarray(weight).dtype, np.floating) else None)
    return out


def _variables(optimizer: Any) -> list[Any]:
    variables = getattr(optimizer, "variables", None)
    if variables is None:
        return []
    return list(variables() if callable(variables) else variables)  # A method in some Keras 2.


def _array(variable: Any) -> Any:
    value = variable.numpy() if hasattr(variable, "numpy") else variable
    return np.array(value)


def _seed(seed: int) -> None:
    keras: Any = sys.modules.get("keras")
    if keras is not None:
        keras.utils.set_random_seed(seed % (1 << 32))  # Its own, Python's, NumPy's, the backend's.
    else:
        random.seed(seed)
        np.random.seed(seed % (1 << 32))


def _framework(model: Any) -> str:
    package = type(model).__module__.split(".")[0]
    keras: Mapping[str, Any] | Any = sys.modules.get("keras")
    if keras is None or not hasattr(keras, "__version__"):
        return package
    backend = keras.backend.backend() if hasattr(keras, "backend") else "tensorflow"
    return f"keras {keras.__version__} ({backend})"

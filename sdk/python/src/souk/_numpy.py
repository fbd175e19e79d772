"""Plain NumPy: parameters are a dict of arrays, a function gives their gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Gradient = Callable[[dict[str, NDArray[np.float32]], Any, Any], tuple[float, Mapping[str, Any]]]
Evaluate = Callable[[dict[str, NDArray[np.float32]], Any, Any], tuple[float, Mapping[str, float]]]


class NumpyTrainer:
    """Stochastic gradient descent with the job's `momentum` and `weight_decay`, as PyTorch's."""

    def __init__(
        self,
        parameters: Mapping[str, Any] | Callable[[np.random.Generator], Mapping[str, Any]],
        gradient: Gradient,
        evaluate: Evaluate | None,
        load: Callable[[Any], Any],
    ) -> None:
        self._parameters = parameters
        self._gradient = gradient
        self._evaluate = evaluate or (lambda p, x, y: (gradient(p, x, y)[0], {}))
        self._shards = ShardCache(load)
        self._config: Config = {}
        self._kept: dict[str, dict[str, NDArray[np.float32]]] = {}  # Velocities by unit.keep.

    def setup(self, config: Config) -> Description:
        self._config = config
        return Description(
            tensors=[TensorSpec(name, a.shape) for name, a in self.init(0).items()],
            framework=f"numpy {np.__version__}",
        )

    def init(self, seed: int) -> Parameters:
        made = self._parameters
        if callable(made):
            # A generator that is named: default_rng may become another one some day.
            made = made(np.random.Generator(np.random.PCG64(seed)))
        if not made:
            raise invalid("there are no parameters")
        return {name: np.array(value, dtype=np.float32) for name, value in made.items()}

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        x, y = self._shard(unit.shard)
        now = {name: np.array(value) for name, value in base.items()}
        # Taken out: a unit that fails leaves nothing behind.
        velocity = self._kept.pop(unit.keep, None) or {
            name: np.zeros_like(value) for name, value in now.items()
        }
        momentum = np.float32(self._config.get("momentum", 0))
        decay = np.float32(self._config.get("weight_decay", 0))
        lr = np.float32(unit.lr)
        steps, total = 0, 0.0
        np.random.seed(unit.noise_seed)
        for indices in unit.batches(len(x)):
            if stopped():
                break
            loss, gradients = self._gradient(now, x[indices], y[indices])
            if not math.isfinite(loss):
                raise invalid(f"the loss is not finite at step {steps}", "a smaller lr may help")
            for name, value in now.items():
                if np.shape(gradients[name]) != value.shape:
                    raise invalid(
                        f"the gradient of {name!r} has the shape {np.shape(gradients[name])}",
                        f"the parameter has {value.shape}",
                    )
                slope = np.asarray(gradients[name], np.float32) + decay * value
                velocity[name] = momentum * velocity[name] + slope
                now[name] = value - lr * velocity[name]
            total += float(loss) * len(indices)
            steps += 1
        if unit.keep:
            self._kept[unit.keep] = velocity
        samples = steps * unit.batch
        return Trained(now, steps, samples, total / max(samples, 1))

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        x, y = self._shard(exam.shard)
        parameters = dict(base)
        total, means = 0.0, Means()
        for chosen in exam.slices(len(x)):
            if stopped():
                break
            n = chosen.stop - chosen.start
            loss, metrics = self._evaluate(parameters, x[chosen], y[chosen])
            total += float(loss) * n
            means.add(n, {name: float(value) for name, value in metrics.items()})
        return Evaluated(means.samples, total / max(means.samples, 1), means.all())

    def _shard(self, path: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        x, y = map(np.asarray, self._shards.get(path))
        if len(x) != len(y) or len(x) == 0:
            raise invalid(f"the shard {path.name} has {len(x)} samples and {len(y)} labels")
        return x, y

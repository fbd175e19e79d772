"""What a trainer is: the four things that `souk.serve` asks of one.

A trainer computes. Files, the order of samples, the two forms of an update, `stop` and errors are
the business of `serve`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .permutation import Indices, batch_indices, permutation

Config = Mapping[str, Any]
"""What the job says: `lr`, `momentum`, `weight_decay`, `threads` and its options."""

Parameters = Mapping[str, NDArray[np.float32]]
"""All tensors of a model by name, in its order."""

Stopped = Callable[[], bool]
"""Has the agent asked to end this request? To be looked at between steps."""


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of the parameters: a 32-bit float array. `state` is measured rather than trained,
    such as running means; workers' changes of it are averaged, whatever the job's rule."""

    name: str
    shape: tuple[int, ...]
    state: bool = False


@dataclass(frozen=True)
class Description:
    """What a trainer says of itself once it knows the job's configuration."""

    tensors: Sequence[TensorSpec]
    framework: str
    device: str = "cpu"


@dataclass(frozen=True)
class Unit:
    """A piece of training: some optimiser steps on one shard."""

    shard: Path
    first_step: int
    steps: int
    batch: int
    lr: float
    seed: int
    of_batch: int = 0
    """The batch of all workers together, of which `batch` is this one's part; 0: not told."""
    keep: str = ""
    """Under what name the optimiser's state is kept for the next unit; empty: it is not."""
    measure: bool = False
    """Learn nothing; measure the model's state (running means and variances) on the samples. A trainer
    that does not look at this may train: the rate is 0, and only the state is taken."""

    def batches(self, samples: int) -> Iterator[Indices]:
        """For each step the samples it uses. Units of an epoch cover a shard without overlap."""
        order = permutation(samples, self.seed)
        for step in range(self.first_step, self.first_step + self.steps):
            yield batch_indices(order, step, self.batch)

    @property
    def adaptive_gain(self) -> float:
        """By what an optimiser like Adam multiplies the rate: it divides by the root of the mean
        square of gradients, which the noise of a smaller batch makes larger."""
        return min(8.0, max(1.0, self.of_batch / self.batch) ** 0.5)

    @property
    def noise_seed(self) -> int:
        """For dropout and the like: the same for the same unit, another for the next."""
        return (self.seed * 1_000_003 + self.first_step) % (1 << 32)


@dataclass(frozen=True)
class Exam:
    """A piece of evaluation: one shard, in batches of this size."""

    shard: Path
    batch: int

    def slices(self, samples: int) -> Iterator[slice]:
        """Each sample once, in the order of the shard."""
        for first in range(0, samples, self.batch):
            yield slice(first, min(first + self.batch, samples))


@dataclass(frozen=True)
class Trained:
    """What came of a unit. `loss` is the mean over the samples seen, 0 if there were none."""

    parameters: Parameters
    steps: int
    samples: int
    loss: float


@dataclass(frozen=True)
class Evaluated:
    """What came of an exam: means over the samples seen."""

    samples: int
    loss: float
    metrics: Mapping[str, float] = field(default_factory=dict)


class Trainer(Protocol):
    """Anything that can be asked these, one at a time and from one thread.

    `base` lives until the method returns. `train` is a pure function of its arguments: no momentum,
    counter or generator may outlive it, but for what is kept under the name `unit.keep`.
    """

    def setup(self, config: Config) -> Description:
        """Comes first, once."""

    def init(self, seed: int) -> Parameters:
        """The first parameters; the same ones for the same seed."""

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        """Does the unit, or its first steps when `stopped`.

        What it returns as parameters belongs to `serve`, which may overwrite them, until the next
        request.
        """

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        """Does the exam, or its first batches when `stopped`."""

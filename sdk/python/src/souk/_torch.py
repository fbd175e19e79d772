"""PyTorch: any `torch.nn.Module`, on a GPU where there is one."""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .data import Means, ShardCache
from .errors import Error, invalid
from .permutation import Indices
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

# A shard up to this size is sent to the GPU once; of a larger one, each batch on its own.
_RESIDENT_BYTES = 1 << 30
# How often losses are looked at: waiting for the GPU at each step would leave it idle between.
_STEPS_PER_LOOK = 64


class TorchTrainer:
    """Trains a module. Its parameters and its buffers of floats travel, in the order of the module;
    other buffers (counters) begin each unit as they were made."""

    def __init__(
        self,
        model: Any,
        build: Callable[[], Any] | None,
        loss: Callable[[Any, Any], Any],
        load: Callable[[Any], Any],
        optimizer: Callable[[Any, float], Any] | None,
        metrics: Mapping[str, Callable[[Any, Any], Any]],
        device: str | None,
    ) -> None:
        self._model = model
        self._build = build
        self._loss = loss
        self._optimizer = optimizer
        self._metrics = metrics
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._shards = ShardCache(lambda path: _Samples(load(path), path, self._device))
        self._config: Config = {}
        self._host: Any = None  # All parameters, on their way to the device or back.
        self._kept: dict[str, Any] = {}  # States of optimisers by the name of unit.keep.
        self._buffers: dict[str, Any] = {}  # As they were when the module was made.

    def setup(self, config: Config) -> Description:
        self._config = config
        if threads := config.get("threads"):
            torch.set_num_threads(int(threads))
        _be_deterministic()
        self._model.to(self._device)
        self._buffers = {name: buffer.clone() for name, buffer in self._model.named_buffers()}
        tensors = _floats(self._model)
        # Kept for good: fresh memory of a model's size costs more than to fill it.
        self._host = torch.empty(
            sum(t.numel() for t in tensors.values()), pin_memory=self._device.type == "cuda"
        )
        return Description(
            tensors=[
                TensorSpec(name, tuple(t.shape), state=name in self._buffers)
                for name, t in tensors.items()
            ],
            framework=f"pytorch {torch.__version__}",
            device=_describe(self._device),
        )

    def init(self, seed: int) -> Parameters:
        _seed(seed)
        if self._build is not None:
            return self._to_arrays(self._build())
        # What a GPU draws differs from what a CPU draws, so first parameters come from the CPU.
        model = copy.deepcopy(self._model).cpu()
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(self._buffers[name])
        _reset(model)
        return self._to_arrays(model)

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        samples = self._shards.get(unit.shard)
        self._load(base)
        _seed(unit.noise_seed)
        self._model.train()
        optimizer = self._new_optimizer(unit.lr)
        # Taken out: a unit that fails leaves nothing behind.
        if (state := self._kept.pop(unit.keep, None)) is not None:
            _go_on(optimizer, state)
        losses = _Losses()
        for indices in unit.batches(len(samples)):
            if stopped():
                break
            x, y = samples.batch(indices)
            optimizer.zero_grad(set_to_none=True)
            loss = self._loss(self._model(x), y)
            loss.backward()
            optimizer.step()
            losses.add(loss.detach(), len(indices))
        mean = losses.mean()
        if unit.keep:
            self._kept[unit.keep] = optimizer.state_dict()["state"]
        return Trained(self._to_arrays(self._model), losses.steps, losses.samples, mean)

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        samples = self._shards.get(exam.shard)
        self._load(base)
        self._model.eval()
        losses = _Losses()
        means = Means()
        with torch.no_grad():
            for chosen in exam.slices(len(samples)):
                if stopped():
                    break
                n = chosen.stop - chosen.start
                x, y = samples.batch(np.arange(chosen.start, chosen.stop))
                output = self._model(x)
                losses.add(self._loss(output, y), n)
                means.add(n, {name: metric(output, y) for name, metric in self._metrics.items()})
        return Evaluated(losses.samples, losses.mean(), means.all())

    def _load(self, base: Parameters) -> None:
        # Asked anew each time: a forward pass may put another tensor into a buffer's place.
        tensors = _floats(self._model)
        np.concatenate([value.reshape(-1) for value in base.values()], out=self._host.numpy())
        # All at once: each transfer to a GPU has a price of its own.
        sent = self._host.to(self._device, non_blocking=True)
        pieces = sent.split([t.numel() for t in tensors.values()])
        buffers = dict(self._model.named_buffers())
        with torch.no_grad():
            for tensor, piece in zip(tensors.values(), pieces, strict=True):
                tensor.copy_(piece.view_as(tensor))
            for name, first in self._buffers.items():
                if not first.is_floating_point():
                    buffers[name].copy_(first)
                elif name.endswith("running_var"):
                    # Folded from many machines, it may come out a little below zero.
                    buffers[name].clamp_(min=0)

    def _to_arrays(self, model: Any) -> Parameters:
        """In 32-bit floats; good until the next request."""
        tensors = _floats(model)
        with torch.no_grad():
            self._host.copy_(torch.cat([t.detach().reshape(-1).float() for t in tensors.values()]))
        ends = np.cumsum([t.numel() for t in tensors.values()])
        pieces = np.split(self._host.numpy(), ends[:-1])
        return {
            name: piece.reshape(tuple(tensor.shape))
            for (name, tensor), piece in zip(tensors.items(), pieces, strict=True)
        }

    def _new_optimizer(self, lr: float) -> Any:
        for parameter in self._model.parameters():
            parameter.grad = None
        trained = [p for p in self._model.parameters() if p.requires_grad]
        if self._optimizer is not None:
            return self._optimizer(trained, lr)
        return torch.optim.SGD(
            trained,
            lr=lr,
            momentum=float(self._config.get("momentum", 0)),
            weight_decay=float(self._config.get("weight_decay", 0)),
        )


def _go_on(optimizer: Any, state: Mapping[Any, Any]) -> None:
    """With the moments of an earlier one, but its own rate and settings."""
    own = optimizer.state_dict()
    optimizer.load_state_dict({"state": state, "param_groups": own["param_groups"]})


class _Losses:
    """Adds up losses where they are computed, and stops at the first that is not finite."""

    def __init__(self) -> None:
        self.steps = 0
        self.samples = 0
        self._sum = 0.0
        self._fresh: list[tuple[Any, int]] = []

    def add(self, loss: Any, samples: int) -> None:
        if loss.dim() != 0:
            raise invalid(f"the loss of a batch has the shape {tuple(loss.shape)}", "use its mean")
        self.steps += 1
        self.samples += samples
        self._fresh.append((loss, samples))
        if len(self._fresh) == _STEPS_PER_LOOK:
            self._look()

    def mean(self) -> float:
        """Over the samples so far."""
        self._look()
        return self._sum / max(self.samples, 1)

    def _look(self) -> None:
        if not self._fresh:
            return
        values = torch.stack([loss for loss, _ in self._fresh]).double().cpu()
        finite = torch.isfinite(values)
        if not bool(finite.all()):
            step = self.steps - len(self._fresh) + int(finite.long().argmin())
            raise invalid(f"the loss is not finite at step {step}", "a smaller lr may help")
        weights = torch.tensor([n for _, n in self._fresh], dtype=torch.float64)
        self._sum += float(values @ weights)
        self._fresh.clear()


class _Samples:
    """A shard as batches on the device, from (x, y) or from a Dataset."""

    def __init__(self, loaded: Any, path: Path, device: Any) -> None:
        self._device = device
        self._dataset: Any = None
        if not isinstance(loaded, (tuple, list)):
            self._dataset = loaded
            self._size = len(loaded)
        else:
            if len(loaded) != 2 or len(loaded[0]) != len(loaded[1]):
                raise invalid(f"load({path.name!r}) gave no (x, y) of equal lengths")
            self._pair = [_tensor(part) for part in loaded]
            self._size = len(self._pair[0])
            if sum(t.numel() * t.element_size() for t in self._pair) <= _RESIDENT_BYTES:
                self._pair = [_send(t, device) for t in self._pair]
        if self._size == 0:
            raise invalid(f"the shard {path.name} has no samples")

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: Indices) -> tuple[Any, Any]:
        if self._dataset is not None:
            x, y = torch.utils.data.default_collate([self._dataset[int(i)] for i in indices])
            return _send(x, self._device), _send(y, self._device)
        where = torch.from_numpy(indices)
        x, y = (_send(t[_send(where, t.device)], self._device) for t in self._pair)
        return x, y


def _tensor(part: Any) -> Any:
    if isinstance(part, np.ndarray) and part.dtype == np.float64:
        part = part.astype(np.float32)  # NumPy makes doubles where models have floats.
    return torch.as_tensor(part)


def _send(tensor: Any, device: Any) -> Any:
    """To the device. Without waiting: from pinned memory the copy runs beside the computation."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _floats(model: Any) -> dict[str, Any]:
    """Parameters and buffers of floats, each once: tied weights have two names."""
    seen: set[int] = set()
    out = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            if id(tensor) not in seen:
                seen.add(id(tensor))
                out[name] = tensor
    if not out:
        raise invalid("the model has no parameters")
    return out


def _reset(model: Any) -> None:
    """Draws the parameters of a module that was already made again, inner modules first."""
    for name, module in reversed(list(model.named_modules())):
        reset = getattr(module, "reset_parameters", None) or getattr(
            module, "_reset_parameters", None
        )
        if reset is not None:
            reset()
        elif any(True for _ in module.parameters(recurse=False)):
            raise Error(
                "invalid",
                f"{name or 'the model'} ({type(module).__name__}) has parameters but no "
                "reset_parameters()",
                "give souk.worker a function that makes the model",
            )


def _seed(seed: int) -> None:
    torch.manual_seed(seed % (1 << 63))
    np.random.seed(seed % (1 << 32))
    random.seed(seed)


def _be_deterministic() -> None:
    """The same unit must give the same bytes, so that anybody may check it."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # Read when CUDA is first used.
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    if hasattr(torch.utils, "deterministic"):  # Since 2.2. Finds bugs, but writes all memory twice.
        torch.utils.deterministic.fill_uninitialized_memory = False


def _describe(device: Any) -> str:
    if device.type != "cuda":
        return str(device)
    return f"{device} ({torch.cuda.get_device_name(device)})"

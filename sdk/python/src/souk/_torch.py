"""PyTorch: any `torch.nn.Module`, on a GPU where there is one."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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

# They divide by the root of the mean square of gradients.
_ADAPTIVE = (
    torch.optim.Adam,
    torch.optim.AdamW,
    torch.optim.NAdam,
    torch.optim.RAdam,
    torch.optim.Adamax,
    torch.optim.RMSprop,
)
# A shard up to this size is sent to the GPU once; of a larger one, each batch on its own.
_RESIDENT_BYTES = 1 << 30
# How often losses are looked at: waiting for the GPU at each step would leave it idle between.
_STEPS_PER_LOOK = 64


@dataclass(frozen=True)
class Recipe:
    """How a module learns from a batch, whatever a batch is."""

    compute: Callable[[Any, Any], tuple[Any, Any]]
    """(model, batch) -> the batch's mean loss, and what the metrics look at."""
    metrics: Callable[[Any, Any], Mapping[str, Any]] = lambda _output, _batch: {}
    optimizer: Callable[[Any, float], Any] | None = None
    check: Callable[[Any, Any], tuple[Any, Any]] | None = None
    """As `compute`, where checks differ from training."""
    precision: str = "fp32"
    """What products are computed in: fp32, bf16 or fp16. Parameters that learn stay in fp32."""
    micro_batch: int = 0
    """The most samples on the device at a time: a larger batch is added up. 0: all at once."""
    clip: float = 0
    """The longest gradient; a longer one is shortened. 0: any."""
    deterministic: bool = True


class TorchTrainer:
    """Trains a module. Its parameters that learn (`requires_grad`) and its buffers of floats travel,
    in the order of the module. What is frozen stays as the module was made, so every worker must
    make it alike; other buffers (counters) begin each unit as they were made."""

    def __init__(
        self,
        model: Any,
        build: Callable[[], Any] | None,
        recipe: Recipe,
        load: Callable[[Any], Any],
        device: str | None,
    ) -> None:
        self._model = model
        self._build = build
        self._recipe = recipe
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._precision = _Precision(recipe.precision, self._device)
        self._shards = ShardCache(lambda path: _Samples(load(path), path, self._device))
        self._config: Config = {}
        self._host: Any = None  # All that travels, on its way to a GPU or back.
        self._kept: dict[str, Any] = {}  # States of optimisers by the name of unit.keep.
        self._buffers: dict[str, Any] = {}  # As they were when the module was made.

    def setup(self, config: Config) -> Description:
        self._config = config
        if threads := config.get("threads"):
            torch.set_num_threads(int(threads))
        if self._recipe.deterministic:
            _be_deterministic()
        self._model.to(self._device)
        self._buffers = {name: buffer.clone() for name, buffer in self._model.named_buffers()}
        tensors = self._tensors(self._model)
        return Description(
            tensors=[
                TensorSpec(name, tuple(t.shape), state=name in self._buffers)
                for name, t in tensors.items()
            ],
            framework=f"pytorch {torch.__version__}",
            device=_describe(self._device),
        )

    def init(self, seed: int) -> Parameters:
        seed_all(seed)
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
        seed_all(unit.noise_seed)
        self._model.train()
        if unit.measure:
            return self._measure(samples, unit, stopped)
        optimizer = self._new_optimizer(unit.lr)
        if isinstance(optimizer, _ADAPTIVE):
            for group in optimizer.param_groups:
                group["lr"] *= unit.adaptive_gain
        # Taken out: a unit that fails leaves nothing behind.
        if (state := self._kept.pop(unit.keep, None)) is not None:
            optimizer.state.update(state["optimizer"])  # Of the same parameters: no copy is made.
            self._precision.go_on(state["scale"])
        else:
            self._precision.go_on(None)
        losses = _Losses()
        learning = self._learning()
        for indices in unit.batches(len(samples)):
            if stopped():
                break
            optimizer.zero_grad(set_to_none=True)
            losses.add(self._gradients(samples, indices), len(indices))
            self._precision.step(optimizer, learning, self._recipe.clip)
        mean = losses.mean()
        if unit.keep:
            self._kept[unit.keep] = {
                "optimizer": dict(optimizer.state),
                "scale": self._precision.state(),
            }
        return Trained(self._to_arrays(self._model), losses.steps, losses.samples, mean)

    def _measure(self, samples: _Samples, unit: Unit, stopped: Stopped) -> Trained:
        """Goes through the samples as training does, and changes running statistics alone."""
        losses = _Losses()
        with torch.no_grad(), _averaging(self._model):
            for indices in unit.batches(len(samples)):
                if stopped():
                    break
                # A batch at a time, in pieces too: normalisation looks at what is there together.
                for piece in self._pieces(indices):
                    batch = samples.batch(piece)
                    with self._precision.products():
                        loss, _output = self._recipe.compute(self._model, batch)
                losses.add(loss, len(indices))
        return Trained(self._to_arrays(self._model), losses.steps, losses.samples, losses.mean())

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        samples = self._shards.get(exam.shard)
        self._load(base)
        self._model.eval()
        check = self._recipe.check or self._recipe.compute
        losses = _Losses()
        means = Means()
        with torch.no_grad():
            for chosen in exam.slices(len(samples)):
                if stopped():
                    break
                for indices in self._pieces(np.arange(chosen.start, chosen.stop)):
                    batch = samples.batch(indices)
                    with self._precision.products():
                        loss, output = check(self._model, batch)
                    losses.add(loss, len(indices))
                    means.add(len(indices), self._recipe.metrics(output, batch))
        return Evaluated(losses.samples, losses.mean(), means.all())

    def _gradients(self, samples: _Samples, indices: Indices) -> Any:
        """Adds those of a batch up, piece by piece; its mean loss."""
        total: Any = 0
        for piece in self._pieces(indices):
            batch = samples.batch(piece)
            with self._precision.products():
                loss, _output = self._recipe.compute(self._model, batch)
            loss = loss * (len(piece) / len(indices)) if len(piece) < len(indices) else loss
            self._precision.backward(loss)
            total = total + loss.detach()
        return total

    def _pieces(self, indices: Indices) -> Iterator[Indices]:
        size = self._recipe.micro_batch or len(indices)
        for first in range(0, len(indices), size):
            yield indices[first : first + size]

    def _tensors(self, model: Any) -> dict[str, Any]:
        """What travels, by name."""
        return travelling(model)

    def _load(self, base: Parameters) -> None:
        # Asked anew each time: a forward pass may put another tensor into a buffer's place.
        tensors = self._tensors(self._model)
        with torch.no_grad():
            if self._device.type == "cuda":
                # All at once: each transfer to a GPU has a price of its own.
                host = self._host_memory(sum(t.numel() for t in tensors.values()))
                np.concatenate([value.reshape(-1) for value in base.values()], out=host.numpy())
                sent = host.to(self._device, non_blocking=True)
                pieces: Any = sent.split([t.numel() for t in tensors.values()])
            else:
                pieces = [_borrowed(value) for value in base.values()]
            for tensor, piece in zip(tensors.values(), pieces, strict=True):
                tensor.copy_(piece.view_as(tensor))
            buffers = dict(self._model.named_buffers())
            for name, first in self._buffers.items():
                if not first.is_floating_point():
                    buffers[name].copy_(first)
                elif name.endswith("running_var"):
                    # Folded from many machines, it may come out a little below zero.
                    buffers[name].clamp_(min=0)

    def _to_arrays(self, model: Any) -> Parameters:
        """In 32-bit floats; good until the next request."""
        tensors = {name: t.detach() for name, t in self._tensors(model).items()}
        if all(t.device.type == "cpu" for t in tensors.values()):
            return {name: t.float().contiguous().numpy() for name, t in tensors.items()}
        host = self._host_memory(sum(t.numel() for t in tensors.values()))
        host.copy_(torch.cat([t.reshape(-1).float() for t in tensors.values()]))
        ends = np.cumsum([t.numel() for t in tensors.values()])
        pieces = np.split(host.numpy(), ends[:-1])
        return {
            name: piece.reshape(tuple(tensor.shape))
            for (name, tensor), piece in zip(tensors.items(), pieces, strict=True)
        }

    def _host_memory(self, size: int) -> Any:
        # Kept for good: fresh memory of a model's size costs more than to fill it.
        if self._host is None:
            self._host = torch.empty(size, pin_memory=True)
        return self._host

    def _learning(self) -> list[Any]:
        return [p for p in self._model.parameters() if p.requires_grad]

    def _new_optimizer(self, lr: float) -> Any:
        for parameter in self._model.parameters():
            parameter.grad = None
        if self._recipe.optimizer is not None:
            return self._recipe.optimizer(self._learning(), lr)
        return torch.optim.SGD(
            self._learning(),
            lr=lr,
            momentum=float(self._config.get("momentum", 0)),
            weight_decay=float(self._config.get("weight_decay", 0)),
        )


@contextlib.contextmanager
def _averaging(model: Any) -> Iterator[None]:
    """Running statistics begin anew and become the mean over batches, each counting as much."""
    layers = [
        module
        for module in model.modules()
        if isinstance(module, torch.nn.modules.batchnorm._NormBase) and module.track_running_stats
    ]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    try:
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum


class _Precision:
    """What products are computed in, and the scale that gradients in fp16 need."""

    def __init__(self, name: str, device: Any) -> None:
        types = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
        if name not in types:
            raise invalid(f"precision is {name!r}", f"use {', '.join(types)}", "precision")
        if name == "fp16" and device.type != "cuda":
            raise invalid("fp16 needs a GPU", "use bf16 or fp32 here", "precision")
        self._type = types[name]
        self._device = device.type
        self._scaler: Any = None
        if name == "fp16":
            self._scaler = torch.cuda.amp.GradScaler()
            self._first = self._scaler.state_dict()

    def products(self) -> Any:
        if self._type is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device, dtype=self._type)

    def backward(self, loss: Any) -> None:
        (loss if self._scaler is None else self._scaler.scale(loss)).backward()

    def step(self, optimizer: Any, parameters: list[Any], clip: float) -> None:
        if self._scaler is not None:
            self._scaler.unscale_(optimizer)
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        if self._scaler is None:
            optimizer.step()
        else:
            self._scaler.step(optimizer)
            self._scaler.update()

    def state(self) -> Any:
        return None if self._scaler is None else self._scaler.state_dict()

    def go_on(self, state: Any) -> None:
        if self._scaler is not None:
            self._scaler.load_state_dict(state or self._first)


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
    """A shard as batches on the device, from arrays of equal lengths or from a Dataset."""

    def __init__(self, loaded: Any, path: Path, device: Any) -> None:
        self._device = device
        self._dataset: Any = None
        if not isinstance(loaded, (tuple, list)):
            self._dataset = loaded
            self._size = len(loaded)
        else:
            if len(loaded) not in (1, 2) or len({len(part) for part in loaded}) != 1:
                raise invalid(f"load({path.name!r}) gave no (x, y) of equal lengths")
            self._parts = [_tensor(part) for part in loaded]
            self._size = len(self._parts[0])
            if sum(t.numel() * t.element_size() for t in self._parts) <= _RESIDENT_BYTES:
                self._parts = [_send(t, device) for t in self._parts]
        if self._size == 0:
            raise invalid(f"the shard {path.name} has no samples")

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: Indices) -> Any:
        if self._dataset is not None:
            batch = torch.utils.data.default_collate([self._dataset[int(i)] for i in indices])
            return _send_all(batch, self._device)
        where = torch.from_numpy(indices)
        return tuple(_send(t[_send(where, t.device)], self._device) for t in self._parts)


def _tensor(part: Any) -> Any:
    if isinstance(part, np.ndarray) and part.dtype == np.float64:
        part = part.astype(np.float32)  # NumPy makes doubles where models have floats.
    return torch.as_tensor(part)


def _send(tensor: Any, device: Any) -> Any:
    """To the device. Without waiting: from pinned memory the copy runs beside the computation."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _send_all(batch: Any, device: Any) -> Any:
    """What a Dataset's samples were collated into: a tensor, or a list or dict of them."""
    if isinstance(batch, torch.Tensor):
        return _send(batch, device)
    if isinstance(batch, Mapping):
        return {name: _send_all(part, device) for name, part in batch.items()}
    if isinstance(batch, (tuple, list)):
        return [_send_all(part, device) for part in batch]
    return batch


def _borrowed(value: Any) -> Any:
    """An array as a tensor that is only read: the mapping of a file cannot be written to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(value)


def travelling(model: Any) -> dict[str, Any]:
    """Parameters that learn and buffers of floats, each once: tied weights have two names."""
    seen: set[int] = set()
    out = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            continue
        if isinstance(tensor, torch.nn.Parameter) and not tensor.requires_grad:
            continue
        if id(tensor) not in seen:
            seen.add(id(tensor))
            out[name] = tensor
    if not any(isinstance(tensor, torch.nn.Parameter) for tensor in out.values()):
        frozen = any(True for _ in model.parameters())
        raise invalid(
            "the model has no parameters" + (" that learn" if frozen else ""),
            "all are frozen: set requires_grad of some" if frozen else "",
        )
    return out


def _reset(model: Any) -> None:
    """Draws the parameters of a module that was already made again, inner modules first."""
    for name, module in reversed(list(model.named_modules())):
        reset = getattr(module, "reset_parameters", None) or getattr(
            module, "_reset_parameters", None
        )
        if reset is not None:
            reset()
        elif any(p.requires_grad for p in module.parameters(recurse=False)):
            raise Error(
                "invalid",
                f"{name or 'the model'} ({type(module).__name__}) has parameters but no "
                "reset_parameters()",
                "give souk.worker a function that makes the model",
            )


def seed_all(seed: int) -> None:
    """All generators that a model or its samples may draw from."""
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

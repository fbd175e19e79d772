"""`souk.worker`: finds the adapter for what the user has."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ._serve import serve
from .data import load_shard
from .errors import invalid
from .trainer import (
    Config,
    Description,
    Evaluated,
    Exam,
    Parameters,
    Stopped,
    Trained,
    Trainer,
    Unit,
)


def worker(
    model: Any = None,
    *,
    loss: Callable[..., Any] | None = None,
    compute_loss: Callable[..., Any] | None = None,
    optimizer: Callable[..., Any] | None = None,
    load: Callable[..., Any] = load_shard,
    metrics: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    device: str | None = None,
    parameters: Any = None,
    gradient: Callable[..., Any] | None = None,
    evaluate: Callable[..., Any] | None = None,
) -> None:
    """Serves the agent until the job has no more work here, then returns.

    PyTorch and Keras: `model` is a model, or a function that makes one, of the job's configuration
    if it takes an argument. For PyTorch, `loss(output, y)` is the mean over a batch,
    `optimizer(parameters, lr)` makes an optimiser (SGD with the job's `momentum` and `weight_decay`
    without it), `device` is a GPU where there is one. A Keras model comes compiled.

    Instead of `loss`, `compute_loss(model, batch)` gives the loss of a batch, or the loss and an
    output, as the trainers of Hugging Face do; `metrics` are then functions of (output, batch). A
    LightningModule needs neither: its `training_step`, `validation_step` and `configure_optimizers`
    are used, and what its checks log are the metrics.

    NumPy: `parameters` is a dict of arrays, or a function that makes one of a
    `numpy.random.Generator`. `gradient(parameters, x, y)` gives the loss and a dict of gradients,
    `evaluate(parameters, x, y)` the loss and a dict of metrics.

    `load(path)` reads the file of a shard and gives `(x, y)`, or for PyTorch a Dataset; without it
    built-in shards are read. `metrics` are functions of `(output, y)` with a batch's mean.
    """
    chosen = {
        "loss": loss,
        "compute_loss": compute_loss,
        "optimizer": optimizer,
        "metrics": metrics,
        "device": device,
    }
    if parameters is not None:
        from ._numpy import NumpyTrainer

        _refuse("parameters in NumPy", model=model, **chosen)
        if gradient is None:
            raise invalid("parameters need their gradient", "gradient=f, f(parameters, x, y)")
        serve(NumpyTrainer(parameters, gradient, evaluate, load))
        return
    if model is None:
        raise invalid("a worker needs a model or parameters")
    _refuse("a model", gradient=gradient, evaluate=evaluate)

    def adapter(built: Any, build: Callable[[], Any] | None) -> Trainer:
        return _adapter(built, build, load, chosen)

    serve(Deferred(model, adapter))


def _adapter(
    built: Any,
    build: Callable[[], Any] | None,
    load: Callable[..., Any],
    chosen: Mapping[str, Any],
) -> Trainer:
    """Of a model, with what the user chose for it."""
    # Keras first: with PyTorch below it, its models are PyTorch's as well.
    if hasattr(built, "train_on_batch") and hasattr(built, "set_weights"):
        from ._keras import KerasTrainer

        _refuse("a Keras model, which is compiled with its own,", **chosen)
        return KerasTrainer(built, build, load)
    torch = sys.modules.get("torch")  # Whoever made a module of it has imported it.
    if torch is not None and isinstance(built, torch.nn.Module):
        from ._recipes import recipe_of
        from ._torch import TorchTrainer

        given = {name: value for name, value in chosen.items() if name != "device"}
        return TorchTrainer(built, build, recipe_of(built, **given), load, chosen["device"])
    raise invalid(
        f"{type(built).__name__} is neither a PyTorch nor a Keras model",
        "souk.serve takes trainers of any kind",
    )


def _refuse(what: str, **given: object) -> None:
    """An argument that would be ignored is a mistake somewhere else."""
    for name, value in given.items():
        if value is not None:
            raise invalid(f"{what} takes no {name}=")


class Deferred:
    """A trainer whose model is made at `hello`, when the configuration is known."""

    def __init__(
        self, model: Any, adapter: Callable[[Any, Callable[[], Any] | None], Trainer]
    ) -> None:
        self._model = model
        self._adapter = adapter
        self._trainer: Trainer | None = None

    def setup(self, config: Config) -> Description:
        is_model = hasattr(self._model, "parameters") or hasattr(self._model, "get_weights")
        if is_model and not inspect.isclass(self._model):
            self._trainer = self._adapter(self._model, None)
        else:
            build = _builder(self._model, config)
            if (torch := sys.modules.get("torch")) is not None:
                torch.manual_seed(0)  # What is frozen must come out alike on every worker.
            self._trainer = self._adapter(build(), build)
        return self._trainer.setup(config)

    def init(self, seed: int) -> Parameters:
        return self._made().init(seed)

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        return self._made().train(base, unit, stopped)

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        return self._made().evaluate(base, exam, stopped)

    def _made(self) -> Trainer:
        assert self._trainer is not None, "serve() lets nothing through before hello"
        return self._trainer


def _builder(factory: Any, config: Config) -> Callable[[], Any]:
    """Calls `factory` with the configuration if it asks for an argument."""
    if not callable(factory):
        raise invalid(f"{type(factory).__name__} is no model and makes none")
    asks = any(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in inspect.signature(factory).parameters.values()
    )
    return (lambda: factory(config)) if asks else factory

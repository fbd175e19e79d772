"""What `souk.worker` is given for a PyTorch model, as a recipe: a loss, a compute_loss, or a
LightningModule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._torch import Recipe
from .errors import invalid

Metrics = Mapping[str, Callable[[Any, Any], Any]]


def recipe_of(
    model: Any,
    loss: Callable[..., Any] | None,
    compute_loss: Callable[..., Any] | None,
    optimizer: Callable[..., Any] | None,
    metrics: Metrics | None,
) -> Recipe:
    """The one way that was given to compute a loss."""
    if loss is not None and compute_loss is not None:
        raise invalid("there is a loss and a compute_loss", "give one of them")
    if compute_loss is not None:
        return _with_compute_loss(compute_loss, optimizer, metrics or {})
    if loss is not None:
        return _with_loss(loss, optimizer, metrics or {})
    if hasattr(model, "training_step") and hasattr(model, "configure_optimizers"):
        if metrics is not None:
            raise invalid("a LightningModule takes no metrics=", "log them in its validation_step")
        return _of_lightning(model, optimizer)
    raise invalid(
        "a PyTorch model needs a loss",
        "loss=torch.nn.functional...., compute_loss=f, or a LightningModule",
    )


def _with_loss(
    loss: Callable[..., Any], optimizer: Callable[..., Any] | None, metrics: Metrics
) -> Recipe:
    def compute(model: Any, batch: Any) -> tuple[Any, Any]:
        x, y = batch
        output = model(x)
        return loss(output, y), output

    def measured(output: Any, batch: Any) -> Mapping[str, Any]:
        return {name: metric(output, batch[1]) for name, metric in metrics.items()}

    return Recipe(compute, measured, optimizer)


def _with_compute_loss(
    compute_loss: Callable[..., Any], optimizer: Callable[..., Any] | None, metrics: Metrics
) -> Recipe:
    def compute(model: Any, batch: Any) -> tuple[Any, Any]:
        given = compute_loss(model, batch)
        if isinstance(given, (tuple, list)):
            return given[0], given[1] if len(given) > 1 else None
        return given, None

    def measured(output: Any, batch: Any) -> Mapping[str, Any]:
        return {name: metric(output, batch) for name, metric in metrics.items()}

    return Recipe(compute, measured, optimizer)


def _of_lightning(model: Any, optimizer: Callable[..., Any] | None) -> Recipe:
    """By its methods, not by its class: Lightning need not be installed here."""
    logged: dict[str, Any] = {}

    def log(name: str, value: Any, *_args: Any, **_more: Any) -> None:
        logged[name] = value

    def log_dict(values: Mapping[str, Any], *_args: Any, **_more: Any) -> None:
        logged.update(values)

    # Its own need a Trainer of Lightning's, which is not here.
    model.log, model.log_dict = log, log_dict

    def compute(_model: Any, batch: Any) -> tuple[Any, Any]:
        logged.clear()
        return _loss_in(model.training_step(batch, 0), "training_step"), None

    def check(_model: Any, batch: Any) -> tuple[Any, Any]:
        logged.clear()
        said = model.validation_step(batch, 0)
        if said is None:  # Usual: what is measured is only logged.
            for name in ("val_loss", "loss", "validation_loss"):
                if name in logged:
                    said = logged[name]
                    break
        found = {name: value for name, value in logged.items() if not name.endswith("loss")}
        return _loss_in(said, "validation_step"), found

    def made(parameters: Any, lr: float) -> Any:
        return optimizer(parameters, lr) if optimizer is not None else _optimizer_of(model, lr)

    return Recipe(
        compute,
        lambda output, _batch: output or {},
        made,
        check if hasattr(model, "validation_step") else None,
    )


def _loss_in(said: Any, where: str) -> Any:
    if isinstance(said, Mapping):
        said = said.get("loss")
    if not hasattr(said, "backward"):
        raise invalid(
            f"{where} gave {type(said).__name__}, not a loss",
            "return the loss, or log it as val_loss",
        )
    return said


def _optimizer_of(model: Any, lr: float) -> Any:
    """What configure_optimizers makes, with the rate of the unit: schedules are the job's (`lr:
    {start: ..., end: ...}`). Groups keep the proportions of their rates."""
    given = model.configure_optimizers()
    if isinstance(given, Mapping):
        given = given["optimizer"]
    while isinstance(given, (tuple, list)):
        if len(given) == 0 or (
            len(given) > 1 and all(hasattr(one, "param_groups") for one in given)
        ):
            raise invalid(f"configure_optimizers gave {len(given)} optimisers", "a worker has one")
        given = given[0]
    if not hasattr(given, "param_groups"):
        raise invalid(f"configure_optimizers gave {type(given).__name__}", "return an optimiser")
    first = given.param_groups[0]["lr"]
    for group in given.param_groups:
        group["lr"] = lr * (group["lr"] / first if first else 1)
    return given

"""The worker protocol (docs/worker-protocol.md) around a trainer."""

from __future__ import annotations

import math
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import safetensors
from ._stdio import Channel, Request, take_standard_streams
from ._version import VERSION
from .errors import Error, invalid
from .trainer import Exam, Parameters, Stopped, TensorSpec, Trainer, Unit

PROTOCOL = 1
_ERROR_LIMIT = 2_000  # Characters of an answer; the whole goes to the log.
_METRIC_NAME = re.compile(r"[A-Za-z0-9_.@/-]{1,64}")
_MOST_METRICS = 16
_MOST_METRIC = 1e100

Answer = dict[str, Any]


def serve(trainer: Trainer, name: str = "souk-python", version: str = VERSION) -> None:
    """Answers the agent with `trainer` until it says bye or its end of the pipe closes.

    `name` and `version` are what the job's page shows. Returns at the end; the program should then
    leave with status 0.
    """
    channel = take_standard_streams()
    session = Session(trainer, name, version, Path.cwd())
    while (request := channel.next()) is not None:
        _answer(channel, request, session)
        if request.body.get("op") == "bye":
            return


def _answer(channel: Channel, request: Request, session: Session) -> None:
    try:
        if request.problem:
            raise invalid(request.problem)
        answer = session.handle(request.body, lambda: channel.stopped(request))
    except Error as error:
        print(f"souk: {error}", file=sys.stderr, flush=True)
        answer = {"ok": False, "error": str(error)[:_ERROR_LIMIT]}
    except Exception as error:  # The user's code: whatever it is, the worker goes on.
        traceback.print_exc()
        sys.stderr.flush()
        answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:_ERROR_LIMIT]}
    channel.answer(answer)


class Session:
    """One conversation. Knows the requests and the files, but not where they come from."""

    def __init__(self, trainer: Trainer, name: str, version: str, folder: Path) -> None:
        self._trainer = trainer
        self._name = name
        self._version = version
        self._folder = folder  # Of the request's file names, wherever user code moves to.
        self._config: Mapping[str, Any] = {}
        self._tensors: list[TensorSpec] | None = None
        self._operations: dict[str, Callable[[Mapping[str, Any], Stopped], Answer]] = {
            "hello": self._hello,
            "init": self._init,
            "train": self._train,
            "evaluate": self._evaluate,
            "bye": lambda _request, _stopped: {},
        }

    def handle(self, request: Mapping[str, Any], stopped: Stopped) -> Answer:
        """The answer to one request. Raises whatever went wrong."""
        op = request.get("op")
        operation = self._operations.get(op) if isinstance(op, str) else None
        if operation is None:
            raise invalid(f"unknown op {op!r}", f"known are {', '.join(self._operations)}", "op")
        if self._tensors is None and op not in ("hello", "bye"):
            raise invalid(f"{op} before hello")
        return {"ok": True, **operation(request, stopped)}

    def _hello(self, request: Mapping[str, Any], _stopped: Stopped) -> Answer:
        if request.get("protocol") != PROTOCOL:
            raise invalid(f"protocol {request.get('protocol')!r}", f"this is {PROTOCOL}")
        if self._tensors is not None:
            raise invalid("a second hello")
        config = request.get("config", {})
        if not isinstance(config, dict):
            raise invalid("config is not an object", field="config")
        description = self._trainer.setup(config)
        self._config = config
        self._tensors = list(description.tensors)
        return {
            "protocol": PROTOCOL,
            "name": self._name,
            "version": self._version,
            "framework": description.framework,
            "device": description.device,
            "tensors": [
                {"name": t.name, "shape": list(t.shape)} | ({"state": True} if t.state else {})
                for t in self._tensors
            ],
        }

    def _init(self, request: Mapping[str, Any], _stopped: Stopped) -> Answer:
        out = self._file(request, "out")
        safetensors.write(out, self._checked(self._trainer.init(_integer(request, "seed"))))
        return {}

    def _train(self, request: Mapping[str, Any], stopped: Stopped) -> Answer:
        out = self._file(request, "out")
        send = request.get("send", "delta")
        if send not in ("delta", "weights"):
            raise invalid(f"send is {send!r}", "use delta or weights", "send")
        unit = Unit(
            shard=self._file(request, "shard"),
            first_step=_integer(request, "first_step", default=0),
            steps=_integer(request, "steps"),
            batch=_integer(request, "batch", least=1),
            lr=_number(request if "lr" in request else self._config, "lr"),
            seed=_integer(request, "seed"),
            of_batch=_integer(request, "of_batch", default=0),
            keep=_text(request, "keep"),
            measure=request.get("measure") is True,
        )
        base = self._base(request)
        began = time.perf_counter()
        done = self._trainer.train(base, unit, stopped)
        seconds = time.perf_counter() - began
        if not math.isfinite(done.loss):
            raise invalid("the loss is not finite", "a smaller lr may help")
        new = self._checked(done.parameters)
        for tensor, value in new.items():
            if not _is_finite(value):
                raise invalid(f"{tensor!r} is not finite after step {done.steps - 1}")
        self._write(out, new, base if send == "delta" else None)
        return {
            "steps": done.steps,
            "samples": done.samples,
            "loss": done.loss,
            "seconds": round(seconds, 6),
        }

    def _write(self, out: Path, new: Parameters, base: Parameters | None) -> None:
        """The new parameters, or how they differ from the base, straight into the file."""
        with safetensors.in_place(out, {name: v.shape for name, v in new.items()}) as update:
            for name, value in new.items():
                if base is None:
                    np.copyto(update[name], value)
                else:
                    np.subtract(value, base[name], out=update[name])

    def _evaluate(self, request: Mapping[str, Any], stopped: Stopped) -> Answer:
        exam = Exam(self._file(request, "shard"), _integer(request, "batch", default=256, least=1))
        done = self._trainer.evaluate(self._base(request), exam, stopped)
        metrics = _metrics(done.metrics)
        if not math.isfinite(done.loss):
            raise invalid("loss is not finite")
        return {"samples": done.samples, "loss": done.loss, "metrics": metrics}

    def _file(self, request: Mapping[str, Any], field: str) -> Path:
        name = request.get(field)
        if not isinstance(name, str) or not name or "\0" in name:
            raise invalid("needs the name of a file", field=field)
        return self._folder / name

    def _base(self, request: Mapping[str, Any]) -> Parameters:
        path = self._file(request, "base")
        return self._checked(safetensors.read(path), f"{path.name}: ")

    def _checked(self, tensors: Mapping[str, Any], where: str = "") -> Parameters:
        """The tensors in the model's order, if they are exactly those of `hello`."""
        assert self._tensors is not None, "handle() lets nothing through before hello"
        out: dict[str, Any] = {}
        for spec in self._tensors:
            tensor = tensors.get(spec.name)
            if tensor is None:
                raise invalid(f"{where}tensor {spec.name!r} is missing")
            if tensor.dtype != np.float32 or tensor.shape != spec.shape:
                raise invalid(
                    f"{where}tensor {spec.name!r} is {tensor.dtype} of {tensor.shape}",
                    f"the model has float32 of {spec.shape}",
                )
            out[spec.name] = tensor
        if len(tensors) != len(out):
            extra = sorted(set(tensors) - set(out))
            raise invalid(f"{where}the model has no tensor {extra[0]!r}")
        return out


def _metrics(given: Mapping[str, Any]) -> dict[str, float]:
    """What the market takes (src/train/metrics.h): said here, where the script's log shows it."""
    out: dict[str, float] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not _METRIC_NAME.fullmatch(name):
            raise invalid(
                f"a metric is named {name!r}", "use 1 to 64 letters, digits or _.@/-", "metrics"
            )
        out[name] = float(value)
        if not math.isfinite(out[name]):
            raise invalid(f"{name} is not finite")
        if name == "accuracy" and not 0 <= out[name] <= 1:
            raise invalid(f"accuracy is {out[name]}", "it is a share of the samples: 0 to 1")
        if name == "perplexity" and out[name] <= 0:
            raise invalid(f"perplexity is {out[name]}", "it is exp(loss), and so above 0")
        if abs(out[name]) > _MOST_METRIC:
            raise invalid(f"{name} is {out[name]}", f"the most is {_MOST_METRIC}")
    if len(out) > _MOST_METRICS:
        raise invalid(f"evaluate gives {len(out)} metrics", f"{_MOST_METRICS} at most")
    return out


def _is_finite(value: Any) -> bool:
    # A square that is finite is the quick way to know; one that is not may have overflowed.
    flat = value.reshape(-1)
    return bool(np.isfinite(np.dot(flat, flat))) or bool(np.isfinite(flat).all())


def _integer(
    request: Mapping[str, Any], field: str, default: int | None = None, least: int = 0
) -> int:
    value = request.get(field, default)
    if type(value) is not int or not least <= value < 1 << 64:
        raise invalid(f"needs an integer from {least} on, not {value!r}", field=field)
    return value


def _text(request: Mapping[str, Any], field: str) -> str:
    value = request.get(field, "")
    if type(value) is not str:
        raise invalid(f"needs a text, not {value!r}", field=field)
    return value


def _number(request: Mapping[str, Any], field: str) -> float:
    value = request.get(field)
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise invalid(f"needs a number, not {value!r}", field=field)
    return float(value)  # type: ignore[arg-type]

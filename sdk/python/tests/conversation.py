"""The agent's side of the worker protocol, for tests: starts a script and talks to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "src"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
sys.path.insert(0, str(SOURCES))

import numpy as np  # noqa: E402

from souk import safetensors  # noqa: E402

DEADLINE_S = 600  # For a whole conversation; none is expected to take this long.


class Worker:
    """A worker process in a folder of its own."""

    def __init__(self, script: str | Path, python: str = sys.executable, **env: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="souk-worker-"))
        if isinstance(script, str):
            (self.folder / "script.py").write_text(script)
            script = self.folder / "script.py"
        self._log = open(self.folder / "log", "w+")
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        self.process = subprocess.Popen(
            [python, "-B", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=self.folder,
            env={**inherited, "PYTHONPATH": str(SOURCES), "OMP_NUM_THREADS": "1", **env},
        )

    def send(self, op: str, **fields: Any) -> None:
        self.send_line(json.dumps({"op": op, **fields}))

    def send_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the worker left; its log:\n{self.log()}")
        body = json.loads(line)
        assert isinstance(body, dict)
        return body

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """The answer, whatever it is."""
        self.send(op, **fields)
        return self.answer()

    def good(self, op: str, **fields: Any) -> dict[str, Any]:
        """An answer that must be ok."""
        answer = self.ask(op, **fields)
        if answer.get("ok") is not True:
            raise AssertionError(f"{op}: {answer}\n{self.log()}")
        return answer

    def error(self, op: str, **fields: Any) -> str:
        """The words of an answer that must not be ok."""
        answer = self.ask(op, **fields)
        assert answer["ok"] is False, answer
        return str(answer["error"])

    def hello(self, **config: Any) -> dict[str, Any]:
        return self.good("hello", protocol=1, config={"threads": 1, **config})

    def read(self, name: str) -> dict[str, Any]:
        return {k: np.array(v) for k, v in safetensors.read(self.folder / name).items()}

    def bytes(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def write(self, name: str, **tensors: Any) -> str:
        safetensors.write(self.folder / name, tensors)
        return name

    def log(self) -> str:
        self._log.flush()
        return (self.folder / "log").read_text()

    def leave(self) -> int:
        """Closes the worker's input and returns its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(DEADLINE_S)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE_S)
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class WorkerTest(unittest.TestCase):
    """A test case that starts workers and ends them."""

    def start(self, script: str | Path, **env: str) -> Worker:
        worker = Worker(script, **env)
        self.addCleanup(worker.end)
        return worker


def blobs(samples: int, seed: int, classes: int = 3, size: int = 8) -> dict[str, Any]:
    """A toy problem: one cloud of points for each class, easily told apart."""
    centres = np.random.default_rng(99).normal(size=(classes, size))
    rng = np.random.default_rng(seed)
    y = np.arange(samples) % classes
    x = centres[y] + 0.3 * rng.normal(size=(samples, size))
    return {"x": x.astype(np.float32), "y": y.astype(np.int64)}


def learn(
    worker: Worker, epochs: int = 3, lr: float = 0.1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plays a market with one worker on the toy problem: the exams before and after."""
    for shard in range(2):
        worker.write(f"s{shard}", **blobs(96, seed=shard))
    worker.write("v", **blobs(90, seed=7))
    worker.good("init", seed=1, out="w")
    before = worker.good("evaluate", base="w", shard="v", batch=32)
    for epoch in range(epochs):
        for shard in range(2):
            for first in (0, 3):
                worker.good(
                    "train", base="w", shard=f"s{shard}", out="u", send="delta",
                    first_step=first, steps=3, batch=16, lr=lr, seed=epoch,
                )  # fmt: skip
                weights, update = worker.read("w"), worker.read("u")
                worker.write("w", **{k: v + update[k] for k, v in weights.items()})
    return before, worker.good("evaluate", base="w", shard="v", batch=32)

"""The examples of the README do what it says."""

from __future__ import annotations

import importlib.util
import re
import unittest
from pathlib import Path

import numpy as np
from conversation import Worker, WorkerTest

README = Path(__file__).resolve().parent.parent / "README.md"
UNIT = {"base": "w", "shard": "s", "out": "u", "steps": 5, "batch": 8, "lr": 0.1, "seed": 1}


def example(heading: str) -> str:
    section = README.read_text().split(f"## {heading}\n")[1]
    match = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert match is not None
    return match.group(1)


class Readme(WorkerTest):
    def run_unit(self, w: Worker) -> None:
        w.hello()
        w.good("init", seed=7, out="w")
        first = w.good("train", **UNIT)
        self.assertEqual(first["samples"], 40)
        w.good("train", **{**UNIT, "steps": 40}, send="weights")
        trained = w.good("evaluate", base="u", shard="s", batch=8)
        self.assertLess(trained["loss"], first["loss"])

    def images(self, w: Worker) -> None:
        y = np.arange(40, dtype=np.int64) % 10
        w.write("s", x=(np.eye(784, dtype=np.uint8)[y * 40] * 255).reshape(40, 28, 28), y=y)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_pytorch(self) -> None:
        w = self.start(example("PyTorch"))
        self.images(w)
        self.run_unit(w)

    @unittest.skipUnless(importlib.util.find_spec("keras"), "Keras is not installed")
    def test_keras(self) -> None:
        w = self.start(example("Keras"))
        self.images(w)
        self.run_unit(w)

    def test_numpy(self) -> None:
        w = self.start(example("NumPy"))
        rows = np.random.default_rng(0).normal(size=(40, 6))
        rows[:, 5] = rows[:, :5].sum(axis=1) + 3
        np.savetxt(w.folder / "s", rows, delimiter=",")
        self.run_unit(w)

    def test_a_trainer_of_ones_own(self) -> None:
        w = self.start(example("Anything else"))
        with open(w.folder / "s", "wb") as file:
            np.save(file, np.random.default_rng(0).normal(5, 1, (40, 3)).astype(np.float32))
        self.run_unit(w)


if __name__ == "__main__":
    unittest.main()

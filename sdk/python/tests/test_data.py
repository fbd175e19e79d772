"""Shards as arrays, and the arguments of a worker."""

from __future__ import annotations

import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import conversation  # noqa: F401  Finds the sources.
import numpy as np

import souk
from souk import safetensors
from souk.data import Means, ShardCache


class Data(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "shard"

    def test_bytes_are_scaled_and_floats_are_not(self) -> None:
        y = np.array([4, 5], np.int64)
        safetensors.write(self.path, {"x": np.array([[0], [255]], np.uint8), "y": y})
        self.assertEqual(souk.load_shard(self.path)[0].tolist(), [[0], [1]])
        safetensors.write(self.path, {"x": np.array([[0], [255]], np.float32), "y": y})
        self.assertEqual(souk.load_shard(self.path)[0].tolist(), [[0], [255]])
        self.assertEqual(souk.load_shard(self.path)[1].tolist(), [4, 5])

    def test_text_becomes_samples_with_the_bytes_that_follow(self) -> None:
        safetensors.write(self.path, {"x": np.arange(8, dtype=np.uint8)})
        x, y = souk.load_text(3)(self.path)
        self.assertEqual(x.tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(y.tolist(), [[1, 2, 3], [4, 5, 6]])
        with self.assertRaises(souk.Error):
            souk.load_text(8)(self.path)

    def test_accuracy_counts_every_prediction(self) -> None:
        output = np.array([[[0, 1], [1, 0]], [[0, 1], [0, 1]]])
        self.assertEqual(souk.accuracy(output, np.array([[1, 1], [1, 1]])), 0.75)

    def test_metrics_of_batches_come_to_what_all_samples_come_to(self) -> None:
        rng = np.random.default_rng(1)
        y, output = rng.normal(size=10), rng.normal(size=(10, 1))
        means = Means()
        for part in (slice(0, 1), slice(1, 7), slice(7, 10)):
            o, t = output[part], y[part]
            values = {"rmse": souk.rmse(o, t), "mae": souk.mae(o, t)}
            values["perplexity"] = np.exp(((o[:, 0] - t) ** 2).mean())
            means.add(len(t), values)
        off = output[:, 0] - y
        self.assertEqual(means.samples, 10)
        found = means.all()
        self.assertAlmostEqual(found["rmse"], np.sqrt((off**2).mean()))
        self.assertAlmostEqual(found["mae"], np.abs(off).mean())
        self.assertAlmostEqual(found["perplexity"], np.exp((off**2).mean()))
        self.assertEqual(Means().all(), {})

    def test_only_a_shard_that_has_settled_is_kept(self) -> None:
        loads: list[Path] = []
        cache = ShardCache(lambda path: loads.append(path) or len(loads))  # type: ignore[func-returns-value]
        self.path.write_text("fresh")
        with unittest.mock.patch("souk.data._TRUSTED_AGE_NS", 10**18):
            cache.get(self.path)
            cache.get(self.path)
            self.assertEqual(len(loads), 2)  # It might have changed within one tick of the clock.
        with unittest.mock.patch("souk.data._TRUSTED_AGE_NS", -1):
            cache.get(self.path)
            cache.get(self.path)
            self.assertEqual(len(loads), 3)
            os.utime(self.path, ns=(1, 1))
            cache.get(self.path)
            self.assertEqual(len(loads), 4)


class Arguments(unittest.TestCase):
    def test_arguments_that_would_be_ignored_are_refused(self) -> None:
        for words, arguments in (
            ("a model or parameters", {}),
            ("gradient", {"parameters": {"a": 1}}),
            ("metrics=", {"parameters": {"a": 1}, "gradient": len, "metrics": {}}),
            ("evaluate=", {"model": len, "evaluate": len}),
        ):
            with self.assertRaises(souk.Error) as caught:
                souk.worker(**arguments)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()

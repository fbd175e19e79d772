"""souk-torch with task: regression, as an agent sees it. Takes the binary from SOUK_TORCH."""

import json
import unittest

import numpy as np
from test_torch import TorchTest, unit, write_tensors

AMOUNTS = {"model": "mlp", "input": [3], "hidden": 16, "task": "regression",
           "target_mean": 400_000, "target_std": 92_000}


class Amounts(TorchTest):
    def amounts(self, name, samples):
        """Rows of three features, and an amount in the hundred thousands."""
        x = self.random.normal(size=(samples, 3)).astype(np.float32)
        y = (400_000 + 90_000 * x[:, 0] - 20_000 * x[:, 1]).astype(np.float32)
        write_tensors(self.path(name), {"x": x, "y": y})
        return x, y

    def test_amounts_are_estimated_and_shards_combine_exactly(self):
        x, y = self.amounts("shard", 400)
        write_tensors(self.path("a"), {"x": x[:30], "y": y[:30]})
        write_tensors(self.path("b"), {"x": x[30:200], "y": y[30:200]})
        write_tensors(self.path("both"), {"x": x[:200], "y": y[:200]})
        trainer = self.start(**AMOUNTS)
        self.assertEqual(self.hello["tensors"][-1]["shape"], [1])
        for seed in range(20):
            self.train(trainer, send="weights", out="base", batch=20, steps=20, seed=seed)
        told = {}
        for shard in ("a", "b", "both"):
            answer = self.check(trainer.ask("evaluate", base="base", shard=shard, batch=64))
            told[shard] = {"samples": answer["samples"], "loss": answer["loss"],
                           **answer["metrics"]}
        self.assertLess(told["both"]["rmse"], 5_000)
        self.assertLessEqual(told["both"]["mae"], told["both"]["rmse"])
        for name in ("loss", "mae", "offset_mean", "offset_square"):
            mean = (30 * told["a"][name] + 170 * told["b"][name]) / 200
            self.assertAlmostEqual(mean / told["both"][name], 1, places=4, msg=name)
        square = (30 * told["a"]["rmse"]**2 + 170 * told["b"]["rmse"]**2) / 200
        self.assertAlmostEqual(square / told["both"]["rmse"]**2, 1, places=4)
        spread = told["both"]["offset_square"] - told["both"]["offset_mean"]**2
        self.assertAlmostEqual(spread / y[:200].astype(np.float64).var(), 1, places=4)
        # Of estimates in the amounts' own unit.
        with open(self.path("config.json"), "w") as file:
            json.dump(AMOUNTS, file)
        done = self.run_tool("predict", "--config", "config.json", "--model", "base",
                             stdin=json.dumps(x[0].tolist()) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(json.loads(done.stdout)["value"], y[0], delta=20_000)

    def test_amounts_that_cannot_be_estimated_are_named(self):
        trainer = self.start(**AMOUNTS)
        write_tensors(self.path("shard"), {"x": np.zeros((4, 3), np.float32),
                                           "y": np.zeros(4, np.int64)})
        self.assertIn("F32 [n] for task: regression", trainer.ask("train", **unit())["error"])
        write_tensors(self.path("shard"), {"x": np.zeros((4, 3), np.float32),
                                           "y": np.array([1, 2, np.nan, 3], np.float32)})
        self.assertIn("not finite", trainer.ask("train", **unit())["error"])
        for config, told in (({"task": "ranking"}, "classification or regression"),
                             ({"task": "regression", "target_std": 0}, "target_std is 0"),
                             ({"task": "regression", "model": "char-transformer"}, "reads text")):
            answer = trainer.ask("hello", protocol=1, config={**AMOUNTS, **config})
            self.assertIn(told, answer["error"])


if __name__ == "__main__":
    unittest.main()

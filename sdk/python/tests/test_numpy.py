"""The NumPy adapter, through a real process."""

from __future__ import annotations

import unittest

import numpy as np
from conversation import EXAMPLES, WorkerTest, blobs, learn

SCRIPT = """
import numpy as np, souk

def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def gradient(p, x, y):
    q = softmax(x @ p["w"] + p["b"])
    rows = np.arange(len(y))
    loss = -np.log(q[rows, y]).mean()
    q[rows, y] -= 1
    return loss, {"w": x.T @ q / len(y), "b": q.mean(axis=0)}

def evaluate(p, x, y):
    return gradient(p, x, y)[0], {"accuracy": souk.accuracy(x @ p["w"] + p["b"], y)}

souk.worker(
    parameters=lambda rng: {"w": rng.normal(size=(8, 3)) / 10, "b": np.zeros(3)},
    gradient=gradient,
    evaluate=evaluate,
)
"""

MEASURES = """
import numpy as np, souk
def gradient(p, x, y):
    return 0.0, {"p": p["p"]}
souk.worker(parameters={"p": np.zeros(2)}, gradient=gradient,
            evaluate=lambda p, x, y: (0.5, METRICS))
"""

UNIT = {"base": "w", "shard": "s", "out": "u", "steps": 3, "batch": 8, "lr": 0.1, "seed": 5}


class Numpy(WorkerTest):
    def test_it_learns_the_toy_problem(self) -> None:
        w = self.start(SCRIPT)
        said = w.hello(momentum=0.5)
        self.assertIn("numpy", said["framework"])
        self.assertEqual([t["shape"] for t in said["tensors"]], [[8, 3], [3]])
        before, after = learn(w)
        self.assertEqual(after["samples"], 90)
        self.assertLess(after["loss"], before["loss"] / 2)
        self.assertGreater(after["metrics"]["accuracy"], 0.95)

    def test_same_requests_give_the_same_bytes(self) -> None:
        outputs = []
        for _ in range(2):
            w = self.start(SCRIPT)
            w.hello(momentum=0.9)
            w.write("s", **blobs(40, 1))
            w.good("init", seed=3, out="w")
            for first in (0, 3, 0):  # Whatever was done in between.
                w.good("train", **UNIT, first_step=first)
            outputs.append((w.bytes("w"), w.bytes("u")))
            w.good("train", **UNIT, first_step=3)
            self.assertNotEqual(w.bytes("u"), outputs[-1][1])
            w.good("init", seed=4, out="w")
            self.assertNotEqual(w.bytes("w"), outputs[-1][0])
        self.assertEqual(outputs[0], outputs[1])

    def test_a_step_is_that_of_momentum_sgd(self) -> None:
        w = self.start(
            "import numpy as np, souk\n"
            "souk.worker(parameters={'p': np.array([4.0])},\n"
            "            gradient=lambda p, x, y: (0.0, {'p': p['p']}))\n"
        )
        w.hello(momentum=0.5, weight_decay=1.0)
        w.write("s", **blobs(8, 1))
        w.good("init", seed=0, out="w")
        w.good("train", **{**UNIT, "steps": 2, "lr": 0.25}, send="weights")
        # Slopes are 2p: p = 4 - .25 * 8 = 2, then v = .5 * 8 + 4 = 8, p = 2 - .25 * 8.
        self.assertEqual(w.read("u")["p"].tolist(), [0.0])

    def test_a_loss_that_is_not_finite_is_said_with_its_step(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        x = blobs(16, 1)
        x["x"][:] = np.nan
        w.write("s", **x)
        w.good("init", seed=0, out="w")
        self.assertIn("the loss is not finite at step 0", w.error("train", **UNIT))
        self.assertIn("not finite", w.error("evaluate", base="w", shard="s", batch=4))

    def test_parameters_that_are_not_finite_are_not_sent(self) -> None:
        w = self.start(
            "import numpy as np, souk\n"
            "souk.worker(parameters={'p': np.zeros(2)},\n"
            "            gradient=lambda p, x, y: (0.0, {'p': np.array([1e30, x.max()])}))\n"
        )
        w.hello()
        w.good("init", seed=0, out="w")
        shard = blobs(16, 1)
        w.write("s", **shard)
        w.good("train", **UNIT)  # Large, but finite.
        shard["x"][:] = np.inf
        w.write("s", **shard)
        self.assertIn("'p' is not finite after step 2", w.error("train", **UNIT))

    def test_shards_that_cannot_be_used_are_named(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        w.good("init", seed=0, out="w")
        w.write("s", x=np.zeros(10, np.uint8))
        self.assertIn("load=", w.error("train", **UNIT))
        w.write("s", x=np.zeros((0, 8), np.float32), y=np.zeros(0, np.int64))
        self.assertIn("0 samples", w.error("train", **UNIT))
        w.write("s", x=np.zeros((2, 8), np.float32), y=np.zeros(3, np.int64))
        self.assertIn("(3,)", w.error("train", **UNIT))

    def test_metrics_that_the_market_would_refuse_are_named(self) -> None:
        for metrics, told in {
            '{"a b": 1}': "'a b'",
            '{"accuracy": 98}': "0 to 1",
            '{"f1": float("nan")}': "f1 is not finite",
            '{"perplexity": 0.0}': "perplexity is 0.0",
            "{str(i): 1 for i in range(17)}": "17 metrics",
        }.items():
            w = self.start(MEASURES.replace("METRICS", metrics))
            w.hello()
            w.write("s", **blobs(4, 1))
            w.good("init", seed=0, out="w")
            self.assertIn(told, w.error("evaluate", base="w", shard="s", batch=4), metrics)
        w = self.start(MEASURES.replace("METRICS", '{"f1": 0.5, "recall@10": 3}'))
        w.hello()
        w.write("s", **blobs(4, 1))
        w.good("init", seed=0, out="w")
        exam = w.good("evaluate", base="w", shard="s", batch=3)
        self.assertEqual(exam["metrics"], {"f1": 0.5, "recall@10": 3})

    def test_a_shard_that_was_replaced_is_read_again(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        w.good("init", seed=0, out="w")
        losses = set()
        for seed in range(3):
            w.write("s", **blobs(40, seed))
            losses.add(w.good("train", **UNIT)["loss"])
        self.assertEqual(len(losses), 3)


class Examples(WorkerTest):
    def test_numpy_softmax_runs(self) -> None:
        w = self.start(EXAMPLES / "numpy_softmax.py")
        w.hello(momentum=0.9)
        rng = np.random.default_rng(0)
        w.write(
            "s",
            x=rng.integers(0, 256, (64, 28, 28), np.uint8),
            y=np.arange(64, dtype=np.int64) % 10,
        )
        w.good("init", seed=0, out="w")
        first = w.good("train", **{**UNIT, "steps": 20, "batch": 32})["loss"]
        self.assertLess(w.good("train", **{**UNIT, "base": "u", "send": "weights"})["loss"], 3)
        self.assertGreater(first, 0)
        self.assertIn("accuracy", w.good("evaluate", base="w", shard="s", batch=30)["metrics"])


if __name__ == "__main__":
    unittest.main()

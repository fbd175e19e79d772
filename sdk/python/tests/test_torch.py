"""The PyTorch adapter, through a real process."""

from __future__ import annotations

import importlib.util
import unittest
from pathlib import Path

import numpy as np
from conversation import EXAMPLES, WorkerTest, blobs, learn

from souk.permutation import permutation

SCRIPT = """
import souk, torch

def model(config):
    hidden = config.get("hidden", 16)
    print("a model of", hidden)
    return torch.nn.Sequential(
        torch.nn.Linear(8, hidden), torch.nn.BatchNorm1d(hidden), torch.nn.ReLU(),
        torch.nn.Dropout(0.1), torch.nn.Linear(hidden, 3))

souk.worker(
    model,
    loss=torch.nn.functional.cross_entropy,
    optimizer=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9),
    metrics={"accuracy": souk.accuracy},
)
"""

# A module that was made already, a Dataset, the default optimiser, a buffer that is replaced.
MADE = """
import souk, torch

class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
    def forward(self, x):
        if self.training:
            self.calls += 1
            self.mean = 0.9 * self.mean + 0.1 * x.mean(0) / self.calls
        return x - self.mean

class Points(torch.utils.data.Dataset):
    def __init__(self, path):
        self.x, self.y = map(torch.from_numpy, souk.load_shard(path))
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.y[i]

model = torch.nn.Sequential(Shift(), torch.nn.Linear(8, 3))
souk.worker(model=model, loss=torch.nn.functional.cross_entropy, load=Points)
"""

STRANGE = """
import souk, torch
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(8, 3, dtype=torch.float64))
    def forward(self, x):
        return x.double() @ self.w
souk.worker(Own(), loss=lambda out, y: torch.nn.functional.cross_entropy(out, y) / (y.min() + 1))
"""

# A backbone that does not learn, drawn by the script, and a head that does.
FROZEN = """
import souk, torch
def model():
    backbone = torch.nn.Linear(8, 64)
    for p in backbone.parameters():
        p.requires_grad = False
    return torch.nn.Sequential(backbone, torch.nn.ReLU(), torch.nn.Linear(64, 3))
souk.worker(model, loss=torch.nn.functional.cross_entropy, metrics={"accuracy": souk.accuracy})
"""

COMPUTE_LOSS = """
import souk, torch
class Points(torch.utils.data.Dataset):
    def __init__(self, path):
        self.x, self.y = map(torch.from_numpy, souk.load_shard(path))
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}
def compute_loss(model, batch):
    output = model(batch["x"])
    return torch.nn.functional.cross_entropy(output, batch["labels"]), output
souk.worker(lambda: torch.nn.Linear(8, 3), compute_loss=compute_loss, load=Points,
            metrics={"accuracy": lambda output, batch: souk.accuracy(output, batch["labels"])})
"""

# What Lightning's class has, without Lightning.
LIGHTNING = """
import souk, torch
class Lit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 3)
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return {"loss": loss}
    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log_dict({"val_loss": torch.nn.functional.cross_entropy(self.net(x), y),
                       "accuracy": souk.accuracy(self.net(x), y)})
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=123, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]
souk.worker(Lit)
"""

UNIT = {"base": "w", "shard": "s", "out": "u", "steps": 4, "batch": 8, "lr": 0.1, "seed": 5}


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Torch(WorkerTest):
    def test_it_learns_the_toy_problem_and_repeats_itself(self) -> None:
        outputs = []
        for again in (False, True):
            w = self.start(SCRIPT)
            said = w.hello(hidden=12)
            self.assertIn("pytorch", said["framework"])
            names = [t["name"] for t in said["tensors"]]
            self.assertEqual(
                names,
                ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                 "4.weight", "4.bias"],
            )  # fmt: skip
            self.assertEqual(said["tensors"][0]["shape"], [12, 8])
            if again:  # What was done before must not show.
                w.write("s", **blobs(40, 1))
                w.good("init", seed=8, out="w")
                w.good("train", **UNIT)
            before, after = learn(w, epochs=2)
            self.assertLess(after["loss"], before["loss"])
            self.assertGreater(after["metrics"]["accuracy"], 0.9)
            outputs.append((w.bytes("w"), w.bytes("u"), after))
            self.assertIn("a model of 12", w.log())
        self.assertEqual(outputs[0], outputs[1])
        units = []
        for _ in range(2):  # Dropout, too, is the same for the same unit.
            w.good("train", **{**UNIT, "shard": "s0"})
            units.append(w.bytes("u"))
        self.assertEqual(units[0], units[1])

    def test_what_is_frozen_never_travels_and_is_alike_on_every_worker(self) -> None:
        results = []
        for _ in range(2):
            w = self.start(FROZEN)
            tensors = w.hello()["tensors"]
            self.assertEqual([t["name"] for t in tensors], ["2.weight", "2.bias"])
            before, after = learn(w, epochs=3)
            self.assertLess(after["loss"], before["loss"])
            self.assertGreater(after["metrics"]["accuracy"], 0.9)
            results.append((w.bytes("w"), after))
        self.assertEqual(results[0], results[1])
        w = self.start(FROZEN.replace("return torch", "for p in backbone.parameters(): pass\n    return torch")
                       .replace("torch.nn.Linear(64, 3)", "backbone"))  # fmt: skip
        self.assertIn("all are frozen", w.error("hello", protocol=1, config={}))

    def test_nothing_is_mapped_between_requests(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        learn(w, epochs=1)
        mapped = Path(f"/proc/{w.process.pid}/maps").read_text()
        self.assertNotIn(str(w.folder / "w"), mapped)
        self.assertNotIn(str(w.folder / "u"), mapped)

    def test_statistics_are_measured_and_nothing_is_learnt(self) -> None:
        from souk.permutation import permutation

        w = self.start(SCRIPT)
        w.hello()
        learn(w, epochs=1)
        before, shard = w.read("w"), blobs(96, seed=0)
        unit = {**UNIT, "shard": "s0", "lr": 0.5}  # Whatever the rate: nothing is learnt.
        done = w.good("train", **unit, send="weights", measure=True)
        self.assertEqual((done["steps"], done["samples"]), (4, 32))
        after = w.read("u")
        batches = shard["x"][permutation(96, 5)[:32]].reshape(4, 8, 8)
        hidden = batches @ before["0.weight"].T + before["0.bias"]
        np.testing.assert_allclose(after["1.running_mean"], hidden.mean((0, 1)), atol=1e-5)
        variance = hidden.var(1, ddof=1).mean(0)
        np.testing.assert_allclose(after["1.running_var"], variance, rtol=1e-4)
        for name, value in before.items():
            if "running" not in name:
                np.testing.assert_array_equal(after[name], value, name)
        # The next unit is what it would have been.
        w.good("train", **unit, send="weights")
        once = w.bytes("u")
        fresh = self.start(SCRIPT)
        fresh.hello()
        fresh.write("w", **before)
        fresh.write("s0", **shard)
        fresh.good("train", **unit, send="weights")
        self.assertEqual(fresh.bytes("u"), once)

    def test_a_compute_loss_and_a_lightning_module_learn(self) -> None:
        for script in (COMPUTE_LOSS, LIGHTNING):
            w = self.start(script)
            w.hello()
            before, after = learn(w, epochs=4)
            self.assertLess(after["loss"], before["loss"])
            self.assertEqual(list(after["metrics"]), ["accuracy"])
            self.assertGreater(after["metrics"]["accuracy"], 0.9)

    def test_stop_takes_effect_between_steps(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        w.write("s", **blobs(64, 1))
        w.good("init", seed=1, out="w")
        w.send("train", **{**UNIT, "steps": 10_000_000}, send="delta")
        w.send("stop")
        done = w.answer()
        self.assertTrue(done["ok"])
        self.assertLess(done["steps"], 10_000_000)
        self.assertEqual(done["samples"], done["steps"] * 8)
        self.assertEqual(len(w.read("u")), 8)
        # The part that was done is what a unit of that length gives.
        partial = w.bytes("u")
        w.good("train", **{**UNIT, "steps": done["steps"]}, send="delta")
        self.assertEqual(w.bytes("u"), partial)

    def test_a_unit_is_what_a_plain_loop_does(self) -> None:
        import torch

        torch.set_num_threads(1)
        w = self.start(MADE)
        w.hello(momentum=0.9, weight_decay=0.01)
        shard = blobs(30, 1)
        w.write("s", **shard)
        w.good("init", seed=1, out="w")
        done = w.good("train", **UNIT, first_step=2, send="weights")
        new = w.read("u")

        layer = torch.nn.Linear(8, 3)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(w.read("w")["1.weight"]))
            layer.bias.copy_(torch.from_numpy(w.read("w")["1.bias"]))
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
        mean, losses = torch.zeros(8), []
        for step in range(4):
            chosen = permutation(30, 5)[np.arange((2 + step) * 8, (3 + step) * 8) % 30]
            x, y = torch.from_numpy(shard["x"][chosen]), torch.from_numpy(shard["y"][chosen])
            mean = 0.9 * mean + 0.1 * x.mean(0) / (step + 1)
            loss = torch.nn.functional.cross_entropy(layer(x - mean), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        np.testing.assert_allclose(new["1.weight"], layer.weight.detach().numpy(), rtol=1e-5)
        np.testing.assert_allclose(new["0.mean"], mean.numpy(), rtol=1e-5)
        self.assertAlmostEqual(done["loss"], float(np.mean(losses)), places=5)
        # The counter of calls begins anew: the same unit again gives the same bytes.
        first = w.bytes("u")
        w.good("train", **UNIT, first_step=2, send="weights")
        self.assertEqual(w.bytes("u"), first)
        # A module that was made already is drawn again from the seed.
        w.good("init", seed=2, out="w2")
        w.good("init", seed=1, out="w1")
        self.assertEqual(w.bytes("w1"), w.bytes("w"))
        self.assertNotEqual(w.bytes("w1"), w.bytes("w2"))

    def test_doubles_travel_as_floats_and_trouble_has_words(self) -> None:
        w = self.start(STRANGE)
        w.hello()
        self.assertIn("reset_parameters", w.error("init", seed=1, out="w"))
        w.write("w", w=np.ones((8, 3), np.float32))
        w.write("s", **blobs(30, 1))
        self.assertEqual(w.good("train", **UNIT)["steps"], 4)
        self.assertEqual(w.read("u")["w"].dtype, np.float32)
        shard = blobs(8, 1)
        shard["y"][:] = 7
        w.write("s", **shard)
        self.assertIn("IndexError", w.error("train", **UNIT))
        shard["y"][:] = 0
        shard["x"][3] = np.inf
        w.write("s", **shard)
        self.assertIn("the loss is not finite at step 0", w.error("train", **UNIT))
        self.assertIn("no samples", self._empty(w))

    def _empty(self, w) -> str:  # type: ignore[no-untyped-def]
        w.write("s", x=np.zeros((0, 8), np.float32), y=np.zeros(0, np.int64))
        return str(w.error("evaluate", base="w", shard="s", batch=4))


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Examples(WorkerTest):
    def test_mnist_torch_runs(self) -> None:
        w = self.start(EXAMPLES / "mnist_torch.py")
        w.hello()
        rng = np.random.default_rng(0)
        y = np.arange(32, dtype=np.int64) % 10
        w.write("s", x=rng.integers(0, 256, (32, 28, 28), np.uint8), y=y)
        w.good("init", seed=1, out="w")
        self.assertEqual(w.good("train", **UNIT)["samples"], 32)
        exam = w.good("evaluate", base="w", shard="s", batch=20)
        self.assertEqual(exam["samples"], 32)
        self.assertIn("accuracy", exam["metrics"])

    def test_own_data_learns_from_a_csv_file(self) -> None:
        w = self.start(EXAMPLES / "own_data.py")
        w.hello(inputs=3)
        rng = np.random.default_rng(0)
        x = rng.normal(size=(200, 3))
        rows = np.column_stack([x, x @ [1, -2, 3] + 0.5])
        np.savetxt(w.folder / "s", rows, delimiter=",", header="a,b,c,target", comments="")
        w.good("init", seed=1, out="w")
        before = w.good("evaluate", base="w", shard="s", batch=50)["loss"]
        w.good("train", **{**UNIT, "steps": 100, "batch": 20, "lr": 0.01}, send="weights")
        self.assertLess(w.good("evaluate", base="u", shard="s", batch=50)["loss"], before / 5)


if __name__ == "__main__":
    unittest.main()

"""The Keras adapter, through a real process.

One test runs Keras itself where it is installed. The other runs everywhere, with a model of few
lines that has the methods of a Keras model; it says nothing about Keras.
"""

from __future__ import annotations

import importlib.util
import unittest

import numpy as np
from conversation import WorkerTest, blobs, learn

DUCK = """
import numpy as np, souk

class Variable:
    def __init__(self, name, value):
        self.name, self.value = name, np.array(value)
    def numpy(self):
        return self.value
    def assign(self, value):
        self.value = np.array(value)

class Momentum:
    learning_rate = 99.0
    def build(self, variables):
        self.slots = [Variable("m", np.zeros_like(v.value)) for v in variables]
    @property
    def variables(self):
        return self.slots

class Softmax:
    def __init__(self):
        self.w = Variable("kernel", (np.random.normal(size=(8, 3)) / 10).astype(np.float32))
        self.n = Variable("kernel", np.array(5, np.uint32))  # The state of some generator.
        self.optimizer = Momentum()
        self.weights = [self.w, self.n]
        self.trainable_variables = [self.w]
    def get_weights(self):
        return [v.value for v in self.weights]
    def set_weights(self, values):
        for v, value in zip(self.weights, values):
            v.assign(value)
    def _losses(self, x, y):
        z = x @ self.w.value
        q = np.exp(z - z.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        hits = q.argmax(1) == y
        loss = -np.log(q[np.arange(len(y)), y]).mean()
        q[np.arange(len(y)), y] -= 1
        return {"loss": loss, "accuracy": hits.mean()}, x.T @ q / len(y)
    def train_on_batch(self, x, y, return_dict=False):
        logs, slope = self._losses(x, y)
        self.n.assign(self.n.value + np.uint32(1))
        slot = self.optimizer.slots[0]
        slot.value = 0.9 * slot.value + slope / (self.n.value - 5)
        self.w.value = (self.w.value - self.optimizer.learning_rate * slot.value).astype(np.float32)
        return logs
    def test_on_batch(self, x, y, return_dict=False):
        return self._losses(x, y)[0]

souk.worker(Softmax)
"""

# The same with normalised samples.
NORMALISED = DUCK.replace(
    "souk.worker(Softmax)",
    """
class Normalisation:
    momentum, trainable = 0.9, True
    def __init__(self):
        self.moving_mean = Variable("mean", np.zeros(8, np.float32))
        self.moving_variance = Variable("variance", np.ones(8, np.float32))
    def __call__(self, x):
        for variable, value in ((self.moving_mean, x.mean(0)), (self.moving_variance, x.var(0))):
            variable.assign((0.9 * variable.value + 0.1 * value).astype(np.float32))

class Normalised(Softmax):
    def __init__(self):
        super().__init__()
        self.layers = [Normalisation()]
        self.weights = [self.w, self.layers[0].moving_mean, self.layers[0].moving_variance]
        self.trainable_weights = [self.w]
    def __call__(self, x, training=False):
        self.layers[0](x)
        return x @ self.w.value

souk.worker(Normalised)
""",
)

KERAS = """
import keras, souk

def model():
    m = keras.Sequential([
        keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"),
        keras.layers.BatchNormalization(momentum=0.9), keras.layers.Dropout(0.1),
        keras.layers.Dense(3)])
    m.compile(keras.optimizers.SGD(0.5, momentum=0.9),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return m

souk.worker(model)
"""

UNIT = {"base": "w", "shard": "s", "out": "u", "steps": 4, "batch": 8, "lr": 0.1, "seed": 5}


class Keras(WorkerTest):
    def check(self, script: str) -> None:
        outputs = []
        for again in (False, True):
            w = self.start(script)
            w.hello()
            if again:  # What was done before must not show.
                w.write("s", **blobs(40, 1))
                w.good("init", seed=8, out="w")
                w.good("train", **UNIT)
            before, after = learn(w)
            self.assertLess(after["loss"], before["loss"] / 2)
            self.assertGreater(after["metrics"]["accuracy"], 0.9)
            outputs.append((w.bytes("w"), w.bytes("u"), after))
        self.assertEqual(outputs[0], outputs[1])
        units = []
        for _ in range(2):  # Dropout, too, is the same for the same unit.
            w.good("train", **{**UNIT, "shard": "s0"})
            units.append(w.bytes("u"))
        self.assertEqual(units[0], units[1])
        bad = blobs(16, 1)
        bad["x"][:] = np.nan
        w.write("s", **bad)
        self.assertIn("the loss is not finite at step 0", w.error("train", **UNIT))
        w.write("s", **blobs(64, 1))
        w.send("train", **{**UNIT, "steps": 10_000_000})
        w.send("stop")
        self.assertLess(w.answer()["steps"], 10_000_000)

    def test_a_model_with_the_methods_of_keras(self) -> None:
        self.check(DUCK)

    def test_only_floats_travel_and_names_are_unique(self) -> None:
        w = self.start(DUCK.replace("np.array(5, np.uint32)", "np.array(5, np.float32)"))
        names = [t["name"] for t in w.hello()["tensors"]]
        self.assertEqual(names, ["kernel", "kernel#2"])
        w = self.start(DUCK.replace("souk.worker(Softmax)", "souk.worker(Softmax())"))
        self.assertEqual([t["name"] for t in w.hello()["tensors"]], ["kernel"])
        self.assertIn("function", w.error("init", seed=1, out="w"))

    def check_statistics(self, script: str) -> None:
        from souk.permutation import permutation

        w = self.start(script)
        tensors = w.hello()["tensors"]
        state = [t["name"] for t in tensors if t.get("state")]
        self.assertEqual(len(state), 2)
        mean, variance = state if "mean" in state[0] else state[::-1]
        learn(w, epochs=1)
        before, shard = w.read("w"), blobs(96, seed=0)
        done = w.good("train", **{**UNIT, "shard": "s0"}, send="weights", measure=True)
        self.assertEqual((done["steps"], done["samples"]), (4, 32))
        after = w.read("u")
        batches = shard["x"][permutation(96, 5)[:32]].reshape(4, 8, 8)
        np.testing.assert_allclose(after[mean], batches.mean((0, 1)), atol=1e-4)
        np.testing.assert_allclose(after[variance], batches.var(1).mean(0), rtol=0.16)
        for name, value in before.items():
            if name not in state:
                np.testing.assert_array_equal(after[name], value, name)

    def test_statistics_of_a_model_with_the_methods_of_keras(self) -> None:
        self.check_statistics(NORMALISED)

    @unittest.skipUnless(importlib.util.find_spec("keras"), "Keras is not installed")
    def test_keras_itself(self) -> None:
        self.check(KERAS)
        first = "keras.layers.Input((8,)), "
        norm = "keras.layers.BatchNormalization(momentum=0.9), "
        self.check_statistics(KERAS.replace(norm, "").replace(first, first + norm))


if __name__ == "__main__":
    unittest.main()

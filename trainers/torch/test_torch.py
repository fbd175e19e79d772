"""souk-torch as an agent sees it: the worker protocol, hostile files, predict and bare.

Takes the binary from SOUK_TORCH. Needs NumPy.
"""

import json
import os
import struct
import subprocess
import tempfile
import unittest

import numpy as np

BINARY = os.environ.get("SOUK_TORCH", "souk-torch")

# A tiny case of each model: its config and the kind of its shards.
MODELS = {
    "logistic": ({"input": [1, 4, 4], "classes": 3}, "images"),
    "mlp": ({"input": [1, 4, 4], "classes": 3, "hidden": 8}, "images"),
    "lenet": ({"input": [1, 12, 12], "classes": 3}, "images"),
    "resnet20": ({"input": [3, 8, 8], "classes": 3}, "images"),
    "preresnet": ({"input": [3, 8, 8], "classes": 3, "depth": 8}, "images"),
    "char-transformer": ({"layers": 1, "width": 8, "heads": 2, "context": 8}, "text"),
}
DTYPES = {"U8": np.uint8, "F32": np.float32, "I64": np.int64}


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, array in tensors.items():
        dtype = next(k for k, v in DTYPES.items() if v == array.dtype)
        data = np.ascontiguousarray(array).tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        body += data
    write_raw(path, json.dumps(header).encode(), body)


def write_raw(path, header, body, length=None):
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header) if length is None else length) + header + body)


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    body, tensors = data[8 + size:], {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], DTYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def permutation(n, seed):
    """The order of a shard's samples, as random.h documents it."""
    mask, order, state = (1 << 64) - 1, list(range(n)), seed
    for i in range(n, 1, -1):
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
            product = (z ^ z >> 31) * i
            if product & mask >= (1 << 64) % i:
                break
        j = product >> 64
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


class Trainer:
    """A souk-torch that is spoken to line by line."""

    def __init__(self, folder):
        self.process = subprocess.Popen([BINARY], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, request):
        line = request if isinstance(request, str) else json.dumps(request)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, op, **fields):
        self.send({"op": op, **fields})
        return self.answer()

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        return status


class TorchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = np.random.default_rng(1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, model="logistic", **options):
        """A trainer that was told of `model`, with first parameters in `base`."""
        trainer = Trainer(self.folder)
        self.addCleanup(lambda: trainer.process.stdin.closed or trainer.close())
        self.hello = self.check(trainer.ask("hello", protocol=1, config={
            "model": model, **MODELS[model][0], **options}))
        self.check(trainer.ask("init", seed=7, out="base"))
        return trainer

    def shard(self, model="logistic", samples=20, name="shard"):
        config, kind = MODELS[model]
        if kind == "text":
            text = self.random.integers(97, 101, samples * config["context"] + 1)
            tensors = {"x": text.astype(np.uint8)}
        else:
            x = self.random.integers(0, 256, [samples] + config["input"])
            y = self.random.integers(0, config["classes"], samples)
            tensors = {"x": x.astype(np.uint8), "y": y.astype(np.int64)}
        write_tensors(self.path(name), tensors)
        return tensors

    def check(self, answer):
        self.assertTrue(answer["ok"], answer)
        return answer

    def train(self, trainer, **fields):
        return self.check(trainer.ask("train", **unit(**fields)))

    def run_tool(self, *arguments, stdin=""):
        return subprocess.run([BINARY, *arguments], cwd=self.folder, input=stdin, text=True,
                              capture_output=True, timeout=120)


def unit(**fields):
    return {"base": "base", "shard": "shard", "out": "out", "send": "delta", "first_step": 0,
            "steps": 3, "batch": 4, "lr": 0.05, "seed": 77, **fields}


class Protocol(TorchTest):
    def test_every_model_trains_and_evaluates(self):
        for model in MODELS:
            with self.subTest(model):
                trainer = self.start(model)
                self.shard(model)
                listed = {t["name"]: tuple(t["shape"]) for t in self.hello["tensors"]}
                base = read_tensors(self.path("base"))
                self.assertEqual({k: v.shape for k, v in base.items()}, listed)
                self.assertEqual(list(base), [t["name"] for t in self.hello["tensors"]])
                answer = self.train(trainer)
                self.assertEqual((answer["steps"], answer["samples"]), (3, 12))
                self.assertGreater(answer["loss"], 0)
                delta = read_tensors(self.path("out"))
                self.assertEqual({k: v.shape for k, v in delta.items()}, listed)
                self.assertTrue(all(np.isfinite(v).all() for v in delta.values()))
                self.assertTrue(any(v.any() for v in delta.values()))
                answer = self.check(trainer.ask("evaluate", base="base", shard="shard", batch=8))
                self.assertEqual(answer["samples"], 20)
                self.assertTrue(0 <= answer["metrics"]["accuracy"] <= 1)
                self.assertEqual(trainer.close(), 0)

    def test_perplexity_of_text_is_the_exponential_of_its_loss(self):
        trainer = self.start("char-transformer")
        self.shard("char-transformer")
        answer = self.check(trainer.ask("evaluate", base="base", shard="shard", batch=8))
        self.assertAlmostEqual(answer["metrics"]["perplexity"], np.exp(answer["loss"]), places=6)

    def test_the_same_request_gives_the_same_bytes(self):
        for model in MODELS:
            with self.subTest(model):
                trainer = self.start(model)
                self.shard(model)
                self.train(trainer, out="a")
                self.train(trainer, seed=5)
                self.train(trainer, out="b")
                self.assertEqual(contents(self.path("a")), contents(self.path("b")))

    def test_another_process_gives_the_same_bytes_with_threads_and_augmentation(self):
        self.shard("preresnet")
        seen = set()
        for _ in range(2):
            trainer = self.start("preresnet", threads=2, augment=True)
            self.train(trainer)
            seen.add(contents(self.path("base")) + contents(self.path("out")))
        self.assertEqual(len(seen), 1)

    def test_another_seed_gives_another_model_and_another_order(self):
        trainer = self.start()
        self.shard()
        self.check(trainer.ask("init", seed=8, out="other"))
        self.assertNotEqual(contents(self.path("base")), contents(self.path("other")))
        self.train(trainer, out="a")
        self.train(trainer, out="b", seed=78)
        self.assertNotEqual(contents(self.path("a")), contents(self.path("b")))

    def test_weights_are_the_base_plus_the_delta(self):
        for model in MODELS:
            with self.subTest(model):
                trainer = self.start(model)
                self.shard(model)
                self.train(trainer, out="delta")
                self.train(trainer, out="weights", send="weights")
                base = read_tensors(self.path("base"))
                delta = read_tensors(self.path("delta"))
                for name, value in read_tensors(self.path("weights")).items():
                    np.testing.assert_allclose(base[name] + delta[name], value, atol=1e-6)

    def test_running_statistics_are_among_the_tensors_and_counters_are_not(self):
        self.start("resnet20")
        names = [t["name"] for t in self.hello["tensors"]]
        self.assertIn("bn.running_mean", names)
        self.assertFalse([n for n in names if "tracked" in n])

    def test_weight_decay_leaves_running_statistics_alone(self):
        trainer = self.start("preresnet", weight_decay=0.5)
        self.shard("preresnet")
        self.train(trainer, lr=0.0)
        with_decay = read_tensors(self.path("out"))["bn.running_var"]
        trainer = self.start("preresnet")
        self.train(trainer, lr=0.0)
        np.testing.assert_array_equal(with_decay, read_tensors(self.path("out"))["bn.running_var"])

    def test_the_shard_may_be_replaced_between_requests(self):
        trainer = self.start()
        self.shard()
        self.train(trainer, out="a")
        self.shard(samples=10)
        self.train(trainer, out="b")
        self.assertNotEqual(contents(self.path("a")), contents(self.path("b")))

    def test_bad_requests_are_answered_and_the_next_one_is_served(self):
        trainer = Trainer(self.folder)
        self.addCleanup(trainer.close)
        bad = ["{", "[]", "null", '{"op":7}', '{"op":"dance"}', "{}", "x" * 2_000_000,
               json.dumps({"op": "init", "seed": 1, "out": "base"}),
               json.dumps({"op": "hello", "protocol": 2, "config": {"model": "mlp"}}),
               json.dumps({"op": "hello", "protocol": 1}),
               json.dumps({"op": "hello", "protocol": 1, "config": {"model": "lanet"}}),
               json.dumps({"op": "hello", "config": {"model": "lenet", "input": [1, 4, 4]}}),
               json.dumps({"op": "hello", "config": {"model": "preresnet", "depth": 21}}),
               json.dumps({"op": "hello", "config": {"model": "mlp", "hidden": "many"}}),
               json.dumps({"op": "hello", "config": {"model": "mlp", "mean": [1, 2]}}),
               json.dumps({"op": "hello", "config": {"model": "mlp", "std": [0]}}),
               json.dumps({"op": "hello", "config": {"model": "mlp", "input": [9],
                                                     "augment": True}})]
        for line in bad:
            trainer.send(line)
            answer = trainer.answer()
            self.assertFalse(answer["ok"], line[:100])
            self.assertTrue(answer["error"])
        self.check(trainer.ask("hello", protocol=1, config={"model": "mlp", "surplus": [1]}))

    def test_errors_name_what_would_be_accepted(self):
        trainer = self.start()
        self.shard()
        for fields, words in (({"lr": "fast"}, ["lr", "fast", "number"]),
                              ({"lr": 1e9}, ["lr"]),
                              ({"batch": 0}, ["batch", "0", "1"]),
                              ({"steps": -1}, ["steps", "-1"]),
                              ({"send": "all"}, ["send", "delta", "weights"]),
                              ({"base": "absent"}, ["absent", "No such file"]),
                              ({"shard": "absent"}, ["absent", "No such file"]),
                              ({"shard": "."}, ["."]),
                              ({"out": "no/such/folder"}, ["no/such/folder"])):
            with self.subTest(fields):
                answer = trainer.ask("train", **unit(**fields))
                self.assertFalse(answer["ok"])
                for word in words:
                    self.assertIn(word, answer["error"])
        answer = trainer.ask("hello", protocol=1, config={"model": "lanet"})
        self.assertIn("did you mean lenet?", answer["error"])

    def test_a_diverged_unit_is_an_error_and_not_an_update(self):
        trainer = self.start("mlp")
        self.shard("mlp")
        write_tensors(self.path("huge"), {name: value * np.float32(1e38) for name, value
                                          in read_tensors(self.path("base")).items()})
        for fields in ({"lr": 1e6, "steps": 50}, {"base": "huge", "lr": 1e6, "steps": 1}):
            answer = trainer.ask("train", **unit(**fields))
            self.assertFalse(answer["ok"])
            self.assertIn("lower lr", answer["error"])
            self.assertFalse(os.path.exists(self.path("out")))
        self.train(trainer)

    def test_bye_and_the_end_of_the_input_end_it(self):
        trainer = self.start()
        self.assertEqual(trainer.ask("bye"), {"ok": True})
        self.assertEqual(trainer.process.wait(60), 0)
        self.assertEqual(self.start().close(), 0)


class Stop(TorchTest):
    def test_stop_ends_a_unit_early_with_what_there_is(self):
        trainer = self.start("mlp")
        self.shard("mlp")
        trainer.send({"op": "train", **unit(steps=100_000_000)})
        trainer.send({"op": "stop"})
        answer = self.check(trainer.answer())
        self.assertLess(answer["steps"], 100_000_000)
        self.assertEqual(answer["samples"], answer["steps"] * 4)
        # What was done is what a unit of so many steps does.
        partial = contents(self.path("out"))
        self.train(trainer, steps=answer["steps"])
        self.assertEqual(contents(self.path("out")), partial)

    def test_stop_without_anything_under_way_means_nothing(self):
        trainer = self.start()
        self.shard()
        trainer.send({"op": "stop"})
        self.assertEqual(self.train(trainer)["steps"], 3)

    def test_no_step_still_gives_a_file(self):
        trainer = self.start()
        self.shard()
        self.train(trainer, steps=0)
        self.assertFalse(any(v.any() for v in read_tensors(self.path("out")).values()))

    def test_requests_sent_ahead_are_answered_in_order(self):
        trainer = self.start()
        self.shard()
        for steps in (1, 2, 3):
            trainer.send({"op": "train", **unit(steps=steps)})
        self.assertEqual([trainer.answer()["steps"] for _ in range(3)], [1, 2, 3])


class Order(TorchTest):
    """One step of logistic regression is computed here too, so a delta tells its samples."""

    def expected_delta(self, shard, indices, lr):
        base = read_tensors(self.path("base"))
        x = shard["x"][indices].reshape(len(indices), -1) / 255 * 2 - 1
        scores = x @ base["fc.weight"].T + base["fc.bias"]
        chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        chances[np.arange(len(indices)), shard["y"][indices]] -= 1
        return -lr * chances.T @ x / len(indices)

    def test_units_of_an_epoch_cover_the_shard_without_overlap(self):
        trainer = self.start()
        shard = self.shard(samples=20)
        order, seen = permutation(20, 77), []
        for step in range(5):
            self.train(trainer, first_step=step, steps=1, batch=4, lr=0.5)
            samples = order[step * 4:step * 4 + 4]
            delta = read_tensors(self.path("out"))["fc.weight"]
            np.testing.assert_allclose(delta, self.expected_delta(shard, samples, 0.5), atol=1e-5)
            seen += samples
        self.assertEqual(sorted(seen), list(range(20)))

    def test_steps_beyond_the_end_wrap_around(self):
        trainer = self.start()
        shard = self.shard(samples=10)
        order = permutation(10, 77)
        self.train(trainer, first_step=2, steps=1, batch=4, lr=0.5)
        expected = self.expected_delta(shard, [order[i % 10] for i in range(8, 12)], 0.5)
        delta = read_tensors(self.path("out"))["fc.weight"]
        np.testing.assert_allclose(delta, expected, atol=1e-5)

    def test_momentum_begins_at_zero_and_builds_up(self):
        trainer = self.start(momentum=0.5)
        self.shard(samples=4)  # Each step sees all samples.
        self.train(trainer, steps=1, send="weights", out="one")
        self.train(trainer, steps=2, send="weights", out="two")
        self.train(trainer, steps=1, send="weights", base="one", out="again")
        base, one, two, again = (read_tensors(self.path(name))["fc.weight"]
                                 for name in ("base", "one", "two", "again"))
        np.testing.assert_allclose(two - one, (again - one) + 0.5 * (one - base), atol=1e-6)

    def adam(self, shard, steps, lr, decay, warm_up):
        """Logistic regression on all samples at once, by the formulas of the paper."""
        w = {name: value.astype(float) for name, value in read_tensors(self.path("base")).items()}
        x = shard["x"].reshape(len(shard["x"]), -1) / 255 * 2 - 1
        m, v = ({name: np.zeros_like(value) for name, value in w.items()} for _ in range(2))
        for t in range(1, steps + 1):
            scores = x @ w["fc.weight"].T + w["fc.bias"]
            slope = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
            slope[np.arange(len(x)), shard["y"]] -= 1
            rate = lr * min(1, t / 10) if warm_up else lr
            for name, g in (("fc.weight", slope.T @ x / len(x)), ("fc.bias", slope.mean(0))):
                m[name] = 0.9 * m[name] + 0.1 * g
                v[name] = 0.999 * v[name] + 0.001 * g * g
                w[name] *= 1 - rate * decay
                w[name] -= rate * m[name] / (1 - 0.9 ** t) / (np.sqrt(v[name] / (1 - 0.999 ** t)) + 1e-8)
        return w["fc.weight"]

    def test_adam_is_adam(self):
        for decay in (0, 0.1):
            trainer = self.start(optimizer="adam", weight_decay=decay)
            shard = self.shard(samples=4)  # Each step sees all samples.
            self.train(trainer, steps=12, lr=0.01, send="weights")
            expected = self.adam(shard, 12, 0.01, decay, warm_up=False)
            np.testing.assert_allclose(read_tensors(self.path("out"))["fc.weight"], expected, atol=1e-5)

    def test_a_worker_that_joins_takes_shorter_steps_first_and_keeps_its_moments(self):
        trainer = self.start(optimizer="adam")
        shard = self.shard(samples=4)
        self.train(trainer, steps=5, lr=0.01, send="weights", out="one", keep="job")
        self.train(trainer, steps=8, lr=0.01, send="weights", base="one", keep="job")
        expected = self.adam(shard, 13, 0.01, 0, warm_up=True)
        np.testing.assert_allclose(read_tensors(self.path("out"))["fc.weight"], expected, atol=1e-5)

    def test_an_unknown_optimizer_is_refused(self):
        trainer = Trainer(self.folder)
        answer = trainer.ask("hello", protocol=1, config={"model": "logistic", "optimizer": "adagrad"})
        trainer.close()
        self.assertIn("optimizer is 'adagrad'; it must be sgd or adam", answer["error"])


class HostileFiles(TorchTest):
    F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

    def hostile(self):
        def header(**changes):
            return json.dumps({"fc.weight": {**self.F32, **changes}}).encode()
        yield "empty", b""
        yield "short", b"\x01\x00"
        for name, head, length in (
                ("header beyond the end", b"{}", 1 << 20),
                ("header of 2^64 - 1", b"{}", (1 << 64) - 1),
                ("header of 2^63", b"{}", 1 << 63),
                ("no JSON", b"{{{{", None),
                ("not an object", b"[1,2]", None),
                ("deeply nested", b"[" * 200_000, None),
                ("entry not an object", b'{"fc.weight":3}', None),
                ("not UTF-8", b'{"\xff\xfe":{}}', None),
                ("no offsets", b'{"fc.weight":{"dtype":"F32","shape":[2]}}', None),
                ("unknown dtype", header(dtype="F33"), None),
                ("dtype a number", header(dtype=3), None),
                ("offsets beyond the end", header(data_offsets=[8, 16]), None),
                ("offsets backwards", header(data_offsets=[8, 0]), None),
                ("negative offset", header(data_offsets=[-8, 0]), None),
                ("offset too large", header(data_offsets=[0, 1 << 63]), None),
                ("one offset", header(data_offsets=[0]), None),
                ("negative size", header(shape=[-2]), None),
                ("fractional size", header(shape=[2.0]), None),
                ("sizes that overflow", header(shape=[1 << 62, 1 << 62, 4]), None),
                ("size too large", header(shape=[(1 << 64) - 1]), None),
                ("many dimensions", header(shape=[1] * 1000), None),
                ("size against shape", header(shape=[3]), None),
                ("other tensors", header(), None)):
            yield name, struct.pack("<Q", len(head) if length is None else length) + head + bytes(8)

    def test_a_hostile_file_is_an_error_and_not_a_crash(self):
        trainer = self.start()
        self.shard()
        for name, data in self.hostile():
            with open(self.path("bad"), "wb") as file:
                file.write(data)
            for where in ("base", "shard"):
                with self.subTest(name, where=where):
                    answer = trainer.ask("train", **unit(**{where: "bad"}))
                    self.assertFalse(answer["ok"])
                    self.assertIn("bad", answer["error"])
        self.train(trainer)

    def test_a_shard_that_does_not_fit_the_model_is_an_error(self):
        trainer = self.start()
        x, y = np.zeros([4, 1, 4, 4], np.uint8), np.zeros(4, np.int64)
        for name, tensors in (("no labels", {"x": x}),
                              ("fewer labels", {"x": x, "y": y[:3]}),
                              ("other pictures", {"x": x[:, :, :3], "y": y}),
                              ("a label too high", {"x": x, "y": y + 3}),
                              ("a label below 0", {"x": x, "y": y - 1}),
                              ("labels as floats", {"x": x, "y": y.astype(np.float32)}),
                              ("samples as integers", {"x": x.astype(np.int64), "y": y}),
                              ("no samples", {"x": x[:0], "y": y[:0]})):
            with self.subTest(name):
                write_tensors(self.path("shard"), tensors)
                self.assertFalse(trainer.ask("train", **unit())["ok"])

    def test_a_base_of_another_model_is_an_error(self):
        trainer = self.start()
        self.shard()
        good = read_tensors(self.path("base"))
        for name, tensors in (("one missing", {"fc.bias": good["fc.bias"]}),
                              ("one more", {**good, "more": good["fc.bias"]}),
                              ("another shape", {**good, "fc.bias": good["fc.bias"][:2]}),
                              ("another dtype", {**good, "fc.bias": np.zeros(3, np.int64)})):
            with self.subTest(name):
                write_tensors(self.path("base"), tensors)
                self.assertFalse(trainer.ask("train", **unit())["ok"])


class Learning(TorchTest):
    def separable(self, name, samples):
        """Pictures whose bright quarter is their class."""
        y = self.random.integers(0, 4, samples)
        x = self.random.integers(0, 100, [samples, 1, 12, 12])
        for i, label in enumerate(y):
            row, column = label // 2 * 6, label % 2 * 6
            x[i, 0, row:row + 6, column:column + 6] += 100
        write_tensors(self.path(name), {"x": x.astype(np.uint8), "y": y.astype(np.int64)})
        return x

    def test_lenet_learns_a_separable_problem_over_units(self):
        trainer = self.start("lenet", classes=4)
        self.separable("shard", 400)
        self.separable("test", 200)
        losses = []
        for seed in range(8):
            losses.append(self.train(trainer, send="weights", out="base", batch=20, steps=20,
                                     seed=seed)["loss"])
        self.assertLess(losses[-1], losses[0] / 2)
        answer = self.check(trainer.ask("evaluate", base="base", shard="test", batch=64))
        self.assertGreater(answer["metrics"]["accuracy"], 0.95)

    def test_every_model_gets_better_at_what_it_sees(self):
        for model in MODELS:
            with self.subTest(model):
                trainer = self.start(model)
                self.shard(model, samples=8)
                first = self.train(trainer, batch=8, steps=1)["loss"]
                last = self.train(trainer, batch=8, steps=40)["loss"]  # The mean of all steps.
                self.assertLess(last, first)

    def write_config(self, **config):
        with open(self.path("config.json"), "w") as file:
            json.dump(config, file)

    def test_bare_trains_and_predict_applies_what_it_learnt(self):
        self.separable("shard", 400)
        x = self.separable("test", 50)
        self.write_config(model="lenet", input=[1, 12, 12], classes=4)
        done = self.run_tool("bare", "--config", "config.json", "--shard", "shard", "--test",
                             "test", "--epochs", "6", "--batch", "20", "--lr", "0.05", "--seed",
                             "3", "--out", "model")
        self.assertEqual(done.returncode, 0, done.stderr)
        epochs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([e["epoch"] for e in epochs], [1, 2, 3, 4, 5, 6])
        self.assertGreater(epochs[-1]["accuracy"], 0.95)
        self.assertGreater(epochs[-1]["seconds"], 0)

        lines = "".join(json.dumps(sample.flatten().tolist()) + "\n" for sample in x)
        done = self.run_tool("predict", "--config", "config.json", "--model", "model",
                             stdin=lines)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        labels = read_tensors(self.path("test"))["y"]
        right = sum(a["label"] == label for a, label in zip(answers, labels))
        self.assertEqual(right, round(epochs[-1]["accuracy"] * 50))
        self.assertAlmostEqual(sum(answers[0]["probabilities"]), 1, places=5)

    def test_bare_is_units_one_after_the_other_when_there_is_no_momentum(self):
        self.shard("mlp", samples=20)
        self.write_config(model="mlp", momentum=0, **MODELS["mlp"][0])
        done = self.run_tool("bare", "--config", "config.json", "--shard", "shard", "--epochs",
                             "2", "--batch", "4", "--lr", "0.05", "--seed", "7", "--out", "bare")
        self.assertEqual(done.returncode, 0, done.stderr)
        trainer = self.start("mlp", momentum=0)
        for epoch in (1, 2):
            for first_step in (0, 2, 4):
                self.train(trainer, send="weights", out="base", first_step=first_step,
                           steps=min(2, 5 - first_step), seed=7 + epoch)
        self.assertEqual(contents(self.path("base")), contents(self.path("bare")))

    def test_a_transformer_continues_a_text_it_knows_by_heart(self):
        text = np.frombuffer(b"abcdefgh" * 100, np.uint8)
        write_tensors(self.path("shard"), {"x": text})
        self.write_config(model="char-transformer", **MODELS["char-transformer"][0])
        done = self.run_tool("bare", "--config", "config.json", "--shard", "shard", "--epochs",
                             "20", "--batch", "4", "--lr", "0.1", "--out", "model")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_tool("predict", "--config", "config.json", "--model", "model", "--length",
                             "5", "--temperature", "0", stdin="abcd\n")
        self.assertEqual(json.loads(done.stdout), {"text": "efgha"})


class CommandLine(TorchTest):
    def test_help_shows_examples(self):
        done = self.run_tool("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Examples:", done.stdout)

    def test_what_is_unknown_is_refused_with_what_is_near(self):
        for arguments, words in ((["bear"], "did you mean bare?"),
                                 (["bare", "--epoch", "3"], "did you mean --epochs?"),
                                 (["predict", "--modle", "x"], "did you mean --model?"),
                                 (["bare", "--epochs"], "--epochs needs a value"),
                                 (["bare", "--shard", "x"], "--config is missing"),
                                 (["bare", "--config", "absent"], "absent")):
            with self.subTest(arguments):
                done = self.run_tool(*arguments)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()

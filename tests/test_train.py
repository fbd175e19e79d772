"""Training with the real binary: a market, machines that lend, a real trainer, real kills."""
import csv
import json
import os
import random
import shutil
import struct
import subprocess
import time
import unittest

from lending import Agent, LendingTest, needs_sandbox
from paced import Gate
from redis_server import start_redis
from souk import DEADLINE_S, SOUK, wait_for

TORCH = os.path.join(os.path.dirname(SOUK), "souk-torch")
needs_torch = unittest.skipUnless(os.path.exists(TORCH),
                                  "souk-torch was not built: it needs libtorch-dev")

PER_HOUR = 36.0  # Of a dear machine's slot: a millionth of a credit for a tenth of a millisecond.

JOB = """
kind: train
name: digits
model: {name: mlp, hidden: 32}
data: {format: csv, train: train.csv, test: test.csv}
epochs: 30
target: {accuracy: 0.9}
batch: 16
lr: 0.1
workers: 1..3
"""


def points(n, seed):
    """Three classes in eight dimensions that a small network separates."""
    rng = random.Random(seed)
    lines = []
    for _ in range(n):
        label = rng.randrange(3)
        lines.append(",".join(f"{rng.gauss(2.0 if i % 3 == label else 0.0, 1.0):.4f}"
                              for i in range(8)) + f",{label}")
    return "\n".join(lines) + "\n"


@needs_sandbox
@needs_torch
class TrainTest(LendingTest):
    """What tests of trainings share."""

    def points(self):
        return {"train_csv": points(1500, 1), "test_csv": points(400, 2)}

    def train(self, text=JOB, **files):
        return self.run_job(text, **(files or self.points()))

    def run_job(self, text, **files):
        """It pays the lender's price."""
        path = self.job_file(text + f"\nprice: {{limit: {PER_HOUR}, budget: 50}}\n", **files)
        for name in files:  # Beside the job file.
            plain = name.replace("__", "/").replace("_", ".")
            os.replace(os.path.join(self.folder, "project", plain),
                       os.path.join(self.folder, plain))
        return self.json("run", path, "--yes", token=self.bob)["id"]

    def dear_agent(self, name, **more):
        """Whatever is accepted of its work has a price."""
        return Agent(self, self.ann, name, "--cores", "1", "--memory", "1G", "--price",
                     str(PER_HOUR), **more)

    def gate(self, **how):
        return Gate(self, self.server.port, **how)

    def training(self, job):
        return self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)

    def let_until(self, condition, what, *gates):
        """Lets reports through closed gates until `condition`: no machine is so fast that it has done
        more by then."""
        def one_more():
            if value := condition():
                return value
            for gate in gates:
                gate.let_one()
            return None
        return wait_for(one_more, what, 2 * DEADLINE_S)

    def units(self, job):
        """Of those that did any."""
        return [w["units"] for w in self.training(job)["by_worker"] if w["units"] > 0]

    def wait(self, job, state="succeeded"):
        found = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))
                         ["state"] in ("succeeded", "failed", "cancelled", "expired") and j,
                         "the end of the job", 4 * DEADLINE_S)
        self.assertEqual(found["state"], state, found["reason"] + self.souk(
            "logs", job, token=self.bob).stdout)
        return found

    def predict(self, job, text, *flags):
        path = os.path.join(self.folder, "samples")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with open(path, encoding="utf-8") as file:
            return self.souk("predict", job, *flags, token=self.bob, stdin=file)

    def results(self, job):
        folder = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", folder, token=self.bob)
        return folder

    def steps(self, job):
        train = self.good("GET", f"/v1/jobs/{job}", None, self.bob)["batch"]["train"]
        return [-(-shard["samples"] // train["batch"]) for shard in train["shards"]]

    def assert_ledger_sums(self):
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)


class Training(TrainTest):
    def test_a_model_is_trained_paid_for_and_brought_home(self):
        self.dear_agent("one")
        begun = time.monotonic()
        job = self.train()
        ended = self.wait(job)
        at_most = (time.monotonic() - begun) * PER_HOUR / 3600
        self.assertEqual(ended["reason"], "the target was reached")
        folder = self.results(job)
        self.assertEqual(sorted(os.listdir(folder)),
                         ["curve.svg", "events.tfevents", "metrics.csv", "metrics.json",
                          "model.safetensors", "trainer.json"])
        with open(os.path.join(folder, "metrics.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertGreaterEqual(float(rows[-1]["accuracy"]), 0.9)
        with open(os.path.join(folder, "model.safetensors"), "rb") as file:
            head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        self.assertEqual(sum(t["shape"][0] for t in head.values() if len(t["shape"]) == 1), 32 + 3)
        # Its worker was paid, for less than the time it held the lease.
        lease = self.good("GET", f"/v1/jobs/{job}/leases", None, self.bob)["items"][0]
        self.assertGreater(float(lease["paid"]), 0)
        self.assertLess(float(lease["paid"]), at_most)
        # And it answers: a point that is plainly of class 1.
        sample = json.dumps([4.0 if i % 3 == 1 else -1.0 for i in range(8)]) + "\n"
        said = self.predict(job, sample).stdout
        self.assertEqual(json.loads(said)["label"], 1, said)

    def test_what_was_measured_once_is_foretold_and_compared(self):
        self.agent("one")
        job = JOB.replace("target: {accuracy: 0.9}\n", "").replace("epochs: 30", "epochs: 60")
        path = self.job_file(job + "\nprice: {limit: 1, budget: 5}\n")
        for name, content in self.points().items():
            with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                      encoding="utf-8") as out:
                out.write(content)
        first = self.json("plan", path, token=self.bob)
        self.assertEqual((first["profiled"], first["method"]), (False, "guess"))
        self.assertGreater(first["candidates"][0]["cost_high"], 5 * first["candidates"][0]["cost"])
        plan = self.json("plan", path, "--measure", token=self.bob)
        self.assertTrue(plan["profiled"], plan)
        self.assertEqual([c["workers"] for c in plan["candidates"]], [1])
        self.assertEqual([c["chosen"] for c in plan["candidates"]], [True])
        measured = self.json("jobs", token=self.bob)["items"][0]
        self.assertEqual(measured["name"], "profile of digits")
        self.assertIsNotNone(measured.get("ended"))

        wait_for(lambda: self.json("plan", path, token=self.bob)["candidates"], "the machine's return")
        ran = self.json("run", path, "--yes", token=self.bob)["id"]
        ended = self.wait(ran)
        self.assertEqual(ended["forecast"]["workers"], 1)
        shown = self.souk("job", "show", ran, token=self.bob).stdout
        self.assertRegex(shown, r"quoted +\S+.*with 1 worker at about \S+ per slot-hour; from 1 run")
        self.assertRegex(shown, r"actual +\S+, \S+ credits: time (as|more than|less than) quoted, cost ")
        self.assertEqual(ended["quoted"]["time"], ended["forecast"]["time"])
        self.assertEqual(ended["quoted"]["method"], "runs")
        self.assertTrue(ended["actual"]["over"])
        self.assertEqual(ended["actual"]["cost"], ended["spent"])
        self.assertRegex(shown, r"time +.*compute \d+%")
        spent = self.training(ran)["by_worker"][0]["spent"]
        self.assertEqual(set(spent), {"compute", "checking", "prepare", "fetch", "download", "upload",
                                      "waiting"})

    def test_a_training_that_would_be_late_gets_another_worker(self):
        gate = self.gate()
        self.agent("one", server=gate.url)
        self.agent("two", server=gate.url)
        epochs = 5000
        job = JOB.replace("target: {accuracy: 0.9}\n", "deadline: 500h\n").replace(
            "epochs: 30", f"epochs: {epochs}")
        path = self.job_file(job + "\nprice: {limit: 1, budget: 50}\n")
        for name, content in self.points().items():
            with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                      encoding="utf-8") as out:
                out.write(content)
        self.json("plan", path, "--measure", token=self.bob)
        # Now no machine does a unit in less than a second, which is at least this much for one worker.
        gate.seconds = 1
        ran = self.json("run", path, "--yes", token=self.bob)["id"]
        self.assertGreater(epochs * len(self.steps(ran)) * gate.seconds, 10 * 3600)
        shown = self.json("job", "show", ran, token=self.bob)
        self.assertEqual(shown["planned"], 1, shown)  # One is enough, and it is cheapest.
        wait_for(lambda: self.training(ran)["progress"] > 0, "work", 2 * DEADLINE_S)
        self.souk("job", "edit", ran, "--deadline", "1h", token=self.bob)
        grown = wait_for(lambda: (j := self.json("job", "show", ran, token=self.bob))["held"] == 2
                         and j, "a second worker", 4 * DEADLINE_S)
        self.assertGreaterEqual(grown["planned"], 2)
        self.assertIn("of the work is left", grown["planned_why"])
        self.souk("cancel", ran, token=self.bob)

    def test_a_killed_machine_and_a_late_one(self):
        gate = self.gate(closed=True)
        first = self.agent("one", server=gate.url)
        job = self.train(JOB.replace("epochs: 30", "epochs: 12").replace(
            "target: {accuracy: 0.9}", "target: {accuracy: 1.0}"))
        self.let_until(lambda: self.training(job)["useful_steps"] > 20, "some work", gate)
        self.lose(first, job)
        self.agent("two")
        ended = self.wait(job)
        self.assertEqual(ended["reason"], "all epochs are done")
        found = self.training(job)
        self.assertEqual(found["useful_steps"], 12 * sum(self.steps(job)))
        self.assertEqual(len(self.units(job)), 2)
        self.assert_ledger_sums()

    def test_the_server_is_killed_in_the_middle_and_training_goes_on(self):
        gate = self.gate(closed=True)
        self.agent("one", server=gate.url)
        job = self.train(JOB.replace("target: {accuracy: 0.9}", "target: {accuracy: 1.0}").replace(
            "epochs: 30", "epochs: 10"))
        self.let_until(lambda: self.training(job)["useful_steps"] > 50, "some work", gate)
        self.server.kill()
        killed = time.monotonic()
        self.server.start(self.server.port)
        gate.open()
        wait_for(lambda: self.training(job)["useful_steps"] > 0, "training again", DEADLINE_S)
        print(f"back after {time.monotonic() - killed:.1f} s", flush=True)
        self.wait(job)
        found = self.training(job)
        # Not a step too many, not one too few.
        self.assertEqual(found["useful_steps"], 10 * sum(self.steps(job)))

    def test_a_machine_that_leaves_hands_back_a_partial_unit(self):
        gate = self.gate(closed=True)
        first = self.agent("one", server=gate.url)
        job = self.train(JOB.replace("target: {accuracy: 0.9}", "target: {accuracy: 1.0}").replace(
            "epochs: 30", "epochs: 60\nlocal_steps: 90\nshards: 1"))
        self.let_until(lambda: self.training(job)["useful_steps"] > 0, "some work", gate)
        first.process.terminate()
        self.let_until(lambda: first.process.poll() is not None, "its end", gate)
        before = self.training(job)
        self.assertEqual(before["wasted_steps"], 0, first.text())
        self.agent("two")
        self.wait(job)
        self.assertEqual(len(self.units(job)), 2)

    def test_one_worker_is_serial_training_though_its_exchange_is_hidden(self):
        # Reports take longer than units, so that each unit is fetched before the last one is handed in.
        self.agent("one", server=self.gate(seconds=0.05).url)
        losses = []
        for rule in ("mean", "{name: diloco, eta: 1, momentum: 0}"):  # Rounds of one hide nothing.
            job = self.train(JOB.replace("target: {accuracy: 0.9}", f"rule: {rule}").replace(
                "epochs: 30", "epochs: 3\nshards: 1\nlocal_steps: 2\noptions: {optimizer: adam}").replace(
                "lr: 0.1", "lr: 0.005").replace("workers: 1..3", "workers: 1"))
            self.wait(job)
            losses.append([row["validation_loss"] for row in self.training(job)["rows"]])
        self.assertEqual(len(losses[0]), 3)
        for mean, serial in zip(*losses):
            self.assertAlmostEqual(mean, serial, delta=1e-5 * serial)
        self.assertLess(losses[0][-1], losses[0][0])

    def test_a_canceled_training_still_gives_its_model(self):
        gate = self.gate(closed=True)
        self.agent("one", server=gate.url)
        job = self.train(JOB.replace("target: {accuracy: 0.9}", "target: {accuracy: 1.0}").replace(
            "epochs: 30", "epochs: 1000"))
        self.let_until(lambda: len(self.training(job)["rows"]) > 0, "an epoch", gate)
        self.souk("cancel", job, token=self.bob)
        gate.open()
        wait_for(lambda: self.good("GET", f"/v1/jobs/{job}", None, self.bob).get("result"),
                 "the result", DEADLINE_S)
        self.assertIn("model.safetensors", os.listdir(self.results(job)))

    def test_a_script_of_ones_own(self):
        self.agent("one")
        script = """
import souk
import numpy as np

def gradient(p, x, y):
    z = x @ p["w"] + p["b"]
    z -= z.max(1, keepdims=True)
    e = np.exp(z)
    e /= e.sum(1, keepdims=True)
    loss = -np.log(e[np.arange(len(y)), y] + 1e-9).mean()
    e[np.arange(len(y)), y] -= 1
    e /= len(y)
    return loss, {"w": x.T @ e, "b": e.sum(0)}

def evaluate(p, x, y):
    z = x @ p["w"] + p["b"]
    return 0.0, {"accuracy": float((z.argmax(1) == y).mean())}

print("this goes to the log")
souk.worker(parameters={"w": np.zeros((8, 3), np.float32), "b": np.zeros(3, np.float32)},
            gradient=gradient, evaluate=evaluate)
"""
        job = self.train(JOB.replace("model: {name: mlp, hidden: 32}",
                                     "trainer: python\nscript: mine.py\npackages: [numpy]"),
                         mine_py=script, **self.points())
        self.wait(job)
        wait_for(lambda: "this goes to the log" in self.souk("logs", job, token=self.bob).stdout,
                 "the log")

    def test_two_machines_come_to_the_same_and_are_believed(self):
        self.agent("one")
        self.agent("two", token=self.sign_up("carol"))
        job = self.train(JOB.replace("0.9}", "1.0}").replace("epochs: 30", "epochs: 8").replace("1..3", "2") +
                         "replicate: 1\n")
        self.wait(job)
        self.assertEqual([w["rejected"] for w in self.training(job)["by_worker"]], [0, 0],
                         self.souk("logs", job, token=self.bob).stdout)

    def test_machines_of_one_owner_do_not_wait_for_somebody_to_compare_with(self):
        self.agent("one")
        self.agent("two")
        job = self.train(JOB + "replicate: 1\n")
        self.wait(job)

    def test_what_cannot_be_trained_is_refused_in_words(self):
        bad = [("model: {name: mlp, hidden: 32}", "", "model"),
               ("epochs: 30", "epochs: 0", "epochs"),
               ("batch: 16", "rule: magic", "magic"),
               ("batch: 16", "codec: zip", "zip"),
               ("kind: train", "kind: batch\nrun: 'true'", "train"),
               ("format: csv", "format: cvs", "cvs"),
               ("accuracy: 0.9", "accuracy: 98", "target.accuracy is 98"),
               ("accuracy: 0.9", "f1: 0.9", "at_least: 0.9"),
               ("accuracy: 0.9", "rmse: 2", "does not measure")]
        for old, new, word in bad:
            path = self.job_file(JOB.replace(old, new) + "\nprice: {limit: 1, budget: 5}\n")
            for name, text in self.points().items():
                with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                          encoding="utf-8") as file:
                    file.write(text)
            done = self.souk("run", path, "--yes", token=self.bob, check=False)
            self.assertNotEqual(done.returncode, 0, new)
            self.assertIn(word, done.stderr)


@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class InRedis(TrainTest):
    """What has to do with the store, with the parameters in Redis, where several hubs could share them."""

    def setUp(self):
        self.flags = (*self.flags, "--parameters", start_redis(self))
        super().setUp()

    test_a_model_is_trained_paid_for_and_brought_home = Training.test_a_model_is_trained_paid_for_and_brought_home
    test_the_server_is_killed = Training.test_the_server_is_killed_in_the_middle_and_training_goes_on


if __name__ == "__main__":
    unittest.main()

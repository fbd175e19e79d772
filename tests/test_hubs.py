"""Training through hubs: workers pull from and push to `souk hub` processes on one Redis, and the
market only decides. Real processes, a real trainer, a real kill."""
import http.client
import json
import os
import re
import shutil
import subprocess
import unittest

import test_train
from lending import needs_sandbox
from mnist import needs_mnist
from redis_server import start_redis
from souk import DEADLINE_S, SOUK
from test_train import needs_torch

DATASETS = os.environ.get("SOUK_DATASETS", os.path.expanduser("~/.cache/souk/datasets"))
SECRET = "what the hubs of this test were started with"

# Large enough that what the market sees of an update is less than the update.
JOB = test_train.JOB.replace("hidden: 32", "hidden: 16384").replace("lr: 0.1", "lr: 0.02")

MNIST = """
kind: train
name: digits
model: {name: mlp, hidden: 128}
data: mnist
epochs: 8
target: {accuracy: 0.93}
batch: 64
lr: 0.02
workers: 1..2
"""


class Hub:
    """A `souk hub` process on a free port of loopback."""

    def __init__(self, test, store, secret_file, env=None):
        self.log = open(os.path.join(test.folder, "hubs.log"), "ab")
        self.process = subprocess.Popen(
            [SOUK, "hub", "--store", store, "--secret-file", secret_file, "--listen",
             "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=os.environ | (env or {}))
        test.addCleanup(self.kill)
        self.url = re.search(r"http://\S+", self.process.stdout.readline()).group(0)

    def stats(self):
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"),
                                                timeout=DEADLINE_S)
        try:
            connection.request("GET", "/v1/hub/stats", headers={"Authorization": "Bearer " + SECRET})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()


class _UpTo:
    """Lets so many reports through a gate."""

    def __init__(self, most, gate):
        self.most, self.gate = most, gate

    def let_one(self):
        if self.gate.passed < self.most:
            self.gate.let_one()


def start_hubs(test, store, first_env=None):
    """Starts two, and the market of the test anew with them."""
    secret = os.path.join(test.folder, "hub.secret")
    with open(secret, "w", encoding="utf-8") as file:
        file.write(SECRET + "\n")
    hubs = [Hub(test, store, secret, first_env), Hub(test, store, secret)]
    test.server.stop()
    test.server.flags = (*test.flags, "--parameters", store, "--hub-secret-file", secret,
                         *(flag for hub in hubs for flag in ("--hub", hub.url)))
    test.server.start(test.server.port)
    return hubs


@needs_sandbox
@needs_torch
@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class HubsTest(test_train.TrainTest):
    def setUp(self):
        self.store = start_redis(self)
        super().setUp()

    def assert_folded_once(self, job):
        """Each accepted update is one version of the parameters. One more may have been on its way
        into them when the training ended."""
        found = self.training(job)
        units = sum(w["units"] for w in found["by_worker"])
        self.assertIn(found["version"] - units, (0, 1) if "target" in found["reason"] else (0,))
        return found

    def test_two_hubs_carry_what_the_market_does_not(self):
        hubs = start_hubs(self, self.store)
        gates = [self.gate(closed=True) for _ in range(2)]
        for name, gate in zip(("one", "two"), gates):
            self.dear_agent(name, server=gate.url)
        job = self.train(JOB)
        # Neither gets further than a part of the first epoch before both have done something.
        few = len(self.steps(job)) // 2
        self.let_until(lambda: len(self.units(job)) == 2, "units of both",
                       *(_UpTo(few, gate) for gate in gates))
        for gate in gates:
            gate.open()
        self.assertEqual(self.wait(job)["reason"], "the target was reached")
        found = self.assert_folded_once(job)
        size = 4 * (8 * 16384 + 16384 + 16384 * 3 + 3)
        stats = [hub.stats() for hub in hubs]
        for s in stats:
            self.assertGreater(s["pulled_bytes"], size, stats)
            self.assertGreater(s["pushed_bytes"], size, stats)
            self.assertGreater(s["folds"], 0, stats)
            self.assertLess(s["staged"], 2, stats)  # One may have come too late.
        self.assertIn(sum(s["folds"] for s in stats) - found["version"], (0, 1))
        # The first parameters came through the market, and what was checked left it.
        self.assertLess(found["bytes_in"], 2 * size)
        self.assert_ledger_sums()
        paid = [float(lease["paid"]) for lease in
                self.good("GET", f"/v1/jobs/{job}/leases", None, self.bob)["items"]]
        self.assertEqual(len([p for p in paid if p > 0]), 2, paid)

    @needs_mnist
    def test_mnist_reaches_its_target_through_hubs(self):
        hubs = start_hubs(self, self.store)
        self.agent("one")
        self.agent("two")
        path = self.job_file(MNIST + "\nprice: {limit: 1, budget: 5}\n")
        started = self.souk("run", path, "--yes", "--json", token=self.bob,
                            env={"SOUK_DATASETS": DATASETS})
        job = json.loads(started.stdout)["id"]
        self.assertEqual(self.wait(job)["reason"], "the target was reached")
        self.assert_folded_once(job)
        for hub in hubs:
            self.assertGreater(hub.stats()["folds"], 0)
        self.assert_ledger_sums()

    def test_a_hub_is_killed_in_the_middle_and_training_goes_on(self):
        hubs = start_hubs(self, self.store)
        gates = [self.gate(closed=True) for _ in range(2)]
        for name, gate in zip(("one", "two"), gates):
            self.agent(name, server=gate.url)
        # A network that has learnt it all sends updates that are too small for the other validators.
        job = self.train(JOB.replace("target: {accuracy: 0.9}", "target: {accuracy: 1.0}").replace(
            "epochs: 30", "epochs: 8\nvalidators: [finite]"))
        some = 4 * len(self.steps(job))  # Of either: half of all there is.
        self.let_until(lambda: all(hub.stats()["folds"] > 3 for hub in hubs)
                       and len(self.units(job)) == 2, "folds at both",
                       *(_UpTo(some, gate) for gate in gates))
        before = hubs[1].stats()["folds"]
        hubs[0].process.kill()
        for gate in gates:
            gate.open()
        self.assertEqual(self.wait(job)["reason"], "all epochs are done")
        found = self.assert_folded_once(job)
        # Not a step too many, not one too few; and nobody is blamed.
        self.assertEqual(found["useful_steps"], 8 * sum(self.steps(job)))
        self.assertEqual([w["rejected"] for w in found["by_worker"]], [0, 0],
                         self.souk("logs", job, token=self.bob).stdout)
        self.assertGreater(hubs[1].stats()["folds"], before)
        self.assert_ledger_sums()

    def test_the_market_is_killed_in_the_middle_and_the_hubs_go_on_with_the_next(self):
        start_hubs(self, self.store)
        gate = self.gate(closed=True)
        self.agent("one", server=gate.url)
        job = self.train(JOB.replace("target: {accuracy: 0.9}", "target: {accuracy: 1.0}").replace(
            "epochs: 30", "epochs: 6"))
        self.let_until(lambda: self.training(job)["useful_steps"] > 50, "some work", gate)
        self.server.kill()
        self.server.start(self.server.port)
        gate.open()
        self.wait(job)
        self.assertEqual(self.training(job)["useful_steps"], 6 * sum(self.steps(job)))

    def test_hubs_without_what_they_need_are_refused_in_words(self):
        secret = os.path.join(self.folder, "hub.secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write(SECRET)
        for flags, word in ((("--hub", "http://127.0.0.1:1", "--hub-secret-file", secret),
                             "--parameters redis"),
                            (("--hub", "http://127.0.0.1:1", "--parameters", self.store),
                             "--hub-secret-file"),
                            (("--hub-secret-file", secret, "--parameters", self.store), "--hub URL"),
                            (("--hub", "nowhere", "--hub-secret-file", secret, "--parameters",
                              self.store), "nowhere")):
            done = subprocess.run([SOUK, "serve", "--memory", "--listen", "127.0.0.1:0", *flags],
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertNotEqual(done.returncode, 0, flags)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()

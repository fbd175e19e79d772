"""Accepted work is paid exactly once: workers played by hand over the API, with real kills.

A worker sums up what the verdicts of its units said it would be paid for. In the end that sum, at
the price of its lease, must be what its lease was paid, to the micro-credit."""
import http.client
import json
import random
import re
import shutil
import signal
import struct
import unittest
import uuid

from lending import ON_PAPER, LendingTest
from redis_server import start_redis
from souk import DEADLINE_S, Answer, wait_for
from test_hubs import start_hubs
from test_train import points

PER_HOUR = 36.0  # Of a slot: a hundredth of a credit a second, ten micro-credits a millisecond.
WEIGHTS = 11  # Floats of the model; no trainer looks at them.
UNITS_US = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000,
            "us": 1}
JOB = """
kind: train
model: {{name: mlp, hidden: 2}}
data: {{format: csv, train: train.csv, test: test.csv}}
epochs: {epochs}
batch: 16
lr: 0.1
workers: {workers}
rule: {rule}
price: {{limit: 36, budget: 2}}
"""


def micros(text):
    """Microseconds of a duration such as 1m2s500ms."""
    return sum(int(n) * UNITS_US[unit] for n, unit in re.findall(r"(\d+)(d|h|ms|us|m|s)", text))


def update(values):
    """The bytes of an update with codec fp32 (src/train/update.cc)."""
    body = struct.pack(f"<{len(values)}f", *values)
    return (b"SUP1" + struct.pack("<I", 0) + b"fp32".ljust(8, b"\0")
            + struct.pack("<QI", len(values), len(body)) + body)


class Worker:
    """An agent and its trainer in one: holds one lease of the job and does its units."""

    def __init__(self, test, machine, seed):
        self.test, self.machine, self.rng = test, machine, random.Random(seed)
        self.leases = {}  # Microseconds that accepted units were said to be paid for, by lease.
        self.lease = None

    def post(self, path, body, key=None):
        return self.test.server.call("POST", path, body, self.test.ann, key=key)

    def granted(self):
        """The machine's leases. Who asks is heard from, and only who is heard from gets any."""
        return self.test.good("GET", f"/v1/machines/{self.machine}/work", None,
                              self.test.ann)["leases"]

    def take_up(self):
        """Waits for a lease and starts it."""
        lease = wait_for(self.granted, "a lease")[0]
        if lease["state"] == "granted":
            self.test.assertEqual(
                self.post(f"/v1/leases/{lease['id']}/start", {"epoch": lease["epoch"]}).status, 200)
        self.lease, self.epoch = lease["id"], lease["epoch"]
        self.leases.setdefault(self.lease, 0)

    def ask(self):
        self.post(f"/v1/machines/{self.machine}/heartbeat",
                  {"leases": [{"lease": self.lease, "epoch": self.epoch}]})
        return self.post(f"/v1/leases/{self.lease}/units", {"epoch": self.epoch, "holds": []})

    def put(self, place, path, token, data):
        connection = http.client.HTTPConnection(place, timeout=DEADLINE_S)
        try:
            connection.request("PUT", path, data, {"Authorization": "Bearer " + token,
                                                   "Content-Type": "application/octet-stream"})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def send(self, unit, data):
        """To the unit's hub, or to the market when there is none or it is gone."""
        if hub := unit.get("hub"):
            try:
                return self.put(hub["url"].removeprefix("http://"),
                                f"/v1/hub/{self.test.job}/updates/{hub['update']}?offset=0",
                                hub["ticket"], data)
            except OSError:
                pass
        return self.put(f"127.0.0.1:{self.test.server.port}",
                        f"/v1/leases/{self.lease}/units/{unit['id']}?epoch={self.epoch}",
                        self.test.ann, data)

    def work(self, unit):
        """Does the unit; returns its report."""
        if unit["kind"] == "evaluate":
            return {"epoch": self.epoch, "samples": 40, "metrics": {"loss": 1.0, "accuracy": 0.5}}
        values = [self.rng.gauss(0, 0.001) for _ in range(WEIGHTS)]
        self.test.assertEqual(self.send(unit, update(values)).status, 200)
        report = {"epoch": self.epoch, "base": self.version, "steps": unit["steps"],
                  "samples": unit["steps"] * unit["batch"], "loss": 1.0}
        if unit["kind"] == "init":
            report["tensors"] = [{"name": "w", "shape": [WEIGHTS]}]
        return report

    def pull(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.test.server.port,
                                                timeout=DEADLINE_S)
        try:
            connection.request("GET", f"/v1/leases/{self.lease}/parameters?epoch={self.epoch}",
                               None, {"Authorization": "Bearer " + self.test.ann})
            response = connection.getresponse()
            body = response.read()
            self.version = struct.unpack("<q", body[:8])[0] if response.status == 200 else 0
        finally:
            connection.close()

    def report(self, unit, report, key):
        return self.post(f"/v1/leases/{self.lease}/units/{unit['id']}", report, key)

    def count(self, answer):
        if answer.status == 200 and answer.json["accepted"]:
            self.leases[self.lease] += micros(answer.json["worked"])


def take_up(workers):
    """Of a job that starts only if all of them are there."""
    wait_for(lambda: all([worker.granted() for worker in workers]), "a lease for each")
    for worker in workers:
        worker.take_up()


class WagesTest(LendingTest):
    flags = ("--round", "100ms", "--requests", "0", *ON_PAPER)

    def start_job(self, rule="downpour", epochs=1, workers=1):
        machines, self.offers = [], []
        for i in range(workers):
            machine = self.good("POST", "/v1/machines", {
                "name": f"{rule}-{i}-{uuid.uuid4().hex[:6]}", "spec": {"cores": 1, "memory_mib": 2048,
                                            "packages": ["@torch"]}}, self.ann)
            offer = self.good("POST", "/v1/offers", {"machine": machine["id"], "class": "c1",
                                                     "slots": 1, "price": PER_HOUR}, self.ann)
            machines.append(machine["id"])
            self.offers.append(offer["id"])
        path = self.job_file(JOB.format(rule=rule, epochs=epochs, workers=workers))
        for name, n in (("train.csv", 320), ("test.csv", 40)):
            with open(f"{self.folder}/{name}", "w", encoding="utf-8") as out:
                out.write(points(n, 1))
        self.job = self.json("run", path, "--yes", token=self.bob)["id"]
        out = [Worker(self, machine, i) for i, machine in enumerate(machines)]
        take_up(out)
        return out

    def state(self):
        return self.good("GET", f"/v1/jobs/{self.job}", None, self.bob)["state"]

    def turn(self, worker, disturb=None):
        """One unit of this worker. False when there is no more."""
        answer = worker.ask()
        if answer.status != 200:
            return False
        unit = answer.json
        if unit["kind"] == "finish":
            return False
        if unit["kind"] == "wait":
            return True
        worker.pull()
        report = worker.work(unit)
        key = uuid.uuid4().hex
        worker.count(disturb(worker, unit, report, key) if disturb
                     else worker.report(unit, report, key))
        return True

    def run_to_the_end(self, workers, disturb=None):
        def over():
            for worker in workers:
                self.turn(worker, disturb)
            return self.state() not in ("queued", "running")
        wait_for(over, "the end of the training", 2 * DEADLINE_S)

    def assert_paid(self, workers):
        leases = {l["id"]: l for l in
                  self.good("GET", f"/v1/jobs/{self.job}/leases", None, self.bob)["items"]}
        for worker in workers:
            for lease, worked in worker.leases.items():
                owed = int(PER_HOUR * 1e6) * worked // 3_600_000_000
                self.assertEqual(round(leases[lease]["paid"] * 1e6), owed, leases[lease])
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

    def test_every_accepted_unit_and_the_last_check_are_paid_with_every_aggregator(self):
        rules = [r["name"] for r in
                 self.good("GET", "/v1/training/choices", None, self.bob)["rules"]]
        self.assertGreater(len(rules), 10)
        for rule in rules:
            with self.subTest(rule):
                workers = self.start_job(rule, workers=2)
                self.run_to_the_end(workers)
                self.assertEqual(self.state(), "succeeded")
                self.assertGreater(sum(sum(w.leases.values()) for w in workers), 0)
                self.assert_paid(workers)
                for offer in self.offers:  # The next has machines of its own.
                    self.good("DELETE", f"/v1/offers/{offer}", None, self.ann)

    def test_a_report_sent_twice_gets_the_first_verdict_and_one_wage(self):
        def twice(worker, unit, report, key):
            first = worker.report(unit, report, key)
            again = worker.report(unit, report, key)
            other_key = worker.report(unit, report, None)
            self.assertEqual((first.status, first.json), (again.status, again.json))
            if other_key.status == 200:  # The job may have ended with this unit.
                self.assertEqual(first.json, other_key.json)
            return first
        workers = self.start_job(workers=1)
        self.run_to_the_end(workers, twice)
        self.assertEqual(self.state(), "succeeded")
        self.assert_paid(workers)

    def test_a_server_killed_between_acceptance_and_payment_pays_each_wage_once(self):
        rng = random.Random(5)
        kills = []

        def killed(worker, unit, report, key):
            if len(kills) >= 12 or rng.random() < 0.5:
                return worker.report(unit, report, key)
            # The report is on its way when the server dies, at any point of its path.
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                    timeout=DEADLINE_S)
            connection.request("POST", f"/v1/leases/{worker.lease}/units/{unit['id']}",
                               json.dumps(report), {"Authorization": "Bearer " + self.ann,
                                                    "Idempotency-Key": key})
            connection.sock.settimeout(rng.choice((0.0005, 0.002, 0.005, 0.02)))
            try:
                connection.sock.recv(1)
            except OSError:
                pass
            kills.append(unit["kind"])
            self.server.kill()
            connection.close()
            self.server.start(self.server.port)
            return worker.report(unit, report, key)
        workers = self.start_job(epochs=2, workers=1)
        self.run_to_the_end(workers, killed)
        self.assertGreater(len(kills), 3)
        self.assertEqual(self.state(), "succeeded")
        self.assert_paid(workers)

    def test_a_server_killed_at_each_named_point_pays_each_wage_once(self):
        """The points of src/base/kill_point.h that a server passes."""
        worker, = self.start_job(epochs=400, workers=1)
        while not worker.leases[worker.lease]:
            self.turn(worker)
        for point in ("unit-accepted:2", "wage-decided:2", "journal-append:2",
                      "journal-appended:2", "wage-settled:2", "training-saved:1"):
            with self.subTest(point):
                self.server.kill()
                self.server.env = {"SOUK_KILL_AT": point}
                self.server.start(self.server.port)
                self.server.env = {}
                self.until_killed(worker, self.server)
                self.server.kill()
                self.server.start(self.server.port)
        for _ in range(5):
            self.turn(worker)
        self.souk("cancel", self.job, token=self.bob)
        self.assert_paid([worker])

    def until_killed(self, worker, killed):
        """Works until that process dies; what was on its way then is sent again and again. The
        server is started anew when it is the one."""
        died = []

        def stubborn(worker, unit, report, key):
            def settled():
                try:
                    answer = worker.report(unit, report, key)
                    return answer if answer.status < 500 else None
                except (OSError, http.client.HTTPException):
                    self.revive(killed)
                    died.append(unit["kind"])
                    return None
            return wait_for(settled, "an answer to the report")

        def dead():
            try:
                self.turn(worker, stubborn)
            except (OSError, http.client.HTTPException):
                self.revive(killed)
                died.append("between reports")
            return died or (killed is not self.server and killed.process.poll() is not None)
        wait_for(dead, "the end of the process", 2 * DEADLINE_S)

    def revive(self, killed):
        self.assertIs(killed, self.server, "only this one was to die")
        self.assertEqual(self.server.process.wait(DEADLINE_S), -signal.SIGKILL)
        self.server.kill()
        self.server.start(self.server.port)

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_a_hub_killed_at_each_named_point_leaves_each_wage_paid_once(self):
        store = start_redis(self)
        for point in ("update-staged", "update-folded"):
            with self.subTest(point):
                doomed, other = start_hubs(self, store, {"SOUK_KILL_AT": point + ":3"})
                worker, = self.start_job(epochs=400, workers=1)
                self.until_killed(worker, doomed)
                self.assertEqual(doomed.process.wait(DEADLINE_S), -signal.SIGKILL)
                for _ in range(10):
                    self.turn(worker)
                self.assertGreater(worker.leases[worker.lease], 0)
                self.assertGreater(other.stats()["folds"], 0)
                self.souk("cancel", self.job, token=self.bob)
                self.assert_paid([worker])
                for offer in self.offers:
                    self.good("DELETE", f"/v1/offers/{offer}", None, self.ann)

    def test_an_agent_that_dies_with_its_report_on_the_way_is_paid_for_what_was_accepted(self):
        sent = []

        def dies(worker, unit, report, key):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                    timeout=DEADLINE_S)
            connection.request("POST", f"/v1/leases/{worker.lease}/units/{unit['id']}",
                               json.dumps(report), {"Authorization": "Bearer " + self.ann,
                                                    "Idempotency-Key": key})
            connection.close()
            sent.append((worker, unit, report, key))
            return Answer(0, {}, "")  # It never hears what became of it.
        worker, = self.start_job(epochs=50, workers=1)
        while not any(unit["kind"] == "train" for _, unit, _, _ in sent):
            self.turn(worker, dies if self.good("GET", f"/v1/jobs/{self.job}/training", None,
                                                self.bob)["state"] == "training" else None)

        def lost():
            leases = self.good("GET", f"/v1/jobs/{self.job}/leases", None, self.bob)["items"]
            return [l for l in leases if l["id"] == worker.lease and l["state"] == "closed"]
        self.set_silence("5s")
        wait_for(lost, "the silence to be noticed")
        for worker, unit, report, key in sent:
            worker.count(worker.report(unit, report, key))
        self.assertGreater(sum(worker.leases.values()), 0)
        self.assert_paid([worker])

    def test_a_job_that_is_cancelled_pays_what_was_accepted(self):
        workers = self.start_job(epochs=50, workers=2)
        for _ in range(10):
            for worker in workers:
                self.turn(worker)
        self.souk("cancel", self.job, token=self.bob)
        self.assertGreater(sum(sum(w.leases.values()) for w in workers), 0)
        self.assert_paid(workers)


if __name__ == "__main__":
    unittest.main()

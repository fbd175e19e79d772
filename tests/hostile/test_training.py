"""Attacks through training jobs: each row is one of the list in docs/hostile.md.

Workers are played by hand over the API, as in test_wages, or are real agents."""
import struct
import threading
import time
import types
import unittest

import test_wages
from lending import ON_PAPER, LendingTest, needs_sandbox
from souk import DEADLINE_S, wait_for
from test_train import points

HUGE = 2 ** 62
MIB = 1 << 20


def memory_mib(process, what="VmHWM"):
    """The most memory that a process has had at a time, or what it has now (VmRSS)."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what)) // 1024


def bomb(floats):
    """An update of zeros, unpacked `floats` of them: one zstd frame of blocks that say how often a
    byte is repeated."""
    block = 1 << 18  # Floats.
    assert floats % block == 0
    table = struct.pack("<I", 4 * block) * (floats // block)
    piece = 128 << 10

    def header(last, kind, size):
        return struct.pack("<I", last | kind << 1 | size << 3)[:3]
    zeros = 4 * floats // piece
    frame = (b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(table) + 4 * floats)
             + header(0, 0, len(table)) + table
             + b"".join(header(i == zeros - 1, 1, piece) + b"\0" for i in range(zeros)))
    return b"SUP1" + struct.pack("<I", 1) + b"fp32".ljust(8, b"\0") + struct.pack("<Q", floats) + frame


class Worker(test_wages.Worker):
    """Of any lender's machine; says of every check what it is told to."""

    def __init__(self, test, token, name, accuracy=0.5):
        machine = test.good("POST", "/v1/machines", {
            "name": name, "spec": {"cores": 1, "memory_mib": 2048, "packages": ["@torch"]}}, token)
        test.good("POST", "/v1/offers", {"machine": machine["id"], "class": "c1", "slots": 1,
                                         "price": test_wages.PER_HOUR}, token)
        lender = types.SimpleNamespace(server=test.server, ann=token, good=test.good,
                                       assertEqual=test.assertEqual)
        super().__init__(lender, machine["id"], name)
        self.accuracy = accuracy
        self.version = 0

    def work(self, unit):
        report = super().work(unit)
        if unit["kind"] == "evaluate":
            report["metrics"]["accuracy"] = self.accuracy
        return report

    def turn(self):
        """One unit; the verdict, if there was something to do."""
        unit = self.ask().json
        if unit is None or unit.get("kind") not in ("init", "train", "evaluate"):
            return None
        self.pull()
        answer = self.report(unit, self.work(unit), None)
        return (unit, answer.json) if answer.status == 200 else None


class TrainingAttacks(LendingTest):
    flags = ("--round", "100ms", "--requests", "0", *ON_PAPER, "--budget", "training-bytes=256M")

    def write_data(self):
        for name, n in (("train.csv", 320), ("test.csv", 40)):
            with open(f"{self.folder}/{name}", "w", encoding="utf-8") as out:
                out.write(points(n, 1))

    def submit(self, workers=1, epochs=1, more=""):
        self.write_data()
        path = self.job_file(test_wages.JOB.format(rule="downpour", epochs=epochs,
                                                   workers=workers) + more)
        return self.json("run", path, "--yes", token=self.bob)["id"]

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}", None, self.bob)

    def assert_alive(self):
        self.assertIsNone(self.server.process.poll(), "the server has ended")
        self.assertEqual(self.server.call("GET", "/healthz").status, 200)

    # --- Row 1 ------------------------------------------------------------------------------------

    def test_shards_that_claim_more_samples_than_can_be_counted(self):
        """Row 1 of the list in docs/hostile.md: the steps of an epoch wrapped to 0."""
        known = self.job(self.submit())

        def attempt(**claims):
            batch = dict(known["batch"], train=dict(known["batch"]["train"], **claims))
            return self.server.call("POST", "/v1/jobs", {
                "name": "poison", "kind": "train", "class": "c1", "workers": {"min": 1, "max": 1},
                "limit": 36, "budget": 2, "batch": batch}, self.bob)
        train = known["batch"]["train"]
        shard = dict(train["shards"][0])
        self.assertEqual(attempt().status, 201)  # As it was, it is good.
        for claims in ({"shards": [dict(shard, samples=HUGE)] * 4},
                       {"shards": [dict(shard, samples=2 ** 63 - 1)]},
                       {"validation": [dict(shard, samples=HUGE)] * 4},
                       {"shards": [dict(shard, samples=0)]},
                       {"shards": [shard] * 1000},
                       {"epochs": 2 ** 31 - 1}, {"batch": 0}, {"local_steps": 2 ** 31 - 1},
                       {"validations": 10 ** 6}):
            refused = attempt(**claims)
            self.assertEqual(refused.status, 400, (claims, refused.text))
            self.assertIn("batch.train", refused.json["field"])
        self.assert_alive()

    # --- Row 2 ------------------------------------------------------------------------------------

    def test_a_worker_that_asks_for_another_unit_while_its_first_is_judged(self):
        """Row 2 of the list in docs/hostile.md: the unit was taken back under the report."""
        worker = Worker(self, self.ann, "racer")
        for _ in range(4):
            job = self.submit()
            worker.take_up()
            unit = worker.ask().json
            self.assertEqual(unit["kind"], "init")
            report = worker.work(unit)
            together = threading.Barrier(5)

            def at_once(act):
                together.wait()
                act()
            acts = [lambda: worker.report(unit, report, None)] * 2 + [worker.ask] * 3
            threads = [threading.Thread(target=at_once, args=(act,)) for act in acts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assert_alive()
            self.souk("cancel", job, token=self.bob)
            wait_for(lambda: not self.good("GET", f"/v1/machines/{worker.machine}/work", None,
                                           self.ann)["leases"], "the lease to end")

    # --- Row 3 ------------------------------------------------------------------------------------

    def test_a_small_update_that_unpacks_to_half_a_gibibyte(self):
        """Row 3 of the list in docs/hostile.md: 18 KB became 4.1 GiB in the hub."""
        worker = Worker(self, self.ann, "bomber")
        job = self.submit()
        worker.take_up()
        floats = 1 << 27
        attack = bomb(floats)
        self.assertLess(len(attack), 20_000)
        before = memory_mib(self.server.process, "VmRSS")

        def refused():
            unit = worker.ask().json
            if unit is None or unit.get("kind") != "init":
                return self.job(job)["state"] == "failed"
            worker.send(unit, attack)
            answer = worker.report(unit, {"epoch": worker.epoch, "tensors": [
                {"name": "w", "shape": [floats]}]}, None)
            self.assertFalse(answer.json.get("accepted"), answer.text)
            return False
        # Each time it waits longer; at last the job ends, and says why.
        wait_for(refused, "the job's failure")
        self.assertIn("training-bytes", self.job(job)["reason"])
        self.assertLess(memory_mib(self.server.process) - before, 200)
        self.assert_alive()

    def test_an_update_that_claims_other_numbers_than_the_model_has(self):
        """Row 3 of the list in docs/hostile.md, once there is a model."""
        worker = Worker(self, self.ann, "bomber")
        self.submit()
        worker.take_up()
        self.assertTrue(worker.turn()[1]["accepted"])
        before = memory_mib(self.server.process, "VmRSS")
        unit = worker.ask().json
        self.assertEqual(unit["kind"], "train")
        worker.send(unit, bomb(1 << 27))
        answer = worker.report(unit, {"epoch": worker.epoch, "base": 0, "steps": unit["steps"],
                                      "samples": unit["steps"], "loss": 1.0}, None)
        self.assertFalse(answer.json["accepted"])
        self.assertIn("the model has 11", answer.json["reason"])
        self.assertLess(memory_mib(self.server.process) - before, 200)

    # --- Row 14 -----------------------------------------------------------------------------------

    def test_a_lender_who_claims_that_the_target_is_reached(self):
        """Row 14 of the list in docs/hostile.md: any accuracy was believed."""
        carol, dave = self.sign_up("carol"), self.sign_up("dave")
        honest = [Worker(self, self.ann, "ann"), Worker(self, carol, "carol")]
        liar = Worker(self, dave, "dave", accuracy=1.0)
        job = self.submit(workers=3, epochs=3, more="target: {accuracy: 0.95}\n")
        everybody = [liar, *honest]
        test_wages.take_up(everybody)
        lies = []

        def over():
            for worker in everybody:
                done = worker.turn()
                if worker is liar and done and done[0]["kind"] == "evaluate":
                    lies.append(done[1])
            return self.job(job)["state"] not in ("queued", "running")
        wait_for(over, "the end of the training", 4 * DEADLINE_S)
        ended = self.job(job)
        self.assertEqual((ended["state"], ended["reason"]), ("succeeded", "all epochs are done"))
        self.assertGreater(len(lies), 0)
        training = self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)
        self.assertTrue(training["confirmed"])
        for row in training["rows"]:
            self.assertAlmostEqual(row["accuracy"], 0.5)

    def test_a_check_of_other_samples_than_were_asked_for(self):
        """Row 14 of the list in docs/hostile.md: one sample is easily right."""
        worker = Worker(self, self.ann, "lazy")
        job = self.submit()
        worker.take_up()

        def checked():
            unit = worker.ask().json
            if unit["kind"] != "evaluate":
                if unit["kind"] != "wait":
                    worker.pull()
                    worker.report(unit, worker.work(unit), None)
                return None
            return worker.report(unit, {"epoch": worker.epoch, "samples": 1,
                                        "metrics": {"accuracy": 1.0}}, None)
        answer = wait_for(checked, "the check")
        self.assertFalse(answer.json["accepted"])
        self.assertIn("40 samples", answer.json["reason"])
        self.assertEqual(self.job(job)["state"], "running")

    def test_a_lender_who_sleeps_over_its_units(self):
        """Row 14 of the list in docs/hostile.md: pay was the time since a unit was given out."""
        dave = self.sign_up("dave")
        honest, sleeper = Worker(self, self.ann, "ann"), Worker(self, dave, "dave")
        self.submit(workers=2, epochs=50)
        test_wages.take_up([honest, sleeper])
        took = []

        def known():  # The usual pace.
            began = time.monotonic()
            turn = honest.turn()
            took.extend([time.monotonic() - began] if turn and turn[0]["kind"] == "train" else [])
            return len(took) >= 5
        wait_for(known, "some units")

        def given():
            unit = sleeper.ask().json
            return unit if unit["kind"] == "train" else None
        unit = wait_for(given, "a unit")
        sleeper.pull()
        report = sleeper.work(unit)
        began = time.monotonic()
        time.sleep(max(3, 20 * max(took)))  # The attack.
        verdict = sleeper.report(unit, report, None).json
        self.assertTrue(verdict["accepted"], verdict)
        self.assertLess(test_wages.micros(verdict["worked"]) / 1e6, (time.monotonic() - began) / 2)

    # --- Row 20 -----------------------------------------------------------------------------------

    @needs_sandbox
    def test_a_trainer_that_says_it_has_a_billion_parameters(self):
        """Row 20 of the list in docs/hostile.md: 2 GiB in the agent, outside of the control group."""
        agent = self.agent("one")
        script = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"ok": True, "name": "x", "tensors": [{"name": "w", "shape": [2 ** 30 - 1]}]}))
    sys.stdout.flush()
"""
        self.write_data()
        with open(f"{self.folder}/mine.py", "w", encoding="utf-8") as out:
            out.write(script)
        path = self.job_file("kind: train\ntrainer: python\nscript: mine.py\n"
                             "data: {format: csv, train: train.csv, test: test.csv}\n"
                             "epochs: 1\nworkers: 1\nprice: {limit: 1, budget: 2}\n")
        job = self.json("run", path, "--yes", token=self.bob)["id"]

        def ended():
            leases = self.good("GET", f"/v1/jobs/{job}/leases", None, self.bob)["items"]
            return [lease for lease in leases if lease["state"] == "closed"]
        self.assertEqual(wait_for(ended, "the lease's end")[0]["outcome"], "failed")
        self.assertIsNone(agent.process.poll(), "the agent has ended")
        self.assertLess(memory_mib(agent.process), 500)

    # --- Wrong answers ----------------------------------------------------------------------------

    def refusal(self, text):
        return self.souk("run", self.job_file(text), "--yes", token=self.bob, check=False)

    def test_a_column_of_amounts_is_not_trained_as_classes(self):
        with open(f"{self.folder}/prices.csv", "w", encoding="utf-8") as out:
            out.write("rooms,price\n" + "".join(f"{i % 5},{i * 1.25}\n" for i in range(1, 40)))
        done = self.refusal("kind: train\nmodel: mlp\nworkers: 1\nprice: {budget: 1}\n"
                            "data: {format: csv, train: prices.csv, label: price}\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is a number with a fraction", done.stderr)

    def test_setup_of_a_built_in_model_is_refused(self):
        self.write_data()
        done = self.refusal(test_wages.JOB.format(rule="downpour", epochs=1, workers=1)
                            + "setup: sleep 700\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing to set up", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""A training that moves to another slot class, with the real binary and real machines."""
import os
import re
import unittest

import test_train
from lending import Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, wait_for
from test_train import JOB, needs_torch


def seconds(text):
    """Of a length of time: "1m2s", "1s3ms"."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
    return sum(int(n) * units[unit] for n, unit in re.findall(r"(\d+)(ms|us|h|m|s)", text))


@needs_sandbox
@needs_torch
class MovesTest(LendingTest):
    Train = test_train.TrainTest  # Its helpers.
    points, wait, training = Train.points, Train.wait, Train.training
    assert_ledger_sums, gate, steps = Train.assert_ledger_sums, Train.gate, Train.steps

    def setUp(self):
        super().setUp()
        if "Processor time is limited" not in self.souk("doctor", "--json", check=False).stdout:
            self.skipTest("control groups cannot be used here")
        self.good("PUT", "/v1/classes/quick",
                  {"cores": 1, "memory_mib": 1024, "price": 0.2}, self.ann)
        for name, content in self.points().items():
            with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                      encoding="utf-8") as out:
                out.write(content)

    def lend(self, name, *flags, **more):
        return Agent(self, self.ann, name, "--cores", "1", "--memory", "1G", "--price", "0.1", *flags, **more)

    def file(self, slot_class, epochs, *more):
        lines = [f"class: {slot_class}", "price: {limit: 1, budget: 5}", *more]
        text = JOB.replace("target: {accuracy: 0.9}\n", "").replace(
            "epochs: 30", f"epochs: {epochs}").replace("workers: 1..3", "workers: 1").replace(
                "hidden: 32", "hidden: 2048")  # So that computing is what takes time.
        return self.job_file(text + "\n".join(lines) + "\n")

    def submit(self, *job):
        return self.json("run", self.file(*job), "--yes", token=self.bob)["id"]

    def show(self, job):
        return self.json("job", "show", job, token=self.bob)

    def test_all_classes_are_measured_and_the_best_is_taken(self):
        self.lend("fast", "--class", "quick")
        self.lend("slow", "--class", "c1", "--cpu-share", "0.15")
        path = self.file("[c1, quick]", 20)
        # Nothing like it ran here yet: a wide guess, which says that it is one.
        guess = self.json("plan", path, token=self.bob)
        self.assertNotEqual(guess["method"], "runs", guess)
        for row in guess["candidates"]:
            self.assertNotIn("chance", row)
        self.json("plan", path, "--measure", token=self.bob)
        plan = wait_for(lambda: len((p := self.json("plan", path, token=self.bob))["candidates"]) == 2
                        and p["method"] == "runs" and p, "both machines")
        self.assertEqual([(c["class"], c["chosen"]) for c in plan["candidates"]],
                         [("c1", False), ("quick", True)])
        shown = self.souk("plan", path, token=self.bob).stdout
        self.assertRegex(shown, r"class +workers +cluster")
        self.assertRegex(shown, r"\* +quick +1 +1 x fast")
        job = self.submit("[c1, quick]", 20)
        self.assertEqual(self.wait(job)["class"], "quick")

    def test_a_training_that_would_be_late_goes_on_where_machines_are_faster(self):
        self.lend("fast", "--class", "quick")
        epochs = 20
        first = self.submit("quick", epochs)
        self.wait(first)
        took = seconds(self.training(first)["elapsed"])
        a_minute = int(60 * epochs / took)

        # While the fast machine is away, all there is is a slow one of another class.
        offer = self.json("offers", token=self.ann)["items"][0]["id"]
        self.souk("offer", "pause", offer, token=self.ann)
        # An hour there at least, as a shard is a unit or more.
        gate = self.gate(seconds=max(1, 60 * took / (epochs * len(self.steps(first)))))
        self.lend("slow", "--class", "c1", server=gate.url)
        job = self.submit("[c1, quick]", a_minute, "deadline: 20m")
        begun = wait_for(lambda: (j := self.show(job))["held"] == 1 and j, "a worker")
        self.assertEqual((begun["class"], begun["classes"]), ("c1", ["c1", "quick"]))
        self.souk("offer", "resume", offer, token=self.ann)

        moved = wait_for(lambda: (j := self.show(job)).get("moves") and j["held"] == 1 and j,
                         "the move", 3 * DEADLINE_S)
        self.assertEqual((moved["class"], moved["planned"]), ("quick", 1))
        move = moved["moves"][0]
        self.assertEqual((move["from"], move["to"]), ("c1", "quick"))
        self.assertIn("of the work is left", move["why"])
        done = self.training(job)["progress"]
        wait_for(lambda: self.training(job)["progress"] > done, "work there")  # Nothing was lost.
        left = [lease for lease in self.json("job", "leases", job, token=self.bob)["items"]
                if lease["class"] == "c1"][0]
        self.assertEqual((left["state"], left["outcome"]), ("closed", "job"))
        self.assertGreater(left["paid"], 0)
        self.assertIn(f"from c1 to quick: {move['why']}",
                      self.souk("job", "show", job, token=self.bob).stdout)
        self.souk("cancel", job, token=self.bob)
        self.assert_ledger_sums()


if __name__ == "__main__":
    unittest.main()

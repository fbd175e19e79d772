"""Sweeps with the real binary: trials on machines that lend, early stops, one budget, real kills."""
import csv
import json
import os
import unittest

from lending import Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for

TORCH = os.path.join(os.path.dirname(SOUK), "souk-torch")
FINAL = ("succeeded", "failed", "cancelled", "expired")

# Scores x times the epoch: the largest x is best at every moment.
PROGRAM = """
kind: sweep
name: tune
run: |
  for epoch in 1 2 3 4 5 6; do
    echo "SOUK_METRIC epoch=$epoch score=$((x * epoch))"
    sleep %s
  done
  echo "$x by trial $SOUK_TRIAL" > kept
outputs: [kept]
"""


def program(pause, sweep):
    return PROGRAM % pause + f"sweep: {{metric: score, {sweep}}}\n"


class SweepTest(LendingTest):
    def sweep(self, text, price="{limit: 1, budget: 5}"):
        path = self.job_file(text + f"price: {price}\n")
        return self.json("run", path, "--yes", token=self.bob)["id"]

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}", None, self.bob)

    def trials(self, job):
        return self.json("job", "trials", job, token=self.bob)["trials"]

    def ended(self, job, state="succeeded"):
        found = wait_for(lambda: (j := self.job(job))["state"] in FINAL and j, "the end of the sweep",
                         4 * DEADLINE_S)
        self.assertEqual(found["state"], state, found["reason"])
        return found

    def check_money(self, job):
        """Everything sums to zero, nothing is held, and bob paid what the trials cost."""
        ledger = self.json("ledger", token=self.ann)
        self.assertEqual(float(ledger["sum"]), 0)
        bob = next(a for a in ledger["accounts"] if a["name"] == "bob")
        spent = float(self.job(job)["spent"])
        self.assertEqual(float(bob["escrow"]), 0)
        self.assertAlmostEqual(float(bob["available"]), 100 - spent, places=6)
        self.assertAlmostEqual(sum(float(t["spent"]) for t in self.trials(job)), spent, places=6)
        self.assertGreater(spent, 0)


@needs_sandbox
class Programs(SweepTest):
    def test_what_does_badly_is_stopped_and_the_ledger_sums(self):
        # So cheap that what is stopped costs little, however long that takes.
        for name in ("one", "two"):
            Agent(self, self.ann, name, "--cores", "1", "--memory", "1G", "--price", "0.01")
        # The others are so slow that the best is ahead of them, and that they are stopped before they end.
        text = program(0.2, "parameters: {x: [1, 2, 3, 9]}, method: asha, parallel: 2, seed: 4, eta: 2")
        job = self.sweep(text.replace("    echo", "    [ $x = 9 ] || sleep 5\n    echo", 1))
        ended = self.ended(job)
        trials = self.trials(job)
        self.assertEqual(sorted(t["number"] for t in trials), [1, 2, 3, 4])
        best = next(t for t in trials if t["parameters"]["x"] == "9")
        self.assertEqual((best["state"], best["value"], best["epoch"]), ("succeeded", 54, 6))
        self.assertEqual(ended["reason"], f"trial {best['number']} ({best['job']}) is best: score 54")
        stopped = [t for t in trials if t["state"] == "stopped"]
        self.assertTrue(stopped, trials)
        for t in stopped:
            self.assertIn("stopped early: score", t["reason"])
            self.assertLess(t["epoch"], 6)
            self.assertFalse(t["rungs"][-1]["on"])
            self.assertLess(float(t["spent"]), float(best["spent"]) + 1e-3)
        self.check_money(job)
        folder = os.path.join(self.folder, "out")
        said = self.souk("results", job, "-o", folder, token=self.bob).stdout
        self.assertIn("sweep.svg", said)
        with open(os.path.join(folder, "best", "kept"), encoding="utf-8") as file:
            self.assertEqual(file.read(), f"9 by trial {best['number']}\n")
        with open(os.path.join(folder, "sweep.csv"), encoding="utf-8") as file:
            rows = {row["trial"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows[str(best["number"])]["score"], "54")
        with open(os.path.join(folder, "sweep.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("<polyline"), sum("value" in t for t in trials))
        shown = self.souk("job", "show", job, token=self.bob).stdout
        self.assertIn("best: trial", shown)
        # Trials are not among the jobs, unless somebody asks.
        self.assertEqual([j["id"] for j in self.json("jobs", token=self.bob)["items"]], [job])
        self.assertEqual(len(self.json("jobs", "--trials", token=self.bob)["items"]), 5)

    def test_a_server_that_is_killed_goes_on_where_it_was(self):
        for name in ("one", "two"):
            self.agent(name)
        job = self.sweep(program(0.5, "parameters: {x: [1, 2, 3, 4]}, method: grid, parallel: 2"))
        wait_for(lambda: any("value" in t for t in self.trials(job)), "a report")
        before = self.trials(job)
        self.server.kill()
        self.server.start(self.server.port)
        self.ended(job)
        trials = self.trials(job)
        self.assertEqual([t["number"] for t in trials], [1, 2, 3, 4])
        self.assertEqual([t["parameters"]["x"] for t in trials], ["1", "2", "3", "4"])
        self.assertEqual([t["value"] for t in trials], [6, 12, 18, 24])
        for old in before:  # None was begun twice.
            self.assertEqual(trials[old["number"] - 1]["job"], old["job"])
        self.check_money(job)

    def test_cancelling_it_ends_every_trial_and_returns_what_is_left(self):
        # A hundredth of a credit a second, for programs that do not end.
        for name in ("one", "two"):
            Agent(self, self.ann, name, "--cores", "1", "--memory", "1G", "--price", "36")
        job = self.sweep(program(1000, "parameters: {x: {whole: [1, 50]}}, method: random, trials: 20, parallel: 2"),
                         "{limit: 36, budget: 100}")
        wait_for(lambda: sum(t["state"] == "running" for t in self.trials(job)) == 2, "two trials")
        wait_for(lambda: any("value" in t for t in self.trials(job)), "a report")
        self.souk("cancel", job, token=self.bob)
        trials = self.trials(job)
        self.assertEqual({t["state"] for t in trials}, {"cancelled"})
        self.assertLess(len(trials), 20)
        for t in trials:
            self.assertEqual(self.job(t["job"])["leases"], [])
        self.check_money(job)

    def test_one_budget_is_the_most_that_all_trials_cost(self):
        # A tenth of a credit a second.
        Agent(self, self.ann, "one", "--cores", "1", "--memory", "1G", "--price", "360")
        text = program(0.5, "parameters: {x: [1, 2, 3, 4]}, method: grid, parallel: 1")
        job = self.sweep(text, "{limit: 360, budget: 0.8}")

        def paused():
            now = self.job(job)
            self.assertLessEqual(float(now["spent"]), 0.8)
            return now["state"] == "paused" and now
        self.assertEqual(wait_for(paused, "the end of its budget")["reason"], "its budget is used up")
        self.souk("job", "edit", job, "--budget", "20", token=self.bob)
        self.ended(job)
        self.assertEqual([t["value"] for t in self.trials(job)], [6, 12, 18, 24])
        self.check_money(job)

    def test_trials_that_all_fail_end_it_soon(self):
        self.agent("one")
        job = self.sweep("kind: sweep\nrun: exit 3\nsweep: {metric: score, trials: 20, parallel: 1, "
                         "parameters: {x: {uniform: [0, 1]}}}\n")
        self.assertIn("3 trials failed", self.ended(job, "failed")["reason"])
        self.assertEqual(len(self.trials(job)), 3)


@needs_sandbox
@unittest.skipUnless(os.path.exists(TORCH), "souk-torch was not built: it needs libtorch-dev")
class Trainings(SweepTest):
    def test_the_best_rate_is_found_and_its_model_brought_home(self):
        # A hundredth of a credit a second.
        Agent(self, self.ann, "one", "--cores", "1", "--memory", "1G", "--price", "36")
        with open(os.path.join(self.folder, "points.csv"), "w", encoding="utf-8") as file:
            for i in range(400):
                file.write(f"{(i * 7 % 100) / 100},{(i * 13 % 100) / 100},{int(i * 7 % 100 > 50)}\n")
        job = self.sweep("""
kind: sweep
model: {name: mlp, hidden: 8}
data: {format: csv, train: points.csv}
epochs: 4
batch: 16
sweep: {parameters: {lr: [0.000001, 0.5]}, method: grid, metric: loss, parallel: 1}
""", "{limit: 36, budget: 100}")
        self.ended(job)
        slow, quick = self.trials(job)
        self.assertEqual((slow["parameters"]["lr"], quick["parameters"]["lr"]), ("1e-06", "0.5"))
        self.assertLess(quick["value"], slow["value"])
        self.assertEqual(quick["epoch"], 4)
        self.check_money(job)
        folder = os.path.join(self.folder, "out")
        self.souk("results", job, "-o", folder, token=self.bob)
        self.assertIn("model.safetensors", os.listdir(os.path.join(folder, "best")))
        with open(os.path.join(folder, "sweep.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["best"], 2)


class Files(SweepTest):
    def test_mistakes_are_named_with_their_line(self):
        head = "kind: sweep\nmodel: lenet\ndata: mnist\nsweep:\n  metric: accuracy\n"
        for more, line, said in (
                ("  parameters: {lrr: [0.1, 0.2]}\n", 6, "did you mean 'lr'"),
                ("  parameters: {lr: 0.1}\n", 6, "there is nothing to try"),
                ("  parameters:\n    lr: {logg: [0.1, 1]}\n", 7, "did you mean 'log'"),
                ("  parameters:\n    lr: {log: [0, 1]}\n", 7, "a logarithm needs more than 0"),
                ("  parameters: {shards: [1, 2]}\n", 6, "the same for all trials"),
                ("  parameters: {lr: [0.1, 0.2]}\n  metod: grid\n", 7, "did you mean 'method'"),
                ("  parameters: {lr: [0.1, 0.2]}\n  trials: 9\n", 7, "2 combinations for 9 trials"),
                ("  parameters: {lr: [0.1, 0.2]}\n  goal: minimize\n", 7, "use goal: maximize"),
                ("  parameters: {lr: {log: [0.1, 1]}}\n  method: grid\n", 6, "add steps")):
            with self.subTest(more):
                done = self.souk("run", self.job_file(head + more), "--yes", token=self.bob, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"job.yaml:{line}:", done.stderr)
                self.assertIn(said, done.stderr)

    def test_a_plan_says_the_most_it_can_cost(self):
        path = self.job_file(program(1, "parameters: {x: [1, 2, 3]}, method: grid") +
                             "price: {limit: 1, budget: 2}\n")
        said = self.souk("plan", path, token=self.bob)
        self.assertIn("3 trials, 3 at a time, never more than 2 credits in all", said.stdout)
        plan = self.json("plan", path, token=self.bob)
        self.assertEqual((plan["sweep"]["trials"], float(plan["sweep"]["most"])), (3, 2))


if __name__ == "__main__":
    unittest.main()

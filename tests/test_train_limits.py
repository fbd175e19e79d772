"""What bounds a training, with the real binary: seeds, budgets, deadlines; and other kinds of data."""
import json
import math
import os
import random
import re
import subprocess
import time
import unittest

import test_train
from lending import LendingTest, needs_sandbox
from mnist import needs_mnist
from souk import DEADLINE_S, SOUK, wait_for
from test_train import JOB, PER_HOUR, needs_torch

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples")


def run_souk(*args):
    done = subprocess.run([SOUK, *args, "--json"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"souk {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


@needs_torch
@needs_mnist
class SimulationTest(unittest.TestCase):
    def simulate(self, rule, seed):
        return run_souk("train-sim", "--rule", rule, "--workers", "8", "--speeds", "1,0.5,0.25",
                        "--preempt", "0.2", "--seed", str(seed), "--model", "logistic",
                        "--samples", "1200", "--checked", "200", "--epochs", "2")

    def test_a_simulation_is_its_seed(self):
        for rule in ("delayed-nesterov", "fedbuff", "fedavg"):
            first, again, other = (self.simulate(rule, seed) for seed in (1, 1, 2))
            self.assertEqual(first, again, rule)
            self.assertNotEqual(first["hash"], other["hash"], rule)
            self.assertGreater(first["lost"], 0, "nobody was preempted")


class FoldBenchTest(unittest.TestCase):
    def test_the_bench_of_folds_compares_with_a_baseline(self):
        rows = run_souk("bench", "fold", "--floats", "300000", "--budget", "2s", "--rules",
                        "downpour,fedbuff", "--codecs", "fp32,int8")["items"]
        names = [row["name"] for row in rows]
        for rule in ("downpour", "fedbuff"):
            for codec in ("fp32", "int8"):
                self.assertTrue([n for n in names if n.startswith(f"{rule}, {codec}")], names)
        for row in rows:
            self.assertEqual((row["bench"], row["unit"]), ("B1", "us"))
            self.assertGreater(row["result"], 0)
            self.assertGreater(row["baseline"], 0)
            self.assertLessEqual(row["low"], row["ratio"])
            self.assertLessEqual(row["ratio"], row["high"])


FRUIT = {"apple": (1, 0, 0), "fig": (0, 1, 0), "plum": (0, 0, 1)}


def endless(epochs):
    """As in test_train, without a target that can be reached."""
    return JOB.replace("target: {accuracy: 0.9}\n", "").replace("epochs: 30", f"epochs: {epochs}")


def fruit(n, seed):
    """Three measures on scales far apart, the greatest of which tells what it is."""
    rng = random.Random(seed)
    lines = ["weight,width,colour,kind"]
    for _ in range(n):
        kind = rng.choice(sorted(FRUIT))
        mean = FRUIT[kind]
        lines.append(f"{1000 + 50 * rng.gauss(3 * mean[0], 1):.3f},"
                     f"{rng.gauss(3 * mean[1], 1) / 100:.6f},{rng.gauss(3 * mean[2], 1):.4f},{kind}")
    return "\n".join(lines) + "\n"


@needs_sandbox
@needs_torch
class LimitsTest(LendingTest):
    Train = test_train.TrainTest  # Its helpers.
    points, results, wait = Train.points, Train.results, Train.wait
    predict, training, assert_ledger_sums = Train.predict, Train.training, Train.assert_ledger_sums
    dear_agent, gate, steps = Train.dear_agent, Train.gate, Train.steps

    def lend(self, **more):
        return self.dear_agent("one", **more)

    def submit(self, text, budget, **files):
        """A job whose files lie beside it. What it pays is the lender's price."""
        for name, content in files.items():
            with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                      encoding="utf-8") as out:
                out.write(content)
        path = self.job_file(text + f"\nprice: {{limit: {PER_HOUR}, budget: {budget}}}\n")
        return self.json("run", path, "--yes", token=self.bob)["id"]

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}", None, self.bob)

    def paid(self, job):
        leases = self.good("GET", f"/v1/jobs/{job}/leases", None, self.bob)["items"]
        return sum(lease["paid"] for lease in leases)

    def balances(self):
        return {row["name"]: row for row in self.json("ledger", token=self.ann)["accounts"]}

    def test_a_budget_bounds_what_is_paid_and_a_larger_one_goes_on(self):
        # Less than this is not worth starting a program for: 0.2 credits. So the first lease with a unit is the last.
        self.good("PATCH", "/v1/settings", {"shortest_term": "20s"}, self.ann)
        gate = self.gate(seconds=1)  # What each unit takes at least, which is paid.
        self.lend(server=gate.url)
        cap, epochs = 0.21, 6
        job = self.submit(endless(epochs), cap, **self.points())
        units = epochs * len(self.steps(job))
        self.assertGreater(units * gate.seconds * PER_HOUR / 3600, 3 * cap)  # So the cap ends first.

        def paused():
            now = self.job(job)
            self.assertLessEqual(now["spent"], cap)
            self.assertNotIn(now["state"], ("succeeded", "failed"), now["reason"])
            return now["state"] == "paused" and now
        stopped = wait_for(paused, "the pause", 2 * DEADLINE_S)
        self.assertIn("budget", stopped["reason"])
        self.assertGreater(stopped["spent"], 0)
        self.assertAlmostEqual(self.paid(job), stopped["spent"], places=6)
        self.assertAlmostEqual(self.balances()["bob"]["available"], 100 - cap, places=6)
        before = self.training(job)
        self.assertEqual(before["state"], "training")
        gate.seconds = 0
        self.souk("job", "edit", job, "--budget", "5", token=self.bob)
        ended = self.wait(job)
        self.assertEqual(ended["reason"], "all epochs are done")
        self.assertLessEqual(ended["spent"], 5)
        self.assertAlmostEqual(self.paid(job), ended["spent"], places=6)
        after = self.training(job)
        self.assertGreater(after["useful_steps"], before["useful_steps"])
        self.assertEqual(len(after["rows"]), epochs)
        # What was not spent is bob's again.
        self.assertAlmostEqual(self.balances()["bob"]["available"], 100 - ended["spent"], places=6)
        self.assert_ledger_sums()

    def test_a_deadline_ends_a_training_with_what_there_is(self):
        self.lend()
        begun = time.monotonic()
        job = self.submit(endless(100000) + "deadline: 1h\n", 5, **self.points())
        # Nobody does the rest of these epochs in two seconds.
        wait_for(lambda: (t := self.training(job))["useful_steps"] > 200
                 and (t.get("accuracy") or 0) > 0.95, "what there is", 4 * DEADLINE_S)
        self.souk("job", "edit", job, "--deadline", "2s", token=self.bob)
        ended = self.wait(job, "expired")
        lasted = time.monotonic() - begun
        self.assertEqual(ended["reason"], "its deadline passed")
        self.assertEqual(ended["escrow"], 0)
        found = wait_for(lambda: (t := self.training(job))["state"] == "finished" and t, "its end")
        self.assertGreater(found["useful_steps"], 0)
        wait_for(lambda: self.job(job).get("result"), "the result")
        with open(os.path.join(self.results(job), "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
        self.assertEqual(metrics["reason"], "its deadline passed")
        self.assertGreater(metrics["accuracy"], 0.9)
        sample = json.dumps([4.0 if i % 3 == 2 else -1.0 for i in range(8)]) + "\n"
        self.assertEqual(json.loads(self.predict(job, sample).stdout)["label"], 2)
        # Paid is the time of units that were accepted: less than there was.
        spent = self.job(job)["spent"]
        self.assertGreater(spent, 0)
        self.assertLess(spent, lasted * PER_HOUR / 3600)
        self.assertAlmostEqual(self.paid(job), spent, places=6)
        self.assertAlmostEqual(self.balances()["bob"]["available"], 100 - spent, places=6)
        self.assert_ledger_sums()

    def test_words_as_labels_come_back_as_words(self):
        self.lend()
        job = self.submit("kind: train\nname: fruit\nmodel: {name: mlp, hidden: 16}\n"
                          "data: {format: csv, train: train.csv, test: test.csv, label: kind}\n"
                          "epochs: 20\ntarget: {accuracy: 0.85}\nbatch: 16\nlr: 0.1\nworkers: 1\n",
                          5, train_csv=fruit(900, 1), test_csv=fruit(300, 2))
        self.assertEqual(self.wait(job)["reason"], "the target was reached")
        samples = {"apple": [1250, 0, 0], "fig": [1000, 0.05, 0], "plum": [1000, 0, 5]}
        said = self.predict(job, "".join(json.dumps(s) + "\n" for s in samples.values())).stdout
        self.assertEqual([json.loads(line)["name"] for line in said.splitlines()], list(samples))

    def test_the_example_with_a_table_estimates_prices(self):
        self.lend()
        with open(os.path.join(EXAMPLES, "regression.yaml"), encoding="utf-8") as file:
            text = re.sub("(?m)^price:.*$", "", file.read())
        with open(os.path.join(EXAMPLES, "houses.csv"), encoding="utf-8") as file:
            houses = file.read()
        job = self.submit(text, 5, houses_csv=houses)
        self.assertEqual(self.wait(job)["reason"], "the target was reached")
        found = self.training(job)
        self.assertEqual(found["figure"]["name"], "r2")
        self.assertGreaterEqual(found["figure"]["value"], 0.95)
        self.assertNotIn("accuracy", found)
        last = found["rows"][-1]
        self.assertEqual(sorted(last["metrics"]), ["mae", "r2", "rmse"])
        self.assertLess(last["metrics"]["rmse"], 40_000)
        shown = self.souk("job", "show", job, token=self.bob).stdout
        self.assertRegex(shown, r"measured +r2 0\.\d+")
        self.assertNotIn("accuracy", shown)
        with open(os.path.join(self.results(job), "metrics.csv"), encoding="utf-8") as file:
            self.assertIn("r2_mean,r2_low,r2_high,workers,mae,r2,rmse", file.readline())
        # area, rooms, age, and the four quarters: harbour, hill, mill, station.
        said = self.predict(job, "[100, 4, 10, 1, 0, 0, 0]\n").stdout
        self.assertAlmostEqual(json.loads(said)["value"], 373_000, delta=60_000)

    def test_the_target_is_of_whatever_a_script_measures(self):
        self.lend()
        script = (
            "import souk, numpy as np\n"
            "def gradient(p, x, y):\n"
            "    error = x @ p['w'] + p['b'] - y\n"
            "    return (error**2).mean(), {'w': 2 * x.T @ error / len(y),\n"
            "                               'b': 2 * error.mean(keepdims=True)}\n"
            "def evaluate(p, x, y):\n"
            "    error = x @ p['w'] + p['b'] - y\n"
            "    return (error**2).mean(), {'within': float((abs(error) < 0.5).mean()),\n"
            "                               'rmse': float((error**2).mean()**0.5)}\n"
            "souk.worker(parameters={'w': np.zeros(2), 'b': np.zeros(1)}, gradient=gradient,\n"
            "            evaluate=evaluate)\n")
        rng = random.Random(1)
        rows = ["a,b,y"]
        for _ in range(400):
            a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
            rows.append(f"{a:.4f},{b:.4f},{3 * a - b + 1:.4f}")
        job = self.submit("kind: train\nscript: mine.py\npackages: [numpy]\n"
                          "data: {format: csv, train: train.csv, target: y}\n"
                          "epochs: 60\ntarget: {metric: within, at_least: 0.9}\nbatch: 16\n"
                          "lr: 0.05\nworkers: 1\nvalidate: {shards: 2}\n",
                          5, mine_py=script, train_csv="\n".join(rows) + "\n")
        self.assertEqual(self.wait(job)["reason"], "the target was reached")
        found = self.training(job)
        self.assertEqual(found["figure"]["name"], "within")
        self.assertGreaterEqual(found["figure"]["value"], 0.9)
        self.assertEqual(sorted(found["rows"][-1]["metrics"]), ["rmse", "within"])

    def test_the_example_with_text_learns_to_write(self):
        self.lend()
        with open(os.path.join(EXAMPLES, "text.yaml"), encoding="utf-8") as file:
            text = file.read()
        whole = re.search("train: (/.*?)}", text).group(1)
        with open(whole, encoding="utf-8") as file:
            some = file.read(3000)
        for key, value in (("epochs", "2"), ("price", None)):
            self.assertRegex(text, f"(?m)^{key}:")
            text = re.sub(f"(?m)^{key}:.*$", f"{key}: {value}" if value else "", text)
        job = self.submit(text.replace(whole, "some.txt"), 5, some_txt=some)
        self.wait(job)
        rows = self.training(job)["rows"]
        self.assertEqual(len(rows), 2)
        self.assertLess(rows[-1]["validation_loss"], math.log(256))  # Better than any byte alike.
        self.assertAlmostEqual(rows[-1]["metrics"]["perplexity"],
                               math.exp(rows[-1]["validation_loss"]), places=4)
        said = self.predict(job, "This program is ", "--length", "80").stdout
        self.assertGreaterEqual(len(said.strip("\n").encode()), 40, repr(said))


if __name__ == "__main__":
    unittest.main()

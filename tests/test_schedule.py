"""`souk schedule` and `souk lab trace`: known answers and an independent solver's, through the real
binary. Needs no server."""
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

from souk import SOUK

try:
    from scipy.optimize import linprog
except ImportError:
    linprog = None

HERE = os.path.dirname(os.path.abspath(__file__))
GAVEL = os.path.join(HERE, "..", "..", "shared", "data", "gavel")

KNOWN = {"throughputs": [[2, 1, 0.5], [3, 2, 1]], "capacity": [1, 2, 3], "scale": [1, 1],
         "weights": [1, 1]}
FULL = {**KNOWN, "steps": [7200, 3600], "elapsed": [0, 60], "isolated": [0, 30], "slo": [0, 3600],
        "cost": [3, 2, 1], "held": [-1, 0]}
POLICIES = "max-min ftf makespan cost fifo fifo-any hadar price-discovery".split()
EXACT = "max-min ftf makespan cost".split()


def drawn(seed, jobs, types=3):
    r = random.Random(seed)
    return {"throughputs": [[r.uniform(0.2, 2) * 10 ** (i % 3) for _ in range(types)]
                            for i in range(jobs)],
            "capacity": [r.randint(1, 8) for _ in range(types)],
            "scale": [r.choice([1, 1, 1, 2, 4]) for _ in range(jobs)],
            "weights": [r.uniform(0.5, 2) for _ in range(jobs)],
            "steps": [10 ** r.uniform(2, 5) * 10 ** (i % 3) for i in range(jobs)]}


def highs(s, needs):
    """max t so that each job has t times its need in steps a second."""
    n, m = len(s["throughputs"]), len(s["capacity"])
    rows, sides = [], []
    for i in range(n):
        level, time = [0.0] * (n * m + 1), [0.0] * (n * m + 1)
        level[-1] = 1
        for j in range(m):
            level[i * m + j] = -s["throughputs"][i][j] / needs[i]
            time[i * m + j] = 1
        rows += [level, time]
        sides += [0, 1]
    for j in range(m):
        rows.append([s["scale"][i] if k == j else 0 for i in range(n) for k in range(m)] + [0])
        sides.append(s["capacity"][j])
    done = linprog([0.0] * (n * m) + [-1], A_ub=rows, b_ub=sides, method="highs")
    return -done.fun


def highs_cost(s):
    """The most steps for the money that leave every SLO met."""
    n, m = len(s["throughputs"]), len(s["capacity"])
    rows, sides = [], []
    for i in range(n):
        rows.append([1.0 if k // m == i else 0.0 for k in range(n * m)])
        sides.append(1)
        if s["slo"][i] > 0:
            rows.append([-s["throughputs"][i][k % m] if k // m == i else 0.0 for k in range(n * m)])
            sides.append(-s["steps"][i] / s["slo"][i])
    for j in range(m):
        rows.append([s["scale"][k // m] if k % m == j else 0 for k in range(n * m)])
        sides.append(s["capacity"][j])
    gains = [-s["throughputs"][k // m][k % m] / s["cost"][k % m] for k in range(n * m)]
    return -linprog(gains, A_ub=rows, b_ub=sides, method="highs").fun


class SoukTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="souk-schedule-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def souk(self, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(HOME=self.folder, NO_COLOR="1")
        return subprocess.run([SOUK, *args], capture_output=True, text=True, timeout=120, env=env)

    def write(self, what, name="instance.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(what if isinstance(what, str) else json.dumps(what))
        return path


class ScheduleTest(SoukTest):
    def solve(self, policy, instance):
        done = self.souk("schedule", "--policy", policy, "--instance", self.write(instance), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fits(self, s, out):
        for row in out["allocation"]:
            self.assertTrue(all(x >= 0 for x in row))
            self.assertLessEqual(sum(row), 1 + 1e-9)
        for j, n in enumerate(s["capacity"]):
            used = sum(k * row[j] for k, row in zip(s["scale"], out["allocation"]))
            self.assertLessEqual(used, n * (1 + 1e-9))

    def test_the_known_answer(self):
        out = self.solve("max-min", KNOWN)
        self.assertAlmostEqual(out["objective"], 48 / 31, places=9)
        self.assertAlmostEqual(out["allocation"][0][0], 13 / 31, places=7)
        self.assertAlmostEqual(out["allocation"][1][0], 18 / 31, places=7)
        self.assertTrue(out["exact"])
        self.assertEqual(len(out["prices"]), 3)

    def test_every_policy_answers_and_fits(self):
        for policy in POLICIES:
            out = self.solve(policy, FULL)
            self.fits(FULL, out)
            self.assertEqual(out["exact"] or policy == "price-discovery", True, policy)

    @unittest.skipIf(linprog is None, "scipy is not installed")
    def test_another_solver_finds_no_better_schedule(self):
        for seed in range(12):
            s = drawn(seed, 2 + 3 * seed)
            machines = sum(s["capacity"])
            levels = [w / k * sum(t * n for t, n in zip(rates, s["capacity"])) / machines
                      for w, k, rates in zip(s["weights"], s["scale"], s["throughputs"])]
            out = self.solve("max-min", s)
            self.fits(s, out)
            self.assertAlmostEqual(out["objective"] / highs(s, levels), 1, delta=1e-6)
            out = self.solve("makespan", s)
            self.assertAlmostEqual(out["objective"] * highs(s, s["steps"]), 1, delta=1e-6)
            near = self.solve("price-discovery", s)
            self.assertGreaterEqual(near["objective"], highs(s, levels) * 0.99)

    @unittest.skipIf(linprog is None, "scipy is not installed")
    def test_another_solver_finds_no_cheaper_way_to_meet_the_slos(self):
        for seed in range(8):
            s = {**drawn(seed, 3 + 2 * seed), "cost": [3, 2, 1]}
            fair = min(1, sum(s["capacity"]) / sum(s["scale"]))  # About what all can have.
            s["slo"] = [s["steps"][i] / (0.5 * fair * min(rates)) if i % 2 else 0
                        for i, rates in enumerate(s["throughputs"])]
            out = self.solve("cost", s)
            self.fits(s, out)
            self.assertAlmostEqual(out["objective"] / highs_cost(s), 1, delta=1e-6)
            for speed, steps, slo in zip(out["speeds"], s["steps"], s["slo"]):
                self.assertTrue(slo == 0 or steps / speed <= slo * (1 + 1e-9))

    def test_the_list_and_the_table_are_for_people(self):
        listed = self.souk("schedule", "--list").stdout
        self.assertTrue(all(p in listed for p in POLICIES))
        items = json.loads(self.souk("schedule", "--list", "--json").stdout)["items"]
        self.assertEqual([i["name"] for i in items], POLICIES)
        done = self.souk("schedule", "--instance", self.write(KNOWN))
        self.assertIn("0.419355", done.stdout)
        self.assertIn("1.5483871", done.stdout)

    def test_mistakes_are_corrected(self):
        for args, words in [
                (["--policy", "maxmin", "--instance", self.write(KNOWN)], "max-min"),
                ([], "--instance"),
                (["--instance", os.path.join(self.folder, "none.json")], "none.json"),
                (["--instance", self.write({**KNOWN, "capacity": [1, 2]}, "a.json")], "throughputs[0]"),
                (["--instance", self.write({**KNOWN, "wieghts": [1]}, "b.json")], "weights"),
                (["--policy", "makespan", "--instance", self.write(KNOWN, "c.json")], "steps")]:
            done = self.souk("schedule", *args)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


RATES = {"v100": {"('a', 1)": {"null": 4}, "('a', 2)": {"null": 7}},
         "k80": {"('a', 1)": {"null": 1}, "('a', 2)": {"null": 1.5}}}
TRACE = "".join(f"a\tpython3 x\tfolder\t--steps\t0\t{2000 + 500 * i}\t{1 + i % 2}\t1\t-1\t{60 * i}\n"
                for i in range(8))
OLD_TRACE = "".join(f"a\tpython3 x\t--steps\t0\t{2000 + 500 * i}\t{60 * i}.000000\t{1 + i % 2}\n"
                    for i in range(8))


class TraceTest(SoukTest):
    def trace(self, *args):
        done = self.souk("lab", "trace", "--throughputs", self.write(RATES, "rates.json"), "--types",
                         "v100,k80", "--cluster", "2:2", *args, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_all_policies_bring_a_trace_to_its_end(self):
        for policy in "max-min ftf makespan fifo fifo-any hadar price-discovery".split():
            out = self.trace("--policy", policy, "--trace", self.write(TRACE, "t"))
            self.assertEqual((out["policy"], out["jobs"]), (policy, 8))
            self.assertGreater(out["makespan"], 0)
            self.assertGreaterEqual(out["jct_p95"], out["jct_p50"])
            self.assertLessEqual(out["utilisation"], 1)

    def test_both_forms_of_a_trace_are_the_same_jobs(self):
        new = self.trace("--trace", self.write(TRACE, "new"))
        self.assertEqual(new, self.trace("--trace", self.write(OLD_TRACE, "old")))

    def test_what_is_drawn_can_be_saved_and_run_again(self):
        rates = {w: {f"('a', {k})": {"null": 4 * k} for k in (1, 2, 4, 8)} for w in ("v100", "k80")}
        path = os.path.join(self.folder, "drawn")
        common = ("lab", "trace", "--throughputs", self.write(rates, "r"), "--types", "v100,k80",
                  "--cluster", "16:16", "--json")
        first = self.souk(*common, "--synthetic", "20", "--seed", "5", "--save", path)
        self.assertEqual(first.returncode, 0, first.stderr)
        again = self.souk(*common, "--trace", path)
        self.assertEqual(json.loads(first.stdout), json.loads(again.stdout))

    def test_mistakes_are_corrected(self):
        rates = self.write(RATES, "rates.json")
        for args, words in [
                (["--throughputs", rates], "--trace"),
                (["--throughputs", rates, "--trace", self.write("a\tb\n", "t")], ":1:"),
                (["--throughputs", rates, "--trace", self.write(TRACE, "u"), "--cluster", "2:2"],
                 "3 types"),
                (["--throughputs", rates, "--types", "v10", "--cluster", "4", "--trace",
                  self.write(TRACE, "v")], "v100"),
                (["--throughputs", rates, "--types", "v100", "--cluster", "1", "--trace",
                  self.write(TRACE, "w")], "2 machines")]:
            done = self.souk("lab", "trace", *args)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

    @unittest.skipUnless(os.path.isdir(GAVEL), "the traces are not on this machine")
    def test_gavels_own_traces_run(self):
        table = os.path.join(GAVEL, "simulation_throughputs.json")
        for name in ("traces_physical/minimize_makespan", "traces_msr_seed0/51b7ef"):
            done = self.souk("lab", "trace", "--throughputs", table, "--trace",
                             os.path.join(GAVEL, name + ".trace"), "--missing", "fewer", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)["jobs"], 10)


if __name__ == "__main__":
    unittest.main()

"""`souk plan --algorithm`: known answers of FC2 and spotDNN through the real binary, what people see,
at the prices of a provider too, fits of its parameters, and what it says to mistakes. Needs no
server."""
import datetime
import json
import math
import os
import shutil
import subprocess
import tempfile
import unittest

from souk import SOUK

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "shared", "data")
SHIPPED = os.path.join(HERE, "..", "examples", "catalogs", "ec2-us-east-1-2020-03.json")

# Tables 1 and 2 of FC2.
CATALOG = {
    "ps": {"m4.large": {"cost": 0.125, "bw_mbps": 450}, "m4.2xlarge": {"cost": 0.5, "bw_mbps": 1000},
           "m4.10xlarge": {"cost": 2.5, "bw_mbps": 10000}},
    "workers": {"m4.xlarge": {"cost": 0.25}, "t2.xlarge": {"cost": 0.2336}, "c4.xlarge": {"cost": 0.231},
                "c4.8xlarge": {"cost": 1.848}, "p2.xlarge": {"cost": 1.718},
                "g3.4xlarge": {"cost": 1.67}},
    "p": 0.95, "max_workers": 6}

# ResNet-110, as spotDNN's authors published it.
RESNET = {
    "types": ["p3.2xlarge", "g4dn.4xlarge", "g3.8xlarge", "g3.16xlarge", "p2.8xlarge"],
    "gpus": [1, 1, 2, 4, 8], "quota": [2, 5, 5, 8, 5],
    "spot_price": [0.918, 0.3612, 0.684, 1.5676, 2.16],
    "speed_samples_per_s": [1885, 750, 1018, 1995, 2115],
    "batch_per_gpu": [1024, 1024, 512, 512, 1024],
    "S_parm_MB": 11.5, "B_req_MBps": 142, "B_ps_MBps": 1200, "B_pcie_MBps": 10000,
    "alpha1": 0.8, "beta1": -1.92, "gamma1": 876.5, "gamma2": -0.2, "gamma3": 2507.6, "gamma5": 0.5}

KNOWN = [  # Loss, seconds, the answer.
    (0.9, 1900, {"plan": [2, 0, 2, 0, 0], "time_s": 1884.21, "cost": 1.6769, "iterations": 10637}),
    (0.8, 2400, {"plan": [2, 0, 4, 0, 0], "time_s": 2351.08, "cost": 2.9859, "iterations": 17926}),
    (0.7, 3700, {"plan": [2, 0, 4, 0, 0], "time_s": 3584.07, "cost": 4.5518, "iterations": 27327})]

CPU = ["m4.xlarge", "t2.xlarge", "c4.xlarge"]
MIXED = CPU + ["p2.xlarge"]
FAST = ["c4.8xlarge", "p2.xlarge", "g3.4xlarge"]


class PlanTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="souk-plan-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.catalog = self.write("catalog.json", CATALOG)
        self.resnet = self.write("resnet.json", RESNET)

    def write(self, name, what):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            json.dump(what, f)
        return path

    def souk(self, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(HOME=self.folder, NO_COLOR="1")
        return subprocess.run([SOUK, "plan", *map(str, args)], capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL, env=env)

    def plan(self, *args):
        done = self.souk(*args, "--json")
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")
        return json.loads(done.stdout)

    def text(self, *args):
        done = self.souk(*args)
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")
        return " ".join(done.stdout.split())

    def error(self, *args, status=2):
        done = self.souk(*args, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        return " ".join(done.stderr.split())

    def cluster(self, algorithm, ps, *args):
        return self.plan("--algorithm", algorithm, "--catalog", self.catalog, "--ps", ps, *args)

    # --- FC2 ---

    def test_the_contract_of_scala_opt(self):
        bandwidth = '{"t2.xlarge":180,"m4.xlarge":150,"c4.xlarge":160}'
        self.assertEqual(
            self.cluster("scala-opt", "m4.large", "--bandwidth", bandwidth, "--max-workers", 6),
            {"ps": "m4.large", "type": "t2.xlarge", "workers": 2, "cost_per_hour": 0.5922,
             "binding": "bandwidth"})

    def test_scala_opt_recommends_the_clusters_of_the_paper(self):
        rows = [("m4.large", CPU, "t2.xlarge", 180, 2, 0.5922),
                ("m4.large", CPU, "t2.xlarge", 125, 3, 0.8258),
                ("m4.large", MIXED, "p2.xlarge", 180, 2, 3.561),
                ("m4.large", MIXED, "p2.xlarge", 125, 3, 5.279),
                ("m4.large", MIXED, "p2.xlarge", 80, 5, 8.715),
                ("m4.2xlarge", FAST, "g3.4xlarge", 400, 2, 3.84),
                ("m4.2xlarge", FAST, "g3.4xlarge", 210, 4, 7.18),
                ("m4.10xlarge", FAST, "g3.4xlarge", 400, 6, 12.52)]
        for ps, types, fastest, mbps, workers, cost in rows:
            bandwidth = {t: mbps if t == fastest else mbps / 2 for t in types}
            out = self.cluster("scala-opt", ps, "--bandwidth", json.dumps(bandwidth),
                               "--max-workers", 6)
            self.assertEqual((out["type"], out["workers"], out["cost_per_hour"]),
                             (fastest, workers, cost))
            self.assertEqual(out["binding"], "max-workers" if ps == "m4.10xlarge" else "bandwidth")

    def test_the_baselines_of_the_paper(self):
        for ps, types, dearest, cheapest in (
                ("m4.large", CPU, ("m4.xlarge", 1.625), ("c4.xlarge", 1.511)),
                ("m4.large", MIXED, ("p2.xlarge", 10.433), ("c4.xlarge", 1.511)),
                ("m4.2xlarge", FAST, ("c4.8xlarge", 11.588), ("g3.4xlarge", 10.52)),
                ("m4.10xlarge", FAST, ("c4.8xlarge", 13.588), ("g3.4xlarge", 12.52))):
            for algorithm, want in (("time-opt", dearest), ("cost-opt", cheapest)):
                out = self.cluster(algorithm, ps, "--types", ",".join(types))
                self.assertEqual((out["type"], out["cost_per_hour"]), want)
                self.assertEqual((out["workers"], out["binding"]), (6, "max-workers"))

    def test_scala_opt_m_sizes_the_type_it_is_given(self):
        out = self.cluster("scala-opt-m", "m4.large", "--type", "m4.xlarge", "--bandwidth",
                           '{"m4.xlarge":80,"t2.xlarge":180}')
        self.assertEqual((out["type"], out["workers"]), ("m4.xlarge", 5))
        self.assertIn("scala-opt-m needs a --type",
                      self.error("--algorithm", "scala-opt-m", "--catalog", self.catalog))

    def test_a_budget_binds_and_is_told_the_least_that_works(self):
        out = self.cluster("cost-opt", "m4.large", "--budget", 2)
        self.assertEqual((out["workers"], out["binding"]), (8, "budget"))
        said = self.error("--algorithm", "cost-opt", "--catalog", self.catalog, "--ps", "m4.large",
                          "--budget", 0.2)
        self.assertIn("a budget of 0.2 an hour buys no c4.xlarge beside m4.large", said)
        self.assertIn("the least that works is 0.356", said)
        out = self.cluster("cost-opt", "m4.large", "--budget", 0.356)
        self.assertEqual((out["workers"], out["cost_per_hour"]), (1, 0.356))

    def test_people_see_all_types_and_a_sentence(self):
        said = self.text("--algorithm", "scala-opt", "--catalog", self.catalog, "--ps", "m4.large",
                         "--bandwidth", '{"t2.xlarge":180,"c4.xlarge":160}', "--max-workers", 6)
        self.assertIn("* t2.xlarge", said)
        self.assertIn("c4.xlarge", said)
        self.assertIn("2 x t2.xlarge beside m4.large for 0.5922 an hour", said)
        self.assertIn("the bandwidth is the limit", said)

    # --- Mixes ---

    def test_the_known_plans_of_spotdnn(self):
        for algorithm in ("spotdnn", "exact"):
            for loss, seconds, want in KNOWN:
                self.assertEqual(self.plan("--algorithm", algorithm, "--profile", self.resnet,
                                           "--loss", loss, "--time", seconds), want)

    def test_the_published_files_give_the_same(self):
        spotdnn = os.path.join(SHARED, "spotdnn", "spotdnn_tables.json")
        fc2 = os.path.join(SHARED, "fc2", "fc2_tables.json")
        if not (os.path.exists(spotdnn) and os.path.exists(fc2)):
            self.skipTest("the published tables are not on this machine")
        for loss, seconds, want in KNOWN:
            self.assertEqual(self.plan("--algorithm", "exact", "--profile", spotdnn, "--loss", loss,
                                       "--time", seconds), want)
        out = self.plan("--algorithm", "scala-opt", "--catalog", fc2, "--ps", "m4.large",
                        "--bandwidth", '{"t2.xlarge":180,"m4.xlarge":150,"c4.xlarge":160}',
                        "--max-workers", "6")
        self.assertEqual(out["cost_per_hour"], 0.5922)

    def test_exact_finds_what_the_window_misses(self):
        # Sorted by speed the two cheap types are not neighbours.
        profile = self.write("gap.json", {"types": [
            {"name": "fast", "quota": 1, "price": 1, "step_s": 1},
            {"name": "dear", "quota": 4, "price": 9, "step_s": 1.5},
            {"name": "slow", "quota": 1, "price": 0.5, "step_s": 2}, ]})
        args = ("--profile", profile, "--iterations", 3600, "--time", 2400)
        exact = self.plan("--algorithm", "exact", *args)
        self.assertEqual(exact["plan"], [1, 0, 1])
        self.assertLessEqual(exact["cost"], self.plan("--algorithm", "spotdnn", *args)["cost"])

    def test_the_server_is_told_apart(self):
        out = self.plan("--algorithm", "exact", "--profile", self.resnet, "--loss", 0.9, "--time",
                        1900, "--server-price", 0.192)
        self.assertEqual(out["cost"], 1.6769)
        self.assertAlmostEqual(out["cost_with_server"], 1.6769 + 0.192 * 1884.206 / 3600, 4)

    def test_an_impossible_time_is_told_the_tightest(self):
        for algorithm in ("spotdnn", "exact"):
            said = self.error("--algorithm", algorithm, "--profile", self.resnet, "--loss", 0.9,
                              "--time", 100, status=1)
            tightest = float(said.split("the tightest time is ")[1].split()[0])
            self.plan("--algorithm", algorithm, "--profile", self.resnet, "--loss", 0.9, "--time",
                      tightest + 0.01)

    def test_pareto_shows_a_front_and_why_it_chose(self):
        out = self.plan("--algorithm", "pareto", "--profile", self.resnet, "--loss", 0.8, "--time",
                        "50m", "--most", 100)
        times = [p["time_s"]["expected"] for p in out["plans"]]
        self.assertEqual(times, sorted(times))
        chosen = out["plans"][out["chosen"]]
        self.assertGreaterEqual(chosen["chance"], 0.9)
        for p in out["plans"]:
            self.assertLess(p["time_s"]["low"], p["time_s"]["expected"])
            self.assertLess(p["cost"]["expected"], p["cost"]["high"])
            if p["chance"] >= 0.9:
                self.assertGreaterEqual(p["cost"]["expected"], chosen["cost"]["expected"])
        said = self.text("--algorithm", "pareto", "--profile", self.resnet, "--loss", 0.8, "--time",
                         "50m")
        self.assertIn("* is chosen: the cheapest that meets the deadline with a chance of at least "
                      "90%", said)
        self.assertIn("computing", said)

    def test_pareto_keeps_a_budget(self):
        out = self.plan("--algorithm", "pareto", "--profile", self.resnet, "--loss", 0.8,
                        "--budget", 3)
        self.assertLessEqual(out["plans"][out["chosen"]]["cost"]["high"], 3)
        said = self.error("--algorithm", "pareto", "--profile", self.resnet, "--loss", 0.8,
                          "--budget", 0.1, status=1)
        least = float(said.split("the least budget is ")[1].split(",")[0])
        self.plan("--algorithm", "pareto", "--profile", self.resnet, "--loss", 0.8, "--budget", least)

    # --- Prices of a provider ---

    def prices(self, date="2020-03-23", **types):
        return self.write("prices.json", {
            "provider": "ec2", "region": "us-east-1", "date": date,
            "types": [{"name": name.replace("_", "."), **row} for name, row in types.items()]})

    def test_prices_of_the_profile_from_a_catalog_give_the_same_plan(self):
        rows = dict(zip(RESNET["types"], ({"spot": p, "revocations_per_hour": 0}
                                          for p in RESNET["spot_price"])))
        catalog = self.prices(**rows)
        for loss, seconds, want in KNOWN:
            out = self.plan("--algorithm", "exact", "--profile", self.resnet, "--loss", loss,
                            "--time", seconds, "--prices", catalog, "--buy", "spot")
            self.assertEqual(out, {**want, "types": RESNET["types"],
                                   "prices": {"provider": "ec2", "region": "us-east-1",
                                              "date": "2020-03-23"}})

    def test_bought_both_ways_a_type_is_two(self):
        catalog = self.prices(p3_2xlarge={"on_demand": 3.06, "spot": 1.0, "quota": 3,
                                          "revocations_per_hour": 0.5},
                              g4dn_4xlarge={"on_demand": 1.204})
        args = ("--profile", self.resnet, "--loss", 0.9, "--prices", catalog)
        out = self.plan("--algorithm", "pareto", *args, "--time", "1h", "--most", 50)
        self.assertEqual(out["types"], ["p3.2xlarge (spot)", "p3.2xlarge (on demand)",
                                        "g4dn.4xlarge (on demand)"])
        self.assertEqual(out["prices"]["date"], "2020-03-23")
        for p in out["plans"]:
            self.assertEqual(p["revocations"] > 0, p["plan"][0] > 0, p)
        # Three spot machines are too slow, so machines that stay join them.
        tight = self.plan("--algorithm", "exact", *args, "--time", 1600)
        self.assertEqual(tight["plan"], [3, 1, 0])
        alone = self.plan("--algorithm", "exact", *args, "--time", 7200, "--buy", "on-demand")
        self.assertEqual(alone["types"], ["p3.2xlarge", "g4dn.4xlarge"])

    def test_what_the_catalog_lacks_is_left_out_and_said(self):
        catalog = self.prices(p3_2xlarge={"on_demand": 3.06})
        done = self.souk("--algorithm", "exact", "--profile", self.resnet, "--loss", 0.9, "--time",
                         7200, "--prices", catalog)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("g4dn.4xlarge is left out: ec2 us-east-1 has no such type", done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "Prices of ec2 us-east-1 on 2020-03-23.")
        self.assertRegex(done.stderr, r"the prices of ec2 us-east-1 are \d{4,} days old")
        none = self.error("--algorithm", "exact", "--profile", self.resnet, "--loss", 0.9, "--time",
                          7200, "--prices", self.prices(c5={"on_demand": 1}))
        self.assertIn("measured are p3.2xlarge, g4dn.4xlarge, g3.8xlarge, g3.16xlarge, p2.8xlarge; "
                      "ec2 us-east-1 sells c5", none)

    def test_fresh_prices_are_used_without_a_word(self):
        today = datetime.datetime.now(datetime.timezone.utc).date()
        for age, said in ((30, False), (31, True)):
            catalog = self.prices(str(today - datetime.timedelta(days=age)),
                                  **{t: {"on_demand": 1} for t in RESNET["types"]})
            done = self.souk("--algorithm", "exact", "--profile", self.resnet, "--loss", 0.9,
                             "--time", 7200, "--prices", catalog)
            self.assertEqual("days old" in done.stderr, said, done.stderr)

    def test_a_profile_without_prices_takes_those_of_the_shipped_catalog(self):
        profile = self.write("steps.json", {"types": [
            {"name": "p3.2xlarge", "quota": 4, "step_s": 0.5, "gpus": 1},
            {"name": "p2.xlarge", "quota": 8, "step_s": 2, "gpus": 1},
            {"name": "g4dn.xlarge", "quota": 8, "step_s": 1, "gpus": 1}]})
        out = self.plan("--algorithm", "exact", "--profile", profile, "--prices", SHIPPED,
                        "--iterations", 36000, "--time", "5h")
        self.assertEqual(out["prices"]["provider"], "ec2")
        self.assertEqual(out["types"], ["p3.2xlarge (spot)", "p3.2xlarge (on demand)",
                                        "p2.xlarge (spot)", "p2.xlarge (on demand)",
                                        "g4dn.xlarge (on demand)"])
        missing = self.error("--algorithm", "exact", "--profile", profile, "--iterations", 36000,
                             "--time", "5h")
        self.assertIn("missing key 'types[0].price'", missing)

    def test_the_shipped_catalog_sizes_a_cluster(self):
        args = ("--algorithm", "scala-opt", "--catalog", SHIPPED, "--ps", "m4.2xlarge", "--bandwidth",
                '{"p2.xlarge":180,"p3.2xlarge":400}', "--max-workers", 6)
        out = self.plan(*args)
        self.assertEqual(out, {"ps": "m4.2xlarge", "type": "p3.2xlarge", "workers": 2,
                               "cost_per_hour": 6.52, "binding": "bandwidth",
                               "prices": {"provider": "ec2", "region": "us-east-1",
                                          "date": "2020-03-23"}})
        self.assertEqual(self.plan(*args, "--buy", "spot")["cost_per_hour"], 2.4592)
        self.assertTrue(self.text(*args).endswith("Prices of ec2 us-east-1 on 2020-03-23."))

    # --- Fits ---

    @staticmethod
    def losses(noise=lambda i: 0):
        """Of ResNet-110's published curve, on clusters of 2, 4 and 7 workers."""
        out = []
        for batch, workers in ((1024, 2), (2048, 4), (1500, 7), (4096, 4)):
            for j in range(100, 10001, 100):
                loss = (-0.2 * batch + 2507.6) * math.sqrt(workers) / (j + 876.5) + 0.5
                out.append({"iterations": j, "loss": loss * (1 + noise(len(out))), "batch": batch,
                            "workers": workers})
        return out

    @staticmethod
    def bandwidth():
        out = []
        for n in (9, 11, 13):
            p = 0.8 * math.sqrt(n) - 1.92
            out.append({"workers": n, "mb_s": p * 1200 / n + (1 - p) * 142})
        return out

    def test_a_fit_gives_the_published_parameters_back_and_a_profile_takes_them(self):
        measured = self.write("m.json", {"loss": self.losses(), "bandwidth": self.bandwidth(),
                                         "request_mb_s": 142, "hub_mb_s": 1200})
        out = self.plan("--fit", measured)
        self.assertEqual(out["hub"], {"bandwidth_mb_s": 1200, "alpha1": 0.8, "beta1": -1.92})
        for key in ("gamma1", "gamma2", "gamma3", "gamma5"):
            self.assertAlmostEqual(out["loss"][key] / RESNET[key], 1, 2, key)
        self.assertEqual([(f["of"], f["points"]) for f in out["fit"]], [("loss", 400), ("hub", 3)])
        types = [{"name": n, "quota": q, "price": p, "batch": g * b, "step_s": g * b / v, "gpus": g}
                 for n, q, p, g, b, v in zip(*(RESNET[k] for k in (
                     "types", "quota", "spot_price", "gpus", "batch_per_gpu", "speed_samples_per_s")))]
        profile = self.write("fitted.json", {**out, "types": types, "model_mb": 11.5})
        plan = self.plan("--algorithm", "exact", "--profile", profile, "--loss", 0.9, "--time", 1900)
        self.assertEqual(plan["plan"], [2, 0, 2, 0, 0])
        self.assertAlmostEqual(plan["iterations"], 10637, delta=50)

    def test_people_see_the_error_of_a_fit(self):
        wave = self.write("noisy.json", {"loss": self.losses(lambda i: 0.05 * math.sin(7 * i))})
        said = self.text("--fit", wave)
        self.assertRegex(said, r"loss curve 400 4 0\.0\d+")
        self.assertIn('For a profile: "loss": {"gamma1":', said)

    def test_the_metrics_of_trainings_are_fitted(self):
        def metrics(name, workers, batch):
            rows = ["epoch,seconds,samples,version,loss,validation_loss,accuracy,accuracy_mean,"
                    "accuracy_low,accuracy_high,workers"]
            for e in range(1, 21):
                loss = (-0.2 * batch + 2507.6) * math.sqrt(workers) / (e * 500 - 250 + 876.5) + 0.5
                rows.append(f"{e},{e}.0,{e * 500 * batch},{e * 500},{loss:.6g},1,.5,.5,.5,.5,{workers}")
            path = os.path.join(self.folder, name)
            with open(path, "w") as f:
                f.write("\n".join(rows) + "\n")
            return path

        one = metrics("a.csv", 4, 1024)
        done = self.souk("--fit", one, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gamma2 is 0", done.stderr)
        loss = json.loads(done.stdout)["loss"]
        self.assertEqual(loss["gamma2"], 0)
        self.assertAlmostEqual(loss["gamma3"] / (2507.6 - 0.2 * 1024), 1, 2)
        out = self.plan("--fit", one, "--fit", metrics("b.csv", 2, 2048), "--fit",
                        metrics("c.csv", 7, 4096))
        self.assertAlmostEqual(out["loss"]["gamma2"] / -0.2, 1, 2)
        self.assertEqual(out["fit"][0]["runs"], 3)

    def test_measurements_that_say_nothing_are_refused(self):
        def said(what, *args):
            return self.error("--fit", self.write("m.json", what), *args)
        rising = [{"iterations": i, "loss": i} for i in range(1, 9)]
        self.assertIn("loss: the loss does not fall", said({"loss": rising}))
        self.assertIn("3 losses", said({"loss": rising[:3]}))
        self.assertIn("hub_mb_s is not told", said({"bandwidth": self.bandwidth(), "request_mb_s": 9}))
        self.assertIn("there are no measurements", said({}))
        self.assertIn("--fit takes no --loss", said({}, "--loss", 1))
        self.assertIn("--fit plans nothing", said({}, "--algorithm", "exact"))

    # --- Mistakes and help ---

    def test_mistakes_are_named(self):
        p, c = ("--profile", self.resnet), ("--catalog", self.catalog)
        for args, wanted in (
                ((), "`souk plan --list` names them"),
                (("--algorithm", "exakt"), "did you mean 'exact'?"),
                (("--algorithm", "cost-opt"), "cost-opt needs a --catalog"),
                (("--algorithm", "exact"), "exact needs a --time"),
                (("--algorithm", "exact", *p, "--time", 9), "give one of --loss, --samples"),
                (("--algorithm", "exact", *p, "--time", 9, "--loss", 0.5), "the curve ends at 0.5"),
                (("--algorithm", "exact", *p, "--time", "soon"), "'soon' is not a length of time"),
                (("--algorithm", "exact", *p, *c), "exact takes no --catalog"),
                (("--algorithm", "cost-opt", *c, "--loss", 1), "cost-opt takes no --loss"),
                (("--algorithm", "scala-opt", *c, "--bandwidth", "fast"), "--bandwidth: "),
                (("--algorithm", "scala-opt", *c, "--ps", "m4.larg", "--bandwidth",
                  '{"t2.xlarge":9}'), "did you mean 'm4.large'?"),
                (("--algorithm", "exact", *p, "--time", 9, "--loss", 1, "--buy", "spot"),
                 "--buy needs --prices"),
                (("--algorithm", "cost-opt", *c, "--buy", "spot"), "has one price for each type"),
                (("--algorithm", "cost-opt", "--catalog", SHIPPED, "--buy", "both"), "bought one way"),
                (("--algorithm", "exact", *p, "--buy", "never"), "'never' is not a way to buy"),
                (("--algorithm", "cost-opt", *c, "--prices", "x"), "cost-opt takes no --prices"),
                (("--algoritm", "exact"), "--algorithm")):
            self.assertIn(wanted, self.error(*args), args)
        missing = self.error("--algorithm", "cost-opt", "--catalog", "/nowhere.json", status=1)
        self.assertIn("cannot read /nowhere.json", missing)

    def test_help_and_list_name_every_algorithm(self):
        names = "cost-opt time-opt scala-opt scala-opt-m spotdnn exact pareto".split()
        self.assertEqual([a["name"] for a in self.plan("--list")["items"]], names)
        said = self.text("--help")
        for name in names:
            self.assertIn(name, said)


if __name__ == "__main__":
    unittest.main()

"""The laboratory with the real binary: scenarios in, files out, the same bytes every time."""
import csv
import html.parser
import json
import os
import subprocess
import tempfile
import unittest

from souk import SOUK, MarketTest, wait_for

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/lab")

BOOK = """name: small
world: book
horizon: 30
seeds: 5
mechanisms: [k-double, posted]
borrowers:
  - {count: 6, values: {uniform: [0, 1]}, strategy: zero-intelligence}
lenders:
  - {count: 6, costs: {uniform: [0, 1]}}
"""

MARKET = """name: day
world: market
horizon: 1d
seeds: 3
mechanisms: [k-double, posted]
market: {price: 0.3, settle_every: 10m}
borrowers:
  - {count: 20, arrivals: {poisson: 0.5}, run_time: {exponential: 30m}, values: {uniform: [0.2, 1]}}
lenders:
  - {count: 20, units: 2, costs: {uniform: [0.1, 0.4]}}
"""


class Page(html.parser.HTMLParser):
    """Collects what a page would load."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")]


class LabTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def souk(self, *args, ok=True):
        done = subprocess.run([SOUK, *args], capture_output=True, text=True, timeout=200, check=False)
        if ok:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def file(self, text, name="scenario.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def read(self, *path):
        with open(os.path.join(self.folder, *path), encoding="utf-8") as file:
            return file.read()

    def run_to(self, name, text, *flags):
        self.souk("lab", "run", self.file(text), "-o", os.path.join(self.folder, name), *flags)

    def test_a_run_leaves_three_files_that_agree(self):
        for text in (BOOK, MARKET):
            self.run_to("out", text)
            summary = json.loads(self.read("out", "summary.json"))
            rows = list(csv.DictReader(self.read("out", "trades.csv").splitlines()))
            self.assertEqual([m["name"] for m in summary["mechanisms"]], ["k-double", "posted"])
            for m in summary["mechanisms"]:
                mine = [r for r in rows if r["mechanism"] == m["name"]]
                units = sum(int(r["units"]) for r in mine) / len(summary["seeds"])
                self.assertAlmostEqual(m["metrics"]["units"]["mean"], units)
                e = m["metrics"]["efficiency"]
                self.assertLessEqual(e["low"], e["mean"])
                self.assertLessEqual(e["mean"], 1)
            for r in rows:
                self.assertLessEqual(float(r["pays"]), float(r["limit"]))
                self.assertGreaterEqual(float(r["gets"]), float(r["reserve"]))

    def test_the_same_file_gives_the_same_bytes_on_any_number_of_threads(self):
        for text in (BOOK, MARKET):
            self.run_to("a", text, "--threads", "1")
            self.run_to("b", text, "--threads", "4")
            for name in ("summary.json", "trades.csv", "report.html"):
                self.assertEqual(self.read("a", name), self.read("b", name), name)

    def test_the_report_stands_alone_and_can_be_made_again(self):
        self.run_to("out", MARKET)
        first = self.read("out", "report.html")
        page = Page()
        page.feed(first)
        self.assertEqual(page.loads, [])
        self.assertNotIn("script", page.tags)
        self.assertIn("svg", page.tags)
        self.assertIn("prefers-color-scheme", first)
        os.remove(os.path.join(self.folder, "out", "report.html"))
        self.souk("lab", "report", os.path.join(self.folder, "out"))
        self.assertEqual(self.read("out", "report.html"), first)

    def test_compare_pairs_the_seeds(self):
        found = json.loads(self.souk("lab", "compare", self.file(BOOK), "--json").stdout)
        rows = {r["metric"]: r for r in found["items"][0]["metrics"]}
        units = rows["units"]
        self.assertAlmostEqual(units["difference"]["mean"], units["b"]["mean"] - units["a"]["mean"])

    def test_mistakes_name_the_line_and_the_nearest_key(self):
        path = self.file(BOOK.replace("horizon", "horzion"))
        done = self.souk("lab", "run", path, ok=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("scenario.yaml:3: unknown key 'horzion'", done.stderr)
        self.assertIn("horizon", done.stderr)

    def test_a_missing_trace_is_named(self):
        path = self.file(MARKET.replace("arrivals: {poisson: 0.5}, run_time: {exponential: 30m}",
                                        "trace: {format: philly, file: none.csv}"))
        done = self.souk("lab", "run", path, ok=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none.csv", done.stderr)

    def test_the_examples_run(self):
        for name in sorted(os.listdir(EXAMPLES)):
            found = json.loads(self.souk("lab", "run", os.path.join(EXAMPLES, name), "--seeds", "1",
                                         "--json").stdout)
            for m in found["mechanisms"]:
                self.assertGreater(m["metrics"]["efficiency"]["mean"], 0, name)

    def test_smiths_market_comes_to_its_equilibrium(self):
        found = json.loads(self.souk("lab", "run", os.path.join(EXAMPLES, "smith.yaml"),
                                     "--mechanisms", "k-double", "--json").stdout)
        metrics = found["mechanisms"][0]["metrics"]
        self.assertAlmostEqual(metrics["price"]["mean"], 2.0, delta=0.15)
        self.assertGreater(metrics["efficiency"]["mean"], 0.9)


class ReplayTest(MarketTest):
    flags = ("--round", "100ms")

    def test_history_under_another_rule_beside_the_running_server(self):
        ann = self.sign_up("ann")  # The first is the operator.
        bob = self.sign_up("bob")
        self.good("POST", "/v1/accounts/bob/grant", {"amount": 100, "memo": "test"}, ann)
        self.lend(ann, slots=3, price=0.2)
        job = self.good("POST", "/v1/jobs", {"name": "job", "class": "c1", "workers": {"min": 1, "max": 2},
                                             "limit": 0.6, "budget": 5}, bob)["id"]
        wait_for(lambda: self.good("GET", f"/v1/jobs/{job}/leases", None, bob)["items"], "a lease")
        rows = self.json("lab", "replay", "--journal", self.data, "--mechanisms",
                         "k-double,posted:price=0.5", "--shading", "0.2")["items"]
        was, same, posted = rows
        self.assertEqual(was["mechanism"], "as it was")
        self.assertEqual(was["slots"], 2)
        for key in ("slots", "paid", "gain_low"):
            self.assertEqual(was[key], same[key], key)
        self.assertAlmostEqual(posted["price"], 0.5)
        self.assertGreater(posted["gain_high"], posted["gain_low"])

    def test_a_folder_without_a_journal_is_named(self):
        done = self.souk("lab", "replay", "--journal", self.folder + "/no", "--mechanisms", "posted",
                         check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no/journal.db", done.stderr)


if __name__ == "__main__":
    unittest.main()

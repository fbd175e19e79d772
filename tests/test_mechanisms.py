"""A live market under other rules: switched, in turns, by a program of the operator's."""
import os
import shutil
import tempfile
import unittest

from souk import MarketTest, wait_for

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "mechanisms")

# Answers the first book, then lies: the buyer would pay more than it offered.
LIAR = """#!/usr/bin/env python3
import json, sys
for n, line in enumerate(sys.stdin):
    book = json.loads(line)
    trades = []
    if book["bids"] and book["asks"]:
        bid, ask = book["bids"][0], book["asks"][0]
        pays = bid["price"] if n == 0 else bid["price"] * 10
        trades = [{"bid": bid["id"], "ask": ask["id"], "units": 1, "pays": pays, "gets": pays}]
    print(json.dumps({"trades": trades}), flush=True)
"""


class MechanismsTest(MarketTest):
    def setUp(self):
        self.programs = tempfile.mkdtemp(prefix="souk-programs-")
        self.addCleanup(shutil.rmtree, self.programs, ignore_errors=True)
        self.flags = ("--round", "200ms", "--mechanisms", self.programs)
        super().setUp()
        self.ann, self.bob = self.sign_up("ann"), self.sign_up("bob")
        self.quick_settings(self.ann)
        self.souk("account", "grant", "bob", "100", token=self.ann)

    def program(self, name, text):
        path = os.path.join(self.programs, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, 0o755)

    def set(self, *flags):
        return self.souk("class", "set", "c1", *flags, token=self.ann, check=False)

    def lease_of(self, limit):
        """A job's first lease under the rule in force."""
        job = self.good("POST", "/v1/jobs", {"class": "c1", "workers": {"min": 1, "max": 1},
                                             "limit": limit, "budget": 1}, self.bob)
        path = f"/v1/jobs/{job['id']}"
        leases = wait_for(lambda: self.good("GET", path + "/leases", token=self.bob)["items"],
                          "a lease")
        self.good("POST", path + "/cancel", {}, self.bob)
        return leases[0]

    def records(self):
        return {r["mechanism"]: r for r in self.json("class", "compare", "c1", token=self.bob)["items"]}

    def test_each_rule_is_judged_by_its_own_rounds_and_a_restart_forgets_nothing(self):
        self.lend(self.ann, slots=1, price=0.2)
        self.assertEqual(self.lease_of(0.4)["price"], 0.2)  # What is asked: vickrey.
        self.assertEqual(self.set("--mechanism", "k-double").returncode, 0)
        self.assertEqual(self.lease_of(0.4)["price"], 0.3)  # Half way.
        self.assertEqual(self.set("--mechanism", "fifo").returncode, 0)
        self.assertEqual(self.lease_of(0.4)["price"], 0.2)
        before = self.records()
        self.assertEqual(before["k-double"]["traded"], 1)
        self.assertEqual(before["k-double"]["efficiency"], 1)
        self.assertTrue(before["fifo"]["in_force"])
        self.server.kill()
        self.server.start()
        self.assertEqual(self.records(), before)

    def test_what_no_market_can_run_on_is_refused_and_changes_nothing(self):
        for flags, says in (
                (["--mechanism", "vcg"], "pays sellers more than it takes"),
                (["--mechanism", "greedy"], "greedy"),
                (["--mechanism", "mcaffee"], "mcafee"),
                (["--trial", "posted", "--slice", "1s"], "slice"),
                (["--slice", "1h"], "--trial"),
                (["--mechanism", "external"], "program"),
                (["--mechanism", "external", "--param", "program=../x"], "program")):
            done = self.set(*flags)
            self.assertNotEqual(done.returncode, 0, flags)
            self.assertIn(says, done.stderr)
        classes = self.json("class", "list", token=self.bob)["items"]
        self.assertEqual({c["mechanism"] for c in classes}, {"vickrey"})
        done = self.souk("class", "set", "c1", "--mechanism", "fifo", token=self.bob, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_two_rules_take_turns(self):
        self.assertEqual(self.set("--trial", "mcafee", "--slice", "2h").returncode, 0)
        c1 = [c for c in self.json("class", "list", token=self.bob)["items"] if c["name"] == "c1"][0]
        self.assertEqual(c1["trial"], {"mechanism": "mcafee", "params": {}, "slice": "2h"})
        self.assertIn(c1["in_force"], ("vickrey", "mcafee"))
        self.assertIn("vickrey / mcafee every 2", self.souk("class", "list", token=self.bob).stdout)
        self.assertEqual(self.set("--no-trial").returncode, 0)

    def test_a_program_clears_until_it_lies_and_then_its_fallback_does(self):
        self.program("liar", LIAR)
        self.lend(self.ann, slots=4, price=0.2)
        done = self.set("--mechanism", "external", "--param", "program=liar", "--param",
                        "fallback=fifo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lease_of(0.4)["price"], 0.4)  # Its own price: all the buyer offers.
        self.assertEqual(self.lease_of(0.4)["price"], 0.2)  # It lied: fifo.
        with open(self.data + ".log", encoding="utf-8") as log:
            wait_for(lambda: "replaced by the fallback" in log.read(), "the complaint")

    def test_the_example_in_python_runs_a_market(self):
        shutil.copy(os.path.join(EXAMPLES, "second_price.py"), self.programs)
        self.lend(self.ann, slots=4, price=0.2)
        done = self.set("--mechanism", "external", "--param", "program=second_price.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(self.lease_of(0.4)["price"], 0.2)
        with open(self.data + ".log", encoding="utf-8") as log:
            self.assertNotIn("fallback", log.read())


if __name__ == "__main__":
    unittest.main()

"""`souk clear`: known answers of the literature through the real binary, and what it says to
mistakes. Needs no server."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from souk import SOUK

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples", "mechanisms")

MECHANISMS = ("posted vickrey k-double vcg mcafee trade-reduction sbba muda tpd huang ascending "
              "vcg-combinatorial greedy cda primal-dual karma max-min fifo las ftf makespan cost-slo "
              "hadar price-discovery").split()


def side(letter, prices):
    """[17, (2, 3)] -> letter1 at 17, letter2 with 3 units at 2."""
    out = []
    for i, price in enumerate(prices, 1):
        price, units = price if isinstance(price, tuple) else (price, 1)
        out.append({"id": f"{letter}{i}", "price": price, "units": units})
    return out


def book(bids, asks, **more):
    return {"class": "c1", "bids": side("b", bids), "asks": side("s", asks), **more}


class ClearTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="souk-clear-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def souk(self, *args, stdin=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(HOME=self.folder, NO_COLOR="1")
        return subprocess.run([SOUK, "clear", *args], capture_output=True, text=True, timeout=60,
                              input=stdin or "", env=env)

    def write(self, what):
        path = os.path.join(self.folder, "book.json")
        with open(path, "w") as f:
            f.write(what if isinstance(what, str) else json.dumps(what))
        return path

    def args(self, mechanism, what, seed, params):
        out = ["--mechanism", mechanism, "--book", self.write(what), "--seed", str(seed)]
        for key, value in params.items():
            out += ["--param", f"{key}={value}"]
        return out

    def clear(self, mechanism, what, seed=1, **params):
        done = self.souk(*self.args(mechanism, what, seed, params), "--json")
        self.assertEqual(done.returncode, 0, f"{mechanism}: {done.stderr}")
        out = json.loads(done.stdout)
        self.assertEqual((out["mechanism"], out["seed"]), (mechanism, seed))
        return out

    def text(self, mechanism, what, *flags, seed=1, **params):
        done = self.souk(*self.args(mechanism, what, seed, params), *flags)
        self.assertEqual(done.returncode, 0, f"{mechanism}: {done.stderr}")
        return done.stdout

    def error(self, mechanism, what, seed=1, **params):
        done = self.souk(*self.args(mechanism, what, seed, params), "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def check(self, out, deals, pays, gets, **totals):
        self.assertEqual(sum(t["units"] for t in out["trades"]), deals, out)
        for t in out["trades"]:
            self.assertEqual((t["pays"], t["gets"]), (pays, gets), t)
        for key, value in totals.items():
            self.assertEqual(out[key], value, key)


class KnownAnswers(ClearTest):
    FIRST = book([100, 90, 80, 70, 60], [80, 85, 95, 100, 110])
    MCAFEE = book([17, 14, 13, 9, 6], [1, 4, 5, 8, 11])

    def test_one_book_under_four_rules(self):
        self.check(self.clear("k-double", self.FIRST, kappa=0.5), 2, 87.5, 87.5, gain=25, price=87.5,
                   platform=0, buyers_pay=175, sellers_get=175, lottery={}, fees={})
        self.check(self.clear("k-double", self.FIRST, kappa=0), 2, 85, 85)
        self.check(self.clear("k-double", self.FIRST, kappa=1), 2, 90, 90)
        vcg = self.clear("vcg", self.FIRST)
        self.check(vcg, 2, 85, 90, gain=25, platform=-10, buyers_pay=170, sellers_get=180)
        self.assertNotIn("price", vcg)
        self.check(self.clear("mcafee", self.FIRST), 2, 87.5, 87.5, gain=25, price=87.5)
        self.check(self.clear("trade-reduction", self.FIRST), 1, 90, 85, gain=20, platform=5)

    def test_mcafee_prices_between_the_next_two(self):
        self.check(self.clear("mcafee", self.MCAFEE), 4, 8.5, 8.5, gain=35, platform=0, price=8.5,
                   buyers_pay=34, sellers_get=34)

    def test_mcafee_drops_a_pair_when_they_cannot_set_the_price(self):
        out = self.clear("mcafee", book([17, 14, 13, 9, 6], [1, 4, 5, 8, 13]))
        self.check(out, 3, 9, 8, gain=34, platform=3)
        self.assertNotIn("price", out)

    def test_mcafee_small_books(self):
        self.check(self.clear("mcafee", book([9, 8], [3, 4])), 1, 8, 4)
        self.check(self.clear("mcafee", book([9, 4], [3, 8])), 1, 6, 6, price=6)
        self.check(self.clear("mcafee", book([9], [3, 4])), 0, 0, 0, gain=0)

    def test_who_trades_with_whom(self):
        out = self.clear("mcafee", self.MCAFEE)
        self.assertEqual(sorted(t["bid"] for t in out["trades"]), ["b1", "b2", "b3", "b4"])
        self.assertEqual(sorted(t["ask"] for t in out["trades"]), ["s1", "s2", "s3", "s4"])

    def test_sbba_draws_one_of_the_long_side(self):
        winners = set()
        for seed in range(1, 21):
            out = self.clear("sbba", book([9, 8], [3, 4]), seed=seed)
            self.check(out, 1, 8, 8, platform=0)
            self.assertEqual(out["lottery"], {"side": "sellers", "winners": 1, "of": ["s1", "s2"]})
            winners.add(out["trades"][0]["ask"])
        self.assertEqual(winners, {"s1", "s2"}, "a draw that always ends the same is none")
        out = self.clear("sbba", book([9, 8], [3, 4]), first="sellers")
        self.check(out, 1, 4, 4, platform=0)
        self.assertEqual(out["lottery"], {"side": "buyers", "winners": 1, "of": ["b1", "b2"]})

    def test_ascending_clock_serves_a_gang(self):
        bids = [{"id": f"b{i}", "price": p, "gang": 2} for i, p in enumerate([9, 8, 7, 6], 1)]
        out = self.clear("ascending", {"bids": bids, "asks": side("s", [1, 2, 3, 4, 5, 6])})
        self.check(out, 2, 4, 4, buyers_pay=8, sellers_get=8, platform=0)
        self.assertEqual({t["bid"] for t in out["trades"]}, {"b1"})
        self.assertLessEqual({t["ask"] for t in out["trades"]}, {"s1", "s2", "s3", "s4"})

    def test_muda_with_a_given_split_and_vickrey_fees(self):
        def one(id, price, side, units=1):
            return {"id": id, "price": price, "units": units, "side": side}
        what = {"bids": [one("l1", 6.6, "left"), one("l2", 6.4, "left"), one("l3", 6.3, "left"),
                         one("r1", 6.7, "right"), one("r2", 6.5, "right"), one("r3", 6, "right")],
                "asks": [one("s2", 2, "left"), one("s3", 3, "left", 2), one("s4", 4, "left", 2),
                         one("s1", 1, "right"), one("s6", 6.1, "right")]}
        out = self.clear("muda", what, long="vickrey")
        self.assertEqual(out["fees"], {"r1": 1.85, "s2": 2.3, "s3": 4.6})
        half = {o["id"]: o["side"] for o in what["bids"] + what["asks"]}
        for t in out["trades"]:
            self.assertEqual(half[t["bid"]], half[t["ask"]], "halves do not trade with each other")
            self.assertEqual(t["pays"], {"left": 6.3, "right": 4.65}[half[t["bid"]]], t)
            self.assertEqual(t["gets"], t["pays"])

    def test_tpd_with_a_threshold(self):
        even = book([9, 8, 4], [3, 4, 9])
        self.check(self.clear("tpd", even, r=6), 2, 6, 6)
        self.check(self.clear("tpd", book([9, 8, 7], [3, 4, 9]), r=6), 2, 7, 6)   # i = 3 > j = 2
        self.check(self.clear("tpd", book([9, 5, 4], [3, 4, 5]), r=6), 1, 6, 4)   # i = 1 < j = 3

    def test_huang_multi_unit(self):
        bids = [{"id": "b3", "price": 3, "units": 1}, {"id": "b4", "price": 4, "units": 2},
                {"id": "b1", "price": 1, "units": 5}]
        asks = [{"id": "s2", "price": 2, "units": 4}, {"id": "s1", "price": 1, "units": 1},
                {"id": "s6", "price": 6, "units": 5}]
        out = self.clear("huang", {"bids": bids, "asks": asks})
        self.check(out, 1, 3, 2)
        self.assertEqual((out["trades"][0]["bid"], out["trades"][0]["ask"]), ("b4", "s1"))
        self.assertIn("of 6 possible", self.text("huang", {"bids": bids, "asks": asks}))

    def test_combinatorial_vcg(self):
        def bid(id, price, *bundle):
            return {"id": id, "price": price, "bundle": list(bundle)}
        out = self.clear("vcg-combinatorial", {"items": ["a", "b"], "bids": [
            bid("A", 150, "a"), bid("B", 150, "b"), bid("AB", 200, "a", "b")]})
        self.assertEqual(out["trades"], [
            {"bid": "A", "items": ["a"], "units": 1, "pays": 50, "gets": 0},
            {"bid": "B", "items": ["b"], "units": 1, "pays": 50, "gets": 0}])
        self.assertEqual((out["gain"], out["buyers_pay"], out["platform"]), (300, 100, 100))

    def test_greedy_pays_critical_values(self):
        what = {"items": ["a", "b"], "bids": [
            {"id": "Red", "price": 10, "bundle": ["a"]},
            {"id": "Green", "price": 19, "bundle": ["a", "b"]},
            {"id": "Blue", "price": 8, "bundle": ["b"]}]}
        out = self.clear("greedy", what, l=1)
        self.assertEqual({t["bid"]: t["pays"] for t in out["trades"]}, {"Red": 9.5, "Blue": 0})
        out = self.clear("greedy", what, l=0.5)
        self.assertEqual([t["bid"] for t in out["trades"]], ["Green"])
        self.assertAlmostEqual(out["trades"][0]["pays"], 14.142135, delta=0.0000015)
        self.assertEqual(out["trades"][0]["items"], ["a", "b"])

    def test_smiths_first_chart(self):
        prices = [3.25 - 0.25 * i for i in range(11)]
        out = self.clear("k-double", book(prices, prices[::-1]))
        self.check(out, 6, 2, 2, gain=7.5, price=2)

    def test_a_crossing_order_trades_at_the_resting_price(self):
        out = self.clear("cda", book([9], [4]))
        self.assertEqual(len(out["trades"]), 1)
        self.assertIn(out["trades"][0]["pays"], (4, 9))
        self.assertEqual(out["trades"][0]["pays"], out["trades"][0]["gets"])

    def test_karma_quanta(self):
        out = self.clear("karma", {"quanta": [[4, 1, 1], [0, 3, 0]], "initial_credits": 6, "slices": 6},
                         alpha=0.5)
        self.assertEqual(out["allocations"], [[4, 1, 1], [0, 3, 0]])
        self.assertEqual(out["credits"], [[4, 7, 7], [6, 6, 9]])

    def test_posted_takes_the_reference(self):
        what = book([9, 8, 4], [3, 4, 9], reference=6)
        self.check(self.clear("posted", what), 2, 6, 6, price=6)
        self.assertIn("reference", self.error("posted", book([9], [3])))
        self.check(self.clear("posted", book([9], [3]), price=5), 1, 5, 5)

    def test_every_rule_for_plain_books_keeps_its_promises(self):
        what = book([17, 14, 13, 9, 6], [0, 0, 0, 0, 0], reference=5)
        for name in MECHANISMS:
            if name in ("vcg-combinatorial", "greedy"):
                continue
            params = {"r": 5} if name == "tpd" else {}
            out = self.clear(name, what, **params)
            limits = {b["id"]: b["price"] for b in what["bids"]}
            for t in out["trades"]:
                self.assertLessEqual(t["pays"], limits[t["bid"]], name)
                self.assertGreaterEqual(t["gets"], 0, name)

    def test_slots_that_are_not_alike_go_where_they_are_fast(self):
        what = book([9, 9], [1, (1, 2), (1, 3)], reference=4)
        for bid, rates in zip(what["bids"], ([2, 1, 0.5], [3, 2, 1])):
            bid["rates"] = {f"s{i}": rate for i, rate in enumerate(rates, 1)}
        # The best schedule has 18/31 of s1 for b2, so that b2 has it first.
        for name in ("las", "price-discovery"):
            pairs = {(t["bid"], t["ask"]) for t in self.clear(name, what)["trades"]}
            self.assertEqual(pairs, {("b1", "s2"), ("b2", "s1")}, name)
        what["bids"][0]["rates"]["s9"] = 1
        self.assertIn("'s9' is not an ask of the book", self.error("las", what))
        self.assertIn("dual or reserve", self.error("las", book([9], [1]), prices="dull"))

    def test_the_same_seed_gives_the_same_outcome(self):
        what = book([9, 8, 7, 6, 5, 4], [1, 2, 3, 4, 5, 6])
        for name in ("sbba", "muda"):
            self.assertEqual(self.clear(name, what, seed=5), self.clear(name, what, seed=5), name)


class Texts(ClearTest):
    BOOK = book([17, 14, 13, 9, 6], [1, 4, 5, 8, 13])

    def test_table_names_traders_totals_and_the_loss(self):
        text = self.text("mcafee", self.BOOK)
        self.assertRegex(text, r"b1 +s1 +1 +9 +8")
        self.assertIn("buyers pay 27, sellers get 24, the platform keeps 3", text)
        self.assertIn("gain from trade 34 of 35 possible, 1 (2.9%) is lost", text)

    def test_explain_walks_from_the_sides_to_the_price(self):
        text = " ".join(self.text("mcafee", self.BOOK, "--explain").split())
        for words in ("b1 17, b2 14, b3 13, b4 9, b5 6", "s1 1, s2 4, s3 5, s4 8, s5 13", "k = 4",
                      "b_k = 9", "s_k = 8", "b_(k+1) = 6", "s_(k+1) = 13", "lo = 8", "hi = 9",
                      "Buyers pay 9 and sellers get 8", "b4 is left out", "s4 is left out",
                      "b5 is left out", "s5 is left out", "IC"):
            self.assertIn(words, text)

    def test_explain_in_json(self):
        done = self.souk(*self.args("mcafee", self.BOOK, 1, {}), "--json", "--explain")
        self.assertIn("k = 4", " ".join(json.loads(done.stdout)["explanation"]))

    def test_explain_speaks_of_every_kind_of_book(self):
        goods = {"items": ["a", "b"], "bids": [{"id": "Red", "price": 10, "bundle": ["a"]},
                                              {"id": "Green", "price": 19, "bundle": ["a", "b"]},
                                              {"id": "Blue", "price": 8, "bundle": ["b"]}]}
        text = " ".join(self.text("greedy", goods, "--explain", l=1).split())
        self.assertIn("Green gets nothing: Red has a", text)
        self.assertIn("gain from trade 18 of 19 possible", text)
        self.assertIn("not drawn", self.text("sbba", book([9, 8], [3, 4]), "--explain"))
        self.assertIn("Nothing trades", self.text("k-double", book([3], [4]), "--explain"))
        self.text("karma", {"quanta": [[4, 1, 1]], "initial_credits": 6, "slices": 6}, "--explain")

    def test_list_names_every_mechanism_with_its_properties(self):
        done = self.souk("--list", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        items = json.loads(done.stdout)["items"]
        self.assertEqual([i["name"] for i in items if i["name"] in MECHANISMS], [i["name"] for i in items])
        self.assertEqual({i["name"] for i in items}, set(MECHANISMS))
        for item in items:
            self.assertTrue(item["summary"] and item["properties"], item)
        text = self.souk("--list").stdout
        for name in MECHANISMS:
            self.assertRegex(text, rf"(?m)^{name}$")

    def test_help_has_examples(self):
        done = self.souk("--help")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?im)example")
        self.assertIn("--explain", done.stdout)

    def test_book_from_stdin(self):
        done = self.souk("--mechanism", "mcafee", "--book", "-", "--json", stdin=json.dumps(self.BOOK))
        self.assertEqual(json.loads(done.stdout)["gain"], 34)


class Mistakes(ClearTest):
    def test_files(self):
        done = self.souk("--mechanism", "mcafee", "--book", "/no/such/book.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/no/such/book.json", done.stderr)
        done = self.souk("--mechanism", "mcafee", "--book", self.folder)
        self.assertNotEqual(done.returncode, 0, "a folder is no book")
        self.assertIn("--book", self.souk("--mechanism", "mcafee").stderr)
        self.assertIn("--mechanism", self.souk("--book", "x").stderr)

    def test_bad_books_are_named(self):
        cases = (
            ("{", "JSON"),
            ({"bids": [{"id": "b1", "price": 1}, {"id": "b1", "price": 2}]}, "'b1' is there twice"),
            ({"bids": [{"id": "b1", "price": -1}]}, "-1 is negative"),
            ({"bids": [{"id": "b1", "price": 0.1234567}]}, "six digits"),
            ({"bids": [{"id": "b1", "prise": 1}]}, "'price'"),
            ({"bid": []}, "'bids'"),
            ({"bids": [{"id": "b1", "price": 1, "side": "lft"}]}, "'left'"),
        )
        for what, said in cases:
            self.assertIn(said, self.error("k-double", what), what)
            self.assertIn("book.json", self.error("k-double", what), "the file is named")

    def test_mechanism_and_parameter_suggest_the_nearest(self):
        what = book([9], [3])
        self.assertIn("mcafee", self.error("mcafe", what))
        self.assertIn("kappa", self.error("k-double", what, kapa=0.5))
        self.assertIn("2", self.error("k-double", what, kappa=2))

    def test_a_book_that_a_rule_cannot_take(self):
        goods = {"items": ["a"], "bids": [{"id": "x", "price": 1, "bundle": ["a"]}]}
        self.assertIn("bundles", self.error("mcafee", goods))
        self.error("greedy", book([9], [3]))
        split = {"bids": [{"id": "x", "price": 1, "side": "left"}]}
        self.assertIn("muda", self.error("mcafee", split))
        quanta = {"quanta": [[1]], "initial_credits": 1, "slices": 1}
        self.assertIn("karma", self.error("mcafee", quanta))


class External(ClearTest):
    BOOK = book([17, 14, 13, 9, 6], [1, 4, 5, 8, 13])

    def example(self, name):
        return f"{sys.executable} {os.path.join(EXAMPLES, name)}"

    def test_mcafee_in_python_agrees_with_ours(self):
        books = [self.BOOK, book([17, 14, 13, 9, 6], [1, 4, 5, 8, 11]), book([9, 8], [3, 4]),
                 book([9, 4], [3, 8]), book([9], [3, 4]), book([0.1, 0.3], [0.2, 0.000001])]
        for what in books:
            ours = self.clear("mcafee", what)
            theirs = self.clear("external", what, program=self.example("mcafee.py"))
            for key in ("gain", "platform", "buyers_pay", "sellers_get"):
                self.assertEqual(theirs[key], ours[key], what)

    def test_second_price(self):
        out = self.clear("external", book([9, 7], [3]), program=self.example("second_price.py"))
        self.check(out, 1, 7, 7, price=7)

    def test_misbehaviour_is_an_error_that_says_what_was_wrong(self):
        trade = '{"trades":[{"bid":"b1","ask":"s1","pays":%s,"gets":%s}]}'
        for program, said in (("exit 3", "status 3"),
                              ("read x; echo hello", "not valid JSON"),
                              ("read x; echo '%s'" % (trade % (99, 1)), "'b1' would pay 99"),
                              ("read x; echo '%s'" % (trade % (2, 5)), "'b1' pays 2 but 's1' gets 5"),
                              ("read x; cat /dev/zero", "too much")):
            self.assertIn(said, self.error("external", self.BOOK, program=program), program)
        self.assertIn("no answer", self.error("external", self.BOOK, program="sleep 100", timeout_ms=20,
                                              start_ms=20))
        self.assertIn("program", self.error("external", self.BOOK))


if __name__ == "__main__":
    unittest.main()

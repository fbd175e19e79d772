"""A journal that loses its beginning: it stops growing, and nothing that anybody owns changes."""
import base64
import glob
import http.client
import io
import lzma
import os
import random
import re
import shutil
import signal
import sqlite3
import tarfile
import tempfile
import threading
import unittest

from souk import DEADLINE_S, PASSWORD, MarketTest, wait_for

ACCOUNTS = ("ann", "bob", "eve")


class CutTest(MarketTest):
    """A market that keeps a second of its journal."""

    flags = ("--keep-journal", "1s", "--snapshot-every", "1s", "--requests", "0")

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.data, "journal.db")
        self.ann = self.sign_up("ann")
        self.tokens = {"ann": self.ann} | {name: self.sign_up(name) for name in ACCOUNTS[1:]}
        self.granted = dict.fromkeys(ACCOUNTS, 0)

    def metric(self, name):
        text = self.server.call("GET", "/metrics").text
        return float(re.search(rf"^{name} (\S+)$", text, re.M).group(1))

    def first(self):
        return int(self.metric("souk_journal_first_event"))

    def grant(self, name, key=None):
        self.good("POST", f"/v1/accounts/{name}/grant", {"amount": 1}, self.ann, key)
        self.granted[name] += 1

    def grant_some(self, n):
        for i in range(n):
            self.grant(ACCOUNTS[i % len(ACCOUNTS)])

    def grant_until(self, condition, what):
        """Grants until `condition`: only what is followed by something else leaves the journal."""
        def one_more():
            self.grant_some(1)
            return condition()
        return wait_for(one_more, what, 2 * DEADLINE_S)

    def belongings(self):
        """All that people can see of their money, and of what operators did."""
        statements = {name: self.good("GET", "/v1/ledger/statement", token=token)
                      for name, token in self.tokens.items()}
        return (self.json("ledger", token=self.ann), statements,
                self.good("GET", "/v1/audit?limit=100", token=self.ann))

    def verify(self, *more, data=None):
        return self.json("journal", "verify", "--data", data or self.data, *more)

    def assert_balances(self):
        ledger = self.json("ledger", token=self.ann)
        self.assertEqual(ledger["sum"], 0)
        rows = {row["name"]: row["available"] for row in ledger["accounts"]}
        self.assertEqual({name: rows[name] for name in ACCOUNTS}, self.granted)

    def wait_until_all_is_dropped(self):
        events = self.good("GET", "/healthz")["events"]
        wait_for(lambda: self.first() > events, "all of it to leave the journal", 2 * DEADLINE_S)
        return events


class Journal(CutTest):
    def test_statements_audits_and_balances_outlive_the_events_they_came_from(self):
        self.grant_some(30)
        before = self.belongings()
        self.assertEqual(len(before[1]["bob"]["lines"]), 10)
        events = self.wait_until_all_is_dropped()
        self.assertEqual(self.belongings(), before)
        # Also after a start from the base alone.
        self.server.kill()
        os.remove(os.path.join(self.data, "snapshot"))
        self.server.start()
        self.assertEqual(self.belongings(), before)
        verdict = self.verify()
        self.assertTrue(verdict["ok"], verdict)
        self.assertGreater(verdict["first"], events)

    def test_dropped_rows_are_gone_and_leave_room(self):
        self.grant_some(300)
        events = self.wait_until_all_is_dropped()
        self.server.stop()
        verdict = self.verify()
        self.assertTrue(verdict["ok"], verdict)
        with sqlite3.connect(self.path) as db:
            oldest, = db.execute("SELECT min(first) FROM batch").fetchone()
            free, = db.execute("PRAGMA freelist_count").fetchone()
        self.assertGreater(oldest or verdict["first"], events)
        self.assertGreater(free, 10)
        self.assertEqual(len(glob.glob(self.path + ".base-*")), 1)
        # The room in the file is given back by SQLite itself, with the server stopped.
        size = os.path.getsize(self.path)
        db.execute("VACUUM")
        db.close()
        self.assertLess(os.path.getsize(self.path), size)
        self.assertEqual(self.verify(), verdict)
        self.server.start()
        self.assert_balances()

    def test_a_dropped_event_is_said_to_be_and_reading_starts_behind_it(self):
        first = self.grant_until(lambda: self.first() > 1 and self.first(), "a cut")
        asked = self.souk("journal", "dump", "--data", self.data, "--from", "1", check=False)
        self.assertEqual(asked.returncode, 1)
        self.assertRegex(asked.stderr, "was dropped")
        self.assertRegex(asked.stderr, "--archive")
        self.server.stop()
        lines = self.souk("journal", "dump", "--data", self.data).stdout.splitlines()
        self.assertGreaterEqual(int(lines[0].split()[0]), first)
        replayed = self.souk("lab", "replay", "--journal", self.data, "--mechanisms", "mcafee")
        self.assertRegex(replayed.stderr, "begins with event")

    def test_a_lost_base_is_an_error_in_words(self):
        self.grant_until(lambda: self.first() > 1, "a cut")
        self.server.stop()
        base, = glob.glob(self.path + ".base-*")
        os.rename(base, base + ".away")
        os.remove(os.path.join(self.data, "snapshot"))
        with self.assertRaises(AssertionError) as failed:
            self.server.start()
        self.assertRegex(str(failed.exception), "the state before it cannot be read")
        verdict = self.souk("journal", "verify", "--data", self.data, check=False)
        self.assertEqual(verdict.returncode, 1)
        self.assertRegex(verdict.stderr, "base")
        os.rename(base + ".away", base)
        self.server.start()
        self.assert_balances()

    def test_killed_at_each_step_of_a_cut_it_has_the_old_beginning_or_the_new_one(self):
        """The points of src/base/kill_point.h that a cut passes."""
        for point in ("base-saved", "journal-cut", "journal-trimmed", "journal-trimmed:2"):
            with self.subTest(point):
                self.grant_some(20)
                self.server.kill()
                self.server.env = {"SOUK_KILL_AT": point}
                self.server.start()
                self.server.env = {}
                wait_for(lambda: self.server.process.poll() is not None, "its end", 2 * DEADLINE_S)
                self.assertEqual(self.server.process.returncode, -signal.SIGKILL)
                self.server.kill()
                verdict = self.verify()
                self.assertTrue(verdict["ok"], verdict)
                self.server.start()
                self.assert_balances()
        first = self.first()
        self.grant_until(lambda: self.first() > first, "the next cut")
        self.server.stop()
        self.assertEqual(len(glob.glob(self.path + ".base-*")), 1, "bases of cuts that never were")

    def load(self, acked, unknown, refused, stop, seed):
        """Nothing but the server's death keeps a grant from its answer."""
        rng = random.Random(seed)
        n = 0
        while not stop.is_set():
            name, key = rng.choice(ACCOUNTS), f"{seed}-{n}"
            n += 1
            try:
                answer = self.server.call("POST", f"/v1/accounts/{name}/grant", {"amount": 1},
                                          self.ann, key)
            except (OSError, http.client.HTTPException):
                unknown.append((name, key))
                return
            if answer.status != 200:
                refused.append(answer.text)
                return
            acked.append((name, key))

    def test_killed_at_random_times_under_load_it_loses_nothing(self):
        rng = random.Random(5)
        for life in range(6):
            acked, unknown, refused, stop = [], [], [], threading.Event()
            threads = [threading.Thread(target=self.load, args=(acked, unknown, refused, stop,
                                                                10 * life + i)) for i in range(2)]
            for t in threads:
                t.start()
            first = self.first()
            wait_for(lambda: refused or self.first() > first, "a cut", 2 * DEADLINE_S)
            wanted = len(acked) + rng.randrange(1, 200)
            wait_for(lambda: refused or len(acked) > wanted, "some grants")
            self.server.kill()
            stop.set()
            for t in threads:
                t.join()
            self.assertEqual(refused, [])
            verdict = self.verify()
            self.assertTrue(verdict["ok"], verdict)
            self.server.start()
            for name, key in unknown:
                self.good("POST", f"/v1/accounts/{name}/grant", {"amount": 1}, self.ann, key)
            for name, _ in acked + unknown:
                self.granted[name] += 1
            self.assert_balances()


class Archives(CutTest):
    """With what was dropped put aside."""

    def setUp(self):
        # From the first start: what is cut before it is told to be kept would be gone.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.archive = os.path.join(folder.name, "archive")
        self.flags = CutTest.flags + ("--archive", self.archive)
        super().setUp()

    def test_with_its_archives_a_journal_is_proved_from_its_first_event(self):
        for _ in range(3):
            first = self.first()
            self.grant_until(lambda: self.first() > first, "a cut")
        # Beside the server too. When that cuts at the same moment, reading has to begin again.
        wait_for(lambda: self.souk("journal", "verify", "--data", self.data, "--archive",
                                   self.archive, check=False).returncode == 0, "a proof")
        self.server.stop()
        without, proved = self.verify(), self.verify("--archive", self.archive)
        self.assertTrue(proved["ok"], proved)
        self.assertEqual((without["first"] > 1, proved["first"]), (True, 1))
        self.assertEqual(proved["state_hash"], without["state_hash"])
        lines = self.souk("journal", "dump", "--data", self.data, "--archive", self.archive)
        numbers = [int(line.split()[0]) for line in lines.stdout.splitlines()]
        self.assertEqual(numbers, list(range(1, proved["events"] + 1)))

    def test_a_changed_or_missing_archive_is_named(self):
        for _ in range(3):
            first = self.first()
            self.grant_until(lambda: self.first() > first, "a cut")
        self.server.stop()
        files = sorted(glob.glob(self.archive + "/journal-*.db"))
        os.rename(files[1], files[1] + ".away")
        missing = self.souk("journal", "verify", "--data", self.data, "--archive", self.archive,
                            check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertRegex(missing.stderr, "in no archive")
        os.rename(files[1] + ".away", files[1])
        with sqlite3.connect(files[0]) as db:
            db.execute("UPDATE batch SET bytes=bytes || x'00' WHERE first=1")
        db.close()
        changed = self.souk("journal", "verify", "--data", self.data, "--archive", self.archive,
                            check=False)
        self.assertEqual(changed.returncode, 1)
        self.assertIn(os.path.basename(files[0]), changed.stderr)

    def test_killed_when_the_archive_is_written_it_is_written_again(self):
        self.grant_some(20)
        self.server.kill()
        self.server.env = {"SOUK_KILL_AT": "events-archived"}
        self.server.start()
        self.server.env = {}
        wait_for(lambda: self.server.process.poll() is not None, "its end", 2 * DEADLINE_S)
        self.server.kill()
        self.assertTrue(self.verify("--archive", self.archive)["ok"])
        self.server.start()
        self.grant_until(lambda: self.first() > 1, "a cut")
        self.server.stop()
        proved = self.verify("--archive", self.archive)
        self.assertTrue(proved["ok"], proved)
        self.assertEqual(proved["first"], 1)


class Whole(MarketTest):
    """Without the flags nothing changes."""

    def test_everything_is_kept_unless_asked_otherwise(self):
        self.server.stop()
        self.server.flags = ("--snapshot-every", "50ms")
        self.server.start()
        token = self.sign_up("ann")
        seen = wait_for(lambda: re.search(r"souk_snapshot_timestamp_seconds [1-9]",
                                          self.server.call("GET", "/metrics").text), "a snapshot")
        self.assertTrue(seen)
        self.good("POST", "/v1/accounts/ann/grant", {"amount": 1}, token)
        self.server.stop()
        verdict = self.json("journal", "verify", "--data", self.data)
        self.assertEqual((verdict["ok"], verdict["first"]), (True, 1))

    def test_flags_that_make_no_sense_are_refused(self):
        self.server.stop()
        for flags, words in ((("--archive", "/tmp/somewhere"), "--keep-journal"),
                             (("--keep-journal", "1d", "--memory"), "memory")):
            done = self.souk("serve", "--data", self.data, "--listen", "127.0.0.1:0", *flags,
                             check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


class GoldenBase(MarketTest):
    """A journal whose beginning is a base, written once: 62 events of which nothing else is left.

    The file is never written again, nor are these facts: what cannot be read any more is a market
    that was lost. It has what neither ends nor is forgotten with time.
    """

    def setUp(self):
        super().setUp()
        self.server.stop()
        shutil.rmtree(self.data)
        os.makedirs(self.data)
        path = os.path.join(os.path.dirname(__file__), "golden", "base-v5.tar.xz.b64")
        with open(path, encoding="ascii") as f:
            packed = lzma.decompress(base64.b64decode(f.read()))
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            for member in tar.getmembers():
                with open(os.path.join(self.data, os.path.basename(member.name)), "wb") as out:
                    out.write(tar.extractfile(member).read())

    def token(self, name):
        return self.good("POST", "/v1/login", {"name": name, "password": PASSWORD})["token"]

    def test_it_is_whole(self):
        verdict = self.json("journal", "verify", "--data", self.data)
        self.assertEqual((verdict["ok"], verdict["events"], verdict["first"]), (True, 62, 63))

    def test_people_have_what_they_had(self):
        self.server.start()
        ann, bob, eve = (self.token(name) for name in ACCOUNTS)
        ledger = self.json("ledger", token=ann)
        self.assertEqual(ledger["sum"], 0)
        rows = {row["name"]: (row["available"], row["escrow"]) for row in ledger["accounts"]}
        self.assertEqual(rows, {"ann": (3, 0), "bob": (92.999856, 7), "eve": (0.000143, 0),
                                "platform": (0.000001, 0), "mint": (-103, 0)})
        lines = self.good("GET", "/v1/ledger/statement", token=bob)["lines"]
        self.assertEqual([(line["kind"], line["amount"]) for line in lines],
                         [("reserve", -7), ("refund", 4.999856), ("spend", -0.000144),
                          ("reserve", -5), ("grant", 100)])
        self.assertEqual(lines[-1]["memo"], "a course")
        machine, = self.good("GET", "/v1/machines", token=eve)["items"]
        self.assertEqual((machine["name"], machine["reliability"], machine["spec"]["cores"]),
                         ("box", 0.92, 8))

    def test_the_market_is_as_it_was_set_and_goes_on(self):
        self.server.start()
        ann, bob = self.token("ann"), self.token("bob")
        settings = self.good("GET", "/v1/settings", token=ann)
        self.assertEqual({name: settings[name] for name in ("fee", "term", "pickup", "history")},
                         {"fee": 0.01, "term": "2h", "pickup": "30s", "history": "7d"})
        classes = {k["name"]: k for k in self.good("GET", "/v1/classes", token=bob)["items"]}
        self.assertEqual((classes["x3"]["cores"], classes["x3"]["mechanism"]), (3, "mcafee"))
        job = self.good("GET", "/v1/jobs/j2", token=bob)
        self.assertEqual((job["name"], job["state"], job["batch"]["replicate"]),
                         ("waits", "queued", 2))
        self.assertEqual(job["constraints"]["lenders_refused"], ["ann"])
        self.good("POST", "/v1/jobs/j2/cancel", {}, bob)
        self.assertEqual(self.json("ledger", token=ann)["sum"], 0)
        self.server.stop()
        self.assertTrue(self.json("journal", "verify", "--data", self.data)["ok"])


if __name__ == "__main__":
    unittest.main()

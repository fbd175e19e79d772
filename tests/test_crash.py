"""kill -9 at any time loses nothing acknowledged, and nothing happens twice."""
import http.client
import os
import random
import threading
import time
import unittest

from souk import MarketTest, wait_for


class Crash(MarketTest):
    flags = ("--requests", "0")  # A quick disk takes more than a stranger may ask.

    def load(self, token, accounts, acked, unknown, refused, stop, seed):
        """Grants one credit after another, remembering which were acknowledged, until the server dies.
        Nothing but its death keeps a grant from its answer."""
        rng = random.Random(seed)
        n = 0
        while not stop.is_set():
            name, key = rng.choice(accounts), f"{seed}-{n}"
            n += 1
            try:
                answer = self.server.call("POST", f"/v1/accounts/{name}/grant", {"amount": 1}, token,
                                          key)
            except (OSError, http.client.HTTPException):
                unknown.append((name, key))
                return
            if answer.status != 200:
                refused.append(answer.text)
                return
            acked.append((name, key))

    def test_kill_loses_nothing_and_retries_do_nothing_twice(self):
        token = self.sign_up("ann")
        accounts = ["ann", "bob", "eve"]
        for name in accounts[1:]:
            self.sign_up(name)
        granted = dict.fromkeys(accounts, 0)
        rng = random.Random(7)
        for life in range(8):
            acked, unknown, refused, stop = [], [], [], threading.Event()
            threads = [threading.Thread(target=self.load, args=(
                token, accounts, acked, unknown, refused, stop, life * 10 + i)) for i in range(3)]
            for t in threads:
                t.start()
            wanted = rng.randrange(20, 60)
            wait_for(lambda: refused or len(acked) > wanted, "some grants")
            self.server.kill()
            stop.set()
            for t in threads:
                t.join()
            self.assertEqual(refused, [])
            self.server.start()
            # Whoever got no answer asks again with the same key; those with one do so for fun.
            for name, key in unknown + acked[-5:]:
                self.good("POST", f"/v1/accounts/{name}/grant", {"amount": 1}, token=token, key=key)
            for name, _ in acked + unknown:
                granted[name] += 1
            ledger = self.json("ledger", token=token)
            rows = {row["name"]: row["available"] for row in ledger["accounts"]}
            self.assertEqual({name: rows[name] for name in accounts}, granted, f"life {life}")
            self.assertEqual(ledger["sum"], 0)
        self.server.kill()
        self.assertTrue(self.json("journal", "verify", "--data", self.data)["ok"])

    def test_kill_between_submit_and_settle_keeps_every_credit(self):
        ann, bob = self.sign_up("ann"), self.sign_up("bob")
        self.quick_settings(ann)
        self.souk("account", "grant", "bob", "100", token=ann)
        offer = self.lend(ann, slots=4, price=1)
        rng = random.Random(3)
        for _ in range(5):
            self.good("POST", "/v1/jobs", {"workers": {"min": 1, "max": 2}, "class": "c1", "limit": 2,
                                           "budget": 3}, bob)
            path = f"/v1/machines/{offer['machine']}/work?wait=50ms"
            version = 0
            end = time.monotonic() + rng.random() * 3
            while time.monotonic() < end:
                work = self.good("GET", f"{path}&seen={version}", token=ann)
                version = work["version"]
                for lease in work["leases"]:
                    report = {"epoch": lease["epoch"]}
                    if lease["state"] == "granted":
                        self.server.call("POST", f"/v1/leases/{lease['id']}/start", report, ann)
                    self.good("POST", f"/v1/machines/{offer['machine']}/heartbeat",
                              {"leases": [{"lease": lease["id"], **report}]}, ann)
            self.server.kill()
            self.server.start()
            ledger = self.json("ledger", token=ann)
            self.assertEqual(ledger["sum"], 0)
            rows = {row["name"]: row for row in ledger["accounts"]}
            total = sum(r["available"] + r["escrow"] + r["bonus"] for n, r in rows.items() if n != "mint")
            self.assertAlmostEqual(total, 100, places=6)
        self.server.stop()
        self.assertTrue(self.json("journal", "verify", "--data", self.data)["ok"])


class Damage(MarketTest):
    """A torn tail is cut with a message; damage in the middle halts."""

    def setUp(self):
        super().setUp()
        token = self.sign_up("ann")
        for _ in range(30):
            self.good("POST", "/v1/accounts/ann/grant", {"amount": 1}, token)
        self.server.kill()
        self.wal = os.path.join(self.data, "journal.db-wal")
        self.size = os.path.getsize(self.wal)

    def flip(self, offset):
        with open(self.wal, "r+b") as f:
            f.seek(offset)
            byte = f.read(1)[0]
            f.seek(offset)
            f.write(bytes([byte ^ 0x10]))

    def test_torn_tail_is_cut_with_a_message(self):
        with open(self.wal, "r+b") as f:
            f.truncate(self.size - 100)
        self.server.start()
        self.server.kill()
        with open(self.server.log.name) as log:
            self.assertRegex(log.read(), "(?i)cut")
        self.assertTrue(self.json("journal", "verify", "--data", self.data)["ok"])

    def test_damage_in_the_middle_halts_with_the_place(self):
        self.flip(self.size // 2)
        with self.assertRaises(AssertionError) as failed:
            self.server.start()
        self.assertRegex(str(failed.exception), "(?i)damage|event")
        self.server.process.wait(10)
        done = self.souk("journal", "verify", "--data", self.data, check=False)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()

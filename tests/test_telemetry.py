"""What leases used, experiments and forecasts: after `kill -9` they are there, and they are kept as long as told."""
import contextlib
import os
import sqlite3
import time
import unittest

from souk import DEADLINE_S, MarketTest, Server, wait_for

DAY = 86_400


def table_of(day):
    """Of usage, on the day of that time."""
    return time.strftime("usage_%Y%m%d", time.gmtime(day))


class Telemetry(MarketTest):
    flags = ("--round", "100ms")

    def tables(self):
        """Of the file beside the journal, all at one moment; its writer may be at work. Empty: it is not there yet."""
        try:
            with contextlib.closing(sqlite3.connect(f"file:{self.data}/telemetry.db?mode=ro", uri=True,
                                                    timeout=DEADLINE_S, isolation_level=None)) as db:
                db.execute("BEGIN")
                names = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
                return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
        except sqlite3.OperationalError:
            return {}

    def lease(self, ann, bob):
        """A lease that runs on a machine of ann's."""
        offer = self.lend(ann)
        job = self.good("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": 5,
                                             "workers": {"min": 1, "max": 1}}, bob)
        lease = wait_for(lambda: self.good("GET", f"/v1/jobs/{job['id']}", token=bob)["leases"],
                         "a lease")[0]
        self.good("POST", f"/v1/leases/{lease['id']}/start", {"epoch": lease["epoch"]}, ann)
        return offer["machine"], job["id"], lease

    def beat(self, ann, machine, lease, cpu):
        self.good("POST", f"/v1/machines/{machine}/heartbeat", {"leases": [
            {"lease": lease["id"], "epoch": lease["epoch"], "usage": {
                "cpu_seconds": cpu, "memory_bytes": 1000 + cpu, "memory_peak_bytes": 2000,
                "scratch_bytes": 0, "received_bytes": 0, "sent_bytes": 0}}]}, ann)

    def usage(self, job, token):
        items = self.good("GET", f"/v1/jobs/{job}/usage", token=token)["items"]
        return [sample["usage"]["cpu_seconds"] for item in items for sample in item["samples"]]

    def test_what_was_used_and_tried_survives_kill(self):
        ann, bob = self.sign_up("ann"), self.sign_up("bob")
        self.souk("account", "grant", "bob", "100", token=ann)
        # The lease is heard of now and then only.
        self.good("PATCH", "/v1/settings", {"silence": "1h"}, ann)
        machine, job, lease = self.lease(ann, bob)
        self.beat(ann, machine, lease, 7)
        with open(os.path.join(os.path.dirname(__file__), "../examples/lab/smith.yaml"),
                  encoding="utf-8") as scenario:
            run = self.good("POST", "/v1/lab/runs", {"scenario": scenario.read()}, bob)
        wait_for(lambda: self.good("GET", f"/v1/lab/runs/{run['id']}", token=bob)["state"] == "done",
                 "the experiment", 5 * DEADLINE_S)
        wait_for(lambda: any(count for name, count in self.tables().items()
                             if name.startswith("usage_")), "the sample to be written")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.usage(job, bob), [7])
        self.beat(ann, machine, lease, 9)  # It goes on.
        self.assertEqual(self.usage(job, bob)[-1], 9)
        done = self.good("GET", f"/v1/lab/runs/{run['id']}", token=bob)
        self.assertEqual((done["state"], done["progress"]), ("done", 1))
        self.assertTrue(done["summary"])
        # A lease that has ended is read from the file when somebody asks.
        self.good("POST", f"/v1/leases/{lease['id']}/finish",
                  {"epoch": lease["epoch"], "outcome": "completed"}, ann)
        self.server.stop()
        self.server.start()
        self.assertEqual(self.usage(job, bob)[0], 7)
        self.assertEqual(self.good("GET", f"/v1/machines/{machine}/usage", token=ann)["items"][0]["lease"],
                         lease["id"])

    def test_days_that_are_older_than_told_are_dropped(self):
        self.server.stop()
        now = int(time.time())
        with contextlib.closing(sqlite3.connect(f"{self.data}/telemetry.db")) as db, db:
            for days in range(10):
                name = table_of(now - days * DAY)
                db.execute(f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER NOT NULL, at INTEGER NOT NULL, "
                           "bytes BLOB NOT NULL, PRIMARY KEY (id, at)) WITHOUT ROWID")
                db.execute(f"INSERT INTO {name} VALUES (1, ?, '{{}}')", ((now - days * DAY) * 1_000_000,))
        self.server = Server(self.data, *self.flags, "--keep-telemetry", "3d")
        self.server.start()

        def kept():
            """Whether it is what it should be, also where midnight has passed since."""
            oldest = table_of(time.time() - 3 * DAY)
            ours = {table_of(now - days * DAY) for days in range(10)}
            left = {name for name in self.tables() if name.startswith("usage_")}
            return left & ours == {name for name in ours if name >= oldest}
        wait_for(kept, "six days to be dropped")

    def test_a_broken_file_costs_what_is_in_it_and_not_the_market(self):
        self.server.stop()
        with open(f"{self.data}/telemetry.db", "wb") as broken:
            broken.write(b"x" * 10_000)
        for end in ("-wal", "-shm"):
            if os.path.exists(f"{self.data}/telemetry.db{end}"):
                os.remove(f"{self.data}/telemetry.db{end}")
        self.server.start()
        self.assertEqual(self.server.call("GET", "/readyz").status, 200)
        self.assertTrue(os.path.exists(f"{self.data}/telemetry.db.damaged"))


if __name__ == "__main__":
    unittest.main()

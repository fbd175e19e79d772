"""A market on PostgreSQL: moved there and back, killed, and its database restarted."""
import os
import signal
import subprocess
import unittest

from postgres import Postgres, needs_postgres
from souk import DEADLINE_S, SOUK, MarketTest, Server


@needs_postgres
class PostgresTest(MarketTest):
    def setUp(self):
        super().setUp()
        self.db = Postgres(self)

    def grant(self, token, n=5):
        for _ in range(n):
            self.good("POST", "/v1/accounts/ann/grant", {"amount": 1}, token)

    def migrate(self, source, target, check=True):
        return self.souk("journal", "migrate", "--from", source, "--to", target, "--json", check=check)

    def serve_from(self, journal, data=None):
        self.server = Server(data or self.data, "--journal", journal)
        self.server.start()

    def test_a_market_moves_to_postgres_lives_there_and_comes_back(self):
        ann = self.sign_up("ann")
        self.grant(ann)
        # Most of it while the server runs, the rest when it has ended.
        self.migrate("sqlite:" + self.data, self.db.url)
        self.grant(ann)
        self.server.stop()
        self.migrate(self.data, self.db.url)
        here = self.json("journal", "verify", "--data", self.data)
        there = self.json("journal", "verify", "--data", self.db.url)
        self.assertTrue(there["ok"])
        self.assertEqual(there, here)
        self.serve_from(self.db.url)
        self.assertEqual(self.json("account", "show", token=ann)["available"], 10)
        self.grant(ann)
        self.server.kill()
        self.serve_from(self.db.url)
        self.assertEqual(self.json("account", "show", token=ann)["available"], 15)
        self.server.stop()
        refused = self.migrate(self.db.url, self.data + "/journal.db", check=False)
        self.assertEqual(refused.returncode, 0, refused.stderr)  # It holds the same beginning.
        back = self.json("journal", "verify", "--data", self.data)
        self.assertEqual(back, self.json("journal", "verify", "--data", self.db.url))
        # Anything else is refused, and stays as it was.
        other = os.path.join(self.folder, "other")
        market = Server(other).start()
        market.stop()
        before = self.json("journal", "verify", "--data", other)
        refused = self.migrate(self.db.url, other, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("another history", refused.stderr)
        self.assertEqual(before, self.json("journal", "verify", "--data", other))

    def test_the_database_restarts_and_nobody_is_told_anything_wrong(self):
        self.server.stop()
        self.serve_from(self.db.url, self.data + "-there")
        ann = self.sign_up("ann")
        for how in (signal.SIGINT, signal.SIGQUIT):
            self.grant(ann)
            self.db.restart(how)
            self.grant(ann)
        self.assertEqual(self.json("account", "show", token=ann)["available"], 20)
        self.server.kill()
        self.assertTrue(self.json("journal", "verify", "--data", self.db.url)["ok"])

    def test_a_database_that_is_not_there_is_said_in_words(self):
        self.db.stop()
        done = subprocess.run([SOUK, "serve", "--data", self.data + "2", "--listen", "127.0.0.1:0",
                               "--journal", self.db.url.replace("souk@", "souk:secret@")],
                              capture_output=True, text=True, timeout=5 * DEADLINE_S)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is PostgreSQL running there", done.stderr)
        self.assertNotIn("secret", done.stderr)


if __name__ == "__main__":
    unittest.main()

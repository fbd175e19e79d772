"""What everybody may rely on: the contract of the `souk` command and its server."""
import json
import os
import stat

from souk import MarketTest, PASSWORD, Server, wait_for


class Contract(MarketTest):
    def test_health_answers_as_soon_as_the_server_says_where_it_is(self):
        self.assertEqual(self.server.call("GET", "/healthz").status, 200)
        self.assertEqual(self.server.call("GET", "/readyz").status, 200)

    def test_sigterm_ends_the_server_cleanly(self):
        self.sign_up("ann")
        self.assertEqual(self.server.stop(), 0)

    def test_first_account_is_operator_and_others_are_not(self):
        made = self.json("account", "create", "ann")
        self.assertTrue(made["token"])
        self.assertTrue(made["account"]["id"])
        self.assertTrue(made["account"]["operator"])
        self.assertFalse(self.json("account", "create", "bob")["account"]["operator"])

    def test_grant_and_ledger_sum_to_zero(self):
        ann = self.sign_up("ann")
        bob = self.sign_up("bob")
        self.souk("account", "grant", "bob", "12.5", token=ann)
        ledger = self.json("ledger", token=ann)
        rows = {row["name"]: row for row in ledger["accounts"]}
        self.assertEqual(rows["bob"]["available"], 12.5)
        self.assertEqual(rows["bob"]["escrow"], 0)
        self.assertEqual(ledger["sum"], 0)
        refused = self.souk("account", "grant", "bob", "5", token=bob, check=False)
        self.assertNotEqual(refused.returncode, 0)
        # Somebody who may not see others still sees that it sums to zero.
        self.assertEqual(self.json("ledger", token=bob)["sum"], 0)

    def test_journal_verify_is_equal_before_and_after_a_restart(self):
        ann = self.sign_up("ann")
        self.souk("account", "grant", "ann", "5", token=ann)
        self.lend(ann)
        self.server.stop()
        before = self.json("journal", "verify", "--data", self.data)
        self.assertTrue(before["ok"])
        self.assertGreater(before["events"], 10)
        self.server.start()
        self.server.stop()
        self.assertEqual(self.json("journal", "verify", "--data", self.data), before)

    def test_verify_works_beside_a_running_server(self):
        self.sign_up("ann")
        self.assertTrue(self.json("journal", "verify", "--data", self.data)["ok"])

    def test_second_server_on_the_same_folder_is_refused(self):
        with self.assertRaises(AssertionError):
            Server(self.data).start()

    def test_a_job_runs_and_is_paid_through_the_api(self):
        ann, bob = self.sign_up("ann"), self.sign_up("bob")
        self.quick_settings(ann)
        self.souk("account", "grant", "bob", "10", token=ann)
        offer = self.lend(ann, price=3.6)
        job = self.good("POST", "/v1/jobs", {"workers": {"min": 1, "max": 1}, "class": "c1",
                                             "limit": 3.6, "budget": 1}, bob)
        path = f"/v1/machines/{offer['machine']}/work"
        lease = wait_for(lambda: self.good("GET", path, token=ann)["leases"], "a lease")[0]
        report = {"epoch": lease["epoch"]}
        self.good("POST", f"/v1/leases/{lease['id']}/start", report, ann)
        beat = {"leases": [{"lease": lease["id"], **report}]}

        def paid():
            self.good("POST", f"/v1/machines/{offer['machine']}/heartbeat", beat, ann)
            return self.good("GET", f"/v1/jobs/{job['id']}", token=bob)["spent"] > 0

        wait_for(paid, "a settlement")
        self.good("POST", f"/v1/leases/{lease['id']}/finish", {**report, "outcome": "completed"}, ann)
        job = self.good("GET", f"/v1/jobs/{job['id']}", token=bob)
        self.assertEqual(job["state"], "succeeded")
        ledger = {row["name"]: row for row in self.json("ledger", token=ann)["accounts"]}
        self.assertAlmostEqual(ledger["ann"]["available"], job["spent"], places=6)
        self.assertAlmostEqual(ledger["bob"]["available"], 10 - job["spent"], places=6)
        self.assertEqual(ledger["bob"]["escrow"], 0)


class Configuration(MarketTest):
    def test_stored_token_is_private_and_used(self):
        self.sign_up("ann")
        self.assertEqual(self.json("account", "show")["name"], "ann")
        for folder, _, files in os.walk(os.path.join(self.folder, "config")):
            for name in files:
                mode = os.stat(os.path.join(folder, name)).st_mode
                self.assertEqual(stat.S_IMODE(mode) & 0o077, 0, name)

    def test_environment_beats_the_file_and_a_flag_beats_both(self):
        ann = self.sign_up("ann")
        bob = self.sign_up("bob")
        self.assertEqual(self.json("account", "show", token=bob)["name"], "bob")
        self.assertEqual(self.json("account", "show", token=ann)["name"], "ann")
        nowhere = {"SOUK_SERVER": "http://127.0.0.1:1"}
        self.assertEqual(self.souk("faq", env=nowhere, check=False).returncode, 3)
        self.souk("faq", "--server", self.server.url, env=nowhere)

    def test_unreachable_server_is_named(self):
        done = self.souk("offers", token="souk_x", env={"SOUK_SERVER": "http://127.0.0.1:1"}, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("127.0.0.1:1", done.stderr)

    def test_password_is_never_logged(self):
        self.sign_up("ann")
        self.souk("login", "ann")
        self.server.stop()
        for folder, _, files in os.walk(self.folder):
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertNotIn(PASSWORD.encode(), f.read(), name)


if __name__ == "__main__":
    import unittest
    unittest.main()

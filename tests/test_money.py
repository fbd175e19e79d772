"""What a borrower sees before it pays, what it pays, and what it was quoted."""
import os
import unittest

from souk import MarketTest, wait_for


class MoneyTest(MarketTest):
    flags = ("--round", "200ms")

    def setUp(self):
        super().setUp()
        self.ann, self.bob = self.sign_up("ann"), self.sign_up("bob")
        self.quick_settings(self.ann)
        self.souk("account", "grant", "bob", "100", token=self.ann)

    def suggested(self):
        return [c for c in self.json("class", "list", token=self.bob)["items"]
                if c["name"] == "c1"][0]["suggested"]

    def job(self, limit, workers=(1, 4)):
        return {"class": "c1", "workers": {"min": workers[0], "max": workers[1]}, "limit": limit,
                "budget": 8}

    def job_file(self, text):
        path = os.path.join(self.folder, "job.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def test_a_job_does_not_bid_against_itself_and_the_suggestion_stays_near(self):
        before = self.suggested()
        for name in ("one", "two"):
            self.lend(self.ann, slots=1, price=0.5, name=name)
        plan = self.good("POST", "/v1/plan", self.job(2), self.bob)["prices"][0]
        self.assertEqual((plan["cheapest"], plan["pays"], plan["workers"], plan["limit_given"]),
                         (0.5, 0.5, 2, True))
        job = self.good("POST", "/v1/jobs", self.job(2), self.bob)["id"]
        path = f"/v1/jobs/{job}"
        leases = wait_for(lambda: len(self.good("GET", path, token=self.bob)["leases"]) == 2
                          and self.good("GET", path, token=self.bob)["leases"], "two leases")
        self.assertEqual([lease["price"] for lease in leases], [0.5, 0.5])
        self.assertLess(abs(self.suggested() / before - 1), 0.1)

    def test_a_limit_below_every_ask_is_said_with_the_price_that_would_do(self):
        self.lend(self.ann, slots=2, price=0.5)
        plan = self.good("POST", "/v1/plan", self.job(0.3), self.bob)["prices"][0]
        self.assertEqual(plan["enough"], 0.5)
        self.assertNotIn("pays", plan)
        path = self.job_file("run: echo hello\nprice: {limit: 0.3, budget: 1}\n")
        said = self.souk("run", path, "--yes", "--detach", token=self.bob).stderr
        self.assertIn("--price 0.5 would be enough", said)

    def test_a_limit_that_nobody_set_is_named(self):
        self.lend(self.ann, slots=2, price=0.2)
        path = self.job_file("run: echo hello\nprice: {budget: 1}\n")
        said = self.souk("plan", path, token=self.bob).stderr
        self.assertIn("you set none: twice the suggested", said)
        self.assertIn("you would pay 0.2 per slot-hour now", said)

    def test_a_client_cannot_choose_its_own_quote(self):
        body = dict(self.job(2), quoted={"cost": 0}, forecast={"cost": 0})
        self.assertEqual(self.server.call("POST", "/v1/jobs", body, self.bob).status, 400)


if __name__ == "__main__":
    unittest.main()

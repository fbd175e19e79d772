"""The first hour of a newcomer: what is on offer, how to get credits, what lending is worth."""
import unittest

from souk import MarketTest, Server


class Offers(MarketTest):
    def setUp(self):
        super().setUp()
        self.ann = self.sign_up("ann")
        machine = self.good("POST", "/v1/machines", {"name": "tower", "spec": {
            "cores": 16, "memory_mib": 65536, "gpus": 1, "gpu_memory_mib": 40960,
            "gpu": "NVIDIA A100-SXM4-40GB", "packages": ["python3-torch", "numpy==1.24.2"]}}, self.ann)
        self.good("POST", "/v1/offers", {"machine": machine["id"], "class": "c1", "price": 0.9}, self.ann)
        self.lend(self.ann, name="laptop", price=0.1)

    def test_a_machine_is_found_by_what_it_has_and_the_rest_is_accounted_for(self):
        found = self.json("offers", "--where", "gpu=A100 and vram>=40 and price<1", token=self.ann)
        self.assertEqual([o["machine_name"] for o in found["items"]], ["tower"])
        self.assertEqual(found["items"][0]["vram"], 40)
        self.assertEqual(found["looked_at"], 2)
        self.assertEqual(found["left_out"][0], {"condition": "gpu = A100", "offers": 1, "only": 0})
        said = self.souk("offers", "--where", "packages=torch and price<0.5", token=self.ann).stdout
        self.assertIn("packages = torch leaves out 1; without it 1 more would match", said)

    def test_a_machine_without_leases_is_new_everywhere(self):
        for command in (("offers",), ("machine", "list"), ("offer", "show", "o1"), ("machine", "show", "m1")):
            said = self.souk(*command, token=self.ann).stdout
            self.assertIn("new", said, command)
            self.assertNotIn("90%", said, command)


class Credits(MarketTest):
    flags = ("--signup-bonus", "5")

    def test_a_new_market_lets_newcomers_try_it_and_they_can_ask_for_more(self):
        boss = self.souk("account", "create", "boss").stdout
        self.assertIn("You operate this market", boss)
        self.assertEqual(self.json("account", "show")["bonus"], 5)
        bob = self.sign_up("bob")
        self.souk("account", "request", "20", "--why", "a first model", token=bob)
        asked = self.json("account", "requests")["items"]
        self.assertEqual([(r["account"], r["amount"], r["why"]) for r in asked], [("bob", 20, "a first model")])
        self.souk("account", "answer", "bob", "--grant", "8", "--word", "to begin with")
        self.assertIn("granted 8: to begin with", self.souk("account", "requests", token=bob).stdout)
        self.assertEqual(self.json("account", "show", token=bob)["available"], 8)
        # What was asked and answered survives.
        self.server.kill()
        self.server = Server(self.data, *self.flags).start()
        self.assertIn("granted 8", self.souk("account", "requests", token=bob).stdout)
        self.assertEqual(self.json("settings", token=bob)["signup_bonus"], 5)


class Earnings(MarketTest):
    def test_strangers_see_what_lending_is_worth_and_nothing_of_anybody(self):
        ann = self.sign_up("ann")
        self.lend(ann, name="secret-name")
        answer = self.server.call("GET", "/v1/earnings?cores=4&memory_mib=8192")
        self.assertEqual(answer.status, 200)
        self.assertEqual({c["class"]: c["slots"] for c in answer.json["items"]}, {"c1": 4, "c2": 2, "c4": 1})
        self.assertNotIn("ann", answer.text)
        self.assertNotIn("secret-name", answer.text)


if __name__ == "__main__":
    unittest.main()

"""Attacks that move money, prices or standing. Rows are those of the list in docs/hostile.md."""
import os
import re
import signal
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from souk import MarketTest, wait_for  # noqa: E402


class HostileTest(MarketTest):
    flags = ("--round", "200ms", "--requests", "0")

    def setUp(self):
        super().setUp()
        self.ann, self.bob, self.eve = (self.sign_up(name) for name in ("ann", "bob", "eve"))
        self.quick_settings(self.ann)
        for name in ("bob", "eve"):
            self.souk("account", "grant", name, "100", token=self.ann)

    def machine(self, token, name="box", **spec):
        return self.good("POST", "/v1/machines",
                         {"name": name, "spec": {"cores": 8, "memory_mib": 32768, **spec}}, token)["id"]

    def offer(self, token, machine, price=0.2, slots=1):
        return self.good("POST", "/v1/offers", {"machine": machine, "class": "c1", "slots": slots,
                                                "price": price}, token)["id"]

    def beat(self, token, machine):
        """What the agent of the machine would say; returns its open leases."""
        leases = self.good("GET", f"/v1/machines/{machine}/work", token=token)["leases"]
        held = [{"lease": l["id"], "epoch": l["epoch"]} for l in leases]
        self.good("POST", f"/v1/machines/{machine}/heartbeat", {"leases": held}, token)
        return leases

    def job(self, token, limit=1, budget=1, **more):
        return self.good("POST", "/v1/jobs", {"class": "c1", "workers": {"min": 1, "max": 1},
                                              "limit": limit, "budget": budget, **more}, token)["id"]

    def leases(self, token, job):
        return self.good("GET", f"/v1/jobs/{job}/leases", token=token)["items"]

    def said(self):
        """What the server has logged."""
        with open(self.data + ".log", encoding="utf-8", errors="replace") as log:
            return log.read()

    def available(self, token):
        me = self.good("GET", "/v1/me", token=token)["name"]
        rows = self.good("GET", "/v1/ledger", token=token)["accounts"]
        return next(row["available"] for row in rows if row["name"] == me)


class Keys(HostileTest):
    """A key was forgotten after 100,000 later answers of anybody's. Now it is known for a day, also when its
    answer is not: so few changes show it, if they push the answer out."""

    def push_out(self, token):
        """More than a mebibyte of answers to one account, which keeps the latest mebibyte."""
        packages = [f"package{i}==1.0.0" for i in range(700)]
        for i in range(80):
            self.machine(token, f"m{i}", packages=packages)

    def assert_known(self, change, key, made=""):
        again = self.server.call(*change, key=key)
        self.assertEqual(again.status, 409, again.text)
        self.assertIn("done already", again.json["detail"])
        self.assertIn(made, again.json["detail"])

    def test_a_flood_of_changes_makes_no_grant_happen_twice(self):
        """Row 23: the same grant and the same job, once the answers are gone, and after a restart."""
        grant = ("POST", "/v1/accounts/bob/grant", {"amount": 7}, self.ann)
        submit = ("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": 5}, self.bob)
        self.good(*grant, key="pay-bob")
        job = self.good(*submit, key="one-job")["id"]
        before = self.available(self.bob)
        for token in (self.ann, self.bob):
            self.push_out(token)
        for _ in range(2):
            self.assert_known(grant, "pay-bob")
            self.assert_known(submit, "one-job", job)
            self.assertEqual(self.available(self.bob), before)
            self.assertEqual(len(self.good("GET", "/v1/jobs", token=self.bob)["items"]), 1)
            self.server.kill()
            self.server.start()

    def test_a_flood_of_one_account_takes_no_answers_of_another(self):
        """Row 23: room for answers is each account's own, and the latest of them are kept."""
        submit = ("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": 5})
        job = self.good(*submit, self.bob, key="one-job")["id"]
        self.push_out(self.eve)
        again = self.server.call(*submit, self.bob, key="one-job")
        self.assertEqual((again.status, again.json["id"]), (201, job))
        self.assertEqual(again.headers["Idempotent-Replay"], "true")
        latest = self.good(*submit, self.eve, key="one-job")["id"]
        again = self.server.call(*submit, self.eve, key="one-job")
        self.assertEqual((again.status, again.json["id"]), (201, latest))


class KeyBudget(HostileTest):
    flags = (*HostileTest.flags, "--budget", "keys=40")

    def test_who_makes_too_many_changes_is_refused_and_not_forgotten(self):
        """Row 23: the memory for keys is bounded by refusing, for one account."""
        machine = self.machine(self.eve)
        offer = self.offer(self.eve, machine)
        for i in range(60):
            answer = self.server.call("PATCH", f"/v1/offers/{offer}", {"price": 0.2 + i / 100}, self.eve)
            if answer.status != 200:
                break
        self.assertEqual(answer.status, 429, answer.text)
        self.assertIn("keys", answer.text)
        self.beat(self.eve, machine)  # Its machine is heard all the same,
        self.job(self.bob)            # and others go on.


class Prices(HostileTest):
    def trade(self, borrower, lender, machine, price, name):
        """A lease that runs and is paid for a moment, at `price`."""
        offer = self.offer(lender, machine, price)
        job = self.job(borrower, limit=price, budget=max(price, 0.01))
        def running():
            for lease in self.beat(lender, machine):
                if lease["job"] == job and lease["state"] == "granted":
                    self.good("POST", f"/v1/leases/{lease['id']}/start", {"epoch": lease["epoch"]}, lender)
            return [l for l in self.leases(borrower, job) if l["state"] == "running"]
        wait_for(running, f"a lease of {name}")
        wait_for(lambda: self.beat(lender, machine) and
                 self.good("GET", f"/v1/jobs/{job}", token=borrower)["spent"] > 0, "pay")
        self.good("POST", f"/v1/jobs/{job}/cancel", {}, borrower)
        self.good("DELETE", f"/v1/offers/{offer}", token=lender)

    def test_trades_with_oneself_do_not_change_anothers_renewal(self):
        """Row 11: one account lent to itself at 0.999, and others' leases renewed at that."""
        self.good("PATCH", "/v1/settings", {"term": "6s", "drain": "1s"}, self.ann)
        machine = self.machine(self.ann, "honest")
        self.offer(self.ann, machine, 0.5)
        job = self.job(self.bob, limit=0.5, budget=5)

        def lease():
            leases = self.beat(self.ann, machine)
            for l in leases:
                if l["state"] == "granted":
                    self.good("POST", f"/v1/leases/{l['id']}/start", {"epoch": l["epoch"]}, self.ann)
            return leases and leases[0]["state"] == "running" and leases[0]
        first = wait_for(lease, "bob's lease")
        self.assertEqual(first["price"], 0.5)
        self.good("PATCH", f"/v1/jobs/{job}", {"limit": 5}, self.bob)
        own = self.machine(self.eve, "own")
        self.trade(self.eve, self.eve, own, 0.999, "eve's with herself")
        later = wait_for(lambda: [l for l in self.beat(self.ann, machine)
                                  if l["until"] != first["until"] and l["price"]], "the next term")[0]
        self.assertEqual(later["price"], 0.5)
        self.assertNotEqual(self.good("GET", "/v1/prices?class=c1", token=self.bob).get("last"), 0.999)


class Ghosts(HostileTest):
    def test_a_machine_that_never_reports_gets_no_lease(self):
        """Row 24: a registered machine that nobody heard won leases and kept them for ten minutes."""
        for i in range(3):
            self.offer(self.eve, self.machine(self.eve, f"ghost{i}"), price=0)
        real = self.machine(self.ann, "real")
        self.offer(self.ann, real, price=0.2)
        self.beat(self.ann, real)
        job = self.job(self.bob)
        wait_for(lambda: self.beat(self.ann, real), "the machine that is there")
        self.assertEqual(len(self.leases(self.bob, job)), 1)

    def test_a_lease_that_is_not_taken_goes_to_another_and_costs_no_try(self):
        """Row 24: one that reports, but never takes its leases, holds a job for seconds only."""
        self.good("PATCH", "/v1/settings", {"pickup": "1s"}, self.ann)
        ghost, real = self.machine(self.eve, "ghost"), self.machine(self.ann, "real")
        self.offer(self.eve, ghost, price=0)
        self.good("POST", f"/v1/machines/{ghost}/heartbeat", {"leases": []}, self.eve)
        job = self.job(self.bob)
        wait_for(lambda: self.leases(self.bob, job), "the ghost's lease")
        self.offer(self.ann, real, price=0.2)
        self.beat(self.ann, real)
        wait_for(lambda: self.beat(self.ann, real), "the machine that is there")
        first = self.leases(self.bob, job)[-1]
        self.assertEqual((first["outcome"], first["machine"]), ("unstarted", ghost))
        self.assertEqual(self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"], "running")

    def test_a_server_that_was_stopped_blames_nobody(self):
        """Row 25: 43 leases were closed as silent when a server woke from a minute's suspension."""
        self.set_silence("15s")
        machine = self.machine(self.ann)
        self.offer(self.ann, machine)
        self.beat(self.ann, machine)
        job = self.job(self.bob, budget=5)
        lease = wait_for(lambda: self.beat(self.ann, machine), "a lease")[0]
        self.good("POST", f"/v1/leases/{lease['id']}/start", {"epoch": lease["epoch"]}, self.ann)
        self.beat(self.ann, machine)
        self.server.process.send_signal(signal.SIGSTOP)
        threading.Event().wait(17)  # Longer than the silence that is allowed.
        self.server.process.send_signal(signal.SIGCONT)
        wait_for(lambda: "nobody was listened to" in self.said(), "the server to notice")
        for _ in range(20):  # Two seconds: its timers have looked.
            self.assertEqual(self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"], "running")
            threading.Event().wait(0.1)
            self.beat(self.ann, machine)
        self.assertEqual(self.leases(self.bob, job)[0]["state"], "running")


class Demands(HostileTest):
    flags = (*HostileTest.flags, "--budget", "live-jobs=1000")

    def test_demands_that_nothing_meets_take_nobodys_turn(self):
        """Row 10b: with 1,000 hopeless jobs others' jobs with demands waited for minutes."""
        for i in range(400):
            self.job(self.eve, budget=0.05, constraints={"regions": [f"atlantis{i}"]})
        plain = self.machine(self.ann, "plain")
        self.offer(self.ann, plain, 0.1)
        for n in range(3):
            machine = self.machine(self.ann, f"box{n}", region="eu")
            self.offer(self.ann, machine, 0.5)
            self.beat(self.ann, machine)
            job = self.job(self.bob, constraints={"regions": ["eu"]})
            # Jobs without demands, one after the other, each for a round or more, tell the rounds.
            rounds = 0
            while not self.leases(self.bob, job):
                self.assertLess(rounds, 10, "bob's job waits for its turn")
                self.beat(self.ann, machine)
                self.plain_job(plain)
                rounds += 1
        why = self.good("GET", "/v1/jobs/j1/why", token=self.eve)
        self.assertIn("no offer meets its demand for regions atlantis0", why["summary"])

    def plain_job(self, machine):
        """One that demands nothing, until it has its lease."""
        job = self.job(self.bob, limit=0.3)
        wait_for(lambda: self.beat(self.ann, machine) and self.leases(self.bob, job), "the lease of a plain job")
        self.good("POST", f"/v1/jobs/{job}/cancel", {}, self.bob)

    def test_who_has_too_many_live_jobs_is_refused(self):
        """Live jobs are a budget, given back when they end."""
        self.server.kill()
        self.server.flags = (*HostileTest.flags, "--budget", "live-jobs=3")
        self.server.start()
        jobs = [self.job(self.eve, budget=0.05) for _ in range(3)]
        body = {"class": "c1", "limit": 1, "budget": 0.05}
        refused = self.server.call("POST", "/v1/jobs", body, self.eve)
        self.assertEqual(refused.status, 429, refused.text)
        self.assertIn("live-jobs", refused.text)
        self.job(self.bob)
        self.good("POST", f"/v1/jobs/{jobs[0]}/cancel", {}, self.eve)
        self.job(self.eve, budget=0.05)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.server.call("POST", "/v1/jobs", body, self.eve).status, 429)


class Tokens(HostileTest):
    def test_many_tokens_end_no_agents_token(self):
        """Row 26: the 101st token ended the oldest, perhaps an agent's, without a word."""
        machine = self.machine(self.eve)
        agent = self.good("POST", "/v1/tokens", {"scope": "machine", "machine": machine}, self.eve)["token"]
        answers = [self.server.call("POST", "/v1/tokens", {"scope": "user", "label": "x"}, self.eve)
                   for _ in range(100)]
        self.assertEqual(answers[-1].status, 429, answers[-1].text)
        self.assertIn("100 tokens", answers[-1].text)
        self.beat(agent, machine)
        self.souk("login", "eve")  # Logins are counted apart.
        self.beat(agent, machine)


class SpendingTokens(HostileTest):
    """Row 27: a token of a script that leaked or went mad takes no more than its limit."""

    def spend(self, limit, token=None, **more):
        return self.good("POST", "/v1/tokens", {"scope": "spend", "limit": limit, "expires_in": "1h", **more},
                         token or self.bob)

    def submit(self, token, budget, key=None):
        return self.server.call("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": budget}, token, key=key)

    def use(self, token):
        items = self.good("GET", "/v1/tokens", token=token)["items"]
        self.assertEqual(len(items), 1, "it sees itself and no other token")
        return items[0]

    def test_many_at_once_never_pass_the_limit(self):
        token = self.spend(5)["token"]
        answers = []

        def flood():
            for _ in range(20):
                answers.append(self.submit(token, 0.3))
        threads = [threading.Thread(target=flood) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 160)
        good = [a for a in answers if a.status == 201]
        self.assertEqual(len(good), 16)  # 16 times 0.3 is 4.8.
        for refused in (a for a in answers if a.status != 201):
            self.assertEqual(refused.status, 409, refused.text)
            self.assertIn("can spend 5 credits in all: 0 are spent", refused.json["detail"])
        self.assertEqual(self.good("GET", "/v1/me", token=self.bob)["escrow"], 4.8)
        self.server.kill()  # The limit is part of the market's history.
        self.server.start()
        self.assertEqual(self.use(token)["reserved"], 4.8)
        self.assertEqual(self.submit(token, 0.3).status, 409)
        self.good("POST", f"/v1/jobs/{good[0].json['id']}/cancel", {}, token)
        self.assertEqual(self.submit(token, 0.5).status, 201)

    def test_a_repeat_counts_once(self):
        token = self.spend(5)["token"]
        for _ in range(5):
            self.assertEqual(self.submit(token, 2, key="once").status, 201)
        self.assertEqual(self.use(token)["reserved"], 2)

    def test_a_budget_that_is_raised_later_counts(self):
        token = self.spend(5)["token"]
        job = self.submit(token, 1).json["id"]
        for budget, status in ((6, 409), (5, 200), (5.1, 409), (4, 200)):
            answer = self.server.call("PATCH", f"/v1/jobs/{job}", {"budget": budget}, token)
            self.assertEqual(answer.status, status, answer.text)
        self.assertEqual(self.use(token)["reserved"], 4)
        self.assertEqual(self.submit(token, 1.1).status, 409)

    def test_what_was_paid_stays_spent(self):
        token = self.spend(2)["token"]
        machine = self.machine(self.eve)
        self.offer(self.eve, machine, 1)
        job = self.submit(token, 2).json["id"]

        def paid():
            for lease in self.beat(self.eve, machine):
                if lease["state"] == "granted":
                    self.good("POST", f"/v1/leases/{lease['id']}/start", {"epoch": lease["epoch"]}, self.eve)
            return self.good("GET", f"/v1/jobs/{job}", token=token)["spent"] > 0
        wait_for(paid, "pay")
        self.good("POST", f"/v1/jobs/{job}/cancel", {}, token)
        spent = self.good("GET", f"/v1/jobs/{job}", token=token)["spent"]
        use = self.use(token)
        self.assertEqual((use["spent"], use["reserved"]), (spent, 0))
        self.assertEqual(self.submit(token, 2).status, 409)

    def test_it_makes_no_token_and_reaches_nothing_else(self):
        own = self.job(self.bob)
        token = self.spend(5)["token"]
        refused = [
            ("POST", "/v1/tokens", {}), ("POST", "/v1/tokens", {"scope": "spend", "limit": 1, "expires_in": "1h"}),
            ("DELETE", "/v1/tokens", None), ("POST", "/v1/machines", {"name": "box"}),
            ("POST", "/v1/me/password", {"old_password": "x" * 12, "password": "y" * 12}),
            ("POST", "/v1/accounts/eve/grant", {"amount": 1}), ("GET", "/v1/ledger/statement", None),
            ("POST", "/v1/feedback", {"category": "idea", "text": "hello"}), ("GET", "/v1/events?wait=1ms", None)]
        for method, path, body in refused:
            answer = self.server.call(method, path, body, token)
            self.assertEqual(answer.status, 403, f"{method} {path}: {answer.text}")
        for method, path, body in (("GET", "", None), ("POST", "/cancel", {}), ("PATCH", "", {"budget": 2})):
            self.assertEqual(self.server.call(method, f"/v1/jobs/{own}{path}", body, token).status, 404)

    def test_it_ends(self):
        token = self.spend(5, expires_in="300ms")["token"]
        wait_for(lambda: self.submit(token, 0.1).status == 401, "the end of the token")


class Texts(HostileTest):
    def test_long_and_unseen_texts_are_refused(self):
        """Row 5: names of packages of any length filled journal and memory."""
        machine = self.machine(self.eve)
        for spec in ({"packages": ["x" * 60_000]}, {"packages": ["y" * 90] * 1000},
                     {"region": "r" * 5000}, {"provider": "a b"}, {"cpu": "c" * 5000}):
            answer = self.server.call("PATCH", f"/v1/machines/{machine}",
                                      {"spec": {"cores": 8, "memory_mib": 32768, **spec}}, self.eve)
            self.assertEqual(answer.status, 400, (list(spec), answer.text[:200]))
        for name in (" ", "a\u202eb", "\u200b"):
            answer = self.server.call("POST", "/v1/machines", {"name": name, "spec": {}}, self.eve)
            self.assertEqual(answer.status, 400, answer.text)
        answer = self.server.call("POST", "/v1/jobs", {
            "class": "c1", "limit": 1, "budget": 1,
            "constraints": {"packages": ["x" * 60_000]}}, self.bob)
        self.assertEqual(answer.status, 400, answer.text[:200])

    def test_changes_that_change_nothing_are_not_journaled(self):
        """Row 5: 2,000 PATCHes added 296 MiB to the journal."""
        machine = self.machine(self.eve)
        offer = self.offer(self.eve, machine)
        before = self.good("GET", "/healthz")["events"]
        for _ in range(20):
            self.good("PATCH", f"/v1/machines/{machine}", {"name": "box"}, self.eve)
            self.good("PATCH", f"/v1/offers/{offer}", {"price": 0.2}, self.eve)
            self.good("POST", f"/v1/offers/{offer}/resume", None, self.eve)
        self.assertLessEqual(self.good("GET", "/healthz")["events"] - before, 5)


class JournalBudget(HostileTest):
    flags = (*HostileTest.flags, "--budget", "journal-bytes=50K")

    def test_who_fills_the_journal_is_refused(self):
        """Row 5: what one account may add to the journal in a day is a budget."""
        machine = self.machine(self.eve)
        for i in range(30):
            spec = {"cores": 8, "memory_mib": 32768, "packages": [f"p{i}-{n}" for n in range(500)]}
            answer = self.server.call("PATCH", f"/v1/machines/{machine}", {"spec": spec}, self.eve)
            if answer.status != 200:
                break
        self.assertEqual(answer.status, 429, answer.text[:300])
        self.assertIn("journal-bytes", answer.text)
        self.assertLess(i, 20)
        self.job(self.bob)


class Words(HostileTest):
    def test_why_knows_what_a_mechanism_needs(self):
        """A lone borrower beside two offers under McAfee was told that the next round decides."""
        self.souk("class", "set", "c1", "--mechanism", "mcafee", token=self.ann)
        for i in range(2):
            machine = self.machine(self.ann, f"m{i}")
            self.offer(self.ann, machine)
            self.beat(self.ann, machine)
        job = self.job(self.bob)
        said = self.souk("why", job, token=self.bob).stdout
        self.assertRegex(re.sub(r"\s+", " ", said), "fewer than 2 bids and 2 asks")

    def test_the_lab_gives_the_real_reason(self):
        """`lab spot --period 24h` was refused because of a restart that was not the reason."""
        prices = os.path.join(self.folder, "prices.csv")
        with open(prices, "w", encoding="utf-8") as out:
            out.write("timestamp,region,az,instance_type,product,spot_price_usd_per_hour\n")
            for day in range(1, 20):
                out.write(f"2026-01-{day:02}T00:00:00Z,us,a,big,Linux,{1 + day / 100}\n")
        done = self.souk("lab", "spot", "--prices", prices, "--rate", "big=1", "--period", "24h", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("6h", done.stdout + done.stderr)
        self.assertNotIn("longer than a restart", done.stdout + done.stderr)

    def test_the_questions_people_ask_know_souk_lend(self):
        """The FAQ did not know `souk lend`."""
        self.assertIn("souk lend", self.server.call("GET", "/v1/faq").text)


if __name__ == "__main__":
    unittest.main()

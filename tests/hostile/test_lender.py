"""Attacks on a lender's machine, and by lenders who lie. Rows of the list in docs/hostile.md."""
import http.client
import os
import unittest

from lending import ON_PAPER, Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, wait_for
from test_blobs import manifest, name_of


@needs_sandbox
class Borrower(LendingTest):
    """What a borrower tries against the machine of a lender."""

    def machine(self):
        return self.good("GET", "/v1/machines", token=self.ann)["items"][0]

    def leases(self, job):
        return self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]

    def closed(self, job):
        """The job's first lease, once it is over."""
        return wait_for(lambda: next((l for l in self.leases(job) if l["state"] == "closed"), None),
                        "the end of the lease")

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout

    def test_work_in_the_set_up_is_billed(self):
        """Row 12: `setup: work; exit 1` computed for nothing, and its outputs came back."""
        self.agent("box")
        job = self.run_job("setup: sleep 2; echo computed > out; exit 1\nrun: 'true'\noutputs: [out]")
        lease = self.closed(job)
        self.assertEqual(lease["outcome"], "failed")
        self.assertGreater(lease["earned"], 0, "the lender is paid for the set-up")

    def test_a_set_up_that_never_ends_is_not_the_lenders_fault(self):
        """Row 13: `setup: sleep 700` cost a lender a fifth of the reliability each time."""
        self.good("PATCH", "/v1/settings", {"setup": "2s"}, self.ann)
        self.agent("box")
        before = self.machine()["reliability"]
        job = self.run_job("setup: sleep 4; exit 1\nrun: 'true'")
        self.closed(job)
        self.assertGreaterEqual(self.machine()["reliability"], before)

    def test_files_that_do_not_fit_are_not_the_lenders_fault(self):
        """A variant of row 13: a folder that cannot be laid out in the scratch."""
        self.agent("box")
        before = self.machine()["reliability"]
        # The input is shown where the working folder has a file.
        job = self.run_job("workdir: project\nrun: 'true'\ninputs: [{path: data/deep, folder: project}]\n",
                           data="a file, not a folder")
        self.closed(job)
        self.assertGreaterEqual(self.machine()["reliability"], before)

    def test_a_link_tells_nothing_of_the_host(self):
        """Row 21: `.souk-ready` as a link made the lease start only if a path of the host exists."""
        self.agent("box")
        there = os.path.join(self.folder, "there")
        with open(there, "w", encoding="utf-8") as f:
            f.write("private")
        started = []
        for target in (there, os.path.join(self.folder, "not-there")):
            job = self.run_job(f"setup: ln -s {target} .souk-ready; sleep 1; exit 1\nrun: 'true'")
            started.append("started" in self.closed(job))
        self.assertEqual(started[0], started[1], "whether the path exists makes no difference")

    def test_outputs_and_checkpoints_that_are_links_bring_no_file_of_the_host(self):
        """Row 21, for all else that the agent reads in the scratch."""
        self.agent("box")
        secret = os.path.join(self.folder, "secret")
        os.makedirs(secret)
        with open(os.path.join(secret, "key"), "w", encoding="utf-8") as f:
            f.write("private")
        job = self.run_job(f"run: ln -s {secret} ckpt; ln -s {secret}/key out; mkdir d;"
                           f" ln -s {secret} d/in; mkfifo pipe; echo fine > good; sleep 2\n"
                           "outputs: [out, d, pipe, good]\ncheckpoint: {path: ckpt, every: 1s}")
        self.assertEqual(self.closed(job)["outcome"], "completed")
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        found = [os.path.join(at, name) for at, _, names in os.walk(out) for name in names]
        self.assertEqual([os.path.relpath(f, out) for f in found if not os.path.islink(f)], ["good"])
        part = self.good("GET", f"/v1/jobs/{job}/parts", token=self.bob)["items"][0]
        self.assertNotIn("private", str(part))


@needs_sandbox
class Paper(LendingTest):
    def test_a_machine_that_proved_nothing_gets_no_lease(self):
        """Row 15: a machine on paper, at the lowest price. The honest one is asked before it lends."""
        machine = self.good("POST", "/v1/machines",
                            {"name": "paper", "spec": {"cores": 4096, "memory_mib": 1 << 20}}, self.ann)
        self.good("POST", "/v1/offers", {"machine": machine["id"], "class": "c1", "slots": 100,
                                         "price": 0.01}, self.ann)
        self.good("POST", f"/v1/machines/{machine['id']}/heartbeat", {"leases": []}, self.ann)
        job = self.run_job("run: 'true'")
        carl = self.sign_up("carl")
        self.agent("honest", token=carl)
        self.souk("job", "wait", job, "--timeout", "120s", token=self.bob)
        leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        self.assertEqual([l["lender"] for l in leases], ["carl"])


@needs_sandbox
class Liar(LendingTest):
    """What a lender tries who has less than it claims."""

    flags = ("--round", "200ms", "--requests", "0", "--challenge-every", "6h")

    def machine(self, name):
        return next(m for m in self.good("GET", "/v1/machines", token=self.ann)["items"]
                    if m["name"] == name)

    def lend(self, name, cores, memory):
        """An agent that claims so much."""
        return Agent(self, self.ann, name, "--share-cores", "--cores", str(cores), "--memory", memory, "--price", "0.1")

    def refused(self, agent, name):
        """It was asked and did not pass: it lends nothing."""
        wait_for(lambda: "challenge" in agent.text(), "a challenge", 10 * DEADLINE_S)
        self.assertNotIn("met a challenge", agent.text())
        self.assertIn("challenge", self.machine(name)["doubted"])
        offers = self.good("GET", "/v1/offers", token=self.ann)["items"]
        self.assertEqual([o["state"] for o in offers], ["doubted"])

    def test_a_made_up_answer_is_a_lie(self):
        """Row 15: an agent that answers at once and computes nothing."""
        machine = self.good("POST", "/v1/machines",
                            {"name": "quick", "spec": {"cores": 2, "memory_mib": 64}}, self.ann)
        path = f"/v1/machines/{machine['id']}"
        asked = wait_for(lambda: self.good("POST", path + "/heartbeat", {"leases": []},
                                           self.ann).get("challenge"), "a challenge")
        verdict = self.good("POST", path + "/challenge",
                            {"id": asked["id"], "results": ["1"] * len(asked["seeds"])}, self.ann)
        self.assertFalse(verdict["good"])
        shown = self.good("GET", path, token=self.ann)
        self.assertIn("wrong", shown["doubted"])
        self.assertLess(shown["reliability"], machine["reliability"])

    def test_twice_the_cores_are_not_believed(self):
        """Row 15: cores that are not there."""
        agent = self.lend("cores", 2 * os.cpu_count(), "1G")
        self.refused(agent, "cores")

    def test_twice_the_memory_is_not_believed(self):
        """Row 15: memory that is not there."""
        with open("/proc/meminfo", encoding="utf-8") as f:
            kib = int(f.readline().split()[1])
        agent = self.lend("memory", 1, f"{2 * kib // 1024}M")
        self.refused(agent, "memory")


@needs_sandbox
class Idler(LendingTest):
    """A batch lender who runs nothing and reports success."""

    flags = ("--round", "200ms", "--requests", "0", *ON_PAPER)

    def send(self, content, token):
        """Uploads a chunk; its name."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
        try:
            connection.request("PUT", "/v1/blobs/" + name_of(content), b"\0" + content,
                               {"Authorization": "Bearer " + token})
            self.assertEqual(connection.getresponse().status, 200)
        finally:
            connection.close()
        return name_of(content)

    def lie(self, token, machine):
        """Takes the machine's one lease and reports a result that nobody computed."""
        path = f"/v1/machines/{machine}"

        def granted():
            self.good("POST", path + "/heartbeat", {"leases": []}, token)
            return self.good("GET", path + "/work", token=token)["leases"]
        lease = wait_for(granted, "a lease")[0]
        at = f"/v1/leases/{lease['id']}"
        self.good("POST", at + "/start", {"epoch": lease["epoch"]}, token)
        made_up = manifest([("out", 5, [self.send(b"wrong", token)])])
        self.good("POST", at + "/finish", {"epoch": lease["epoch"], "outcome": "completed",
                                           "detail": "exited with code 0",
                                           "result": self.send(made_up, token)}, token)
        return lease["id"]

    def test_a_result_that_nobody_computed_is_not_paid(self):
        """Row 16: with `replicate: 2` the odd one out gets nothing, and the result is right."""
        carl, dora = self.sign_up("carl"), self.sign_up("dora")
        offer = self.lend(carl, name="idler", slots=1, price=0.01)
        job = self.run_job("workdir: project\nrun: cat in > out; sleep 1\noutputs: [out]\n"
                           "replicate: 2", **{"in": "right"})
        lie = self.lie(carl, offer["machine"])
        self.good("POST", f"/v1/offers/{offer['id']}/pause", {}, carl)
        self.agent("first")
        self.agent("second", token=dora)
        self.souk("job", "wait", job, "--timeout", "120s", token=self.bob)
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, "out"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "right")
        leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        self.assertEqual({l["lender"]: l["earned"] > 0 for l in leases},
                         {"carl": False, "ann": True, "dora": True})
        self.assertEqual([l["lender"] for l in leases if l["id"] == lie], ["carl"])
        machine = self.good("GET", f"/v1/machines/{offer['machine']}", token=carl)
        self.assertLess(machine["reliability"], 0.9)
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

    def test_a_lender_who_runs_nothing_is_caught_by_a_probe(self):
        """Row 16: the operator knows a result; who gives another is not paid, who gives it is."""
        carl, dora = self.sign_up("carl"), self.sign_up("dora")
        self.souk("account", "grant", "ann", "10", token=self.ann)
        self.souk("settings", "set", "probes=0.5", token=self.ann)
        expected = os.path.join(self.folder, "expected")
        os.makedirs(expected)
        with open(os.path.join(expected, "out"), "w", encoding="utf-8") as f:
            f.write("right")
        path = self.job_file("name: sums\nworkdir: project\nrun: cat in > out\noutputs: [out]\n"
                             "price: {limit: 1, budget: 5}\n", **{"in": "right"})
        probe = self.json("probe", "add", path, "--expect", expected, token=self.ann)["id"]

        def used(times):
            shown = self.json("probe", "list", token=self.ann)["items"][0]
            return shown if shown["done"] == times else None
        self.agent("honest", token=dora)
        job = self.run_job("run: echo work > out\noutputs: [out]")
        self.souk("job", "wait", job, "--timeout", "120s", token=self.bob)
        self.assertEqual(wait_for(lambda: used(1), "the probe on the honest machine")["wrong"], 0)
        offer = self.lend(carl, name="idler", slots=1, price=0.01)
        self.run_job("run: echo more > out\noutputs: [out]")
        self.lie(carl, offer["machine"])
        before = self.good("GET", f"/v1/machines/{offer['machine']}", token=carl)["reliability"]
        lie = self.lie(carl, offer["machine"])
        self.assertEqual(wait_for(lambda: used(2), "the probe on the idle machine")["wrong"], 1)
        leases = {l["lender"]: l for l in
                  self.good("GET", f"/v1/jobs/{probe}/leases", token=self.ann)["items"]}
        self.assertEqual(leases["carl"]["id"], lie)
        self.assertEqual(leases["carl"]["earned"], 0)
        self.assertLess(self.good("GET", f"/v1/machines/{offer['machine']}",
                                  token=carl)["reliability"], before)
        # What a lender sees of its lease is what it sees of any other.
        seen = self.good("GET", "/v1/leases", token=carl)["items"]
        self.assertEqual(*({name for name in l if name != "detail"} for l in seen))
        self.assertEqual(self.server.call("GET", f"/v1/jobs/{probe}", token=carl).status, 404)
        self.souk("probe", "remove", probe, token=self.ann)
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

    def test_only_an_operator_names_a_result(self):
        """A borrower who names a wrong one would have work for nothing."""
        path = self.job_file("run: echo 1 > out\noutputs: [out]\nprice: {limit: 1, budget: 5}\n")
        refused = self.souk("probe", "add", path, "--expect", "0" * 64, token=self.bob, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("operator", refused.stderr)


if __name__ == "__main__":
    unittest.main()

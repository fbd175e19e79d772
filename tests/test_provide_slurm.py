"""Machines on demand from a real Slurm: started for a job, drained, requeued, stopped, never forgotten."""
import json
import os
import signal
import subprocess
import unittest

from lending import LendingTest, needs_sandbox
from line import Line
from slurm import Slurm, needs_slurm
from souk import DEADLINE_S, SOUK, wait_for


class Provider:
    """A `souk provide` process."""

    def __init__(self, test, *argv, env=None):
        self.test, self.argv = test, argv
        self.path = os.path.join(test.folder, "provide.log")
        full = {k: v for k, v in os.environ.items() if not k.startswith(("SOUK_", "SLURM", "SBATCH", "SQUEUE"))}
        full.update(SOUK_SERVER=test.server.url, SOUK_TOKEN=test.ann, HOME=test.folder,
                    SLURM_CONF=test.slurm.conf)
        full.update(env or {})
        self.env = full
        test.addCleanup(self.kill)
        self.start()

    def start(self, **env):
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen([SOUK, "provide", *self.argv], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, env={**self.env, **env})
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE_S)

    def text(self):
        with open(self.path, encoding="utf-8") as log:
            return log.read()


@needs_slurm
@needs_sandbox
class SlurmTest(LendingTest):
    def setUp(self):
        super().setUp()
        path = os.path.join(self.folder, "slurm")
        os.makedirs(path)
        self.slurm = Slurm(path)
        self.addCleanup(self.slurm.end)
        self.slurm.start()

    def provide(self, *flags, most=2, price=0.3, partition="idle", **env):
        return Provider(self, "slurm", "--partition", partition, "--max", str(most), "--price",
                        str(price), "--lifetime", "10m", "--every", "300ms", *flags, env=env)

    def provide_cli(self, *args, check=True):
        return self.souk("provide", *args, token=self.ann, check=check,
                         env={"SLURM_CONF": self.slurm.conf})

    def status(self):
        return json.loads(self.provide_cli("status", "--json").stdout)["pools"]

    def running(self):
        return [j for j, s in self.slurm.queue().items() if s in ("RUNNING", "COMPLETING", "PENDING")]

    def state_of(self, job):
        return self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"]

    def test_a_job_that_nobody_serves_gets_a_node_and_gives_it_back(self):
        provider = self.provide("--idle", "5s")
        job = self.run_job("run: echo hello > answer\noutputs: [answer]\nworkers: 1")
        wait_for(lambda: self.state_of(job) == "succeeded", "the job", 5 * DEADLINE_S)
        # Nobody wants it any more.
        wait_for(lambda: not self.running(), "the node to be given back", 2 * DEADLINE_S)
        wait_for(lambda: not self.good("GET", "/v1/machines", token=self.ann)["items"],
                 "the machine to leave the market")
        self.assertIn("started", provider.text())
        [pool] = self.status()
        self.assertEqual((pool["machines"], pool["ended"]), ([], 1))

    def test_a_dry_run_starts_nothing_and_says_the_worst_bill(self):
        self.run_job("run: sleep 60\nworkers: 1..3")
        said = json.loads(self.provide_cli(
            "slurm", "--partition", "idle", "--max", "4", "--cost", "0.5", "--max-spend", "7",
            "--dry-run", "--json").stdout)
        self.assertEqual(said["would_start"], 3)
        self.assertEqual(said["worst_case"], {"per_hour": 2, "per_day": 48, "in_all": 7})
        self.assertEqual(said["price"], 0.5)
        self.assertEqual(self.running(), [])
        self.assertEqual(self.status(), [])

    def test_a_price_below_the_bill_and_a_bill_without_a_ceiling_are_refused(self):
        common = ("slurm", "--max", "2", "--cost", "0.5", "--dry-run")
        low = self.provide_cli(*common, "--max-spend", "7", "--price", "0.1", check=False)
        self.assertEqual(low.returncode, 2)
        self.assertIn("does not cover the bill", low.stderr)
        free = self.provide_cli(*common, check=False)
        self.assertEqual(free.returncode, 2)
        self.assertIn("--max-spend", free.stderr)

    def test_demand_below_the_price_starts_nothing(self):
        line = Line(self, self.server.port)
        provider = self.provide(price=3, SOUK_SERVER=line.url)
        self.run_job("run: sleep 60\nworkers: 1")
        wait_for(lambda: "providing" in provider.text(), "the provider")
        looks = self.good("GET", "/v1/book?class=c1", token=self.ann)
        self.assertEqual(sum(level["slots"] for level in looks["bids"]), 1)
        # It has looked again and again, since the job is in the book.
        seen = len(line.requests)
        wait_for(lambda: sum("/v1/book" in request for request in line.requests[seen:]) > 3, "some rounds")
        self.assertEqual(self.running(), [])

    def test_stop_all_leaves_nothing_running_also_after_kill_9_and_an_empty_journal(self):
        provider = self.provide("--min", "2")
        wait_for(lambda: len(self.running()) == 2, "two jobs")
        provider.kill()
        self.assertEqual(len(self.running()), 2, "the machines do not depend on the provider")
        self.provide_cli("stop", "--all")
        self.assertEqual(self.running(), [])
        # And with the provider running: it ends by itself.
        provider.start()
        wait_for(lambda: len(self.running()) == 2, "two jobs again")
        self.provide_cli("stop", "--pool", "slurm")
        self.assertEqual(self.running(), [])
        self.assertEqual(provider.process.wait(DEADLINE_S), 0)
        # With the journal lost, machines are found by their names.
        provider.start()
        wait_for(lambda: len(self.running()) == 2, "two jobs")
        provider.kill()
        os.remove(os.path.join(self.folder, ".local/state/souk/provide/slurm/intents.log"))
        provider.argv = ("slurm", "--max", "0", "--every", "200ms")
        provider.start()
        wait_for(lambda: not self.running(), "jobs of a lost journal to be cancelled")

    def test_a_kill_between_any_two_steps_forgets_and_doubles_nothing(self):
        for place in ("provide-admitted", "provide-intended", "provide-called"):
            with self.subTest(place):
                provider = self.provide("--min", "1", most=1, SOUK_KILL_AT=f"{place}:1")
                provider.process.wait(DEADLINE_S)
                self.assertLess(provider.process.returncode, 0)
                before = set(self.running())
                self.assertEqual(len(before), 1 if place == "provide-called" else 0)
                provider.env.pop("SOUK_KILL_AT")
                provider.start()
                if before:
                    wait_for(lambda: "started" in self.journal(), "the job to be found again", 2 * DEADLINE_S)
                    self.assertEqual(set(self.running()), before)
                self.provide_cli("stop", "--all", "--wait", "5m")
                self.assertEqual(self.running(), [])
                wait_for(lambda: not self.good("GET", "/v1/machines", token=self.ann)["items"],
                         "the machines to leave the market")

    def journal(self):
        path = os.path.join(self.folder, ".local/state/souk/provide/slurm/intents.log")
        with open(path, encoding="utf-8") as log:
            return log.read()

    def test_a_preempted_node_drains_and_comes_back(self):
        provider = self.provide("--min", "1", "--cores", "2", most=1, partition="low")
        wait_for(lambda: "RUNNING" in self.slurm.queue().values(), "the agent's job")
        online = lambda: [m for m in self.good("GET", "/v1/machines", token=self.ann)["items"]
                          if m["online"] and m["offers"]]
        wait_for(online, "the agent")
        [(agent, _)] = self.slurm.queue().items()
        # It does not end by itself before it has moved.
        job = self.run_job("run: '[ -e kept/x ] || { mkdir -p kept; touch kept/x; sleep 1000; }; echo done > answer'\n"
                           "checkpoint: {path: kept, every: 1s}\noutputs: [answer]\nworkers: 1")
        parts = lambda: self.good("GET", f"/v1/jobs/{job}/parts", token=self.bob)["items"]
        wait_for(lambda: parts() and parts()[0].get("checkpoint"), "a checkpoint")
        self.slurm.call("sbatch", "--parsable", "--partition=idle", "--cpus-per-task=8",
                                "--output=/dev/null", "--wrap=sleep 2")
        wait_for(lambda: self.slurm.queue().get(agent) in ("PENDING", "COMPLETING", None),
                 "the preemption", 2 * DEADLINE_S)
        leases = lambda: self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        wait_for(lambda: leases()[-1].get("outcome"), "the end of the lease", 2 * DEADLINE_S)
        self.assertEqual([x["outcome"] for x in leases()], ["released"])
        # Slurm starts it again when the node is free, and the same machine goes on.
        wait_for(lambda: self.slurm.queue().get(agent) == "RUNNING", "the same Slurm job again", 5 * DEADLINE_S)
        wait_for(lambda: self.state_of(job) == "succeeded", "the job, on the same node again", 5 * DEADLINE_S)
        self.assertEqual(len(self.status()[0]["machines"]), 1, provider.text())
        self.provide_cli("stop", "--all")

    def test_an_agent_ends_by_itself_when_it_has_no_lease_and_when_it_has_no_market(self):
        provider = self.provide("--min", "1", "--alone", "2s", most=1)
        wait_for(lambda: self.running(), "the job")
        wait_for(lambda: [m for m in self.good("GET", "/v1/machines", token=self.ann)["items"]
                          if m["online"] and m["offers"]], "the agent")
        provider.kill()
        self.server.kill()
        wait_for(lambda: not self.running(), "an agent without a market to end")


if __name__ == "__main__":
    unittest.main(verbosity=2)

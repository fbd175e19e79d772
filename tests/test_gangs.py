"""Gangs with the real binary: all workers or none, a network of their own, begun and ended together."""
import os
import re
import socket
import subprocess
import unittest

import netns
from gang_kills import run_gangs
from lending import LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for

needs_tun = unittest.skipUnless(os.access("/dev/net/tun", os.R_OK | os.W_OK),
                                "/dev/net/tun cannot be opened: modprobe tun")

# Each worker tells the next who it is; the last tells the first.
RING = """
import os, socket, threading, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
server = socket.create_server(("", 4000))
def tell():
    while True:
        try:
            with socket.create_connection((f"worker-{(rank + 1) % world}", 4000), 5) as to:
                to.sendall(f"{rank} {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}".encode())
            return
        except OSError:
            time.sleep(0.02)
thread = threading.Thread(target=tell)
thread.start()
peer, address = server.accept()
with peer:
    print("heard", peer.recv(100).decode(), "at", address[0], "as", socket.gethostname(), flush=True)
thread.join()
open("mine", "w").write(str(rank))
"""

# Worker 0 counts, and keeps the count; the others hang on it until it has counted to the end. The first start of the gang
# does not get there.
COUNT = """
import os, socket, sys, time
rank, last = int(os.environ["RANK"]), int(sys.argv[1])
os.makedirs("kept", exist_ok=True)
begin = int(open("kept/n").read()) if os.path.exists("kept/n") else 0
print("worker", rank, "begins with", begin, "after", os.environ["SOUK_RESTART"], flush=True)
if rank == 0:
    server = socket.create_server(("", 4000))
    peers = [server.accept()[0] for _ in range(int(os.environ["WORLD_SIZE"]) - 1)]
    n = begin
    while n < last:
        time.sleep(0.1)
        if n < last - 1 or os.environ["SOUK_RESTART"] != "0":
            n += 1
            open("kept/n.new", "w").write(str(n))
            os.rename("kept/n.new", "kept/n")
        for peer in peers:
            peer.sendall(b"x")
            if not peer.recv(1): sys.exit(3)
else:
    while True:
        try:
            peer = socket.create_connection(("worker-0", 4000), 5)
            break
        except OSError:
            time.sleep(0.02)
    while peer.recv(1):
        peer.sendall(b"y")
"""


@needs_sandbox
@needs_tun
class GangTest(LendingTest):
    def agents(self, n, *flags, first=0):
        return [self.agent(f"box{i}", *flags) for i in range(first, first + n)]

    def wait_job(self, job, check=True):
        return self.souk("job", "wait", job, "--timeout", "5m", "--json", token=self.bob, check=check)

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}", token=self.bob)

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout

    def leases(self, job):
        return self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]

    def check_ledger(self):
        ledger = self.json("ledger", token=self.ann)
        self.assertEqual(ledger["sum"], 0)
        self.assertEqual([r for r in ledger["accounts"] if r["escrow"] != 0], [])

    def meet_by(self, way, agents):
        """Until workers of a gang reach each other that way: whoever is slow takes another that works as well."""
        text = "kind: gang\nworkers: 2\nworkdir: project\nrun: python3 ring.py"
        for _ in range(10):
            if way in agents[0].text():
                return
            self.wait_job(self.run_job(text, ring_py=RING))
        self.assertIn(way, agents[0].text())

    def file_of(self, job, rank, name):
        out = os.path.join(self.folder, "results-" + job)
        if not os.path.exists(out):
            self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, str(rank), name), encoding="utf-8") as f:
            return f.read()


class Together(GangTest):
    def test_two_agents_on_one_host_form_a_gang_and_one_does_not(self):
        agents = self.agents(1)
        job = self.run_job("kind: gang\nworkers: 2\nworkdir: project\nrun: python3 ring.py\noutputs: [mine]",
                           ring_py=RING)
        why = wait_for(lambda: self.json("why", job, token=self.bob), "why")
        self.assertEqual((self.job(job)["held"], why["needed"]), (0, 2), "one machine is not held for it")
        agents += self.agents(1, first=1)
        self.wait_job(job)
        self.check_ring(job)
        leases = self.leases(job)
        self.assertEqual(len({l["started"] for l in leases}), 1, "billing begins in one moment")
        self.meet_by("1 direct", agents)
        self.check_ledger()

    def check_ring(self, job):
        logs = self.logs(job)
        for rank in range(2):
            self.assertIn(f"heard {1 - rank} worker-0:29500 at 10.64.0.{2 - rank} as worker-{rank}", logs)
            self.assertEqual(self.file_of(job, rank, "mine"), str(rank))

    def test_the_others_end_with_worker_0_where_the_job_says_so(self):
        self.agents(2)
        job = self.run_job("kind: gang\nworkers: 2\nuntil: worker-0\noutputs: [mine]\n"
                           "run: echo $RANK > mine; [ $RANK = 0 ] || sleep 1000")
        self.wait_job(job)
        self.assertEqual([self.file_of(job, rank, "mine") for rank in range(2)], ["0\n", "1\n"])
        self.check_ledger()

    def test_a_failure_is_told_with_its_worker(self):
        self.agents(2)
        job = self.run_job("kind: gang\nworkers: 2\nrun: '[ $RANK = 0 ] && sleep 1000; exit 7'")
        done = self.wait_job(job, check=False)
        self.assertIn("worker 1", done.stderr)
        self.assertIn("7", done.stderr)
        self.check_ledger()


class Losses(GangTest):
    def running_on(self, job, agents):
        """The agents that run it, by worker."""
        def started():
            found = {}
            for agent in agents:
                for rank in re.findall(r"worker (\d+) of a gang", agent.text())[-1:]:
                    found[int(rank)] = agent
            return found if len(found) == self.job(job)["workers"]["min"] else None
        return wait_for(started, "the gang")

    def test_a_lost_worker_restarts_the_gang_elsewhere_from_the_checkpoint(self):
        agents = self.agents(3)
        job = self.run_job("kind: gang\nworkers: 2\nworkdir: project\nrun: python3 count.py 60\n"
                           "checkpoint: {path: kept, every: 1s}\noutputs: [kept]", count_py=COUNT)
        at = self.running_on(job, agents)
        wait_for(lambda: self.good("GET", f"/v1/jobs/{job}/parts", token=self.bob)["items"][0].get("checkpoint"),
                 "a checkpoint")
        self.lose(at[1], job, "15s")
        self.wait_job(job)
        logs = self.logs(job)
        begins = [int(n) for n in re.findall(r"worker \d begins with (\d+) after 1", logs)]
        self.assertEqual(len(begins), 2, logs)
        self.assertGreater(min(begins), 0, "both begin with what worker 0 had kept")
        self.assertEqual(self.file_of(job, 0, "kept/n"), "60")
        self.assertEqual(self.job(job)["gang"]["restarts"], 1)
        self.check_ledger()

    def test_an_elastic_gang_goes_on_without_a_worker(self):
        agents = self.agents(3)
        job = self.run_job("kind: gang\nworkers: 2..3\n"
                           "run: 'echo $RANK of $WORLD_SIZE; while [ ! -e stop ]; do sleep 0.1; done'")
        wait_for(lambda: self.logs(job).count("of 3") == 3, "three workers")
        lost = next(l for l in self.job(job)["leases"] if l["part"] == 2)
        self.lose(next(a for a in agents if f"lease {lost['id']}:" in a.text()), job, "15s")
        wait_for(lambda: self.job(job)["held"] == 2, "the loss", 60)
        self.assertEqual(self.job(job)["gang"], {"phase": "running", "restarts": 0})
        # Another comes, and joins it.
        self.agents(1, first=9)
        wait_for(lambda: len([l for l in self.job(job)["leases"] if l["state"] == "running"]) == 3, "the newcomer")
        self.souk("cancel", job, token=self.bob)


class Kills(GangTest):
    def test_gangs_on_machines_that_are_killed_leave_nothing_behind(self):
        seen = run_gangs(self, gangs=3, size=2, agents=4, limit=10 * DEADLINE_S, losses=1)
        self.assertEqual(seen["states"], ["succeeded"], seen)
        self.assertEqual((seen["open"], seen["sum"], seen["escrow"]), (0, 0, 0), seen)
        self.assertGreaterEqual(seen["restarts"], 3, seen)


@unittest.skipUnless(netns.available(), "network namespaces cannot be made here: run it as root")
class Apart(GangTest):
    """Machines that reach the market and not each other."""

    def relay(self, host, *flags):
        """Its address."""
        env = {"SOUK_TOKEN": self.ann, "HOME": self.folder, "PATH": os.environ["PATH"]}
        process = subprocess.Popen(
            [SOUK, "relay", "--server", self.server.url, "--listen", host + ":0", *flags],
            stdout=subprocess.PIPE, text=True, env=env)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return re.search(r"listening on ([\d.]+:\d+),", process.stdout.readline()).group(1)

    def test_they_meet_at_the_market_or_at_a_relay(self):
        leaves = [netns.Leaf(self), netns.Leaf(self)]
        hub = leaves[0].hub
        market = self.relay(hub)
        with socket.create_server((hub, 0)) as listening:
            for leaf in leaves:
                self.assertTrue(leaf.reaches(hub, listening.getsockname()[1], DEADLINE_S))
        self.assertFalse(leaves[0].reaches(leaves[1].address, 22), "they do not reach each other")
        agents = [self.agent(f"leaf{i}", leaf=leaf, server="http://" + market) for i, leaf in enumerate(leaves)]
        text = "kind: gang\nworkers: 2\nworkdir: project\nrun: python3 ring.py"
        self.wait_job(self.run_job(text, ring_py=RING))
        self.assertIn("1 by the market", agents[0].text())
        self.relay(hub, "--gangs")
        wait_for(lambda: self.good("GET", "/v1/relays", token=self.ann)["items"], "the relay")
        job = self.run_job(text, ring_py=RING)
        self.wait_job(job)
        self.meet_by("1 by a relay", agents)
        self.assertIn("heard 1 worker-0:29500 at 10.64.0.2 as worker-0", self.logs(job))
        self.check_ledger()


if __name__ == "__main__":
    unittest.main()

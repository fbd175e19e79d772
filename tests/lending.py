"""What tests with real agents share: `souk lend` processes and a market of ann and bob."""
import os
import shutil
import subprocess
import unittest

from souk import DEADLINE_S, SOUK, MarketTest, wait_for

# Machines prove what they have, as at any market, and may take longer: tests have more agents than cores.
PROVED = ("--challenge-every", "6h", "--challenge-slack", "20")
ON_PAPER = ("--challenge-every", "0s")  # Machines that a test plays prove nothing.

needs_sandbox = unittest.skipUnless(
    shutil.which("bwrap"), "bubblewrap is not installed: scripts/setup installs it")


class Agent:
    """A `souk lend` process. It has met its first challenge, where the market gives it the time (PROVED)."""

    def __init__(self, test, token, name, *flags, user=None, named=True, leaf=None, server=None, proves=True):
        self.folder = os.path.join(test.folder, "agent-" + name)
        os.makedirs(self.folder)
        self.log = open(os.path.join(test.folder, f"agent-{name}.log"), "ab")
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        # Tests have more agents than this machine has cores.
        env.update(SOUK_SERVER=server or test.server.url, SOUK_TOKEN=token, HOME=self.folder,
                   SOUK_CORE_SCOPE=self.folder[-80:],
                   XDG_CACHE_HOME=self.folder, XDG_CONFIG_HOME=os.path.join(self.folder, "config"))
        command = [SOUK, "lend", *(("--name", name) if named else ()), *flags]
        if user is not None:
            os.chown(self.folder, user, user)
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        if leaf is not None:  # A network of its own (netns.py).
            command = leaf.inside(command)
        self.command, self.env = command, env
        test.addCleanup(self.end)
        self.start()
        if proves and "--challenge-slack" in test.server.flags:
            wait_for(lambda: "met a challenge" in self.text(), "the challenge to be met", 10 * DEADLINE_S)

    process = None

    def start(self):
        """Also again, after its process has ended."""
        before = len(self.text())
        self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        wait_for(lambda: "lending " in self.text()[before:] or self.process.poll() is not None,
                 "the agent")
        if self.process.poll() is not None:
            raise AssertionError(self.text())

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def text(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.log.close()


class CpuGroup:
    """What the kernel allows the control group of a process, and does to it."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
            groups = [line.rstrip("\n").split(":", 2)[1:] for line in f]
        # Version 1 has a tree for the processor; in version 2 there is one tree.
        names, path = next((g for g in groups if "cpu" in g[0].split(",")), None) or \
            next(g for g in groups if not g[0])
        tree = os.path.join("/sys/fs/cgroup", names)
        whole = tree + path
        # In a container the path may begin above the tree.
        self.folder = whole if os.path.isdir(whole) else os.path.join(tree, os.path.basename(path))

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="ascii") as f:
            return f.read().split()

    def cores(self):
        if os.path.exists(os.path.join(self.folder, "cpu.max")):
            quota, period = self.read("cpu.max")
        else:
            (quota,), (period,) = self.read("cpu.cfs_quota_us"), self.read("cpu.cfs_period_us")
        return int(quota) / int(period)

    def throttled(self):
        stat = self.read("cpu.stat")
        return int(stat[stat.index("nr_throttled") + 1])


class LendingTest(MarketTest):
    """A test with a market where ann lends and bob borrows."""

    flags = ("--round", "200ms", "--requests", "0", *PROVED)  # All machines are at one address.

    def setUp(self):
        super().setUp()
        self.ann, self.bob = self.sign_up("ann"), self.sign_up("bob")
        # No machine is lost because this computer is busy: lose() is for tests of losses.
        self.good("PATCH", "/v1/settings",
                  {"shortest_term": "1s", "drain": "60s", "settle_every": "1s", "silence": "60s",
                   "term": "10m"}, self.ann)
        self.souk("account", "grant", "bob", "100", token=self.ann)

    def agent(self, name, *flags, token=None, **more):
        price = () if "--price" in flags else ("--price", "0.1")
        return Agent(self, token or self.ann, name, "--cores", "1", "--memory", "1G", *price, *flags, **more)

    def lose(self, agent, job, silence="5s"):
        """Kills an agent that has a lease of the job, and waits until the market has missed it. The market
        is impatient for that long only. If other machines are at work then, give them 15s."""
        def lost():
            leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
            return sum(lease.get("outcome") == "lost" for lease in leases)
        before = lost()
        agent.kill()
        self.set_silence(silence)
        wait_for(lambda: lost() > before, "the loss to be noticed", 2 * DEADLINE_S)
        self.set_silence("60s")

    def job_file(self, text, **files):
        folder = os.path.join(self.folder, "project")
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            path = os.path.join(folder, name.replace("__", "/").replace("_", "."))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(content)
        path = os.path.join(self.folder, "job.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def run_job(self, text, **files):
        path = self.job_file(text + "\nprice: {limit: 1, budget: 5}\n", **files)
        return self.json("run", path, "--yes", token=self.bob)["id"]

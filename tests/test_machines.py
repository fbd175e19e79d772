"""Lending machines as they are: without control groups, beside other agents, with a disk, with GPUs."""
import os
import signal
import stat
import subprocess
import unittest

from gpus import GpuAgent, needs_made_up_gpu
from lending import ON_PAPER, Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for

kNoGroups = {"SOUK_CGROUPS": "/nonexistent"}


class OddAgent(Agent):
    """An agent with more in its environment, and maybe on some of the cores."""

    def __init__(self, test, name, *flags, env=None, cores=None):
        self.more, self.cores = env or {}, cores
        super().__init__(test, test.ann, name, "--memory", "1G", "--price", "0.1", *flags)

    def start(self):
        self.env.update(self.more)
        if self.cores and self.command[0] != "taskset":
            self.command = ["taskset", "-c", self.cores, *self.command]
        super().start()


@needs_sandbox
class MachineTest(LendingTest):
    def wait_job(self, job, check=True):
        return self.souk("job", "wait", job, "--timeout", "120s", "--json", token=self.bob, check=check)

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout


class Memory(MachineTest):
    def test_without_control_groups_memory_is_watched_and_maps_are_free(self):
        agent = OddAgent(self, "plain", "--cores", "1", env=kNoGroups)
        self.assertIn("Memory is watched", agent.text())
        maps = self.run_job("run: python3 -c \"import mmap; m = mmap.mmap(-1, 100<<30, "
                            "flags=mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS|0x4000); m[0] = 1; print('ran')\"")
        self.wait_job(maps)
        self.assertEqual(self.logs(maps), "ran\n")
        # The slot has 1 GiB and half as much scratch; four children take 500 MiB each.
        greedy = self.run_job("run: python3 -c \"import os,time; [os.fork() for _ in range(2)]; "
                              "x = bytearray(b'x')*(500<<20); time.sleep(60); print('survived')\"")
        self.wait_job(greedy, check=False)
        said = self.logs(greedy)
        self.assertIn("out of memory: the limit is 1024 MiB and 512 MiB of scratch, and ", said)
        self.assertNotIn("survived", said)
        again = self.run_job("run: echo lives")
        self.wait_job(again)
        self.assertEqual(self.logs(again), "lives\n")
        self.assertIsNone(agent.process.poll())

    def test_a_shell_that_systemd_knows_lends_in_a_scope_of_its_own(self):
        # A systemd-run that notes how it was asked, and does what the real one does last.
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder)
        asked = os.path.join(self.folder, "asked")
        script = os.path.join(folder, "systemd-run")
        with open(script, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\necho \"$@\" >> {asked}\n"
                      "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
        os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
        env = {**kNoGroups, "PATH": folder + ":" + os.environ["PATH"]}
        agent = OddAgent(self, "scoped", "--cores", "1", env=env)
        with open(asked, encoding="utf-8") as lines:
            trial, real = lines.read().splitlines()
        self.assertRegex(trial, r"--scope .*-p Delegate=yes -- true$")
        self.assertRegex(real, r"Delegate=yes -- \S*souk lend --name scoped ")
        self.assertIn("--user" if os.geteuid() else "--scope", real)
        # The fake one gives no group, so what is left is the watch; and it did not ask again.
        self.assertIn("Memory is watched", agent.text())


class Cores(MachineTest):
    def test_agents_in_disjoint_cpusets_lend_what_they_may_and_others_are_refused(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two cores")
        first, second = sorted(os.sched_getaffinity(0))[:2]
        env = {**kNoGroups, "SOUK_CORE_SCOPE": self.folder[-80:]}
        agents = [OddAgent(self, f"on{core}", env=env, cores=str(core)) for core in (first, second)]
        for agent, core in zip(agents, (first, second)):
            self.assertIn(f"cores: {core}\n", agent.text())
        offers = self.good("GET", "/v1/offers?mine=true", token=self.ann)["items"]
        self.assertEqual([o["slots"] for o in offers], [1, 1])
        with self.assertRaisesRegex(AssertionError, "all cores .* are lent already: .* by process "
                                                    f"{agents[0].process.pid} "):
            OddAgent(self, "third", env=env)
        job = self.run_job("workers: 2\nrun: sleep 1; grep Cpus_allowed_list /proc/self/status")
        self.wait_job(job)
        ran_on = sorted(self.souk("logs", job, "--worker", str(i), token=self.bob).stdout.split()[-1]
                        for i in range(2))
        self.assertEqual(ran_on, [str(first), str(second)])
        agents[0].kill()
        self.assertIn(f"cores: {first}\n", OddAgent(self, "next", env=env).text())

    def test_more_cores_than_allowed_are_refused(self):
        done = self.souk("lend", "--cores", "4096", token=self.ann, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not 4096", done.stderr)


@needs_made_up_gpu
class Gpus(MachineTest):
    # A GPU that is made up proves nothing.
    flags = ("--round", "200ms", "--requests", "0", *ON_PAPER)

    def agent(self, name, *flags):
        return GpuAgent(self, self.ann, name, "--cores", "1", "--memory", "1G", "--price", "0.1", *flags,
                        gpus_of=self.folder)

    def setUp(self):
        super().setUp()
        self.souk("class", "set", "g0", "--cores", "1", "--memory", "1G", "--gpus", "1", "--gpu-memory", "1G",
                  "--price", "1", token=self.ann)

    def test_a_gpu_is_lent_by_one_agent_and_the_others_hear_which(self):
        first = self.agent("first")
        self.assertIn("1 x g0", first.text())
        second = self.agent("second")
        self.assertIn("not lent here: GPU 0 (NVIDIA H200) by process", second.text())
        self.assertIn(f"by process {first.process.pid} of user", second.text())
        self.assertNotIn("x g0", second.text())
        with self.assertRaisesRegex(AssertionError, "0 GPUs can be lent, not 1: other agents of this machine "
                                                    f"lend GPU 0 .* by process {first.process.pid} "):
            self.agent("third", "--gpus", "1")
        self.assertIn("1 x g0", self.agent("fourth", "--share-gpus").text())
        first.kill()
        self.assertIn("1 x g0", self.agent("fifth", "--gpus", "1").text())


    def plan(self, text):
        return self.json("plan", self.job_file(text), token=self.bob)

    def test_a_job_that_asks_for_nothing_runs_on_the_gpu_machine_that_is_there(self):
        self.agent("first")
        price = "price: {limit: 1, budget: 5}\n"
        self.assertEqual(self.plan("run: echo\n" + price)["elsewhere"],
                         "no slot of c1 that fits is on offer; 1 of g0 is, at 0.1: it will be taken")
        self.assertIn("1 of g0 is, at 0.1: --price 0.1",
                      self.plan("run: echo\nprice: {limit: 0.05, budget: 5}\n")["elsewhere"])
        named = self.souk("run", self.job_file("run: echo\nclass: c1\n" + price), "--yes", token=self.bob)
        self.assertIn("no slot of c1 that fits is on offer; 1 of g0 is, at 0.1: --class g0", named.stderr)
        job = self.run_job("run: ls /dev/nvidia0")
        self.wait_job(job)
        self.assertEqual(self.logs(job), "/dev/nvidia0\n")
        shown = self.good("GET", f"/v1/jobs/{job}", token=self.bob)
        self.assertEqual((shown["class"], shown["moves"][0]["from"]), ("g0", "c1"))
        said = self.souk("why", "j1", token=self.bob).stdout
        self.assertIn("--class g0", said)

    def test_a_language_model_begins_on_a_gpu_if_one_is_free_within_its_limit(self):
        model = ("kind: train\ntrainer: transformers\nmodel: {name: new-gpt, lora: {r: 8, target: [c_attn]}, "
                 "context: 64}\ndata: {format: text, train: text}\nepochs: 1\nbatch: 8\n")
        with open(os.path.join(self.folder, "text"), "w", encoding="utf-8") as out:
            out.write("a market of machines, " * 2000)
        first = lambda more: self.plan(model + more)["prices"][0]
        self.assertEqual(first("price: {budget: 5}\n")["class"], "c1")
        self.agent("first")
        self.agent("plain", "--gpus", "0")
        row = first("price: {budget: 5}\n")
        self.assertEqual(row["class"], "g0")
        self.assertAlmostEqual(float(row["limit"]), 2 * float(row["suggested"]))
        self.assertEqual(first("price: {limit: 0.05, budget: 5}\n")["class"], "c1")
        self.assertEqual(first("class: c1\nprice: {budget: 5}\n")["class"], "c1")


class Scratch(MachineTest):
    def test_a_job_that_asks_gets_a_scratch_on_disk_of_that_size(self):
        agent = OddAgent(self, "disk", "--cores", "1", "--scratch", "3G")
        job = self.run_job("scratch: 2G\nrun: df -k --output=size,fstype /work | tail -1; "
                           "dd if=/dev/zero of=big bs=1M count=700 2>/dev/null; ls -s big | cut -d' ' -f1\n"
                           "outputs: [small]\nsetup: echo kept > small")
        self.wait_job(job)
        said = self.logs(job).split()
        self.assertGreaterEqual(int(said[-1]), 700 << 10, said)
        if os.geteuid() == 0 and os.path.exists("/dev/loop-control") and said[1] == "ext4":
            self.assertLess(int(said[0]), 2 << 20, "no larger than asked for")
        out = os.path.join(self.folder, "out")
        self.souk("results", job, "-o", out, token=self.bob)
        agent.process.send_signal(signal.SIGTERM)
        self.assertEqual(agent.process.wait(DEADLINE_S), 0, agent.text())
        left = os.path.join(agent.folder, "souk/lend/scratch")
        self.assertEqual(os.listdir(left) if os.path.exists(left) else [], [])

    def test_a_job_that_asks_for_more_than_anybody_has_waits_and_learns_why(self):
        OddAgent(self, "small", "--cores", "1")
        job = self.run_job("scratch: 900G\nrun: echo never")
        self.assertIn("@scratch:", self.souk("why", job, token=self.bob).stdout)

    def test_more_than_the_disk_has_is_not_lent(self):
        done = self.souk("lend", "--cores", "1", "--scratch", "60T", token=self.ann, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("are free at", done.stderr)


class Doctor(unittest.TestCase):
    def test_it_says_how_memory_is_limited_and_which_cores_there_are(self):
        done = subprocess.run([SOUK, "doctor", "--quick"], env={**os.environ, **kNoGroups}, text=True,
                              capture_output=True, timeout=DEADLINE_S, check=False)
        said = " ".join(done.stdout.split())
        self.assertIn("Memory is watched, ten times a second", said)
        self.assertRegex(said, r"which cores [0-9,-]+ may be lent")
        self.assertIn("Scratch on disk", said)


if __name__ == "__main__":
    unittest.main()

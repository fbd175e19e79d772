"""A machine whose cores other programs use: it says so, and is proved when they stop."""
import contextlib
import os
import re
import subprocess
import sys
import unittest

from lending import CpuGroup, LendingTest, needs_sandbox
from souk import DEADLINE_S, wait_for


@contextlib.contextmanager
def all_cores_busy():
    """Two spinning processes for each core that this process may use."""
    spin = "print(flush=True)\nwhile True: pass"
    spinning = [subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE)
                for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        for process in spinning:
            process.stdout.readline()
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait(DEADLINE_S)
            process.stdout.close()


@needs_sandbox
class Busy(LendingTest):
    flags = ("--round", "200ms", "--requests", "0", "--challenge-every", "6h")
    busy = r"not yet proved: other programs use \d+\.\d of \d+ cores? since \d\d:\d\d"

    def setUp(self):
        # Where a control group gives fewer cores than there are, other programs cannot use them all either.
        try:
            limited = 0 < CpuGroup(os.getpid()).cores() < len(os.sched_getaffinity(0))
        except (OSError, ValueError):  # "max", as -1 is, or there is no group.
            limited = False
        if limited:
            self.skipTest("needs all cores that it may run on")
        super().setUp()

    def test_a_machine_that_other_programs_use_says_so_and_is_proved_when_they_stop(self):
        with all_cores_busy():
            agent = self.agent("desk", proves=False)
            job = self.run_job("run: echo done")
            wait_for(lambda: re.search(self.busy + "; tried again by", agent.text()), "the lender's terminal")
            for command, token in (("machine list", self.ann), ("machine show m1", self.ann),
                                   ("offers", self.bob), (f"why {job}", self.bob)):
                wait_for(lambda: re.search(self.busy.removeprefix("not yet proved: "),
                                           self.souk(*command.split(), token=token).stdout), command)
            why = self.souk("why", job, token=self.bob).stdout
            self.assertIn("none match: a machine that would do is not yet proved", why)
            self.assertIn("m1 (desk) is not yet proved", why)
            self.assertNotIn("the next round decides", why)
        # Others may use this computer, too: from now on the market is patient.
        self.server.stop()
        self.server.flags = (*self.flags, "--challenge-slack", "20")
        self.server.start(self.server.port)
        wait_for(lambda: "met a challenge" in agent.text(), "the challenge to be met", 10 * DEADLINE_S)
        self.souk("job", "wait", job, "--timeout", "120s", token=self.bob)
        self.assertEqual(self.souk("logs", job, token=self.bob).stdout, "done\n")
        self.assertNotIn("not yet proved", self.souk("machine", "list", token=self.ann).stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""From a lease's grant to its program's first action, through the whole system: server, agent, files,
sandbox. Starts a market and an agent of its own, runs small jobs with a cached input one after the
other and compares the program's clock with the time of the grant (one machine, one clock).
Also: the server's first answer to /healthz, against its later ones; and, where `make package` made a
bundle, from the line that is pasted on a bare computer to its first pay.

    bench/start.py [JOBS]      default 20; SOUK_BIN names the binary
"""
import datetime
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from souk import wait_for  # noqa: E402
from test_lend import LendTest  # noqa: E402
from test_lendline import BareComputer  # noqa: E402

BAR_MS, BAR_HEALTH_S, BAR_PAY_S = 150, 1, 60


class Health(LendTest):
    def answer_s(self):
        began = time.monotonic()
        self.assertEqual(self.server.call("GET", "/healthz").status, 200)
        return time.monotonic() - began

    def runTest(self):
        first = []
        for _ in range(5):
            self.server.kill()
            self.server.start()
            first.append(self.answer_s())
        later = statistics.median(self.answer_s() for _ in range(50))
        print(f"start.py: /healthz of a server that has just started, 5 starts\n  slowest {max(first) * 1000:.1f} ms, "
              f"later {later * 1000:.1f}; bar {BAR_HEALTH_S} s: {'pass' if max(first) < BAR_HEALTH_S else 'MISSED'}")


class FirstPay(BareComputer):
    def runTest(self):
        root = self.root("bubblewrap")
        machine, token = self.machine()
        self.run_job("run: sleep 1000")
        began = time.monotonic()
        self.paste(root, *self.line(token, "--cores", "1", "--memory", "1G", "--price", "0.1"))
        wait_for(lambda: [l for l in self.good("GET", "/v1/leases", token=self.ann)["items"]
                          if l["machine"] == machine and l["earned"] > 0], "pay", 600)
        took = time.monotonic() - began
        print(f"start.py: from the pasted line to the first pay\n  {took:.1f} s; bar {BAR_PAY_S} s: "
              f"{'pass' if took < BAR_PAY_S else 'MISSED'}")


class Start(LendTest):
    def runTest(self):
        self.agent("box")
        taken = []
        for _ in range(JOBS + 1):
            job = self.run_job("workdir: project\ninputs: [project/data]\nrun: date +%s.%N",
                               main_py="pass", data__x="0123456789")
            self.wait_job(job)
            began = float(self.logs(job))
            lease = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"][0]
            granted = datetime.datetime.fromisoformat(lease["granted"].replace("Z", "+00:00"))
            taken.append((began - granted.timestamp()) * 1000)
        taken = sorted(taken[1:])  # The first fetches the files.
        median = statistics.median(taken)
        print(f"start.py: lease granted to program running, cached inputs, bubblewrap, {JOBS} jobs\n"
              f"  median {median:.0f} ms, fastest {taken[0]:.0f}, slowest {taken[-1]:.0f}; "
              f"bar {BAR_MS} ms: {'pass' if median <= BAR_MS else 'MISSED'}")


if __name__ == "__main__":
    JOBS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    import unittest
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(
        unittest.TestSuite([Start(), Health(), FirstPay()]))
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    sys.exit(0 if result.wasSuccessful() else 2)

#!/usr/bin/env python3
"""From a lease's grant to its program's first action, through the whole system: server, agent, files,
sandbox. Starts a market and an agent of its own, runs small jobs with a cached input one after the
other and compares the program's clock with the time of the grant (one machine, one clock).

    bench/start.py [JOBS]      default 20; SOUK_BIN names the binary
"""
import datetime
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from test_lend import LendTest  # noqa: E402

BAR_MS = 150


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
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Start())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    sys.exit(0 if result.wasSuccessful() else 2)

#!/usr/bin/env python3
"""From a lease's grant to its program's first action with a cached environment of 5 GB in 10,000 files, through
the whole system, beside the same job without an environment, turn by turn. Starts a market and an agent of its own.
The environment lies in the agent's cache before it starts, as if it had been unpacked by an earlier one; its files are
sparse and take no room on the disk.

    bench/environment.py [JOBS [GIGABYTES]]      default 15 and 5; SOUK_BIN names the binary
"""
import datetime
import hashlib
import os
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from lending import LendingTest  # noqa: E402
from souk import wait_for  # noqa: E402

BAR_MS = 1000
FILES = 10_000


class Start(LendingTest):
    def submit(self, environment):
        batch = {"run": "date +%s.%N; ls /env 2>/dev/null | wc -l"}
        if environment:
            batch["environment"] = environment
        job = self.good("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": 5, "batch": batch},
                        self.bob)["id"]
        wait_for(lambda: self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"] == "succeeded", "the job", 900)
        began, count = self.souk("logs", job, token=self.bob).stdout.split()
        lease = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"][0]
        granted = datetime.datetime.fromisoformat(lease["granted"].replace("Z", "+00:00"))
        return (float(began) - granted.timestamp()) * 1000, int(count)

    def plant(self, trees):
        """An environment that an agent keeps, and how a job names it."""
        wheel = hashlib.sha256(b"huge").hexdigest()
        site = os.path.join(trees, "env-" + hashlib.blake2b(wheel.encode(), digest_size=32).hexdigest(), "site")
        for i in range(FILES):
            folder = f"{site}/package{i // 100}"
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/part{i}.py", "wb") as out:
                out.truncate((SIZE << 30) // FILES)
        version = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                 check=True, capture_output=True, text=True).stdout.strip()
        return {"python": version, "wheels": [{"url": "http://127.0.0.1:9/huge.whl", "sha256": wheel}]}

    @staticmethod
    def listing(folder):
        return {os.path.join(place, name): os.path.getsize(os.path.join(place, name))
                for place, _, names in os.walk(folder) for name in names}

    def runTest(self):
        agent = self.agent("box", "--build-environments", "--index", "http://127.0.0.1:9", "--cache", f"{SIZE * 3}G")
        agent.kill()
        trees = os.path.join(agent.folder, "souk/lend/trees")
        environment = self.plant(trees)
        agent.start()
        _, count = self.submit(environment)
        self.submit(None)
        before = self.listing(trees)
        size = sum(before.values())
        with_it, without = [], []
        for _ in range(JOBS):
            with_it.append(self.submit(environment)[0])
            without.append(self.submit(None)[0])
        median = statistics.median(with_it)
        print(f"environment.py: lease granted to program running, {JOBS} jobs each\n"
              f"  environment of {size / 1e9:.1f} GB in {len(before)} files, {count} folders\n"
              f"  cached: median {median:.0f} ms, slowest {max(with_it):.0f}; without any: median "
              f"{statistics.median(without):.0f} ms, slowest {max(without):.0f}\n"
              f"  bar {BAR_MS} ms: {'pass' if max(with_it) <= BAR_MS else 'MISSED'}")
        self.assertEqual(self.listing(trees), before, "no copies")


if __name__ == "__main__":
    JOBS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w", encoding="utf-8")).run(Start())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    sys.exit(0 if result.wasSuccessful() else 2)

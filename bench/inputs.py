#!/usr/bin/env python3
"""Large inputs through the whole system: one over a slow line, and one to many machines that give each other its
pieces. Starts a market and agents of its own; the data are noise, so nothing is saved by compressing.

    bench/inputs.py slow [GIGABYTES [MBIT]]      default 2 and 50
    bench/inputs.py many [GIGABYTES [AGENTS]]    default 2 and 8; needs (AGENTS + 3) times so much disk
"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from line import Line  # noqa: E402
from souk import wait_for  # noqa: E402
from test_files import FilesTest  # noqa: E402

GIB = 1 << 30
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
SIZE = int(float(sys.argv[2] if len(sys.argv) > 2 else 2) * GIB)
NUMBER = int(sys.argv[3]) if len(sys.argv) > 3 else {"slow": 50, "many": 8}.get(MODE, 0)


class Inputs(FilesTest):
    flags = (*FilesTest.flags, "--blobs", "100G")

    def write(self, size, seed=1):
        path = os.path.join(self.folder, "big", "data.bin")
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as out, open("/dev/urandom", "rb") as noise:
            for left in range(size, 0, -(1 << 24)):
                out.write(noise.read(min(left, 1 << 24)))
        return subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True).stdout.split()[0]

    def measure(self, line, workers):
        digest = self.write(SIZE)
        before, began = line.sent, time.monotonic()
        job = self.submit(f"{workers}..{workers}")
        sent, submitted = line.sent - before, time.monotonic()
        wait_for(lambda: self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"] == "succeeded", "the job", 2400)
        took = time.monotonic() - submitted
        self.assertEqual(self.logs(job).count(digest), workers)
        tries = len(self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"])
        self.assertEqual(tries, workers, "leases; every one was enough")
        return submitted - began, took, (line.sent - before - sent) / SIZE

    def slow(self):
        rate = NUMBER * 1e6 / 8
        line = Line(self, self.server.port, rate=rate)
        self.agent_at(line, "far", "--cache", f"{4 * SIZE // GIB + 4}G")
        upload, took, _ = self.measure(line, 1)
        print(f"{SIZE / GIB:.2f} GiB over {NUMBER} Mbit/s: {took:.1f} s; at the line's rate {SIZE / rate:.1f} s; "
              f"ratio {SIZE / rate / took:.3f}; sent to the market in {upload:.1f} s")

    def many(self):
        line = Line(self, self.server.port)
        for i in range(NUMBER):
            self.agent_at(line, f"m{i}", "--share-chunks", "127.0.0.1:0", "--cache", f"{4 * SIZE // GIB + 4}G")
        upload, took, ratio = self.measure(line, NUMBER)
        print(f"{SIZE / GIB:.2f} GiB to {NUMBER} machines: the server sent {ratio:.2f} times that (bar 1.5), "
              f"in {took:.1f} s; sent to the market in {upload:.1f} s")
        self.assertLessEqual(ratio, 1.5)

    def runTest(self):
        getattr(self, MODE)()


if __name__ == "__main__":
    if MODE not in ("slow", "many"):
        sys.exit(__doc__)
    sys.argv = sys.argv[:1]
    unittest.main()

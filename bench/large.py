#!/usr/bin/env python3
"""The memory that large models take of a market and of an agent.

Trains two units of a model of so many parameters through a real market and a real agent. The trainer
computes nothing and writes what the protocol asks for, so what is measured is what moves. The bar is 2.2
times the model for the server, and 10 GB for a billion parameters; one copy and 200 MB for the agent.

    bench/large.py [--millions 124 1000] [--parameters URL] [--json]     SOUK_BIN names the binary

With `--parameters` the server keeps them there (`redis://...`, `postgresql://...`; `redis` starts one of its own),
and holds a copy. What Redis or PostgreSQL takes itself is not counted.

Needs about five times the model on disk, below TMPDIR.
"""
import argparse
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from forecast import seconds  # noqa: E402
from large import LargeTraining  # noqa: E402
from redis_server import start_redis  # noqa: E402

BAR, MOST_MB, AGENT_SPARE_MB = 2.2, 10_000, 200
PARTS = ("compute", "checking", "prepare", "fetch", "download", "upload", "waiting")


class Large(LargeTraining):
    millions = 0
    flags = (*LargeTraining.flags, "--budget", "training-bytes=10G/10G")

    def setUp(self):
        if ARGS.parameters:
            url = start_redis(self) if ARGS.parameters == "redis" else ARGS.parameters
            self.flags = (*self.flags, "--parameters", url)
        super().setUp()

    def runTest(self):
        model = 4 * self.millions  # MB
        before = self.peak_mib(self.server.process.pid, "VmRSS")
        # Without a sandbox the trainer's files lie on the disk, not in memory.
        gib = 2 + 2 * model // 1000
        self.souk("class", "set", "large", "--cores", "1", "--memory", f"{gib}G", "--price", "0.1",
                  token=self.ann)
        worker = self.lender("worker", f"{gib}G", "--class", "large", "--unsafe-no-sandbox")
        begun = time.monotonic()
        job = self.submit(self.millions * 1_000_000, rule="mean", more="class: large")
        self.wait(job, 1800)
        took = time.monotonic() - begun
        mb = 2**20 / 1e6
        spent = self.training(job)["spent"]
        row = {"millions": self.millions, "model_mb": model, "elapsed_s": took,
               "server_mb": self.peak_mib(self.server.process.pid) * mb, "idle_mb": before * mb,
               "agent_mb": self.peak_mib(worker.process.pid) * mb,
               "spent_s": {part: seconds(spent[part]) for part in PARTS}}
        row["server_models"] = row["server_mb"] / model
        row["good"] = (row["server_mb"] - row["idle_mb"] <= BAR * model and row["server_mb"] <= MOST_MB and
                       row["agent_mb"] <= model + AGENT_SPARE_MB)
        ROWS.append(row)
        print(f"  {self.millions:5} million ({model:5} MB): server {row['server_mb']:6.0f} MB at most, "
              f"{row['server_models']:.2f} models; agent {row['agent_mb']:6.0f} MB; {took:.0f} s; " +
              ", ".join(f"{part} {t:.1f}" for part, t in row["spent_s"].items()) + " s", flush=True)


def main():
    print("large.py: two units of each model, default aggregator, one worker", flush=True)
    for millions in ARGS.millions:
        Large.millions = millions
        result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Large())
        for _, trace in result.errors + result.failures:
            print(trace, file=sys.stderr)
        if not result.wasSuccessful():
            return 2
    if ARGS.json:
        print(json.dumps({"bar": BAR, "most_mb": MOST_MB, "rows": ROWS}))
    return 0 if all(row["good"] for row in ROWS) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=int, nargs="+", default=[124, 1000])
    parser.add_argument("--parameters", metavar="URL")
    parser.add_argument("--json", action="store_true")
    ARGS, ROWS = parser.parse_args(), []
    sys.exit(main())

#!/usr/bin/env python3
"""Gangs on machines that are killed at random (kill -9), and come back: none is half started for long, nothing is left behind.

    bench/gang_kills.py [--gangs 50] [--size 4] [--agents 12] [--seed 1] [--json]

SOUK_BIN names the binary. Exit status 1 when a gang was half started for over 10 s, a lease is open at the end, a gang
failed, or the ledger does not sum to zero.
"""
import argparse
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from gang_kills import run_gangs  # noqa: E402
from lending import LendingTest  # noqa: E402

BAR_S = 10


class Kills(LendingTest):
    def setUp(self):
        super().setUp()
        self.souk("account", "grant", "bob", "10000", token=self.ann)

    def runTest(self):
        ROW.update(run_gangs(self, ARGS.gangs, ARGS.size, ARGS.agents, ARGS.seed, limit=ARGS.limit))


def main():
    print(f"gang_kills.py: {ARGS.gangs} gangs of {ARGS.size} on {ARGS.agents} machines, of which one is killed every two seconds",
          flush=True)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Kills())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful():
        return 2
    print(f"  {ROW['seconds']:.0f} s, {ROW['kills']} kills, {ROW['restarts']} restarts; half started for {ROW['half_s']:.1f} s at most; "
          f"jobs {', '.join(ROW['states'])}; {ROW['open']} leases open; ledger sum {ROW['sum']}, escrow {ROW['escrow']}")
    if ARGS.json:
        print(json.dumps({"bar_s": BAR_S} | ROW))
    good = ROW["half_s"] <= BAR_S and ROW["states"] == ["succeeded"] and ROW["open"] == 0 and ROW["sum"] == 0 \
        and ROW["escrow"] == 0
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gangs", type=int, default=50)
    parser.add_argument("--size", type=int, default=4)
    parser.add_argument("--agents", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1800)
    parser.add_argument("--json", action="store_true")
    ARGS, ROW = parser.parse_args(), {}
    sys.exit(main())

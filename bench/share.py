#!/usr/bin/env python3
"""The share of its time that a worker computes with a large model, on loopback.

One agent trains a model of so many parameters through a real market, default aggregator. The trainer takes
as long for a step as it is told, and writes an update of all parameters for each unit. While a unit is
computed, the update of the one before is sent and the parameters of the next are fetched, piece by piece. The
share follows from where the worker says that its time went.

    bench/share.py [--millions 58] [--steps 40] [--step-seconds 0.2] [--units 8] [--json]

SOUK_BIN names the binary. Needs about six times the model on disk, below TMPDIR.
"""
import argparse
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
import large  # noqa: E402
from forecast import seconds  # noqa: E402

BAR = 0.9
PARTS = ("compute", "checking", "prepare", "fetch", "download", "upload", "waiting")
# A step computes nothing: the processors are left to what moves.
TRAINER = large.TRAINER.replace("import array,", "import time, array,").replace(
    'elif op == "train":', 'elif op == "train":\n        begun = time.time()\n'
    '        time.sleep(STEP_S * r["steps"])').replace("seconds=0.01", "seconds=time.time() - begun")


class Share(large.LargeTraining):
    def runTest(self):
        gib = 2 + 2 * 4 * ARGS.millions // 1000
        self.souk("class", "set", "large", "--cores", "1", "--memory", f"{gib}G", "--price", "0.1",
                  token=self.ann)
        self.lender("worker", f"{gib}G", "--class", "large", "--unsafe-no-sandbox")
        large.TRAINER = TRAINER.replace("STEP_S", str(ARGS.step_seconds))
        large.SAMPLES = 16 * ARGS.steps * ARGS.units
        job = self.submit(ARGS.millions * 1_000_000, rule="mean", units=ARGS.units, more="class: large")
        self.wait(job, 60 + 3 * ARGS.units * ARGS.steps * ARGS.step_seconds)
        t = self.training(job)
        spent = {part: seconds(t["spent"][part]) for part in PARTS}
        whole = sum(spent.values())
        ROW.update(share=(spent["compute"] + spent["checking"]) / whole, spent_s=spent,
                   units=sum(w["units"] for w in t["by_worker"]), bytes=t["bytes_in"] + t["bytes_out"])
        print(f"  {100 * ROW['share']:5.1f}% of {whole:.1f} s computed, {ROW['units']} units, "
              f"{1e-6 * ROW['bytes']:.0f} MB moved; " +
              ", ".join(f"{part} {took:.1f}" for part, took in spent.items()) + " s", flush=True)


def main():
    print(f"share.py: one worker, {ARGS.millions} million parameters, units of {ARGS.steps} steps of "
          f"{ARGS.step_seconds:g} s, on loopback", flush=True)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Share())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful():
        return 2
    if ARGS.json:
        print(json.dumps({"bar": BAR} | ROW))
    return 0 if ROW["share"] >= BAR else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=int, default=58)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--step-seconds", type=float, default=0.2)
    parser.add_argument("--units", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    ARGS, ROW = parser.parse_args(), {}
    sys.exit(main())

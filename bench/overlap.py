#!/usr/bin/env python3
"""The share of its time that a training worker computes, on a slow line.

One agent trains a model through a real market on a line that lets so many bits a second pass each way:
the loopback of a network namespace of its own, shaped by `tc`. While a unit is computed the update of
the one before is sent and the next is fetched. The baseline is the same model with a synchronous
aggregator, where units are done in turn. Both follow from where the worker says that its time went.

    bench/overlap.py [--mbps 20] [--steps 200] [--epochs 1] [--json]     SOUK_BIN names the binary

Needs root, or user namespaces, and the commands unshare, ip and tc.
"""
import argparse
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from forecast import seconds  # noqa: E402
from test_train import TrainTest, points  # noqa: E402

INSIDE = "SOUK_BENCH_NAMESPACE"
BAR = 0.9
UNITS = 20  # An epoch, with one check.
PARTS = ("compute", "checking", "prepare", "fetch", "download", "upload", "waiting")
JOB = """
kind: train
name: overlap
model: {{name: mlp, hidden: {hidden}}}
data: {{format: csv, train: train.csv, test: test.csv}}
epochs: {epochs}
batch: 32
lr: 0.001
local_steps: {steps}
shards: 1
workers: 1
rule: {rule}
price: {{limit: 1, budget: 5}}
"""


def tc(*words):
    subprocess.run(["tc", *words], check=True, stderr=subprocess.DEVNULL)


def shape(port):
    """What goes to the market, and what comes from it, has so much each."""
    rate = f"{ARGS.mbps:g}mbit"
    tc("qdisc", "add", "dev", "lo", "root", "handle", "1:", "htb", "default", "2")
    for side in ("1:1", "1:2"):
        tc("class", "add", "dev", "lo", "parent", "1:", "classid", side, "htb", "rate", rate,
           "burst", "32k")
    tc("filter", "add", "dev", "lo", "parent", "1:", "protocol", "ip", "u32", "match", "ip", "dport",
       str(port), "0xffff", "flowid", "1:1")


class Overlap(TrainTest):
    def runTest(self):
        self.agent("worker")
        for name, content in (("train.csv", points(32 * ARGS.steps * UNITS, 1)),
                              ("test.csv", points(200, 2))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                out.write(content)
        shape(self.server.port)
        for what, rule in (("in turn", "{name: fedavg, quorum: 1}"), ("overlapped", "downpour")):
            self.measure(what, rule)

    def measure(self, what, rule):
        path = self.job_file(JOB.format(hidden=ARGS.hidden, epochs=ARGS.epochs, steps=ARGS.steps,
                                        rule=rule))
        job = self.json("run", path, "--yes", token=self.bob)["id"]
        self.wait(job)
        t = self.training(job)
        spent = {part: seconds(t["spent"][part]) for part in PARTS}
        whole, units = sum(spent.values()), sum(w["units"] for w in t["by_worker"])
        computing = spent["compute"] + spent["checking"]
        ROWS.append({"what": what, "rule": t["rule"], "share": computing / whole, "units": units,
                     "elapsed_s": seconds(t["elapsed"]), "spent_s": spent,
                     "bytes": t["bytes_in"] + t["bytes_out"]})
        print(f"  {what:10} {100 * computing / whole:5.1f}% of {whole:.1f} s computed, {units} units, " +
              f"{1e-6 * ROWS[-1]['bytes']:.0f} MB moved; " +
              ", ".join(f"{part} {took:.1f}" for part, took in spent.items()) + " s", flush=True)


def main():
    if INSIDE not in os.environ:
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.execvpe("unshare", ["unshare", *user, "--net", sys.executable, *sys.argv],
                   os.environ | {INSIDE: "1"})
    subprocess.run(["ip", "link", "set", "lo", "up", "mtu", "1500"], check=True)
    print(f"overlap.py: one worker on a line of {ARGS.mbps:g} Mbit/s each way, a model of "
          f"{48e-6 * ARGS.hidden:.1f} MB", flush=True)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Overlap())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful() or len(ROWS) < 2:
        return 2
    if ARGS.json:
        print(json.dumps({"mbps": ARGS.mbps, "bar": BAR, "rows": ROWS}))
    return 0 if ROWS[-1]["share"] >= BAR else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mbps", type=float, default=20)
    parser.add_argument("--hidden", type=int, default=40_000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    ARGS, ROWS = parser.parse_args(), []
    sys.exit(main())

#!/usr/bin/env python3
"""One training on one, four and ten machines of a real market: how fast, how well, and where the time goes.

One agent lends so many slots of one core each; LeNet in PyTorch (examples/python/mnist_torch.py) learns all
of MNIST through the market, with the defaults but `batch: 64`, `lr: 0.02`. For each number of workers: the
time from the first unit until a check reaches the target (98%), accuracy after each epoch of a second
training that runs to its end, and the share of the workers' time that they computed.

    bench/many.py [--workers 1,4,10] [--epochs 4] [--seeds 1] [--lend='--env /opt/torch/.venv']
                  [--also='local_batch: 16'] [--json]

SOUK_BIN names the binary. Wants a machine with more cores than workers, and PyTorch in the system's Python or
where --lend says.
"""
import argparse
import json
import os
import shlex
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests"))
from forecast import seconds  # noqa: E402
from lending import Agent, LendingTest  # noqa: E402
from souk import wait_for  # noqa: E402

LONGEST_S = 300
JOB = """
kind: train
name: many
script: python/mnist_torch.py
data: mnist
packages: [torch]
epochs: {epochs}
{target}
batch: 64
lr: 0.02
seed: {seed}
workers: {workers}
{also}
price: {{limit: 1, budget: 20}}
"""


class Many(LendingTest):
    def runTest(self):
        most = max(ARGS.workers)
        Agent(self, self.ann, "box", "--cores", str(most), "--memory", f"{2 * most}G", "--price", "0.1", "--gpus", "0",
              *shlex.split(ARGS.lend))
        os.symlink(os.path.join(HERE, "../examples/python"), os.path.join(self.folder, "python"))
        for seed in range(1, ARGS.seeds + 1):
            for workers in ARGS.workers:
                self.measure(workers, seed)

    def train(self, workers, seed, target):
        text = JOB.format(workers=workers, seed=seed, target=target, also=ARGS.also, epochs=ARGS.epochs if not target else 20)
        job = self.json("run", self.job_file(text), "--yes", token=self.bob,
                        env={"SOUK_DATASETS": os.environ.get("SOUK_DATASETS", "")})["id"]
        ends = ("succeeded", "failed", "cancelled", "expired")
        found = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))["state"] in ends and j,
                         "the end of the training", LONGEST_S)
        if found["state"] != "succeeded":
            raise AssertionError(found["reason"] + self.souk("logs", job, token=self.bob).stdout[-2000:])
        return self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)

    def measure(self, workers, seed):
        whole = self.train(workers, seed, "")
        spent = {part: seconds(took) for part, took in whole["spent"].items()}
        computing = spent.get("compute", 0) + spent.get("checking", 0)
        aimed = self.train(workers, seed, "target: {accuracy: 0.98}")
        row = {"workers": workers, "seed": seed, "elapsed_s": seconds(whole["elapsed"]),
               "accuracy": [round(100 * c["accuracy"], 2) for c in whole["rows"] if c.get("accuracy") is not None],
               "computing": round(computing / max(1e-9, sum(spent.values())), 3), "spent_s": spent,
               "to_target_s": seconds(aimed["elapsed"])}
        ROWS.append(row)
        first = next(r for r in ROWS if r["seed"] == seed)
        print(f"  {workers:3} workers: {row['elapsed_s']:.1f} s for {ARGS.epochs} epochs, accuracy "
              f"{' '.join(map(str, row['accuracy']))}; to 98% {row['to_target_s']:.1f} s, "
              f"{first['to_target_s'] / row['to_target_s']:.2f} times as fast; computing {100 * row['computing']:.0f}%",
              flush=True)


def main():
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Many())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if ARGS.json:
        print(json.dumps(ROWS))
    return 0 if result.wasSuccessful() else 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=lambda text: [int(n) for n in text.split(",")], default=[1, 4, 10])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--lend", default="")
    parser.add_argument("--also", default="", help="one more line of the job file")
    parser.add_argument("--json", action="store_true")
    ARGS, ROWS = parser.parse_args(), []
    sys.exit(main())

#!/usr/bin/env python3
"""How far forecasts of training time are off, on mixes of machines of different speed.

Starts a market and five agents that lend a part of a core each, measures a training on each machine
alone (the profile), then runs it on mixes of them that were drawn, and compares what
the market forecast when the job was submitted with what it took. No mix was seen before: the profile
knows single machines only, and the errors of the mixes before it.

With --revoke one machine of the mix, drawn, is killed at a drawn moment of each run, and another of
its kind lends from then on, as where a cloud takes spot machines away.

    bench/forecast.py [--mixes 26] [--repeat 1] [--revoke] [--json]     SOUK_BIN names the binary
"""
import argparse
import itertools
import json
import os
import random
import re
import statistics
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from souk import wait_for  # noqa: E402
from test_train import TrainTest, points  # noqa: E402

SHORT, LONG = 15, 120  # Epochs. Another number of them is the same kind of training.
SHARES = {"fast": 0.3, "usual": 0.22, "slow": 0.17, "slower": 0.13, "slowest": 0.1}
BAR_MEDIAN, BAR_P90 = 0.07, 0.15
JOB = """
kind: train
name: forecast
model: {{name: mlp, hidden: 512}}
data: {{format: csv, train: train.csv, test: test.csv}}
epochs: {epochs}
batch: 32
lr: 0.02
local_steps: 100
workers: 1..4
price: {{limit: 1, budget: 5}}
"""


def seconds(text):
    """Of "1m3s395ms"."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
    return sum(float(n) * units[unit] for n, unit in re.findall(r"([\d.]+)([a-z]+)", text))


class Forecast(TrainTest):
    def runTest(self):
        self.set_silence("5s")  # What a loss costs is in the forecast.
        self.agents = {name + twin: self.agent(name + twin, "--cpu-share", str(share))
                       for name, share in SHARES.items() for twin in TWINS}
        for name, content in (("train.csv", points(16_000, 1)), ("test.csv", points(500, 2))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                out.write(content)
        offers = self.good("GET", "/v1/offers", token=self.ann)["items"]
        self.offers = {o["machine_name"]: o["id"] for o in offers}
        for name in self.agents:
            self.train_on([name], SHORT)
        self.random = random.Random(1)
        mixes = [m for n in range(2, 6) for m in itertools.combinations(SHARES, n)]
        for mix in self.random.sample(mixes, ARGS.mixes) * ARGS.repeat:
            self.report(mix, self.train_on(mix, LONG))

    def train_on(self, mix, epochs):
        path = self.job_file(JOB.format(epochs=epochs))
        for name, offer in self.offers.items():
            action = "resume" if name in mix else "pause"
            self.good("POST", f"/v1/offers/{offer}/{action}", {}, self.ann)
        job = self.json("run", path, "--workers", str(len(mix)), "--yes", token=self.bob)["id"]
        if len(TWINS) > 1 and len(mix) > 1:
            self.revoke(job, mix)
        return self.ended(job)

    def ended(self, job):
        show = lambda: self.good("GET", f"/v1/jobs/{job}", token=self.bob)  # noqa: E731
        wait_for(lambda: time.sleep(0.5) or show().get("ended"), "the job", 600)
        return show()

    def revoke(self, job, mix):
        name = self.random.choice(mix)
        expected = seconds(self.good("GET", f"/v1/jobs/{job}", token=self.bob)["forecast"]["time"])
        time.sleep(self.random.uniform(0.2, 0.6) * expected)
        self.agents[name].kill()
        self.good("POST", f"/v1/offers/{self.offers[name + TWINS[1]]}/resume", {}, self.ann)
        self.ended(job)
        self.agents[name].start()

    def report(self, mix, job):
        from datetime import datetime
        at = [datetime.fromisoformat(job[k].replace("Z", "+00:00")) for k in ("started", "ended")]
        took = (at[1] - at[0]).total_seconds()
        f = job["forecast"]
        low, expected, high = (seconds(f[k]) for k in ("time_low", "time", "time_high"))
        ROWS.append({"mix": list(mix), "took_s": took, "forecast_s": expected, "low_s": low,
                     "high_s": high, "error": took / expected - 1})
        print(f"  {' + '.join(mix):32} forecast {expected:6.1f} s ({low:.1f} to {high:.1f})  "
              f"took {took:6.1f} s  {100 * (took / expected - 1):+.1f}%", flush=True)


def main():
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Forecast())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful() or not ROWS:
        return 2
    errors = sorted(abs(r["error"]) for r in ROWS)
    median, p90 = statistics.median(errors), errors[min(len(errors) - 1, int(0.9 * len(errors)))]
    inside = sum(r["low_s"] <= r["took_s"] <= r["high_s"] for r in ROWS) / len(ROWS)
    if ARGS.json:
        print(json.dumps({"rows": ROWS, "median": median, "p90": p90, "inside": inside}))
    print(f"forecast.py: {len(ROWS)} runs on mixes that were never seen"
          f"{', a machine killed and replaced in each' if ARGS.revoke else ''}\n"
          f"  median error {100 * median:.1f}%, bar 7%: {'pass' if median <= BAR_MEDIAN else 'MISSED'}\n"
          f"  90% of errors below {100 * p90:.1f}%, bar 15%: {'pass' if p90 <= BAR_P90 else 'MISSED'}\n"
          f"  80% intervals held {100 * inside:.0f}%, bar 75 to 85%: "
          f"{'pass' if .75 <= inside <= .85 else 'MISSED'}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mixes", type=int, default=26, help="of the 26")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--revoke", action="store_true")
    parser.add_argument("--json", action="store_true")
    ARGS = parser.parse_args()
    ROWS = []
    TWINS = ("", "-too") if ARGS.revoke else ("",)
    sys.exit(main())

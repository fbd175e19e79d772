#!/usr/bin/env python3
"""Where adding workers stops helping, and whether Scala-Opt finds it.

Up to six agents that lend the same part of a core train one model through a line of limited bandwidth
to the hub (a relay that lets so many bits a second pass, both ways together). First one worker on a
free line: its traffic is what Scala-Opt is given. Then one to six on the limited line: how many samples
a second they learn, and what a training costs at a price per worker. With few local steps between
exchanges there is much traffic, with many little: the batch sizes of FC2's figures.

    bench/scaling.py [--mbps 40] [--json]     SOUK_BIN names the binary
"""
import argparse
import asyncio
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from forecast import seconds  # noqa: E402
from test_train import TrainTest, points  # noqa: E402

WORKERS, SHARE, PRICE = 6, 0.15, 0.1
LOCAL_STEPS = (10, 20, 40)
SAMPLES, EPOCHS = 16_000, 5  # Epochs for each worker, and once more.
JOB = """
kind: train
name: scaling
model: {{name: mlp, hidden: 512}}
data: {{format: csv, train: train.csv, test: test.csv}}
epochs: {epochs}
batch: 32
lr: 0.02
local_steps: {steps}
workers: 1..6
price: {{limit: 1, budget: 5}}
"""


class Line:
    """A relay to `port` through which `mbps` megabits a second pass, both ways together."""

    def __init__(self, port):
        self.target, self.mbps, self.port, self.free_at = port, None, 0, 0.0
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        server = await asyncio.start_server(self.relay, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    async def relay(self, reader, writer):
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(self.copy(reader, far_writer), self.copy(far_reader, writer))

    async def copy(self, reader, writer):
        try:
            while piece := await reader.read(4096):
                if self.mbps:
                    now = time.monotonic()
                    self.free_at = max(self.free_at, now) + 8e-6 * len(piece) / self.mbps
                    await asyncio.sleep(self.free_at - now)
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # The other end has left; what it means is for the two of them.
        finally:
            writer.close()


class Scaling(TrainTest):
    def runTest(self):
        line = Line(self.server.port)
        url = f"http://127.0.0.1:{line.port}"
        for i in range(WORKERS):
            self.agent(f"worker{i + 1}", "--cpu-share", str(SHARE), "--server", url)
        for name, content in (("train.csv", points(SAMPLES, 1)), ("test.csv", points(500, 2))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                out.write(content)
        offers = self.good("GET", "/v1/offers", token=self.ann)["items"]
        self.offers = [o["id"] for o in sorted(offers, key=lambda o: o["machine_name"])]
        for steps in LOCAL_STEPS:
            line.mbps = None
            alone = self.train_on(1, steps)
            traffic = 8e-6 * alone["bytes"] / alone["seconds"]
            line.mbps = ARGS.mbps
            rates = [self.train_on(n, steps)["rate"] for n in range(1, WORKERS + 1)]
            self.report(steps, traffic, rates)

    def train_on(self, workers, steps):
        epochs = EPOCHS * (1 + workers)
        path = self.job_file(JOB.format(epochs=epochs, steps=steps))
        for i, offer in enumerate(self.offers):
            action = "resume" if i < workers else "pause"
            self.good("POST", f"/v1/offers/{offer}/{action}", {}, self.ann)
        job = self.json("run", path, "--workers", str(workers), "--yes", token=self.bob)["id"]
        self.wait(job)
        t = self.training(job)
        took = seconds(t["elapsed"])
        return {"bytes": t["bytes_in"] + t["bytes_out"], "seconds": took,
                "rate": epochs * SAMPLES / took}

    def recommended(self, traffic):
        catalog = os.path.join(self.folder, "catalog.json")
        with open(catalog, "w", encoding="utf-8") as out:
            json.dump({"ps": {"hub": {"cost": 0, "bw_mbps": ARGS.mbps}},
                       "workers": {"worker": {"cost": PRICE}}}, out)
        return self.json("plan", "--algorithm", "scala-opt", "--catalog", catalog, "--ps", "hub",
                         "--bandwidth", json.dumps({"worker": traffic}), "--max-workers",
                         str(WORKERS))["workers"]

    def report(self, steps, traffic, rates):
        chosen, best = self.recommended(traffic), max(rates)
        # The fewest workers that learn at nine tenths of the fastest pace.
        knee = next(n for n, rate in enumerate(rates, 1) if rate >= 0.9 * best)
        cost = [n / rate for n, rate in enumerate(rates, 1)]
        ROWS.append({"local_steps": steps, "traffic_mbps": traffic, "rates": rates, "knee": knee,
                     "scala_opt": chosen, "pace": rates[chosen - 1] / best,
                     "saved": 1 - cost[chosen - 1] / cost[-1]})
        row = ROWS[-1]
        print(f"  {steps:3} steps between exchanges, one worker {traffic:5.2f} Mbps: " +
              " ".join(f"{rate / rates[0]:5.2f}" for rate in rates) +
              f"  knee {knee}, Scala-Opt {chosen}: {100 * row['pace']:.0f}% of the best pace for "
              f"{100 * row['saved']:.0f}% less than {WORKERS} workers", flush=True)


def main():
    print(f"scaling.py: samples a second of 1 to {WORKERS} workers on {ARGS.mbps:g} Mbps, of one's")
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Scaling())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful() or len(ROWS) < len(LOCAL_STEPS):
        return 2
    if ARGS.json:
        print(json.dumps({"mbps": ARGS.mbps, "rows": ROWS}))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mbps", type=float, default=40)
    parser.add_argument("--json", action="store_true")
    ARGS, ROWS = parser.parse_args(), []
    sys.exit(main())

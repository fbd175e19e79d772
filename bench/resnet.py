#!/usr/bin/env python3
"""ResNet-20 on CIFAR-10: one machine, and six unequal ones of which one dies every 10 s.

Both see the data as often. Serial training is `souk-torch bare` at each rate; the six are `souk
train-sim` with all else default: speeds 1, 1/2 and 1/4, links of 20/5 Mbit/s, a virtual clock, real
learning. Every run is a process on one core, and `--jobs` of them run at a time.

    bench/resnet.py FOLDER [--jobs 16] [--rates 0.025,0.05,0.1] [--epochs 12] [--samples 10000]
                    [--seeds 3] [--rules mean] [--speeds 1,0.5,0.25] [--kill-every 10s] [--codec fp16]

FOLDER has CIFAR-10's binary files. SOUK_BIN names the binary, SOUK_TORCH a trainer in place of the
souk-torch beside it (sdk/python/bench_cifar.py uses a GPU).
"""
import argparse
import array
import concurrent.futures
import json
import os
import statistics
import struct
import subprocess
import tempfile

SOUK = os.path.abspath(os.environ.get(
    "SOUK_BIN", os.path.join(os.path.dirname(__file__), "../build/release/bin/souk")))
TORCH = os.environ.get("SOUK_TORCH", os.path.join(os.path.dirname(SOUK), "souk-torch"))
ROW = 1 + 3 * 32 * 32


def write_shard(folder, path, prefix, most):
    """The first samples of the files with this prefix, as a trainer reads them."""
    data = b""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".bin") and name.startswith("test") == (prefix == "test"):
            with open(os.path.join(folder, name), "rb") as file:
                data += file.read()
    count = min(most, len(data) // ROW)
    rows = [data[i * ROW:(i + 1) * ROW] for i in range(count)]
    labels = array.array("q", [row[0] for row in rows]).tobytes()
    pixels = b"".join(row[1:] for row in rows)
    head = json.dumps({
        "x": {"dtype": "U8", "shape": [count, 3, 32, 32], "data_offsets": [0, len(pixels)]},
        "y": {"dtype": "I64", "shape": [count],
              "data_offsets": [len(pixels), len(pixels) + len(labels)]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + pixels + labels)


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-500:]}")
    return done.stdout


def serial(a, folder, rate, seed):
    lines = output_of([TORCH, "bare", "--config", f"{folder}/config.json", "--shard", f"{folder}/all",
                       "--test", f"{folder}/test", "--epochs", str(a.epochs), "--batch", "64",
                       "--lr", str(rate), "--seed", str(seed)]).splitlines()
    last = json.loads(lines[-1])
    return {"accuracy": last["accuracy"], "average": last.get("average")}


def six(a, rule, rate, seed):
    return json.loads(output_of([
        SOUK, "train-sim", "--model", "resnet20", "--data", a.folder, "--samples", str(a.samples),
        "--checked", str(a.checked), "--workers", "6", "--speeds", a.speeds, "--kill-every",
        a.kill_every, "--up", "5", "--down", "20", "--epochs", str(a.epochs), "--batch", "64",
        "--lr", str(rate), "--seed", str(seed), "--rule", rule, "--validations", "1", "--codec", a.codec, "--json"]))


def percents(values):
    return ", ".join(f"{100 * v:.1f}" for v in values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rates", default="0.025,0.05,0.1")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--checked", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rules", default="mean")
    parser.add_argument("--speeds", default="1,0.5,0.25")
    parser.add_argument("--kill-every", default="10s")
    parser.add_argument("--codec", default="fp16")
    a = parser.parse_args()
    rates = [float(r) for r in a.rates.split(",")]
    seeds = range(1, a.seeds + 1)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        write_shard(a.folder, f"{folder}/all", "train", a.samples)
        write_shard(a.folder, f"{folder}/test", "test", a.checked)
        with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
            json.dump({"model": "resnet20", "input": [3, 32, 32], "classes": 10, "threads": 1}, file)
        rows = [("one machine", rate, [pool.submit(serial, a, folder, rate, s) for s in seeds])
                for rate in rates]
        rows += [(f"six machines, {rule}", rate, [pool.submit(six, a, rule, rate, s) for s in seeds])
                 for rule in a.rules.split(",") for rate in rates]
        best = {}
        print("| | rate | accuracy, by seed | mean | goodput |\n| --- | --- | --- | --- | --- |")
        for who, rate, runs in rows:
            found = [run.result() for run in runs]
            accuracies = [f["accuracy"] for f in found]
            mean = statistics.mean(accuracies)
            best[who] = max(best.get(who, 0), mean)
            useful = [f["goodput"] for f in found if "goodput" in f]
            print(f"| {who} | {rate:g} | {percents(accuracies)} | {100 * mean:.1f} | "
                  f"{statistics.mean(useful) if useful else 1:.2f} |", flush=True)
            averages = [f["average"] for f in found if f.get("average") is not None]
            if averages:
                print(f"| the same, mean of the last parameters | {rate:g} | {percents(averages)} | "
                      f"{100 * statistics.mean(averages):.1f} | 1.00 |", flush=True)
    for who, accuracy in best.items():
        if who != "one machine":
            print(f"{who}, at its best rate: {100 * (accuracy - best['one machine']):+.1f} points")


if __name__ == "__main__":
    main()

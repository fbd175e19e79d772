"""Thirty-two machines that come, leave and lose power at random, and every aggregator to its end.

Real agents, each with a sandbox and a trainer of its own. The trainer is a page of plain Python that
learns a handful of numbers, so that two cores are enough for all of them."""
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import unittest

from lending import PROVED, Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, wait_for

MACHINES = 32
OWNERS = 4
SEED = 19
PER_EVENT = 48  # Steps of a training, a thirteenth of it, between one disturbance and the next.
CODECS = ("fp32", "fp16", "int8", "auto")
SPARSE = ("sparse2", "top-k", *CODECS)  # Where workers send changes.

# Its loss is the square of the distance from BEST; what a step sees of that is noisy.
TRAINER = """
import json, random, select, struct, sys

BEST = [3.0, -2.0, 1.0, 0.5, -0.5, 2.0, -1.0, 0.0]
N = len(BEST)
HEAD = json.dumps({"w": {"dtype": "F32", "shape": [N], "data_offsets": [0, 4 * N]}}).encode()

def read(name):
    with open(name, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        file.seek(8 + size)
        return list(struct.unpack(f"<{N}f", file.read(4 * N)))

def write(name, values):
    with open(name, "wb") as file:
        file.write(struct.pack("<Q", len(HEAD)) + HEAD + struct.pack(f"<{N}f", *values))

def loss(w):
    return sum((a - b) ** 2 for a, b in zip(w, BEST)) / N

def train(ask):
    rng = random.Random(ask["seed"] * 1000 + ask["first_step"])
    base = read(ask["base"])
    w, done, seen = list(base), 0, 0.0
    while done < ask["steps"] and not select.select([sys.stdin], [], [], 0.002)[0]:
        seen += loss(w)
        w = [a + 0.1 * (b - a) + rng.gauss(0, 0.01) for a, b in zip(w, BEST)]
        done += 1
    write(ask["out"], w if ask["send"] == "weights" else [a - b for a, b in zip(w, base)])
    return {"steps": done, "samples": done * ask["batch"], "loss": seen / max(done, 1),
            "seconds": 0.002 * done}

while line := sys.stdin.readline():
    ask = json.loads(line)
    answer = {}
    if ask["op"] == "stop":
        continue
    if ask["op"] == "hello":
        answer = {"protocol": 1, "name": "crowd", "version": "1", "framework": "none",
                  "device": "cpu", "tensors": [{"name": "w", "shape": [N]}]}
    elif ask["op"] == "init":
        write(ask["out"], [0.0] * N)
    elif ask["op"] == "train":
        answer = train(ask)
    elif ask["op"] == "evaluate":
        answer = {"samples": 64, "loss": loss(read(ask["base"])), "metrics": {}}
    print(json.dumps({"ok": True, **answer}), flush=True)
    if ask["op"] == "bye":
        break
"""

JOB = """
kind: train
name: {name}
trainer: python
script: mine.py
data: {{format: csv, train: train.csv, test: test.csv}}
rule: {rule}
codec: {codec}
epochs: 3
batch: 8
local_steps: 3
shards: 16
lr: 0.1
class: small
workers: 1..{workers}
retry: {{on: [lost, failed], max: 100}}
price: {{limit: 1, budget: 2}}
"""


class Member(Agent):
    """A machine of the crowd; whoever starts it does not wait for it."""

    def start(self):
        env = dict(self.env, PATH=os.path.dirname(self.folder) + "/bin:" + self.env["PATH"])
        self.process = subprocess.Popen(self.command, env=env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)

    def is_up(self):
        return self.process.poll() is None

    def trainer(self):
        """The process of its trainer; None: it has none."""
        parents, trainers = {}, []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(pid)] = int(file.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                    words = file.read().split("\0")
            except OSError:
                continue  # It has ended meanwhile.
            if "python" in words[0] and any(word.endswith("trainer.py") for word in words):
                trainers.append(int(pid))
        for trainer in trainers:
            above = trainer
            while above in parents and above != self.process.pid:
                above = parents[above]
            if above == self.process.pid:
                return trainer
        return None


@needs_sandbox
class CrowdTest(LendingTest):
    flags = ("--round", "100ms", "--requests", "0", *PROVED, "--budget", "connections=1000/1000")

    def setUp(self):
        super().setUp()
        self.set_silence("5s")  # Who loses power is missed soon.
        self.rng = random.Random(SEED)
        self.without_packages()
        # Each fills most of its memory when it proves that it is there.
        self.good("PUT", "/v1/classes/small", {"cores": 1, "memory_mib": 256, "price": 0.2}, self.ann)
        owners = [self.ann] + [self.sign_up(f"owner-{i}") for i in range(1, OWNERS)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.crowd = list(pool.map(lambda i: Member(
                self, owners[i % OWNERS], f"m{i}", "--cores", "1", "--memory", "256M", "--class", "small",
                "--price", "0.1", "--drain", "5s"), range(MACHINES)))
        for name, n in (("train.csv", 1600), ("test.csv", 64)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                out.writelines(f"{i % 7},{i % 2}\n" for i in range(n))
        with open(os.path.join(self.folder, "mine.py"), "w", encoding="utf-8") as out:
            out.write(TRAINER)
        wait_for(lambda: all("lending " in m.text() for m in self.crowd), "the crowd",
                 4 * DEADLINE_S)

    def without_packages(self):
        """Agents list the packages of Python when they start, which takes half a second each."""
        os.makedirs(os.path.join(self.folder, "bin"))
        path = os.path.join(self.folder, "bin/python3")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nexec {shutil.which("python3")} -S "$@"\n')
        os.chmod(path, 0o755)

    def aggregators(self):
        return json.loads(self.souk("train-sim", "--list", "--json").stdout)["rules"]

    def training(self, job):
        return self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)

    def disturb(self):
        """Somebody loses power, leaves with a word, loses its trainer alone, or comes back."""
        absent = [m for m in self.crowd if not m.is_up()]
        here = [m for m in self.crowd if m.is_up()]
        # About three in four are there.
        member = self.rng.choice(absent if self.rng.random() < len(absent) / 16 else here)
        luck = self.rng.random()
        if not member.is_up():
            member.start()
        elif luck < 0.4:
            member.kill()
        elif luck < 0.8:
            member.process.send_signal(signal.SIGTERM)
        elif trainer := member.trainer():
            try:
                os.kill(trainer, signal.SIGKILL)
            except ProcessLookupError:
                return  # It was done.
        self.events += 1

    def ended(self, job):
        found = self.good("GET", f"/v1/jobs/{job}", None, self.bob)
        if found["state"] in ("succeeded", "failed", "cancelled", "expired"):
            return found
        # By what was done rather than by the clock: a slow computer is disturbed as much as a quick one.
        steps = self.training(job)["useful_steps"]
        while self.disturbed_at + PER_EVENT <= steps:
            self.disturbed_at += PER_EVENT
            self.disturb()
        return None

    def test_every_aggregator_comes_to_its_end(self):
        self.events = 0
        for i, row in enumerate(self.aggregators()):
            codecs = SPARSE if row["sends"] == "delta" else CODECS
            with self.subTest(row["name"]):
                path = self.job_file(JOB.format(name=row["name"], rule=row["name"],
                                                codec=codecs[i % len(codecs)], workers=MACHINES))
                job = self.json("run", path, "--yes", token=self.bob)["id"]
                self.disturbed_at = 0
                end = wait_for(lambda j=job: self.ended(j), f"the end of {row['name']}",
                               4 * DEADLINE_S)
                self.assertEqual((end["state"], end["reason"]),
                                 ("succeeded", "all epochs are done"),
                                 self.souk("logs", job, token=self.bob).stdout[-2000:])
                training = self.training(job)
                self.assertEqual(training["useful_steps"], 3 * 16 * 13, training)
                # It has learnt something: at zero the loss is 2.6.
                self.assertLess(training["rows"][-1]["validation_loss"], 2.0, row["name"])
        self.assertGreater(self.events, len(self.aggregators()))


if __name__ == "__main__":
    unittest.main()

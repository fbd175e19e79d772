"""A training whose model is large and whose trainer computes nothing: for tests and benches of what moves."""
import os
import shutil

from lending import Agent, LendingTest
from souk import DEADLINE_S, wait_for

# Speaks docs/worker-protocol.md. Every parameter begins at a value of a block that does not compress, and
# each unit adds another such block, so the result is known.
TRAINER = """
import array, json, random, struct, sys
FLOATS, TENSORS = {floats}, {tensors}
BLOCK = 1 << 18
shapes = [FLOATS // TENSORS] * (TENSORS - 1)
shapes.append(FLOATS - sum(shapes))

def head():
    at, out = 0, {{}}
    for i, n in enumerate(shapes):
        out[f"w{{i:04}}"] = {{"dtype": "F32", "shape": [n], "data_offsets": [at, at + 4 * n]}}
        at += 4 * n
    text = json.dumps(out).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text

def block(seed):
    rng = random.Random(seed)
    return array.array("f", [rng.randrange(1, 1 << 12) / 1024 for _ in range(BLOCK)]).tobytes()

def write(path, seed):
    with open(path, "wb") as out:
        out.write(head())
        left, piece = 4 * FLOATS, block(seed)
        while left > 0:
            left -= out.write(piece[:left])

for line in sys.stdin:
    r = json.loads(line)
    op, answer = r["op"], {{"ok": True}}
    if op == "hello":
        answer.update(protocol=1, name="large", version="1", framework="none", device="cpu",
                      tensors=[{{"name": f"w{{i:04}}", "shape": [n]}} for i, n in enumerate(shapes)])
    elif op == "init":
        write(r["out"], 1)
    elif op == "train":
        write(r["out"], 2)
        answer.update(steps=r["steps"], samples=r["steps"] * r["batch"], loss=0.5, seconds=0.01)
    elif op == "evaluate":
        answer.update(samples={validation}, loss=0.5, metrics={{"accuracy": 0.5}})
    elif op == "stop":
        continue
    print(json.dumps(answer), flush=True)
    if op == "bye":
        break
"""
JOB = """
kind: train
name: large
script: large.py
data: {{format: csv, train: train.csv, test: test.csv}}
rule: {rule}
epochs: 1
batch: 16
local_steps: {steps}
shards: 1
average: none
lr: 0.1
workers: 1
{more}
price: {{limit: 1, budget: 50}}
"""
SAMPLES, VALIDATION, BLOCK = 128, 16, 1 << 18


class LargeTraining(LendingTest):
    """Two units of a model of so many parameters, which all change."""

    def submit(self, floats, tensors=64, rule="{name: downpour, eta: 1}", units=2, more=""):
        self.floats = floats
        rows = lambda n: "".join(f"{i % 7}.5,{i % 3}\n" for i in range(n))  # noqa: E731
        for name, content in (("train.csv", rows(SAMPLES)), ("test.csv", rows(VALIDATION)),
                              ("large.py", TRAINER.format(floats=floats, tensors=tensors,
                                                          validation=VALIDATION))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
                out.write(content)
        path = self.job_file(JOB.format(rule=rule, steps=SAMPLES // 16 // units, more=more))
        return self.json("run", path, "--yes", token=self.bob)["id"]

    def lender(self, name, memory, *flags):
        agent = Agent(self, self.ann, name, "--cores", "1", "--memory", memory, "--price", "0.1", *flags)
        # What it filled to prove its memory is no peak of its work.
        wait_for(lambda: self.peak_mib(agent.process.pid, "VmRSS") < 256, "the memory to be free again")
        with open(f"/proc/{agent.process.pid}/clear_refs", "w", encoding="ascii") as peak:
            peak.write("5")
        return agent

    def training(self, job):
        return self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)

    def wait(self, job, seconds=4 * DEADLINE_S):
        found = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))
                         ["state"] in ("succeeded", "failed", "cancelled", "expired") and j,
                         "the end of the job", seconds)
        self.assertEqual(found["state"], "succeeded", found["reason"] + self.souk(
            "logs", job, token=self.bob).stdout)
        return found

    def peak_mib(self, pid, what="VmHWM"):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith(what))

    def results(self, job):
        folder = os.path.join(self.folder, "results")
        shutil.rmtree(folder, ignore_errors=True)
        self.souk("results", job, "--output", folder, token=self.bob)
        return folder

#!/usr/bin/env python3
"""From `souk lend --env` to an adapter that PEFT loads, as a new user would, on a machine with a GPU.

A market, a machine that lends its GPU with the environment that is there, a GPT-2-sized model of random weights, the
documents of this repository as text, and a job of ten lines with LoRA. Prints how long each step took, what
travelled beside the model's size, what the GPU did, and what the adapter changes once PEFT has loaded it.

    bench/lora_market.py --python /opt/torch/.venv/bin/python --lend='--env /opt/torch/.venv'
    bench/lora_market.py --python build/transformers/bin/python --layers 2 --width 64 --heads 4 --context 64 --no-gpu \\
        --job 'inputs: [...]'                                     # on a processor, for a try

SOUK_BIN names the binary. The Python needs torch, transformers and peft. Without bubblewrap add --unsafe-no-sandbox to
--lend.
"""
import argparse
import glob
import json
import os
import shlex
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
sys.path.insert(0, os.path.join(HERE, "../tests"))
from lending import Agent, LendingTest  # noqa: E402
from souk import wait_for  # noqa: E402

LONGEST_S = 240
ENDS = ("succeeded", "failed", "cancelled", "expired")
JOB = """
name: lora
kind: train
trainer: transformers
model: {{name: {model}, lora: {{r: 8, target: [c_attn]}}, context: {context}}}
data: {{format: text, train: {text}}}
packages: [torch, transformers, peft]
epochs: {epochs}
batch: 32
lr: {{start: 0.004, end: 0.0004}}
workers: 1
{gpu}
price: {{limit: 5, budget: 50}}
{more}
"""
LOAD = """
import sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
base = AutoModelForCausalLM.from_pretrained(sys.argv[1])
ids = torch.arange(32)[None]
before = base(input_ids=ids).logits
print(float((PeftModel.from_pretrained(base, sys.argv[2])(input_ids=ids).logits - before).abs().max().detach()))
"""


class LoraMarket(LendingTest):
    def python(self, *words):
        env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "sdk/python/src"), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run([ARGS.python, "-B", *words], capture_output=True, text=True, timeout=LONGEST_S, env=env)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def lap(self, what):
        now = time.monotonic()
        ROW[what] = round(now - self.began, 2)
        print(f"  {what}: {ROW[what]} s", flush=True)
        self.began = now

    def write_text(self):
        path = os.path.join(self.folder, "text.txt")
        with open(path, "wb") as out:
            for name in sorted(glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True)):
                with open(name, "rb") as part:
                    out.write(part.read())
        return path

    def end_of(self, job):
        found = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))["state"] in ENDS and j,
                         "the end of the training", LONGEST_S)
        if found["state"] != "succeeded":
            raise AssertionError(found["reason"] + self.souk("logs", job, token=self.bob).stdout[-3000:])

    def runTest(self):
        self.souk("account", "grant", "bob", "1000", token=self.ann)
        base, text = os.path.join(self.folder, "base"), self.write_text()
        self.python("-m", "souk.transformers", "new", base, "--layers", str(ARGS.layers), "--width", str(ARGS.width),
                    "--heads", str(ARGS.heads), "--context", str(ARGS.context))
        self.began = time.monotonic()
        agent = Agent(self, self.ann, "gpu", "--cores", str(ARGS.cores), "--memory", ARGS.memory, "--price", "0.1",
                      *shlex.split(ARGS.lend))
        self.lap("souk lend until it lends")
        job = JOB.format(model=base, context=ARGS.context, text=text, epochs=ARGS.epochs, more=ARGS.job,
                         gpu="" if ARGS.no_gpu else "resources: {gpu: {memory: 20G}}")
        job = self.json("run", self.job_file(job), "--yes", token=self.bob)["id"]
        self.lap("souk run until it is submitted")
        try:
            wait_for(lambda: any(lease["state"] == "running" for lease in
                                 self.good("GET", f"/v1/jobs/{job}/leases", None, self.bob)["items"]),
                     "a lease that runs", LONGEST_S)
            self.lap("until the trainer runs")
            self.end_of(job)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.souk('why', job, token=self.bob, check=False).stdout}\n"
                                 f"{agent.text()[-3000:]}") from error
        self.lap("training")
        ROW["top"] = self.souk("job", "top", job, token=self.bob, check=False).stdout.splitlines()[-4:]
        training = self.good("GET", f"/v1/jobs/{job}/training", None, self.bob)
        ROW["rows"] = [row.get("metrics", {}).get("perplexity") for row in training["rows"]]
        ROW["spent"] = training["spent"]
        results = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", results, token=self.bob, env={"SOUK_PYTHON": ARGS.python})
        self.lap("souk results")
        sizes = [os.path.getsize(os.path.join(folder, name)) for folder, name in
                 ((results, "adapter_model.safetensors"), (base, "model.safetensors"))]
        ROW["adapter / model"] = f"{sizes[0]:,} / {sizes[1]:,} = {100 * sizes[0] / sizes[1]:.2f}%"
        ROW["largest change of a logit, loaded by PEFT"] = float(self.python("-c", LOAD, base, results))
        ROW["ledger"] = self.souk("ledger", token=self.ann).stdout.splitlines()[-1]


def main():
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(LoraMarket())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    print(json.dumps(ROW, indent=1))
    return 0 if result.wasSuccessful() else 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--lend", default="")
    parser.add_argument("--job", default="", help="more lines of the job file")
    parser.add_argument("--memory", default="32G")
    parser.add_argument("--no-gpu", action="store_true")
    for name, value in {"layers": 12, "width": 768, "heads": 12, "context": 256, "epochs": 3, "cores": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    ARGS, ROW = parser.parse_args(), {}
    sys.exit(main())

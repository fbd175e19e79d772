"""Language models with the real binary: from a job file to an adapter that PEFT loads."""
import json
import os
import shutil
import subprocess
import unittest

from lending import Agent, LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ENVIRONMENT = os.path.join(ROOT, "build", "transformers")
PYTHON = os.path.join(ENVIRONMENT, "bin", "python")
TO_LOAD_S = 10 * DEADLINE_S  # PyTorch is 300 MB, which a busy disk may have to bring first.
# What a trainer needs none of.
LEFT_OUT = ("pip*", "setuptools*", "pkg_resources*", "tensorboard*", "google*", "__pycache__", "_distutils*")

LOAD = """
import sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
base = AutoModelForCausalLM.from_pretrained(sys.argv[1])
ids = torch.arange(32)[None]
before = base(input_ids=ids).logits
after = PeftModel.from_pretrained(base, sys.argv[2])(input_ids=ids).logits
print(float((after - before).abs().max()))
"""
EVENTS = """
import sys
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
for event in EventFileLoader(sys.argv[1]).Load():
    for value in event.summary.value:
        print(event.step, value.tag, value.tensor.float_val[0])
"""


@needs_sandbox
@unittest.skipUnless(os.path.exists(PYTHON), "transformers is not here: scripts/setup test fetches it")
class TransformersTest(LendingTest):
    def python(self, *words):
        env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "sdk", "python", "src"), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run([PYTHON, "-B", *words], capture_output=True, text=True, timeout=TO_LOAD_S,
                              env=env, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def submit(self, **changes):
        """The example; machines here have PyTorch, so the job brings the rest."""
        with open(os.path.join(ROOT, "examples", "lora.yaml"), encoding="utf-8") as file:
            text = file.read().replace("packages: [torch, transformers, peft]", "packages: [torch]")
        for old, new in changes.items():
            self.assertIn(f"\n{old}:", text)
            text = "\n".join(f"{old}: {new}" if line.startswith(f"{old}:") else line
                             for line in text.split("\n"))
        brought = os.path.join(self.folder, "packages")
        packages = self.python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        shutil.copytree(packages, brought, ignore=shutil.ignore_patterns(*LEFT_OUT))
        text += (f"inputs: [{{path: packages, folder: {brought}}}]\n"
                 "env: {PYTHONPATH: '/work/.souk/python:/work/packages'}\n")
        return self.json("run", self.job_file(text), "--yes", token=self.bob)["id"]

    def watch(self, job, folder):
        env = {**os.environ, "SOUK_SERVER": self.server.url, "SOUK_TOKEN": self.bob, "HOME": self.folder}
        process = subprocess.Popen([SOUK, "results", job, "--watch", "-o", folder], env=env, text=True,
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def end_of(self, job):
        found = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))
                         ["state"] in ("succeeded", "failed", "cancelled", "expired") and j,
                         "the end of the job", TO_LOAD_S)
        self.assertEqual(found["state"], "succeeded",
                         found["reason"] + self.souk("logs", job, token=self.bob).stdout)

    def test_the_example_becomes_an_adapter_that_peft_loads_and_that_writes(self):
        Agent(self, self.ann, "one", "--cores", "1", "--memory", "4G", "--price", "0.1")
        base = os.path.join(self.folder, "base")
        self.python("-m", "souk.transformers", "new", base, "--context", "64")
        job = self.submit(model=f"{{name: {base}, lora: {{r: 4, target: [c_attn, c_fc]}}, context: 64}}",
                          epochs=1)
        folder = os.path.join(self.folder, "results")
        watching = self.watch(job, folder)
        self.end_of(job)
        said, errors = watching.communicate(timeout=TO_LOAD_S)
        self.assertEqual(watching.returncode, 0, errors)
        self.assertIn("an adapter for PEFT", said)
        for name in ("README.md", "adapter_config.json", "adapter_model.safetensors", "tokenizer.json",
                     "metrics.json", "events.tfevents"):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)
        with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as file:
            row = json.load(file)["rows"][-1]
        self.assertLess(row["metrics"]["perplexity"], 250)
        # What travelled: the adapters, a small part of the model.
        self.assertLess(os.path.getsize(os.path.join(folder, "adapter_model.safetensors")),
                        os.path.getsize(os.path.join(base, "model.safetensors")) / 8)
        self.assertGreater(float(self.python("-c", LOAD, base, folder)), 0.01)
        told = self.python("-c", EVENTS, os.path.join(folder, "events.tfevents"))
        told = {(step, tag): float(value) for step, tag, value in map(str.split, told.splitlines())}
        self.assertAlmostEqual(told[str(row["samples"]), "loss/validation"], row["validation_loss"], 4)
        self.assertIn("live/loss", {tag for _step, tag in told})
        store = os.path.join(self.folder, "mlruns")
        run = self.python("-m", "souk.mlflow", folder, "--store", store).strip()
        with open(os.path.join(run, "metrics", "perplexity"), encoding="utf-8") as file:
            self.assertEqual(len(file.read().splitlines()), 1)
        prompt = os.path.join(self.folder, "prompt")
        with open(prompt, "w", encoding="utf-8") as file:
            file.write("Copyright")
        with open(prompt, encoding="utf-8") as file:
            said = self.souk("predict", job, "--length", "30", token=self.bob, stdin=file,
                             env={"SOUK_PYTHON": PYTHON}).stdout
        self.assertTrue(said.startswith("Copyright"), said)
        self.assertGreater(len(said), 20)

    def test_a_folder_that_is_no_model_is_refused_before_anything_is_sent(self):
        path = self.job_file(f"kind: train\ntrainer: transformers\nmodel: {self.folder}\n"
                             "data: {format: text, train: job.yaml}\nprice: {limit: 1, budget: 5}\n")
        done = self.souk("run", path, "--yes", token=self.bob, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has no config.json", done.stderr)


if __name__ == "__main__":
    unittest.main()

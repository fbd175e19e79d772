"""Language models with Hugging Face's libraries, at the versions that go with Debian's PyTorch.

scripts/setup fetches those into build/transformers; without them this is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
from conversation import DEADLINE_S, SOURCES, Worker, WorkerTest

from souk import Error, safetensors
from souk.transformers.export import export
from souk.transformers.settings import read_settings

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / "build" / "transformers" / "bin" / "python"
SCRIPT = "import souk.transformers\n\nsouk.transformers.worker()\n"
TEXT = (ROOT / "docs" / "training.md").read_bytes()
LORA = {"r": 4, "alpha": 8, "target": ["c_attn", "c_fc"]}
SMALL = {"model": "new-gpt", "context": 32, "threads": 1}
UNIT = {"base": "w", "shard": "s", "steps": 12, "batch": 8, "lr": 0.01, "seed": 1, "keep": "job"}

# Loads what was exported as anybody would, and says the loss on a text.
LOAD = """
import sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
results, base, text = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(results)
model = AutoModelForCausalLM.from_pretrained(base or results)
if base:
    model = PeftModel.from_pretrained(model, results)
model.eval()
ids = torch.tensor([tokenizer(text)["input_ids"][:32]])
print(ids.shape[1], float(model(input_ids=ids, labels=ids).loss))
"""


def python(*words: str | Path, text: str = "") -> str:
    done = subprocess.run(
        [PYTHON, "-B", *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env={**os.environ, "PYTHONPATH": str(SOURCES), "HF_HUB_OFFLINE": "1"},
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Settings(unittest.TestCase):
    def test_a_mistake_is_named_with_its_fix(self) -> None:
        rows: list[tuple[dict[str, Any], str]] = [
            ({"lora": {"rank": 8}}, "lora has no 'rank'"),
            ({"lora": 8}, "give {r: 16"),
            ({"lora": {"r": 0}}, "r is 0 (use 1 to 4096)"),
            ({"lora": {"target": [1]}}, "names of layers"),
            ({"precision": "fp8"}, "use auto, fp32, bf16 or fp16"),
            ({"context": 1}, "use 2 to"),
            ({"context": True}, "context is True"),
            ({"model": "new-gpt", "width": 30}, "a multiple of the heads"),
        ]
        for config, words in rows:
            with self.subTest(config), self.assertRaises(Error) as caught:
                read_settings(config)
            self.assertIn(words, str(caught.exception))

    def test_what_others_put_into_the_configuration_is_left_alone(self) -> None:
        settings = read_settings({"classes": 0, "lr": 1, "lora": {"target": "q_proj"}})
        assert settings.lora is not None
        self.assertEqual(settings.lora.target, ("q_proj",))
        self.assertEqual(settings.lora.scale, 32)


@unittest.skipUnless(PYTHON.exists(), "transformers is not here: scripts/setup test fetches it")
class Transformers(WorkerTest):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def worker(self, **config: Any) -> tuple[Worker, dict[str, Any]]:
        w = Worker(SCRIPT, python=str(PYTHON))
        self.addCleanup(w.end)
        said = w.hello(**{**SMALL, **config})
        w.write("s", x=np.frombuffer(TEXT[2000:], np.uint8))
        w.write("v", x=np.frombuffer(TEXT[:2000], np.uint8))
        w.good("init", seed=1, out="w")
        return w, said

    def learn(self, w: Worker, units: int = 2) -> tuple[float, float]:
        """Losses on other text, before and after."""
        before = w.good("evaluate", base="w", shard="v", batch=16)
        for unit in range(units):
            w.good("train", **UNIT, out="u", send="weights", first_step=12 * unit)
            os.replace(w.folder / "u", w.folder / "w")
        after = w.good("evaluate", base="w", shard="v", batch=16)
        self.assertAlmostEqual(after["metrics"]["perplexity"], np.exp(after["loss"]), places=6)
        return before["loss"], after["loss"]

    def results(self, w: Worker, **config: Any) -> Path:
        """As the market would leave them."""
        folder = self.folder / "results"
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(w.bytes("w"))
        (folder / "trainer.json").write_text(json.dumps({**SMALL, **config}))
        row = {"epoch": 1, "loss": 3, "validation_loss": 4, "metrics": {"perplexity": 55}}
        (folder / "metrics.json").write_text(json.dumps({"rule": "mean", "rows": [row]}))
        return folder

    def test_adapters_travel_learn_and_are_loaded_by_peft(self) -> None:
        w, said = self.worker(lora=LORA)
        names = [t["name"] for t in said["tensors"]]
        self.assertEqual(len(names), 8)  # A and B of two layers of two blocks.
        self.assertIn("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight", names)
        self.assertIn("transformers", said["framework"])
        before, after = self.learn(w)
        self.assertLess(after, before - 0.1)
        results = self.results(w, lora=LORA)
        base = self.folder / "base"
        python("-m", "souk.transformers", "new", base, "--context", "32")
        self.assertEqual(export(results, base), "an adapter for PEFT")
        self.assertEqual(export(results, base), "it was exported before")
        self.assertFalse((results / "model.safetensors").exists())
        self.assertFalse((results / "config.json").exists())
        card = (results / "README.md").read_text()
        self.assertIn("library_name: peft", card)
        self.assertIn("| 1 | 3.0000 | 4.0000 | 55.00 |", card)
        text = TEXT[:32].decode()
        tokens, loss = python("-c", LOAD, results, base, text).split()
        w.write("one", x=np.frombuffer(TEXT[:32], np.uint8))
        self.assertEqual(int(tokens), 32)
        here = w.good("evaluate", base="w", shard="one", batch=1)["loss"]
        self.assertAlmostEqual(float(loss), here, places=4)

    def test_a_whole_model_learns_writes_and_is_loaded_by_transformers(self) -> None:
        w, said = self.worker()
        names = [t["name"] for t in said["tensors"]]
        self.assertNotIn("lm_head.weight", names)  # It is the embedding's: tied.
        before, after = self.learn(w)
        self.assertLess(after, before - 0.5)
        results = self.results(w)
        base = self.folder / "base"
        python("-m", "souk.transformers", "new", base, "--context", "32")
        written = python(
            "-m", "souk.transformers", "predict", results, "--length", "60", text="One"
        )
        self.assertTrue(written.startswith("One"), written)
        self.assertGreater(len(written), 30)
        self.assertEqual(export(results, base), "a model for transformers")
        text = TEXT[:32].decode()
        _tokens, loss = python("-c", LOAD, results, "", text).split()
        w.write("one", x=np.frombuffer(TEXT[:32], np.uint8))
        here = w.good("evaluate", base="w", shard="one", batch=1)["loss"]
        self.assertAlmostEqual(float(loss), here, places=4)

    def test_a_folder_with_a_trained_tokenizer_is_trained_in_small_pieces(self) -> None:
        base = self.folder / "base"
        python("-m", "souk.transformers", "new", base, "--context", "32", "--vocabulary", "400",
               "--text", ROOT / "docs" / "training.md")  # fmt: skip
        config = {"model": str(base), "lora": LORA, "sample_bytes": 64}
        w, _said = self.worker(**config)
        self.learn(w, units=1)
        exam = w.good("evaluate", base="w", shard="v", batch=16)
        # The job counted by bytes, and takes no more samples than it counted.
        self.assertLessEqual(exam["samples"], 2000 // 64)
        whole, pieces = {**UNIT, "keep": "", "out": "whole"}, {**UNIT, "keep": "", "out": "u"}
        w.good("train", **whole)
        other = Worker(SCRIPT, python=str(PYTHON))
        self.addCleanup(other.end)
        other.hello(**{**SMALL, **config}, micro_batch=3, gradient_checkpointing=True)
        for name in ("s", "w"):
            (other.folder / name).write_bytes(w.bytes(name))
        other.good("train", **pieces)
        a, b = w.read("whole"), other.read("u")
        for name in a:
            np.testing.assert_allclose(a[name], b[name], atol=2e-4)

    def test_every_worker_makes_the_same_model_and_mistakes_are_named(self) -> None:
        first, _ = self.worker()
        second, _ = self.worker()
        self.assertEqual(first.bytes("w"), second.bytes("w"))
        w = Worker(SCRIPT, python=str(PYTHON))
        self.addCleanup(w.end)
        hello = {"protocol": 1}
        config = {**SMALL, "lora": {"target": ["q_proj"]}}
        self.assertIn(
            "layers of this model: c_attn, c_fc", w.error("hello", **hello, config=config)
        )
        config = {**SMALL, "model": "nowhere"}
        self.assertIn("nowhere has no config.json", w.error("hello", **hello, config=config))
        config = {**SMALL, "precision": "fp16"}
        self.assertIn("fp16 needs a GPU", w.error("hello", **hello, config=config))
        w.hello(**SMALL, precision="bf16")
        w.write("s", x=np.zeros((3, 4), np.float32))
        w.good("init", seed=1, out="w")
        self.assertIn("is no text", w.error("train", **UNIT, out="u"))


class Export(unittest.TestCase):
    def test_a_folder_that_is_no_result_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "trainer.json").write_text("{}")
            with self.assertRaisesRegex(Error, "has no model.safetensors"):
                export(folder, None)
            safetensors.write(folder / "model.safetensors", {"w": np.zeros(3, np.float32)})
            before = (folder / "model.safetensors").read_bytes()
            with self.assertRaisesRegex(Error, "name the model's folder with --model"):
                export(folder, None)
            self.assertEqual((folder / "model.safetensors").read_bytes(), before)
            (folder / "model.safetensors").write_bytes(b"\xff" * 20)
            with self.assertRaisesRegex(Error, "not a safetensors file"):
                export(folder, None)

#!/usr/bin/env python3
"""LoRA of a GPT-2-sized model through the SDK's trainer, beside PEFT's own loop; one machine, no market.

    bench/lora_gpu.py                                     # an H200: about three minutes
    bench/lora_gpu.py --layers 2 --width 64 --heads 4 --vocabulary 300 --context 32 --steps 60 --unit 0.5

(a) validation loss at equal tokens: a plain loop of one process with peft, and four workers that speak the
    worker protocol, each a process of its own, whose changes are folded as the market's default aggregator
    does (docs/decisions/0038): each worker takes smaller batches, keeps its AdamW, fetches parameters when it has
    handed in its change, as workers do whose exchange takes next to no time (0061), and counts a quarter;
(b) the size of an update beside the model's;
(c) the pace of one worker, from the request to the answer, beside the plain loop's, in turns.

The model begins with random weights and is trained on this repository's sources for --pretrain steps, as a
model that people fine-tune knows something; the text that LoRA learns is its documents and headers, in bytes. Needs
torch, transformers and peft in the Python that runs it, and nothing of Souk but sdk/python. Prints a JSON object
a line, and a table at the end.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sdk" / "python" / "src"))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from souk import safetensors  # noqa: E402
from souk.permutation import permutation  # noqa: E402
from souk.transformers import models  # noqa: E402
from souk.transformers.settings import read_settings  # noqa: E402
from souk.transformers.tokens import PackedTexts  # noqa: E402

SCRIPT = "import souk.transformers\n\nsouk.transformers.worker()\n"
LEAST_LOCAL_BATCH = 8


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, value in {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257, "context": 256, "batch": 32,
                        "steps": 800, "rank": 8, "workers": 4, "units": 9, "seed": 1, "pretrain": 300}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--target", default="c_attn", help="layers with adapters, with commas")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--unit", type=float, default=2.0, help="seconds of a unit in (c)")
    parser.add_argument("--round", type=int, default=2, help="batches of a unit in (a)")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--only", default="abc", help="of a, b and c")
    return parser.parse_args()


def text_of(o, *patterns):
    files = sorted(file for pattern in patterns for file in ROOT.glob(pattern))
    random.Random(o.seed).shuffle(files)
    return b"".join(file.read_bytes() for file in files)


def pretrain(o, model):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    text = torch.frombuffer(bytearray(text_of(o, "src/**/*.cc")), dtype=torch.uint8)
    windows = text[:len(text) // o.context * o.context].view(-1, o.context).to(device)
    optimizer = torch.optim.AdamW(model.to(device).parameters(), lr=6e-4, weight_decay=0.1)
    for step in range(o.pretrain):
        warm = min(1, (step + 1) / 50)
        for group in optimizer.param_groups:
            group["lr"] = 6e-4 * warm * (0.1 + 0.9 * (1 + math.cos(math.pi * step / o.pretrain)) / 2)
        ids = windows[torch.randint(len(windows), (64,)).to(device)].long()
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.to("cpu")
    return {"loss after pretraining": loss.item()}


def prepare(o, folder):
    """The model's folder, and a shard each of training and validation text."""
    import transformers
    torch.manual_seed(o.seed)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=o.vocabulary, n_positions=max(o.context, 64), n_embd=o.width, n_layer=o.layers, n_head=o.heads,
        bos_token_id=256, eos_token_id=256, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    found = pretrain(o, model) if o.pretrain else {}
    model.save_pretrained(folder / "model")
    models.byte_tokenizer().save_pretrained(folder / "model")
    text = text_of(o, "docs/**/*.md", "src/**/*.h", "*.md")
    held = min(len(text) // 20, 400_000)
    for name, part in (("train", text[:-held]), ("validation", text[-held:])):
        safetensors.write(folder / name, {"x": np.frombuffer(part, np.uint8)})
    parameters = sum(p.numel() for p in model.parameters())
    return {"parameters": parameters, "bytes of text": len(text), **found}


def config_of(o, folder):
    return {"model": str(folder / "model"), "context": o.context, "precision": o.precision, "threads": 0,
            "lora": {"r": o.rank, "target": o.target.split(",")}}


def rate(o, done):
    """Along a cosine from lr to a tenth of it; `done` from 0 to 1."""
    return o.lr * (0.1 + 0.9 * (1 + math.cos(math.pi * min(done, 1))) / 2)


class Bare:
    """What a user of PEFT writes. From the adapters in the file `first`."""

    def __init__(self, o, folder, first):
        self.o, self.device = o, torch.device("cuda" if torch.cuda.is_available() else "cpu")
        settings = read_settings(config_of(o, folder))
        self.precision = models.precision_on(settings, self.device)
        self.model, tokenizer = models.make(settings, self.device)
        self.model.to(self.device)
        values = safetensors.read(first)
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    parameter.copy_(torch.tensor(values[name.replace(".default.", ".")]))
        self.learning = [p for p in self.model.parameters() if p.requires_grad]
        fused = {"fused": True} if self.device.type == "cuda" else {}
        self.optimizer = torch.optim.AdamW(self.learning, lr=o.lr, weight_decay=0.0, **fused)
        texts = PackedTexts(tokenizer, o.context)
        self.train, self.held = (torch.from_numpy(texts.load(folder / name)[0]).to(self.device)
                                 for name in ("train", "validation"))
        self.order = torch.from_numpy(np.array(permutation(len(self.train), o.seed))).to(self.device)
        self.at = 0

    def products(self):
        types = {"bf16": torch.bfloat16, "fp16": torch.float16}
        return torch.autocast(self.device.type, dtype=types.get(self.precision, torch.bfloat16),
                              enabled=self.precision != "fp32")

    def steps(self, count, lr):
        """Trains; the seconds that it took."""
        self.wait()
        began = time.perf_counter()
        self.model.train()
        losses = []
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        for _ in range(count):
            places = (torch.arange(self.o.batch, device=self.device) + self.at) % len(self.order)
            ids = self.train[self.order[places]].long()
            self.at += self.o.batch
            self.optimizer.zero_grad(set_to_none=True)
            with self.products():
                loss = self.model(input_ids=ids, labels=ids).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.learning, 1.0)
            self.optimizer.step()
            losses.append(loss.detach())
        float(torch.stack(losses).mean())
        self.wait()
        return time.perf_counter() - began

    def check(self):
        self.model.eval()
        total = 0.0
        with torch.no_grad(), self.products():
            for ids in self.held.split(64):
                total += float(self.model(input_ids=ids.long(), labels=ids.long()).loss) * len(ids)
        return total / len(self.held)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


class Worker:
    """A process with the SDK's trainer, and our end of the worker protocol."""

    def __init__(self, o, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / "trainer.py").write_text(SCRIPT)
        for shard in ("train", "validation"):
            os.link(folder / shard, self.folder / shard)
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [sys.executable, "trainer.py"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, env={**os.environ, "PYTHONPATH": str(ROOT / "sdk" / "python" / "src")})
        config = config_of(o, folder)
        config["threads"] = 0 if torch.cuda.is_available() else 1
        self.tensors = self.ask("hello", protocol=1, config=config)["tensors"]

    def ask(self, op, **fields):
        self.process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"ok": False}
        if not answer["ok"]:
            sys.exit(f"{op}: {answer}\n" + (self.folder / "log").read_text()[-3000:])
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.log.close()


class Hub:
    """The parameters, folded by the aggregator `mean` with equal workers."""

    def __init__(self, first, workers):
        self.values = {name: np.array(value) for name, value in safetensors.read(first).items()}
        self.workers, self.lock, self.done = workers, threading.Lock(), 0

    def snapshot(self, path):
        with self.lock:
            safetensors.write(path, self.values)

    def fold(self, path):
        with self.lock:
            for name, change in safetensors.read(path).items():
                self.values[name] += change / self.workers


def together(o, folder, first):
    """The loss of several workers, and the seconds they took."""
    parts = max(d for d in range(1, o.workers + 1)
                if o.batch % d == 0 and (d == 1 or o.batch // d >= min(LEAST_LOCAL_BATCH, o.batch)))
    batch, steps = o.batch // parts, o.round * parts
    rounds = max(1, o.steps // (o.round * o.workers))
    hub = Hub(first, o.workers)
    workers = [Worker(o, folder, f"w{i}") for i in range(o.workers)]

    def run(i, worker):
        for k in range(rounds):
            hub.snapshot(worker.folder / "base")
            # Units of one epoch share the seed and cover the shard without overlap.
            unit = k * o.workers + i
            worker.ask("train", base="base", shard="train", out="u", send="delta", first_step=unit * steps,
                       steps=steps, batch=batch, of_batch=o.batch, lr=rate(o, k / rounds), seed=o.seed, keep="job")
            hub.fold(worker.folder / "u")

    began = time.perf_counter()
    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    hub.snapshot(workers[0].folder / "end")
    loss = workers[0].ask("evaluate", base="end", shard="validation", batch=64)["loss"]
    size = os.path.getsize(workers[0].folder / "u")
    for worker in workers:
        worker.end()
    return {"loss": loss, "seconds": seconds, "batch": batch, "units": rounds * o.workers, "update bytes": size,
            "tokens": rounds * o.workers * steps * batch * o.context}


def alone(o, folder, first, tokens):
    bare = Bare(o, folder, first)
    before, count, seconds = bare.check(), tokens // (o.batch * o.context), 0.0
    for step in range(0, count, o.round):
        seconds += bare.steps(min(o.round, count - step), rate(o, step / count))
    return {"loss": bare.check(), "loss before": before, "seconds": seconds, "tokens": count * o.batch * o.context}


def pace(o, folder, first):
    """Units of the worker and of the plain loop in turns; the median of the ratios."""
    bare, worker = Bare(o, folder, first), Worker(o, folder, "pace")
    bare.steps(10, o.lr)
    steps = max(1, round(o.unit / (bare.steps(20, o.lr) / 20)))
    hub, ratios, mine, theirs = Hub(first, 1), [], [], []
    hub.snapshot(worker.folder / "base")
    for k in range(o.units + 1):
        theirs.append(bare.steps(steps, o.lr))
        began = time.perf_counter()
        worker.ask("train", base="base", shard="train", out="u", send="delta", first_step=k * steps, steps=steps,
                   batch=o.batch, lr=o.lr, seed=o.seed, keep="job")
        mine.append(time.perf_counter() - began)
        ratios.append(theirs[-1] / mine[-1])
    worker.end()
    return {"steps of a unit": steps, "worker seconds": statistics.median(mine[1:]),
            "bare seconds": statistics.median(theirs[1:]), "ratio": statistics.median(ratios[1:]),
            "low": min(ratios[1:]), "high": max(ratios[1:])}


def main():
    o = options()
    found = {"device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu", "torch": torch.__version__}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = Path(name)
        found |= prepare(o, folder)
        print(json.dumps(found), flush=True)
        starter = Worker(o, folder, "starter")
        starter.ask("init", seed=o.seed, out="first")
        first = folder / "first"
        os.replace(starter.folder / "first", first)
        starter.end()
        rows = []
        if "a" in o.only:
            many = together(o, folder, first)
            one = alone(o, folder, first, many["tokens"])
            print(json.dumps({"one PEFT loop": one, f"{o.workers} workers": many}), flush=True)
            rows.append((f"(a) validation loss, {o.workers} workers / one PEFT loop, at {many['tokens']:,} tokens "
                         f"(before: {one['loss before']:.4f})",
                         f"{many['loss']:.4f} / {one['loss']:.4f} = {many['loss'] / one['loss']:.4f}"))
        if "b" in o.only:
            size, model = os.path.getsize(first), 4 * found["parameters"]
            rows.append(("(b) an update / the model, both in fp32", f"{size:,} / {model:,} = {100 * size / model:.2f}%"))
        if "c" in o.only:
            paced = pace(o, folder, first)
            print(json.dumps({"pace": paced}), flush=True)
            rows.append((f"(c) pace of a worker / the bare loop, units of {paced['bare seconds']:.2f} s",
                         f"{paced['ratio']:.3f} ({paced['low']:.3f} to {paced['high']:.3f})"))
    print("| | |\n| --- | --- |")
    for row in rows:
        print(f"| {row[0]} | {row[1]} |")


if __name__ == "__main__":
    main()

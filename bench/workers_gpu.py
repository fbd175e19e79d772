#!/usr/bin/env python3
"""How learning scales with workers: rules x workers x problems x seeds, on one GPU.

    bench/workers_gpu.py DATA [--problems lenet,mlp,resnet20,text,text-adam] [--workers 4,10,32] [--seeds 3] [--at-once 10]

DATA has MNIST's four idx files, CIFAR-10's train_10k.bin and test_2k.bin, and text.txt; a problem whose
data is not there is left out. Every step is computed for real, those of all workers side by side (vmap);
workers finish in an order that is drawn anew in each round, so that a change is as stale as with machines
of equal speed. All settings of a problem see the same number of samples. Prints a JSON line for each
setting with what the checks after each epoch gave, then a table: means over the seeds.

Needs PyTorch 2 and a GPU. The same rules in C++: src/train/aggregators.
"""
import argparse
import collections
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

MOMENTUM = 0.9
ADAM = 0.9, 0.999, 1e-8  # Decay of the mean and of the mean square, and what is added to the root.


def idx(path):
    raw = open(path, "rb").read()
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8).view(dims).cuda()


def mnist(folder):
    x = [idx(f"{folder}/{n}-images-idx3-ubyte").float().div(255).unsqueeze(1) for n in ("train", "t10k")]
    y = [idx(f"{folder}/{n}-labels-idx1-ubyte").long() for n in ("train", "t10k")]
    return x[0], y[0], x[1], y[1]


def cifar(folder):
    def read(name):
        raw = torch.frombuffer(bytearray(open(f"{folder}/{name}", "rb").read()), dtype=torch.uint8)
        rows = raw.view(-1, 3073).cuda()
        return rows[:, 1:].float().div(127.5).sub(1).view(-1, 3, 32, 32), rows[:, 0].long()
    return *read("train_10k.bin"), *read("test_2k.bin")


def text(folder, context=64):
    raw = torch.frombuffer(bytearray(open(f"{folder}/text.txt", "rb").read()), dtype=torch.uint8).cuda().long()
    windows = raw.unfold(0, context + 1, context // 2)
    held = torch.arange(len(windows), device="cuda") % 10 == 0
    return windows[~held][:, :-1], windows[~held][:, 1:], windows[held][:, :-1], windows[held][:, 1:]


class Batchnorm(nn.Module):
    """By the batch's own statistics, in training and in checks: those of workers are never mixed."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return F.batch_norm(x, None, None, self.weight, self.bias, training=True)


class Block(nn.Module):
    def __init__(self, inner, width, stride):
        super().__init__()
        self.one, self.two = nn.Conv2d(inner, width, 3, stride, 1, bias=False), nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm1, self.norm2, self.stride, self.more = Batchnorm(width), Batchnorm(width), stride, width - inner

    def forward(self, x):
        y = self.norm2(self.two(F.relu(self.norm1(self.one(x)))))
        if self.stride > 1:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.more))
        return F.relu(x + y)


def resnet20():
    layers, width = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), Batchnorm(16), nn.ReLU()], 16
    for stage in (16, 32, 64):
        for i in range(3):
            layers.append(Block(width, stage, 2 if stage > width else 1))
            width = stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


class Transformer(nn.Module):
    def __init__(self, width=64, heads=4, layers=2, context=64):
        super().__init__()
        self.token, self.place = nn.Embedding(256, width), nn.Parameter(torch.randn(context, width) * 0.02)
        self.parts = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width),
                           nn.Linear(width, 4 * width), nn.Linear(4 * width, width)]) for _ in range(layers))
        self.norm, self.out, self.heads = nn.LayerNorm(width), nn.Linear(width, 256), heads
        self.register_buffer("mask", torch.full((context, context), -1e9).triu(1))

    def forward(self, x):
        h = self.token(x) + self.place
        for norm1, mix, back, norm2, wide, narrow in self.parts:
            q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(-3, -2) for t in mix(norm1(h)).chunk(3, -1))
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + self.mask
            h = h + back((scores.softmax(-1) @ v).transpose(-3, -2).flatten(-2))
            h = h + narrow(F.gelu(wide(norm2(h))))
        return self.out(self.norm(h)).transpose(-1, -2)


class Problem(NamedTuple):
    model: Callable
    data: Callable
    batch: int  # Of all workers together.
    epochs: int
    rates: tuple  # Serial training takes the best; the middle one is everybody's.
    unit: int  # Steps of the plan.
    optimiser: str = "sgd"
    least: int = 8  # Samples of a worker's own step (the job's local_batch).
    together: bool = True  # The workers' steps side by side; convolutions of many small groups are slower so.


PROBLEMS = {"lenet": Problem(lenet, mnist, 64, 4, (0.01, 0.02, 0.04), 4),
            "mlp": Problem(mlp, mnist, 64, 4, (0.01, 0.02, 0.04), 4),
            "resnet20": Problem(resnet20, cifar, 64, 12, (0.025, 0.05, 0.1), 4, together=False),
            "text": Problem(Transformer, text, 32, 20, (0.1, 0.2, 0.4), 4, least=2),
            "text-adam": Problem(Transformer, text, 32, 20, (0.001, 0.002, 0.004), 4, "adam", 2)}


class Rule(NamedTuple):
    name: str
    divided: bool  # The batch is that of all workers together.
    keep: bool  # Workers keep the state of their optimiser from unit to unit.
    outer: float = 0  # Momentum at the hub.
    eta: float = 1
    unit: int = 0  # Steps of the plan, other than the problem's.
    drag: float = 0  # By how much a change is corrected for what others did since its worker began.


RULES = {"mean, divided, kept": Rule("mean", True, True), "mean, divided, fresh": Rule("mean", True, False),
         "mean, whole, kept": Rule("mean", False, True),
         "mean, divided, kept, units of 1": Rule("mean", True, True, unit=1),
         "delayed-nesterov, whole, fresh": Rule("nesterov", False, False, 0.5),
         "diloco, whole, kept": Rule("rounds", False, True, 0.9, 0.7),
         "rounds, divided, kept": Rule("rounds", True, True),
         "rounds 0.5, divided, kept": Rule("rounds", True, True, 0.5, 0.7)}


class Lesson:
    """One setting: parameters and moments of workers as rows of matrices, one step of all, or of one after the
    other, as a CUDA graph."""

    def __init__(self, folder, problem, workers, batch, seed):
        self.moments = [None] * workers  # Where they are computed one after the other.
        workers = workers if problem.together else 1
        torch.manual_seed(seed)
        self.net = problem.model().cuda()
        self.x, self.y, self.tx, self.ty = problem.data(folder)
        self.shapes = [(name, p.shape, p.numel()) for name, p in self.net.named_parameters()]
        self.first = torch.cat([p.detach().reshape(-1) for p in self.net.parameters()])
        self.p = self.first.expand(workers, -1).clone()
        self.m, self.v = torch.zeros_like(self.p), torch.zeros_like(self.p)
        self.t = torch.zeros(workers, 1, device="cuda")
        self.rows = torch.zeros(workers, batch, dtype=torch.long, device="cuda")
        self.rate = torch.zeros((), device="cuda")
        slope = grad(lambda v, x, y: F.cross_entropy(self.scores(v, x), y))
        slopes = vmap(slope) if workers > 1 else lambda v, x, y: slope(v[0], x[0], y[0])[None]

        def sgd(g):
            self.m.mul_(MOMENTUM).add_(g)
            self.p.sub_(self.m * self.rate)

        def adam(g):
            b1, b2, eps = ADAM
            self.t.add_(1)
            self.m.mul_(b1).add_(g, alpha=1 - b1)
            self.v.mul_(b2).addcmul_(g, g, value=1 - b2)
            self.p.sub_(self.rate * self.m / (1 - b1 ** self.t) / ((self.v / (1 - b2 ** self.t)).sqrt() + eps))

        def step():
            {"sgd": sgd, "adam": adam}[problem.optimiser](slopes(self.p, self.x[self.rows], self.y[self.rows]))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        self.graph = graph
        self.forget()

    def forget(self):
        """The workers' optimisers begin afresh."""
        self.moments = [None] * len(self.moments)
        for state in (self.m, self.v, self.t):
            state.zero_()

    def switch(self, i):
        """To the moments of worker i."""
        if self.moments[i] is None:
            self.moments[i] = [torch.zeros_like(state) for state in (self.m, self.v, self.t)]
        for state, kept in zip((self.m, self.v, self.t), self.moments[i]):
            state.copy_(kept)

    def scores(self, v, x):
        tree, at = {}, 0
        for name, shape, n in self.shapes:
            tree[name] = v[at:at + n].reshape(shape)
            at += n
        return functional_call(self.net, tree, (x,))

    def unit(self, bases, batches, rate):
        """The workers' parameters after these steps from their bases."""
        if len(bases) == len(self.p):
            return self.steps(bases, batches, rate)
        out = torch.empty_like(bases)
        for i in range(len(bases)):
            self.switch(i)
            out[i] = self.steps(bases[i:i + 1], batches[:, i:i + 1], rate)[0]
            self.moments[i] = [state.clone() for state in (self.m, self.v, self.t)]
        return out

    def steps(self, bases, batches, rate):
        self.p.copy_(bases)
        self.rate.fill_(rate)
        for rows in batches:
            self.rows.copy_(rows)
            self.graph.replay()
        return self.p

    def check(self, w):
        """Accuracy, or for text the loss."""
        with torch.no_grad():
            parts = [(self.scores(w, x), y) for x, y in zip(self.tx.split(1000), self.ty.split(1000))]
            if parts[0][1].dim() > 1:
                return round(sum(float(F.cross_entropy(s, y)) * len(y) for s, y in parts) / len(self.ty), 4)
            return round(100 * sum(int((s.argmax(1) == y).sum()) for s, y in parts) / len(self.ty), 2)


def run(setting):
    folder, problem_name, rule_name, n, seed, rate = setting
    rule = Rule("serial", False, True) if rule_name == "serial" else RULES[rule_name]
    problem = PROBLEMS[problem_name]
    batch, most = problem.batch, min(n, problem.batch // problem.least)
    parts = max((d for d in range(1, most + 1) if batch % d == 0), default=1) if rule.divided else 1
    b, length = batch // parts, (rule.unit or problem.unit) * parts
    lesson = Lesson(folder, problem, n, b, seed)
    w, plane, outer = lesson.first.clone(), lesson.first.clone(), torch.zeros_like(lesson.first)
    bases, version = w.expand(n, -1).clone(), 0
    size, order, draw = len(lesson.x), torch.Generator().manual_seed(seed), random.Random(seed)
    samples = torch.cat([torch.randperm(size, generator=order) for _ in range(problem.epochs)]).cuda()
    each, found, done = n * b, [], 0
    while done + each <= len(samples):
        steps = min(length, (len(samples) - done) // each)
        if not rule.keep:
            lesson.forget()
        batches = samples[done:done + steps * each].view(steps, n, b)
        new = lesson.unit(bases, batches, rate)
        before, done = done, done + steps * each
        if rule.name == "serial":
            w, bases = new[0].clone(), new.clone()
        elif rule.name == "rounds":
            change = (new - bases).mean(0)
            outer = rule.outer * outer + change
            w = w + rule.eta * (change + rule.outer * outer)
            bases = w.expand(n, -1).clone()
        else:
            for i in draw.sample(range(n), n):
                version += 1
                w = w + (rule.eta * (new[i] - bases[i]) - rule.drag * (w - bases[i])) / n
                if rule.name == "nesterov" and version % n == 0:
                    w, plane = w + rule.outer * (w - plane), w
                bases[i] = w
        if before // size < done // size or done + each > len(samples):
            found.append(lesson.check(w))
    return {"problem": problem_name, "rule": rule_name, "workers": n, "seed": seed, "lr": rate, "checks": found}


def settings(args):
    needs = {mnist: "train-images-idx3-ubyte", cifar: "train_10k.bin", text: "text.txt"}
    for problem in args.problems.split(","):
        need = needs[PROBLEMS[problem].data]
        if not os.path.exists(f"{args.data}/{need}"):
            print(f"no {need}: {problem} is left out", file=sys.stderr)
            continue
        for seed in range(1, args.seeds + 1):
            rates = PROBLEMS[problem].rates
            for rate in rates:
                yield args.data, problem, "serial", 1, seed, rate
            for n in map(int, args.workers.split(",")):
                for rule in RULES:
                    if n > 1:
                        yield args.data, problem, rule, n, seed, rates[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--workers", default="4,10,32")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=10)
    args = parser.parse_args()
    mp.set_start_method("spawn")
    jobs, began, last = list(settings(args)), time.time(), collections.defaultdict(list)
    with mp.Pool(args.at_once) as pool:
        for row in pool.imap_unordered(run, jobs):
            print(json.dumps(row), flush=True)
            last[row["problem"], row["workers"], row["rule"] + (f" at {row['lr']:g}" if row["rule"] == "serial" else "")].append(row["checks"][-1])
    for (problem, n, rule), values in sorted(last.items()):
        print(f"| {problem} | {n} | {rule} | {sum(values) / len(values):.2f} | {', '.join(map(str, sorted(values)))} |")
    print(f"{len(jobs)} settings in {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()

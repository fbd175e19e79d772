#!/usr/bin/env python3
"""How learning scales with workers: rules x workers x problems x seeds, on one GPU.

    bench/workers_gpu.py DATA [--problems lenet,resnet20,text,text-adam,regression] [--workers 4,10,32]
                         [--seeds 3] [--at-once 4] [--seconds 420] [--rules mean,rounds]

DATA has MNIST's four idx files, CIFAR-10's train_10k.bin and test_2k.bin, and text.txt; a problem whose
data is not there is left out (regression makes its own). Every step is computed for real. All workers of all
seeds and rules step side by side, as rows of one matrix (vmap); workers finish in an order that is drawn anew in each
round, so that a change is as stale as with machines of equal speed. All settings of a problem see the same
samples. Prints a JSON line for each rule, number of workers and seed with what the checks after each epoch gave
(accuracy in percent; the loss for text; 1 - R2 for regression) and what the mean of the last parameters gives
at the end (src/train/average.h), then a table of both. Groups of settings that do not fit into --seconds are named and left out.

Needs PyTorch 2 and a GPU (--device cpu for a try). The same rules in C++: src/train/aggregators.
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
CHUNK, SENT = 4096, 64  # Of so many values the codec sparse2 sends so many.


def idx(path):
    raw = open(path, "rb").read()
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8).view(dims)


def mnist(folder):
    x = [idx(f"{folder}/{n}-images-idx3-ubyte").float().div(255).unsqueeze(1) for n in ("train", "t10k")]
    y = [idx(f"{folder}/{n}-labels-idx1-ubyte").long() for n in ("train", "t10k")]
    return x[0], y[0], x[1], y[1]


def cifar(folder):
    def read(name):
        raw = torch.frombuffer(bytearray(open(f"{folder}/{name}", "rb").read()), dtype=torch.uint8)
        rows = raw.view(-1, 3073)
        return rows[:, 1:].float().div(127.5).sub(1).view(-1, 3, 32, 32), rows[:, 0].long()
    return *read("train_10k.bin"), *read("test_2k.bin")


def text(folder, context=64):
    raw = torch.frombuffer(bytearray(open(f"{folder}/text.txt", "rb").read()), dtype=torch.uint8).long()
    windows = raw.unfold(0, context + 1, context // 2)
    held = torch.arange(len(windows)) % 10 == 0
    return windows[~held][:, :-1], windows[~held][:, 1:], windows[held][:, :-1], windows[held][:, 1:]


def friedman(_):
    """Friedman's first function of ten numbers, five of which do not count, with noise; scaled."""
    draw = torch.Generator().manual_seed(7)
    x = torch.rand(24_000, 10, generator=draw)
    y = 10 * torch.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    y = ((y - y.mean()) / y.std())[:, None] + 0.1 * torch.randn(24_000, 1, generator=draw)
    return x[:20_000] * 2 - 1, y[:20_000], x[20_000:] * 2 - 1, y[20_000:]


class Conv(nn.Module):
    """A convolution as one product of matrices: many small models side by side are quicker so."""

    def __init__(self, inner, width, size, stride=1, padding=0, bias=True):
        super().__init__()
        like = nn.Conv2d(inner, width, size, stride, padding, bias=bias)
        self.weight, self.bias = nn.Parameter(like.weight.detach().flatten(1).clone()), like.bias
        self.size, self.stride, self.padding = size, stride, padding

    def forward(self, x):
        side = (x.shape[-1] + 2 * self.padding - self.size) // self.stride + 1
        y = self.weight @ F.unfold(x, self.size, padding=self.padding, stride=self.stride)
        y = y if self.bias is None else y + self.bias[:, None]
        return y.unflatten(-1, (side, side))


class Batchnorm(nn.Module):
    """By the batch's own statistics. Checks take 1,000 samples at a time, so that is what measuring the
    statistics anew before a check comes to (docs/training.md)."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean((0, 2, 3), keepdim=True)
        x = x - mean
        scale = (x.square().mean((0, 2, 3), keepdim=True) + 1e-5).rsqrt() * self.weight[None, :, None, None]
        return x * scale + self.bias[None, :, None, None]


class Block(nn.Module):
    def __init__(self, inner, width, stride):
        super().__init__()
        self.one, self.two = Conv(inner, width, 3, stride, 1, bias=False), Conv(width, width, 3, 1, 1, bias=False)
        self.norm1, self.norm2, self.stride, self.more = Batchnorm(width), Batchnorm(width), stride, width - inner

    def forward(self, x):
        y = self.norm2(self.two(F.relu(self.norm1(self.one(x)))))
        if self.stride > 1:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.more))
        return F.relu(x + y)


def resnet20():
    layers, width = [Conv(3, 16, 3, 1, 1, bias=False), Batchnorm(16), nn.ReLU()], 16
    for stage in (16, 32, 64):
        for _ in range(3):
            layers.append(Block(width, stage, 2 if stage > width else 1))
            width = stage
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    for conv in net.modules():
        if isinstance(conv, Conv):  # He et al., as in trainers/torch.
            nn.init.normal_(conv.weight, std=math.sqrt(2 / conv.weight.shape[1]))
    return net


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def amounts():
    return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


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
    optimiser: str = "sgd"
    least: int = 8  # Samples of a worker's own step (the job's local_batch).
    also: int = 0  # A number of workers beside the usual ones, which a bar is about.
    most_rows: int = 1 << 20  # Samples of one step, for the card's memory.
    every: int = 1  # Epochs from check to check.


PROBLEMS = {"lenet": Problem(lenet, mnist, 64, 4, (0.01, 0.02, 0.04), also=10),
            "resnet20": Problem(resnet20, cifar, 64, 12, (0.025, 0.05, 0.1), also=6, most_rows=1200),
            "text": Problem(Transformer, text, 32, 20, (0.1, 0.2, 0.4), least=2, also=8, every=4),
            "text-adam": Problem(Transformer, text, 32, 20, (0.002, 0.004, 0.008), "adam", 2, 8, every=4),
            "regression": Problem(amounts, friedman, 64, 12, (0.02, 0.05, 0.1), also=10, every=2)}


class Rule(NamedTuple):
    name: str  # mean: each change as it comes. rounds: their mean. vc: towards each worker's parameters.
    keep: bool = True  # Workers keep the state of their optimiser from unit to unit.
    unit: float = 1  # Steps of the plan; where the optimiser begins afresh at least 8 of the worker's own.
    outer: float = 0  # Momentum at the hub.
    eta: float = 1
    ahead: float = 0  # Workers begin from where the hub will be, by its last round, when they are done.
    old: bool = False  # A worker fetches parameters while it computes: they are a unit older.
    late: float = 0  # rounds: this share of changes misses its round, and counts in the next.
    codec: str = "fp32"
    root: bool = False  # Adam: the rate times the root of (the job's batch / the worker's own).
    gain: float = 0  # The rate times (what all take together at a time / the job's batch) to this power.


RULES = {"mean": Rule("mean"), "mean, rate by root": Rule("mean", root=True), "mean, sparse2": Rule("mean", codec="sparse2"),
         "rounds 0.5": Rule("rounds", outer=0.5, eta=0.7), "mean, units of 4": Rule("mean", unit=4),
         "mean, fresh": Rule("mean", keep=False), "mean, units of half": Rule("mean", unit=0.5),
         "mean, fetched early": Rule("mean", old=True), "ahead 1": Rule("mean", ahead=1), "rounds": Rule("rounds"),
         "rounds 0.5, a quarter late": Rule("rounds", outer=0.5, eta=0.7, late=0.25),
         "rounds, rate by root": Rule("rounds", root=True),
         "mean, gain 0.5": Rule("mean", gain=0.5), "mean, gain 1": Rule("mean", gain=1),
         "delayed-nesterov": Rule("nesterov", outer=0.5), "vc-asgd": Rule("vc", keep=False, unit=4)}
CORE = 4  # So many of them for every number of workers, the rest where a bar is.


class Lesson:
    """Rows of parameters and moments, one for each worker of each seed and rule, and a step of all of them
    (on a GPU as one graph)."""

    def __init__(self, problem, data, rows, batch, seeds, device):
        self.problem, self.device = problem, device
        self.x, self.y, self.tx, self.ty = (part.to(device) for part in data)
        starts = []
        for seed in seeds:
            torch.manual_seed(seed)
            self.net = problem.model().to(device)
            starts.append(torch.cat([p.detach().reshape(-1) for p in self.net.parameters()]))
        self.first = torch.stack(starts)  # By seed.
        self.shapes = [(name, p.shape, p.numel()) for name, p in self.net.named_parameters()]
        self.p = torch.zeros(rows, self.first.shape[1], device=device)
        self.m = torch.zeros_like(self.p)
        self.v = torch.zeros_like(self.p) if problem.optimiser == "adam" else torch.zeros(rows, 1, device=device)
        self.t = torch.zeros(rows, 1, device=device)
        self.picked = torch.zeros(rows, batch, dtype=torch.long, device=device)
        self.rate = torch.zeros(rows, 1, device=device)
        self.slopes = vmap(grad(lambda v, x, y: self.loss(self.scores(v, x), y)))
        self.graph = self.record() if device == "cuda" else None
        self.forget(slice(None))

    def loss(self, scores, y):
        return F.mse_loss(scores, y) if y.is_floating_point() else F.cross_entropy(scores, y)

    def step(self):
        g = self.slopes(self.p, self.x[self.picked], self.y[self.picked])
        if self.problem.optimiser == "sgd":
            self.m.mul_(MOMENTUM).add_(g)
            self.p.sub_(self.m * self.rate)
            return
        b1, b2, eps = ADAM
        self.t.add_(1)
        self.m.mul_(b1).add_(g, alpha=1 - b1)
        self.v.mul_(b2).addcmul_(g, g, value=1 - b2)
        self.p.sub_(self.rate * self.m / (1 - b1 ** self.t) / ((self.v / (1 - b2 ** self.t)).sqrt() + eps))

    def record(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        return graph

    def forget(self, rows):
        """These rows' optimisers begin afresh."""
        for state in (self.m, self.v, self.t):
            state[rows] = 0

    def scores(self, v, x):
        tree, at = {}, 0
        for name, shape, n in self.shapes:
            tree[name] = v[at:at + n].reshape(shape)
            at += n
        return functional_call(self.net, tree, (x,))

    def steps(self, batches):
        for picked in batches:
            self.picked.copy_(picked)
            self.step() if self.graph is None else self.graph.replay()

    def check(self, w):
        """Accuracy, or for text and amounts the loss."""
        with torch.no_grad():
            parts = [(self.scores(w, x), y) for x, y in zip(self.tx.split(1000), self.ty.split(1000))]
            if self.ty.dim() > 1:
                return round(sum(float(self.loss(s, y)) * len(y) for s, y in parts) / len(self.ty), 4)
            return round(100 * sum(int((s.argmax(1) == y).sum()) for s, y in parts) / len(self.ty), 2)


class Average:
    """The mean of the parameters over about the last tenth of the work (src/train/average.h)."""

    def __init__(self):
        self.value, self.work = None, 0

    def add(self, now, work):
        self.value = now.clone() if self.value is None else self.value + (1 - (self.work / work) ** 10) * (now - self.value)
        self.work = work


class Hub:
    """One rule and seed: the parameters, and what folds changes into them."""

    def __init__(self, rule, first, workers, seed):
        self.rule, self.n, self.draw = rule, workers, random.Random(seed)
        self.w = first.clone()
        self.plane = first.clone() if rule.name == "nesterov" else torch.zeros_like(first)
        self.speed = torch.zeros_like(first)  # By how much a round of all changes moves the parameters, lately.
        self.bases = first.expand(workers, -1).clone()  # That the workers' units began from.
        self.coming = self.bases.clone()  # That their next ones begin from, where these are fetched early.
        self.missed, self.count, self.version = None, 0, 0
        self.residual = torch.zeros_like(self.bases) if rule.codec == "sparse2" else None
        self.average = Average()

    def sent(self, change):
        """What arrives of these changes."""
        if self.residual is None:
            return change
        whole = self.residual + change
        padded = F.pad(whole, (0, -whole.shape[1] % CHUNK)).view(len(whole), -1, CHUNK)
        sizes = padded.abs()
        cut = sizes.topk(SENT, -1).values
        here = sizes >= cut[..., -1:]
        middle = cut.mean(-1, keepdim=True)  # Two levels: the means of the sizes above their mean, and of the rest.
        high = here & (sizes > middle)
        low = here & ~high
        level = lambda which: (sizes * which).sum(-1, keepdim=True) / which.sum(-1, keepdim=True).clamp_min(1)
        out = padded.sign() * (level(high) * high + level(low) * low)
        out = out.flatten(1)[:, :whole.shape[1]]
        self.residual = whole - out
        return out

    def fold(self, new, epoch):
        """Gives what the workers' next units begin from."""
        rule = self.rule
        if rule.name == "vc":
            alpha = epoch / (epoch + 1)
            for i in self.draw.sample(range(self.n), self.n):
                self.w = alpha * self.w + (1 - alpha) * new[i]
                self.bases[i] = self.w
            return self.bases
        change = self.sent(new - self.bases)
        if rule.name == "rounds":
            self.round(change)
            return self.bases
        for i in self.draw.sample(range(self.n), self.n):
            self.version += 1
            step = rule.eta / self.n * change[i]
            self.w = self.w + step
            if rule.ahead:
                self.speed = self.speed * (1 - 1 / self.n) + step
            if rule.name == "nesterov" and self.version % self.n == 0:
                self.w, self.plane = self.w + rule.outer * (self.w - self.plane), self.w
            pulled = self.w + rule.ahead * self.speed if rule.ahead else self.w
            self.bases[i] = self.coming[i] if rule.old else pulled
            self.coming[i] = pulled
        return self.bases

    def round(self, change):
        if self.rule.late:
            missed = torch.tensor([[self.draw.random() < self.rule.late] for _ in range(self.n)], device=change.device)
            change, self.missed = torch.where(missed, 0, change) + (0 if self.missed is None else self.missed), \
                torch.where(missed, change, 0)
        change = change.mean(0)
        self.plane = self.rule.outer * self.plane + change
        self.w = self.w + self.rule.eta * (change + self.rule.outer * self.plane)
        self.bases = self.w.expand(self.n, -1).clone()


class Group(NamedTuple):
    """Settings that step side by side."""
    folder: str
    problem: str
    rules: tuple  # Empty: serial training, at each rate.
    workers: int
    seeds: tuple
    device: str
    until: float


def serial(group, problem, data):
    seeds, rates = group.seeds, problem.rates
    lesson = Lesson(problem, data, len(seeds) * len(rates), problem.batch, seeds, group.device)
    lesson.p.copy_(lesson.first.repeat(len(rates), 1))
    lesson.rate.copy_(torch.tensor(rates, device=group.device).repeat_interleave(len(seeds))[:, None])
    size, found, means = len(lesson.x), [[] for _ in lesson.p], [[] for _ in lesson.p]
    draws = [torch.Generator().manual_seed(seed) for seed in seeds]
    average = Average()
    for epoch in range(1, problem.epochs + 1):
        order = torch.stack([torch.randperm(size, generator=d) for d in draws]).to(group.device)
        steps = size // problem.batch
        for at in range(0, steps, 8):
            part = order[:, at * problem.batch:min(at + 8, steps) * problem.batch]
            lesson.steps(part.view(len(seeds), -1, problem.batch).transpose(0, 1).repeat(1, len(rates), 1))
            average.add(lesson.p, (epoch - 1) * steps + min(at + 8, steps))
        if epoch % problem.every == 0 or epoch == problem.epochs:
            for i, row in enumerate(lesson.p):
                found[i].append(lesson.check(row))
                means[i].append(lesson.check(average.value[i]))
    return [{"problem": group.problem, "rule": f"serial at {rates[i // len(seeds)]:g}", "workers": 1,
             "seed": seeds[i % len(seeds)], "lr": rates[i // len(seeds)], "checks": found[i],
             "averages": means[i], "average": means[i][-1]} for i in range(len(lesson.p))]


def run(group):
    problem = PROBLEMS[group.problem]
    if time.time() > group.until:
        return [{"problem": group.problem, "workers": group.workers, "rules": list(group.rules), "left_out": "no time"}]
    torch.set_float32_matmul_precision("high")
    data, began = problem.data(group.folder), time.time()
    rows = with_workers(group, problem, data) if group.rules else serial(group, problem, data)
    return [row | {"group_s": round(time.time() - began, 1)} for row in rows]


def with_workers(group, problem, data):
    n, seeds, rate = group.workers, group.seeds, problem.rates[1]
    most = min(n, problem.batch // problem.least)
    parts = max(d for d in range(1, most + 1) if problem.batch % d == 0)
    b, hubs = problem.batch // parts, []
    each = len(seeds) * n
    lesson = Lesson(problem, data, each * len(group.rules), b, seeds, group.device)
    lesson.rate.fill_(rate)
    for name in group.rules:
        for i, seed in enumerate(seeds):
            hubs.append(Hub(RULES[name], lesson.first[i], n, seed))
            mine = slice((len(hubs) - 1) * n, len(hubs) * n)
            if hubs[-1].rule.root:
                lesson.rate[mine] = rate * math.sqrt(parts)
            lesson.rate[mine] *= (n * b / problem.batch) ** hubs[-1].rule.gain
            own = max(round(hubs[-1].rule.unit * parts), 1 if hubs[-1].rule.keep else 8)  # Steps of a unit.
            hubs[-1].turns = max(1, own // max(1, parts // 2))
    for i, hub in enumerate(hubs):
        lesson.p[i * n:(i + 1) * n] = hub.bases
    draws, size = [torch.Generator().manual_seed(seed) for seed in seeds], len(lesson.x)
    samples = torch.stack([torch.cat([torch.randperm(size, generator=d) for _ in range(problem.epochs)])
                           for d in draws]).to(group.device)
    found, averages, done, turns, total = [[] for _ in hubs], [[] for _ in hubs], 0, 0, samples.shape[1]
    while done + n * b <= total:
        steps = min(max(1, parts // 2), (total - done) // (n * b))
        part = samples[:, done:done + steps * n * b].view(len(seeds), steps, n, b)
        lesson.steps(part.transpose(0, 1).reshape(steps, each, b).repeat(1, len(group.rules), 1))
        before, done, turns = done, done + steps * n * b, turns + 1
        last = done + n * b > total
        for i, hub in enumerate(hubs):
            mine = slice(i * n, (i + 1) * n)
            if turns % hub.turns == 0 or last:
                lesson.p[mine] = hub.fold(lesson.p[mine], before // size + 1)
                if not hub.rule.keep:
                    lesson.forget(mine)
                hub.average.add(hub.w, done)
        if last or (before // size < done // size and done // size % problem.every == 0):
            for hub, checks, means in zip(hubs, found, averages):
                checks.append(lesson.check(hub.w))
                means.append(lesson.check(hub.average.value))
    return [{"problem": group.problem, "rule": group.rules[i // len(seeds)], "workers": n, "seed": seeds[i % len(seeds)],
             "lr": rate, "local_batch": b, "checks": checks, "averages": means, "average": means[-1]}
            for i, (checks, means) in enumerate(zip(found, averages))]


def groups(args, until):
    """What bars are about first, so that what does not fit into the time is the rest."""
    needs = {mnist: "train-images-idx3-ubyte", cifar: "train_10k.bin", text: "text.txt"}
    seeds, wanted, out = tuple(range(1, args.seeds + 1)), args.rules.split(";") if args.rules else [], []
    for name in args.problems.split(","):
        problem = PROBLEMS[name]
        need = needs.get(problem.data)
        if need and not os.path.exists(f"{args.data}/{need}"):
            print(f"no {need}: {name} is left out", file=sys.stderr)
            continue
        fitting = [rule for rule in RULES if not RULES[rule].root or problem.optimiser == "adam"]
        out.append((0, Group(args.data, name, (), 1, seeds, args.device, until)))
        for n in sorted({*map(int, args.workers.split(","))} | ({problem.also} - {0})):
            parts = max(d for d in range(1, min(n, problem.batch // problem.least) + 1) if problem.batch % d == 0)
            most = max(1, problem.most_rows // (len(seeds) * n * (problem.batch // parts)))
            rules = wanted or (fitting if n == problem.also else [rule for rule in list(RULES)[:CORE] if rule in fitting])
            for at in range(0, len(rules), most):
                order = 1 if n == problem.also else 2
                out.append((order, Group(args.data, name, tuple(rules[at:at + most]), n, seeds, args.device, until)))
    return [group for _, group in sorted(out, key=lambda pair: pair[0])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--workers", default="4,10,32")
    parser.add_argument("--rules", default="", help="some of them, with semicolons between")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--epochs", type=int, help="another number than the problem's, for a try")
    parser.add_argument("--least", type=int, help="samples of a worker's own step, in place of the problem's")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    change(args.epochs, args.least)
    mp.set_start_method("spawn")
    began, last = time.time(), collections.defaultdict(list)
    todo = groups(args, began + args.seconds)
    with mp.Pool(args.at_once, initializer=change, initargs=(args.epochs, args.least)) as pool:
        for rows in pool.imap_unordered(run, todo, chunksize=1):
            for row in rows:
                print(json.dumps(row), flush=True)
                if "left_out" not in row:
                    last[row["problem"], row["workers"], row["rule"]].append((row["seed"], row["checks"][-1], row["average"]))
    print("| problem | workers | rule | mean | by seed | mean of the last parameters |\n| --- | --- | --- | --- | --- | --- |")
    for (problem, n, rule), values in sorted(last.items()):
        values.sort()
        print(f"| {problem} | {n} | {rule} | {sum(v for _, v, _ in values) / len(values):.4g} | "
              f"{', '.join(str(v) for _, v, _ in values)} | {', '.join(str(t) for _, _, t in values)} |")
    print(f"{len(todo)} groups in {time.time() - began:.0f} s")


def change(epochs, least):
    for name, problem in PROBLEMS.items():
        PROBLEMS[name] = problem._replace(epochs=epochs or problem.epochs, least=least or problem.least)


if __name__ == "__main__":
    main()

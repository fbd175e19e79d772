"""ResNet-20 on CIFAR-10 in place of `souk-torch` for `souk bench tta`, on a GPU where there is one:

    SOUK_TORCH=$PWD/bench_cifar.py souk bench tta --cifar FOLDER --no-adversaries

Without arguments it is a worker of the worker protocol; `bare` is the serial baseline: the same
model, optimiser and data in one loop, as `souk-torch bare` is. Run it with a Python that has
PyTorch.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from bench_gpu import optimizer, resnet  # noqa: E402
from torch import nn  # noqa: E402

import souk  # noqa: E402
from souk.permutation import permutation  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def centred(path: Any) -> tuple[Any, Any]:
    """A shard, its pixels between -1 and 1."""
    x, y = souk.load_shard(path)
    return x * 2 - 1, y


def accuracy(model: nn.Module, x: Any, y: Any) -> float:
    model.eval()
    with torch.no_grad():
        right = sum(
            int((model(x[i : i + 500]).argmax(1) == y[i : i + 500]).sum())
            for i in range(0, len(x), 500)
        )
    model.train()
    return right / len(x)


class Tail:
    """The mean of the parameters over about the last tenth of the work, as a hub keeps it."""

    def __init__(self) -> None:
        self._work = 0
        self._mean: dict[str, Any] = {}

    def add(self, model: nn.Module, work: int) -> None:
        share = 1 - (self._work / work) ** 10
        for name, value in model.named_parameters():
            mean = self._mean.setdefault(name, value.detach().clone())
            mean.lerp_(value.detach(), share)
        self._work = work

    def model(self, like: nn.Module, x: Any) -> nn.Module:
        """With statistics of batch normalisation measured on some samples, as before a check."""
        model = copy.deepcopy(like)
        model.load_state_dict(self._mean, strict=False)
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.reset_running_stats()
                layer.momentum = None
        with torch.no_grad():
            for first in range(0, 1024, 64):
                model.train()(x[first : first + 64])
        return model


def bare(a: argparse.Namespace) -> None:
    torch.manual_seed(a.seed)
    model = resnet("resnet20").to(DEVICE).train()
    sgd = optimizer(model.parameters(), a.lr)
    (x, y), (test_x, test_y) = (
        tuple(torch.from_numpy(np.array(v)).to(DEVICE) for v in centred(p))
        for p in (a.shard, a.test)
    )
    tail, steps = Tail(), 0
    for epoch in range(1, a.epochs + 1):
        order = torch.from_numpy(np.array(permutation(len(x), a.seed + epoch))).to(DEVICE)
        for first in range(0, len(x), a.batch):
            chosen = order[first : first + a.batch]
            sgd.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(model(x[chosen]), y[chosen]).backward()
            sgd.step()
            steps += 1
            if steps % 8 == 0:
                tail.add(model, steps)
        found = {"epoch": epoch, "accuracy": accuracy(model, test_x, test_y)}
        if epoch == a.epochs:
            found["average"] = accuracy(tail.model(model, x), test_x, test_y)
        print(json.dumps(found), flush=True)


def main() -> None:
    if len(sys.argv) == 1:
        souk.worker(
            lambda config: resnet("resnet20"),
            loss=nn.functional.cross_entropy,
            optimizer=optimizer,
            load=centred,
            metrics={"accuracy": souk.accuracy},
            device=DEVICE,
        )
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["bare"])
    for name in ("--config", "--shard", "--test"):
        parser.add_argument(name, required=True)
    for name in ("--epochs", "--batch", "--seed"):
        parser.add_argument(name, type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.05)
    bare(parser.parse_args())


if __name__ == "__main__":
    main()

"""What the worker protocol costs: steps per second of a ResNet on data of CIFAR's shape, through
`souk.worker` in a process of its own and in a plain PyTorch loop, in turns.

    python3 bench_gpu.py                      # a GPU if there is one
    python3 bench_gpu.py --device cpu --model resnet20
    python3 bench_gpu.py --shard train-0      # a built-in shard instead of random pixels

A unit is measured from the request to the answer: the worker reads the base, moves it to the
device, trains, moves it back and writes the update. The plain loop has its data on the device,
keeps its parameters there and writes nothing. Both compute deterministically; `baseline_free` is
the loop without that. Prints one JSON object; `ratio` is the median over the pairs, 1 means the
protocol costs nothing. Needs PyTorch (1.13 or 2), NumPy and this package only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # As the worker; read by CUDA at start.
sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

import souk  # noqa: E402
from souk import safetensors  # noqa: E402
from souk.permutation import permutation  # noqa: E402

LR, MOMENTUM, SEED = 0.05, 0.9, 7


class Block(nn.Module):  # type: ignore[misc]  # PyTorch has no types here.
    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.short: nn.Module = nn.Identity()
        if stride != 1 or inside != outside:
            self.short = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.short(x))


def resnet(name: str) -> nn.Module:
    """ResNet-20 for CIFAR (0.27 million parameters) or ResNet-18 with CIFAR's stem (11 million)."""
    widths, blocks = {"resnet20": ((16, 32, 64), 3), "resnet18": ((64, 128, 256, 512), 2)}[name]
    layers: list[nn.Module] = [
        nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(),
    ]  # fmt: skip
    inside = widths[0]
    for i, width in enumerate(widths):
        for j in range(blocks):
            layers.append(Block(inside, width, 2 if i > 0 and j == 0 else 1))
            inside = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 10))


def optimizer(parameters: Any, lr: float) -> Any:
    return torch.optim.SGD(parameters, lr=lr, momentum=MOMENTUM)


def serve(device: str) -> None:
    souk.worker(
        lambda config: resnet(config["model"]),
        loss=nn.functional.cross_entropy,
        optimizer=optimizer,
        device=device,
    )


class Bare:
    """The plain loop."""

    def __init__(self, a: argparse.Namespace, folder: Path) -> None:
        self.a = a
        self.model = resnet(a.model).to(a.device).train()
        self.optimizer = optimizer(self.model.parameters(), LR)
        x, y = souk.load_shard(folder / "shard")
        self.x, self.y = torch.from_numpy(x).to(a.device), torch.from_numpy(y).to(a.device)
        self.order = torch.from_numpy(np.array(permutation(len(x), SEED))).to(a.device)
        self.step = 0

    def unit(self) -> float:
        """Seconds for as many steps as a unit has."""
        self._wait()
        began = time.perf_counter()
        losses = []
        for _ in range(self.a.steps):
            first = self.step * self.a.batch % (len(self.order) - self.a.batch + 1)
            chosen = self.order[first : first + self.a.batch]
            self.optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(self.model(self.x[chosen]), self.y[chosen])
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
            self.step += 1
        float(torch.stack(losses).mean())
        self._wait()
        return time.perf_counter() - began

    def _wait(self) -> None:
        if self.a.device.startswith("cuda"):
            torch.cuda.synchronize()


class Protocol:
    """The agent's side, as thin as it can be."""

    def __init__(self, a: argparse.Namespace, folder: Path) -> None:
        self.a, self.folder, self.first_step = a, folder, 0
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", "--device", a.device],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
        )  # fmt: skip
        config = {"model": a.model, "threads": a.threads}
        self.hello = self.ask(op="hello", protocol=1, config=config)
        self.ask(op="init", seed=SEED, out="base")

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["ok"], answer
        return dict(answer)

    def unit(self) -> float:
        """Seconds from a request to its answer."""
        began = time.perf_counter()
        self.ask(
            op="train", base="base", shard="shard", out="update", send="delta", lr=LR, seed=SEED,
            first_step=self.first_step, steps=self.a.steps, batch=self.a.batch,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        self.first_step += self.a.steps
        base, update = (safetensors.read(self.folder / name) for name in ("base", "update"))
        safetensors.write(self.folder / "base", {k: v + update[k] for k, v in base.items()})
        return seconds

    def end(self) -> None:
        self.ask(op="bye")
        self.process.wait(60)


def set_deterministic(on: bool) -> None:
    torch.backends.cudnn.deterministic = on
    torch.backends.cudnn.benchmark = not on
    torch.use_deterministic_algorithms(on, warn_only=True)
    if hasattr(torch.utils, "deterministic"):
        torch.utils.deterministic.fill_uninitialized_memory = False


def measure(a: argparse.Namespace, folder: Path) -> dict[str, Any]:
    torch.set_num_threads(a.threads)
    if a.shard:
        (folder / "shard").write_bytes(Path(a.shard).read_bytes())
    else:
        rng = np.random.default_rng(0)
        x = rng.integers(0, 256, (a.samples, 3, 32, 32), dtype=np.uint8)
        y = rng.integers(0, 10, a.samples, dtype=np.int64)
        safetensors.write(folder / "shard", {"x": x, "y": y})
    set_deterministic(True)
    protocol, bare = Protocol(a, folder), Bare(a, folder)
    first_unit_s = protocol.unit()
    bare.unit()
    pairs: list[tuple[float, float]] = []
    end = time.monotonic() + a.seconds
    while len(pairs) < 3 or (time.monotonic() < end and len(pairs) < 200):
        # Whoever comes second may find a warmer machine: they take turns at that, too.
        if len(pairs) % 2:
            through = protocol.unit()
            pairs.append((bare.unit(), through))
        else:
            alone = bare.unit()
            pairs.append((alone, protocol.unit()))
    protocol.end()
    set_deterministic(False)
    bare.unit()
    free_s = statistics.median(bare.unit() for _ in range(3))
    alone_s, through_s = (statistics.median(column) for column in zip(*pairs))
    ratios = sorted(alone / through for alone, through in pairs)
    return {
        "bench": "worker protocol, PyTorch",
        "model": a.model,
        "parameters": sum(int(np.prod(t["shape"])) for t in protocol.hello["tensors"]),
        "device": protocol.hello["device"],
        "framework": protocol.hello["framework"],
        "batch": a.batch,
        "steps_per_unit": a.steps,
        "pairs": len(pairs),
        "result": round(a.steps / through_s, 3),
        "baseline": round(a.steps / alone_s, 3),
        "unit": "steps/s",
        "ratio": round(statistics.median(ratios), 4),
        "ratio_quartiles": [round(ratios[len(ratios) * i // 4], 4) for i in (1, 3)],
        "overhead_ms_per_unit": round((through_s - alone_s) * 1000, 2),
        "first_unit_s": round(first_unit_s, 2),
        "baseline_free": round(a.steps / free_s, 3),
    }


def main() -> None:
    gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if gpu else "cpu")
    parser.add_argument("--model", choices=("resnet18", "resnet20"))
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int, help="of a unit")
    parser.add_argument("--samples", type=int, help="of the shard")
    parser.add_argument("--shard", help="a safetensors file with x and y")
    parser.add_argument("--seconds", type=float, default=45, help="about, for the pairs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.worker:
        return serve(a.device)
    on_gpu = a.device.startswith("cuda")
    a.model = a.model or ("resnet18" if on_gpu else "resnet20")
    a.batch = a.batch or (128 if on_gpu else 16)
    a.steps = a.steps or (50 if on_gpu else 5)
    a.samples = a.samples or (10_000 if on_gpu else 500)
    with tempfile.TemporaryDirectory(prefix="souk-bench-") as folder:
        print(json.dumps(measure(a, Path(folder)), indent=1))


if __name__ == "__main__":
    main()

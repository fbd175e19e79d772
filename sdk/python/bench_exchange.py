"""What it costs a worker to take parameters and to give an update, without the computing.

    python3 bench_exchange.py                 # models of 45 MB and 400 MB

A unit of no steps through the PyTorch adapter, whose base is mapped and whose update is filled in place;
beside it, turn by turn, the plain way: the base is read whole, the change is made in fresh memory, and a
new file is written and renamed. Processor time, since one thread does it all and waits for nothing. Prints
one JSON object a size; `ratio` is the median over the turns, more than 1 means cheaper than the plain way.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from souk import safetensors  # noqa: E402
from souk._serve import Session  # noqa: E402
from souk._torch import Recipe, TorchTrainer  # noqa: E402

TENSORS, TURNS = 10, 9


def model(floats: int) -> Any:
    each = floats // TENSORS
    return torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(each)) for _ in range(TENSORS)])


def plain(trained: Any, folder: Path) -> None:
    base = {}
    for name, view in safetensors.read(folder / "base").items():
        base[name] = np.array(view)  # Read whole.
    with torch.no_grad():
        for parameter, value in zip(trained.parameters(), base.values(), strict=True):
            parameter.copy_(torch.from_numpy(value))
    new = [np.array(p.detach().numpy()) for p in trained.parameters()]
    finite = all(np.isfinite(np.dot(value, value)) for value in new)
    assert finite
    safetensors.write(folder / "plain", {n: v - base[n] for n, v in zip(base, new, strict=True)})


def measure(megabytes: int) -> dict[str, float]:
    trained = model(megabytes * 250_000)
    trainer = TorchTrainer(
        trained, None, Recipe(lambda _m, _b: (None, None)), lambda _path: (np.zeros((8, 1)),), "cpu"
    )
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        folder = Path(name)
        session = Session(trainer, "bench", "1", folder)
        hello = {"op": "hello", "protocol": 1, "config": {"lr": 0.1, "threads": 1}}
        tensors = session.handle(hello, lambda: False)["tensors"]
        safetensors.write(
            folder / "base", {t["name"]: np.ones(t["shape"], np.float32) for t in tensors}
        )
        (folder / "shard").write_bytes(b"x")
        unit = {"op": "train", "base": "base", "shard": "shard", "steps": 0, "batch": 1, "seed": 1}
        mine, theirs = [], []
        for turn in range(TURNS):
            began = time.process_time()
            session.handle({**unit, "out": f"u{turn % 2}"}, lambda: False)
            mine.append(time.process_time() - began)
            began = time.process_time()
            plain(trained, folder)
            theirs.append(time.process_time() - began)
    ratios = [b / a for a, b in zip(mine, theirs, strict=True)][2:]  # Files are made in the first.
    return {
        "megabytes": megabytes,
        "seconds": round(statistics.median(mine[2:]), 4),
        "baseline": round(statistics.median(theirs[2:]), 4),
        "ratio": round(statistics.median(ratios), 2),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for size in (45, 400):
        print(json.dumps(measure(size)), flush=True)

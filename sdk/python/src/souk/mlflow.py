"""A training's results as a run of MLflow's file store, written without MLflow.

    souk results j1 -o model
    python3 -m souk.mlflow model --store mlruns --experiment digits
    mlflow ui --backend-store-uri mlruns

The store is a folder: an experiment is a folder with meta.yaml, a run a folder below it with
meta.yaml, a file for each parameter, metric and tag, and its artifacts. A metric's file has a line
for each value: milliseconds since 1970, the value, the step.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import Error, invalid

_SUMMARY = "Adds a training's results to a file store of MLflow's."
_NAME = re.compile(r"[^\w ./-]")
_LONGEST_PARAMETER = 500  # Characters, as in MLflow.


def export(
    results: Path, store: Path, experiment: str = "souk", name: str = "", now: float | None = None
) -> Path:
    """Adds the results in a folder to a store; the folder of the run."""
    metrics_file = results / "metrics.json"
    if not metrics_file.exists():
        raise Error("not_found", f"{results} has no metrics.json", "is it a training's results?")
    training = json.loads(metrics_file.read_text("utf-8"))
    config: dict[str, Any] = {}
    if (results / "trainer.json").exists():
        config = json.loads((results / "trainer.json").read_text("utf-8"))
    home = _experiment(store, experiment)
    run = uuid.uuid4().hex
    ended = int((now or time.time()) * 1000)
    began = ended - int(_seconds(training.get("elapsed", 0)) * 1000)
    folder = home / run
    for part in ("artifacts", "metrics", "params", "tags"):
        (folder / part).mkdir(parents=True)
    title = name or results.resolve().name
    _write(folder / "tags", {"mlflow.runName": title, "mlflow.source.name": "souk"})
    settings = {**config, "rule": training.get("rule"), "epochs": training.get("epochs")}
    _write(
        folder / "params",
        {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in settings.items()
            if value is not None
        },
    )
    _metrics(folder / "metrics", training, began)
    for file in sorted(results.iterdir()):
        if file.is_file():
            shutil.copyfile(file, folder / "artifacts" / file.name)
    _meta(
        folder,
        {
            "artifact_uri": (folder / "artifacts").resolve().as_uri(),
            "end_time": ended,
            "entry_point_name": "",
            "experiment_id": home.name,
            "lifecycle_stage": "active",
            "run_id": run,
            "run_name": title,
            "run_uuid": run,
            "source_name": "",
            "source_type": 4,
            "source_version": "",
            "start_time": began,
            "status": 3,
            "tags": [],
            "user_id": "souk",
        },
    )
    return folder


def _experiment(store: Path, name: str) -> Path:
    """The folder of the experiment of this name, made if there is none."""
    if not name or "\n" in name:
        raise invalid(f"an experiment is named {name!r}", "give it a name", "experiment")
    store.mkdir(parents=True, exist_ok=True)
    for meta in sorted(store.glob("*/meta.yaml")):
        if f"name: {json.dumps(name)}" in meta.read_text("utf-8").splitlines():
            return meta.parent
    folder = store / str(int(uuid.uuid4().int % 10**18))
    folder.mkdir()
    now = int(time.time() * 1000)
    _meta(
        folder,
        {
            "artifact_location": folder.resolve().as_uri(),
            "creation_time": now,
            "experiment_id": folder.name,
            "last_update_time": now,
            "lifecycle_stage": "active",
            "name": name,
        },
    )
    return folder


def _metrics(folder: Path, training: Mapping[str, Any], began: int) -> None:
    lines: dict[str, list[str]] = {}
    for row in training.get("rows", []):
        at = began + int(_seconds(row["at"]) * 1000)
        values = {
            "loss": row["loss"],
            "validation_loss": row["validation_loss"],
            "workers": row["workers"],
            **row.get("metrics", {}),
        }
        for name, value in values.items():
            lines.setdefault(name, []).append(f"{at} {float(value)!r} {row['samples']}")
    for name, texts in lines.items():
        path = folder / _NAME.sub("_", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(texts) + "\n", "utf-8")


def _seconds(duration: Any) -> float:
    """As the API writes them: "1.5s", "2m", or a number of seconds."""
    if isinstance(duration, (int, float)):
        return float(duration)
    total = 0.0
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    for number, unit in re.findall(r"([\d.]+)(us|ms|s|m|h|d)", str(duration)):
        total += float(number) * units[unit]
    return total


def _write(folder: Path, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        (folder / _NAME.sub("_", key)).write_text(value[:_LONGEST_PARAMETER], "utf-8")


def _meta(folder: Path, values: Mapping[str, Any]) -> None:
    # JSON's scalars and empty lists are YAML's too.
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())
    (folder / "meta.yaml").write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m souk.mlflow", description=_SUMMARY)
    parser.add_argument("results", type=Path, help="the folder that `souk results` wrote")
    parser.add_argument("--store", type=Path, default=Path("mlruns"))
    parser.add_argument("--experiment", default="souk")
    parser.add_argument("--name", default="", help="of the run; default: the folder's")
    options = parser.parse_args()
    try:
        print(export(options.results, options.store, options.experiment, options.name))
    except Error as error:
        sys.exit(f"souk: {error}")


if __name__ == "__main__":
    main()

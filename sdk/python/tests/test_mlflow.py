"""A training as a run of MLflow's file store. That MLflow itself reads it was seen with 2.14."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import conversation  # noqa: F401  Finds the sources.

from souk import Error
from souk.mlflow import export


def values(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in path.read_text().splitlines())


class Store(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.results = self.folder / "digits"
        self.results.mkdir()

    def test_a_run_has_its_settings_metrics_and_files(self) -> None:
        rows = [
            {"epoch": e, "at": f"{e}m", "samples": 100 * e, "loss": 3 / e, "validation_loss": 4 / e,
             "workers": 2, "metrics": {"accuracy": 0.25 * e, "a@b": 1}}
            for e in (1, 2)
        ]  # fmt: skip
        training = {"rule": "mean", "epochs": 2, "elapsed": "2m", "rows": rows}
        (self.results / "metrics.json").write_text(json.dumps(training))
        (self.results / "trainer.json").write_text('{"model": "mlp", "lora": {"r": 4}}')
        store = self.folder / "mlruns"
        first, second = (export(self.results, store, "try", now=1000.0) for _ in range(2))
        self.assertNotEqual(first, second)
        self.assertEqual(first.parent, second.parent)  # One experiment of that name.
        self.assertNotEqual(export(self.results, store, "other").parent, first.parent)
        self.assertEqual(values(first.parent / "meta.yaml")["name"], '"try"')
        meta = values(first / "meta.yaml")
        self.assertEqual(meta["run_name"], '"digits"')
        self.assertEqual((meta["start_time"], meta["end_time"]), ("880000", "1000000"))
        accuracy = (first / "metrics" / "accuracy").read_text()
        self.assertEqual(accuracy, "940000 0.25 100\n1000000 0.5 200\n")
        self.assertTrue((first / "metrics" / "a_b").exists())
        self.assertEqual((first / "params" / "model").read_text(), "mlp")
        self.assertEqual((first / "params" / "lora").read_text(), '{"r": 4}')
        self.assertTrue((first / "artifacts" / "metrics.json").exists())

    def test_what_is_no_result_changes_nothing(self) -> None:
        with self.assertRaisesRegex(Error, "has no metrics.json"):
            export(self.results, self.folder / "mlruns")
        self.assertFalse((self.folder / "mlruns").exists())


if __name__ == "__main__":
    unittest.main()

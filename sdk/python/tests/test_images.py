"""Pictures as one file: needs Pillow."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import conversation  # Finds the sources.
import numpy as np

try:
    from PIL import Image
except ImportError:
    Image = None  # type: ignore[assignment]

import souk
from souk import images


class Images(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def draw(self, name: str, colour: tuple[int, int, int], size: tuple[int, int] = (4, 3)) -> None:
        path = self.folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size, colour).save(path)

    @unittest.skipIf(Image is None, "Pillow is not installed")
    def test_folders_become_arrays_with_channels_first(self) -> None:
        self.draw("dog/1.png", (10, 20, 30))
        self.draw("cat/1.png", (40, 50, 60))
        self.draw("cat/2.bmp", (70, 80, 90))
        out = self.folder / "out.data"
        self.assertEqual(images.pack(self.folder / "data", out), ["cat", "dog"])
        with np.load(out) as arrays:
            self.assertEqual(arrays["x"].shape, (3, 3, 3, 4))
            self.assertEqual(arrays["x"][:, :, 0, 0].tolist(), [[40, 50, 60], [70, 80, 90], [10, 20, 30]])
            self.assertEqual(arrays["y"].tolist(), [0, 0, 1])
        images.pack(self.folder / "data", out, size=2, grey=True)
        with np.load(out) as arrays:
            self.assertEqual(arrays["x"].shape, (3, 1, 2, 2))

    @unittest.skipIf(Image is None, "Pillow is not installed")
    def test_what_does_not_fit_is_named(self) -> None:
        self.draw("a/1.png", (1, 2, 3))
        self.draw("a/2.png", (1, 2, 3), (9, 9))
        with self.assertRaisesRegex(souk.Error, r"2\.png has the shape .*--size"):
            images.pack(self.folder / "data", self.folder / "out.npz")
        (self.folder / "data/a/2.png").write_bytes(b"nothing")
        with self.assertRaisesRegex(souk.Error, r"2\.png: "):
            images.pack(self.folder / "data", self.folder / "out.npz")

    def test_the_command_tells_what_went_wrong(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "souk.images", str(self.folder), str(self.folder / "o.npz")],
            env={"PYTHONPATH": str(conversation.SOURCES), "PATH": "/usr/bin"},
            capture_output=True,
            text=True,
            timeout=conversation.DEADLINE_S,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("souk.images: ", done.stderr)


if __name__ == "__main__":
    unittest.main()

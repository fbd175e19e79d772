"""Pictures of any kind, a folder for each class, as one file that `souk run` reads.

`python3 -m souk.images FOLDER OUT.npz --size 32` decodes PNG, JPEG and whatever else Pillow knows.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from .errors import Error, invalid

_MOST_BYTES = 1 << 30  # Of all pixels together.


def pack(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    size: int | None = None,
    grey: bool = False,
) -> list[str]:
    """Writes the pictures of `folder`, which has a folder for each class, to `out`.

    `size` makes them squares of so many pixels; without it all must have the same size. Returns the
    classes in the order of their labels.
    """
    try:
        from PIL import Image
    except ImportError:
        raise Error("invalid", "Pillow is not installed", "pip install pillow") from None
    root = Path(folder)
    names = sorted(p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    if not names:
        raise invalid(f"{root} has no folders", "give each class a folder of it")
    pixels: list[np.ndarray] = []
    labels: list[int] = []
    total = 0
    for label, name in enumerate(names):
        for path in sorted((root / name).iterdir()):
            if not path.is_file() or path.name.startswith("."):
                continue
            try:
                with Image.open(path) as picture:
                    shown = picture.convert("L" if grey else "RGB")
            except (OSError, Image.DecompressionBombError) as error:
                raise invalid(f"{path}: {error}", "leave the file out") from None
            if size is not None:
                shown = shown.resize((size, size))
            array = np.asarray(shown, np.uint8)
            planes = array[None] if grey else array.transpose(2, 0, 1)
            if pixels and planes.shape != pixels[0].shape:
                raise invalid(
                    f"{path} has the shape {planes.shape}, and those before {pixels[0].shape}",
                    "use --size, which makes all the same",
                )
            total += planes.size
            if total > _MOST_BYTES:
                raise invalid(f"{root} has more than 1 GiB of pixels", "use a smaller --size")
            pixels.append(planes)
            labels.append(label)
    if not pixels:
        raise invalid(f"{root} has no pictures in its folders")
    with open(out, "wb") as file:  # Given a name, NumPy would change it.
        np.savez(file, x=np.stack(pixels), y=np.array(labels, np.int64))
    return names


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m souk.images", description=__doc__)
    parser.add_argument("folder", help="has a folder for each class")
    parser.add_argument("out", help="the npz file to write")
    parser.add_argument("--size", type=int, help="make squares of so many pixels")
    parser.add_argument("--grey", action="store_true", help="one channel instead of three")
    given = parser.parse_args()
    try:
        names = pack(given.folder, given.out, given.size, given.grey)
    except (Error, OSError) as error:
        print(f"souk.images: {error}", file=sys.stderr)
        return 1
    for label, name in enumerate(names):
        print(f"{label} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

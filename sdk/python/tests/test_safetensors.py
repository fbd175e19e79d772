"""Files from strangers' machines: what is good is read exactly, what is not is refused."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import conversation  # noqa: F401  Finds the sources.
import numpy as np

from souk import Error, safetensors


def entry(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "file"

    def put(self, header: Any, data: bytes = b"\0" * 8) -> None:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        self.path.write_bytes(len(text).to_bytes(8, "little") + text + data)

    def test_a_file_is_filled_in_place_in_the_memory_it_has(self) -> None:
        shapes = {"w": (2, 3), "scalar": (), "none": (0, 4)}
        inodes = set()
        for value in (1.5, 2.5):
            with safetensors.in_place(self.path, shapes) as arrays:
                for array in arrays.values():
                    array[...] = value
                del array
            inodes.add(self.path.stat().st_ino)
            back = safetensors.read(self.path)
            self.assertEqual({k: v.shape for k, v in back.items()}, shapes)
            self.assertEqual(back["w"].tolist(), [[value] * 3] * 2)
            self.assertEqual(back["scalar"], value)
        self.assertEqual(len(inodes), 1)
        with safetensors.in_place(self.path, {"other": (5,)}) as arrays:
            arrays["other"][...] = 7
        self.assertEqual(safetensors.read(self.path)["other"].tolist(), [7] * 5)

    def test_what_is_written_is_read(self) -> None:
        tensors: dict[str, Any] = {
            "w": np.arange(6, dtype=np.float32).reshape(2, 3),
            "scalar": np.float32(3),
            "none": np.zeros((0, 4), np.float32),
            "labels": np.array([1, -1], np.int64),
            "bytes": np.arange(5, dtype=np.uint8),
            "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
            "unaligned": np.array([1.5], np.float64),
            "big": np.array([1, 2], ">i4"),
        }
        safetensors.write(self.path, tensors)
        back = safetensors.read(self.path)
        self.assertEqual(set(back), set(tensors))
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(back[name], tensor, name)
            self.assertEqual(back[name].shape, np.shape(tensor), name)

    def test_bytes_are_those_of_the_format(self) -> None:
        safetensors.write(self.path, {"a": np.array([1.0], np.float32)})
        data = self.path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        self.assertEqual(json.loads(data[8 : 8 + length]), {"a": entry("F32", [1], [0, 4])})
        self.assertEqual(data[8 + length :], b"\0\0\x80?")
        self.assertEqual((8 + length) % 8, 0)

    def test_metadata_and_another_order_are_accepted(self) -> None:
        header = {"__metadata__": {"by": "x"}, "b": entry(offsets=[8, 16]), "a": entry()}
        self.put(header, np.array([1, 2, 3, 4], np.float32).tobytes())
        self.assertEqual(list(safetensors.read(self.path)), ["a", "b"])
        self.assertEqual(safetensors.read(self.path)["b"].tolist(), [3, 4])

    def test_views_cannot_be_written_to(self) -> None:
        safetensors.write(self.path, {"a": np.zeros(3, np.float32)})
        with self.assertRaises(ValueError):
            safetensors.read(self.path)["a"][0] = 1

    def test_an_overwritten_file_leaves_its_mapping_whole(self) -> None:
        safetensors.write(self.path, {"a": np.ones(5000, np.float32)})
        old = safetensors.read(self.path)["a"]
        safetensors.write(self.path, {"a": np.zeros(1, np.float32)})
        self.assertEqual(float(old.sum()), 5000)

    def test_hostile_headers_are_refused(self) -> None:
        cases: dict[str, Any] = {
            "no JSON": b"{",
            "not UTF-8": b"\xff\xfe",
            "a list": [],
            "deep": b"[" * 100_000,
            "no fields": {"a": {}},
            "another field": {"a": {**entry(), "more": 1}},
            "not an object": {"a": 3},
            "unknown type": {"a": entry("F8")},
            "type is a list": {"a": entry(["F32"])},
            "negative side": {"a": entry(shape=[-2])},
            "side is a bool": {"a": entry(shape=[True, 2])},
            "side is a float": {"a": entry(shape=[2.0])},
            "huge": {"a": entry(shape=[1 << 61], offsets=[0, 1 << 61])},
            "huge beside a zero": {"a": entry(shape=[1 << 61, 1 << 61, 0], offsets=[0, 0])},
            "overflow": {"a": entry(shape=[1 << 33, 1 << 33], offsets=[0, 8])},
            "too many sides": {"a": entry(shape=[1] * 33 + [2])},
            "shape and offsets differ": {"a": entry(shape=[3])},
            "offsets backwards": {"a": entry(offsets=[8, 0])},
            "three offsets": {"a": entry(offsets=[0, 4, 8])},
            "gap": {"a": entry(shape=[1], offsets=[4, 8])},
            "overlap": {"a": entry(), "b": entry()},
            "short of the data": {"a": entry(shape=[1], offsets=[0, 4])},
            "beyond the data": {"a": entry(shape=[4], offsets=[0, 16])},
            "twice": b'{"a":%b,"a":%b}' % ((json.dumps(entry()).encode(),) * 2),
        }
        for name, header in cases.items():
            with self.subTest(name):
                self.put(header)
                with self.assertRaises(Error) as caught:
                    safetensors.read(self.path)
                self.assertEqual(caught.exception.code, "damaged")

    def test_files_that_are_cut_are_refused(self) -> None:
        safetensors.write(self.path, {"a": np.ones(3, np.float32)})
        whole = self.path.read_bytes()
        for size in range(len(whole)):
            self.path.write_bytes(whole[:size])
            with self.assertRaises(Error, msg=str(size)):
                safetensors.read(self.path)

    def test_header_length_beyond_the_file_is_refused_before_it_is_read(self) -> None:
        self.path.write_bytes((1 << 63).to_bytes(8, "little") + b"{}")
        with self.assertRaises(Error):
            safetensors.read(self.path)


if __name__ == "__main__":
    unittest.main()

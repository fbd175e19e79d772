"""Reads and writes safetensors files with NumPy.

A file is the length of its header (8 bytes, little endian), the header in JSON, and the tensors:

    {"conv1.weight": {"dtype": "F32", "shape": [6, 1, 5, 5], "data_offsets": [0, 600]}, ...}

Offsets count from the end of the header, and the tensors cover what follows it exactly once. Files
come from strangers' machines, so whatever a header claims is checked against the file before
anything is allocated or mapped.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Error

Array = NDArray[Any]

_POPULATE = getattr(mmap, "MAP_POPULATE", 0)  # All pages at once, not one fault for each.
HEADER_LIMIT = 16 << 20  # Bytes: room for 100,000 tensors with long names.
_MOST_DIMENSIONS = 32  # NumPy takes no more.

_DTYPES: dict[str, str] = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
    "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}


def _damaged(path: str | os.PathLike[str], why: str) -> Error:
    return Error("damaged", f"{os.fspath(path)} is not a safetensors file: {why}")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key occurs twice")
    return out


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 62  # A bool is an int, but not here.


def _entry(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """One tensor of the header. ValueError says what is wrong with it."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {name!r} needs dtype, shape and data_offsets")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise ValueError(f"tensor {name!r} has the type {code!r}; known are {', '.join(_DTYPES)}")
    if not isinstance(shape, list) or not all(map(_is_size, shape)):
        raise ValueError(f"the shape of tensor {name!r} is not a list of sizes")
    if len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"tensor {name!r} has {len(shape)} dimensions")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        raise ValueError(f"the data_offsets of tensor {name!r} are not two sizes")
    dtype = np.dtype(_DTYPES[code])
    if math.prod(max(side, 1) for side in shape) * dtype.itemsize >= 1 << 62:
        raise ValueError(f"the shape of tensor {name!r} is beyond any memory")  # Also beside a 0.
    if offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"the data_offsets of tensor {name!r} do not fit its shape")
    return dtype, tuple(shape), offsets[0], offsets[1]


def read(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The tensors of a file in the order of their bytes, as read-only views of its mapping.

    The file stays mapped while any of them lives. Copy what must outlast the request: if somebody
    shortens a mapped file, touching the view ends the process.
    """
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, HEADER_LIMIT):
            raise _damaged(path, f"{size} bytes with a header of {length}")
        text = file.read(length)
        try:
            header = json.loads(text.decode(), object_pairs_hook=_no_duplicates)
            if not isinstance(header, dict):
                raise ValueError("the header is not an object")
            header.pop("__metadata__", None)
            entries = {name: _entry(name, entry) for name, entry in header.items()}
        except (ValueError, RecursionError) as error:
            raise _damaged(path, str(error)[:500]) from None
        in_order = sorted(entries.items(), key=lambda item: item[1][2:])
        end = 0
        for name, (_, _, first, last) in in_order:
            if first != end:
                raise _damaged(path, f"tensor {name!r} begins at {first}, not at {end}")
            end = last
        if end != size - 8 - length:
            raise _damaged(path, f"{size - 8 - length} bytes of tensors, {end} in the header")
        if end == 0:  # There is nothing to map.
            return {n: np.zeros(shape, dtype) for n, (dtype, shape, _, _) in in_order}
        data = np.memmap(file, np.uint8, mode="r", offset=8 + length, shape=(end,))
    return {
        name: _view(data[first:last], dtype, shape)
        for name, (dtype, shape, first, last) in in_order
    }


def _view(data: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    plain: Array = np.asarray(data)  # Sheds the class memmap; the mapping stays its base.
    if plain.size == 0:
        return np.zeros(shape, dtype)
    # Writers need not align tensors within the file, and views of NumPy need not be aligned.
    return plain.view(dtype).reshape(shape)


def write(path: str | os.PathLike[str], tensors: Mapping[str, Array]) -> None:
    """Writes the tensors in the order given, under another name first.

    So nobody sees half a file, and a mapping of the old one stays whole.
    """
    arrays: list[Array] = []
    for name, tensor in tensors.items():
        array = np.ascontiguousarray(tensor).reshape(np.shape(tensor))  # It makes 0-d into 1-d.
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype not in _NAMES:
            raise Error("invalid", f"tensor {name!r} has the type {array.dtype}")
        arrays.append(array)
    head = _head({name: (a.dtype, a.shape) for name, a in zip(tensors, arrays, strict=True)})
    part = f"{os.fspath(path)}.part"
    with open(part, "wb", buffering=0) as file:
        _write_all(file.fileno(), head)
        for array in arrays:
            if array.size > 0:
                _write_all(file.fileno(), array.reshape(-1).view(np.uint8).data)
    os.replace(part, path)


@contextlib.contextmanager
def in_place(
    path: str | os.PathLike[str], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[dict[str, Array]]:
    """Arrays of 32-bit floats to be filled, which are the file: it is mapped until the end.

    A file of the same tensors is written over, in the memory that it has. Nobody else may read it
    meanwhile, and its content counts only after the end.
    """
    dtype = np.dtype("<f4")
    head = _head({name: (dtype, shape) for name, shape in shapes.items()})
    sizes = [math.prod(shape) * dtype.itemsize for shape in shapes.values()]
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        whole = len(head) + sum(sizes)
        if os.fstat(fd).st_size != whole:
            os.ftruncate(fd, whole)
        # Reserved now: in a mapping, a full disk would end the process instead of failing a call.
        os.posix_fallocate(fd, 0, whole)
        os.lseek(fd, 0, os.SEEK_SET)
        _write_all(fd, head)
        with mmap.mmap(fd, whole, mmap.MAP_SHARED | _POPULATE) as mapping:
            data: Array = np.frombuffer(mapping, np.uint8)
            out, at = {}, len(head)
            for (name, shape), size in zip(shapes.items(), sizes, strict=True):
                out[name] = data[at : at + size].view(dtype).reshape(shape)
                at += size
            try:
                yield out
            finally:
                out.clear()  # The mapping cannot be closed while views of it live.
                del data
    finally:
        os.close(fd)


def _head(tensors: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> bytes:
    """The length and the header, for tensors that follow each other in this order."""
    header: dict[str, Any] = {}
    offset = 0
    for name, (dtype, shape) in tensors.items():
        end = offset + math.prod(shape) * dtype.itemsize
        header[name] = {
            "dtype": _NAMES[dtype],
            "shape": list(shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # The tensors begin aligned, as the format recommends.
    return len(text).to_bytes(8, "little") + text


def _write_all(fd: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]  # One call writes at most 2 GiB.

"""Archives: a JSON document and named arrays in one zip file, checked when they are read.

Members are the document, ``<name>.npy`` for each array, and ``SHA256SUMS``, which has the SHA-256
of every other member in the form that ``sha256sum --check`` reads. A file is material of unknown
origin: no size that it declares is believed before it was compared with the bytes that there are.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

SUMS = "SHA256SUMS"
METHODS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)

# A file may unpack to so many times its own size, or to so many bytes whatever its size. JSON has
# a smaller allowance: the objects that it becomes take twenty times its bytes.
EXPANSION = 8
FREE_DOCUMENT = 1 << 24
FREE_ARRAYS = 1 << 28

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<>|][biufSUmM]\d{1,9}(?:\[\w{1,9}\])?)', 'fortran_order': (True|False), "
    rb"'shape': \(([\d, ]{0,600})\), \} *\n"
)


def write_archive(
    file: BinaryIO, name: str, document: Any, arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a document, a member of that name, and arrays to a file that can be read as well."""
    for method in METHODS:  # packed, unless that would make the file too small for its contents
        file.seek(0)
        file.truncate()
        with zipfile.ZipFile(file, "w", method) as archive:
            _write_members(archive, name, document, arrays)
            members = archive.infolist()
        if not _excess(members, name, file.seek(0, os.SEEK_END)):
            return


def _write_members(
    archive: zipfile.ZipFile, name: str, document: Any, arrays: Mapping[str, np.ndarray]
) -> None:
    text = json.dumps(document, allow_nan=False).encode()
    _write_text(archive, name, text)
    sums = {name: hashlib.sha256(text).hexdigest()}
    for key, array in arrays.items():
        member = f"{key}.npy"
        with archive.open(member, "w", force_zip64=True) as stream:
            hashed = _Hashed(stream)
            np.lib.format.write_array(hashed, array, version=(1, 0), allow_pickle=False)
        sums[member] = hashed.digest.hexdigest()
    lines = "".join(f"{digest}  {member}\n" for member, digest in sums.items())
    _write_text(archive, SUMS, lines.encode())


def _write_text(archive: zipfile.ZipFile, name: str, text: bytes) -> None:
    # Without a date: equal contents make equal files, and zip has no dates before 1980.
    archive.writestr(zipfile.ZipInfo(name), text, archive.compression)


class _Hashed:
    """A stream that notes the digest of what is written to it."""

    def __init__(self, stream: Any):
        self._stream = stream
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self._stream.write(data)


class Archive:
    """An archive to be read.

    Parameters
    ----------
    file : open for reading.
    name : the member that is the document.

    Whatever is wrong with the file raises an exception, of whichever kind: callers say what the
    file should have been.
    """

    def __init__(self, file: BinaryIO, name: str):
        size = file.seek(0, os.SEEK_END)
        self._zip = zipfile.ZipFile(file)
        self._name = name
        members = self._zip.infolist()
        if len({member.filename for member in members}) < len(members):
            raise ValueError("it has two members of one name")
        if any(member.compress_type not in METHODS or member.flag_bits & 1 for member in members):
            raise ValueError("its members are packed in another way, or encrypted")
        if excess := _excess(members, name, size):
            raise ValueError(excess)
        self._sums = self._read_sums()

    @property
    def has_sums(self) -> bool:
        """Whether members are compared with their checksums."""
        return bool(self._sums)

    def _read_sums(self) -> dict[str, str]:
        if SUMS not in self._zip.namelist():
            return {}
        lines = self._zip.read(SUMS).decode().splitlines()
        sums = {member: digest for digest, _, member in (line.partition("  ") for line in lines)}
        if not sums:
            raise ValueError(f"{SUMS} is empty")
        return sums

    def document(self) -> Any:
        """Return the document."""
        with self._zip.open(self._name) as stream:
            text = stream.read()
        self._compare(self._name, hashlib.sha256(text))
        return json.loads(text, parse_constant=_refuse_constant)

    def array(self, name: str) -> np.ndarray:
        """Return an array."""
        member = f"{name}.npy"
        size, digest = self._zip.getinfo(member).file_size, hashlib.sha256()
        with self._zip.open(member) as stream:
            start = _exactly(stream, len(_MAGIC) + 2)
            header = _exactly(stream, int.from_bytes(start[len(_MAGIC) :], "little"))
            dtype, order, shape = _declared(start, header)
            count = _bytes_of(dtype, shape, size - len(start) - len(header))
            raw: Any = np.empty(count, np.uint8)
            content: Any = stream
            if content.readinto(memoryview(raw)) != count or content.read(1):
                raise ValueError(f"{member} is cut short")
        for part in (start, header, raw):
            digest.update(part)
        self._compare(member, digest)
        array: np.ndarray = raw.view(dtype).reshape(shape, order=order)
        return array

    def _compare(self, member: str, digest: Any) -> None:
        if self._sums and self._sums.get(member) != digest.hexdigest():
            raise ValueError(f"{member} is not what was written: its checksum differs")


def _excess(members: list[zipfile.ZipInfo], name: str, size: int) -> str:
    """Return what is wrong with the declared sizes of a file of `size` bytes, if anything."""
    document = sum(member.file_size for member in members if member.filename in (name, SUMS))
    arrays = sum(member.file_size for member in members) - document
    for what, unpacked, free in (
        ("document", document, FREE_DOCUMENT),
        ("arrays", arrays, FREE_ARRAYS),
    ):
        if unpacked > max(free, EXPANSION * size):
            return f"its {what} would unpack to {unpacked} bytes, from a file of {size}"
    return ""


def _exactly(stream: Any, count: int) -> bytes:
    data: bytes = stream.read(count)
    if len(data) != count:
        raise ValueError("an array is cut short")
    return data


def _declared(start: bytes, header: bytes) -> tuple[np.dtype, Any, tuple[int, ...]]:
    """Return the type, the order and the shape that the header of an array declares.

    NumPy's own reader evaluates headers as Python; ours have one form only.
    """
    found = _HEADER.fullmatch(header)
    if not start.startswith(_MAGIC) or not found:
        raise ValueError("an array has an unknown header")
    shape = tuple(int(part) for part in found[3].replace(b" ", b"").split(b",") if part)
    return np.dtype(found[1].decode()), "F" if found[2] == b"True" else "C", shape


def _bytes_of(dtype: np.dtype, shape: tuple[int, ...], available: int) -> int:
    """Return the bytes of an array, which must be those that there are."""
    size = dtype.itemsize * math.prod(shape)
    if size != available or dtype.itemsize == 0:
        raise ValueError(f"an array of shape {shape} and type {dtype} has {available} bytes")
    return size


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")

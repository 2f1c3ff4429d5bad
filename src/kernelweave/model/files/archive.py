"""Archives: a JSON document and named arrays in one zip file, checked when they are read.

The members are the document, ``<name>.npy`` for each array, ``SHA256SUMS`` with the SHA-256 of each
of these in the format of ``sha256sum --check``, and, if a key was given, ``SIGNATURE`` with the
HMAC-SHA256 of ``SHA256SUMS``. Equal contents give equal bytes: members have no dates.

Files are untrusted: every declared size is compared with the number of bytes in the file before
memory is allocated. Checksums detect accidental damage only, since whoever alters a file can write
new ones. A signature detects any change by somebody who does not have the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import re
import stat
import zipfile
from collections.abc import Mapping
from typing import IO, Any, BinaryIO

import numpy as np

SUMS = "SHA256SUMS"
SIGNATURE = "SIGNATURE"
SIGNED_AS = b"kernelweave archive 1\n"  # signatures for other purposes are not valid here
MIN_KEY_BYTES = 16
METHODS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
UNIX = 3  # code of the system that wrote a zip file; constant, so that bytes do not depend on it

# Contents may unpack to EXPANSION times the size of the file, or to MAX_FREE_* bytes for any file.
# The limit of the document is lower, since parsed JSON takes about twenty times its size.
EXPANSION = 8
MAX_FREE_DOCUMENT = 1 << 24
MAX_FREE_ARRAYS = 1 << 28

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<>|][biufSUmM]\d{1,9}(?:\[\w{1,9}\])?)', 'fortran_order': (True|False), "
    rb"'shape': \(([\d, ]{0,600})\), \} *\n"
)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ValueError
        If `path` is a device, a pipe or a socket: such files may never end.
    OSError
        If there is no such file, or it cannot be read.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # `open` reports directories
        raise ValueError(f"{os.fspath(path)!r} is a device or a pipe, not a regular file")
    return open(path, "rb")


def check_key(key: object) -> None:
    """Raise TypeError or ValueError unless `key` is None or at least 16 bytes."""
    if key is None:
        return
    if not isinstance(key, bytes | bytearray):
        raise TypeError(f"key must be bytes, such as secrets.token_bytes(32), got {type(key)!r}")
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(
            f"key must have at least {MIN_KEY_BYTES} bytes, got {len(key)}; "
            "secrets.token_bytes(32) makes a good one"
        )


def write_archive(
    file: BinaryIO,
    name: str,
    document: object,
    arrays: Mapping[str, np.ndarray],
    key: bytes | None = None,
) -> None:
    """Write a document and arrays to a file that is open for reading and writing.

    Parameters
    ----------
    file : binary file
    name : str
        Name of the member that contains the document.
    document : JSON-compatible value
    arrays : mapping from names to arrays
    key : bytes, optional
        Key of the signature. None: no signature.
    """
    for method in METHODS:  # no compression if the contents would exceed the limits of `Archive`
        file.seek(0)
        file.truncate()
        with zipfile.ZipFile(file, "w", method) as archive:
            _write_members(archive, name, document, arrays, key)
            members = archive.infolist()
        if not _excess(members, name, file.seek(0, os.SEEK_END)):
            return


def _write_members(
    archive: zipfile.ZipFile,
    name: str,
    document: object,
    arrays: Mapping[str, np.ndarray],
    key: bytes | None,
) -> None:
    text = json.dumps(document, allow_nan=False).encode()
    _write_text(archive, name, text)
    sums = {name: hashlib.sha256(text).hexdigest()}
    for one, array in arrays.items():
        member = f"{one}.npy"
        with archive.open(_member(archive, member), "w", force_zip64=True) as stream:
            hashed = _Hashed(stream)
            np.lib.format.write_array(hashed, array, version=(1, 0), allow_pickle=False)
        sums[member] = hashed.digest.hexdigest()
    lines = "".join(f"{digest}  {member}\n" for member, digest in sums.items()).encode()
    _write_text(archive, SUMS, lines)
    if key is not None:
        _write_text(archive, SIGNATURE, _signature(key, lines).encode())


def _write_text(archive: zipfile.ZipFile, name: str, text: bytes) -> None:
    archive.writestr(_member(archive, name), text)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the zip entry of a member, independent of time and system."""
    member = zipfile.ZipInfo(name)  # dated 1980-01-01, the earliest date of zip files
    member.compress_type = archive.compression
    member.create_system = UNIX
    member.external_attr = 0o600 << 16
    return member


def _signature(key: bytes, sums: bytes) -> str:
    """Return the HMAC-SHA256 of the checksums as 64 hexadecimal digits and a newline."""
    return hmac.new(key, SIGNED_AS + sums, hashlib.sha256).hexdigest() + "\n"


class _Hashed:
    """A stream that computes the SHA-256 of the bytes written to it."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self._stream.write(data)


class Archive:
    """An archive that is open for reading.

    Parameters
    ----------
    file : binary file
    name : str
        Name of the member that contains the document.
    key : bytes, optional
        If given, the archive must have a signature made with this key.

    Raises
    ------
    Exception
        Of any kind if the file is not such an archive; callers turn it into a ValueError that names
        the file.
    """

    def __init__(self, file: BinaryIO, name: str, key: bytes | None = None):
        size = file.seek(0, os.SEEK_END)
        self._zip = zipfile.ZipFile(file)
        self._name = name
        members = self._zip.infolist()
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two members have the same name")
        if any(member.compress_type not in METHODS or member.flag_bits & 1 for member in members):
            raise ValueError("a member is encrypted or has an unknown compression method")
        if excess := _excess(members, name, size):
            raise ValueError(excess)
        if key is not None:
            self._check_signature(key)
        self._sums = self._read_sums()

    def _check_signature(self, key: bytes) -> None:
        """Raise ValueError if the signature is wrong, before any other content is interpreted."""
        if not {SUMS, SIGNATURE} <= set(self._zip.namelist()):
            raise ValueError("a key was given, but the file has no signature; save it with key=")
        expected = _signature(key, self._zip.read(SUMS)).encode()
        if not hmac.compare_digest(expected, self._zip.read(SIGNATURE)):
            raise ValueError(
                "the signature does not match: the file was altered or signed with another key"
            )

    @property
    def has_sums(self) -> bool:
        """Whether the archive has checksums, with which members are compared."""
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
        """Return the parsed document."""
        with self._zip.open(self._name) as stream:
            text = stream.read()
        self._compare(self._name, hashlib.sha256(text))
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)

    def array(self, name: str) -> np.ndarray:
        """Return the array that was written under a name."""
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
        return raw.view(dtype).reshape(shape, order=order)

    def _compare(self, member: str, digest: Any) -> None:
        if self._sums and self._sums.get(member) != digest.hexdigest():
            raise ValueError(f"the checksum of {member} does not match: the file was altered")


def _excess(members: list[zipfile.ZipInfo], name: str, size: int) -> str:
    """Return an error message if a file of `size` bytes would unpack to too many, else ""."""
    texts = (name, SUMS, SIGNATURE)
    document = sum(member.file_size for member in members if member.filename in texts)
    arrays = sum(member.file_size for member in members) - document
    for what, unpacked, free in (
        ("document", document, MAX_FREE_DOCUMENT),
        ("arrays", arrays, MAX_FREE_ARRAYS),
    ):
        if unpacked > max(free, EXPANSION * size):
            return f"the {what} would unpack to {unpacked} bytes, from a file of {size} bytes"
    return ""


def _exactly(stream: Any, count: int) -> bytes:
    data: bytes = stream.read(count)
    if len(data) != count:
        raise ValueError("an array is cut short")
    return data


def _declared(start: bytes, header: bytes) -> tuple[np.dtype, object, tuple[int, ...]]:
    """Return dtype, memory order and shape from the first bytes and the header of an array.

    NumPy's reader accepts any Python literal as header; this one accepts one form only.
    """
    found = _HEADER.fullmatch(header)
    if not start.startswith(_MAGIC) or not found:
        raise ValueError("an array has an unknown header")
    shape = tuple(int(part) for part in found[3].replace(b" ", b"").split(b",") if part)
    return np.dtype(found[1].decode()), "F" if found[2] == b"True" else "C", shape


def _bytes_of(dtype: np.dtype, shape: tuple[int, ...], available: int) -> int:
    """Return the number of bytes of an array; raise ValueError unless it equals `available`."""
    size = dtype.itemsize * math.prod(shape)
    if size != available or dtype.itemsize == 0:
        raise ValueError(f"an array has shape {shape}, dtype {dtype}, but {available} bytes")
    return size


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object; raise ValueError if two have the same name."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object of the document has two members of the same name")
    return members


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")

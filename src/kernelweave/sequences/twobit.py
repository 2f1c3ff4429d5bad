"""Read genomes from 2bit files (UCSC).

A base takes two bits. Unknown and lower-case (soft-masked) bases are given by ranges:

    header      signature, version, number of records, 0
    index       for each record: the length of its name, the name, the offset of the record
    record      number of bases; unknown ranges and lower-case ranges, each as their number, all
                starts and all sizes; 0; the bases, four per byte, T C A G as 0 1 2 3, the first in
                the high bits

All numbers have 32 bits (offsets have 64 bits in version 1), in either byte order. `open_twobit`
converts a file to FASTA text piece by piece, so that every reader of FASTA can read it.

Work and memory are proportional to the size of the file: records must not overlap each other or the
index, and ranges must be sorted and disjoint, as the UCSC tools write them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SIGNATURES = {b"\x43\x27\x41\x1a": "<", b"\x1a\x41\x27\x43": ">"}  # with the byte order
PIECE = 1 << 20  # bases unpacked at a time; a multiple of four
HEADER_BYTES = 16
UNKNOWN, LOWER_CASE = ord("N"), 0x20  # the bit that makes a letter lower-case
FOUR_BASES = np.array(
    [[b"TCAG"[byte >> shift & 3] for shift in (6, 4, 2, 0)] for byte in range(256)], dtype=np.uint8
)


class Record(NamedTuple):
    """One sequence of a 2bit file.

    Attributes
    ----------
    name : str
        Name of the sequence.
    size : int
        Number of bases.
    unknown, masked : array of shape (2, k)
        Starts and ends of ranges of unknown and of lower-case bases, sorted and disjoint.
    packed : array of uint8, shape (ceil(size / 4),)
        Four bases per byte.
    start, stop : int
        Offsets of the first byte of the record and of the byte after its last.
    """

    name: str
    size: int
    unknown: np.ndarray
    masked: np.ndarray
    packed: np.ndarray
    start: int
    stop: int


def open_twobit(source: Any, mode: str = "rb") -> io.BufferedReader:
    """Return a 2bit file as a stream of FASTA text.

    Parameters
    ----------
    source : str, path-like or binary stream
        The 2bit file; a stream is read into memory as a whole.
    mode : str
        Ignored; it makes the signature that of `gzip.open`.
    """
    if hasattr(source, "read"):
        data = np.frombuffer(source.read(), dtype=np.uint8)
    else:
        data = np.memmap(source, dtype=np.uint8, mode="r")
    return io.BufferedReader(_FastaText(records(data)))


def records(data: np.ndarray) -> list[Record]:
    """Return the records of a 2bit file in the order of its index.

    Parameters
    ----------
    data : array of uint8
        The bytes of the file.

    Raises
    ------
    ValueError
        If the file is truncated or inconsistent, or if records overlap. A small file with many
        overlapping records could otherwise represent any number of bases.
    """
    file = _Bytes(data, SIGNATURES[data[:4].tobytes()])
    _, version, count, _ = file.numbers(0, 4).tolist()
    if version not in (0, 1):
        raise ValueError(f"2bit files have version 0 or 1, got {version}")
    width, at, found = 4 * (1 + version), HEADER_BYTES, []
    for _ in range(count):
        length = int(file.part(at, 1)[0])
        name = file.part(at + 1, length).tobytes().decode("utf-8", "replace")
        at += 1 + length
        found.append(_record(file, name, int(file.numbers(at, 1, width)[0])))
        at += width
    end, before = at, "the index"
    for record in sorted(found, key=lambda one: one.start):
        if record.start < end:
            raise ValueError(f"2bit record {record.name!r} overlaps {before}")
        end, before = record.stop, f"record {record.name!r}"
    return found


def _record(file: _Bytes, name: str, start: int) -> Record:
    size, at = int(file.numbers(start, 1)[0]), start + 4
    ranges = []
    for _ in range(2):
        count = int(file.numbers(at, 1)[0])
        starts, sizes = file.numbers(at + 4, 2 * count).astype(np.int64).reshape(2, count)
        ends = starts + sizes
        if np.any(ends[:-1] > starts[1:]):
            raise ValueError(f"2bit record {name!r}: ranges must be sorted and disjoint")
        if count and ends[-1] > size:
            raise ValueError(f"2bit record {name!r}: a range ends after its {size} bases")
        ranges.append(np.stack([starts, ends]))
        at += 4 + 8 * count
    unknown, masked = ranges
    packed = file.part(at + 4, (size + 3) // 4)
    return Record(name, size, unknown, masked, packed, start, at + 4 + len(packed))


class _Bytes:
    """The bytes of a file in a given byte order; reading past the end raises ValueError."""

    def __init__(self, data: np.ndarray, order: str):
        self.data, self.order = data, order

    def part(self, at: int, count: int) -> np.ndarray:
        if at + count > len(self.data):
            raise ValueError("the 2bit file is truncated or damaged: it ends within a record")
        return self.data[at : at + count]

    def numbers(self, at: int, count: int, size: int = 4) -> np.ndarray:
        return np.frombuffer(self.part(at, size * count).tobytes(), f"{self.order}u{size}")


class _FastaText(io.RawIOBase):
    """A binary stream of the FASTA text of records."""

    def __init__(self, found: list[Record]):
        self._pieces = (piece for record in found for piece in _pieces(record))
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._left):
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _pieces(record: Record) -> Iterator[bytes]:
    yield f">{record.name}\n".encode()
    for start in range(0, record.size, PIECE):
        stop = min(start + PIECE, record.size)
        letters = FOUR_BASES[record.packed[start // 4 : (stop + 3) // 4]].ravel()[: stop - start]
        letters[_inside(record.unknown, start, stop)] = UNKNOWN
        letters[_inside(record.masked, start, stop)] |= LOWER_CASE
        yield letters.tobytes()
    yield b"\n"


def _inside(ranges: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return a mask of the positions start, ..., stop - 1 that are inside one of k ranges.

    `ranges` has shape (2, k): starts and ends, sorted and disjoint, for binary search.
    """
    starts, ends = ranges
    near = slice(np.searchsorted(ends, start, "right"), np.searchsorted(starts, stop, "left"))
    edges = np.zeros(stop - start + 1, dtype=np.int64)
    np.add.at(edges, np.clip(starts[near], start, stop) - start, 1)
    np.add.at(edges, np.clip(ends[near], start, stop) - start, -1)
    return np.cumsum(edges[:-1]) > 0

"""Genomes in 2bit files (UCSC): two bits a letter, unknown letters and repeats as ranges.

    header      signature, version, number of records, 0
    index       for each record: the length of its name, the name, where the record begins
    a record    letters; unknown ranges and small-letter ranges, each as their number, all starts
                and all sizes; 0; the letters, four a byte, T C A G as 0 1 2 3 from the high bits on

All numbers have 32 bits, in version 1 those of the index 64, in either order of bytes. A file is
shown as the FASTA text that it stands for, piece by piece, so that whatever reads FASTA reads it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SIGNATURES = {b"\x43\x27\x41\x1a": "<", b"\x1a\x41\x27\x43": ">"}  # and the order of bytes
PIECE = 1 << 20  # letters unpacked at a time; a multiple of four
UNKNOWN, SMALL = ord("N"), 0x20  # the bit that makes a letter small
FOUR = np.array(
    [[b"TCAG"[byte >> shift & 3] for shift in (6, 4, 2, 0)] for byte in range(256)], dtype=np.uint8
)


class Record(NamedTuple):
    """One chromosome.

    Attributes
    ----------
    name, size : what it is called, and its number of letters.
    unknown, small : starts and ends of ranges, each of shape (2, k).
    packed : four letters a byte.
    """

    name: str
    size: int
    unknown: np.ndarray
    small: np.ndarray
    packed: np.ndarray


def open_twobit(source: Any, mode: str = "rb") -> io.BufferedReader:
    """Return the FASTA text that a 2bit file (a path, or an open stream) stands for."""
    if hasattr(source, "read"):
        data = np.frombuffer(source.read(), dtype=np.uint8)
    else:
        data = np.memmap(source, dtype=np.uint8, mode="r")
    return io.BufferedReader(_Text(records(data)))


def records(data: np.ndarray) -> Iterator[Record]:
    """Give the chromosomes of a file, whose bytes are `data`.

    Raises
    ------
    ValueError : where it is cut, or says what cannot be.
    """
    file = _Bytes(data, SIGNATURES[data[:4].tobytes()])
    _, version, count, _ = file.numbers(0, 4).tolist()
    if version not in (0, 1):
        raise ValueError(f"2bit files have version 0 or 1, not {version}")
    words, at = 1 + version, 16  # numbers of 32 bits that a place takes
    for _ in range(count):
        length = int(file.part(at, 1)[0])
        name = file.part(at + 1, length).tobytes().decode("utf-8", "replace")
        at += 1 + length
        place = file.numbers(at, 1, 4 * words)[0]
        at += 4 * words
        yield _record(file, name, int(place))


def _record(file: _Bytes, name: str, at: int) -> Record:
    size, at = int(file.numbers(at, 1)[0]), at + 4
    ranges = []
    for _ in range(2):
        count = int(file.numbers(at, 1)[0])
        starts, sizes = file.numbers(at + 4, 2 * count).astype(np.int64).reshape(2, count)
        if count and int((starts + sizes).max()) > size:
            raise ValueError(f"2bit record {name!r}: a range ends behind its {size} letters")
        ranges.append(np.stack([starts, starts + sizes]))
        at += 4 + 8 * count
    unknown, small = ranges
    return Record(name, size, unknown, small, file.part(at + 4, (size + 3) // 4))


class _Bytes:
    """The bytes of a file, with answers where there are none."""

    def __init__(self, data: np.ndarray, order: str):
        self.data, self.order = data, order

    def part(self, at: int, count: int) -> np.ndarray:
        if at + count > len(self.data):
            raise ValueError("the 2bit file is cut or damaged: it ends within a record")
        return self.data[at : at + count]

    def numbers(self, at: int, count: int, size: int = 4) -> np.ndarray:
        return np.frombuffer(self.part(at, size * count).tobytes(), f"{self.order}u{size}")


class _Text(io.RawIOBase):
    """Records as FASTA text."""

    def __init__(self, found: Iterator[Record]):
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
        letters = FOUR[record.packed[start // 4 : (stop + 3) // 4]].ravel()[: stop - start]
        letters[_inside(record.unknown, start, stop)] = UNKNOWN
        letters[_inside(record.small, start, stop)] |= SMALL
        yield letters.tobytes()
    yield b"\n"


def _inside(ranges: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return which of the places [start, stop) lie in any of some ranges."""
    near = ranges[:, (ranges[0] < stop) & (ranges[1] > start)]
    edges = np.zeros(stop - start + 1, dtype=np.int64)
    for places, step in zip(np.clip(near, start, stop) - start, (1, -1), strict=True):
        np.add.at(edges, places, step)
    inside: np.ndarray = np.cumsum(edges[:-1]) > 0
    return inside

"""Sequences: packed in memory, from files, lists and columns.

Letters are stored as two bit planes where the alphabet has at most four (DNA of length 141 takes
48 bytes a sequence), and as one byte each otherwise. Files are read as a stream, so that loading
needs no more memory than what is loaded.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np

from kernelweave.alphabets import DNA, Alphabet, as_alphabet
from kernelweave.core import _core

__all__ = ["Alphabet", "Sequences", "as_sequences", "read_sequences"]

_PIECE = 1 << 20  # bytes of a file read at a time
_OPENERS = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
_SAME_CODES = bytes(range(256))
_POLICIES = ("mismatch", "error")


class Sequences:
    """n packed sequences over one alphabet.

    They count as one column of examples: ``len(s)`` is n, ``s[3]`` is a string, and ``s[index]``
    (a slice, integers, or a mask) are some of the sequences.

    Attributes
    ----------
    alphabet : the letters; others are unknown, and match nothing.
    n : number of sequences.
    length : the length of all sequences, or None where it varies.
    lengths : (n,) the length of each.
    data : (words,) uint64 bit planes, or (letters,) uint8 codes, one sequence after the other.
    unknown : (words,) mask of unknown letters beside bit planes; None where all are known.
    names : headers of the records of a file; None where there were none or they were dropped.
    """

    def __init__(
        self,
        alphabet: Alphabet,
        *,
        n: int,
        length: int | None,
        data: np.ndarray,
        unknown: np.ndarray | None = None,
        lengths: np.ndarray | None = None,
        names: Names | None = None,
    ):
        self.alphabet = alphabet
        self.n = n
        self.length = length
        self.data = data
        self.unknown = unknown
        self.lengths = np.broadcast_to(np.int64(length), n) if lengths is None else lengths
        self.names = names

    @classmethod
    def from_codes(cls, codes: np.ndarray, alphabet: Any = DNA) -> Sequences:
        """Return sequences of coded letters, (n, length) of uint8; see `Alphabet.letters`."""
        alphabet = as_alphabet(alphabet)
        codes = np.ascontiguousarray(codes, dtype=np.uint8)
        if codes.ndim != 2 or codes.size == 0 or codes.max() >= len(alphabet.letters):
            raise ValueError(f"codes must be an (n, length) array of codes of {alphabet.name}")
        return cls(alphabet, **_core.pack_codes(codes, alphabet.planes))

    @classmethod
    def join(cls, parts: Iterable[Sequences], n: int) -> Sequences:
        """Return n equally long sequences without unknown letters that come in parts."""
        data: np.ndarray | None = None
        filled = 0
        for part in parts:
            if data is None:
                first, data = part, np.empty(part.data.size // part.n * n, part.data.dtype)
            data[filled : filled + part.data.size] = part.data
            filled += part.data.size
        return cls(first.alphabet, n=n, length=first.length, data=data)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, 1): sequences are one column."""
        return (self.n, 1)

    @property
    def nbytes(self) -> int:
        """Bytes of the letters."""
        return self.data.nbytes + (0 if self.unknown is None else self.unknown.nbytes)

    @cached_property
    def starts(self) -> np.ndarray | None:
        """(n + 1,) where each sequence starts in `data`; None where all are equally long."""
        if self.length is not None:
            return None
        return np.concatenate([[0], np.cumsum(self._items(self.lengths))])

    def _items(self, lengths: Any) -> Any:
        return 2 * ((lengths + 63) // 64) if self.alphabet.planes else lengths

    @cached_property
    def packed(self) -> _core.PackedSequences:
        """The same sequences for the core."""
        lengths = None if self.length is not None else self.lengths
        planes = self.alphabet.planes
        return _core.PackedSequences(
            self.n, self.length, self.data, planes, self.unknown, lengths, self.starts
        )

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        length = f"length {self.length}" if self.length is not None else "varying lengths"
        return f"<Sequences: {self.n} of {self.alphabet.name}, {length}>"

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self.n))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 2 and index[1] in (Ellipsis, slice(None)):
            index = index[0]  # the column of an array of one column
        if isinstance(index, int | np.integer):
            return self.alphabet.text(self.packed.codes(range(self.n)[index]))
        return self.take(np.arange(self.n)[index])

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("packed", "starts")}

    def take(self, index: np.ndarray) -> Sequences:
        """Return the sequences in `index` (integers)."""
        names = None if self.names is None else self.names.take(index)
        common = {"n": len(index), "length": self.length, "names": names}
        if self.length is not None:
            data = self.data.reshape(self.n, -1)[index].ravel()
            unknown = self.unknown
            if unknown is not None:
                unknown = unknown.reshape(self.n, -1)[index].ravel()
            return Sequences(self.alphabet, data=data, unknown=unknown, **common)
        starts = self.starts
        data = _joined(self.data, starts[:-1][index], starts[1:][index])
        unknown = self.unknown
        if unknown is not None:
            unknown = _joined(unknown, starts[:-1][index] // 2, starts[1:][index] // 2)
        return Sequences(
            self.alphabet, data=data, unknown=unknown, lengths=self.lengths[index], **common
        )

    def window(self, start: int, stop: int) -> Sequences:
        """Return letters [start, stop) of every sequence.

        Raises
        ------
        ValueError : where a sequence is shorter than `stop`.
        """
        shortest = int(self.lengths.min())
        if not 0 <= start < stop <= shortest:
            raise ValueError(
                f"window: need 0 <= start < stop <= {shortest} (the shortest sequence), got "
                f"start={start}, stop={stop}"
            )
        return self._rewritten(start, stop, False, _SAME_CODES)

    def reverse_complement(self) -> Sequences:
        """Return the other strand, read in its own direction."""
        return self._rewritten(0, int(self.lengths.max()), True, self.alphabet.strand_codes)

    def _rewritten(self, start: int, stop: int, backwards: bool, mapping: bytes) -> Sequences:
        parts = self.packed.rewrite(start, stop, backwards, mapping)
        return Sequences(self.alphabet, names=self.names, **parts)


class Names:
    """The headers of n records, as one piece of memory; ``names[i]`` is a string."""

    def __init__(self, text: np.ndarray, ends: np.ndarray):
        self._text = text
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        i = range(len(self))[index]
        start = self._ends[i - 1] if i > 0 else 0
        return self._text[start : self._ends[i]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def take(self, index: np.ndarray) -> Names:
        """Return the names in `index` (integers)."""
        starts = np.concatenate([[0], self._ends[:-1]])[index]
        ends = self._ends[index]
        return Names(_joined(self._text, starts, ends), np.cumsum(ends - starts))


def as_sequences(
    values: Any, alphabet: Any = DNA, *, unknown: str = "mismatch"
) -> Sequences:
    """Return sequences from a list, an array, or a column of strings.

    Parameters
    ----------
    values : list, 1-D array, pandas or polars Series of n strings (or bytes), or `Sequences`.
    alphabet : Alphabet, "dna", "rna", "protein", "bytes", or a string of letters.
    unknown : {"mismatch", "error"}, what to do with letters outside the alphabet, such as N: let
        them match nothing, or refuse them.
    """
    alphabet = as_alphabet(alphabet)
    if isinstance(values, Sequences):
        return _checked(values, alphabet, unknown)
    refuse = _refuses(unknown)
    try:
        parts = _core.pack_strings(_listed(values), alphabet.codes, alphabet.planes, refuse)
    except (TypeError, ValueError) as error:
        raise type(error)(f"sequences ({alphabet.name}): {error}") from None
    return Sequences(alphabet, **parts)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, str | bytes):
        raise TypeError("expected several sequences, got one string; put it into a list")
    if len(getattr(values, "shape", (0,))) != 1:
        raise ValueError(f"expected one column of strings, got shape {values.shape}")
    for name in ("to_list", "tolist"):
        if hasattr(values, name):
            return getattr(values, name)()
    return list(values)


def _checked(sequences: Sequences, alphabet: Alphabet, unknown: str) -> Sequences:
    if sequences.alphabet != alphabet:
        raise ValueError(
            f"alphabet: the sequences are {sequences.alphabet.name}, asked for {alphabet.name}"
        )
    if _refuses(unknown) and sequences.unknown is not None:
        raise ValueError(f"sequences ({alphabet.name}): there are letters outside the alphabet")
    return sequences


def _refuses(unknown: str) -> bool:
    if unknown not in _POLICIES:
        raise ValueError(f"unknown must be one of {list(_POLICIES)}, not {unknown!r}")
    return unknown == "error"


def read_sequences(
    path: str | os.PathLike[str], alphabet: Any = DNA, *, unknown: str = "mismatch", names: bool = True
) -> Sequences:
    """Read a FASTA or FASTQ file, plain or packed by gzip, bzip2 or xz.

    Parameters
    ----------
    path : the file; what it is shows in its first bytes, not in its name.
    alphabet : Alphabet, "dna", "rna", "protein", "bytes", or a string of letters.
    unknown : {"mismatch", "error"}, what to do with letters outside the alphabet, such as N.
    names : whether to keep the headers.

    Raises
    ------
    ValueError : where the file is not what it should be; the message names the line and record.
    """
    alphabet = as_alphabet(alphabet)
    parser = _core.SequenceParser(alphabet.file_codes, alphabet.planes, _refuses(unknown), names)
    try:
        with _opened(path) as file:
            while piece := file.read(_PIECE):
                parser.feed(piece)
        parts = parser.finish()
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise ValueError(f"{os.fspath(path)}: the packed file is cut or damaged: {error}") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    headers = Names(parts.pop("names"), parts.pop("name_ends"))
    return Sequences(alphabet, names=headers if names else None, **parts)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    with open(path, "rb") as file:
        magic = file.read(2)
    return _OPENERS.get(magic, open)(path, "rb")


def _joined(values: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    pieces = [values[start:stop] for start, stop in zip(starts, stops, strict=True)]
    return np.concatenate([values[:0], *pieces])

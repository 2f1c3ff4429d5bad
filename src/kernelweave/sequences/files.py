"""Read and write sequence files as streams: only the packed sequences are kept in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader
from typing import Any, BinaryIO

from ..common.core import _core
from .alphabets import DNA, as_alphabet
from .names import Names
from .packed import Sequences
from .texts import refuses
from .twobit import SIGNATURES, open_twobit

Opener = Callable[..., Any]  # such as gzip.open

PIECE = 1 << 20  # bytes read at a time
# A compressed file may expand by this factor, or to MAX_FREE bytes if that is more. The factor of
# gzip is at most 1032; that of bzip2 and xz can be larger.
MAX_EXPANSION = 1100
MAX_FREE = 1 << 26
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)  # raised by decompressors
_DECOMPRESSORS: dict[bytes, Opener] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
_OPENERS: dict[bytes, Opener] = _DECOMPRESSORS | dict.fromkeys(SIGNATURES, open_twobit)


def read_sequences(
    path: str | os.PathLike[str],
    alphabet: object = DNA,
    *,
    unknown: str = "mismatch",
    names: bool = True,
) -> Sequences:
    r"""Read a FASTA or FASTQ file, plain or compressed by gzip, bzip2 or xz, or a 2bit file.

    Parameters
    ----------
    path : str or path-like
        The format is recognised by the first bytes, not by the name.
    alphabet : Alphabet, "dna", "rna", "protein", "bytes", or a string of letters
        The letters of the sequences.
    unknown : {"mismatch", "error"}
        Whether letters outside the alphabet, such as N, match nothing or are an error.
    names : bool
        Whether to keep the headers of the records, as the attribute ``names``.

    Returns
    -------
    Sequences

    Raises
    ------
    ValueError
        If the file is malformed; the message contains the line and the record.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.sequences import read_sequences
    >>> _ = Path("two.fa").write_text(">one\nGATTACA\n>two\nGATTTCA\n")
    >>> sequences = read_sequences("two.fa")
    >>> list(sequences)
    ['GATTACA', 'GATTTCA']
    >>> list(sequences.names)
    ['one', 'two']
    """
    (sequences,) = read_blocks(path, alphabet, unknown=unknown, names=names, records=None)
    return sequences


def read_blocks(
    path: str | os.PathLike[str] | BinaryIO,
    alphabet: object = DNA,
    *,
    unknown: str = "mismatch",
    names: bool = True,
    records: int | None = 100_000,
) -> Iterator[Sequences]:
    """Read a sequence file block by block.

    Parameters
    ----------
    path : str, path-like or binary stream
        A stream is left open.
    alphabet, unknown, names
        As for `read_sequences`.
    records : int or None
        Minimum number of records in every block but the last; None for a single block.

    Yields
    ------
    Sequences

    Examples
    --------
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.sequences import read_blocks, write_sequences
    >>> write_sequences("many.fa", make_motifs(250)[0])
    >>> sum(len(block) for block in read_blocks("many.fa", records=100))
    250
    """
    alphabet = as_alphabet(alphabet)
    parser = _core.SequenceParser(alphabet.file_codes, alphabet.planes, refuses(unknown), names)

    def block(parts: dict[str, Any]) -> Sequences:
        headers = Names(parts.pop("names"), parts.pop("name_ends"))
        return Sequences(alphabet, names=headers if names else None, **parts)

    name = getattr(path, "name", path) if hasattr(path, "read") else os.fspath(path)
    with named_errors(name), opened(path) as file:
        while piece := file.read(PIECE):
            parser.feed(piece)
            if records is not None and parser.n >= records:
                yield block(parser.take())
        last = parser.finish()
        if last["n"]:
            yield block(last)


@contextmanager
def named_errors(name: object) -> Iterator[None]:
    """Put the name of a file before the messages of errors raised in a ``with`` block."""
    try:
        yield
    except DAMAGE as error:
        if getattr(error, "errno", None) is not None:  # an error of the system, not of the format
            raise
        raise ValueError(f"{name}: the compressed file is truncated or damaged: {error}") from None
    except ValueError as error:
        named = str(error).startswith(f"{name}: ")
        raise ValueError(str(error) if named else f"{name}: {error}") from None


def write_sequences(path: str | os.PathLike[str], sequences: Sequences) -> None:
    """Write sequences to a FASTA file, with their names or else their numbers as headers.

    Parameters
    ----------
    path : str or path-like
        An existing file is replaced.
    sequences : Sequences
        The sequences to write, one record each.

    Examples
    --------
    >>> from kernelweave.sequences import as_sequences, read_sequences, write_sequences
    >>> write_sequences("two.fa", as_sequences(["GATTACA", "GATTTCA"]))
    >>> list(read_sequences("two.fa"))
    ['GATTACA', 'GATTTCA']
    """
    names = range(sequences.n) if sequences.names is None else sequences.names
    with open(path, "w", encoding="utf-8") as file:
        for name, letters in zip(names, sequences, strict=True):
            file.write(f">{name}\n{letters}\n")


def opened(path: str | os.PathLike[str] | BinaryIO) -> AbstractContextManager[BinaryIO]:
    """Open a file that may be compressed; 2bit files are converted to FASTA.

    Parameters
    ----------
    path : str, path-like or binary stream
        A stream is left open.

    Raises
    ------
    ValueError
        While reading, if a compressed file expands by more than `MAX_EXPANSION`.
    """
    if isinstance(path, str | os.PathLike):
        with open(path, "rb") as file:
            start, size = file.read(4), os.fstat(file.fileno()).st_size
        opener = _opener(start) or open
        stream: Any = opener(path, "rb")
        if opener in _DECOMPRESSORS.values():
            limit = max(MAX_FREE, MAX_EXPANSION * size)
            stream = BufferedReader(_Decompressed(stream, os.fspath(path), limit), PIECE)
        return stream
    buffered = BufferedReader(path)  # type: ignore[type-var]  # any binary stream will do
    converter = _opener(buffered.peek(4)[:4])
    return nullcontext(buffered) if converter is None else converter(buffered, "rb")


class _Decompressed(io.RawIOBase):
    """A decompressed stream that raises ValueError if it is damaged or exceeds `limit` bytes."""

    def __init__(self, stream: BinaryIO, name: str, limit: int):
        self._stream, self._name, self._left, self._limit = stream, name, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        with named_errors(self._name):
            count = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._left -= count
        if self._left < 0:
            raise ValueError(
                f"{self._name}: the compressed file expands to more than {self._limit} bytes, "
                f"{MAX_EXPANSION} times its size; decompress it first if that is right"
            )
        return int(count)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _opener(start: bytes) -> Opener | None:
    """Return the function that opens a file with these first bytes; None for plain text."""
    return next((opener for mark, opener in _OPENERS.items() if start.startswith(mark)), None)

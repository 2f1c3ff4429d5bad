"""Sequences in files, read as a stream: loading needs no more memory than what is loaded."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader
from typing import Any, BinaryIO

from ..common.core import _core
from .alphabets import DNA, as_alphabet
from .names import Names
from .packed import Sequences
from .texts import refuses
from .twobit import SIGNATURES, open_twobit

_PIECE = 1 << 20  # bytes of a file read at a time
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
_OPENERS |= dict.fromkeys(SIGNATURES, open_twobit)


def read_sequences(
    path: str | os.PathLike[str],
    alphabet: Any = DNA,
    *,
    unknown: str = "mismatch",
    names: bool = True,
) -> Sequences:
    r"""Read a FASTA or FASTQ file, plain or packed by gzip, bzip2 or xz, or a 2bit file.

    Parameters
    ----------
    path : the file; what it is shows in its first bytes, not in its name.
    alphabet : Alphabet, "dna", "rna", "protein", "bytes", or a string of letters.
    unknown : {"mismatch", "error"}, what to do with letters outside the alphabet, such as N.
    names : whether to keep the headers.

    Raises
    ------
    ValueError : where the file is not what it should be; the message names the line and record.

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
    alphabet: Any = DNA,
    *,
    unknown: str = "mismatch",
    names: bool = True,
    records: int | None = 100_000,
) -> Iterator[Sequences]:
    """Read a FASTA or FASTQ file as `read_sequences` does, but block by block.

    Parameters
    ----------
    path : the file, or an open binary stream, which is read as it is.
    records : how many records a block has at least; only the last has fewer. None: one block.

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
        while piece := file.read(_PIECE):
            parser.feed(piece)
            if records is not None and parser.n >= records:
                yield block(parser.take())
        last = parser.finish()
        if last["n"]:
            yield block(last)


@contextmanager
def named_errors(name: object) -> Iterator[None]:
    """Let errors of what is read name the file."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the system's word, not that of a format
            raise
        raise ValueError(f"{name}: the packed file is cut or damaged: {error}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def write_sequences(path: str | os.PathLike[str], sequences: Sequences) -> None:
    """Write sequences to a FASTA file, with their names or else their numbers as headers.

    Parameters
    ----------
    path : the file; one that is there is replaced.
    sequences : what to write.

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
    """Open what may be packed, 2bit as FASTA; an open stream is left open."""
    if isinstance(path, str | os.PathLike):
        with open(path, "rb") as file:
            opener = _opener(file.read(4)) or open
        stream: AbstractContextManager[BinaryIO] = opener(path, "rb")
        return stream
    buffered = BufferedReader(path)  # type: ignore[type-var]  # any binary stream will do
    found = _opener(buffered.peek(4)[:4])
    return nullcontext(buffered) if found is None else found(buffered, "rb")


def _opener(begins: bytes) -> Any:
    """Return what opens a file of which the first bytes are given; None for plain text."""
    return next((opener for mark, opener in _OPENERS.items() if begins.startswith(mark)), None)

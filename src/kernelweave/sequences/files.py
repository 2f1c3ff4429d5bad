"""Sequences in files, read as a stream: loading needs no more memory than what is loaded."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from typing import Any, BinaryIO

from ..alphabets import DNA, as_alphabet
from ..core import _core
from .names import Names
from .packed import Sequences
from .texts import refuses

_PIECE = 1 << 20  # bytes of a file read at a time
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}


def read_sequences(
    path: str | os.PathLike[str],
    alphabet: Any = DNA,
    *,
    unknown: str = "mismatch",
    names: bool = True,
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
    parser = _core.SequenceParser(alphabet.file_codes, alphabet.planes, refuses(unknown), names)
    try:
        with _opened(path) as file:
            while piece := file.read(_PIECE):
                parser.feed(piece)
        parts = parser.finish()
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the system's word, not that of a format
            raise
        raise ValueError(f"{os.fspath(path)}: the packed file is cut or damaged: {error}") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    headers = Names(parts.pop("names"), parts.pop("name_ends"))
    return Sequences(alphabet, names=headers if names else None, **parts)


def write_sequences(path: str | os.PathLike[str], sequences: Sequences) -> None:
    """Write sequences to a FASTA file, with their names or else their numbers as headers."""
    names = range(sequences.n) if sequences.names is None else sequences.names
    with open(path, "w", encoding="utf-8") as file:
        for name, letters in zip(names, sequences, strict=True):
            file.write(f">{name}\n{letters}\n")


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    with open(path, "rb") as file:
        magic = file.read(2)
    stream: BinaryIO = _OPENERS.get(magic, open)(path, "rb")
    return stream

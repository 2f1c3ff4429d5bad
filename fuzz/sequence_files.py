"""Sequence files: FASTA and FASTQ, whole, packed, damaged, and made of odd pieces."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernelweave.kernels import Spectrum, WeightedDegree
from kernelweave.sequences import Sequences, read_sequences, write_sequences

from .choices import Choices
from .damage import damaged
from .verdicts import Lie

LETTERS = {"dna": b"ACGTacgtN", "rna": b"ACGU", "protein": b"ACDEFGHIKLMNPQRSTVWY", "01": b"01"}
ODD_LETTERS = [b"ACGT\r", b"AC GT\t", b"A", bytes(range(256)), b">@+ACGT", b"\xff", b"-*.?N"]
ENDS = [b"", b"\n\n", b"\0", b"\r", b" \n"]
PACKERS: list[Callable[[bytes], bytes]] = [bytes] * 5 + [gzip.compress, bz2.compress, lzma.compress]
ALPHABETS = ["dna", "dna", "rna", "protein", "bytes", "01", "ACGTU"]


def run(data: bytes) -> None:
    """Read a file, and where it can be read compute on it, write it, and read it again."""
    c = Choices(data)
    alphabet, unknown = c.pick(ALPHABETS), c.pick(["mismatch", "mismatch", "error"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s")
        path.write_bytes(content(c, alphabet))
        read = read_sequences(path, alphabet, unknown=unknown, names=c.chance(0.7))
        if read.n != len(list(read)) or [len(text) for text in read] != read.lengths.tolist():
            raise Lie("sequences, their number and their lengths do not fit together")
        write_sequences(path, read)
        if list(read) and c.chance(0.5) and alphabet != "bytes":
            again = read_sequences(path, alphabet)
            if list(again) != list(read):
                raise Lie("what was written reads as something else")
    use(c, read)


def content(c: Choices, alphabet: str) -> bytes:
    """Return a file of records, perhaps damaged and perhaps packed."""
    known = LETTERS.get(alphabet, b"ACGT")
    text = c.pick([fasta, fasta, fastq, fastq, noise])(c, known)
    if c.chance(0.25):
        text = damaged(c, text)
    packed = c.pick(PACKERS)(text)
    return damaged(c, packed) if c.chance(0.15) else packed


def letters(c: Choices, known: bytes) -> bytes:
    """Return letters of a sequence, or of a header."""
    size = c.usual(c.integer(1, 40), [0, 1, 63, 64, 65, 1000, 5000], 0.05)
    chosen = np.frombuffer(c.usual(known, ODD_LETTERS, 0.02), dtype=np.uint8)
    return c.generator.choice(chosen, size).tobytes()


def end(c: Choices) -> bytes:
    """Return the end of a line."""
    return c.usual(c.pick([b"\n", b"\n", b"\r\n"]), ENDS, 0.02)


def fasta(c: Choices, known: bytes) -> bytes:
    """Return records of one or more lines."""
    text = b""
    for _ in range(c.usual(c.integer(1, 6), [0])):
        lines = [letters(c, known) + end(c) for _ in range(c.integer(1, 3))]
        text += b">" + letters(c, known)[:8] + end(c) + b"".join(lines)
    return text


def fastq(c: Choices, known: bytes) -> bytes:
    """Return records with qualities, mostly as many as letters."""
    text = b""
    for _ in range(c.usual(c.integer(1, 6), [0])):
        bases = letters(c, known)
        quality = b"I" * c.usual(len(bases), [0, 1, len(bases) + 1])
        lines = (b"@" + letters(c, known)[:8], bases, b"+", quality)
        text += b"".join(line + end(c) for line in lines)
    return text


def noise(c: Choices, known: bytes) -> bytes:
    """Return any bytes."""
    return c.generator.bytes(c.integer(0, 200))


def use(c: Choices, read: Sequences) -> None:
    """Take some sequences, reverse them, and compare them."""
    if read.n == 0:
        return
    some = read[:: c.integer(1, 3)]
    if read.alphabet.complement and c.chance(0.5):
        some = some.reverse_complement()
    kernel = c.pick([Spectrum(c.integer(1, 8), alphabet=read.alphabet),
                     WeightedDegree(c.integer(1, 8), alphabet=read.alphabet)])  # fmt: skip
    if not np.all(np.isfinite(kernel(some))):
        raise Lie("a kernel value is not finite")

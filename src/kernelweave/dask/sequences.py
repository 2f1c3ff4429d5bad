"""Read FASTA and FASTQ files on the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob
from io import BytesIO
from typing import Any, BinaryIO

from dask import delayed

from ..sequences import Sequences, read_blocks
from ..sequences.alphabets import DNA
from ..sequences.files import opened
from .collections import SequenceBlocks

BLOCK = 64 * 2**20  # default size of a block in bytes
PIECE = 1 << 16  # bytes that are searched at a time for the start of a record

Path = str | os.PathLike[str]


def read_sequences(
    paths: Path | Sequence[Path],
    alphabet: object = DNA,
    *,
    unknown: str = "mismatch",
    blocksize: int | None = BLOCK,
) -> SequenceBlocks:
    """Return the sequences of FASTA or FASTQ files in blocks that workers read on demand.

    Parameters
    ----------
    paths : path, pattern such as ``"chr*.fa"``, or a sequence of them
        Workers must have access to the files under the same paths. A FASTQ file, or a file
        compressed by gzip, bzip2 or xz, is one block.
    alphabet, unknown : as in `kernelweave.sequences.read_sequences`
    blocksize : int or None
        Approximate size of a block of a FASTA file in bytes; None for one block per file.

    Returns
    -------
    SequenceBlocks

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or a pattern matches no file.
    ValueError
        If `paths` is empty, or `blocksize` is not positive.

    Examples
    --------
    >>> from kernelweave.dask import read_sequences
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.sequences import write_sequences
    >>> write_sequences("many.fa", make_motifs(300)[0])
    >>> read_sequences("many.fa").npartitions
    1
    """
    if blocksize is not None and not blocksize > 0:
        raise ValueError(f"blocksize must be None or a number of bytes above 0, got {blocksize!r}")
    blocks, labels = [], []
    for path in _files(paths):
        for start, stop in _ranges(path, blocksize):
            blocks.append(delayed(read_range)(path, start, stop, alphabet, unknown))
            labels.append(path if stop is None else f"{path}, bytes {start} to {stop}")
    return SequenceBlocks(tuple(blocks), tuple(labels))


def read_range(
    path: str, start: int, stop: int | None, alphabet: object = DNA, unknown: str = "mismatch"
) -> Sequences:
    """Return the sequences of a file, or of a range of its bytes that consists of whole records."""
    if stop is None:
        source: Any = path
    else:
        with open(path, "rb") as file:
            file.seek(start)
            source = BytesIO(file.read(stop - start))
        source.name = path
    (sequences,) = read_blocks(source, alphabet, unknown=unknown, names=False, records=None)
    return sequences


def _files(paths: Path | Sequence[Path]) -> list[str]:
    """Return the files of paths and patterns; the files of a pattern are sorted."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[str] = []
    for path in [os.fspath(one) for one in given]:
        found = [path] if os.path.exists(path) else sorted(glob(path))
        if not found:
            raise FileNotFoundError(f"paths: there is no file {path!r}; check the path")
        files += found
    if not files:
        raise ValueError("paths must name at least one file")
    return files


def _ranges(path: str, blocksize: int | None) -> Iterator[tuple[int, int | None]]:
    """Yield the start and end of each block of a file, in bytes; end is None for a whole file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file, opened(path) as unpacked:
        plain = file.read(1) == b">" == unpacked.read(1)
        if blocksize is None or not plain or size <= blocksize:
            yield 0, None
            return
        start = 0
        while start < size:
            stop = _next_record(file, start + blocksize, size)
            yield start, stop
            start = stop


def _next_record(file: BinaryIO, start: int, size: int) -> int:
    """Return the position of the first record at or after `start`, or the size of the file."""
    position, before = start - 1, b""
    while position < size:
        file.seek(position)
        piece = before + file.read(PIECE)
        found = piece.find(b"\n>")
        if found >= 0:
            return position - len(before) + found + 1
        position, before = position - len(before) + len(piece), piece[-1:]
    return size

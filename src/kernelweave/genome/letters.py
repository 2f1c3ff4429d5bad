"""Read the letters of a genome as bytes, so that lower case (repeats) is preserved."""

from __future__ import annotations

import os

import numpy as np

from ..sequences.files import named_errors, opened

NEWLINE, RETURN, MARK = b"\n\r>"


def read_letters(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    r"""Return the chromosomes of a FASTA or 2bit file as arrays of bytes, case preserved.

    Parameters
    ----------
    path : str or path
        FASTA file, plain or compressed, or a 2bit file.

    Returns
    -------
    dict from str to ndarray of uint8
        Letters by chromosome name (up to the first blank), in the order of the file.

    Raises
    ------
    ValueError
        If the file is not FASTA or 2bit, or two chromosomes have the same name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import read_letters
    >>> _ = Path("genome.fa").write_text(">chr1 assembled\nGATTACAgat\n")
    >>> genome = read_letters("genome.fa")
    >>> genome["chr1"].tobytes()
    b'GATTACAgat'
    """
    with named_errors(path), opened(path) as file:
        data = np.frombuffer(file.read(), dtype=np.uint8)
    marks = np.flatnonzero(data == MARK)
    starts = [int(at) for at in marks if at == 0 or data[at - 1] == NEWLINE]
    if not starts or starts[0] != 0:
        raise ValueError(f"{os.fspath(path)}: a FASTA file begins with '>'; is this a genome?")
    found: dict[str, np.ndarray] = {}
    for start, stop in zip(starts, [*starts[1:], len(data)], strict=True):
        name, letters = _record(data[start:stop])
        if name in found or not name:
            what = f"the name {name!r} occurs twice" if name else "a chromosome has no name"
            raise ValueError(f"{os.fspath(path)}: {what}")
        found[name] = letters
    return found


def _record(data: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the name and the letters of one FASTA record."""
    ends = np.flatnonzero(data == NEWLINE)
    end = int(ends[0]) if len(ends) else len(data)
    words = data[1:end].tobytes().decode("utf-8", "replace").split()
    letters = data[end:]
    return words[0] if words else "", letters[(letters != NEWLINE) & (letters != RETURN)]

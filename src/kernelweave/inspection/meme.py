"""Motif files in MEME format, and comparison of motifs with those of a database."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, TextIO

import numpy as np

from ..sequences.files import named_errors, opened
from .motifs import Motif

VERSION = 4  # of the format
DIGITS = 6  # decimal digits of probabilities


class Match(NamedTuple):
    """A known motif that resembles a motif of a model.

    Attributes
    ----------
    motif, known : str
        Names of the two motifs.
    p_value : float
        Tomtom p-value (Gupta et al., 2007).
    offset : int
        Columns by which the motif is shifted along the known one.
    overlap : int
        Number of aligned columns.
    strand : {"+", "-"}
    """

    motif: str
    known: str
    p_value: float
    offset: int
    overlap: int
    strand: str


def write_meme(file: TextIO, motifs: Sequence[Motif], strands: str = "+ -") -> None:
    """Write motifs in MEME format, which the MEME suite and JASPAR tools read.

    Parameters
    ----------
    file : text stream
    motifs : sequence of Motif
        All over the same alphabet.
    strands : str
        Text of the line ``strands:``, which is written for DNA only.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from kernelweave.inspection import Motif, write_meme
    >>> motif = Motif("one", "ACGT", np.eye(4)[:, [2, 0, 3]], 1.0, [("GAT", 2.0)])
    >>> write_meme(sys.stdout, [motif])  # doctest: +ELLIPSIS
    MEME version 4
    ...
    """
    letters = motifs[0].letters if motifs else "ACGT"
    share = 1.0 / len(letters)
    file.write(f"MEME version {VERSION}\n\nALPHABET= {letters}\n\n")
    if letters == "ACGT":
        file.write(f"strands: {strands}\n\n")
    background = " ".join(f"{letter} {share:.4g}" for letter in letters)
    file.write(f"Background letter frequencies\n{background}\n\n")
    for motif in motifs:
        sites = max(1, len(motif.words))
        file.write(f"MOTIF {motif.name}\n")
        size = f"alength= {len(letters)} w= {motif.width} nsites= {sites} E= 0"
        file.write(f"letter-probability matrix: {size}\n")
        for column in motif.probabilities.T:
            file.write(" ".join(f"{value:.{DIGITS}f}" for value in column) + "\n")
        file.write("\n")


def read_meme(path: str | os.PathLike[str]) -> list[Motif]:
    r"""Return the motifs of a file in MEME format, such as those of JASPAR.

    Parameters
    ----------
    path : str or path
        Plain or compressed.

    Returns
    -------
    list of Motif
        They have no words, and their weight is NaN.

    Raises
    ------
    ValueError
        If the file has no motifs, or a matrix is malformed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.inspection import read_meme
    >>> text = "MEME version 4\nALPHABET= ACGT\nMOTIF MA1 one\n"
    >>> matrix = "letter-probability matrix: alength= 4 w= 2\n1 0 0 0\n0 0 1 0\n"
    >>> _ = Path("known.meme").write_text(text + matrix)
    >>> read_meme("known.meme")[0].consensus
    'AG'
    """
    with named_errors(path), opened(path) as file:
        lines = [line.decode("utf-8", "replace").strip() for line in file]
        letters = next(
            (line.partition("=")[2].strip() for line in lines if line.startswith("ALPHABET=")),
            "ACGT",
        )
        found = _matrices(lines, letters)
        if not found:
            raise ValueError("contains no motifs; MEME format has lines 'MOTIF name'")
    return found


def _matrices(lines: list[str], letters: str) -> list[Motif]:
    found, name, at = [], "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("MOTIF"):
            name = " ".join(line.split()[1:])
        elif line.startswith("letter-probability matrix"):
            rows = []
            while at < len(lines) and _numbers(lines[at]):
                rows.append(_numbers(lines[at]))
                at += 1
            if not rows or {len(row) for row in rows} != {len(letters)}:
                raise ValueError(
                    f"motif {name!r} must have rows of {len(letters)} numbers, one per letter"
                )
            matrix = np.array(rows).T
            largest = matrix.max(axis=0)
            if not np.all((matrix >= 0) & (largest > 0) & (largest < np.inf)):
                raise ValueError(
                    f"motif {name!r} must have rows of finite numbers >= 0 that are not all 0"
                )
            matrix = matrix / largest  # the sum may overflow
            found.append(Motif(name, letters, matrix / matrix.sum(axis=0), np.nan, []))
    return found


def _numbers(line: str) -> list[float]:
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return []


def match_motifs(
    motifs: Sequence[Motif], known: Sequence[Motif], *, n: int = 3, p_value: float = 0.05
) -> list[Match]:
    """Return the known motifs that resemble each motif, by the p-values of Tomtom.

    Parameters
    ----------
    motifs : sequence of Motif
    known : sequence of Motif
        A database, as `read_meme` returns it. Both must be DNA.
    n : int
        Largest number of matches of a motif.
    p_value : float
        Largest p-value of a match.

    Returns
    -------
    list of Match
        In the order of the motifs, best match first.

    Raises
    ------
    ImportError
        If memelite is not installed.
    ValueError
        If a motif is not DNA.

    Examples
    --------
    >>> from kernelweave.inspection import match_motifs, motifs, read_meme
    >>> match_motifs(motifs(model), read_meme("jaspar.meme"))  # doctest: +SKIP
    """
    if any(one.letters != "ACGT" for one in [*motifs, *known]):
        raise ValueError("motifs are compared for DNA only (alphabet ACGT)")
    if not motifs:
        return []
    p_values, _, offsets, overlaps, strands = _tomtom()(
        [one.probabilities for one in motifs], [one.probabilities for one in known]
    )[:5]
    found = []
    for i, motif in enumerate(motifs):
        for k in np.argsort(p_values[i], kind="stable")[:n].tolist():
            if p_values[i, k] <= p_value:
                strand = "-" if strands[i, k] else "+"
                numbers = float(p_values[i, k]), int(offsets[i, k]), int(overlaps[i, k])
                found.append(Match(motif.name, known[k].name, *numbers, strand))
    return found


def _tomtom() -> Any:
    try:
        from memelite import tomtom
    except ImportError:
        raise ImportError(
            "comparing motifs needs memelite: pip install 'kernelweave[motifs]'"
        ) from None
    return tomtom

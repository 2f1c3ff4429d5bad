"""A sequence model slid over a genome: the score of every window, on both strands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..sequences import Sequences, read_blocks
from .model_windows import anchor_offset, support_sequences, window_length

WINDOWS = 1 << 17  # windows scored at a time: they bound the memory


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of windows of one strand of a chromosome, from left to right.

    Attributes
    ----------
    chromosome : its name.
    strand : "+" or "-".
    starts : shape (k,), where windows begin on the plus strand, counted from 0.
    length : letters of a window.
    scores : shape (k,), the decision values that `decision_function` gives the windows as the
        strand is read.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.genome import Scores
    >>> scores = Scores("chr1", "+", np.array([0, 1, 2]), 50, np.array([-1.0, 2.0, 0.5]))
    >>> found = scores.above(0.0)
    >>> print(found.starts, found.scores)
    [1 2] [2.  0.5]
    """

    chromosome: str
    strand: str
    starts: np.ndarray
    length: int
    scores: np.ndarray

    def chosen(self, keep: np.ndarray) -> Scores:
        """Return the windows that a mask, shape (k,), keeps."""
        return replace(self, starts=self.starts[keep], scores=self.scores[keep])

    def above(self, threshold: float) -> Scores:
        """Return the windows with higher scores than a threshold."""
        return self.chosen(self.scores > threshold)


def scan(
    model: Any,
    genome: str | os.PathLike[str] | Sequences,
    *,
    length: int | None = None,
    step: int = 1,
    anchor: str | None = None,
    offset: int | None = None,
    strands: str = "both",
) -> Iterator[Scores]:
    r"""Score the windows of a genome, block by block.

    Windows with letters outside the alphabet, such as N, are left out.

    Parameters
    ----------
    model : a fitted estimator with one decision function, on kernels on sequences.
    genome : chromosomes, or a FASTA file of them, of which one at a time is in memory.
    length : letters of a window; None where the kernels know it (weighted degree kernels).
    step : distance between the starts of windows.
    anchor : letters that a window must hold `offset` letters behind its start, such as "AG" for
        acceptor sites. Windows start wherever that is so, whatever `step`.
    offset : where the anchor is; None finds it in the support examples, which must all have it at
        one place.
    strands : {"both", "+", "-"}

    Yields
    ------
    Scores

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.genome import scan
    >>> from kernelweave.kernels import WeightedDegree
    >>> X, y = make_motifs(500, positive_rate=0.3)
    >>> model = MKLClassifier(WeightedDegree(7)).fit(X, y)
    >>> _ = Path("genome.fa").write_text(">chr1\n" + X[y < 0][0] + X[y > 0][0] + "\n")
    >>> scores = next(scan(model, "genome.fa", strands="+"))
    >>> int(scores.starts[scores.scores.argmax()])
    50
    """
    if strands not in ("both", "+", "-"):
        raise ValueError(f"strands must be 'both', '+' or '-', got {strands!r}")
    if step < 1:
        raise ValueError(f"step must be at least 1, got {step}")
    length = window_length(model, length)
    place = None if anchor is None else anchor_offset(model, anchor, offset, length)
    chosen = "+-" if strands == "both" else strands
    for chromosome in _chromosomes(model, genome):
        for strand in chosen:
            yield from _scan_strand(model, chromosome, strand, length, step, anchor, place)


def _scan_strand(
    model: Any,
    chromosome: Sequences,
    strand: str,
    length: int,
    step: int,
    anchor: str | None,
    place: int | None,
) -> Iterator[Scores]:
    name = chromosome.names[0].split()[0] if chromosome.names else "sequence"
    total = int(chromosome.lengths[0])
    read = chromosome if strand == "+" else chromosome.reverse_complement()
    codes = np.frombuffer(read.packed.codes(0), dtype=np.uint8)
    letters = len(read.alphabet.letters)
    for first in range(0, total - length + 1, WINDOWS):
        last = min(first + WINDOWS, total - length + 1)  # starts on the strand as it is read
        piece = codes[first : last + length - 1]
        keep = _known(piece, length, letters)
        if anchor is not None and place is not None:
            keep &= _matches(piece[place:], anchor, read, last - first)
        else:  # on both strands windows start at multiples of the step from the left
            at = (
                np.arange(first, last) if strand == "+" else total - length - np.arange(first, last)
            )
            keep &= at % step == 0
        starts = first + np.flatnonzero(keep)
        if len(starts) == 0:
            continue
        values = model.decision_function(read.windows(0, starts, length))
        if strand == "-":
            starts, values = (total - length - starts)[::-1], values[::-1]
        yield Scores(name, strand, starts, length, values)


def _known(codes: np.ndarray, length: int, letters: int) -> np.ndarray:
    """Return which windows of some letters hold no unknown one."""
    unknown = np.concatenate([[0], np.cumsum(codes >= letters)])
    known: np.ndarray = unknown[length:] == unknown[:-length]
    return known


def _matches(codes: np.ndarray, anchor: str, read: Sequences, count: int) -> np.ndarray:
    """Return at which of `count` positions the letters of an anchor begin."""
    wanted = np.frombuffer(anchor.encode().translate(read.alphabet.codes), dtype=np.uint8)
    if (wanted >= len(read.alphabet.letters)).any():
        raise ValueError(f"anchor: {anchor!r} has letters outside {read.alphabet.name}")
    found = np.ones(count, dtype=bool)
    for position, code in enumerate(wanted):
        found &= codes[position : position + count] == code
    return found


def _chromosomes(model: Any, genome: Any) -> Iterator[Sequences]:
    """Return one chromosome after the other."""
    alphabet = support_sequences(model).alphabet
    blocks = [genome] if isinstance(genome, Sequences) else read_blocks(genome, alphabet, records=1)
    for block in blocks:
        for i in range(len(block)):
            yield block.take(np.array([i]))

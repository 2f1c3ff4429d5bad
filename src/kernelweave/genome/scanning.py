"""Scores of all windows of a genome under a sequence model, on one or both strands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..sequences import Sequences, read_blocks
from .chromosome_names import listed, match_chromosomes
from .model_windows import (
    anchor_offset,
    decision_of,
    is_strand_symmetric,
    support_sequences,
    window_length,
)

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

WINDOWS = 1 << 17  # windows scored at a time, which bounds the memory
STRANDS = ("auto", "both", "+", "-")


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of windows on one strand of a chromosome, in increasing order of position.

    Attributes
    ----------
    chromosome : str
        Name of the chromosome.
    strand : {"+", "-", "."}
        "." if the score is the same on both strands.
    starts : ndarray of shape (k,)
        Starts of the windows on the plus strand, 0-based.
    length : int
        Number of letters of a window.
    scores : ndarray of shape (k,)
        Decision values of the windows, read along the strand; predictions for regressors.
    step : int
        Distance between the starts of windows in the scan; 1 if `scan` was passed an `anchor`.

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
    step: int = 1

    def chosen(self, keep: np.ndarray) -> Scores:
        """Return some of the windows and their scores.

        Parameters
        ----------
        keep : bool ndarray of shape (k,)
            Mask of the windows to return.

        Returns
        -------
        Scores
        """
        return replace(self, starts=self.starts[keep], scores=self.scores[keep])

    def above(self, threshold: float) -> Scores:
        """Return the windows with a score above a threshold.

        Parameters
        ----------
        threshold : float
            Scores equal to it are not returned.

        Returns
        -------
        Scores
        """
        return self.chosen(self.scores > threshold)


def scan(
    model: FittedEstimator,
    genome: str | os.PathLike[str] | Sequences,
    *,
    length: int | None = None,
    step: int = 1,
    anchor: str | None = None,
    offset: int | None = None,
    strands: str = "auto",
    chromosomes: Sequence[str] | None = None,
    target: object = None,
) -> Iterator[Scores]:
    r"""Score the windows of a genome, in blocks of consecutive windows.

    Windows with letters outside the alphabet, such as N, are skipped. Blocks are in increasing
    order of position. If both strands are scored, each stretch has one block per strand.

    Parameters
    ----------
    model : fitted estimator
        Trained on sequences.
    genome : path or Sequences
        Chromosomes, or a FASTA or 2bit file, of which one chromosome at a time is in memory.
    length : int, optional
        Number of letters of a window; by default that of the support vectors, if all have the
        same.
    step : int
        Distance between the starts of windows.
    anchor : str, optional
        Letters that a window must have at position `offset`, such as "AG" for acceptor sites. All
        such windows are scored, regardless of `step`.
    offset : int, optional
        Position of the anchor in a window. By default the one that all support vectors share.
    strands : {"auto", "both", "+", "-"}
        "auto" scores both strands, but only one, named ".", if the model gives a window and its
        reverse complement the same score (kernels with ``both_strands=True``).
    chromosomes : sequence of str, optional
        Names of the chromosomes to score; all by default.
    target : label, optional
        Class whose decision function is evaluated, for models of three or more classes.

    Yields
    ------
    Scores

    Raises
    ------
    ValueError
        If an argument is invalid, a chromosome is absent, or no window could be scored.

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
    if strands not in STRANDS:
        raise ValueError(f"strands must be 'auto', 'both', '+' or '-', got {strands!r}")
    if step < 1:
        raise ValueError(f"step must be at least 1, got {step}")
    support_sequences(model)  # raises for models of other data
    decide, length = decision_of(model, target), window_length(model, length)
    place = None if anchor is None else anchor_offset(model, anchor, offset, length)
    windows = _Windows(decide, length, step, anchor, place)
    seen: list[str] = []
    wanted = dict.fromkeys(chromosomes or ())
    longest = 0
    for chromosome in _chromosomes(model, genome):
        seen.append(_name(chromosome))
        if chromosomes is not None and not _take(wanted, seen[-1]):
            continue
        longest = max(longest, int(chromosome.lengths[0]))
        both = [
            _Strand.of(chromosome, name)
            for name in _strands(strands, model, length, anchor is not None)
        ]
        for first in range(0, int(chromosome.lengths[0]) - length + 1, WINDOWS):
            for strand in both:
                found = windows.scored(strand, first)
                if len(found.starts):
                    yield found
    if wanted:
        raise ValueError(
            f"chromosomes: the genome has no {', '.join(wanted)}; it has {listed(seen)}"
        )
    if longest < length:
        raise ValueError(f"genome: no chromosome has the {length} letters of a window")
    if not windows.known:
        letters = support_sequences(model).alphabet
        raise ValueError(
            f"genome: every window of {length} letters contains letters outside "
            f"{letters.name} ({letters.letters.decode('latin-1')}); is this a genome?"
        )


def _strands(strands: str, model: FittedEstimator, length: int, anchored: bool) -> str:
    """Return the strands to score, one character each: "+", "-", "+-" or "."."""
    if strands == "auto" and not anchored and is_strand_symmetric(model, length):
        return "."
    return "+-" if strands in ("auto", "both") else strands


def _take(wanted: dict[str, None], name: str) -> bool:
    """Remove a chromosome, or its alias, from `wanted`; return whether `wanted` had it."""
    found = match_chromosomes(wanted, [name], "chromosomes")
    for alias in found:
        wanted.pop(alias)
    return bool(found)


@dataclass(frozen=True, eq=False)
class _Strand:
    """One strand of a chromosome in its reading direction, packed and as letter codes."""

    name: str
    strand: str
    letters: Sequences
    codes: np.ndarray

    @classmethod
    def of(cls, chromosome: Sequences, strand: str) -> _Strand:
        letters = chromosome.reverse_complement() if strand == "-" else chromosome
        codes = np.frombuffer(letters.packed.codes(0), dtype=np.uint8)
        return cls(_name(chromosome), strand, letters, codes)


@dataclass(eq=False)
class _Windows:
    """Selects the windows to score, and scores them.

    Attributes
    ----------
    decide : callable
        Function from k sequences to their scores, shape (k,).
    length, step : int
        Number of letters of a window, and distance between the starts of windows.
    anchor : str or None
        Letters that a window must contain at the position `place`.
    place : int or None
        Position of the anchor in a window.
    known : int
        Number of windows without unknown letters so far.
    """

    decide: Callable[[Sequences], np.ndarray]
    length: int
    step: int
    anchor: str | None
    place: int | None
    known: int = 0

    def scored(self, read: _Strand, first: int) -> Scores:
        """Return the scores of up to `WINDOWS` windows from a position of the plus strand on."""
        last = len(read.codes) - self.length  # start of the last window
        stop = min(first + WINDOWS, last + 1)
        reverse = read.strand == "-"
        begin = last + 1 - stop if reverse else first  # in the reading direction
        piece = read.codes[begin : begin + stop - first + self.length - 1]
        keep = _known(piece, self.length, len(read.letters.alphabet.letters))
        self.known += int(keep.sum())
        if self.anchor is not None and self.place is not None:
            keep &= _matches(piece[self.place :], self.anchor, read.letters, stop - first)
        else:  # on both strands windows start at multiples of the step on the plus strand
            starts = np.arange(first, stop)
            keep &= (starts[::-1] if reverse else starts) % self.step == 0
        starts = begin + np.flatnonzero(keep)
        values = np.empty(0)
        if len(starts):
            values = self.decide(read.letters.windows(0, starts, self.length))
        if reverse:
            starts, values = (last - starts)[::-1], values[::-1]
        step = 1 if self.anchor is not None else self.step
        return Scores(read.name, read.strand, starts, self.length, values, step)


def _name(chromosome: Sequences) -> str:
    return chromosome.names[0].split()[0] if chromosome.names else "sequence"


def _known(codes: np.ndarray, length: int, letters: int) -> np.ndarray:
    """Return a mask of the windows without unknown letters, (len(codes) - length + 1,)."""
    unknown = np.concatenate([[0], np.cumsum(codes >= letters)])
    return unknown[length:] == unknown[:-length]


def _matches(codes: np.ndarray, anchor: str, read: Sequences, count: int) -> np.ndarray:
    """Return a mask of the first `count` positions: those where the anchor begins, (count,)."""
    wanted = np.frombuffer(anchor.encode().translate(read.alphabet.codes), dtype=np.uint8)
    if (wanted >= len(read.alphabet.letters)).any():
        raise ValueError(f"anchor: {anchor!r} has letters outside {read.alphabet.name}")
    found = np.ones(count, dtype=bool)
    for position, code in enumerate(wanted):
        found &= codes[position : position + count] == code
    return found


def _chromosomes(
    model: FittedEstimator, genome: str | os.PathLike[str] | Sequences
) -> Iterator[Sequences]:
    """Yield each chromosome as `Sequences` with one sequence."""
    alphabet = support_sequences(model).alphabet
    blocks = [genome] if isinstance(genome, Sequences) else read_blocks(genome, alphabet, records=1)
    for block in blocks:
        for i in range(len(block)):
            yield block.take(np.array([i]))

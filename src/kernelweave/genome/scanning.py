"""A sequence model slid over a genome: the score of every window, on both strands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..sequences import Sequences, read_blocks
from .model_windows import anchor_offset, decision_of, support_sequences, window_length

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
        strand is read (`predict` of regressions).

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
    chromosomes: Sequence[str] | None = None,
    target: Any = None,
) -> Iterator[Scores]:
    r"""Score the windows of a genome, block by block.

    Windows with letters outside the alphabet, such as N, are left out. Blocks come from left to
    right, of each stretch of a chromosome one for each strand.

    Parameters
    ----------
    model : a fitted estimator on kernels on sequences.
    genome : chromosomes, or a FASTA file of them, of which one at a time is in memory.
    length : letters of a window; None where the kernels know it (weighted degree kernels).
    step : distance between the starts of windows.
    anchor : letters that a window must hold `offset` letters behind its start, such as "AG" for
        acceptor sites. Windows start wherever that is so, whatever `step`.
    offset : where the anchor is; None finds it in the support examples, which must all have it at
        one place.
    strands : {"both", "+", "-"}
    chromosomes : the names of those to score; all by default.
    target : the class whose decision function is read, where there are several.

    Yields
    ------
    Scores

    Raises
    ------
    ValueError : where an argument is wrong; after the last chromosome where one was not there.

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
    support_sequences(model)  # refuses models on other things
    decide, length = decision_of(model, target), window_length(model, length)
    place = None if anchor is None else anchor_offset(model, anchor, offset, length)
    chosen = "+-" if strands == "both" else strands
    missing, longest = dict.fromkeys(chromosomes or ()), 0
    for chromosome in _chromosomes(model, genome):
        if chromosomes is not None:
            if (name := _name(chromosome)) not in chromosomes:
                continue
            missing.pop(name, None)
        longest = max(longest, int(chromosome.lengths[0]))
        reads = {strand: _Read.of(chromosome, strand) for strand in chosen}
        for first in range(0, int(chromosome.lengths[0]) - length + 1, WINDOWS):
            for read in reads.values():
                found = _stretch(decide, read, first, length, step, anchor, place)
                if len(found.starts):
                    yield found
    if missing:
        raise ValueError(f"chromosomes: the genome has no {', '.join(missing)}")
    if longest < length:
        raise ValueError(f"genome: no chromosome has the {length} letters of a window")


@dataclass(frozen=True, eq=False)
class _Read:
    """One strand of a chromosome, in its own direction, and its letters as codes."""

    name: str
    strand: str
    letters: Sequences
    codes: np.ndarray

    @classmethod
    def of(cls, chromosome: Sequences, strand: str) -> _Read:
        letters = chromosome if strand == "+" else chromosome.reverse_complement()
        codes = np.frombuffer(letters.packed.codes(0), dtype=np.uint8)
        return cls(_name(chromosome), strand, letters, codes)


def _stretch(
    decide: Callable[[Any], np.ndarray],
    read: _Read,
    first: int,
    length: int,
    step: int,
    anchor: str | None,
    place: int | None,
) -> Scores:
    """Return the scores of up to `WINDOWS` windows from a place of the plus strand on."""
    last = len(read.codes) - length  # where the last window starts
    stop = min(first + WINDOWS, last + 1)
    begin = first if read.strand == "+" else last + 1 - stop  # on the strand as it is read
    piece = read.codes[begin : begin + stop - first + length - 1]
    keep = _known(piece, length, len(read.letters.alphabet.letters))
    if anchor is not None and place is not None:
        keep &= _matches(piece[place:], anchor, read.letters, stop - first)
    else:  # on both strands windows start at multiples of the step from the left
        starts = np.arange(first, stop)
        keep &= (starts if read.strand == "+" else starts[::-1]) % step == 0
    starts = begin + np.flatnonzero(keep)
    values = np.empty(0)
    if len(starts):
        values = decide(read.letters.windows(0, starts, length))
    if read.strand == "-":
        starts, values = (last - starts)[::-1], values[::-1]
    return Scores(read.name, read.strand, starts, length, values)


def _name(chromosome: Sequences) -> str:
    return chromosome.names[0].split()[0] if chromosome.names else "sequence"


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

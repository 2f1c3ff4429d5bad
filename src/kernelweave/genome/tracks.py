"""Write scores of windows to BED, bedGraph and bigWig files, sorted by position."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from tempfile import TemporaryDirectory
from typing import NamedTuple, TextIO

import numpy as np

from ..sequences import read_blocks
from .regions import Regions
from .scanning import Scores

TRACK_POINTS = ("centre", "start")


class Hit(NamedTuple):
    """A scored interval [start, stop) of a chromosome, 0-based."""

    chromosome: str
    start: int
    stop: int
    score: float
    strand: str


def best(blocks: Iterable[Scores], count: int) -> list[Scores]:
    """Return the windows with the `count` highest scores in the order of `blocks`.

    Of windows with equal scores the first are preferred.
    """
    kept: list[Scores] = []
    least = -np.inf
    for block in blocks:
        kept.append(block.above(least))
        if sum(len(one.scores) for one in kept) > 2 * count:
            kept, least = _highest(kept, count)
    return _highest(kept, count)[0]


def _highest(blocks: list[Scores], count: int) -> tuple[list[Scores], float]:
    """Return blocks with only the `count` highest scores, and the lowest of these scores."""
    scores = np.concatenate([np.empty(0), *(block.scores for block in blocks)])
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:count]] = True
    ends = np.cumsum([0, *(len(block.scores) for block in blocks)])
    kept = [block.chosen(chosen[a:b]) for block, a, b in zip(blocks, ends, ends[1:], strict=False)]
    least = float(scores[chosen].min()) if len(scores) >= count else -np.inf
    return [block for block in kept if len(block.scores)], least


def hits(blocks: Iterable[Scores]) -> Iterator[Hit]:
    """Yield all windows sorted by position; at equal positions the plus strand comes first."""
    for parts in _stretches(blocks):
        starts = np.concatenate([part.starts for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        strands = np.repeat([part.strand for part in parts], [len(part.starts) for part in parts])
        order = np.lexsort((strands, starts))
        name, length = parts[0].chromosome, parts[0].length
        for i in order.tolist():
            start = int(starts[i])
            yield Hit(name, start, start + length, float(scores[i]), str(strands[i]))


def merged(found: Iterable[Hit]) -> Iterator[Hit]:
    """Yield each run of overlapping hits as one interval, with the best score and its strand.

    Parameters
    ----------
    found : iterable of Hit
        Sorted by position.
    """
    current: Hit | None = None
    for hit in found:
        if current is None:
            current = hit
        elif hit.chromosome != current.chromosome or hit.start >= current.stop:
            yield current
            current = hit
        else:
            better = max(current, hit, key=lambda one: one.score)  # the first of equal ones
            current = better._replace(start=current.start, stop=max(hit.stop, current.stop))
    if current is not None:
        yield current


def write_bed(
    file: TextIO,
    found: Iterable[Hit],
    probability: Callable[[np.ndarray], np.ndarray] | None = None,
) -> None:
    """Write hits as BED: chromosome, start, end, name, score, strand.

    Parameters
    ----------
    file : text stream
        The stream to write to.
    found : iterable of Hit
        The scored intervals.
    probability : callable, optional
        Maps decision values to probabilities, which become a seventh column.
    """
    for hit in found:
        more = "" if probability is None else f"\t{probability(np.array([hit.score]))[0]:.4g}"
        file.write(
            f"{hit.chromosome}\t{hit.start}\t{hit.stop}\t.\t{hit.score:.6g}\t{hit.strand}{more}\n"
        )


def write_regions(file: TextIO, regions: Regions) -> None:
    """Write regions as BED: chromosome, start, end, name, score (0), strand."""
    file.writelines(
        f"{one.chromosome}\t{one.start}\t{one.stop}\t{one.name or '.'}\t0\t{one.strand}\n"
        for one in regions
    )


def write_bedgraph(file: TextIO, blocks: Iterable[Scores], at: str = "centre") -> None:
    """Write one value per window as bedGraph: the higher score of the two strands.

    Parameters
    ----------
    file : text stream
        The stream to write to.
    blocks : iterable of Scores
        As `scan` yields them.
    at : {"centre", "start"}
        Bases to which the value is assigned: as many as the step of the scan, around the centre of
        the window or from its start on.
    """
    for name, starts, stops, values in track(blocks, at):
        file.writelines(
            f"{name}\t{start}\t{stop}\t{value:.6g}\n"
            for start, stop, value in zip(
                starts.tolist(), stops.tolist(), values.tolist(), strict=True
            )
        )


def write_bigwig(
    path: str,
    blocks: Iterable[Scores],
    genome: str | os.PathLike[str],
    at: str = "centre",
) -> None:
    """Write the values of `write_bedgraph` as a bigWig file.

    Parameters
    ----------
    path : str
        The file to write.
    blocks : iterable of Scores
        As `scan` yields them.
    genome : path
        FASTA or 2bit file, for the lengths of the chromosomes.
    at : {"centre", "start"}
        Bases to which a value is assigned: as many as the step of the scan, around the centre of
        the window or from its start on.

    Raises
    ------
    ImportError
        If pybigtools is not installed.
    ValueError
        If there is no score, since genome browsers cannot open an empty bigWig file.
    """
    try:
        import pybigtools
    except ImportError:
        raise ImportError(
            "bigWig files need pybigtools: pip install 'kernelweave[genome]'"
        ) from None
    sizes = {
        name.split()[0]: int(length)
        for block in read_blocks(genome, records=1)
        for name, length in zip(block.names or [], block.lengths, strict=True)
    }
    rows = Rows(blocks, at)
    folder, name = os.path.split(os.path.abspath(path))
    with TemporaryDirectory(dir=folder) as beside:  # the file appears once it is complete
        partial = os.path.join(beside, "scores.bw")
        try:
            pybigtools.open(partial, "w").write(sizes, iter(rows))
        finally:
            if rows.error is not None:
                raise rows.error
        if rows.count == 0:
            raise ValueError(
                "threshold: no window scored above it, and bigWig files need a value; lower "
                "--threshold, or write all scores (--all)"
            )
        os.replace(partial, os.path.join(folder, name))


class Rows:
    """An iterator over the rows of a bigWig file.

    Attributes
    ----------
    count : int
        Number of rows so far.
    error : exception or None
        Exception raised during the iteration, which pybigtools does not pass on.
    """

    def __init__(self, blocks: Iterable[Scores], at: str):
        self.blocks, self.at, self.count = blocks, at, 0
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[tuple[str, int, int, float]]:
        try:
            for name, *columns in track(self.blocks, self.at):
                listed = [column.tolist() for column in columns]
                self.count += len(columns[0])
                for start, stop, value in zip(*listed, strict=True):
                    yield name, start, stop, value
        except BaseException as error:
            self.error = error


def track(
    blocks: Iterable[Scores], at: str
) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield chromosome, starts, stops and values of intervals, one per window, by position.

    The value is the higher score of both strands. An interval has as many bases as the step of the
    scan, but no more than the window. With ``at="centre"`` and step 1 it is the base in the middle
    of the window, where `variants` also places a variant.
    """
    if at not in TRACK_POINTS:
        raise ValueError(f"at must be 'centre' or 'start', got {at!r}")
    for parts in _stretches(blocks):
        starts, values = _higher_strand(parts)
        length = parts[0].length
        span = min(parts[0].step, length)
        if at == "centre":
            starts = starts + (length - 1) // 2 - (span - 1) // 2
        yield parts[0].chromosome, starts, starts + span, values


def _stretches(blocks: Iterable[Scores]) -> Iterator[list[Scores]]:
    """Yield lists of blocks that overlap in position, such as the two strands of a stretch."""
    parts: list[Scores] = []
    for block in blocks:
        if not len(block.starts):
            continue
        if parts and (
            block.chromosome != parts[0].chromosome
            or block.starts[0] > max(part.starts[-1] for part in parts)
        ):
            yield parts
            parts = []
        parts.append(block)
    if parts:
        yield parts


def _higher_strand(parts: list[Scores]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct starts of windows in order, and the highest score at each start."""
    starts = np.concatenate([part.starts for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = np.lexsort((-scores, starts))
    starts, scores = starts[order], scores[order]
    first = np.concatenate([[True], starts[1:] != starts[:-1]])
    return starts[first], scores[first]

"""Scores of windows as files: BED, bedGraph and bigWig."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import numpy as np

from ..sequences import read_blocks
from .regions import Regions
from .scanning import Scores


def best(blocks: Iterable[Scores], count: int) -> list[Scores]:
    """Return the `count` highest scores, in the order of the blocks; the first of equal ones."""
    kept: list[Scores] = []
    least = -np.inf
    for block in blocks:
        kept.append(block.above(least))
        if sum(len(one.scores) for one in kept) > 2 * count:
            kept, least = _highest(kept, count)
    return _highest(kept, count)[0]


def _highest(blocks: list[Scores], count: int) -> tuple[list[Scores], float]:
    """Return the highest scores, and the least of them."""
    scores = np.concatenate([np.empty(0), *(block.scores for block in blocks)])
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:count]] = True
    ends = np.cumsum([0, *(len(block.scores) for block in blocks)])
    kept = [block.chosen(chosen[a:b]) for block, a, b in zip(blocks, ends, ends[1:], strict=False)]
    least = float(scores[chosen].min()) if len(scores) >= count else -np.inf
    return [block for block in kept if len(block.scores)], least


def write_bed(file: TextIO, blocks: Iterable[Scores]) -> None:
    """Write windows: chromosome, start, end, name, score, strand."""
    for block in blocks:
        file.writelines(
            f"{block.chromosome}\t{start}\t{start + block.length}\t.\t{score:.6g}\t{block.strand}\n"
            for start, score in zip(block.starts.tolist(), block.scores.tolist(), strict=True)
        )


def write_regions(file: TextIO, regions: Regions) -> None:
    """Write regions: chromosome, start, end, name, score, strand."""
    file.writelines(
        f"{one.chromosome}\t{one.start}\t{one.stop}\t{one.name or '.'}\t0\t{one.strand}\n"
        for one in regions
    )


def write_bedgraph(file: TextIO, blocks: Iterable[Scores]) -> None:
    """Write the higher score of the two strands at the first letter of every window."""
    for name, starts, scores in merged_strands(blocks):
        file.writelines(
            f"{name}\t{start}\t{start + 1}\t{score:.6g}\n"
            for start, score in zip(starts.tolist(), scores.tolist(), strict=True)
        )


def write_bigwig(path: str, blocks: Iterable[Scores], genome: str | os.PathLike[str]) -> None:
    """Write what `write_bedgraph` writes as a bigWig file, which needs the extra `genome`."""
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
    rows = Rows(blocks)
    folder, name = os.path.split(os.path.abspath(path))
    with TemporaryDirectory(dir=folder) as beside:  # the file is there whole or not at all
        partial = os.path.join(beside, "scores.bw")
        try:
            pybigtools.open(partial, "w").write(sizes, iter(rows))
        finally:
            if rows.error is not None:
                raise rows.error
        os.replace(partial, os.path.join(folder, name))


class Rows:
    """Rows of a bigWig file. What goes wrong on the way is kept: the writer would not tell."""

    def __init__(self, blocks: Iterable[Scores]):
        self.blocks, self.error = blocks, None

    error: BaseException | None

    def __iter__(self) -> Iterator[tuple[str, int, int, float]]:
        try:
            for name, starts, scores in merged_strands(self.blocks):
                for start, score in zip(starts.tolist(), scores.tolist(), strict=True):
                    yield name, start, start + 1, score
        except BaseException as error:
            self.error = error


def merged_strands(blocks: Iterable[Scores]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Return starts in their order and the higher score of both strands, stretch by stretch.

    Blocks come as `scan` gives them: both strands of a stretch before the next one.
    """
    parts: list[Scores] = []
    for block in blocks:
        if parts and (
            block.chromosome != parts[0].chromosome
            or block.starts[0] > max(part.starts[-1] for part in parts)
        ):
            yield parts[0].chromosome, *_merged(parts)
            parts = []
        parts.append(block)
    if parts:
        yield parts[0].chromosome, *_merged(parts)


def _merged(parts: list[Scores]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([part.starts for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = np.lexsort((-scores, starts))
    starts, scores = starts[order], scores[order]
    first = np.concatenate([[True], starts[1:] != starts[:-1]]) if len(starts) else starts == 0
    found: tuple[Any, Any] = starts[first], scores[first]
    return found

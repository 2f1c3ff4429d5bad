"""Regions of a genome: BED files, and the letters behind them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..sequences import Sequences, as_sequences
from ..sequences.files import opened

SKIPPED = ("#", "track", "browser")  # lines of a BED file that hold no region


class Region(NamedTuple):
    """Letters [start, stop) of a chromosome, counted from 0, on one strand.

    Examples
    --------
    >>> from kernelweave.genome import Region
    >>> Region("chr1", 100, 200, "peak 1", "+")
    Region(chromosome='chr1', start=100, stop=200, name='peak 1', strand='+')
    """

    chromosome: str
    start: int
    stop: int
    name: str
    strand: str


@dataclass(frozen=True, eq=False)
class Regions:
    """Some regions, in the order of their file.

    Attributes
    ----------
    items : list of Region
    source : what messages call them.

    Examples
    --------
    >>> from kernelweave.genome import Region, Regions
    >>> regions = Regions([Region("chr1", 100, 200, "peak 1", "+")], "one peak")
    >>> len(regions.items)
    1
    >>> print(regions.chromosomes)
    ['chr1']
    """

    items: list[Region]
    source: str

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Region]:
        return iter(self.items)

    @property
    def chromosomes(self) -> np.ndarray:
        """The chromosome of each region, shape (n,)."""
        return np.array([region.chromosome for region in self.items])

    @property
    def names(self) -> list[str]:
        """The name of each region, or where it is."""
        return [
            region.name or f"{region.chromosome}:{region.start}-{region.stop}({region.strand})"
            for region in self.items
        ]


def read_bed(path: str | os.PathLike[str]) -> Regions:
    r"""Read a BED file of three to twelve columns, plain or packed by gzip, bzip2 or xz.

    Parameters
    ----------
    path : the file.

    Raises
    ------
    ValueError : where a line is no region; the message names it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import read_bed
    >>> _ = Path("peaks.bed").write_text("chr1\t0\t4\nchr1\t6\t10\n")
    >>> [(region.start, region.stop) for region in read_bed("peaks.bed").items]
    [(0, 4), (6, 10)]
    """
    source, found = os.fspath(path), []
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if not text.strip() or text.startswith(SKIPPED):
                continue
            try:
                found.append(_region(text.split("\t") if "\t" in text else text.split()))
            except ValueError as error:
                raise ValueError(f"{source}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{source}: holds no regions")
    return Regions(found, source)


def as_regions(regions: Regions | str | os.PathLike[str]) -> Regions:
    """Return regions, or those of a BED file."""
    return regions if isinstance(regions, Regions) else read_bed(regions)


def _region(columns: list[str]) -> Region:
    if len(columns) < 3:
        raise ValueError("a region needs a chromosome, a start and an end, separated by tabs")
    try:
        start, stop = int(columns[1]), int(columns[2])
    except ValueError:
        raise ValueError(
            f"start and end must be integers, got {columns[1]!r} and {columns[2]!r}"
        ) from None
    if not 0 <= start < stop:
        raise ValueError(f"need 0 <= start < end, got {start} and {stop}")
    strand = columns[5] if len(columns) > 5 else "."
    if strand not in ("+", "-", "."):
        raise ValueError(f"the strand must be +, - or ., got {strand!r}")
    named = len(columns) > 3 and columns[3] != "."
    return Region(columns[0], start, stop, columns[3] if named else "", strand)


def cut_out(regions: Regions, genome: Sequences) -> Sequences:
    r"""Return the letters of regions, those on the minus strand as that strand is read.

    Parameters
    ----------
    regions : what to cut out.
    genome : chromosomes with their names, as `read_sequences` gives them. A name ends at a blank.

    Raises
    ------
    ValueError : where a region is not in the genome; the message names it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import Region, Regions, cut_out
    >>> from kernelweave.sequences import read_sequences
    >>> _ = Path("genome.fa").write_text(">chr1\nGATTACAGAT\n")
    >>> regions = Regions([Region("chr1", 1, 5, "", "+"), Region("chr1", 1, 5, "", "-")], "two")
    >>> list(cut_out(regions, read_sequences("genome.fa")))
    ['ATTA', 'TAAT']
    """
    places = {name.split()[0]: i for i, name in enumerate(genome.names or []) if name.split()}
    letters = [_letters(region, genome, places, regions.source) for region in regions]
    return as_sequences(letters, genome.alphabet)


def _letters(region: Region, genome: Sequences, places: dict[str, int], source: str) -> str:
    where = f"{source}: region {region.chromosome}:{region.start}-{region.stop}"
    place = places.get(region.chromosome)
    if place is None:
        raise ValueError(f"{where}: the genome has no such chromosome")
    length = int(genome.lengths[place])
    if region.stop > length:
        raise ValueError(f"{where}: the chromosome has {length} letters")
    piece = genome.windows(place, np.array([region.start]), region.stop - region.start)
    found: str = (piece.reverse_complement() if region.strand == "-" else piece)[0]
    return found

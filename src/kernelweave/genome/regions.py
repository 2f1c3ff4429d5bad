"""Regions of a genome: read them from BED and narrowPeak files, and cut out their sequences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, NamedTuple

import numpy as np

from ..common.warnings import warn
from ..engines.memory import free_memory
from ..sequences import Sequences, as_sequences
from ..sequences.files import named_errors, opened
from .chromosome_names import absent_chromosomes, match_chromosomes

HEADERS = ("#", "track", "browser")  # beginnings of lines that contain no region
NARROW_PEAK_COLUMNS = 10  # BED6+4; the last column is the summit, relative to the start
POINTS = ("summit", "centre")
BYTES_OF_LETTER = 2  # memory per letter while regions are cut out: text, and packed sequences
MANY_LETTERS = 1 << 24  # free memory is checked above this number of letters


class Region(NamedTuple):
    """Half-open interval [start, stop) of a chromosome, 0-based, on one strand.

    Attributes
    ----------
    chromosome : str
        Name of the chromosome.
    start, stop : int
        First position, and the position after the last.
    name : str
        Name of the region; empty if the file has none.
    strand : {"+", "-", "."}
        "." if the strand is unknown.
    summit : int or None
        Position of the summit on the chromosome (narrowPeak files).

    Examples
    --------
    >>> from kernelweave.genome import Region
    >>> Region("chr1", 100, 200, "peak 1", "+")
    Region(chromosome='chr1', start=100, stop=200, name='peak 1', strand='+', summit=None)
    """

    chromosome: str
    start: int
    stop: int
    name: str
    strand: str
    summit: int | None = None


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions in the order of their file.

    Attributes
    ----------
    items : list of Region
        The regions.
    source : str
        Name of the file, for error messages.

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
        """Chromosome of each region, shape (n,)."""
        return np.array([region.chromosome for region in self.items])

    @property
    def names(self) -> list[str]:
        """Name of each region; ``chromosome:start-stop(strand)`` if the file has none."""
        return [
            region.name or f"{region.chromosome}:{region.start}-{region.stop}({region.strand})"
            for region in self.items
        ]

    def sorted(self, chromosomes: Sequence[str]) -> Regions:
        """Return the regions sorted by chromosome, in the given order, and by position.

        Parameters
        ----------
        chromosomes : sequence of str
            Names of chromosomes in the order to sort by; others come last.

        Returns
        -------
        Regions
        """
        rank = {name: i for i, name in enumerate(chromosomes)}
        items = sorted(self.items, key=lambda one: (rank.get(one.chromosome, len(rank)), *one[:3]))
        return replace(self, items=items)


def read_bed(path: str | os.PathLike[str] | BinaryIO) -> Regions:
    r"""Read regions from a BED file of 3 to 12 columns or a narrowPeak file.

    Parameters
    ----------
    path : str, path or binary stream
        Plain, or compressed by gzip, bgzip, bzip2 or xz. A line of exactly ten columns is
        narrowPeak: its last column is the summit, relative to the start, -1 if unknown.

    Returns
    -------
    Regions

    Raises
    ------
    ValueError
        If a line is not a region; the message gives the line number.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import read_bed
    >>> _ = Path("peaks.bed").write_text("chr1\t0\t4\nchr1\t6\t10\n")
    >>> [(region.start, region.stop) for region in read_bed("peaks.bed").items]
    [(0, 4), (6, 10)]
    """
    source = os.fspath(path) if isinstance(path, str | os.PathLike) else "standard input"
    found = []
    with named_errors(source), opened(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if not text.strip() or text.startswith(HEADERS):
                continue
            try:
                found.append(_region(text.split("\t") if "\t" in text else text.split()))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        if not found:
            raise ValueError("contains no regions")
    return Regions(found, source)


def as_regions(regions: Regions | str | os.PathLike[str] | BinaryIO) -> Regions:
    """Return `Regions` unchanged, or read them from a BED or narrowPeak file."""
    return regions if isinstance(regions, Regions) else read_bed(regions)


def is_bed_line(line: bytes) -> bool:
    """Return whether a line of text is a region in BED format."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    try:
        _region(text.split("\t"))
    except ValueError:
        return False
    return True


def _region(columns: list[str]) -> Region:
    if len(columns) < 3:
        raise ValueError("a region needs chromosome, start and end, separated by tabs")
    try:
        start, stop = int(columns[1]), int(columns[2])
    except ValueError:
        raise ValueError(
            f"start and end must be integers, got {columns[1]!r} and {columns[2]!r}"
        ) from None
    if not 0 <= start < stop:
        raise ValueError(f"need 0 <= start < end, got start {start} and end {stop}")
    strand = columns[5] if len(columns) > 5 else "."
    if strand not in ("+", "-", "."):
        raise ValueError(f"the strand must be +, - or ., got {strand!r}")
    name = columns[3] if len(columns) > 3 and columns[3] != "." else ""
    return Region(columns[0], start, stop, name, strand, _summit(columns, start, stop))


def _summit(columns: list[str], start: int, stop: int) -> int | None:
    """Return the position of the summit of a narrowPeak line, None for other lines."""
    if len(columns) != NARROW_PEAK_COLUMNS:
        return None
    try:
        offset = int(columns[-1])
    except ValueError:
        raise ValueError(
            f"column 10 of a narrowPeak line must be the summit, an integer, got {columns[-1]!r}"
        ) from None
    if offset >= stop - start:
        raise ValueError(f"the summit {offset} is beyond the region of {stop - start} bases")
    return start + offset if offset >= 0 else None


def resize(regions: Regions, around: str, width: int, sizes: Mapping[str, int]) -> Regions:
    """Return windows of one width around the summits or centres of regions.

    Windows that extend beyond a chromosome are dropped, with a warning that counts them.

    Parameters
    ----------
    regions : Regions
        n regions.
    around : {"summit", "centre"}
        The point of a region that has the offset ``width // 2`` in its window.
    width : int
        Number of bases of each window.
    sizes : mapping from str to int
        Length of each chromosome of the genome.

    Returns
    -------
    Regions
        At most n regions.

    Raises
    ------
    ValueError
        If a region has no summit, a chromosome is absent, or no window fits.

    Examples
    --------
    >>> from kernelweave.genome import Region, Regions, resize
    >>> peaks = Regions([Region("chr1", 100, 180, "peak 1", ".")], "peaks")
    >>> window = resize(peaks, "centre", 50, {"chr1": 1000}).items[0]
    >>> window.start, window.stop
    (115, 165)
    """
    if around not in POINTS:
        raise ValueError(f"around must be 'summit' or 'centre', got {around!r}")
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    known = check_regions(regions, sizes)
    kept = []
    for region in regions:
        point = region.summit if around == "summit" else (region.start + region.stop) // 2
        if point is None:
            missing = sum(one.summit is None for one in regions)
            raise ValueError(
                f"{regions.source}: {missing} of {len(regions)} regions have no summit (column 10 "
                "of narrowPeak); use around='centre' (--around centre)"
            )
        start = point - width // 2
        if start >= 0 and start + width <= sizes[known[region.chromosome]]:
            kept.append(region._replace(start=start, stop=start + width))
    if not kept:
        raise ValueError(f"{regions.source}: no window of {width} bases fits on its chromosome")
    if len(kept) < len(regions):
        warn(
            f"{regions.source}: {len(regions) - len(kept)} of {len(regions)} windows of {width} "
            "bases extend beyond their chromosome and were dropped"
        )
    return replace(regions, items=kept)


def chromosome_sizes(genome: Sequences) -> dict[str, int]:
    """Return the length of each chromosome by its name, the first word of its header."""
    names = chromosome_names(genome)
    lengths = genome.lengths[: len(names)].tolist()
    return {name: length for name, length in zip(names, lengths, strict=True) if name}


def check_regions(regions: Regions, sizes: Mapping[str, int]) -> dict[str, str]:
    """Return the genome's name of each chromosome that regions use.

    Parameters
    ----------
    regions : Regions
        The regions to check.
    sizes : mapping from str to int
        Length of each chromosome of the genome.

    Returns
    -------
    dict from names in `regions` to names in `sizes`

    Raises
    ------
    ValueError
        If a region is not in the genome.
    """
    used = regions.chromosomes.tolist()
    known = match_chromosomes(used, sizes, regions.source)
    if absent := [name for name in used if name not in known]:
        raise ValueError(f"{regions.source}: {absent_chromosomes(absent, used, sizes)}")
    for region in regions:
        size = sizes[known[region.chromosome]]
        if region.stop > size:
            raise ValueError(
                f"{regions.source}: region {region.chromosome}:{region.start}-{region.stop} ends "
                f"beyond its chromosome of {size} bases; is this the right genome assembly?"
            )
    return known


def cut_out(regions: Regions, genome: Sequences) -> Sequences:
    r"""Return the sequences of regions, reverse complemented on the minus strand.

    Parameters
    ----------
    regions : Regions
        n regions. Their chromosome names may differ from those of the genome by the prefix ``chr``.
    genome : Sequences
        Chromosomes with their names, as `read_sequences` returns them. A name ends at the first
        blank.

    Returns
    -------
    Sequences
        n sequences.

    Raises
    ------
    ValueError
        If a region is not in the genome. Also if the sequences would exceed the free memory:
        regions may overlap, so that a short file can describe any number of letters.

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
    sizes = chromosome_sizes(genome)
    known = check_regions(regions, sizes)
    _check_memory(regions)
    indices = {name: i for i, name in enumerate(chromosome_names(genome))}
    texts = [_text(region, genome, indices[known[region.chromosome]]) for region in regions]
    return as_sequences(texts, genome.alphabet)


def _check_memory(regions: Regions) -> None:
    """Raise ValueError if the letters of all regions exceed the free memory."""
    letters = sum(region.stop - region.start for region in regions)
    needed = BYTES_OF_LETTER * letters
    if letters > MANY_LETTERS and needed > (free := free_memory()):
        raise ValueError(
            f"the regions of {regions.source} have {letters:,} letters and need "
            f"{needed / 2**30:.1f} GB, but {free / 2**30:.1f} GB are free; pass fewer or shorter "
            "regions"
        )


def chromosome_names(genome: Sequences) -> list[str]:
    """Return the first word of each header of a genome; "" for empty headers."""
    return [name.split()[0] if name.split() else "" for name in genome.names or []]


def _text(region: Region, genome: Sequences, index: int) -> str:
    piece = genome.windows(index, np.array([region.start]), region.stop - region.start)
    return (piece.reverse_complement() if region.strand == "-" else piece)[0]

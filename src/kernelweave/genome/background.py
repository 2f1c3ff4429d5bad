"""Background regions: as long as the positives, and alike in GC content and repeats.

A classifier of regions against a background that differs in composition learns the composition.
For each positive, regions of its length are drawn anywhere in the genome until one has nearly its
GC content and its share of repeats (small letters), holds no unknown letter, and overlaps neither a
positive, nor an excluded region, nor another negative.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .letters import read_letters
from .regions import Region, Regions, as_regions

TRIES = 16  # candidates per region and round
ROUNDS = 200  # after which a region is given up
BATCH = 1 << 22  # letters looked at at a time
GC, SMALL, UNKNOWN = 1, 2, 4  # what a letter is, as bits


@dataclass(frozen=True, eq=False)
class Matched:
    """Negatives and how well they match.

    Attributes
    ----------
    regions : the negatives, in the order of their positives, draw by draw.
    unmatched : number of wishes for which none was found.
    gc : mean GC content of the matched positives and of their negatives.
    repeats : the same for the share of repeats.
    farthest : largest difference of GC content, and of repeats, within a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.genome import Region, Regions, negatives
    >>> letters = np.random.default_rng(0).choice(np.frombuffer(b"ACGT", np.uint8), 5000)
    >>> peaks = Regions([Region("chr1", 0, 100, "", "+")], "peaks")
    >>> found = negatives(peaks, {"chr1": letters}, gc=0.1)
    >>> found.unmatched
    0
    >>> found.farthest[0] <= 0.1
    True
    """

    regions: Regions
    unmatched: int
    gc: tuple[float, float]
    repeats: tuple[float, float]
    farthest: tuple[float, float]


def negatives(
    positives: Regions | str | os.PathLike[str],
    genome: Mapping[str, np.ndarray] | str | os.PathLike[str],
    *,
    exclude: Regions | str | os.PathLike[str] | None = None,
    gc: float = 0.02,
    repeats: float = 0.02,
    draws: int = 1,
    seed: int = 0,
) -> Matched:
    """Draw background regions for each positive, one by default.

    Parameters
    ----------
    positives : the regions to match, or a BED file.
    genome : the letters of each chromosome, as `read_letters` gives them, or a FASTA or 2bit file.
    exclude : further regions that negatives may not overlap, such as a blacklist, or a BED file.
    gc, repeats : largest differences, as parts of the letters.
    draws : how many regions to draw for each positive. All of the first draw come first.
    seed : of the generator.

    Raises
    ------
    ValueError : where a region is not in the genome, or no chromosome is long enough.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.genome import Region, Regions, negatives
    >>> letters = np.random.default_rng(0).choice(np.frombuffer(b"ACGT", np.uint8), 5000)
    >>> items = [Region("chr1", start, start + 100, "", "+") for start in (0, 900)]
    >>> peaks = Regions(items, "peaks")
    >>> found = negatives(peaks, {"chr1": letters}, gc=0.1)
    >>> [region.stop - region.start for region in found.regions.items]
    [100, 100]
    """
    for name, value, good in (("gc", gc, gc >= 0), ("repeats", repeats, repeats >= 0)):
        if not good:
            raise ValueError(f"{name} must be at least 0, got {value}")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    positives = as_regions(positives)
    others = Regions([], "") if exclude is None else as_regions(exclude)
    places = Places(genome if isinstance(genome, Mapping) else read_letters(genome))
    taken = np.zeros(places.size, dtype=bool)
    for regions in (positives, others):
        for region in regions:
            start = places.at(region, regions.source)
            taken[start : start + region.stop - region.start] = True
    wished = positives.items * draws
    starts = np.array([places.at(region, positives.source) for region in wished])
    lengths = np.array([region.stop - region.start for region in wished])
    wanted = places.composition(starts, lengths)[:, :2] / lengths[:, None]
    found = _draw(places, taken, wanted, lengths, np.array([gc, repeats]), seed)
    done = np.flatnonzero(found >= 0)
    reached = places.composition(found[done], lengths[done])[:, :2] / lengths[done, None]
    items = [places.region(int(found[i]), int(lengths[i]), wished[i]) for i in done]
    return Matched(
        Regions(items, "negatives"),
        unmatched=len(found) - len(done),
        gc=_means(wanted[done, 0], reached[:, 0]),
        repeats=_means(wanted[done, 1], reached[:, 1]),
        farthest=tuple(np.abs(wanted[done] - reached).max(axis=0, initial=0.0).tolist()),
    )


def _draw(
    places: Places,
    taken: np.ndarray,
    wanted: np.ndarray,
    lengths: np.ndarray,
    tolerance: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Return where in the genome each negative starts, shape (n,); -1 where none was found."""
    rng = np.random.default_rng(seed)
    found = np.full(len(lengths), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        left = np.flatnonzero(found < 0)
        if len(left) == 0:
            break
        many = max(1, BATCH // (TRIES * int(lengths[left].max())))
        for few in np.split(left, range(many, len(left), many)):
            owners = np.repeat(few, TRIES)
            starts = places.random(lengths[owners], rng)
            counts = places.composition(starts, lengths[owners])
            apart = np.abs(counts[:, :2] / lengths[owners, None] - wanted[owners])
            good = (apart <= tolerance).all(axis=1) & (counts[:, 2] == 0)
            for owner, start in zip(owners[good], starts[good], strict=True):
                stop = start + lengths[owner]
                if found[owner] < 0 and not taken[start:stop].any():
                    found[owner], taken[start:stop] = start, True
    return found


class Places:
    """All chromosomes one after the other."""

    def __init__(self, genome: Mapping[str, np.ndarray]):
        self.names = list(genome)
        sizes = [len(letters) for letters in genome.values()]
        self.ends = np.cumsum(sizes)
        self.begins = dict(zip(self.names, (self.ends - sizes).tolist(), strict=True))
        self.sizes = dict(zip(self.names, sizes, strict=True))
        self.size = int(self.ends[-1])
        self.kinds = np.concatenate([_KIND[letters] for letters in genome.values()])

    def at(self, region: Region, source: str) -> int:
        """Return where a region starts."""
        where = f"{source}: region {region.chromosome}:{region.start}-{region.stop}"
        if region.chromosome not in self.begins:
            raise ValueError(f"{where}: the genome has no such chromosome")
        if region.stop > self.sizes[region.chromosome]:
            size = self.sizes[region.chromosome]
            raise ValueError(f"{where}: the chromosome has {size} letters")
        return int(self.begins[region.chromosome] + region.start)

    def region(self, start: int, length: int, like: Region) -> Region:
        """Return the region of some letters, on the strand of another one."""
        name = self.names[int(np.searchsorted(self.ends, start, side="right"))]
        start -= self.begins[name]
        return like._replace(chromosome=name, start=start, stop=start + length, name="")

    def random(self, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return random starts of windows that lie within one chromosome, shape (k,)."""
        if lengths.max() > max(self.sizes.values()):
            raise ValueError(f"no chromosome has the {lengths.max()} letters of a region")
        starts = rng.integers(0, self.size, len(lengths))
        while (bad := np.flatnonzero(starts + lengths > self._end_of(starts))).size:
            starts[bad] = rng.integers(0, self.size, len(bad))
        return starts

    def _end_of(self, starts: np.ndarray) -> np.ndarray:
        ends: np.ndarray = self.ends[np.searchsorted(self.ends, starts, side="right")]
        return ends

    def composition(self, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return how many letters of each window are G or C, small, and unknown, shape (k, 3)."""
        if len(starts) == 0:
            return np.zeros((0, 3), dtype=np.int64)
        firsts = np.cumsum(lengths) - lengths
        inside = np.arange(lengths.sum()) - np.repeat(firsts, lengths)
        kinds = self.kinds[np.repeat(starts, lengths) + inside]
        counts = [np.add.reduceat((kinds & bit) > 0, firsts) for bit in (GC, SMALL, UNKNOWN)]
        return np.stack(counts, axis=1).astype(np.int64)


def _means(positive: np.ndarray, negative: np.ndarray) -> tuple[float, float]:
    return (float(positive.mean()), float(negative.mean())) if len(positive) else (0.0, 0.0)


def _kinds() -> np.ndarray:
    kinds = np.full(256, UNKNOWN, dtype=np.uint8)
    for letter in b"ACGT":
        kinds[letter] = GC if letter in b"GC" else 0
        kinds[letter + 32] = kinds[letter] | SMALL
    return kinds


_KIND = _kinds()

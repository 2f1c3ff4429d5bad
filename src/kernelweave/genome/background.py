"""Background regions matched to positive regions in length, GC content and repeat content.

If the composition of the background differs, a classifier learns the composition. For each
positive region, candidates of the same length are drawn at random until one has about the same GC
content and the same fraction of repeats (lower-case letters), contains no unknown letter, and
overlaps no positive, excluded or already drawn region.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from .chromosome_names import absent_chromosomes, match_chromosomes
from .letters import read_letters
from .regions import Region, Regions, as_regions

CANDIDATES = 16  # number of candidates drawn per region and round
ROUNDS = 200  # number of rounds after which a region counts as unmatched
BATCH = 1 << 22  # letters examined at a time, which bounds the memory
GC, REPEAT, UNKNOWN = 1, 2, 4  # bits that describe a letter


@dataclass(frozen=True, eq=False)
class Matched:
    """Background regions and the quality of the match.

    Attributes
    ----------
    regions : Regions
        Negatives in the order of their positives, draw by draw, named after them.
    without_match : Regions
        Positives for which no negative was found, once per failed draw.
    unmatched : int
        Number of failed draws.
    gc : tuple of two floats
        Mean GC content of the matched positives and of their negatives.
    repeats : tuple of two floats
        Mean fraction of repeats of the matched positives and of their negatives.
    gc_of_all, repeats_of_all : float
        The same means over all positives, matched or not.
    farthest : tuple of two floats
        Largest difference of GC content, and of repeats, within a pair.

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
    without_match: Regions
    unmatched: int
    gc: tuple[float, float]
    repeats: tuple[float, float]
    gc_of_all: float
    repeats_of_all: float
    farthest: tuple[float, float]


def negatives(
    positives: Regions | str | os.PathLike[str] | BinaryIO,
    genome: Mapping[str, np.ndarray] | str | os.PathLike[str],
    *,
    exclude: Regions | str | os.PathLike[str] | None = None,
    gc: float = 0.02,
    repeats: float = 0.02,
    draws: int = 1,
    same_chromosome: bool = False,
    chromosomes: Sequence[str] | None = None,
    seed: int = 0,
) -> Matched:
    """Return background regions for each positive region, one by default.

    Parameters
    ----------
    positives : Regions or path
        n regions to match, or a BED or narrowPeak file.
    genome : mapping from str to ndarray of uint8, or path
        Letters of each chromosome, as `read_letters` returns them, or a FASTA or 2bit file.
    exclude : Regions or path, optional
        Further regions that negatives must not overlap, such as a blacklist.
    gc, repeats : float
        Largest accepted difference of GC content and of the fraction of repeats.
    draws : int
        Negatives per positive. All of the first draw come first.
    same_chromosome : bool
        Draw each negative from the chromosome of its positive.
    chromosomes : sequence of str, optional
        Chromosomes to draw from; by default those that have positives.
    seed : int
        Seed of the random number generator.

    Returns
    -------
    Matched

    Raises
    ------
    ValueError
        If a region is not in the genome, or if the chromosomes have too little free sequence.

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
    for name, value, least in (("gc", gc, 0), ("repeats", repeats, 0), ("draws", draws, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    positives = as_regions(positives)
    letters = genome if isinstance(genome, Mapping) else read_letters(genome)
    places = Places(letters, _eligible(positives, letters, chromosomes), positives)
    taken = np.zeros(places.size, dtype=bool)
    places.mark(taken, positives)
    if exclude is not None:
        places.mark(taken, as_regions(exclude), absent_allowed=True)
    wanted = positives.items * draws
    lengths = np.array([region.stop - region.start for region in wanted])
    starts = np.tile(places.starts(positives), draws)
    bounds = places.bounds(positives, same_chromosome)
    bounds = np.tile(bounds, (draws, 1))
    places.check_room(taken, wanted, lengths, bounds, positives.source)
    composition = places.composition(starts, lengths)[:, :2] / lengths[:, None]
    rng = np.random.default_rng(seed)
    found = _draw(places, taken, composition, lengths, bounds, np.array([gc, repeats]), rng)
    done = np.flatnonzero(found >= 0)
    reached = places.composition(found[done], lengths[done])[:, :2] / lengths[done, None]
    names = positives.names
    items = [
        places.region(int(found[i]), int(lengths[i]), wanted[i].strand, _name(names, i, draws))
        for i in done.tolist()
    ]
    apart = np.abs(composition[done] - reached)
    return Matched(
        Regions(items, "negatives"),
        Regions([wanted[i] for i in np.flatnonzero(found < 0)], positives.source),
        unmatched=len(found) - len(done),
        gc=_means(composition[done, 0], reached[:, 0]),
        repeats=_means(composition[done, 1], reached[:, 1]),
        gc_of_all=float(composition[:, 0].mean()),
        repeats_of_all=float(composition[:, 1].mean()),
        farthest=tuple(apart.max(axis=0, initial=0.0).tolist()),
    )


def _name(names: Sequence[str], i: int, draws: int) -> str:
    """Return the name of a negative: that of its positive, and the number of the draw."""
    draw, source = divmod(i, len(names))
    return f"{names[source]}_negative" + (f"_{draw + 1}" if draws > 1 else "")


def _eligible(
    positives: Regions, genome: Mapping[str, np.ndarray], chromosomes: Sequence[str] | None
) -> list[str]:
    """Return the genome's names of the chromosomes to draw from."""
    if chromosomes is None:
        return list(match_chromosomes(positives.chromosomes, genome, positives.source).values())
    known = match_chromosomes(chromosomes, genome, "chromosomes")
    if absent := [name for name in chromosomes if name not in known]:
        raise ValueError(f"chromosomes: {absent_chromosomes(absent, chromosomes, genome)}")
    return list(known.values())


def _draw(
    places: Places,
    taken: np.ndarray,
    wanted: np.ndarray,
    lengths: np.ndarray,
    bounds: np.ndarray,
    tolerance: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw negatives; return their starts in the concatenated genome, shape (n,), or -1."""
    found = np.full(len(lengths), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        left = np.flatnonzero(found < 0)
        if len(left) == 0:
            break
        many = max(1, BATCH // (CANDIDATES * int(lengths[left].max())))
        for few in np.split(left, range(many, len(left), many)):
            owners = np.repeat(few, CANDIDATES)
            starts = places.random(lengths[owners], bounds[owners], rng)
            counts = places.composition(starts, lengths[owners])
            apart = np.abs(counts[:, :2] / lengths[owners, None] - wanted[owners])
            good = (apart <= tolerance).all(axis=1) & (counts[:, 2] == 0)
            for owner, start in zip(owners[good], starts[good], strict=True):
                stop = start + lengths[owner]
                if found[owner] < 0 and not taken[start:stop].any():
                    found[owner], taken[start:stop] = start, True
    return found


class Places:
    """The chromosomes of a genome concatenated, those to draw from first.

    Parameters
    ----------
    genome : mapping from str to ndarray of uint8
        Letters of each chromosome.
    eligible : list of str
        Chromosomes to draw from.
    positives : Regions
        Their chromosomes are kept too, and their spelling of chromosome names is used.
    """

    def __init__(self, genome: Mapping[str, np.ndarray], eligible: list[str], positives: Regions):
        used = positives.chromosomes.tolist()
        self.known = match_chromosomes(used, genome, positives.source)
        if absent := [name for name in used if name not in self.known]:
            raise ValueError(f"{positives.source}: {absent_chromosomes(absent, used, genome)}")
        self.genome = genome
        self.spelling = {name: alias for alias, name in self.known.items()}
        self.names = list(dict.fromkeys([*eligible, *self.known.values()]))
        sizes = [len(genome[name]) for name in self.names]
        self.ends = np.cumsum(sizes)
        self.begins = dict(zip(self.names, (self.ends - sizes).tolist(), strict=True))
        self.sizes = dict(zip(self.names, sizes, strict=True))
        self.size = int(self.ends[-1])
        self.eligible_size = sum(self.sizes[name] for name in dict.fromkeys(eligible))
        self.kinds = np.concatenate([_KIND[genome[name]] for name in self.names])

    def starts(self, regions: Regions) -> np.ndarray:
        """Return the starts of regions in the concatenated genome, shape (n,)."""
        return np.array([self._at(region, regions.source) for region in regions])

    def _at(self, region: Region, source: str) -> int:
        name = self.known[region.chromosome]
        if region.stop > self.sizes[name]:
            raise ValueError(
                f"{source}: region {region.chromosome}:{region.start}-{region.stop} ends beyond "
                f"its chromosome of {self.sizes[name]} bases; is this the right genome assembly?"
            )
        return int(self.begins[name] + region.start)

    def mark(self, taken: np.ndarray, regions: Regions, absent_allowed: bool = False) -> None:
        """Set the mask `taken`, shape (size,), to True at the letters of regions.

        Regions on other chromosomes or beyond an end are ignored.
        """
        if absent_allowed:
            known = match_chromosomes(regions.chromosomes, self.genome, regions.source)
            for region in regions:
                name = known.get(region.chromosome)
                if name in self.begins:
                    start = self.begins[name] + region.start
                    end = self.begins[name] + min(region.stop, self.sizes[name])
                    taken[start:end] = True
            return
        for region, start in zip(regions, self.starts(regions), strict=True):
            taken[start : start + region.stop - region.start] = True

    def bounds(self, positives: Regions, same_chromosome: bool) -> np.ndarray:
        """Return the range [start, stop) for the negatives of each positive, shape (n, 2)."""
        if not same_chromosome:
            return np.tile([0, self.eligible_size], (len(positives), 1))
        names = [self.known[region.chromosome] for region in positives]
        return np.array(
            [[self.begins[name], self.begins[name] + self.sizes[name]] for name in names]
        )

    def check_room(
        self,
        taken: np.ndarray,
        wanted: list[Region],
        lengths: np.ndarray,
        bounds: np.ndarray,
        source: str,
    ) -> None:
        """Raise ValueError if the negatives do not fit into the free stretches of the genome."""
        free = ~taken & ((self.kinds & UNKNOWN) == 0)
        edges = np.diff(np.concatenate([[False], free, [False]]).astype(np.int8))
        run_starts, run_stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        cuts = self.ends[:-1]  # a window does not cross the end of a chromosome
        inside = [cut for cut in cuts.tolist() if free[cut - 1] and free[cut]]
        run_starts = np.sort(np.concatenate([run_starts, inside]).astype(np.int64))
        run_stops = np.sort(np.concatenate([run_stops, inside]).astype(np.int64))
        for low, high in np.unique(bounds, axis=0).tolist():
            chosen = (bounds == (low, high)).all(axis=1)
            runs = (run_stops - run_starts)[(run_starts >= low) & (run_stops <= high)]
            longest, room = int(runs.max(initial=0)), int(runs.sum())
            most = int(np.flatnonzero(chosen)[lengths[chosen].argmax()])
            if lengths[most] > longest:
                one = wanted[most]
                raise ValueError(
                    f"{source}: no negative can match {one.chromosome}:{one.start}-{one.stop} of "
                    f"{lengths[most]} bases: the longest stretch of known letters outside the "
                    f"regions has {longest} bases; add chromosomes (--chrom) or drop the region"
                )
            if lengths[chosen].sum() > room:
                raise ValueError(
                    f"{source}: {chosen.sum()} negatives take {lengths[chosen].sum():,} bases, "
                    f"but only {room:,} are known and outside the regions; lower draws (--draws) "
                    "or add chromosomes (--chrom)"
                )

    def region(self, start: int, length: int, strand: str, name: str) -> Region:
        """Return the region of a stretch of the concatenated genome."""
        chromosome = self.names[int(np.searchsorted(self.ends, start, side="right"))]
        start -= self.begins[chromosome]
        spelled = self.spelling.get(chromosome, chromosome)
        return Region(spelled, start, start + length, name, strand)

    def random(
        self, lengths: np.ndarray, bounds: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return random starts of windows within `bounds` and one chromosome, shape (k,)."""
        starts = rng.integers(bounds[:, 0], bounds[:, 1])
        while (bad := np.flatnonzero(starts + lengths > self._end_of(starts))).size:
            starts[bad] = rng.integers(bounds[bad, 0], bounds[bad, 1])
        return starts

    def _end_of(self, starts: np.ndarray) -> np.ndarray:
        ends: np.ndarray = self.ends[np.searchsorted(self.ends, starts, side="right")]
        return ends

    def composition(self, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the numbers of G or C, repeat and unknown letters of windows, shape (k, 3)."""
        if len(starts) == 0:
            return np.zeros((0, 3), dtype=np.int64)
        firsts = np.cumsum(lengths) - lengths
        inside = np.arange(lengths.sum()) - np.repeat(firsts, lengths)
        kinds = self.kinds[np.repeat(starts, lengths) + inside]
        counts = [np.add.reduceat((kinds & bit) > 0, firsts) for bit in (GC, REPEAT, UNKNOWN)]
        return np.stack(counts, axis=1).astype(np.int64)


def _means(positive: np.ndarray, negative: np.ndarray) -> tuple[float, float]:
    return (float(positive.mean()), float(negative.mean())) if len(positive) else (0.0, 0.0)


def _kinds() -> np.ndarray:
    """Return flags of each of the 256 bytes as a letter: GC, REPEAT or UNKNOWN."""
    kinds = np.full(256, UNKNOWN, dtype=np.uint8)
    for letter in b"ACGT":
        kinds[letter] = GC if letter in b"GC" else 0
        kinds[letter + 32] = kinds[letter] | REPEAT
    return kinds


_KIND = _kinds()

"""Background regions matched to positive regions in length, GC content and repeat content.

If the composition of the background differed, a classifier would learn the composition. For each
positive region, candidates of the same length are drawn at random until one has about the same GC
content (fraction of letters G or C) and fraction of repeats (lower-case letters), contains no
unknown letter, and overlaps no positive, excluded or already drawn region. The accepted candidate
is called the negative of the positive region.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from .chromosome_names import absent_chromosomes, match_chromosomes
from .letters import read_letters
from .regions import Region, Regions, as_regions, check_regions

CANDIDATES = 16  # number of candidates drawn per region and round
ROUNDS = 200  # number of rounds after which a region counts as unmatched
BATCH = 1 << 22  # number of letters of the candidates that are in memory at a time
GC, REPEAT, UNKNOWN = 1, 2, 4  # flags of a letter: G or C, lower case, not one of A, C, G, T


@dataclass(frozen=True, eq=False)
class Matched:
    """Background regions (negatives), each matched to a positive region, and how well they match.

    Attributes
    ----------
    regions : Regions
        The negatives: those of the first draw in the order of their positives, then those of the
        second, and so on. Their names contain those of the positives.
    without_match : Regions
        Positives for which no negative was found, once per failed draw.
    unmatched : int
        Number of failed draws, the length of `without_match`.
    gc : tuple of two floats
        Mean GC content of the matched positives and of their negatives.
    repeats : tuple of two floats
        Mean fraction of repeats of the matched positives and of their negatives.
    gc_of_all, repeats_of_all : float
        Mean GC content and mean fraction of repeats of all positives, matched or not.
    farthest : tuple of two floats
        Largest difference between a positive and its negative in GC content, and in the fraction
        of repeats.

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
        Largest accepted difference of GC content, and of the fraction of repeats (lower-case
        letters), between a positive and its negative.
    draws : int
        Number of negatives per positive.
    same_chromosome : bool
        Whether to draw each negative from the chromosome of its positive.
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
    joined = JoinedGenome(letters, _eligible(positives, letters, chromosomes), positives)
    taken = joined.covered(positives)
    if exclude is not None:
        taken |= joined.covered(as_regions(exclude))
    wanted = Wanted.of(positives, joined, draws, same_chromosome)
    wanted.check_room(~taken & ((joined.kinds & UNKNOWN) == 0), joined.ends[:-1])
    found = _draw(joined, taken, wanted, np.array([gc, repeats]), np.random.default_rng(seed))
    done = np.flatnonzero(found >= 0)
    composition, lengths = wanted.composition, wanted.lengths
    reached = joined.composition(found[done], lengths[done])[:, :2] / lengths[done, None]
    names = positives.names
    items = [
        joined.region(
            int(found[i]), int(lengths[i]), wanted.regions[i].strand, _name(names, i, draws)
        )
        for i in done.tolist()
    ]
    apart = np.abs(composition[done] - reached)
    return Matched(
        Regions(items, "negatives"),
        Regions([wanted.regions[i] for i in np.flatnonzero(found < 0)], positives.source),
        unmatched=len(found) - len(done),
        gc=_means(composition[done, 0], reached[:, 0]),
        repeats=_means(composition[done, 1], reached[:, 1]),
        gc_of_all=float(composition[:, 0].mean()),
        repeats_of_all=float(composition[:, 1].mean()),
        farthest=tuple(apart.max(axis=0, initial=0.0).tolist()),
    )


def _name(names: Sequence[str], i: int, draws: int) -> str:
    """Return the name of negative i: the name of its positive, and the number of the draw."""
    draw, source = divmod(i, len(names))
    return f"{names[source]}_negative" + (f"_{draw + 1}" if draws > 1 else "")


def _eligible(
    positives: Regions, genome: Mapping[str, np.ndarray], chromosomes: Sequence[str] | None
) -> list[str]:
    """Return the chromosomes to draw from, as they are named in the genome."""
    if chromosomes is None:
        return list(match_chromosomes(positives.chromosomes, genome, positives.source).values())
    known = match_chromosomes(chromosomes, genome, "chromosomes")
    if absent := [name for name in chromosomes if name not in known]:
        raise ValueError(f"chromosomes: {absent_chromosomes(absent, chromosomes, genome)}")
    return list(known.values())


def _draw(
    joined: JoinedGenome,
    taken: np.ndarray,
    wanted: Wanted,
    tolerance: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the start of each negative in the concatenated genome, shape (n,); -1 if none.

    `taken`, shape (size of the genome,), marks letters that negatives must not overlap; the letters
    of accepted negatives are added to it. `tolerance`, shape (2,), contains the largest accepted
    differences of GC content and of the fraction of repeats.
    """
    lengths = wanted.lengths
    found = np.full(len(lengths), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        left = np.flatnonzero(found < 0)
        if len(left) == 0:
            break
        many = max(1, BATCH // (CANDIDATES * int(lengths[left].max())))
        for few in np.split(left, range(many, len(left), many)):
            owners = np.repeat(few, CANDIDATES)
            starts = joined.random(lengths[owners], wanted.bounds[owners], rng)
            counts = joined.composition(starts, lengths[owners])
            apart = np.abs(counts[:, :2] / lengths[owners, None] - wanted.composition[owners])
            good = (apart <= tolerance).all(axis=1) & (counts[:, 2] == 0)
            for owner, start in zip(owners[good], starts[good], strict=True):
                stop = start + lengths[owner]
                if found[owner] < 0 and not taken[start:stop].any():
                    found[owner], taken[start:stop] = start, True
    return found


@dataclass(frozen=True, eq=False)
class Wanted:
    """The properties of the n negatives to draw, those of the first draw first.

    Attributes
    ----------
    regions : list of n Region
        The positive region of each negative.
    lengths : array of shape (n,)
        Number of letters.
    bounds : array of shape (n, 2)
        Range [start, stop) of the concatenated genome that a negative is drawn from.
    composition : array of shape (n, 2)
        GC content and fraction of repeats of the positive region.
    source : str
        Name of the positives, for error messages.
    """

    regions: list[Region]
    lengths: np.ndarray
    bounds: np.ndarray
    composition: np.ndarray
    source: str

    @classmethod
    def of(
        cls, positives: Regions, joined: JoinedGenome, draws: int, same_chromosome: bool
    ) -> Wanted:
        """Return the properties of `draws` negatives for each positive region."""
        lengths = np.array([region.stop - region.start for region in positives])
        composition = joined.composition(joined.starts(positives), lengths)[:, :2]
        return cls(
            positives.items * draws,
            np.tile(lengths, draws),
            np.tile(joined.bounds(positives, same_chromosome), (draws, 1)),
            np.tile(composition / lengths[:, None], (draws, 1)),
            positives.source,
        )

    def check_room(self, free: np.ndarray, cuts: np.ndarray) -> None:
        """Raise ValueError if the negatives do not fit into the free stretches of the genome.

        Parameters
        ----------
        free : mask of the letters that negatives may overlap, shape (size of the genome,)
        cuts : starts of all chromosomes but the first; negatives do not extend across them
        """
        edges = np.diff(np.concatenate([[False], free, [False]]).astype(np.int8))
        run_starts, run_stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        inside = [cut for cut in cuts.tolist() if free[cut - 1] and free[cut]]
        run_starts = np.sort(np.concatenate([run_starts, inside]).astype(np.int64))
        run_stops = np.sort(np.concatenate([run_stops, inside]).astype(np.int64))
        for low, high in np.unique(self.bounds, axis=0).tolist():
            chosen = (self.bounds == (low, high)).all(axis=1)
            runs = (run_stops - run_starts)[(run_starts >= low) & (run_stops <= high)]
            longest, room = int(runs.max(initial=0)), int(runs.sum())
            lengths = self.lengths[chosen]
            if lengths.max() > longest:
                one = self.regions[np.flatnonzero(chosen)[lengths.argmax()]]
                raise ValueError(
                    f"{self.source}: no negative can match {one.chromosome}:{one.start}-{one.stop} "
                    f"of {lengths.max()} bases: the longest stretch of known letters outside the "
                    f"regions has {longest} bases; add chromosomes (--chrom) or drop the region"
                )
            if lengths.sum() > room:
                raise ValueError(
                    f"{self.source}: {chosen.sum()} negatives take {lengths.sum():,} bases, but "
                    f"only {room:,} are known and outside the regions; lower draws (--draws) or "
                    "add chromosomes (--chrom)"
                )


class JoinedGenome:
    """The concatenated chromosomes of a genome; those to draw from come first.

    Parameters
    ----------
    genome : mapping from str to ndarray of uint8
        Letters of each chromosome.
    eligible : list of str
        Chromosomes to draw from.
    positives : Regions
        Regions whose chromosomes are concatenated, too; negatives use their chromosome names.

    Attributes
    ----------
    names : list of str
        The chromosomes in their order.
    begins, sizes : dict from str to int
        Start in the concatenated genome, and length, of each chromosome.
    ends : array of shape (number of chromosomes,)
        End of each chromosome in the concatenated genome.
    size, eligible_size : int
        Number of letters of all chromosomes, and of those to draw from.
    kinds : array of uint8, shape (size,)
        Flags GC, REPEAT and UNKNOWN of each letter.
    """

    def __init__(self, genome: Mapping[str, np.ndarray], eligible: list[str], positives: Regions):
        lengths = {name: len(letters) for name, letters in genome.items()}
        self.known = check_regions(positives, lengths)
        self.genome = genome
        self.spelling = {name: alias for alias, name in self.known.items()}
        self.names = list(dict.fromkeys([*eligible, *self.known.values()]))
        sizes = [lengths[name] for name in self.names]
        self.ends = np.cumsum(sizes)
        self.begins = dict(zip(self.names, (self.ends - sizes).tolist(), strict=True))
        self.sizes = dict(zip(self.names, sizes, strict=True))
        self.size = int(self.ends[-1])
        self.eligible_size = sum(self.sizes[name] for name in dict.fromkeys(eligible))
        self.kinds = np.concatenate([_KIND[genome[name]] for name in self.names])

    def starts(self, regions: Regions) -> np.ndarray:
        """Return the starts of positives in the concatenated genome, shape (n,)."""
        each = [self.begins[self.known[one.chromosome]] + one.start for one in regions]
        return np.array(each)

    def covered(self, regions: Regions) -> np.ndarray:
        """Return a mask of the letters of regions, shape (size,).

        Regions on other chromosomes, and letters beyond the end of a chromosome, are ignored.
        """
        covered = np.zeros(self.size, dtype=bool)
        known = match_chromosomes(regions.chromosomes, self.genome, regions.source)
        for region in regions:
            name = known.get(region.chromosome)
            if name in self.begins:
                begin = self.begins[name]
                covered[begin + region.start : begin + min(region.stop, self.sizes[name])] = True
        return covered

    def bounds(self, positives: Regions, same_chromosome: bool) -> np.ndarray:
        """Return the range [start, stop) to draw negatives from, for each positive, (n, 2)."""
        if not same_chromosome:
            return np.tile([0, self.eligible_size], (len(positives), 1))
        names = [self.known[region.chromosome] for region in positives]
        return np.array(
            [[self.begins[name], self.begins[name] + self.sizes[name]] for name in names]
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
        """Return k random starts within `bounds`, of windows inside one chromosome, shape (k,)."""
        starts = rng.integers(bounds[:, 0], bounds[:, 1])
        while True:
            ends = self.ends[np.searchsorted(self.ends, starts, side="right")]
            bad = np.flatnonzero(starts + lengths > ends)
            if not len(bad):
                return starts
            starts[bad] = rng.integers(bounds[bad, 0], bounds[bad, 1])

    def composition(self, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the numbers of GC, lower-case and unknown letters of k windows, shape (k, 3)."""
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
    """Return the flags (GC, REPEAT, UNKNOWN) of each of the 256 bytes as a letter."""
    kinds = np.full(256, UNKNOWN, dtype=np.uint8)
    for letter in b"ACGT":
        kinds[letter] = GC if letter in b"GC" else 0
        kinds[letter + 32] = kinds[letter] | REPEAT
    return kinds


_KIND = _kinds()

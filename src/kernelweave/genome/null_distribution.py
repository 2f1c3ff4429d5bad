"""Null distribution of variant effects: random substitutions of the same genome.

The effect of a substitution depends on its bases and their neighbours, since mutation rates and
models do (CpG sites above all). The null distribution of a variant therefore uses substitutions at
random positions with the same trinucleotide and the same alternative base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..sequences import Sequences
from .vcf import Variant

ROUNDS = 50  # rounds of random positions; rare trinucleotides may then have fewer than `count`
POSITIONS = 1 << 18  # number of positions drawn per round
TIE = 1e-9  # effects that differ by this fraction of the largest are equal up to rounding


def substitution_p_values(
    decide: Callable[[object], np.ndarray],
    genome: Sequences,
    variants: list[Variant],
    effects: np.ndarray,
    places: Mapping[int, int],
    length: int,
    count: int,
    seed: int,
) -> np.ndarray:
    """Return two-sided p-values of the effects of single substitutions.

    The p-value is (1 + number of random effects at least as large in magnitude) / (1 + number of
    random effects); its smallest value is 1 / (1 + count).

    Parameters
    ----------
    decide : callable
        From k sequences to their scores, shape (k,).
    genome : Sequences
    variants : list of n Variant
    effects : ndarray of shape (n,)
        Alternative minus reference score.
    places : mapping from int to int
        Index of the chromosome of each scored variant, by the index of the variant.
    length : int
        Number of letters of a window.
    count : int
        Number of random substitutions for each trinucleotide.
    seed : int

    Returns
    -------
    ndarray of shape (n,)
        NaN for insertions, deletions, and variants beside unknown letters.
    """
    codes = genome.alphabet.codes
    classes: dict[tuple[int, int], list[int]] = {}
    for i, place in places.items():
        one = variants[i]
        if len(one.reference) == len(one.alternative) == 1 and length >= 3:
            around = np.array([one.start - 1])
            triple = genome.windows(place, around, 3).packed.codes(0)
            other = one.alternative.encode().translate(codes)[0]
            if max(*triple, other) < len(genome.alphabet.letters):
                classes.setdefault((_context(triple, genome), other), []).append(i)
    contexts = {context for context, _ in classes}
    rng = np.random.default_rng(seed)
    windows = random_windows(genome, contexts, length, count, rng)
    found = np.full(len(variants), np.nan)
    for (context, other), owners in classes.items():
        drawn = windows[context]
        changed = drawn.copy()
        changed[:, (length - 1) // 2] = other
        pair = [decide(Sequences.from_codes(one, genome.alphabet)) for one in (drawn, changed)]
        sizes = np.sort(np.abs(pair[1] - pair[0]))
        own = np.abs(effects[owners]) - TIE * sizes.max(initial=0.0)
        larger = len(sizes) - np.searchsorted(sizes, own, side="left")
        found[owners] = (1 + larger) / (1 + len(sizes))
    return found


def random_windows(
    genome: Sequences, contexts: set[int], length: int, count: int, rng: np.random.Generator
) -> dict[int, np.ndarray]:
    """Return windows at random positions, by the trinucleotide in their middle.

    Parameters
    ----------
    genome : Sequences
    contexts : set of int
        Trinucleotides, as base-b numbers of their letter codes.
    length : int
        Number of letters of a window, at least 3.
    count : int
        Number of windows per trinucleotide, fewer if it is rare.
    rng : Generator

    Returns
    -------
    dict from int to ndarray of shape (at most count, length)
        Letter codes.
    """
    letters, before = len(genome.alphabet.letters), (length - 1) // 2
    room = np.maximum(0, genome.lengths - length + 1)
    parts: dict[int, list[np.ndarray]] = {context: [] for context in contexts}
    missing = dict.fromkeys(contexts, count)
    for _ in range(ROUNDS):
        if not missing:
            break
        shares = rng.multinomial(POSITIONS, room / room.sum())
        for place in np.flatnonzero(shares).tolist():
            text = np.frombuffer(genome.packed.codes(place), dtype=np.uint8)
            starts = rng.integers(0, room[place], shares[place])
            middle = starts + before
            triples = [text[middle + shift].astype(np.int64) for shift in (-1, 0, 1)]
            found = (triples[0] * letters + triples[1]) * letters + triples[2]
            found[np.max(triples, axis=0) >= letters] = -1
            for context in list(missing):
                chosen = starts[found == context]
                windows = text[chosen[:, None] + np.arange(length)]
                windows = windows[(windows < letters).all(axis=1)][: missing[context]]
                parts[context].append(windows)
                missing[context] -= len(windows)
                if not missing[context]:
                    del missing[context]
    empty = np.zeros((0, length), dtype=np.uint8)
    return {context: np.concatenate([empty, *found]) for context, found in parts.items()}


def _context(triple: bytes, genome: Sequences) -> int:
    letters = len(genome.alphabet.letters)
    return (triple[0] * letters + triple[1]) * letters + triple[2]

"""P-values of variant effects, from random substitutions in the same genome.

The effect of a substitution depends on its bases and their neighbours, above all at CpG sites. The
null distribution of a variant therefore uses substitutions at random positions with the same
trinucleotide (the base and its two neighbours) and the same alternative base.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..sequences import Sequences
from .vcf import Variant

ROUNDS = 50  # rounds of drawing positions, after which rare trinucleotides may still lack some
POSITIONS = 1 << 18  # number of positions drawn per round
TIE = 1e-9  # effects that differ by this fraction of the largest are equal up to rounding


class Effect(NamedTuple):
    """A variant, and its effect on the score of the window around it.

    Attributes
    ----------
    variant : Variant
        The variant.
    chromosome : int
        Index of its chromosome in the genome.
    difference : float
        Score with the alternative allele minus score with the reference allele.
    """

    variant: Variant
    chromosome: int
    difference: float


@dataclass(frozen=True, eq=False)
class RandomSubstitutions:
    """Random substitutions in windows of a genome.

    Attributes
    ----------
    decide : callable
        Function from k sequences to their scores, shape (k,).
    genome : Sequences
        The chromosomes.
    length : int
        Number of letters of a window.
    count : int
        Number of random substitutions for each trinucleotide.
    seed : int
        Seed of the random positions.
    """

    decide: Callable[[Sequences], np.ndarray]
    genome: Sequences
    length: int
    count: int
    seed: int

    def p_values(self, effects: list[Effect]) -> np.ndarray:
        """Return two-sided p-values of the effects of n single substitutions.

        The p-value is (1 + number of random effects at least as large in magnitude) / (1 + number
        of random effects); its smallest value is 1 / (1 + count).

        Parameters
        ----------
        effects : list of n Effect
            The variants, and the changes of their scores.

        Returns
        -------
        ndarray of shape (n,)
            NaN for insertions, deletions, and variants beside unknown letters.
        """
        classes: dict[tuple[int, int], list[int]] = {}
        for i, effect in enumerate(effects):
            if (kind := self._kind(effect)) is not None:
                classes.setdefault(kind, []).append(i)
        windows = self._windows({context for context, _ in classes})
        differences = np.array([effect.difference for effect in effects])
        found = np.full(len(effects), np.nan)
        for (context, letter), members in classes.items():
            drawn = windows[context]
            changed = drawn.copy()
            changed[:, (self.length - 1) // 2] = letter
            before, after = (self._scores(codes) for codes in (drawn, changed))
            sizes = np.sort(np.abs(after - before))
            own = np.abs(differences[members]) - TIE * sizes.max(initial=0.0)
            larger = len(sizes) - np.searchsorted(sizes, own, side="left")
            found[members] = (1 + larger) / (1 + len(sizes))
        return found

    def _scores(self, codes: np.ndarray) -> np.ndarray:
        return self.decide(Sequences.from_codes(codes, self.genome.alphabet))

    def _kind(self, effect: Effect) -> tuple[int, int] | None:
        """Return the trinucleotide and the new letter of a single substitution; None for others."""
        variant, alphabet = effect.variant, self.genome.alphabet
        if not len(variant.reference) == len(variant.alternative) == 1 or self.length < 3:
            return None
        around = np.array([variant.start - 1])
        triple = self.genome.windows(effect.chromosome, around, 3).packed.codes(0)
        letter = variant.alternative.encode().translate(alphabet.codes)[0]
        b = len(alphabet.letters)
        if max(*triple, letter) >= b:
            return None
        return (triple[0] * b + triple[1]) * b + triple[2], letter

    def _windows(self, contexts: set[int]) -> dict[int, np.ndarray]:
        """Return windows at random positions, by the trinucleotide in their middle.

        Parameters
        ----------
        contexts : set of int
            Trinucleotides, as numbers whose three digits are the letter codes, in base b, the
            number of letters of the alphabet.

        Returns
        -------
        dict from int to ndarray of shape (at most count, length)
            Letter codes of the windows; rare trinucleotides may have fewer than `count`.
        """
        rng = np.random.default_rng(self.seed)
        genome, length = self.genome, self.length
        letters, before = len(genome.alphabet.letters), (length - 1) // 2
        room = np.maximum(0, genome.lengths - length + 1)
        parts: dict[int, list[np.ndarray]] = {context: [] for context in contexts}
        missing = dict.fromkeys(contexts, self.count)
        for _ in range(ROUNDS):
            if not missing:
                break
            shares = rng.multinomial(POSITIONS, room / room.sum())
            for chromosome in np.flatnonzero(shares).tolist():
                text = np.frombuffer(genome.packed.codes(chromosome), dtype=np.uint8)
                starts = rng.integers(0, room[chromosome], shares[chromosome])
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

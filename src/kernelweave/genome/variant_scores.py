"""What variants of a genome do to the score of the window around them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sequences import Sequences, as_sequences, read_sequences
from .model_windows import alphabet_of, decision_of, window_length
from .vcf import Variant, read_vcf


@dataclass(frozen=True, eq=False)
class VariantScores:
    """Decision values of the windows around variants.

    Attributes
    ----------
    variants : list of n Variant
    reference, alternative : arrays of shape (n,)
        Scores without and with the variant; NaN where the window leaves the chromosome.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.genome import Variant, VariantScores
    >>> variant = Variant("chr1", 200, "rs1", "G", "A")
    >>> scores = VariantScores([variant], np.array([0.5]), np.array([-1.0]))
    >>> print(scores.difference)
    [-1.5]
    """

    variants: list[Variant]
    reference: np.ndarray
    alternative: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """The effect of each variant, shape (n,)."""
        effects: np.ndarray = self.alternative - self.reference
        return effects


def variants(
    model: Any,
    vcf: list[Variant] | str | os.PathLike[str],
    genome: Sequences | str | os.PathLike[str],
    *,
    length: int | None = None,
    target: Any = None,
) -> VariantScores:
    r"""Return what variants do to the scores of the windows that have them in their middle.

    Letters that a deletion takes away are made up for from the right, and those that an insertion
    pushes out are lost there, so that all windows are equally long.

    Parameters
    ----------
    model : a fitted estimator on kernels on sequences.
    vcf : variants, or a VCF file of them; alleles that are not letters are left out.
    genome : chromosomes with their names, or a file of them.
    length : letters of a window; None where the kernels know it.
    target : the class whose decision function is read, where there are several.

    Raises
    ------
    ValueError : where variants are not of this genome; the message counts them and names the first.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.genome import Variant, variants
    >>> from kernelweave.kernels import Spectrum
    >>> X, y = make_motifs(300, positive_rate=0.5)
    >>> model = MKLClassifier(Spectrum(4)).fit(X, y)
    >>> genome = X[y > 0][0]
    >>> _ = Path("genome.fa").write_text(">chr1\n" + genome + "\n")
    >>> variant = Variant("chr1", 20, "one", genome[20], "A" if genome[20] != "A" else "C")
    >>> scores = variants(model, [variant], "genome.fa", length=30)
    >>> scores.difference.shape
    (1,)
    """
    decide, length = decision_of(model, target), window_length(model, length)
    found = vcf if isinstance(vcf, list) else read_vcf(vcf)[0]
    if not isinstance(genome, Sequences):
        genome = read_sequences(genome, alphabet_of(model))
    places = {name.split()[0]: i for i, name in enumerate(genome.names or []) if name.split()}
    _check_references(found, genome, places)
    pairs = [_windows(one, genome, places[one.chromosome], length) for one in found]
    inside = np.array([pair is not None for pair in pairs])
    scores = np.full((2, len(found)), np.nan)
    texts = [text for pair in pairs if pair is not None for text in pair]
    if texts:
        values = decide(as_sequences(texts, genome.alphabet))
        scores[:, inside] = values.reshape(-1, 2).T
    return VariantScores(found, *scores)


def _windows(
    variant: Variant, genome: Sequences, place: int, length: int
) -> tuple[str, str] | None:
    """Return the window without and with a variant, or None where one leaves the chromosome."""
    before = (length - 1) // 2
    start = variant.start - before
    behind = variant.start + len(variant.reference)
    missing = max(0, length - before - len(variant.alternative))
    if start < 0 or max(start + length, behind + missing) > int(genome.lengths[place]):
        return None
    left = _letters(genome, place, start, before)
    changed = left + variant.alternative.upper() + _letters(genome, place, behind, missing)
    return _letters(genome, place, start, length), changed[:length]


def _letters(genome: Sequences, place: int, start: int, count: int) -> str:
    if count == 0:
        return ""
    found: str = genome.windows(place, np.array([start]), count)[0]
    return found


def _check_references(variants: list[Variant], genome: Sequences, places: dict[str, int]) -> None:
    """Raise where chromosomes are not there, or hold other letters than variants say."""
    wrong = []
    for one in variants:
        place = places.get(one.chromosome)
        count = len(one.reference)
        if place is None or one.start + count > int(genome.lengths[place]):
            wrong.append((one, "which the genome does not have"))
            continue
        there = _letters(genome, place, one.start, count)
        if any(a != b and b != "N" for a, b in zip(one.reference.upper(), there, strict=True)):
            wrong.append((one, f"where the genome has {there}"))
    if wrong:
        one, why = wrong[0]
        raise ValueError(
            f"{len(wrong)} of {len(variants)} variants are not of this genome; the first is "
            f"{one.chromosome}:{one.start + 1} {one.reference}, {why}"
        )

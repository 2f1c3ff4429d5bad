"""Effects of variants: scores of the window around a variant with either allele."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..common.numbers import as_count
from ..common.warnings import warn
from ..sequences import Sequences, as_sequences, read_sequences
from .chromosome_names import listed, match_chromosomes
from .model_windows import alphabet_of, decision_of, window_length
from .null_distribution import Effect, RandomSubstitutions
from .regions import chromosome_names
from .vcf import Variant, in_letters, read_vcf

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

BLOCK = 50_000  # variants scored at a time, which bounds the memory
# The status of a variant: "scored", or the reason why it is not.
SCORED = "scored"
ABSENT = "no such chromosome"
BEYOND = "beyond the end"
DIFFERS = "reference differs"
SYMBOLIC = "not written as letters"  # <DEL>, *, breakends
LEAVES = "window leaves the chromosome"  # the variant is too near to an end; not a mismatch
POLICIES = ("error", "skip", "warn")


@dataclass(frozen=True, eq=False)
class VariantScores:
    """Decision values of the windows around n variants.

    Attributes
    ----------
    variants : list of n Variant
        The variants.
    reference, alternative : ndarray of shape (n,)
        Scores with the reference and the alternative allele; NaN if the variant was not scored.
    status : list of n str
        "scored", or the reason why a variant has no score.
    p_values : ndarray of shape (n,) or None
        Two-sided p-values of `difference`; NaN for variants other than single substitutions.
        None if they were not requested.

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
    status: list[str] = field(default_factory=list)
    p_values: np.ndarray | None = None

    @property
    def difference(self) -> np.ndarray:
        """Alternative minus reference score, shape (n,)."""
        return self.alternative - self.reference


def variants(
    model: FittedEstimator,
    vcf: list[Variant] | str | os.PathLike[str],
    genome: Sequences | str | os.PathLike[str],
    *,
    length: int | None = None,
    target: object = None,
    on_mismatch: str = "error",
    null: int = 0,
    seed: int = 0,
) -> VariantScores:
    r"""Return the scores of the windows centred on variants, with either allele.

    All windows have the same length: after a deletion, bases are added on the right; after an
    insertion, bases are cut off there.

    Parameters
    ----------
    model : fitted estimator
        Trained on sequences.
    vcf : list of n Variant, or path
        The variants, or a VCF file. Alleles that are not written as letters, such as ``<DEL>``, get
        no score.
    genome : Sequences or path
        Chromosomes with their names, or a FASTA or 2bit file. The names may differ from those of
        the variants by the prefix ``chr``.
    length : int, optional
        Number of letters of a window; by default that of the support vectors, if all have the
        same.
    target : label, optional
        Class whose decision function is evaluated, for models of three or more classes.
    on_mismatch : {"error", "skip", "warn"}
        Treatment of variants on absent chromosomes, beyond their end, or whose reference allele
        differs from the genome: "error" raises ValueError, "skip" leaves them without a score, and
        "warn" does so with a warning.
    null : int
        If positive, single substitutions get a p-value from this many random substitutions in the
        same genome, with the same alleles and neighbouring bases.
    seed : int
        Seed of the random substitutions.

    Returns
    -------
    VariantScores

    Raises
    ------
    ValueError
        With ``on_mismatch="error"``, if variants do not belong to this genome; the message counts
        them by reason and names the first of each.

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
    if on_mismatch not in POLICIES:
        raise ValueError(f"on_mismatch must be 'error', 'skip' or 'warn', got {on_mismatch!r}")
    null = as_count("null", null, 0)
    decide, length = decision_of(model, target), window_length(model, length)
    found = vcf if isinstance(vcf, list) else read_vcf(vcf)
    if not isinstance(genome, Sequences):
        genome = read_sequences(genome, alphabet_of(model))
    source = "variants" if isinstance(vcf, list) else os.fspath(vcf)
    indices = _indices(found, genome, source)
    status = list(_statuses(found, genome, indices, length))
    _report(found, status, chromosome_names(genome), on_mismatch)
    scores = np.full((2, len(found)), np.nan)
    scored = np.array([i for i, one in enumerate(status) if one == SCORED], dtype=np.int64)
    for block in np.split(scored, range(BLOCK, len(scored), BLOCK)):
        pairs = [_windows(found[i], genome, indices[found[i].chromosome], length) for i in block]
        texts = [text for pair in pairs for text in pair]
        if texts:
            values = decide(as_sequences(texts, genome.alphabet))
            scores[:, block] = values.reshape(-1, 2).T
    p_values = None
    if null:
        effects = [
            Effect(found[i], indices[found[i].chromosome], scores[1, i] - scores[0, i])
            for i in scored.tolist()
        ]
        substitutions = RandomSubstitutions(decide, genome, length, null, seed)
        p_values = np.full(len(found), np.nan)
        p_values[scored] = substitutions.p_values(effects)
    return VariantScores(found, scores[0], scores[1], status, p_values)


def _indices(found: list[Variant], genome: Sequences, source: str) -> dict[str, int]:
    """Return the index in the genome of each chromosome of the variants."""
    indices = {name: i for i, name in enumerate(chromosome_names(genome)) if name}
    known = match_chromosomes([one.chromosome for one in found], indices, source)
    return {used: indices[name] for used, name in known.items()}


def _statuses(
    found: list[Variant], genome: Sequences, indices: dict[str, int], length: int
) -> Iterator[str]:
    """Yield "scored" for each variant, or the reason why it cannot be scored.

    The alleles of a line share their reference, which is compared with the genome once.
    """
    last, reason = None, SCORED
    for one in found:
        if not in_letters(one.alternative):
            yield SYMBOLIC
            continue
        replaced = one.chromosome, one.start, one.reference
        if replaced != last:
            last, index = replaced, indices.get(one.chromosome)
            reason = ABSENT if index is None else _of_reference(one, genome, index)
        if reason == SCORED:
            size = int(genome.lengths[indices[one.chromosome]])
            yield SCORED if _fits(one, size, length) else LEAVES
        else:
            yield reason


def _of_reference(variant: Variant, genome: Sequences, index: int) -> str:
    """Return "scored" if the genome has the reference allele, else why there is no score."""
    count = len(variant.reference)
    if not in_letters(variant.reference):
        return SYMBOLIC
    if variant.start + count > int(genome.lengths[index]):
        return BEYOND
    there = _letters(genome, index, variant.start, count)
    differ = any(a != b and b != "N" for a, b in zip(variant.reference.upper(), there, strict=True))
    return DIFFERS if differ else SCORED


def _fits(variant: Variant, size: int, length: int) -> bool:
    """Return whether the windows with both alleles are inside of a chromosome of `size` bases."""
    before = (length - 1) // 2
    missing = max(0, length - before - len(variant.alternative))
    behind = variant.start + len(variant.reference) + missing
    return variant.start >= before and max(variant.start - before + length, behind) <= size


def _report(
    found: list[Variant], status: list[str], chromosomes: list[str], on_mismatch: str
) -> None:
    """Raise ValueError, or warn, if variants do not match the genome, as `on_mismatch` says."""
    text = mismatches(found, status)
    if not text or on_mismatch == "skip":
        return
    if ABSENT in status:
        text += f"; the genome has {listed(chromosomes)}"
    if on_mismatch == "warn":
        warn(f"{text}; they have no score")
        return
    raise ValueError(
        f"{text}; is this the right genome assembly? on_mismatch='skip' (--on-mismatch skip) "
        "leaves them without a score"
    )


def mismatches(found: list[Variant], status: list[str]) -> str:
    """Return a message with the number of variants that do not match the genome, by reason.

    It is empty if all match.

    Parameters
    ----------
    found : list of n Variant
        The variants.
    status : list of n str
        "scored", or the reason why a variant has no score.
    """
    counts = Counter(one for one in status if one in (ABSENT, BEYOND, DIFFERS))
    if not counts:
        return ""
    reasons = []
    for reason, count in counts.items():
        one = found[status.index(reason)]
        first = f"{one.chromosome}:{one.start + 1} {one.reference}>{one.alternative}"
        reasons.append(f"{reason}: {count}, the first is {first}")
    total = sum(counts.values())
    return f"{total} of {len(found)} variants are not of this genome ({'; '.join(reasons)})"


def _windows(variant: Variant, genome: Sequences, index: int, length: int) -> tuple[str, str]:
    """Return the window with the reference and with the alternative allele."""
    before = (length - 1) // 2
    start = variant.start - before
    behind = variant.start + len(variant.reference)
    missing = max(0, length - before - len(variant.alternative))
    left = _letters(genome, index, start, before)
    changed = left + variant.alternative.upper() + _letters(genome, index, behind, missing)
    return _letters(genome, index, start, length), changed[:length]


def _letters(genome: Sequences, index: int, start: int, count: int) -> str:
    if count == 0:
        return ""
    return genome.windows(index, np.array([start]), count)[0]

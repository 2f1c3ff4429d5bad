"""Variants of a genome in VCF files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TextIO

import numpy as np

from ..sequences.files import opened

if TYPE_CHECKING:
    from .variant_scores import VariantScores

LETTERS = set("ACGTUN")
COLUMNS = ("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
INFO = len(COLUMNS) - 1
FIELDS = {  # of INFO, and what they are called in the header
    "KW_REF": ("1", "Score of the window with the reference allele"),
    "KW_ALT": ("A", "Score of the window with the alternative allele"),
    "KW_DIFF": ("A", "KW_ALT - KW_REF"),
}


class Variant(NamedTuple):
    """Letters `reference` of a chromosome from `start` on, counted from 0, replaced by others.

    Examples
    --------
    >>> from kernelweave.genome import Variant
    >>> Variant("chr1", 200, "rs1", "G", "A")
    Variant(chromosome='chr1', start=200, name='rs1', reference='G', alternative='A')
    """

    chromosome: str
    start: int
    name: str
    reference: str
    alternative: str


def read_vcf(path: str | os.PathLike[str]) -> tuple[list[Variant], int]:
    r"""Read a VCF file, plain or packed: a variant for each alternative allele.

    Parameters
    ----------
    path : the file.

    Returns
    -------
    The variants, and how many alleles were left out since they are not written as letters.

    Raises
    ------
    ValueError : where a line is no variant; the message names it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import read_vcf
    >>> _ = Path("v.vcf").write_text("#CHROM\tPOS\tID\tREF\tALT\nchr1\t201\trs1\tG\tA\n")
    >>> variants, left_out = read_vcf("v.vcf")
    >>> variants[0].start, left_out
    (200, 0)
    """
    source, found, left_out = os.fspath(path), [], 0
    for number, text in _lines(path):
        if text.startswith("#"):
            continue
        columns = text.split("\t")
        if len(columns) < 5 or not columns[1].isdigit() or int(columns[1]) < 1:
            raise ValueError(
                f"{source}, line {number}: a variant has the columns CHROM, POS (from 1 on), "
                "ID, REF and ALT, separated by tabs"
            )
        chromosome, position, name, reference = columns[:4]
        for allele in columns[4].split(","):
            if _in_letters(reference, allele):
                found.append(Variant(chromosome, int(position) - 1, name, reference, allele))
            else:
                left_out += 1
    if not found:
        raise ValueError(f"{source}: holds no variants that are written as letters")
    return found, left_out


def write_vcf(file: TextIO, path: str | os.PathLike[str], found: VariantScores) -> None:
    r"""Write a VCF file again, with the scores of its variants in the column INFO.

    Parameters
    ----------
    file : what is written to, open for text.
    path : the file that `read_vcf` has read the variants from. Its other columns stay as they are.
    found : the scores of its variants.

    Examples
    --------
    >>> import sys
    >>> from pathlib import Path
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.genome import variants, write_vcf
    >>> from kernelweave.kernels import Spectrum
    >>> model = MKLClassifier(Spectrum(2)).fit(["GATTACA", "CCCGCCC"], [1, -1])
    >>> _ = Path("genome.fa").write_text(">chr1\nCCGATTACAGG\n")
    >>> _ = Path("v.vcf").write_text("#CHROM\tPOS\tID\tREF\tALT\nchr1\t6\trs1\tT\tC\n")
    >>> write_vcf(sys.stdout, "v.vcf", variants(model, "v.vcf", "genome.fa", length=7))
    ... # doctest: +ELLIPSIS
    ##INFO=<ID=KW_REF,...
    """
    scores = iter(np.transpose([found.reference, found.alternative, found.difference]).tolist())
    for _, text in _lines(path):
        if text.startswith("##"):
            file.write(f"{text}\n")
        elif text.startswith("#"):
            for field, (number, meaning) in FIELDS.items():
                of = f"ID={field},Number={number},Type=Float"
                file.write(f'##INFO=<{of},Description="{meaning}">\n')
            file.write("\t".join(_filled(text.split("\t"), COLUMNS)) + "\n")
        else:
            columns = _filled(text.split("\t"), ["."] * len(COLUMNS))
            alleles = [_in_letters(columns[3], allele) for allele in columns[4].split(",")]
            own = [next(scores) if known else [np.nan] * 3 for known in alleles]
            columns[INFO] = _with_scores(columns[INFO], own)
            file.write("\t".join(columns) + "\n")


def _with_scores(info: str, scores: list[list[float]]) -> str:
    """Return the column INFO with the scores of all alleles of a line."""
    reference, *others = zip(*scores, strict=True)
    known = [value for value in reference if value == value]
    values = [known[:1] or [np.nan], *others]
    fields = [] if info == "." else [info]
    for field, column in zip(FIELDS, values, strict=True):
        fields.append(f"{field}={','.join(_text(value) for value in column)}")
    return ";".join(fields)


def _text(value: float) -> str:
    return f"{value:.6g}" if value == value else "."


def _filled(columns: list[str], wanted: tuple[str, ...] | list[str]) -> list[str]:
    """Return columns, at least as many as are wanted."""
    return [*columns, *wanted[len(columns) :]]


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Give the lines that are not empty, with their numbers."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if text := line.decode("utf-8", "replace").strip("\r\n"):
                yield number, text


def _in_letters(reference: str, allele: str) -> bool:
    """Return whether a variant is written as letters."""
    return bool(allele) and set((reference + allele).upper()) <= LETTERS

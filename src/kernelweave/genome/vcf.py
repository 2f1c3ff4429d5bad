"""Read variants from VCF files, and write their scores to a copy."""

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
FIELDS = {  # fields of the column INFO: Number and Description in the header
    "KW_REF": ("1", "Score of the window with the reference allele"),
    "KW_ALT": ("A", "Score of the window with the alternative allele"),
    "KW_DIFF": ("A", "KW_ALT - KW_REF"),
    "KW_P": ("A", "Two-sided p-value of KW_DIFF among matched random substitutions"),
}


class Variant(NamedTuple):
    """A variant: `alternative` replaces the letters `reference` from `start` (0-based) on.

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


def read_vcf(path: str | os.PathLike[str]) -> list[Variant]:
    r"""Return the variants of a VCF file, one for each alternative allele.

    Alleles that are not written as letters, such as ``<DEL>`` or ``*``, are included.

    Parameters
    ----------
    path : str or path
        Plain or compressed.

    Returns
    -------
    list of Variant

    Raises
    ------
    ValueError
        If a line is not a variant (the message gives its number), or if no variant is written as
        letters.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelweave.genome import read_vcf
    >>> _ = Path("v.vcf").write_text("#CHROM\tPOS\tID\tREF\tALT\nchr1\t201\trs1\tG\tA\n")
    >>> read_vcf("v.vcf")[0].start
    200
    """
    source, found = os.fspath(path), []
    lettered = False
    for number, text in _lines(path):
        if text.startswith("#"):
            continue
        columns = text.split("\t")
        if len(columns) < 5 or not columns[1].isdecimal() or int(columns[1]) < 1:
            raise ValueError(
                f"{source}, line {number}: a variant has the columns CHROM, POS (1-based), ID, REF "
                "and ALT, separated by tabs"
            )
        chromosome, position, name, reference, alleles = columns[:5]
        start, known = int(position) - 1, in_letters(reference)
        for allele in alleles.split(","):
            found.append(Variant(chromosome, start, name, reference, allele))
            lettered = lettered or (known and in_letters(allele))
    if not lettered:
        raise ValueError(f"{source}: contains no variants that are written as letters")
    return found


def write_vcf(file: TextIO, path: str | os.PathLike[str], found: VariantScores) -> None:
    r"""Write a copy of a VCF file with the scores of its variants in the column INFO.

    Parameters
    ----------
    file : text stream
        The stream to write to.
    path : str or path
        The file from which `read_vcf` read the variants. Its other columns are copied.
    found : VariantScores
        Scores of the variants in the file. Alleles without a score get ``.``.

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
    values = [found.reference, found.alternative, found.difference]
    if found.p_values is not None:
        values.append(found.p_values)
    fields = dict(list(FIELDS.items())[: len(values)])
    scores = iter(np.transpose(values).tolist())
    for _, text in _lines(path):
        if text.startswith("##"):
            file.write(f"{text}\n")
        elif text.startswith("#"):
            for name, (number, meaning) in fields.items():
                of = f"ID={name},Number={number},Type=Float"
                file.write(f'##INFO=<{of},Description="{meaning}">\n')
            file.write("\t".join(_filled(text.split("\t"), COLUMNS)) + "\n")
        else:
            columns = _filled(text.split("\t"), ["."] * len(COLUMNS))
            own = [next(scores) for _ in columns[4].split(",")]
            columns[INFO] = _with_scores(columns[INFO], list(fields), own)
            file.write("\t".join(columns) + "\n")


def _with_scores(info: str, fields: list[str], scores: list[list[float]]) -> str:
    """Return the text of INFO with the scores of all alleles of a line appended."""
    reference, *others = zip(*scores, strict=True)
    known = [value for value in reference if value == value]
    values = [known[:1] or [np.nan], *others]
    entries = [] if info == "." else [info]
    for field, column in zip(fields, values, strict=True):
        entries.append(f"{field}={','.join(_text(value) for value in column)}")
    return ";".join(entries)


def _text(value: float) -> str:
    return f"{value:.6g}" if value == value else "."


def _filled(columns: list[str], wanted: tuple[str, ...] | list[str]) -> list[str]:
    """Return `columns`, extended by the last entries of `wanted` to the length of `wanted`."""
    return [*columns, *wanted[len(columns) :]]


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if text := line.decode("utf-8", "replace").strip("\r\n"):
                yield number, text


def in_letters(allele: str) -> bool:
    """Return whether an allele is written as letters, unlike ``<DEL>``, ``*`` or breakends."""
    return bool(allele) and LETTERS.issuperset(allele.upper())

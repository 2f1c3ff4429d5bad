"""`kernelweave variants`: effects of variants on the scores of a model."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from .command import (
    STDIN,
    Command,
    index,
    jobs,
    one_class,
    out_option,
    quiet,
    text_output,
    window_length,
    with_options,
)

if TYPE_CHECKING:
    import numpy as np

    from ..genome import VariantScores


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("vcf", type=click.Path(allow_dash=True))
@click.option(
    "--genome", required=True, metavar="FASTA", help="FASTA or 2bit file of the variants."
)
@out_option("Output file: .tsv, .txt, .vcf (also .gz) or .parquet; by default standard output.")
@window_length
@click.option(
    "--on-mismatch",
    type=click.Choice(["error", "skip", "warn"]),
    default="error",
    show_default=True,
    help="Variants that are not of this genome: stop, or leave them without a score.",
)
@click.option(
    "--null",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random substitutions per trinucleotide for p-values; 0 for none.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --null.")
@with_options(index, one_class, jobs, quiet)
def command(
    model: str,
    vcf: str,
    genome: str,
    out: str | None,
    index: bool,
    target: str | None,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the windows around variants (VCF) with the reference and the alternative allele.

    VCF may be compressed, or - for standard input. Substitutions, short insertions and deletions
    are scored. Positions are 1-based, as in the VCF file. The column `status` says why a variant
    has no score. A VCF output is the input with scores in the column INFO; .vcf.gz is BGZF.

    --null 1000 adds p-values: the fraction of random substitutions of the same genome, with the
    same neighbouring bases and alleles, whose effect is at least as large.

    \b
    Examples:
      kernelweave variants peaks.kw variants.vcf.gz --genome hg.fa -o effects.tsv
      kernelweave variants peaks.kw variants.vcf.gz --genome hg.2bit --null 1000 \\
        --on-mismatch skip -o scored.vcf.gz --index
      bcftools view -r chr8 all.bcf | kernelweave variants peaks.kw - --genome hg.fa -o out.vcf
    """
    from .. import __version__
    from ..genome import read_vcf, variants, write_vcf
    from ..genome.variant_scores import SYMBOLIC, mismatches
    from .models import class_of, load_model
    from .table_output import check_ending, table_output

    check_ending(out, ".vcf", ".vcf.gz", ".vcf.bgz")
    as_vcf = out is not None and out.lower().endswith((".vcf", ".vcf.gz", ".vcf.bgz"))
    if index and not as_vcf:
        raise ValueError(f"--index: the output must end in .vcf.gz, got {out or 'standard output'}")
    fitted = load_model(model, jobs, vcf)
    with _file_of(vcf) as path:
        given = read_vcf(path)
        found = variants(fitted, given, genome, target=class_of(fitted, target), **options)
        if (symbolic := found.status.count(SYMBOLIC)) and not quiet:
            click.echo(f"{symbolic} alleles {SYMBOLIC} have no score", err=True)
        skipped = mismatches(found.variants, found.status)
        if skipped and options["on_mismatch"] == "skip" and not quiet:
            click.echo(skipped, err=True)
        if as_vcf:
            with text_output(out, indexed=index) as file:
                write_vcf(file, path, found)
            return
        with table_output(out, f"kernelweave {__version__}, model {model}") as write:
            write(_columns(found))


@contextmanager
def _file_of(vcf: str) -> Iterator[str]:
    """Yield the path of a VCF file; standard input is copied to a file, since it is read twice."""
    if vcf != STDIN:
        yield vcf
        return
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "standard input")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


def _columns(found: VariantScores) -> dict[str, Sequence[object] | np.ndarray]:
    """Return variants and their scores as columns by name; positions are 1-based."""
    names = ("chromosome", "position", "name", "reference", "alternative")
    places = zip(*(one._replace(start=one.start + 1) for one in found.variants), strict=True)
    columns: dict[str, Sequence[object] | np.ndarray] = {
        **dict(zip(names, map(list, places), strict=True)),
        "reference score": found.reference,
        "alternative score": found.alternative,
        "difference": found.difference,
    }
    if found.p_values is not None:
        columns["p-value"] = found.p_values
    return columns | {"status": found.status}

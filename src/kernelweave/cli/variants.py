"""`kernelweave variants`: what variants do to the scores of a model."""

from __future__ import annotations

from typing import Any

import click

from .command import Command, class_of, jobs, one_class, quiet, text_output, with_options


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("vcf", type=click.Path())
@click.option("--genome", required=True, metavar="FASTA", help="The genome of the variants.")
@click.option(
    "-o",
    "--out",
    help="A .tsv, .txt, .vcf (all also .gz) or .parquet file; text on standard output by default.",
)
@click.option(
    "--length", type=click.IntRange(1), help="Letters of a window, if the model takes any."
)
@with_options(one_class, jobs, quiet)
def command(
    model: str,
    vcf: str,
    genome: str,
    out: str | None,
    length: int | None,
    target: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Score the windows around variants (VCF) with the reference and with the alternative allele.

    Substitutions and short insertions and deletions. Positions count from 1, as in the VCF file.
    A VCF file as output is the input with scores in its column INFO.

    \b
    Examples:
      kernelweave variants peaks.kw variants.vcf.gz --genome hg.fa -o effects.tsv
      kernelweave variants peaks.kw variants.vcf.gz --genome hg.2bit -o scored.vcf
    """
    from .. import __version__, load
    from ..genome import read_vcf, variants, write_vcf
    from .table_output import check_ending, table_output

    check_ending(out, ".vcf", ".vcf.gz")
    fitted = load(model).set_params(n_jobs=jobs)
    given, left_out = read_vcf(vcf)
    found = variants(fitted, given, genome, length=length, target=class_of(fitted, target))
    if left_out and not quiet:
        click.echo(f"{left_out} alleles that are not letters were left out", err=True)
    if out is not None and out.lower().removesuffix(".gz").endswith(".vcf"):
        with text_output(out) as file:
            write_vcf(file, vcf, found)
        return
    with table_output(out, f"kernelweave {__version__}, model {model}") as write:
        write(_columns(found))


def _columns(found: Any) -> dict[str, Any]:
    """Return scores as columns; positions count from 1."""
    names = ("chromosome", "position", "name", "reference", "alternative")
    places = zip(*(one._replace(start=one.start + 1) for one in found.variants), strict=True)
    return {
        **dict(zip(names, map(list, places), strict=True)),
        "reference score": found.reference,
        "alternative score": found.alternative,
        "difference": found.difference,
    }

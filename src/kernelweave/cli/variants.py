"""`kernelweave variants`: what variants do to the scores of a model."""

from __future__ import annotations

import click

from .command import Command, jobs, quiet, text_output, with_options


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("vcf", type=click.Path())
@click.option("--genome", required=True, metavar="FASTA", help="The genome of the variants.")
@click.option("-o", "--out", help="A file (.tsv, .tsv.gz); standard output by default.")
@click.option(
    "--length", type=click.IntRange(1), help="Letters of a window, if the model takes any."
)
@with_options(jobs, quiet)
def command(
    model: str,
    vcf: str,
    genome: str,
    out: str | None,
    length: int | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Score the windows around variants (VCF) with the reference and with the alternative allele.

    Substitutions and short insertions and deletions. Positions count from 1, as in the VCF file.

    \b
    Example:
      kernelweave variants peaks.kw variants.vcf.gz --genome hg.fa -o effects.tsv
    """
    from .. import load
    from ..genome import read_vcf, score_variants
    from ..genome.model_windows import alphabet_of
    from ..sequences import read_sequences

    fitted = load(model).set_params(n_jobs=jobs)
    variants, left_out = read_vcf(vcf)
    found = score_variants(
        fitted, variants, read_sequences(genome, alphabet_of(fitted)), length=length
    )
    if left_out and not quiet:
        click.echo(f"{left_out} alleles that are not letters were left out", err=True)
    with text_output(out) as file:
        file.write("chromosome\tposition\tname\treference\talternative\t")
        file.write("reference score\talternative score\tdifference\n")
        scores = (found.reference, found.alternative, found.difference)
        for one, *values in zip(variants, *(column.tolist() for column in scores), strict=True):
            place = (one.chromosome, one.start + 1, one.name, one.reference, one.alternative)
            file.write("\t".join(map(str, [*place, *values])) + "\n")

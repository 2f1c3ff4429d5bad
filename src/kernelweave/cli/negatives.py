"""`kernelweave negatives`: background regions matched to given regions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .command import (
    STDIN,
    Command,
    as_json,
    index,
    out_option,
    print_json,
    quiet,
    region_options,
    text_output,
    with_options,
)

if TYPE_CHECKING:
    from ..genome import Matched, Regions
    from .data import Windows


@click.command(cls=Command)
@click.argument("bed", type=click.Path(allow_dash=True))
@region_options
@out_option("Output file: .bed or .bed.gz (FASTA with --shuffle); by default standard output.")
@click.option("--exclude", type=click.Path(), help="BED file that negatives must not overlap.")
@click.option(
    "--gc",
    type=float,
    default=0.02,
    show_default=True,
    help="Largest difference of GC content within a pair.",
)
@click.option(
    "--repeats",
    type=float,
    default=0.02,
    show_default=True,
    help="Largest difference of the fraction of lower-case letters.",
)
@click.option(
    "--draws", type=click.IntRange(1), default=1, show_default=True, help="Negatives per region."
)
@click.option("--same-chrom", is_flag=True, help="Draw from the chromosome of each region.")
@click.option(
    "--chrom",
    "chromosomes",
    multiple=True,
    metavar="NAME",
    help="Draw from this chromosome; repeatable. By default from those with regions.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random draws.")
@click.option(
    "--shuffle",
    type=click.Choice(["dinucleotide"]),
    help="Shuffle the sequences of the regions instead; dinucleotide counts are preserved.",
)
@with_options(index, quiet, as_json)
def command(bed: str, out: str | None, shuffle: str | None, index: bool, **options: Any) -> None:
    """Draw background regions that match those of BED in length, GC content and repeats.

    BED is a BED or narrowPeak file, or - for standard input. Negatives overlap neither the regions
    (before --width), nor --exclude, nor each other, and contain no unknown letters. They are sorted
    by position and named after their region. The quality of the match goes to standard error.

    \b
    Examples:
      kernelweave negatives peaks.bed --genome hg.fa -o background.bed
      kernelweave negatives peaks.narrowPeak --genome hg.fa --around summit --width 200 \\
        --same-chrom -o background.bed
      kernelweave negatives peaks.bed --genome hg.fa --shuffle dinucleotide -o background.fa
    """
    from ..genome import negatives, read_bed, read_letters, resize
    from ..genome.tracks import write_regions
    from .data import Windows, standard_input

    windows = Windows.of(options)
    if bed == STDIN:
        with standard_input() as (_, stream):
            regions = read_bed(stream)
    else:
        regions = read_bed(bed)
    if windows.genome is None:
        raise ValueError("--genome is required: the FASTA or 2bit file of the regions")
    if shuffle:
        _write_shuffled(out, windows, regions, options["draws"], options["seed"])
        return
    genome, excluded = read_letters(windows.genome), _excluded(regions, options["exclude"])
    if windows.width is not None:
        sizes = {name: len(letters) for name, letters in genome.items()}
        regions = resize(regions, windows.around or "centre", windows.width, sizes)
    chosen = {name: options[name] for name in ("gc", "repeats", "draws", "seed")}
    found = negatives(
        regions,
        genome,
        exclude=excluded,
        same_chromosome=options["same_chrom"],
        chromosomes=options["chromosomes"] or None,
        **chosen,
    )
    with text_output(out, indexed=index) as file:
        write_regions(file, found.regions.sorted(_order(genome, found.regions)))
    _report(found, options)


def _excluded(regions: Regions, path: str | None) -> Regions:
    """Return the regions as they were before --width, and those of --exclude."""
    from ..genome import Regions, read_bed

    if path is None:
        return regions
    return Regions([*regions, *read_bed(path)], f"{regions.source} and {path}")


def _order(genome: Iterable[str], regions: Regions) -> list[str]:
    """Return the chromosome names that regions use, in the order of the genome.

    Regions may spell a name differently from the genome, such as 1 for chr1.
    """
    from ..genome.chromosome_names import match_chromosomes

    names = match_chromosomes(regions.chromosomes.tolist(), genome, "negatives")
    rank = {name: i for i, name in enumerate(genome)}
    return sorted(names, key=lambda used: rank[names[used]])


def _write_shuffled(
    out: str | None, windows: Windows, regions: Regions, draws: int, seed: int
) -> None:
    """Write the shuffled sequences of regions as FASTA."""
    from ..genome import shuffle_dinucleotides

    regions, sequences = windows.cut(regions, "dna")
    with text_output(out) as file:
        for draw in range(draws):
            shuffled = shuffle_dinucleotides(sequences, seed=seed + draw)
            file.writelines(
                f">{name} shuffled\n{text}\n"
                for name, text in zip(regions.names, shuffled, strict=True)
            )


def _report(found: Matched, options: dict[str, object]) -> None:
    """Print how well negatives match their regions in GC content and repeats."""
    unmatched = found.without_match.names
    if options["as_json"]:
        found_means = {
            name: value
            for name, value in vars(found).items()
            if name not in ("regions", "without_match")
        }
        print_json(found_means | {"matched": len(found.regions), "without_match": unmatched})
    if options["quiet"] or options["as_json"]:
        return
    total = len(found.regions) + found.unmatched
    click.echo(
        f"{len(found.regions)} of {total} regions matched. GC content: "
        f"{_means(found.gc_of_all, *found.gc)}. Repeats: "
        f"{_means(found.repeats_of_all, *found.repeats)}. Largest differences within a pair: "
        f"{found.farthest[0]:.3f} and {found.farthest[1]:.3f}",
        err=True,
    )
    if unmatched:
        click.echo(
            f"{found.unmatched} regions have no negative, the first is {unmatched[0]}; larger "
            "--gc or --repeats match more",
            err=True,
        )


def _means(everything: float, matched: float, drawn: float) -> str:
    return f"all regions {everything:.3f}, matched {matched:.3f}, negatives {drawn:.3f}"

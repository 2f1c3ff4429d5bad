"""`kernelweave negatives`: background regions that match some regions."""

from __future__ import annotations

from typing import Any

import click

from .command import Command, as_json, print_json, quiet, text_output, with_options


@click.command(cls=Command)
@click.argument("bed", type=click.Path())
@click.option("--genome", required=True, type=click.Path(), help="FASTA or 2bit of the regions.")
@click.option(
    "-o", "--out", type=click.Path(), help="BED (FASTA with --shuffle); or standard output."
)
@click.option("--exclude", type=click.Path(), help="BED: negatives may not overlap these either.")
@click.option(
    "--gc", type=float, default=0.02, show_default=True, help="Largest difference of GC content."
)
@click.option(
    "--repeats", type=float, default=0.02, show_default=True, help="The same for small letters."
)
@click.option(
    "--draws", type=click.IntRange(1), default=1, show_default=True, help="Negatives per region."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Another one gives another draw."
)
@click.option("--shuffle", type=click.Choice(["dinucleotide"]), help="Shuffle the regions instead.")
@with_options(quiet, as_json)
def command(bed: str, genome: str, out: str | None, shuffle: str | None, **options: Any) -> None:
    """Draw background regions that match those of BED in length, GC content and repeats.

    They overlap neither the regions, nor --exclude, nor each other, and hold no unknown letters.
    How well they match goes to standard error. With --shuffle the letters of the regions
    are put into another order instead, their dinucleotides kept.

    \b
    Examples:
      kernelweave negatives peaks.bed --genome hg.fa -o background.bed
      kernelweave negatives peaks.bed --genome hg.fa --shuffle dinucleotide -o background.fa
    """
    from ..genome import cut_out, negatives, read_bed, shuffle_dinucleotides
    from ..genome.tracks import write_regions
    from ..sequences import read_sequences

    regions = read_bed(bed)
    with text_output(out) as file:
        if shuffle:
            letters = cut_out(regions, read_sequences(genome))
            for draw in range(options["draws"]):
                shuffled = shuffle_dinucleotides(letters, seed=options["seed"] + draw)
                file.writelines(
                    f">{name} shuffled\n{text}\n"
                    for name, text in zip(regions.names, shuffled, strict=True)
                )
            return
        chosen = {name: options[name] for name in ("exclude", "gc", "repeats", "draws", "seed")}
        found = negatives(regions, genome, **chosen)
        write_regions(file, found.regions)
    _tell(found, options)


def _tell(found: Any, options: dict[str, Any]) -> None:
    """Say how well negatives match."""
    told = {name: value for name, value in vars(found).items() if name != "regions"}
    told["matched"] = len(found.regions)
    if options["as_json"]:
        print_json(told)
    elif not options["quiet"]:
        click.echo(
            f"{told['matched']} of {told['matched'] + found.unmatched} regions matched; GC content "
            f"{found.gc[0]:.3f} (negatives {found.gc[1]:.3f}), repeats {found.repeats[0]:.3f} "
            f"({found.repeats[1]:.3f}); farthest apart {found.farthest[0]:.3f} and "
            f"{found.farthest[1]:.3f}",
            err=True,
        )

"""`kernelweave scan`: slide a sequence model over a genome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from .command import Command, class_of, jobs, one_class, quiet, text_output, with_options

FORMATS = {".bed": "bed", ".bedgraph": "bedgraph", ".bg": "bedgraph", ".bw": "bigwig"}
FORMATS[".bigwig"] = "bigwig"


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("genome", type=click.Path())
@click.option(
    "-o",
    "--out",
    type=click.Path(),
    help="A .bed, .bedgraph or .bw file; or BED to standard output.",
)
@click.option("--top", type=click.IntRange(1), help="Only the N highest scores.")
@click.option("--threshold", type=float, default=0.0, show_default=True, help="Scores above it.")
@click.option("--all", "everything", is_flag=True, help="All scores, whatever they are.")
@click.option(
    "--length", type=click.IntRange(1), help="Letters of a window, where the model takes any."
)
@click.option(
    "--step", type=click.IntRange(1), default=1, show_default=True, help="Between windows."
)
@click.option("--anchor", metavar="AG", help="Letters that windows must hold, always in one place.")
@click.option(
    "--offset", type=click.IntRange(0), help="Where the anchor is; found in the model by default."
)
@click.option(
    "--chrom", "chromosomes", multiple=True, metavar="NAME", help="Only this one; may be repeated."
)
@click.option("--strand", type=click.Choice(["both", "+", "-"]), default="both", show_default=True)
@with_options(one_class, jobs, quiet)
def command(
    model: str,
    genome: str,
    out: str | None,
    top: int | None,
    threshold: float,
    everything: bool,
    target: str | None,
    jobs: int | None,
    quiet: bool,
    strand: str,
    chromosomes: tuple[str, ...],
    **windows: Any,
) -> None:
    """Slide a sequence model over a genome (FASTA or 2bit), on both strands.

    Each window gets exactly the score that `predict` gives it. Windows with unknown letters, such
    as N, are left out. One chromosome at a time is in memory.

    \b
    Examples:
      kernelweave scan sites.kw genome.fa --top 1000 > best.bed
      kernelweave scan sites.kw genome.fa.gz --anchor AG --threshold 1.5 -o sites.bed
      kernelweave scan peaks.kw genome.fa --length 200 --step 50 --all -o peaks.bw
    """
    from .. import load
    from ..genome import scan
    from ..genome.tracks import best, write_bed, write_bedgraph, write_bigwig

    fitted = load(model).set_params(n_jobs=jobs)
    windows |= {"target": class_of(fitted, target), "chromosomes": chromosomes or None}
    found = scan(fitted, genome, strands=strand, **windows)
    blocks = _shown(found, quiet)
    if top is not None:
        blocks = iter(best(blocks, top))
    elif not everything:
        blocks = (block.above(threshold) for block in blocks)
    kind = _format(out)
    if kind == "bigwig":
        write_bigwig(str(out), blocks, genome)
        return
    with text_output(out) as file:
        (write_bed if kind == "bed" else write_bedgraph)(file, blocks)


def _format(out: str | None) -> str:
    """Return "bed", "bedgraph" or "bigwig" from the name of a file."""
    if out is None or out == "-":
        return "bed"
    name = out.lower().removesuffix(".gz")
    for suffix, kind in FORMATS.items():
        if name.endswith(suffix):
            return kind
    raise ValueError(f"--out: {out} must end in one of {' '.join(FORMATS)}")


def _shown(blocks: Iterator[Any], quiet: bool) -> Iterator[Any]:
    """Pass blocks on, and show how many windows have been scored."""
    from ..optimization.progress import counter

    with counter("windows scored", verbose=not quiet) as count:
        for block in blocks:
            count(int(np.size(block.scores)))
            yield block

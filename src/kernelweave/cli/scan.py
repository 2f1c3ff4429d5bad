"""`kernelweave scan`: score the windows of a genome."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .command import (
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
    from ..genome import Scores

FORMATS = {
    ".bed": "bed", ".bedgraph": "bedgraph", ".bg": "bedgraph", ".bw": "bigwig", ".bigwig": "bigwig",
}  # fmt: skip


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("genome", type=click.Path())
@out_option("Output file: .bed, .bedgraph (both also .gz), .bw; by default BED to standard output.")
@click.option("--top", type=click.IntRange(1), help="Only the N highest scores.")
@click.option(
    "--threshold", type=float, default=0.0, show_default=True, help="Only scores above this."
)
@click.option("--all", "everything", is_flag=True, help="All scores.")
@click.option(
    "--merge", is_flag=True, help="Merge overlapping hits; the best score counts. For BED."
)
@window_length
@click.option(
    "--step",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Distance between the starts of windows.",
)
@click.option(
    "--track-at",
    type=click.Choice(["centre", "start"]),
    default="centre",
    show_default=True,
    help="Where in the window bedGraph and bigWig values lie; they span --step bases.",
)
@click.option(
    "--probability",
    is_flag=True,
    help="Write calibrated probabilities to bedGraph and bigWig files, not scores.",
)
@click.option(
    "--anchor", metavar="AG", help="Score only windows with these letters at a fixed position."
)
@click.option(
    "--offset",
    type=click.IntRange(0),
    help="Position of the anchor; by default the one that all support vectors share.",
)
@click.option(
    "--chrom", "chromosomes", multiple=True, metavar="NAME", help="Only this one; repeatable."
)
@click.option(
    "--strand",
    type=click.Choice(["auto", "both", "+", "-"]),
    default="auto",
    show_default=True,
    help="auto: both, or one if the model scores both strands alike.",
)
@with_options(index, one_class, jobs, quiet)
def command(
    model: str,
    genome: str,
    out: str | None,
    top: int | None,
    threshold: float,
    everything: bool,
    merge: bool,
    track_at: str,
    probability: bool,
    index: bool,
    target: str | None,
    jobs: int | None,
    quiet: bool,
    strand: str,
    chromosomes: tuple[str, ...],
    **windows: Any,
) -> None:
    """Score the windows of a genome (FASTA or 2bit) with a sequence model.

    Each window gets the score that `predict` gives it. Windows with unknown letters, such as N, are
    skipped. Output is sorted by position. One chromosome at a time is in memory.

    BED has the windows; after `fit --calibrate` a seventh column has probabilities. bedGraph and
    bigWig have one value per window, the higher one of both strands, at the centre of the window.
    With --merge, --top counts merged hits above --threshold.

    \b
    Examples:
      kernelweave scan sites.kw genome.fa --top 1000 > best.bed
      kernelweave scan sites.kw genome.fa.gz --anchor AG --threshold 1.5 -o sites.bed
      kernelweave scan peaks.kw genome.fa --length 200 --merge -o hits.bed.gz --index
      kernelweave scan peaks.kw genome.fa --length 200 --step 50 --all -o peaks.bw
    """
    from ..genome import scan
    from ..genome.tracks import best, hits, merged, write_bed, write_bedgraph, write_bigwig
    from .calibration import probabilities
    from .models import class_of, load_model

    kind = _format(out)
    if merge and kind != "bed":
        raise ValueError(f"--merge is for BED output, not for {out}")
    if index and kind == "bigwig":
        raise ValueError(f"--index: {out}, a bigWig file, contains its own index; leave it out")
    fitted = load_model(model, jobs, genome)
    calibrated = probabilities(fitted)
    if probability and calibrated is None:
        raise ValueError("--probability needs a model from `kernelweave fit --calibrate`")
    windows |= {"target": class_of(fitted, target), "chromosomes": chromosomes or None}
    blocks = _counted(scan(fitted, genome, strands=strand, **windows), quiet)
    if top is not None and not merge:
        blocks = iter(best(blocks, top))
    elif not everything:
        blocks = (block.above(threshold) for block in blocks)
    if probability and calibrated is not None and kind != "bed":
        blocks = (replace(block, scores=calibrated(block.scores)) for block in blocks)
    if kind == "bigwig":
        write_bigwig(str(out), blocks, genome, track_at)
        return
    with text_output(out, indexed=index) as file:
        if kind == "bedgraph":
            write_bedgraph(file, blocks, track_at)
            return
        found = merged(hits(blocks)) if merge else hits(blocks)
        if merge and top is not None:
            numbered = enumerate(found)
            kept = heapq.nlargest(top, numbered, key=lambda pair: (pair[1].score, -pair[0]))
            found = iter(hit for _, hit in sorted(kept))
        write_bed(file, found, calibrated)


def _format(out: str | None) -> str:
    """Return "bed", "bedgraph" or "bigwig", from the name of a file."""
    if out is None or out == "-":
        return "bed"
    name = out.lower().removesuffix(".gz").removesuffix(".bgz")
    for suffix, kind in FORMATS.items():
        if name.endswith(suffix):
            return kind
    raise ValueError(f"--out: {out} must end in one of {' '.join(FORMATS)} (text also in .gz)")


def _counted(blocks: Iterator[Scores], quiet: bool) -> Iterator[Scores]:
    """Yield the blocks unchanged, and display how many windows they contain so far."""
    from ..optimization.progress import counter

    with counter("windows scored", verbose=not quiet) as count:
        for block in blocks:
            count(int(np.size(block.scores)))
            yield block

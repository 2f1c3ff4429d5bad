"""`kernelweave predict`: score examples with a saved model."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from .command import Command, jobs, key_file, read_key


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@click.option(
    "-o",
    "--out",
    help="A .tsv, .txt (both also .gz) or .parquet file; text on standard output by default.",
)
@click.option("--genome", metavar="FASTA", help="Where the regions of a BED file are.")
@click.option("--contributions", is_flag=True, help="Also what each kernel adds to the score.")
@key_file
@jobs
def command(
    model: str,
    input: str,
    out: str | None,
    genome: str | None,
    contributions: bool,
    key_file: str | None,
    jobs: int | None,
) -> None:
    """Score examples with a saved model, line by line.

    INPUT is a table, sequences or regions as for `fit`, or - for standard input. Lines of the
    output that start with # are comments; the columns are separated by tabs.

    \b
    Examples:
      kernelweave predict model.kw new.csv -o scores.tsv
      zcat reads.fa.gz | kernelweave predict model.kw - | sort -t $'\\t' -k2,2gr | head
    """
    from .. import __version__, load
    from ..genome.model_windows import alphabet_of
    from .data import known_columns, read_in_blocks
    from .table_output import check_ending, table_output

    check_ending(out)
    fitted = load(model, key=read_key(key_file)).set_params(n_jobs=jobs)
    blocks = read_in_blocks(input, genome=genome, alphabet=alphabet_of(fitted))
    scored = 0
    with table_output(out, f"kernelweave {__version__}, model {model}") as write:
        for block in blocks:
            columns = _columns(fitted, known_columns(fitted, block.X), contributions)
            write({"name": block.names, **columns})
            scored += len(block.names)
        if not scored:
            raise ValueError(f"{input}: holds no examples")


def _columns(model: Any, X: Any, contributions: bool) -> dict[str, np.ndarray]:
    """Return the columns of the output by their names, each of shape (n,)."""
    columns: dict[str, np.ndarray] = {}
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
        several = scores.ndim == 2
        names = [f"score {label}" for label in model.classes_] if several else ["score"]
        columns.update(zip(names, np.atleast_2d(scores.T), strict=True))
    columns["prediction"] = model.predict(X)
    if contributions:
        parts = model.contributions(X)
        if parts.ndim == 3:
            raise ValueError("--contributions needs a model with one decision function")
        columns.update(zip(model.kernel_names_, parts.T, strict=True))
    return columns

"""`kernelweave report`: an HTML page about a saved model."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from .command import Command, jobs, out_option
from .fit import data_options


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@data_options
@out_option("The HTML file.", "report.html")
@click.option("--title", default="Kernelweave report", show_default=True)
@click.option("--compare", is_flag=True, help="Compare with the unweighted sum and single kernels.")
@click.option(
    "--bootstrap",
    type=click.IntRange(0),
    default=0,
    help="Bootstrap fits for intervals of weights.",
)
@jobs
def command(
    model: str,
    out: str,
    title: str,
    compare: bool,
    bootstrap: int,
    jobs: int | None,
    **options: Any,
) -> None:
    """Write an HTML page about a saved model: certificate, weights, and, with DATA, scores.

    The page needs no network and contains all its numbers. DATA and its options are those of `fit`;
    with targets, the model is refitted on folds (--cv, 5 by default). Sequence models also show
    k-mers, importance maps, motifs and logos. If MODEL is such a page, it is drawn again.

    \b
    Examples:
      kernelweave report model.kw
      kernelweave report model.kw table.csv --target class --cv 10 -o report.html
      kernelweave report peaks.kw --positive peaks.bed --negative other.bed --genome hg.fa \\
        --cv-groups chrom --bootstrap 20 --compare
    """
    from .. import report
    from ..model.files.atomic_write import check_writable
    from .data import known_columns
    from .models import load_model
    from .training import folds, read_data, task_of

    check_writable(out)
    if model.lower().endswith((".html", ".htm")):
        from ..display.reports import redraw

        redraw(model, out)
        return
    fitted = load_model(model, jobs, options["data"])
    said = " ".join(["kernelweave", *map(shlex.quote, sys.argv[1:])])
    if not options["data"] and not options["positive"]:
        if bootstrap or compare:
            raise ValueError(
                "--bootstrap and --compare fit again and need the training examples: name DATA "
                "after MODEL, or pass --positive and --negative"
            )
        report(fitted, out, title=title, command=said)
        click.echo(f"report: {out}", err=True)
        return
    options["task"] = "auto" if options["target"] or options["positive"] else "one-class"
    data = read_data(options)
    cv: object = 5
    if data.y is not None:
        cv = folds(options, data, task_of(data, options))
    report(
        fitted,
        out,
        known_columns(fitted, data.X),
        data.y,
        cv=cv,
        groups=data.groups,
        compare=compare,
        bootstrap=bootstrap,
        title=title,
        command=said,
    )
    click.echo(f"report: {out}", err=True)

"""`kernelweave fit`: train a model and save it."""

from __future__ import annotations

import time
from typing import Any

import click

from .command import (
    Command,
    as_json,
    jobs,
    key_file,
    print_json,
    quiet,
    read_key,
    with_options,
)
from .config import config_option, save_config


def _kernel_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Return the names of kernels, for the completion of a shell."""
    from .kernel_specs import NAMES

    return [name for name in [*NAMES, "per_feature"] if name.startswith(begun.lower())]


data_options = with_options(
    click.argument("data", required=False, type=click.Path()),
    click.option("--target", metavar="NAME", help="Column (or header field) with the targets."),
    click.option("--columns", metavar="A,B,...", help="Columns of a table to learn from."),
    click.option("--positive", type=click.Path(), help="Sequences or regions of class 1."),
    click.option("--negative", type=click.Path(), help="Sequences or regions of class -1."),
    click.option("--genome", type=click.Path(), help="FASTA or 2bit: where regions (BED) are."),
    click.option("--alphabet", default="dna", show_default=True, help="dna, rna or protein."),
    click.option("--cv", type=click.IntRange(2), help="Folds of a cross-validation."),
    click.option(
        "--cv-groups",
        metavar="NAME",
        help="Column (header field, or chrom for BED) that folds keep whole.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Of the shuffled folds."),
)
model_options = with_options(
    click.option(
        "-k",
        "--kernel",
        "kernels",
        multiple=True,
        metavar="SPEC",
        shell_complete=_kernel_names,
        help="Such as 'rbf(gamma=0.1,1,10)'; may be repeated.",
    ),
    click.option("--norm", default=None, help="Norm of the weights: a number >= 1, or inf."),
    click.option("-C", "cost", type=float, help="Cost of a loss."),
    click.option("--loss", help="Such as hinge, logistic, squared."),
    click.option(
        "--task",
        type=click.Choice(["auto", "classify", "regress", "one-class"]),
        default="auto",
        show_default=True,
    ),
    click.option(
        "--normalize",
        type=click.Choice(["variance", "unit", "trace", "center", "none"]),
        help="How kernels are brought to one scale: variance, unless told otherwise.",
    ),
    click.option(
        "--class-weight",
        type=click.Choice(["balanced"]),
        help="Make the errors of a rare class cost more.",
    ),
    click.option("--tol", type=float, help="Relative duality gap at which to stop."),
    click.option("--max-time", type=float, help="Seconds after which a fit stops with a warning."),
    click.option(
        "--checkpoint",
        type=click.Path(),
        help="Where a fit that was interrupted, or out of time, goes on from.",
    ),
)


@click.command(cls=Command)
@data_options
@model_options
@click.option(
    "-o",
    "--out",
    type=click.Path(),
    default="model.kw",
    show_default=True,
    help="The saved model.",
)
@config_option
@click.option("--save-config", "config_out", type=click.Path(), help="Write these options as TOML.")
@with_options(key_file, jobs, quiet, as_json)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Train a model and save it.

    DATA is a table (.csv, .tsv, .parquet; name its --target), sequences (.fa, .fq, with
    target=value in their headers), or regions (.bed, with --genome). Two classes may also come
    from two files, --positive and --negative. Without --kernel the data choose.

    \b
    Kernels: linear, poly, rbf, laplacian, chi2, intersection, words, ngram; on sequences wd, wds,
    gkm, mismatch, spectrum, locality. Several values make a family, + and * combine kernels,
    columns= picks columns:
      -k 'rbf(gamma=0.01,0.1,1)' -k 'linear(columns=age,income)' -k 'per_feature(rbf)'

    \b
    Examples:
      kernelweave fit table.csv --target class --cv 5
      kernelweave fit table.csv --target price -k 'rbf(gamma=0.1,1)' -k linear --norm 1
      kernelweave fit --positive sites.fa --negative decoys.fa -k 'wd(20)' -o sites.kw
      kernelweave fit --positive peaks.bed --negative other.bed --genome hg.fa --cv-groups chrom
    """
    from ..model.files.atomic_write import check_writable
    from .summary import describe, print_summary
    from .training import cross_validated, make_estimator, read_data

    check_writable(options["out"])
    key = read_key(options["key_file"])
    if options["config_out"]:
        save_config(ctx, options["config_out"])
    data = read_data(options)
    estimator = make_estimator(options, data)
    started = time.perf_counter()
    scores = cross_validated(estimator, data, options)
    estimator.set_params(checkpoint=options["checkpoint"])
    estimator.fit(data.X, data.y)
    estimator.save(options["out"], key=key)
    found = describe(estimator)
    found |= {"model": options["out"], "examples": len(data.names), "cross_validation": scores}
    found |= {"seconds": round(time.perf_counter() - started, 3)}
    if options["as_json"]:
        print_json(found)
    elif not options["quiet"]:
        print_summary(found)

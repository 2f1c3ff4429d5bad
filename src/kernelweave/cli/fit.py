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
    region_options,
    with_options,
)
from .config import config_option, save_config


def _kernel_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Return the names of kernels, for shell completion."""
    from .kernel_help import KERNELS_OF_KERNELS, signatures

    return [name for name in [*signatures(), *KERNELS_OF_KERNELS] if name.startswith(begun.lower())]


data_options = with_options(
    click.argument("data", required=False, type=click.Path(allow_dash=True)),
    click.option("--target", metavar="NAME", help="Column (or header field) with the targets."),
    click.option("--columns", metavar="A,B,...", help="Columns of a table to learn from."),
    click.option("--positive", type=click.Path(), help="Sequences or regions of class 1."),
    click.option("--negative", type=click.Path(), help="Sequences or regions of class -1."),
    region_options,
    click.option(
        "--alphabet",
        default="dna",
        show_default=True,
        help="Letters of sequences: dna, rna or protein.",
    ),
    click.option("--cv", type=click.IntRange(2), help="Number of folds of cross-validation."),
    click.option(
        "--cv-groups",
        metavar="NAME",
        help="Column (header field, or chrom for regions) whose groups folds keep together.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of the shuffled folds."
    ),
)
time_options = with_options(
    click.option("--time", metavar="NAME", help="Column with times until an event or censoring."),
    click.option(
        "--event",
        metavar="NAME[=CODE]",
        help="Column that tells events (true, 1 or CODE) from censored times.",
    ),
)
model_options = with_options(
    click.option(
        "-k",
        "--kernel",
        "kernels",
        multiple=True,
        metavar="SPEC",
        shell_complete=_kernel_names,
        help="Kernel, such as 'rbf(gamma=0.1,1,10)'; repeatable.",
    ),
    click.option("--norm", default=None, help="Norm of the weights: a number >= 1, or inf."),
    click.option("-C", "cost", type=float, help="Regularisation: larger C fits more closely."),
    click.option("--loss", help="Loss, such as hinge, logistic, squared, cox."),
    click.option(
        "--task",
        type=click.Choice(["auto", "classify", "regress", "one-class"]),
        default="auto",
        show_default=True,
    ),
    click.option(
        "--normalize",
        type=click.Choice(["variance", "unit", "trace", "center", "none"]),
        help="Normalisation of the kernels; variance by default.",
    ),
    click.option(
        "--class-weight",
        type=click.Choice(["balanced"]),
        help="Weight classes inversely to their frequency.",
    ),
    click.option(
        "--multi-class",
        type=click.Choice(["auto", "ovr", "ovo", "joint"]),
        help="Several classes: each against the rest, in pairs, or in one problem.",
    ),
    click.option("--no-intercept", is_flag=True, help="Leave out the intercept of the model."),
    click.option("--tol", type=float, help="Relative duality gap at which to stop."),
    click.option("--max-time", type=float, help="Seconds after which to stop with a warning."),
    click.option(
        "--checkpoint",
        type=click.Path(),
        help="File from which an interrupted fit resumes.",
    ),
)


class FitCommand(Command):
    """The command `fit`, whose help lists every kernel with its parameters."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of kernels."""
        from .kernel_help import write_kernels

        write_kernels(formatter)


@click.command(cls=FitCommand)
@data_options
@time_options
@click.option(
    "--test-chrom",
    metavar="A,B,...",
    help="Chromosomes of regions held out from training; scores on them are printed.",
)
@model_options
@click.option(
    "--calibrate",
    type=click.Choice(["platt", "isotonic"]),
    help="Fit probabilities to held-out scores, and save them in the model; folds keep groups.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(),
    default="model.kw",
    show_default=True,
    help="The saved model.",
)
@config_option
@click.option(
    "--save-config", "config_out", type=click.Path(), help="Write these options to a TOML file."
)
@with_options(key_file, jobs, quiet, as_json)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Train a model and save it.

    DATA is a table (.csv, .tsv, .parquet; name its --target), sequences (.fa, .fq, with
    target=value in their headers), or regions (.bed, .narrowPeak, with --genome). Two classes may
    also come from two files, --positive and --negative. --time and --event train a survival model.
    Without --kernel the data determine the kernels.

    \b
    Several values of a parameter make a family, + and * combine kernels, columns= selects columns:
      -k 'rbf(gamma=0.01,0.1,1)' -k 'linear(columns=age,income)' -k 'per_feature(rbf)'

    \b
    Examples:
      kernelweave fit table.csv --target class --cv 5
      kernelweave fit table.csv --target price -k 'rbf(gamma=0.1,1)' -k linear --norm 1
      kernelweave fit patients.csv --time days --event status=dead --cv 5
      kernelweave fit --positive sites.fa --negative decoys.fa -k 'wd(20)' -o sites.kw
      kernelweave fit --positive peaks.narrowPeak --negative other.bed --genome hg.fa \\
        --around centre --width 200 --test-chrom chr8,chr9 --calibrate platt -o peaks.kw
    """
    from sklearn.base import is_classifier

    from ..model.files.atomic_write import check_writable
    from .calibration import METHODS
    from .data import check_columns
    from .summary import describe, explain_defaults, print_summary
    from .training import cross_validated, hold_out, make_estimator, read_data, test_scores

    check_writable(options["out"])
    key = read_key(options["key_file"])
    if options["config_out"]:
        save_config(ctx, options["config_out"])
    data, test = hold_out(read_data(options), options["test_chrom"])
    estimator = make_estimator(options, data)
    started = time.perf_counter()
    scores = cross_validated(estimator, data, options)
    estimator.set_params(checkpoint=options["checkpoint"])
    more = {}
    if options["calibrate"]:
        if not is_classifier(estimator):
            raise ValueError(
                "--calibrate needs a classifier, but this task trains "
                f"{type(estimator).__name__}; leave it out, or pass --task classify"
            )
        estimator.set_params(calibrate=METHODS[options["calibrate"]])
        more = {"groups": data.groups}
    estimator.fit(data.X, data.y, **more)
    check_columns(estimator, data.X, str(options["data"]))
    estimator.save(options["out"], key=key)
    found = describe(estimator)
    found |= {"model": options["out"], "examples": len(data.names), "cross_validation": scores}
    found |= explain_defaults(estimator, data.X, data.y)
    if test is not None:
        found["test"] = test_scores(estimator, test) | {"examples": len(test.names)}
    found |= {"seconds": round(time.perf_counter() - started, 3)}
    if options["as_json"]:
        print_json(found)
    elif not options["quiet"]:
        print_summary({name: value for name, value in found.items() if name != "plan"})

"""`kernelweave compare`: learned weights beside the unweighted sum and single kernels."""

from __future__ import annotations

import click

from .command import Command, as_json, jobs, print_json, quiet, with_options
from .config import config_option
from .fit import data_options, model_options, time_options


@click.command(cls=Command)
@data_options
@time_options
@model_options
@config_option
@with_options(jobs, quiet, as_json)
def command(**options: object) -> None:
    """Compare learned weights with the unweighted sum and the best single kernel.

    All models are scored on the same folds (--cv, 5 by default). DATA and options are those of
    `fit`.

    \b
    Example:
      kernelweave compare table.csv --target class -k 'per_feature(rbf)' --norm 1
    """
    from .. import compare
    from .training import folds, make_estimator, read_data, strata, task_of

    data = read_data(options)
    splitter = folds(options, data, task_of(data, options))
    splits = list(splitter.split(data.X, strata(data), data.groups))
    estimator = make_estimator(options, data)
    found = compare(estimator, data.X, data.y, cv=splits)
    if options["as_json"]:
        print_json({"scoring": found.scoring, "scores": found.scores})
    else:
        click.echo(repr(found))

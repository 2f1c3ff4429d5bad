"""`kernelweave predict`: score examples with a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from ..common.types import Data
from .command import Command, jobs, key_file, out_option, read_key, region_options, with_options

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@out_option("Output file: .tsv or .txt (also .gz), or .parquet; by default standard output.")
@click.option("--contributions", is_flag=True, help="Add the contribution of each kernel.")
@with_options(region_options, key_file, jobs)
def command(
    model: str,
    input: str,
    out: str | None,
    contributions: bool,
    key_file: str | None,
    jobs: int | None,
    **options: object,
) -> None:
    """Score examples with a saved model, one line each.

    INPUT is a table, sequences or regions as for `fit`, or - for standard input. The columns of the
    output are separated by tabs; lines that start with # are comments. Models trained with
    `fit --calibrate` or `--loss logistic` add probabilities. The predicted class is the sign of
    the score; a calibrated probability need not be 0.5 at score 0.

    \b
    Examples:
      kernelweave predict model.kw new.csv -o scores.tsv
      kernelweave predict peaks.kw new.narrowPeak --genome hg.fa --around summit --width 200
      zcat reads.fa.gz | kernelweave predict model.kw - | sort -t $'\\t' -k2,2gr | head
    """
    from .. import __version__
    from ..genome.model_windows import alphabet_of
    from .data import Windows, check_columns, known_columns, read_in_blocks
    from .models import load_model
    from .table_output import check_ending, table_output

    check_ending(out)
    fitted = load_model(model, jobs, input, key=read_key(key_file))
    blocks = read_in_blocks(input, Windows.of(options), alphabet=alphabet_of(fitted))
    scored = 0
    with table_output(out, f"kernelweave {__version__}, model {model}") as write:
        for block in blocks:
            X = known_columns(fitted, block.X)
            check_columns(fitted, X, input)
            write({"name": block.names, **_columns(fitted, X, contributions)})
            scored += len(block.names)
        if not scored:
            raise ValueError(f"{input}: contains no examples")


def _columns(model: FittedEstimator, X: Data, contributions: bool) -> dict[str, np.ndarray]:
    """Return the columns of the output by name, each of shape (n,)."""
    from .calibration import probabilities

    columns: dict[str, np.ndarray] = {}
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
        several = scores.ndim == 2
        names = [f"score {label}" for label in model.classes_] if several else ["score"]
        columns.update(zip(names, np.atleast_2d(scores.T), strict=True))
        if (probability := probabilities(model)) is not None:
            columns["probability"] = probability(scores)
        elif several and hasattr(model, "predict_proba"):
            each = [f"probability {label}" for label in model.classes_]
            columns.update(zip(each, model.predict_proba(X).T, strict=True))
    columns["prediction"] = model.predict(X)
    if contributions:
        parts = model.contributions(X)
        if parts.ndim == 3:
            raise ValueError(
                "--contributions is for models of two classes and for regressors, not for "
                f"{parts.shape[0]} decision functions"
            )
        columns.update(zip(model.kernel_names_, parts.T, strict=True))
    return columns

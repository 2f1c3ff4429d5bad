"""`kernelweave export`: write a gapped k-mer model as a model file of LS-GKM."""

from __future__ import annotations

import click

from .command import Command, out_option


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@out_option("Model file for gkmpredict.", "model.gkm.txt")
def command(model: str, out: str) -> None:
    """Write a gapped k-mer model in the format of LS-GKM, for gkmpredict and gkmexplain.

    The model must have one gapped k-mer kernel on DNA with unit diagonal (--normalize unit).

    \b
    Examples:
      kernelweave fit --positive peaks.fa --negative other.fa -k gkm --normalize unit -o peaks.kw
      kernelweave export peaks.kw -o peaks.gkm.txt
    """
    from .. import export_lsgkm
    from .models import load_model

    export_lsgkm(load_model(model), out)

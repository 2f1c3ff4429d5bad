"""`kernelweave info`: say what a saved model is."""

from __future__ import annotations

import click

from .command import Command, as_json, print_json


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@as_json
def command(model: str, as_json: bool) -> None:
    """Say what a saved model is: its kernels and their weights, its certificate, its parameters.

    \b
    Example:
      kernelweave info model.kw
    """
    from .. import load
    from .summary import describe, print_summary

    found = {"model": model, **describe(load(model))}
    if as_json:
        print_json(found)
    else:
        print_summary(found)

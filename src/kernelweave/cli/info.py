"""`kernelweave info`: print the properties of a saved model."""

from __future__ import annotations

import click

from .command import Command, as_json, print_json


@click.command(cls=Command)
@click.argument("model", type=click.Path())
@as_json
def command(model: str, as_json: bool) -> None:
    """Print the kernels of a saved model with their weights, its certificate and its parameters.

    \b
    Example:
      kernelweave info model.kw
    """
    from .models import load_model
    from .summary import describe, print_summary

    found = {"model": model, **describe(load_model(model))}
    if as_json:
        print_json(found)
    else:
        print_summary(found)

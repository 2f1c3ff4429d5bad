"""The command line: `kernelweave COMMAND ...`.

Each command is a module of this package with a `command`, imported when it is called. Commands are
thin: they read files, call the library, and write files or text.
"""

from __future__ import annotations

from importlib import import_module

import click

import kernelweave

COMMANDS = {
    "fit": "Train a model and save it.",
    "predict": "Score examples with a saved model.",
    "scan": "Score the windows of a genome.",
    "negatives": "Draw background regions matched to given regions.",
    "variants": "Score variants with a sequence model.",
    "explain": "Write k-mers, motifs and letter scores of a sequence model.",
    "compare": "Compare learned weights with simpler models.",
    "report": "Write an HTML page about a saved model.",
    "info": "Print the properties of a saved model.",
    "export": "Write a model as an LS-GKM model file.",
    "demo": "Train a first model on generated data.",
}


class Commands(click.Group):
    """A group that imports its commands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return import_module(f".{name}", __name__).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kernelweave.__version__, prog_name="kernelweave")
def main() -> None:
    """Multiple kernel learning with a duality-gap certificate.

    \b
    Examples:
      kernelweave fit table.csv --target class --out model.kw
      kernelweave fit --positive sites.fa --negative decoys.fa --out model.kw
      kernelweave predict model.kw new.fa > scores.tsv

    `kernelweave COMMAND --help` describes a command.
    """

"""The command line: `kernelweave COMMAND ...`.

A command is a file of this folder that holds a `command`. It is imported when it is called or its
help is asked for, and it is thin: it reads files, calls the library, and writes files or text.
"""

from __future__ import annotations

from importlib import import_module

import click

import kernelweave

COMMANDS = {
    "fit": "Train a model and save it.",
    "predict": "Score examples with a saved model.",
    "scan": "Slide a sequence model over a genome.",
    "negatives": "Draw background regions that match some regions.",
    "compare": "Is learning the weights worth it?",
    "report": "Write a page about a saved model.",
    "info": "Say what a saved model is.",
    "demo": "A first model on generated data.",
}


class Commands(click.Group):
    """Commands that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f".{name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
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

    `kernelweave COMMAND --help` has more.
    """

"""Options of a command in a TOML file: `--config` reads it, `--save-config` writes it.

Keys are the long names of options without leading dashes. Options on the command line override
those of a file.
"""

from __future__ import annotations

import json
import sys

import click

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOT_SAVED = ("config", "config_out", "debug", "quiet", "as_json", "out")


def _read(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    try:
        with open(path, "rb") as file:
            found: dict[str, object] = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{path}: {error}") from None
    known = {_key(option): str(option.name) for option in ctx.command.params}
    if unknown := [key for key in found if key not in known]:
        raise click.BadParameter(f"{path}: there is no option {unknown[0]!r}; {_listed(known)}")
    ctx.default_map = {known[key]: value for key, value in found.items()}


config_option = click.option(
    "--config",
    type=click.Path(),
    callback=_read,
    is_eager=True,
    expose_value=False,
    help="Read options from a TOML file.",
)


def save_config(ctx: click.Context, path: str) -> None:
    """Write the options of a command that differ from their defaults to a TOML file."""
    from ..model.files.atomic_write import atomic_write

    lines = []
    for option in ctx.command.params:
        value = ctx.params.get(str(option.name))
        said = value not in (None, (), False) and value != option.default
        if said and option.name not in NOT_SAVED:
            lines.append(
                f"{_key(option)} = {json.dumps(value)}\n"
            )  # strings, numbers and lists are the same in TOML
    with atomic_write(path) as file:
        file.write("".join(lines).encode())


def _key(option: click.Parameter) -> str:
    """Return the long name of an option without dashes, its key in a TOML file."""
    return max(option.opts, key=len).lstrip("-")


def _listed(known: dict[str, str]) -> str:
    return f"options are {', '.join(sorted(known))}"

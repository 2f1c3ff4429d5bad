"""Behaviour shared by all commands: one-line errors, exit codes, common options, output streams.

Results go to standard output; progress, remarks and warnings go to standard error. Exit codes: 0
for success, 2 for errors that the user can correct (arguments, files), 130 after Ctrl-C, 143 after
SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TextIO, TypeAlias, TypeVar

import click

USER_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)
STDIN = "-"
INTERRUPTED = 130  # exit codes: 128 + number of the signal
TERMINATED = 143
QUIET = "Print no progress, remarks or warnings."
BGZF = {".bed": "bed", ".bedgraph": "bed", ".bg": "bed", ".vcf": "vcf"}  # tabix format by suffix

Options: TypeAlias = Mapping[str, Any]  # values of the options of a command, by name
Function = TypeVar("Function", bound=Callable[..., object])


class Command(click.Command):
    """A command that prints errors as one line; `--debug` shows the traceback instead."""

    def __init__(self, *args: Any, **settings: Any):
        super().__init__(*args, **settings)
        self.reads_quiet = any(option.name == "quiet" for option in self.params)
        if not self.reads_quiet:  # every command accepts -q
            self.params.append(click.Option(["-q", "--quiet"], is_flag=True, help=QUIET))
        self.params.append(
            click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.")
        )

    def invoke(self, ctx: click.Context) -> object:
        debug = ctx.params.pop("debug")
        quiet = ctx.params["quiet"]
        if not self.reads_quiet:
            ctx.params.pop("quiet")
        warnings.showwarning = _shown_once(quiet)
        try:
            with _exit_on_sigterm():
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has closed it, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except KeyboardInterrupt:
            click.echo("kernelweave: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except USER_ERRORS as error:
            if debug:
                raise
            click.echo(f"kernelweave {ctx.info_name}: {_one_line(error)}", err=True)
            ctx.exit(2)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, so that partially written files are removed."""

    def leave(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not stop the clean-up
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may install handlers
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _one_line(error: BaseException) -> str:
    """Return the message of an error as one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory {error}".rstrip()
    return " ".join(str(error).split()) or type(error).__name__


def _shown_once(quiet: bool) -> Callable[..., None]:
    """Return a `warnings.showwarning` that prints each message once, as one line, or none.

    Cross-validation would repeat the same warning for every fold.
    """
    shown: set[str] = set()

    def show(message: object, category: type[Warning], *_: object) -> None:
        line = f"kernelweave: {category.__name__}: {' '.join(str(message).split())}"
        if line not in shown and not quiet:
            shown.add(line)
            click.echo(line, err=True)

    return show


def with_options(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command; help lists them in the order given."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


quiet = click.option("-q", "--quiet", is_flag=True, help=QUIET)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
one_class = click.option(
    "--target", metavar="CLASS", help="Class to score, for models of three or more classes."
)
key_file = click.option(
    "--key-file",
    type=click.Path(),
    help="File with at least 16 secret bytes: the key of the model's signature.",
)
jobs = click.option("-j", "--jobs", type=int, default=None, help="Threads; -1 for all cores.")
window_length = click.option(
    "--length",
    type=click.IntRange(1),
    help="Letters of a window; by default those of the training sequences, if all have the same.",
)
index = click.option(
    "--index", is_flag=True, help="Also write a tabix index (.tbi); the output must end in .gz."
)
region_options = with_options(
    click.option(
        "--genome", type=click.Path(), metavar="FASTA", help="FASTA or 2bit file of the regions."
    ),
    click.option(
        "--around",
        type=click.Choice(["summit", "centre"]),
        help="Take windows of --width bases around the summit (narrowPeak) or centre of regions; "
        "a --negative file without summits has centres.",
    ),
    click.option(
        "--width",
        type=click.IntRange(1),
        help="Bases of a window around each region's centre, or summit with --around summit.",
    ),
)


def out_option(help: str, default: str | None = None) -> Callable[[Function], Function]:
    """Return the option -o, --out: the file or folder that a command writes."""
    shown = default is not None
    return click.option(
        "-o", "--out", type=click.Path(), default=default, show_default=shown, help=help
    )


def read_key(path: str | None) -> bytes | None:
    """Return the signature key that a file contains, or None if `path` is None."""
    if path is None:
        return None
    from ..model.files.archive import check_key, open_regular

    with open_regular(path) as file:
        key = file.read()
    try:
        check_key(key)
    except ValueError as error:
        raise ValueError(f"--key-file: {path}: {error}") from None
    return key


def print_json(content: dict[str, object]) -> None:
    """Print a result to standard output as JSON."""
    click.echo(json.dumps(content, indent=2, default=_json_value))


def _json_value(value: object) -> object:
    """Return NumPy numbers and arrays as Python numbers and lists, other values as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def text_output(path: str | None, *, indexed: bool = False) -> Iterator[TextIO]:
    """Open the output of a command for text.

    A file appears under its name once it is complete. Names ending in .gz are compressed: genome
    formats (BED, bedGraph, VCF) as BGZF, others by gzip.

    Parameters
    ----------
    path : str or None
        Name of the file. None and "-" are standard output.
    indexed : bool
        Whether to write a tabix index, too; only for BGZF.
    """
    tabix_format = _tabix_format(path)
    if indexed and tabix_format is None:
        raise ValueError(
            "--index: the output must end in .bed.gz, .bedgraph.gz or .vcf.gz, got "
            f"{path or 'standard output'}"
        )
    if path is None or path == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    if tabix_format is not None:
        from ..genome.bgzf import bgzf_output

        with bgzf_output(path, tabix_format if indexed else None) as file:
            yield file
        return
    import gzip
    import io

    from ..model.files.atomic_write import atomic_write

    with atomic_write(path) as file:
        packed: AbstractContextManager[Any] = nullcontext(file)
        if path.endswith(".gz"):  # without name and time: equal outputs have equal bytes
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
        with packed as binary:
            text = io.TextIOWrapper(binary, encoding="utf-8")
            yield text
            text.flush()
            text.detach()


def _tabix_format(path: str | None) -> str | None:
    """Return "bed" or "vcf" for the name of a compressed genome file, None for other names."""
    name = (path or "").lower()
    if not name.endswith((".gz", ".bgz")):
        return None
    return BGZF.get(os.path.splitext(os.path.splitext(name)[0])[1])

"""What all commands share: one-line errors, exit codes, and where text goes.

Results go to standard output, progress and remarks to standard error. Exit codes: 0 for success, 2
for what a user can put right (bad input, bad files), 130 after Ctrl-C, 143 after SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

ANSWERABLE = (ValueError, TypeError, OSError, ImportError, MemoryError)
INTERRUPTED = 130
TERMINATED = 143
QUIET = "No progress and no remarks."


class Command(click.Command):
    """A command whose errors are one line, unless `--debug` asks for the whole story."""

    def __init__(self, *args: Any, **settings: Any):
        super().__init__(*args, **settings)
        if all(option.name != "quiet" for option in self.params):  # scripts may always say it
            said = click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, help=QUIET)
            self.params.append(said)
        self.params.append(
            click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.")
        )

    def invoke(self, ctx: click.Context) -> Any:
        debug = ctx.params.pop("debug")
        warnings.showwarning = _each_once()  # and nothing but the text
        try:
            with _exit_on_sigterm():
                return super().invoke(ctx)
        except BrokenPipeError:  # who reads the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except KeyboardInterrupt:
            click.echo("kernelweave: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except ANSWERABLE as error:
            if debug:
                raise
            click.echo(f"kernelweave {ctx.info_name}: {_said(error)}", err=True)
            ctx.exit(2)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, so that partially written files are removed."""

    def leave(*_: Any) -> None:
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


def _said(error: BaseException) -> str:
    """Return an error as one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory {error}".rstrip()
    return " ".join(str(error).split()) or type(error).__name__


def _each_once() -> Callable[..., None]:
    """Return what shows warnings as lines; every fold of the data may bring the same one."""
    shown: set[str] = set()

    def show(message: Any, category: type[Warning], *_: Any) -> None:
        line = f"kernelweave: {category.__name__}: {' '.join(str(message).split())}"
        if line not in shown:
            shown.add(line)
            click.echo(line, err=True)

    return show


def with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that adds several options to a command, in their order."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


quiet = click.option("-q", "--quiet", is_flag=True, help=QUIET)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
one_class = click.option("--target", metavar="CLASS", help="Which class, where there are several.")
key_file = click.option(
    "--key-file",
    type=click.Path(),
    help="File with at least 16 secret bytes: the key of the model's signature.",
)
jobs = click.option("-j", "--jobs", type=int, default=None, help="Threads; -1 for all cores.")


def read_key(path: str | None) -> bytes | None:
    """Return the key in a file, or None if no file is given."""
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


def print_json(content: dict[str, Any]) -> None:
    """Write a result to standard output as JSON."""
    click.echo(json.dumps(content, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    """Return NumPy's numbers and arrays as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def text_output(path: str | None) -> Iterator[TextIO]:
    """Open what a command writes: standard output, or a file that is there whole or not at all."""
    if path is None or path == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    import gzip
    import io

    from ..model.files.atomic_write import whole_file

    with whole_file(path) as file:
        packed: Any = file
        if path.endswith(".gz"):  # without name and time: equal outputs have equal bytes
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
        text = io.TextIOWrapper(packed, encoding="utf-8", write_through=False)
        yield text
        text.flush()
        text.detach()
        if packed is not file:
            packed.close()


def class_of(model: Any, target: str | None) -> Any:
    """Return the class that is written like that; None where there is one decision function."""
    outputs = len(model.intercept_)
    if outputs == 1:
        return None
    written = {str(label): label for label in getattr(model, "classes_", range(outputs))}
    if target not in written:
        raise ValueError(f"--target: say which class, one of {', '.join(written)}")
    return written[target]

"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name, and the place of an older one, once complete.

    Until then it has a name of its own beside it, which no other process has. What was written is
    on the disk before the older file is gone, so that neither a crash nor a loss of power leaves
    half a file.
    """
    path = Path(path)
    partial = path.with_name(f"{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        # As `open` makes a file, but never one that is there already.
        with open(partial, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Write the new name to the disk; where directories cannot be synchronised there is no way."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

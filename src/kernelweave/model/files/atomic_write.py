"""Files that are there whole, or not at all."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO

STALE = 24 * 3600.0  # seconds after which nobody is still writing a part


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name, and the place of an older one, once complete.

    Until then it has a name of its own beside it, which no other process has. What was written is
    on the disk before the older file is gone, so that neither a crash nor a loss of power leaves
    half a file. What a process that was killed has left of its own is removed after a day. Links
    are followed, and what is no file, such as a device or a pipe, is written to when all is there.
    """
    check_writable(path)
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with open(path, "wb") as device, TemporaryFile() as file:
            yield file
            file.seek(0)
            copyfileobj(file, device)
        return
    _remove_stale(path)
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


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError, naming the path, where no file can be written: sooner than after the work."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", os.fspath(path))
    if place.exists() and not place.is_file():
        return  # a device or a pipe tells itself
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {place.parent}", os.fspath(path))
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"cannot write to {place.parent}", os.fspath(path))


def _remove_stale(path: Path) -> None:
    """Remove parts of a file that no process will complete."""
    pattern = f"{glob.escape(path.name[:100])}.{'[0-9a-f]' * 16}.part"
    for part in path.parent.glob(pattern):
        with suppress(OSError):  # another process may have been faster
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()


def _sync_directory(directory: Path) -> None:
    """Write the new name to the disk; where directories cannot be synchronised there is no way."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

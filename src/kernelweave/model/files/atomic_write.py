"""Atomic writes: a file has its old content or its complete new content, never a part."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO

STALE = 24 * 3600.0  # age in seconds at which a temporary file is considered abandoned


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file for writing that replaces `path` when the context ends.

    The temporary file ``NAME.<16 hex digits>.part`` is in the same directory. It is synchronised to
    the disk before it is renamed, so that neither a crash nor a loss of power leaves a part of a
    file. If the context raises, the temporary file is removed. Those that killed processes left are
    removed by the first write to the same name after a day. The new file has the permissions of the
    old one. Symbolic links are followed. Devices and pipes are written to when the context ends.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    binary file, open for reading and writing

    Raises
    ------
    OSError
        If the file cannot be written.
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
        # "x": never open an existing file.
        with open(partial, "x+b") as file:
            if path.exists():
                os.chmod(partial, stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if no file can be written to `path`, before any work is done."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", os.fspath(path))
    if place.exists() and not place.is_file():
        return  # opening a device or a pipe reports its own errors
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {place.parent}", os.fspath(path))
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"cannot write to {place.parent}", os.fspath(path))


def _remove_stale(path: Path) -> None:
    """Remove abandoned temporary files of a path."""
    pattern = f"{glob.escape(path.name[:100])}.{'[0-9a-f]' * 16}.part"
    for part in path.parent.glob(pattern):
        with suppress(OSError):  # another process may have removed it
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()


def _sync_directory(directory: Path) -> None:
    """Synchronise a directory, if the system can."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

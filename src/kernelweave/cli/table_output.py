"""Output tables: text separated by tabs, or Parquet, by the ending of the file name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from ..model.files.atomic_write import atomic_write
from .command import text_output

ENDINGS = ".tsv", ".txt", ".tsv.gz", ".txt.gz", ".parquet"
Columns = Mapping[str, Sequence[object] | np.ndarray]  # columns of equal length, by name


def check_ending(path: str | None, *others: str) -> None:
    """Raise ValueError if a file name ends neither as in `ENDINGS` nor as in `others`.

    Names without an ending, such as /dev/stdout, are accepted.
    """
    accepted = (*ENDINGS, *others)
    if path is None or not PurePath(path).suffix or path.lower().endswith(accepted):
        return
    raise ValueError(
        f"--out: {path} must end in one of {' '.join(accepted)}; columns of text are separated by "
        "tabs"
    )


@contextmanager
def table_output(path: str | None, comment: str) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes rows, passed as columns of equal length by name.

    `comment` is the first line of text files, and metadata of Parquet files. Nothing is written
    before the first rows, so that an error in the input is the only output.
    """
    if path is not None and path.lower().endswith(".parquet"):
        output = _parquet(path, comment)
    else:
        output = _text(path, comment)
    with output as write:
        yield write


@contextmanager
def _text(path: str | None, comment: str) -> Iterator[Callable[[Columns], None]]:
    with text_output(path) as file:
        begun = False

        def write(columns: Columns) -> None:
            nonlocal begun
            if not begun:
                file.write(f"# {comment}\n" + "\t".join(columns) + "\n")
                begun = True
            rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows)

        yield write


@contextmanager
def _parquet(path: str, comment: str) -> Iterator[Callable[[Columns], None]]:
    arrow, parquet = pyarrow()
    with atomic_write(path) as file:
        writer = None

        def write(columns: Columns) -> None:
            nonlocal writer
            table = arrow.table({name: np.asarray(column) for name, column in columns.items()})
            if writer is None:
                schema = table.schema.with_metadata({"kernelweave": comment})
                writer = parquet.ParquetWriter(file, schema)
            writer.write_table(table)

        yield write
        if writer is not None:
            writer.close()


def pyarrow() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'kernelweave[frames]'") from None
    return pyarrow, parquet

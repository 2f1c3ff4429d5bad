"""Input tables: text separated by commas or tabs, and Parquet; at once or in blocks of rows."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from ..sequences import Alphabet
from .table_output import pyarrow

Frame: TypeAlias = Any
"""A pandas DataFrame. pandas is an optional dependency, imported when a table is read."""

Series: TypeAlias = Any
"""A column of a pandas DataFrame."""

MOSTLY = 0.9  # fraction of numbers above which a column is numeric, or of letters for sequences
SHORTEST = 20  # median number of letters of a column of sequences


def read_frame(path: str | BinaryIO, separator: str | None) -> Frame:
    """Return a table from text with a separator, or from Parquet if `separator` is None."""
    if separator is None:
        arrow, _ = pyarrow()
        with open(str(path), "rb") as file, _parquet_errors(str(path), arrow):
            frame = pandas().read_parquet(file)
    else:
        with _text_errors(_name(path)):
            frame = pandas().read_csv(path, sep=separator, comment="#")
    if not len(frame):
        raise ValueError(f"{_name(path)}: contains no rows")
    if separator == "," and len(frame.columns) == 1 and any(c in frame.columns[0] for c in ";\t"):
        raise ValueError(
            f"{_name(path)}: has one column, {frame.columns[0]!r}; separate columns by commas, or "
            "by tabs in a file called .tsv"
        )
    _refuse_mixed(frame, _name(path))
    return frame


def text_blocks(source: str | BinaryIO, separator: str, rows: int) -> Iterator[Frame]:
    """Yield blocks of rows of a text table."""
    with _text_errors(_name(source)):
        yield from pandas().read_csv(source, sep=separator, comment="#", chunksize=rows)


def parquet_blocks(path: str, rows: int) -> Iterator[Frame]:
    """Yield blocks of rows of a Parquet file."""
    arrow, parquet = pyarrow()
    done = 0
    with open(path, "rb") as file, _parquet_errors(path, arrow):
        for batch in parquet.ParquetFile(file).iter_batches(rows):
            frame = batch.to_pandas()
            frame.index = range(done, done + len(frame))
            yield frame
            done += len(frame)


def sequence_columns(frame: Frame, alphabet: Alphabet) -> list[str]:
    """Return the names of columns with sequences: long strings of letters of the alphabet.

    A tenth of the letters may be others.
    """
    return [str(name) for name in frame.columns if _contains_sequences(frame[name], alphabet)]


def _contains_sequences(column: Series, alphabet: Alphabet) -> bool:
    if column.dtype.kind in "biufcmM" or column.isna().any():
        return False
    texts = column.iloc[:: max(1, len(column) // 1000)]
    if not all(isinstance(text, str) for text in texts) or not len(texts):
        return False
    joined = "".join(texts).encode("utf-8", "replace")
    known = sum(map(joined.translate(alphabet.codes).count, range(len(alphabet.letters))))
    return bool(np.median(texts.str.len()) >= SHORTEST and known >= MOSTLY * len(joined))


def _name(source: object) -> str:
    return source if isinstance(source, str) else "standard input"


@contextmanager
def _text_errors(name: str) -> Iterator[None]:
    """Convert errors of reading a text table into ValueError with the name of the file."""
    errors = pandas().errors
    try:
        yield
    except (errors.EmptyDataError, errors.ParserError) as error:
        raise ValueError(f"{name}: {error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: is no UTF-8 text ({error}); save it as UTF-8") from None
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name}: cannot be read as a table: {error}") from None


@contextmanager
def _parquet_errors(path: str, arrow: Any) -> Iterator[None]:
    try:
        yield
    except arrow.ArrowException as error:
        raise ValueError(f"{path}: cannot be read as Parquet: {error}") from None


def _refuse_mixed(frame: Frame, source: str) -> None:
    """Raise ValueError if at least 90 % of a column's known values, but not all, are numbers."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "biufcmM":
            continue
        given = column.notna().to_numpy()
        numbers = pandas().to_numeric(column, errors="coerce").notna().to_numpy()
        if MOSTLY * given.sum() <= numbers.sum() < given.sum():
            odd = np.flatnonzero(given & ~numbers)
            raise ValueError(
                f"{source}: column {str(name)!r} has numbers, but also {len(odd)} texts; the "
                f"first is {str(column.iloc[odd[0]])!r}, {odd[0] + 1} rows below the header. Leave "
                "missing values empty, or write NA"
            )


def pandas() -> Any:
    """Return the module pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("tables need pandas: pip install 'kernelweave[frames]'") from None
    return pandas

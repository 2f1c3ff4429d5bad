"""What commands read: tables, sequences, and regions of a genome, told apart by their names.

    tables      .csv .tsv .txt .parquet
    sequences   .fa .fasta .fna .fq .fastq
    regions     .bed, with --genome

Each may be packed (.gz, .bz2, .xz). "-" is standard input, which holds sequences if it starts with
">" or "@", and else a table with tabs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from ..genome import cut_out, read_bed
from ..genome.model_windows import on_sequences
from ..sequences import Sequences, read_blocks, read_sequences
from .tables import pandas, parquet_blocks, read_frame, text_blocks

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".tab": "\t"}
SEQUENCES = (".fa", ".fasta", ".fna", ".fq", ".fastq")
PACKED = (".gz", ".bz2", ".xz")
BLOCK = 50_000  # examples scored at a time


@dataclass(frozen=True, eq=False)
class Data:
    """Examples for a model.

    Attributes
    ----------
    X : frame or Sequences, n examples.
    names : n strings.
    y : targets, shape (n,), or None.
    groups : what must not be torn apart by cross-validation, shape (n,), or None.
    regions : whether they are regions of a genome.
    """

    X: Any
    names: Sequence[str]
    y: np.ndarray | None = None
    groups: np.ndarray | None = None
    regions: bool = False


def kind_of(path: str) -> str:
    """Return "table", "sequences" or "regions"."""
    suffix = _suffix(path)
    if suffix in SEPARATORS or suffix == ".parquet":
        return "table"
    if suffix in SEQUENCES:
        return "sequences"
    if suffix == ".bed":
        return "regions"
    known = [*SEPARATORS, ".parquet", *SEQUENCES, ".bed"]
    raise ValueError(f"{path}: cannot tell what it is; names end in one of {' '.join(known)}")


def _suffix(path: str) -> str:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in PACKED else name).suffix.lower()


def read_examples(path: str, *, genome: str | None = None, alphabet: Any = "dna") -> Data:
    """Read all examples of a file."""
    kind = kind_of(path)
    if kind == "table":
        return _rows(read_frame(path, SEPARATORS.get(_suffix(path))))
    if kind == "sequences":
        found = read_sequences(path, alphabet)
        return Data(found, list(found.names or []))
    if genome is None:
        raise ValueError(f"{path}: regions need --genome, a FASTA file")
    regions = read_bed(path)
    letters = cut_out(regions, read_sequences(genome, alphabet))
    return Data(letters, regions.names, groups=regions.chromosomes, regions=True)


def read_labelled(
    path: str,
    target: str | None,
    groups: str | None,
    *,
    columns: str | None = None,
    genome: str | None,
    alphabet: str,
) -> Data:
    """Read examples with the targets in one of their columns, or in a field of their headers."""
    data = read_examples(path, genome=genome, alphabet=alphabet)
    if isinstance(data.X, Sequences):
        if columns is not None:
            raise ValueError(f"--columns: {path} is no table")
        y = None if target is None else _from_headers(data.names, target, path)
        return replace(data, y=y, groups=_sequence_groups(data, groups, path))
    frame, y = data.X, None
    if target is not None:
        y, frame = _column(frame, target, "--target"), frame.drop(columns=target)
        if y.dtype.kind in "OUfT" and (missing := int(np.sum(y != y))):  # NaN differs from itself
            raise ValueError(f"--target {target}: {missing} values are missing")
    found = None
    if groups is not None:
        found, frame = _column(frame, groups, "--cv-groups"), frame.drop(columns=groups)
    if columns is not None:
        frame = _chosen(frame, columns)
    return replace(data, X=frame, y=y, groups=found)


def _chosen(frame: Any, columns: str) -> Any:
    names = [name.strip() for name in columns.split(",") if name.strip()]
    for name in names:
        _column(frame, name, "--columns")
    return frame[names]


def read_two_classes(
    positive: str, negative: str, groups: str | None, *, genome: str | None, alphabet: str
) -> Data:
    """Read the sequences or regions of two classes, +1 and -1."""
    parts = [read_examples(path, genome=genome, alphabet=alphabet) for path in (positive, negative)]
    for path, part in zip((positive, negative), parts, strict=True):
        if not isinstance(part.X, Sequences):
            raise ValueError(f"{path}: --positive and --negative take sequences or regions")
    found = [
        _sequence_groups(part, groups, part_path)
        for part, part_path in zip(parts, (positive, negative), strict=True)
    ]
    return Data(
        X=Sequences.concatenated([part.X for part in parts]),
        names=[name for part in parts for name in part.names],
        y=np.repeat([1, -1], [len(part.names) for part in parts]),
        groups=np.concatenate([one for one in found if one is not None]) if groups else None,
        regions=any(part.regions for part in parts),
    )


def read_in_blocks(
    path: str, *, genome: str | None = None, alphabet: Any = "dna"
) -> Iterator[Data]:
    """Read the examples of a file, or of standard input, some at a time."""
    if path == "-":
        yield from _standard_input(alphabet)
    elif kind_of(path) == "sequences":
        yield from _sequence_blocks(path, alphabet)
    elif _suffix(path) == ".parquet":
        yield from map(_rows, parquet_blocks(path, BLOCK))
    elif kind_of(path) == "table":
        yield from map(_rows, text_blocks(path, SEPARATORS[_suffix(path)], BLOCK))
    else:
        yield read_examples(path, genome=genome, alphabet=alphabet)


def _standard_input(alphabet: Any) -> Iterator[Data]:
    stream = BufferedReader(sys.stdin.buffer)  # type: ignore[type-var]
    if stream.peek(1)[:1] in (b">", b"@", b"\x1f"):
        return _sequence_blocks(stream, alphabet)
    return map(_rows, text_blocks(stream, "\t", BLOCK))


def _rows(frame: Any) -> Data:
    return Data(frame, [str(name) for name in frame.index])


def _sequence_blocks(source: Any, alphabet: Any) -> Iterator[Data]:
    for block in read_blocks(source, alphabet, records=BLOCK):
        yield Data(block, list(block.names or []))


def _column(frame: Any, name: str, option: str) -> np.ndarray:
    if name not in frame.columns:
        listed = ", ".join(map(str, frame.columns[:20]))
        raise ValueError(f"{option}: there is no column {name!r}; the columns are {listed}")
    return np.asarray(frame[name])


def _from_headers(names: Sequence[str], field: str, path: str) -> np.ndarray:
    """Return what headers say of a field, written ``field=value``."""
    pattern = re.compile(rf"(?:^|[\s;|,]){re.escape(field)}=([^\s;|,]+)")
    found = [match[1] if (match := pattern.search(name)) else None for name in names]
    if None in found:
        record = found.index(None)
        raise ValueError(f"{path}: record {record + 1} ('{names[record]}') has no field {field}=")
    values = np.array(found)
    try:
        return values.astype(float)
    except ValueError:
        return values


def _sequence_groups(data: Data, groups: str | None, path: str) -> np.ndarray | None:
    """Return the groups of sequences: the chromosomes of regions, or a field of the headers."""
    if groups is None:
        return None
    if data.groups is not None and groups in ("chrom", "chromosome"):
        return data.groups
    return _from_headers(data.names, groups, path)


def known_columns(model: Any, X: Any) -> Any:
    """Return the columns of X that the model was trained on: targets and the like may be there.

    Sequences are the only column of a model that was trained on one of sequences.

    Raises
    ------
    ValueError : where they are not there, or where the model is for other things than X.
    """
    names = getattr(model, "feature_names_in_", None)
    table = hasattr(X, "columns")
    if names is None:
        if table and on_sequences(model):
            raise ValueError("the model was trained on sequences, not on a table")
        return X
    if not table and len(names) == 1 and on_sequences(model):
        return pandas().DataFrame({names[0]: list(X)})
    if not table:
        listed = ", ".join(map(str, names[:20]))
        raise ValueError(f"the model was trained on a table with the columns {listed}")
    if missing := [name for name in names if name not in X.columns]:
        raise ValueError(f"the data lack columns of the training data: {', '.join(missing)}")
    return X[list(names)]

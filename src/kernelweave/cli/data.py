"""Input of commands: tables, sequences and regions of a genome, recognised by file name.

    tables      .csv .tsv .txt .parquet
    sequences   .fa .fasta .fna .fq .fastq
    regions     .bed .narrowPeak .broadPeak, with --genome

Each may be compressed (.gz, .bgz, .bz2, .xz). "-" is standard input, whose kind is read from its
first line: FASTA or FASTQ, BED, or else a table separated by tabs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..common.warnings import warn
from ..estimators.survival_targets import as_survival, survival_array
from ..genome import Regions, cut_out, read_bed, resize
from ..genome.model_windows import on_sequences
from ..genome.regions import HEADERS, chromosome_sizes, is_bed_line
from ..kernels.string.string_columns import Strings, Texts
from ..sequences import Alphabet, Sequences, read_blocks, read_sequences
from ..sequences.files import opened
from .command import STDIN
from .tables import Frame, pandas, parquet_blocks, read_frame, text_blocks

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".tab": "\t"}
SEQUENCES = (".fa", ".fasta", ".fna", ".fq", ".fastq")
REGIONS = (".bed", ".narrowpeak", ".broadpeak")
COMPRESSED = (".gz", ".bgz", ".bz2", ".xz")
BLOCK = 50_000  # examples read and scored at a time
MOST_LISTED = 10  # columns named in an error
WARN_UNKNOWN = 0.1  # fraction of letters outside the alphabet above which to warn,
REFUSE_UNKNOWN = 0.5  # and above which the input is taken for another kind of sequence
CHECKED_ROWS = 1000  # rows of a table whose letters are counted


@dataclass(frozen=True, eq=False)
class Data:
    """Examples for a model.

    Attributes
    ----------
    X : frame or Sequences
        n examples.
    names : sequence of n str
        Row labels of a table, FASTA headers, or names of regions.
    y : ndarray of shape (n,) or None
        Targets.
    groups : ndarray of shape (n,) or None
        Groups that cross-validation keeps together.
    regions : bool
        Whether the examples are regions of a genome.
    chromosomes : ndarray of shape (n,) or None
        Chromosome of each region.
    """

    X: Frame | Sequences
    names: Sequence[str]
    y: np.ndarray | None = None
    groups: np.ndarray | None = None
    regions: bool = False
    chromosomes: np.ndarray | None = None


@dataclass(frozen=True)
class Windows:
    """Options for cutting sequences out of regions: --genome, --around and --width.

    `background` marks the regions of --negative: without summits, windows lie around their centres.
    """

    genome: str | None = None
    around: str | None = None
    width: int | None = None
    background: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Windows:
        """Return the window options among all options of a command.

        Raises
        ------
        ValueError
            If --around is given without --width.
        """
        found = cls(options["genome"], options["around"], options["width"])
        if found.around is not None and found.width is None:
            raise ValueError("--around needs --width, the number of bases of each window")
        return found

    def cut(self, regions: Regions, alphabet: object) -> tuple[Regions, Sequences]:
        """Return the windows of regions and their sequences.

        Raises
        ------
        ValueError
            If --genome is missing, or the genome does not contain a region.
        """
        if self.genome is None:
            raise ValueError(f"{regions.source}: regions need --genome, a FASTA or 2bit file")
        genome = read_sequences(self.genome, alphabet)
        if self.width is not None:
            sizes = chromosome_sizes(genome)
            summits = not self.background or any(one.summit is not None for one in regions)
            around = self.around if summits else "centre"
            regions = resize(regions, around or "centre", self.width, sizes)
        return regions, cut_out(regions, genome)

    def refuse_for(self, source: str) -> None:
        """Raise ValueError if windows were requested and the examples are not regions."""
        if self.width is not None:
            raise ValueError(f"--width and --around are for regions (BED), which {source} is not")


def kind_of(path: str) -> str:
    """Return "table", "sequences" or "regions", from the name of a file.

    Raises
    ------
    ValueError
        If the name has none of the known endings.
    """
    suffix = _suffix(path)
    if suffix in SEPARATORS or suffix == ".parquet":
        return "table"
    if suffix in SEQUENCES:
        return "sequences"
    if suffix in REGIONS:
        return "regions"
    known = [*SEPARATORS, ".parquet", *SEQUENCES, *REGIONS]
    raise ValueError(
        f"{path}: the file name must end in one of {' '.join(known)} (also compressed: "
        f"{' '.join(COMPRESSED)})"
    )


def _suffix(path: str) -> str:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in COMPRESSED else name).suffix.lower()


def read_examples(path: str, windows: Windows, *, alphabet: object = "dna") -> Data:
    """Return all examples of a file, or of standard input ("-")."""
    with source_of(path) as source:
        if source.kind == "regions":
            return _regions(source, windows, alphabet)
        windows.refuse_for(source.name)
        if source.kind == "table":
            return _rows(read_frame(source.file, source.separator))
        (found,) = read_blocks(source.file, alphabet, records=None)
        check_letters(found, source.name)
        return Data(found, list(found.names or []))


def _regions(source: Source, windows: Windows, alphabet: object) -> Data:
    regions, sequences = windows.cut(read_bed(source.file), alphabet)
    check_letters(sequences, source.name)
    chromosomes = regions.chromosomes
    return Data(sequences, regions.names, regions=True, chromosomes=chromosomes)


def read_labelled(
    path: str,
    target: str | None,
    groups: str | None,
    windows: Windows,
    *,
    columns: str | None = None,
    times: tuple[str, str] | None = None,
    alphabet: str,
) -> Data:
    """Return the examples of a file with their targets and groups.

    Parameters
    ----------
    path : str
        A file, or "-" for standard input.
    target, groups : str or None
        Columns of a table, or fields of FASTA headers, with targets and groups.
    windows : Windows
    columns : str or None
        Columns of a table to keep, separated by commas; None for all others.
    times : (str, str) or None
        Columns with events and times, in place of `target`; see `_censored`.
    alphabet : str
        Name of the alphabet of sequences.
    """
    data = read_examples(path, windows, alphabet=alphabet)
    if isinstance(data.X, Sequences):
        if times is not None:
            raise ValueError(f"--time and --event are for tables, which {path} is not")
        if columns is not None:
            raise ValueError(f"--columns is for tables, which {path} is not")
        y = None if target is None else _from_headers(data.names, target, path)
        return replace(data, y=y, groups=_sequence_groups(data, groups, path))
    frame, y = data.X, None
    if times is not None:
        y, frame = _censored(frame, *times)
    elif target is not None:
        y, frame = _column(frame, target, "--target"), frame.drop(columns=target)
        if y.dtype.kind in "OUfT" and (missing := int(np.sum(y != y))):  # NaN differs from itself
            raise ValueError(f"--target {target}: {missing} values are missing; remove these rows")
    found = None
    if groups is not None:
        found, frame = _column(frame, groups, "--cv-groups"), frame.drop(columns=groups)
    if columns is not None:
        frame = _chosen(frame, columns)
    return replace(data, X=frame, y=y, groups=found)


def _censored(frame: Frame, event: str, time: str) -> tuple[np.ndarray, Frame]:
    """Return censored times, shape (n,), and the other columns of a table.

    `event` is the name of a column with booleans or 0 and 1, or "NAME=CODE": rows with this code
    are events.
    """
    column, code = event, None
    if event not in frame.columns and "=" in event:
        column, _, code = event.rpartition("=")
    happened = _column(frame, column, "--event")
    if code is not None:
        if missing := int(np.sum(pandas().isna(happened))):
            raise ValueError(f"--event {event}: {missing} values are missing; remove these rows")
        happened = np.array([str(one) == code for one in happened.tolist()])
        if not happened.any():
            raise ValueError(f"--event {event}: no row has the code {code!r} in column {column}")
    times = _column(frame, time, "--time")
    y = survival_array(*as_survival(pandas().DataFrame({column: happened, time: times})))
    return y, frame.drop(columns=[column, time])


def _chosen(frame: Frame, columns: str) -> Frame:
    names = [name.strip() for name in columns.split(",") if name.strip()]
    for name in names:
        _column(frame, name, "--columns")
    return frame[names]


def read_two_classes(
    positive: str, negative: str, groups: str | None, windows: Windows, *, alphabet: str
) -> Data:
    """Return the sequences or regions of two classes, labelled +1 and -1."""
    if positive == negative == STDIN:
        raise ValueError("only one of --positive and --negative can be standard input")
    paths = (positive, negative)
    some = replace(windows, around=None, width=None)  # no windows are cut out of FASTA
    each = (windows, replace(windows, background=True))
    parts = [
        read_examples(path, some if _is_fasta(path) else cut, alphabet=alphabet)
        for path, cut in zip(paths, each, strict=True)
    ]
    if windows.width is not None and not any(part.regions for part in parts):
        windows.refuse_for(positive)
    for path, part in zip(paths, parts, strict=True):
        if not isinstance(part.X, Sequences):
            raise ValueError(f"{path}: --positive and --negative take sequences or regions")
    found = [_sequence_groups(part, groups, path) for part, path in zip(parts, paths, strict=True)]
    chromosomes = [part.chromosomes for part in parts if part.chromosomes is not None]
    return Data(
        X=Sequences.concatenated([part.X for part in parts]),
        names=[name for part in parts for name in part.names],
        y=np.repeat([1, -1], [len(part.names) for part in parts]),
        groups=np.concatenate([one for one in found if one is not None]) if groups else None,
        regions=any(part.regions for part in parts),
        chromosomes=np.concatenate(chromosomes) if len(chromosomes) == len(parts) else None,
    )


def _is_fasta(path: str) -> bool:
    return path != STDIN and kind_of(path) == "sequences"


def read_in_blocks(path: str, windows: Windows, *, alphabet: object = "dna") -> Iterator[Data]:
    """Yield the examples of a file, or of standard input, in blocks; regions in a single one."""
    with source_of(path) as source:
        if source.kind == "regions":
            yield _regions(source, windows, alphabet)
            return
        windows.refuse_for(source.name)
        if source.kind == "sequences":
            for block in read_blocks(source.file, alphabet, records=BLOCK):
                check_letters(block, source.name)
                yield Data(block, list(block.names or []))
        elif source.separator is None:
            yield from map(_rows, parquet_blocks(path, BLOCK))
        else:
            yield from map(_rows, text_blocks(source.file, source.separator, BLOCK))


@dataclass(frozen=True)
class Source:
    """A file of examples.

    Attributes
    ----------
    file : str or binary stream
        Path of the file, or standard input.
    name : str
        Name of the file in messages.
    kind : {"table", "sequences", "regions"}
        What the file contains.
    separator : str or None
        Separator of the columns of a table; None for Parquet.
    """

    file: str | BinaryIO
    name: str
    kind: str
    separator: str | None


@contextmanager
def source_of(path: str) -> Iterator[Source]:
    """Yield the file at a path, with its kind and separator; "-" is standard input."""
    if path == STDIN:
        with standard_input() as (kind, stream):
            yield Source(stream, "standard input", kind, "\t")
    else:
        yield Source(path, path, kind_of(path), SEPARATORS.get(_suffix(path)))


@contextmanager
def standard_input() -> Iterator[tuple[str, BinaryIO]]:
    """Yield the kind of the examples on standard input (see `Source`), and the stream."""
    with opened(sys.stdin.buffer) as file:
        stream = BufferedReader(file)  # type: ignore[type-var]
        yield _kind_of_text(stream.peek(1)), stream


def _kind_of_text(start: bytes) -> str:
    """Return "sequences", "regions" or "table", from the first bytes of a stream."""
    if start[:1] in (b">", b"@"):
        return "sequences"
    skipped = tuple(word.encode() for word in HEADERS)
    lines = [line for line in start.splitlines() if line and not line.startswith(skipped)]
    return "regions" if lines and is_bed_line(lines[0]) else "table"


def check_letters(sequences: Sequences, source: str) -> None:
    """Warn if more than a tenth of the letters are outside the alphabet.

    Parameters
    ----------
    sequences : Sequences
        The letters that are counted.
    source : str
        Name of the file, for messages.

    Raises
    ------
    ValueError
        If more than half of the letters are outside the alphabet: protein read as DNA would get
        the same score for every sequence.
    """
    if sequences.alphabet.planes:
        mask = sequences.unknown
        unknown = 0 if mask is None else int(np.unpackbits(mask.view(np.uint8)).sum())
    else:
        unknown = int((sequences.data >= len(sequences.alphabet.letters)).sum())
    _check_fraction(unknown / max(1, int(sequences.lengths.sum())), sequences.alphabet, source)


def _check_fraction(fraction: float, alphabet: Alphabet, source: str) -> None:
    """Warn if the fraction of unknown letters exceeds a tenth; raise ValueError above a half."""
    if fraction <= WARN_UNKNOWN:
        return
    letters = alphabet.letters.decode("latin-1")
    found = f"{source}: {fraction:.0%} of the letters are not {alphabet.name} ({letters})"
    if fraction > REFUSE_UNKNOWN:
        raise ValueError(
            f"{found}; is this another kind of sequence? `fit --alphabet` sets dna, rna or protein"
        )
    warn(f"{found}; they match nothing")


def check_columns(model: FittedEstimator, X: Frame | Sequences, source: str) -> None:
    """Check letters as `check_letters`, in those columns of a table that string kernels read.

    The first `CHECKED_ROWS` rows are read.
    """
    if isinstance(X, Sequences):
        return
    for _, view in model._model.compiled.listing.layout.sources:
        if not isinstance(view, Texts | Strings) or not view.alphabet.symbols_only:
            continue
        column, alphabet = X.iloc[:CHECKED_ROWS, view.columns.indices[0]], view.alphabet
        text = "".join(str(one) for one in column.dropna()).encode("utf-8", "replace")
        known = sum(map(text.translate(alphabet.codes).count, range(len(alphabet.letters))))
        _check_fraction(1 - known / max(1, len(text)), alphabet, f"{source}, column {column.name}")


def _rows(frame: Frame) -> Data:
    return Data(frame, [str(name) for name in frame.index])


def _column(frame: Frame, name: str, option: str) -> np.ndarray:
    if name not in frame.columns:
        listed = ", ".join(map(str, frame.columns[:20]))
        raise ValueError(f"{option}: there is no column {name!r}; the columns are {listed}")
    return np.asarray(frame[name])


def _from_headers(names: Sequence[str], field: str, path: str) -> np.ndarray:
    """Return the values of a field of FASTA headers, written ``field=value``."""
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
    """Return the groups of sequences, shape (n,): chromosomes, or a field of FASTA headers.

    `groups` is the name of the field, or "chrom" for regions; None if there are no groups.
    """
    if groups is None:
        return None
    if data.chromosomes is not None and groups in ("chrom", "chromosome"):
        return data.chromosomes
    return _from_headers(data.names, groups, path)


def known_columns(model: FittedEstimator, X: Frame | Sequences) -> Frame | Sequences:
    """Return the columns of X that the model was trained on, in their order.

    Other columns, such as targets, are left out. For a model that was trained on a table with one
    column of sequences, sequences are accepted, too.

    Raises
    ------
    ValueError
        If columns are missing, or the model was trained on another kind of examples.
    """
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, Sequences):
        if names is None:
            return X
        if len(names) == 1 and on_sequences(model):
            return pandas().DataFrame({names[0]: list(X)})
        listed = ", ".join(map(str, names[:20]))
        raise ValueError(
            f"the model was trained on a table with the columns {listed}; pass such a table"
        )
    if names is None:
        if on_sequences(model):
            raise ValueError(
                "the model was trained on sequences, not on a table; pass a FASTA or FASTQ file"
            )
        return X
    if missing := [name for name in names if name not in X.columns]:
        listed = ", ".join(missing[:MOST_LISTED])
        more = f" and {len(missing) - MOST_LISTED} more" if len(missing) > MOST_LISTED else ""
        raise ValueError(
            f"the data lack columns that the model was trained on: {listed}{more}; "
            f"the data have {', '.join(map(str, X.columns[:MOST_LISTED]))}"
        )
    return X[list(names)]

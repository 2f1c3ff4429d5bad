"""BGZF output (blocked gzip, which tabix, pysam and genome browsers read) and tabix indexes."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from ..model.files.atomic_write import check_writable

LONGEST_TBI = 1 << 29  # largest length of a chromosome (bases) that a .tbi index supports


@contextmanager
def bgzf_output(path: str | os.PathLike[str], index: str | None = None) -> Iterator[TextIO]:
    """Open a BGZF file for writing text; the file appears under its name once it is complete.

    Parameters
    ----------
    path : str or path
        The file to write.
    index : {"bed", "vcf"} or None
        Format for a tabix index beside the file, ``path + ".tbi"``. None writes no index.

    Raises
    ------
    ImportError
        If pysam is not installed.
    ValueError
        If an index was requested and the records are not sorted by position.
    """
    pysam = _pysam()
    check_writable(path)
    folder, name = os.path.split(os.path.realpath(path))
    with TemporaryDirectory(dir=folder) as beside:
        partial = os.path.join(beside, name)
        packed = pysam.BGZFile(partial, "wb")
        try:
            text = io.TextIOWrapper(packed, encoding="utf-8")
            yield text
            text.flush()
            text.detach()
        finally:
            packed.close()
        if index is not None:
            _write_index(pysam, partial, index, path)
            os.replace(f"{partial}.tbi", os.path.join(folder, f"{name}.tbi"))
        os.replace(partial, os.path.join(folder, name))


def _write_index(pysam: Any, partial: str, index: str, path: str | os.PathLike[str]) -> None:
    verbosity = pysam.set_verbosity(0)  # htslib would print its own message
    try:
        pysam.tabix_index(partial, preset=index, force=True, keep_original=True)
    except OSError:
        raise ValueError(
            f"--index: the records of {os.fspath(path)} cannot be indexed; they must be sorted by "
            f"chromosome and position, and lie below position {LONGEST_TBI:,}. Sort the input "
            "(bcftools sort, bedtools sort), or leave out --index"
        ) from None
    finally:
        pysam.set_verbosity(verbosity)


def _pysam() -> Any:
    try:
        import pysam
    except ImportError:
        raise ImportError(
            ".bed.gz, .bedgraph.gz and .vcf.gz files are written as BGZF, which needs pysam: "
            "pip install 'kernelweave[genome]'; or write without .gz"
        ) from None
    return pysam

"""Files of genomics: BED, narrowPeak, VCF, 2bit, FASTA genomes and models of LS-GKM."""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kernelweave as kw
from kernelweave.genome import cut_out, read_bed, read_letters, read_vcf, variants, write_vcf
from kernelweave.kernels import Spectrum
from kernelweave.sequences import read_sequences

from .choices import Choices
from .damage import damaged
from .verdicts import Lie

GENOME = b">chr1\n" + b"ACGTTGCANN" * 8 + b"\n>chr2 x\n" + b"acgtGGCATC" * 5 + b"\n"
NAMES = ["chr1", "chr1", "chr2", "chr3", "", " ", "chr1 ", "chrUn_\xff"]
ALLELES = ["A", "C", "G", "T", "AC", "N", "<DEL>", "*", "", "A,C", "a", "A,<X>,T", "]chr1:3]A"]
LSGKM = """svm_type c_svc
kernel_type gkm_esttrunc
L 6
k 4
d 2
norc 0
nr_class 2
total_sv 3
rho 0.25
label 1 -1
nr_sv 2 1
SV
0.5 ACGTACGTAA
0.25 GGGTACGTAC
-0.75 TTTTACGTGG
"""
MEMORY_FACTOR = 8  # letters that a file may give for each of its bytes


@cache
def model() -> Any:
    """Return a model on sequences of seven letters."""
    return kw.MKLClassifier(Spectrum(2)).fit(
        ["GATTACA", "CCCGCCC", "GATTTCA", "CCCGCAC"], [1, -1] * 2
    )


def run(data: bytes) -> None:
    """Read a file of one of the formats, and use what was read."""
    c = Choices(data)
    target: Callable[[Choices, Path], None] = c.pick([bed, bed, vcf, vcf, two_bit, two_bit, lsgkm])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target(c, Path(folder))


def stored(c: Choices, path: Path, content: bytes) -> Path:
    """Write a file, perhaps damaged and perhaps compressed."""
    if c.chance(0.4):
        content = damaged(c, content)
    if c.chance(0.1):
        content = gzip.compress(content)
        content = damaged(c, content) if c.chance(0.3) else content
    path.write_bytes(content)
    return path


def number(c: Choices) -> str:
    """Return a position, mostly inside of the genome."""
    return c.usual(str(c.integer(0, 90)), ["-1", "1e3", "", "x", "9" * 25, "+5", " 7"], 0.05)


def bed(c: Choices, folder: Path) -> None:
    """Read BED or narrowPeak, and cut the regions out of a genome."""
    lines = []
    for _ in range(c.usual(c.integer(1, 5), [0, 200], 0.02)):
        start = c.integer(0, 60)
        columns = [c.pick(NAMES), str(start), str(start + c.integer(1, 20))]
        if c.chance(0.2):
            columns[c.integer(1, 2)] = number(c)
        more = [
            c.pick(["peak", ".", ""]),
            "100",
            c.pick(["+", "-", ".", "*"]),
            "5.1",
            "3",
            "-1",
            "7",
        ]
        columns += more[: c.integer(0, 7)]
        lines.append(c.pick(["\t", "\t", " "]).join(columns))
    text = c.pick(["", "track x\n", "#\n", "\r\n"]) + c.pick(["\n", "\r\n"]).join(lines)
    regions = read_bed(stored(c, folder / "r.bed", text.encode()))
    genome = read_sequences(stored(c, folder / "g.fa", GENOME) if c.chance(0.2) else plain(folder))
    found = cut_out(regions, genome)
    if found.lengths.tolist() != [region.stop - region.start for region in regions]:
        raise Lie("a region has another length than its letters")


def plain(folder: Path) -> Path:
    """Write the genome."""
    (folder / "plain.fa").write_bytes(GENOME)
    return folder / "plain.fa"


def vcf(c: Choices, folder: Path) -> None:
    """Read variants, score them, and write them again."""
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for _ in range(c.integer(1, 4)):
        columns = [c.pick(NAMES), number(c), "rs1", c.pick(ALLELES), c.pick(ALLELES), ".", ".", "."]
        lines.append("\t".join(columns[: c.usual(8, [3, 5, 7], 0.2)]))
    path = stored(c, folder / "v.vcf", "\n".join(lines).encode())
    read_vcf(path)
    found = variants(model(), path, plain(folder), length=7)
    write_vcf(io.StringIO(), path, found)


def two_bit(c: Choices, folder: Path) -> None:
    """Read a 2bit file with index entries and ranges of all kinds."""
    order = c.pick("<>")
    parts, names = [], [c.pick(["chr1", "a", "", "b"]) for _ in range(c.integer(0, 4))]
    at = 16 + sum(5 + len(name) for name in names)
    index = b""
    for name in names:
        size = c.usual(c.integer(0, 60), [2**31, 10**6], 0.05)
        ranges = [word for _ in range(2) for word in random_ranges(c, size)]
        numbers = np.array([size, *ranges, 0], f"{order}u4").tobytes()
        part = numbers + c.generator.bytes(min(size, 1000) // 4 + 1)
        place = c.usual(at, [0, 16, at - 4, at + 3, 2**32 - 1], 0.05)
        index += bytes([len(name)]) + name.encode() + np.array([place], f"{order}u4").tobytes()
        at += len(part)
        parts.append(part)
    header = [0x1A412743, c.usual(0, [1, 7], 0.05), c.usual(len(names), [0, 2**31], 0.03), 0]
    content = np.array(header, f"{order}u4").tobytes() + index + b"".join(parts)
    path = stored(c, folder / "g.2bit", content)
    found = read_sequences(path)
    read_letters(path)
    if found.lengths.sum() > MEMORY_FACTOR * path.stat().st_size + 1000:
        raise Lie(f"{path.stat().st_size} bytes gave {found.lengths.sum()} letters")


def random_ranges(c: Choices, size: int) -> list[int]:
    """Return the number, the starts and the sizes of ranges, mostly valid ones."""
    count = c.usual(c.integer(0, 2), [2**31], 0.01)
    edges = np.sort(c.generator.integers(0, min(size, 1000) + 1, 2 * min(count, 4)))
    starts, ends = edges[::2], edges[1::2]
    return [count, *starts.tolist(), *(ends - starts).tolist()]


def lsgkm(c: Choices, folder: Path) -> None:
    """Load a model of LS-GKM, and predict."""
    text = LSGKM
    for _ in range(c.integer(0, 2)):
        line = c.pick(LSGKM.splitlines())
        name, _, value = line.partition(" ")
        odd = [
            "0",
            "-1",
            "1",
            "12",
            "9" * 20,
            "nan",
            "1e308",
            "x",
            "",
            "2 2",
            "gkmrbf",
            "wgkm",
            value,
        ]
        text = text.replace(line, f"{name} {c.pick(odd)}")
    loaded = kw.load(stored(c, folder / "m", text.encode("latin-1")))
    values = loaded.decision_function(["ACGTACGTAC", "GGGTACGTAC"])
    loaded.save(folder / "m.kw")
    if not np.array_equal(kw.load(folder / "m.kw").decision_function(["ACGTACGTAC"]), values[:1]):
        raise Lie("a model that is saved predicts differently")

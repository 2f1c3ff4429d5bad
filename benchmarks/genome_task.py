"""Peaks on a generated genome, from regions to a report: five commands, each timed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from .report import Table
from .settings import Settings
from .timing import in_own_process

QUICK = False
COLUMNS = ("command", "wall s", "CPU s", "peak GB")
CHROMOSOMES, HELD_OUT = 10, "chr10"
MOTIF = "CCACCAGGGGGCGCTA"  # in four of five peaks, anywhere, each letter kept with chance 0.85
NOTE = (
    "A genome of 100,000,000 random letters (42 % GC, a third of it repeats) in 10 chromosomes; "
    "50,000 peaks of 200 letters, four of five with a noisy motif. The model is trained without "
    "chr10, which is scanned every 20 letters. 2 threads."
)


def run(settings: Settings) -> Table:
    """Generate the data, and run the commands one after the other."""
    letters, peaks = settings.size(100_000_000, 2_000_000), settings.size(50_000, 500)
    table = Table("From peaks to a report", COLUMNS, notes=[NOTE])
    with TemporaryDirectory() as folder:
        in_own_process(generate, Path(folder), letters, peaks)  # commands inherit our peak memory
        total = np.zeros(2)
        for name, call in COMMANDS.items():
            wall, cpu, peak = timed(call.split(), folder)
            table.add(name, wall, cpu, peak)
            total += wall, cpu
        table.add("all", *total, None)
    return table


DATA = "--positive train.bed --negative background.bed --genome genome.fa --cv-groups chrom --cv 3"
COMMANDS = {
    "negatives": "negatives train.bed --genome genome.fa -o background.bed -q",
    "fit with grouped folds": f"fit {DATA} -k gkm(10,6) -o peaks.kw -j 2 -q",
    "predict held-out peaks": "predict peaks.kw test.bed --genome genome.fa -o test.tsv -j 2",
    "scan the held-out chromosome": (
        f"scan peaks.kw genome.fa --chrom {HELD_OUT} --length 200 --step 20 --all -o chr10.bw "
        "-j 2 -q"
    ),
    "report": f"report peaks.kw {DATA} -o report.html -j 2",
}


def generate(folder: Path, letters: int, peaks: int) -> None:
    """Write genome.fa, train.bed and test.bed."""
    rng = np.random.default_rng(0)
    size, each = letters // CHROMOSOMES, peaks // CHROMOSOMES
    train, test = [], []
    with open(folder / "genome.fa", "wb") as file:
        for number in range(1, CHROMOSOMES + 1):
            name = f"chr{number}"
            codes = rng.choice(4, size, p=[0.29, 0.21, 0.21, 0.29]).astype(np.uint8)
            starts = rng.choice(size // 200 - 1, each, replace=False) * 200
            for start in starts[: each * 4 // 5]:
                kept = np.flatnonzero(rng.random(len(MOTIF)) < 0.85)
                at = start + rng.integers(0, 200 - len(MOTIF))
                codes[at + kept] = ["ACGT".index(MOTIF[i]) for i in kept]
            text = np.frombuffer(b"ACGT", dtype=np.uint8)[codes]
            small = np.repeat(rng.random(size // 1000 + 1) < 1 / 3, 1000)[:size]
            text[small] += 32
            file.write(f">{name}\n".encode() + text.tobytes() + b"\n")
            rows = [f"{name}\t{start}\t{start + 200}\n" for start in np.sort(starts)]
            (test if name == HELD_OUT else train).extend(rows)
    (folder / "train.bed").write_text("".join(train))
    (folder / "test.bed").write_text("".join(test))


def timed(arguments: list[str], folder: str) -> tuple[float, float, float]:
    """Run a command; return its seconds by the clock and of the processor, and its memory in GB."""
    call = [sys.executable, "-c", "from kernelweave.cli import main; main()", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(call, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {status}")
    process.returncode = 0
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20

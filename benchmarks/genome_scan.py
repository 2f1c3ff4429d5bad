"""Models slid over a generated genome by `kernelweave scan`, and what a human genome would take."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kernelweave import MKLClassifier
from kernelweave.datasets import make_splice
from kernelweave.kernels import GappedKmer, Kernel, WeightedDegree

from .genome_task import generate, timed
from .report import Table
from .settings import Settings
from .timing import in_own_process

QUICK = False
WINDOW = 141
HUMAN = 3.1e9  # letters
COLUMNS = (
    "model",
    "support",
    "wall s",
    "CPU s",
    "million windows per CPU s",
    "peak GB",
    "human genome, hours on 2 cores",
)
NOTE = (
    "Every window of 141 letters on both strands of a genome of 100,000,000 random letters in 10 "
    "chromosomes, the best 1,000 written as BED. The models are trained on 20,000 sequences of "
    "`make_splice`. 2 threads; the time includes the start of the program and the reading of files."
)


def models() -> dict[str, tuple[Kernel, str]]:
    """Return kernels and normalisations by name."""
    return {
        "WD, degree 20": (WeightedDegree(20), "variance"),
        "gapped k-mers, l = 11, variance": (GappedKmer(), "variance"),
        "gapped k-mers, l = 11, unit": (GappedKmer(), "unit"),
    }


def run(settings: Settings) -> Table:
    """Train the models, and scan the genome with each."""
    letters, size = settings.size(100_000_000, 1_000_000), settings.size(20_000, 500)
    table = Table("Scans of a genome", COLUMNS, notes=[NOTE])
    with TemporaryDirectory() as folder:
        in_own_process(_make, Path(folder), letters, size)  # commands inherit our peak memory
        for number, name in enumerate(models()):
            call = f"scan {number}.kw genome.fa --length {WINDOW} --top 1000 --strand both -j 2 "
            call += f"-o {number}.bed"
            wall, cpu, peak = timed([*call.split(), "-q"], folder)
            support = int(np.loadtxt(Path(folder) / f"{number}.txt"))
            hours = wall * HUMAN / letters / 3600
            table.add(name, support, wall, cpu, 2e-6 * letters / cpu, peak, hours)
    return table


def _make(folder: Path, letters: int, size: int) -> None:
    """Write genome.fa, and per model a file and the number of its support sequences."""
    generate(folder, letters, peaks=0)
    X, y = make_splice(size)
    for number, (kernel, normalize) in enumerate(models().values()):
        model = MKLClassifier(kernel, normalize=normalize, n_jobs=2).fit(X, y)
        model.save(folder / f"{number}.kw")
        np.savetxt(folder / f"{number}.txt", [len(model.support_)])

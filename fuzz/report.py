"""Report of a run: counts, and findings as files that can be run again."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from .verdicts import FINDINGS, Verdict

FOLDER = Path("fuzz", "findings")
SLOW = 5.0  # seconds of CPU time; longer runs are written down, too


class Report:
    """Counts the verdicts of one target, and writes inputs down that are findings or slow."""

    def __init__(self, target: str, folder: Path = FOLDER):
        self.target = target
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.slowest = 0.0

    def note(self, data: bytes, verdict: Verdict, seconds: float, source: str) -> None:
        """Count a verdict; findings and slow inputs are written down with their source."""
        self.counts[verdict.kind] += 1
        self.slowest = max(self.slowest, seconds)
        if not verdict.is_finding and seconds < SLOW:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        kind = verdict.kind if verdict.is_finding else "slow"
        name = f"{self.target}-{kind}-{hashlib.sha256(data).hexdigest()[:12]}"
        (self.folder / name).write_bytes(data)
        text = f"{source}, {seconds:.1f} s of CPU time\n{verdict.detail}"
        (self.folder / f"{name}.txt").write_text(text)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return sum(self.counts.values())

    @property
    def findings(self) -> int:
        """Number of inputs that are findings."""
        return sum(self.counts[kind] for kind in FINDINGS)

    def __str__(self) -> str:
        kinds = ", ".join(
            f"{kind} {self.counts[kind]}" for kind in ("done", "refused", "rounded", *FINDINGS)
        )
        return f"{self.target}: {self.inputs} inputs: {kinds}; slowest {self.slowest:.1f} s"

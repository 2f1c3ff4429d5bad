"""Inputs that atheris (libFuzzer for Python) finds by the lines of the library that they reach.

``python -m fuzz.guided TARGET [options of libFuzzer]``; `run` starts it as a process of its own,
since libFuzzer ends the process that it runs in.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

from .report import FOLDER

MEGABYTES = 4096
SECONDS = 60  # longer is a hang
UNITS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def run(target: str, seconds: float) -> str:
    """Let atheris look for findings of a target, and return a line that summarises the run."""
    if importlib.util.find_spec("atheris") is None:
        return "atheris is not installed"
    FOLDER.mkdir(parents=True, exist_ok=True)
    limits = (f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", "-max_len=256")
    where = f"-artifact_prefix={FOLDER}/{target}-guided-"
    how = (f"-max_total_time={max(1, round(seconds))}", "-print_final_stats=1", "-verbosity=0")
    command = [sys.executable, "-m", "fuzz.guided", target, *limits, where, *how]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    units = UNITS.search(ended.stderr)
    seen = f"atheris: {units.group(1) if units else 'unknown'} inputs, "
    return seen + ("no finding" if ended.returncode == 0 else f"FINDING\n{ended.stderr[-3000:]}")


def main() -> None:
    """Run libFuzzer on a target in this process."""
    import atheris

    with atheris.instrument_imports(include=["kernelweave"]):
        import kernelweave  # noqa: F401
    from .targets import TARGETS, warm_up
    from .verdicts import judged

    name = sys.argv.pop(1)
    warm_up([name])
    target = TARGETS[name]

    def one(data: bytes) -> None:
        verdict = judged(target, data)
        if verdict.is_finding:
            raise RuntimeError(f"{verdict.kind}: {verdict.detail}")

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""``python -m fuzz``: run targets for some seconds or inputs, and count the verdicts."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from . import guided
from .pool import Worker
from .report import Report
from .targets import TARGETS, warm_up
from .verdicts import judged

BYTES = 48  # of decisions in a random input
BATCH = 50  # inputs that a worker is given at once


def main() -> int:
    """Run what the command line says; the exit status is 1 if there are findings."""
    options = parsed()
    if options.replay:
        return replay(options.replay)
    chosen = options.target or sorted(TARGETS)
    warm_up(chosen)
    share = options.seconds / len(chosen)
    reports = []
    for target in chosen:
        report = Report(target)
        worker = Worker(TARGETS[target])
        if options.inputs:
            by_numbers(worker, report, options.seed, options.first, options.inputs, np.inf)
        else:
            by_numbers(worker, report, options.seed, options.first, sys.maxsize, share / 3)
            by_hypothesis(worker, report, options.seed, share / 3)
        worker.close()
        print(report, flush=True)
        reports.append(report)
        if not options.inputs:
            print(f"{target}: {guided.run(target, share / 3)}", flush=True)
    return int(any(report.findings for report in reports))


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--inputs", type=int, help="random inputs for each target, not seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first random input")
    parser.add_argument("--replay", type=Path, nargs="+", help="findings to run in this process")
    return parser.parse_args()


def random_input(seed: int, number: int) -> bytes:
    """Return the input of a seed and a number."""
    return np.random.default_rng([seed, number]).bytes(BYTES)


def by_numbers(
    worker: Worker, report: Report, seed: int, first: int, count: int, seconds: float
) -> None:
    """Run random inputs until their number or the time limit is reached."""
    started = time.monotonic()
    last = first + count
    for begin in range(first, last, BATCH):
        if time.monotonic() - started > seconds:
            return
        numbers = range(begin, min(begin + BATCH, last))
        inputs = [random_input(seed, number) for number in numbers]
        for number, data, answer in zip(numbers, inputs, worker.judge(inputs), strict=True):
            report.note(data, *answer, f"seed {seed}, number {number}")
        if (numbers[-1] + 1) % 1000 == 0:
            print(f"{report} after {time.monotonic() - started:.0f} s", flush=True)


def by_hypothesis(worker: Worker, report: Report, number: int, seconds: float) -> None:
    """Run inputs of Hypothesis, which shrinks a finding to fewer and smaller decisions."""
    end = time.monotonic() + seconds

    @seed(number)
    @settings(
        max_examples=10**9,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(st.binary(max_size=BYTES))
    def holds(data: bytes) -> None:
        if time.monotonic() > end:
            raise KeyboardInterrupt
        [(verdict, used)] = worker.judge([data])
        report.note(data, verdict, used, "Hypothesis")
        assert not verdict.is_finding

    try:
        holds()
    except (KeyboardInterrupt, AssertionError):
        return


def replay(files: list[Path]) -> int:
    """Run findings again in this process, where a debugger can see them."""
    found = 0
    for file in files:
        target = file.name.split("-")[0]
        verdict = judged(TARGETS[target], file.read_bytes())
        print(f"{file.name}: {verdict.kind}\n{verdict.detail}")
        found += verdict.is_finding
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())

"""scikit-learn's own tests of its support vector machines, run on our estimators.

`svm_adapter` stands in for SVC, SVR and OneClassSVM while scikit-learn's test_svm.py and
test_sparse.py run. Tests that never fit one of the three (of LinearSVC, NuSVC and so on) do not
count. Those that ask for what we do not offer are listed in EXCEPTIONS with the reason.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .report import Table
from .settings import Settings
from .svm_adapter import SVC, SVR, FitsSeen, OneClassSVM

QUICK = False
EXCEPTIONS: dict[str, str] = {}


class Recorder:
    """A plugin of pytest that notes how each test went, and whether it fitted one of ours."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.before: dict[str, int] = {}
        self.messages: dict[str, str] = {}

    def pytest_runtest_setup(self, item: Any) -> None:
        """Remember how many fits there were."""
        self.before[item.nodeid] = FitsSeen.count

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the outcome of a test that has fitted one of ours."""
        if report.when == "call" and FitsSeen.count > self.before[report.nodeid]:
            name = report.nodeid.split("::", 1)[1]
            self.outcomes[f"{Path(report.fspath).name}::{name}"] = report.outcome
            if report.failed:
                lines = str(report.longrepr).splitlines()
                shown = [line for line in lines if line.startswith("E  ")]
                self.messages[f"{Path(report.fspath).name}::{name}"] = (shown or lines)[0][:120]


def reason(test: str) -> str | None:
    """Return why a test is an exception, if it is one."""
    name = test.split("::")[1].partition("[")[0]
    return EXCEPTIONS.get(test, EXCEPTIONS.get(name))


def run(settings: Settings) -> Table:
    """Run the tests and count."""
    import pytest
    import sklearn.svm
    from sklearn.svm import tests

    recorder = Recorder()
    kept = sklearn.svm.SVC, sklearn.svm.SVR, sklearn.svm.OneClassSVM
    sklearn.svm.SVC, sklearn.svm.SVR, sklearn.svm.OneClassSVM = SVC, SVR, OneClassSVM
    folder = Path(tests.__file__).parent
    options = ["-q", "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--noconftest", "-c", "/dev/null", "-W", "ignore", "--show-capture=no", "-r", "N"]
    try:
        pytest.main([*options, str(folder / "test_svm.py"), str(folder / "test_sparse.py")],
                    plugins=[recorder])  # fmt: skip
    finally:
        sklearn.svm.SVC, sklearn.svm.SVR, sklearn.svm.OneClassSVM = kept
    return summary(recorder)


def summary(recorder: Recorder) -> Table:
    """Return how many tests passed, failed for a known reason, and failed."""
    table = Table("scikit-learn's tests on our estimators", ("outcome", "tests"))
    passed = [test for test, outcome in recorder.outcomes.items() if outcome == "passed"]
    failed = [test for test, outcome in recorder.outcomes.items() if outcome == "failed"]
    known = Counter(found for test in failed if (found := reason(test)))
    table.add("passed", len(passed))
    for why, count in known.most_common():
        table.add(f"not ours: {why}", count)
    wrong = [test for test in failed if not reason(test)]
    table.add("failed", len(wrong))
    table.notes += [f"* {test}: {recorder.messages[test]}" for test in wrong]
    return table

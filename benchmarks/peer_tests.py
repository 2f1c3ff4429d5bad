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
PRIVATE = "private attributes of LIBSVM's wrapper"
PLATT = "probability=True, Platt's scaling inside SVC, which scikit-learn is removing too"
WORDS = "the error for weights that leave less than two classes has other words"
PAIRS = "one class against another: ours is one against the rest"
FEW_TURNS = "one of our turns solves a problem this small, so that max_iter=1 suffices"
EXCEPTIONS = {
    "test_tweak_params": PRIVATE,
    "test_immutable_coef_property": PRIVATE,
    "test_n_iter_libsvm": "iterations of LIBSVM for each pair of classes",
    "test_decision_function_shape": PAIRS,
    "test_precomputed": PAIRS,
    "test_svc_invalid_break_ties_param": "break_ties",
    "test_svc_ovr_tie_breaking": "break_ties",
    "test_svc_nonfinite_params": "the error for a C beyond all numbers has other words",
    "test_libsvm_convergence_warnings": FEW_TURNS,
    "test_probability": PLATT,
    "test_gamma_scale": PRIVATE,
    "test_svc_raises_error_internal_representation": PRIVATE,
    "test_probability_raises_futurewarning": PLATT,
    "test_svc_nusvc_probA_probB_deprecated": PLATT,
    "test_unsorted_indices": PLATT,
    "test_sparse_svc_clone_with_callable_kernel": PLATT,
    "test_negative_sample_weights_mask_all_samples": WORDS,
    "test_negative_weights_svc_leave_just_one_label": WORDS,
    "test_bad_input": "sparse examples are predicted where dense ones were learned from",
    "test_svm_with_infinite_C": "a regression without errors is refused: no gap certifies it",
    "test_svr_errors": "a function that gives a matrix of the wrong shape is refused by fit",
    "test_sparse_precomputed": "sparse matrices of similarities are accepted",
    "test_timeout": FEW_TURNS,
}


class Recorder:
    """A pytest plugin that records the outcome of each test, and whether it fitted one of ours."""

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
    """Return the reason why a test may fail, if there is one."""
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
    options += ["--noconftest", "-p", "sklearn.conftest", "-c", "/dev/null", "-W", "ignore"]
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

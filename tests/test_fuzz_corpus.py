"""Every finding of the past, run again under limits: none may crash, hang, or raise what is raw.

Each case is either done or refused by a documented error (`fuzz.verdicts`). A worker process takes
the blow of a case that gets worse again.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
pytest.importorskip("pandas")
from fuzz import pool  # noqa: E402
from fuzz.__main__ import random_input  # noqa: E402
from fuzz.fits import check_fitted  # noqa: E402
from fuzz.targets import TARGETS, warm_up  # noqa: E402

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, kernels, norms  # noqa: E402
from kernelweave.alphabets import DNA  # noqa: E402
from kernelweave.sequences import Sequences, as_sequences  # noqa: E402

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 3)), np.arange(30) % 2
LONG = ["".join(rng.choice(list("ACGT"), 4097)) for _ in range(6)]
SIX = [0, 1] * 3


def classify(kernel, data=X, y=Y, weights=None, **how):
    """Fit a classifier quietly; what it has learned must be finite."""
    model = MKLClassifier(kernel, **how).fit(data, y, weights)
    check_fitted(model, [ConvergenceWarning()])
    return model.predict(data)


def one_class_at_the_origin(nu):
    MKLOneClass([kernels.RBF(53.6), kernels.Laplacian([0.03, 14.7])], norm=1.1, nu=nu,
                normalize="center", tol=5e-5).fit(X)  # fmt: skip


def weights_of(value):
    return np.where(np.arange(30) == 3, value, 1.0)


# Those with an error to be raised, then those that must work.
REFUSED = {
    "products that overflow": lambda: classify(kernels.Linear(), 1e155 * X),
    "powers that overflow": lambda: classify(kernels.Polynomial(2), 1e200 * X),
    "degrees that overflow": lambda: classify(kernels.Polynomial(1000), 9 * X, normalize=None),
    "degree of a billion": lambda: classify(kernels.Polynomial(10**9), 9 * X),
    "degree of 2**31": lambda: kernels.Polynomial(2**31)(9 * X, X) and None,
    "weights that overflow": lambda: classify(kernels.RBF(1.0), weights=np.full(30, 1e308)),
    "gamma no float holds": lambda: kernels.RBF(10**400),
    "C no float holds": lambda: classify(kernels.RBF(1.0), C=10**400),
    "tol no float holds": lambda: classify(kernels.RBF(1.0), tol=-(10**400)),
    "threads without end": lambda: classify(kernels.RBF(1.0), n_jobs=2**40),
    "words of numbers": lambda: classify(kernels.BagOfWords(), sp.csr_array(X)),
    "half a character": lambda: as_sequences(["AC\ud800"]),
    "sequences that are not there": lambda: Sequences(
        DNA, n=1000, length=10, data=np.zeros(2, np.uint64)
    )[999],
    "class weights of no kind": lambda: classify(kernels.RBF(1.0), class_weight=3),
    "one example with a weight": lambda: MKLRegressor(kernels.RBF(1.0)).fit(
        X, X[:, 0], (np.arange(30) == 3).astype(float)
    ),
}
DONE = {
    "long sequences": lambda: classify(kernels.WeightedDegree(20), LONG, SIX),
    "long sequences, split": lambda: classify(
        kernels.WeightedDegree(20, split="degree"), LONG, SIX
    ),
    "long sequences, shifted": lambda: classify(kernels.WeightedDegreeShift(5, 3), LONG, SIX),
    "repeats": lambda: kernels.Spectrum(8)(["A" * 100_000, "ACGT" * 5, "A" * 50_000]),
    "degree beyond the length": lambda: kernels.WeightedDegree(10**6)(["ACGT", "ACGA"]),
    "integers of NumPy": lambda: (
        kernels.WeightedDegree(np.int64(3)),
        kernels.Spectrum(np.int64(3)),
    ),
    "an objective of 0": lambda: one_class_at_the_origin(0.08),
    "an objective of 0, half outside": lambda: one_class_at_the_origin(0.5),
    "a weight of next to nothing": lambda: classify(
        kernels.RBF(1.0), loss="logistic", weights=weights_of(1e-300), norm=1.1
    ),
    "no region at all": lambda: MKLOneClass(
        kernels.Laplacian(0.3), norm=1, normalize=None, nu=1e-300, solver="qcqp"
    ).fit(X),
    "a tube wider than the targets": lambda: MKLRegressor(
        kernels.Polynomial(1), epsilon=10.0, solver="qcqp", norm=4 / 3
    ).fit(X, X[:, 0]),
    "interior points at their end": lambda: MKLRegressor(
        [kernels.Polynomial(1), kernels.RBF([0.1, 0.2])], epsilon=0, solver="newton"
    ).fit(X, 4e7 + 1e-7 * X[:, 0]),
    "widths far below the data": lambda: classify(kernels.RBF(1e300)),
    "costs for each kernel of a sum": lambda: classify(
        kernels.RBF([0.1, 1.0]), norm=norms.Lp(np.inf, [1.0, 2.0])
    ),
    "widths far above the data": lambda: classify(
        kernels.RBF(1e-9), rng.normal(size=(150, 4)), np.arange(150) % 2, C=1e8
    ),
}
CASES = REFUSED | DONE


def run_case(data):
    CASES[data.decode()]()


@pytest.fixture(scope="module")
def worker():
    worker = pool.Worker(run_case)
    yield worker
    worker.close()


@pytest.mark.parametrize("name", CASES)
def test_past_findings(name, worker):
    verdict = worker.judge(name.encode())
    assert (verdict.kind, verdict.detail) == (
        "refused" if name in REFUSED else "done",
        verdict.detail,
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_little_of_every_target(target):
    """The first inputs of a seed that no table of docs/guarantees.md has."""
    warm_up()
    worker = pool.Worker(TARGETS[target])
    try:
        verdicts = [worker.judge(random_input(1000, number)) for number in range(60)]
    finally:
        worker.close()
    assert [verdict.detail for verdict in verdicts if verdict.is_finding] == []

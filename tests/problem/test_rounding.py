"""If kernels have large rounding errors, fits end with a message that names the kernels."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, Views
from kernelweave.common.core import _core
from kernelweave.estimators.convergence import convergence_message
from kernelweave.kernels import RBF, Laplacian, Linear, Polynomial
from kernelweave.kernels.compile.normalize import prepare
from kernelweave.optimization import solve
from kernelweave.optimization.confirm import confirmed
from kernelweave.problem.rounding import UNIT, RoundingBounds

WIDE = np.longdouble


@pytest.fixture
def data():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)


def exact_gap(model, X, y):
    """Return the gap of an SVM with one RBF kernel, in extended precision."""
    squares = ((X[:, None].astype(WIDE) - X[None]) ** 2).sum(axis=2)
    kernel = model._model.compiled.kernels[0]
    K = WIDE(kernel.factors[0]) * np.exp(-WIDE(kernel.kernel.gamma) * squares)
    alpha = np.zeros(len(y), WIDE)
    alpha[model.support_] = model.dual_coef_[0]
    F = model.weights_[0] * (K @ alpha)
    energy = 0.5 * (alpha @ F)
    loss = np.maximum(0, 1 - y * (F + WIDE(model.intercept_[0]))).sum()
    primal, dual = model.C * loss + energy, (y * alpha).sum() - energy
    constant = 2 * model.C * min(np.count_nonzero(y > 0), np.count_nonzero(y < 0))
    return float((primal - dual) / min(primal, constant - dual))


@pytest.fixture
def results(monkeypatch):
    """Confirmed results, with the rounding bounds of their gaps."""
    seen = []

    def noted(*arguments):
        seen.append(confirmed(*arguments))
        return seen[-1]

    monkeypatch.setattr(solve, "confirmed", noted)
    return seen


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("gamma", [1e-14, 1e-12, 1e-10, 1e-8, 1e-3])
def test_rounding_bound_covers_the_error_of_the_gap(gamma, C, data, results):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = MKLClassifier(RBF(gamma), C=C, norm=np.inf).fit(*data)
    exact = exact_gap(model, *data)
    assert abs(exact - model.duality_gap_) <= results[0].rounding_bound
    assert caught or exact <= model.tol


def test_inaccurate_kernels_are_named(data):
    """The reported gap is noise: it depends on the order of sums, and so on the SIMD level."""
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"the values of 'RBF gamma=1e-10' have too little"):
        MKLClassifier([RBF(1e-10)], C=1e4, norm=np.inf).fit(X, y)


def test_rounding_of_a_learned_model_is_reported_beside_that_of_constant_ones(data, results):
    """The learned model was left out if the bounds of constant models were larger."""
    X, y = data
    with pytest.warns(ConvergenceWarning):
        model = MKLClassifier(RBF(1e-10), C=1e4, norm=np.inf).fit(X, y)
    compiled, examples = prepare(RBF(1e-10), "variance", X)
    rounding = RoundingBounds(compiled.listing, examples)
    learned = replace(
        results[-1], alpha=np.ones(len(X)), gap=1.1e-3, rounding_bound=1.05e-3, converged=False
    )
    constant = replace(learned, gap=1.0, rounding_bound=2.0, weights=np.zeros(1))
    other = replace(constant, gap=0.0)
    message = convergence_message(model, [constant, other, learned], ["RBF"], rounding)
    assert "rounding hides whether some model costs less" in message
    assert "The gap of another output is 1.10e-03, but rounding alone" in message


def test_accurate_kernels_are_not_named(data):
    with pytest.warns(ConvergenceWarning, match="have too little numerical precision") as caught:
        MKLClassifier([RBF(0.5), RBF(1e-13)], C=100.0, norm=np.inf, max_time=10.0).fit(*data)
    assert "RBF gamma=1e-13" in str(caught[0].message)
    assert "RBF(gamma=0.5)" not in str(caught[0].message)


@pytest.mark.parametrize("kernel", [RBF(1e-3), RBF([0.1, 1.0]), Linear()])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_ordinary_kernels_converge_without_warning(kernel, C, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(kernel, C=C).fit(*data)


def test_fit_stops_soon_if_rounding_keeps_the_gap_open():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning, match=r"'RBF gamma=1e-09' have too little numerical precision"
    ):
        model = MKLClassifier(RBF(1e-9), C=1e8, multi_class="ovr").fit(X, y)
    assert model.n_iter_ <= 100  # hundreds more brought nothing


def test_an_outlier_does_not_make_other_kernels_inaccurate(data):
    """With norms of 1e9 distances are inaccurate, but there the kernel is 0."""
    X, y = data
    X[0] *= 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(RBF(1.0)).fit(X, y)


def wide(kernel, X):
    """A kernel matrix in extended precision."""
    X = X.astype(WIDE)
    if isinstance(kernel, Linear):
        return X @ X.T
    if isinstance(kernel, Polynomial):
        return (WIDE(kernel.gamma) * (X @ X.T) + WIDE(kernel.coef0)) ** kernel.degree
    power = 2 if isinstance(kernel, RBF) else 1
    return np.exp(-WIDE(kernel.gamma) * (np.abs(X[:, None] - X) ** power).sum(axis=2))


KERNELS = [Linear(), Polynomial(4, 0.1, 2.0), RBF(1e-9), RBF(0.3), RBF(50.0), Laplacian(0.5)]


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("how", [None, "unit", "center"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(("shift", "stretch"), [(0.0, 1.0), (50.0, 1.0), (0.0, 1e3)])
def test_bounds_exceed_the_errors_of_kernel_values(kernel, how, shift, stretch, neighbours, data):
    X = data[0][:60] + shift
    X[0] *= stretch
    (compiled, examples), K = prepare(kernel, how, X), wide(kernel, X)
    if how == "unit":
        K = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    if how == "center":
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    errors = np.abs(compiled.kernels[0](X) - K)
    rounding = RoundingBounds(compiled.listing, examples, UNIT, neighbours)
    bound = np.broadcast_to(rounding.bounds(np.array([0]))[1], (1, 60))[0]
    assert np.all(errors <= (bound[:, None] + bound) / 2)


@pytest.mark.parametrize("kernel", KERNELS[1:], ids=repr)  # linear ones are other vectors
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_bounds_exceed_the_errors_of_extrapolated_kernels(kernel, shift, data):
    """Where the other view is absent values are four times as large, and so are their errors."""
    X = data[0][:60] + shift
    absent, other = np.arange(60) % 5 == 0, np.arange(60) % 5 == 1
    views = Views({"a": np.where(absent[:, None], np.nan, X), "b": X[:, :1].copy()})
    views["b"][other] = np.nan
    compiled, examples = prepare({"a": kernel, "b": Linear()}, None, views)
    K = wide(kernel, X)
    rows = K[:, ~absent].mean(axis=1)
    factors = np.where(absent, 0.0, np.where(other, 2.0, 1.0)).astype(WIDE)
    K = np.outer(factors, factors) * (K - rows - rows[:, None] + rows[~absent].mean())
    found = _core.evaluate(compiled.program, examples.side, examples.side, 1)[0]
    bound = np.broadcast_to(
        RoundingBounds(compiled.listing, examples).bounds(np.array([0]))[1], (1, 60)
    )[0]
    assert np.all(np.abs(found - K) <= (bound[:, None] + bound) / 2)


@pytest.mark.parametrize("how", [None, "unit", "center", "variance"])
def test_bounds_of_a_group_are_those_of_each_kernel(how, data):
    several = [RBF([0.1, 1.0, 20.0]), Polynomial([2, 3], 0.1, [0.0, 2.0]), Linear(columns=[0, 1])]
    compiled, examples = prepare(several, how, data[0])
    rounding, every = RoundingBounds(compiled.listing, examples), np.arange(compiled.n_kernels)
    groups = list(compiled.listing.alike(every, most=2))
    assert sorted(map(len, groups)) == [1, 1, 2, 2]
    assert sorted(np.concatenate(groups)) == list(every)
    for alike in groups:
        shape = len(alike), len(data[0])
        together = [np.broadcast_to(part, shape) for part in rounding.bounds(alike)]
        for position, m in enumerate(alike):
            alone = rounding.bounds(np.array([m]))
            for part, one in zip(together, alone, strict=True):
                expected = np.broadcast_to(one, (1, shape[1]))[0]
                np.testing.assert_allclose(part[position], expected, rtol=1e-12)

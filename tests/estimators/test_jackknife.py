"""Jackknife+ intervals: leave-one-out models against models fitted again, coverage, files."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kernelweave import MKLRegressor, MKLRegressorCV, load, losses, norms
from kernelweave.estimators.conformal import threshold
from kernelweave.estimators.jackknife import jackknife_interval, leave_one_out
from kernelweave.kernels import RBF
from kernelweave.problem.problem import Problem

N = 60
GAMMAS = (0.1, 1.0)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(N, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=N) + 50.0


def fitted_again(K, k_new, y, C):
    """Return the prediction of kernel ridge regression with an intercept, by its linear system."""
    n = len(y)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K + np.diag(1 / (2 * C))
    system[n, n] = 0.0
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return k_new @ solution[:n] + solution[n]


@pytest.mark.parametrize("weighed", [False, True])
def test_models_and_residuals_are_those_of_fits_without_each_example(weighed, data, rng):
    X, y = data
    weights = rng.uniform(0.5, 2.0, size=N) if weighed else np.ones(N)
    weights[5] = 0.0 if weighed else 1.0
    model = MKLRegressor(
        [RBF(gamma) for gamma in GAMMAS],
        C=2.0,
        loss="squared",
        normalize=None,
        calibrate="jackknife+",
        tol=1e-9,
    ).fit(X, y, weights)
    new = rng.normal(size=(7, 3))
    K, k_new = (
        sum(w * rbf_kernel(rows, X, gamma) for w, gamma in zip(model.weights_, GAMMAS, strict=True))
        for rows in (X, new)
    )
    counted = np.flatnonzero(weights)
    predictions, residuals = [], []
    for i in counted:
        rest = counted[counted != i]
        inside = K[np.ix_(rest, rest)]
        both = np.vstack([k_new, K[i : i + 1]])[:, rest]
        *found, own = fitted_again(inside, both, y[rest], 2.0 * weights[rest])
        predictions.append(found)
        residuals.append(abs(y[i] - own))
    # Fits may reorder examples.
    np.testing.assert_allclose(np.sort(model.conformity_[0]), np.sort(residuals), atol=1e-8)
    for alpha in (0.05, 0.2):
        expected = jackknife_interval(np.transpose(predictions), np.array(residuals), alpha)
        found = model.predict_interval(new, alpha)
        np.testing.assert_allclose(found, np.transpose(expected), atol=1e-7)


@pytest.mark.parametrize("left", [[], [3], [0, 7, 20]])
def test_models_use_support_vectors_only(left, data):
    X, y = data
    K, C = rbf_kernel(X, X, 0.5), np.full(N, 2.0)
    C[5] = 0.0
    problem = Problem.of(losses.Squared(), norms.Lp(2.0), y, C)
    support = C > 0
    support[left] = False
    engine = SimpleNamespace(n=N, block=lambda idx, weights: K[np.ix_(idx, idx)])
    models, residuals = leave_one_out(problem, engine, np.ones(1), support)
    counted = np.flatnonzero(C)
    assert not models[:-1][~support].any()
    np.testing.assert_allclose(models[:-1].sum(axis=0), 0.0, atol=1e-9)
    for at, i in enumerate(counted):
        rest = np.setdiff1d(np.flatnonzero(support), i)
        wanted = fitted_again(K[np.ix_(rest, rest)], K[:, rest], y[rest], C[rest])
        np.testing.assert_allclose(K @ models[:-1, at] + models[-1, at], wanted, atol=1e-8)
        assert residuals[at] == pytest.approx(y[i] - wanted[i], abs=1e-8)


def test_ends_are_conformal_ranks_of_single_intervals(rng):
    predictions, residuals = rng.normal(size=(4, 19)), rng.random(19)
    low, high = jackknife_interval(predictions, residuals, 0.1)
    np.testing.assert_array_equal(high, np.sort(predictions + residuals)[:, 17])  # 18 of 20
    np.testing.assert_array_equal(low, np.sort(predictions - residuals)[:, 1])
    assert np.isinf(jackknife_interval(predictions, residuals, 0.01)[1]).all()
    equal = np.zeros((1, 19))  # models that agree: residuals alone
    assert jackknife_interval(equal, residuals, 0.1)[1] == threshold(residuals, 0.1)


def test_intervals_contain_the_target_at_the_given_rate():
    """Within three deviations of the law of exchangeable scores, as in `test_calibration`."""
    n, m, seeds, alpha, rates = 500, 3000, range(5), 0.1, []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + m, 2))
        y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n + m)
        model = MKLRegressor(RBF([0.2, 1.0]), loss="squared", calibrate="jackknife+")
        low, high = model.fit(X[:n], y[:n]).predict_interval(X[n:], alpha).T
        rates.append(((low <= y[n:]) & (y[n:] <= high)).mean())
    variance = alpha * (1 - alpha) * (1 / (n + 2) + 1 / m)
    assert np.mean(rates) == pytest.approx(1 - alpha, abs=3 * np.sqrt(variance / len(seeds)))


def test_intervals_are_wider_far_from_the_data(data):
    X, y = data
    model = MKLRegressor(RBF(0.3), loss="squared", C=100.0, calibrate="jackknife+").fit(X, y)
    inside, outside = model.predict_interval([[0.0] * 3, [1.8] * 3], 0.1)
    assert np.ptp(outside) > np.ptp(inside)


def test_equal_examples_are_left_out_together(data):
    X, y = data
    once = MKLRegressor(RBF(0.3), loss="squared", C=2.0, calibrate="jackknife+", tol=1e-8)
    twice = MKLRegressor(RBF(0.3), loss="squared", C=1.0, calibrate="jackknife+", tol=1e-8)
    once.fit(X, y)
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_allclose(
        once.predict_interval(X[:5], 0.1), twice.predict_interval(X[:5], 0.1), atol=1e-6
    )


def test_files_keep_the_models(data, tmp_path):
    X, y = data
    model = MKLRegressor(RBF(0.3), loss="squared", calibrate="jackknife+").fit(X, y)
    model.save(tmp_path / "model.kw")
    again = load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.predict_interval(X, 0.1), model.predict_interval(X, 0.1))


def test_searches_keep_the_models_of_the_chosen_one(data):
    X, y = data
    search = MKLRegressorCV(
        RBF(0.3), loss="squared", norms=[2], Cs=[1.0, 10.0], cv=3, calibrate="jackknife+"
    ).fit(X, y)
    assert search.predict_interval(X, 0.1).shape == (N, 2)


@pytest.mark.parametrize(
    ("loss", "several", "message"),
    [
        ("epsilon_insensitive", False, "requires one target and loss='squared', got 1 targets"),
        ("squared", True, "requires one target and loss='squared', got 2 targets"),
    ],
)
def test_other_losses_and_several_targets_are_refused(loss, several, message, data):
    X, y = data
    y = np.column_stack([y, -y]) if several else y
    with pytest.raises(ValueError, match=message):
        MKLRegressor(RBF(0.3), loss=loss, calibrate="jackknife+").fit(X, y)


def test_many_examples_are_refused(data, monkeypatch):
    monkeypatch.setattr("kernelweave.estimators.jackknife.MOST_EXAMPLES", 50)
    with pytest.raises(ValueError, match="accepts 50 at most, got 60; use calibrate='residuals'"):
        MKLRegressor(RBF(0.3), loss="squared", calibrate="jackknife+").fit(*data)

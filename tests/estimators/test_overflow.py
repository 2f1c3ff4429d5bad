"""Overflow is an error that names the quantity that is too large, without warnings."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, norms
from kernelweave.common.roots import root
from kernelweave.estimators.selection import MKLClassifierCV
from kernelweave.kernels import (
    RBF,
    ChiSquared,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    per_feature,
)

NORMALISATIONS = "variance", "unit", "trace", "center", None


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    X[30:40] = X[20:30]
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    y[30:40] = 1 - y[20:30]  # no machine separates the classes
    return X, y


@pytest.mark.parametrize("normalize", NORMALISATIONS)
@pytest.mark.parametrize(
    ("kernel", "scale", "name"),
    [
        (Linear(), 1e155, "Linear"),
        (Polynomial(2), 1e200, "Polynomial"),
        (Polynomial(1000), 10.0, "Polynomial"),
        (RBF(1.0), 1e200, "RBF"),
        (Linear() + RBF(1.0), 1e155, "Linear"),
        (per_feature(Linear()), 1e155, "Linear"),
        (Linear() * Polynomial(2), 1e60, "Polynomial"),
    ],
)
def test_kernels_without_finite_values_are_named(kernel, scale, name, normalize, data):
    X, y = data
    kernels = [RBF(1e-300), kernel] if scale < 1e100 and normalize is None else kernel
    with pytest.raises(ValueError, match=rf"kernel '.*{name}.*overflows.*scale X down"):
        MKLClassifier(kernels, normalize=normalize).fit(scale * X, y)


@pytest.mark.parametrize("kernel", [Laplacian(1.0), ChiSquared(1.0)])
def test_overflowing_distances_give_certified_models(kernel, data):
    X, y = data
    model = MKLClassifier(kernel).fit(1e300 * np.abs(X), y)
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("how", ["variance", "trace"])
def test_kernels_too_small_to_be_normalised_are_named(how, data):
    X, y = data
    with pytest.raises(ValueError, match=r"kernel 'Linear' has values of about .* scale X up"):
        MKLClassifier(Linear(), normalize=how).fit(1e-160 * X, y)


@pytest.mark.parametrize(
    "solver", ["hessian", "cutting-plane", "level", "gradient", "skm", "mwu", "qcqp", "alignment"]
)
def test_all_solvers_of_p_1_end(solver, data):
    X, y = data
    kernels = [RBF(1.0), Linear()]
    model = MKLClassifier(
        kernels, norm=1.0, C=1e10, loss="squared_hinge", solver=solver, normalize=None
    )
    with pytest.raises(
        (ValueError, ConvergenceWarning),
        match=r"kernel 'Linear|no further progress|numerical precision",
    ):
        model.fit(1e152 * X, y)


@pytest.mark.parametrize("norm", [norms.Lp(2), norms.Elliptic(np.eye(2)), norms.Block(4)])
def test_values_whose_sums_overflow_are_named(norm, data):
    X, y = data
    kernels = [RBF(1.0), Linear()]
    with pytest.raises(ValueError, match=r"objective is not finite: kernel 'Linear' has value"):
        MKLClassifier(kernels, norm=norm, normalize=None, C=1e10).fit(1e152 * X, y)


def test_targets_that_overflow_are_named(data):
    X = data[0]
    with pytest.raises(ValueError, match=r"objective is not finite: the targets y reach"):
        MKLRegressor(RBF(1.0), loss="squared").fit(X, 1e200 * X[:, 0])


@pytest.mark.parametrize("size", [1e308, 1e300, 1e-310])
def test_costs_beyond_numbers_are_refused(size, data):
    X, y = data
    for model in (MKLClassifier(C=10.0), MKLRegressor(C=10.0), MKLOneClass()):
        with pytest.raises(ValueError, match="times sample_weight and class_weight, which"):
            model.fit(X, y, sample_weight=np.full(len(y), size))
    with pytest.raises(ValueError, match="times sample_weight and class_weight, which"):
        MKLClassifier(class_weight={0: 1e200, 1: 1.0}).fit(X, y, np.full(len(y), 1e200))


def test_searches_name_costs_that_overflow(data):
    X, y = data
    search = MKLClassifierCV(RBF(1.0), norms=[2.0], Cs=[1.0, 1e300], cv=2)
    with pytest.raises(ValueError, match=r"C=1e\+300 times sample_weight and class_weight"):
        search.fit(X, y)


@pytest.mark.parametrize(("kernel", "scale"), [(Linear(), 1e308), (Polynomial(3), 1e160)])
def test_decision_values_that_are_not_finite_are_an_error(kernel, scale, data):
    X, y = data
    model = MKLClassifier([kernel, RBF(0.5)]).fit(X, y)
    new = X.copy()
    new[7] *= scale / np.abs(new[7]).max()
    for method in (model.predict, model.decision_function, model.contributions):
        with pytest.raises(ValueError, match=r"X: the .* of example 7 are not finite"):
            method(new)


def test_an_example_infinitely_far_away_is_similar_to_nothing(data):
    X, y = data
    model = MKLClassifier(RBF(1.0)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(1e200 * X), model.intercept_[0])


def test_a_root_of_no_numbers_ends():
    def slope(b):
        return np.nan, np.nan

    assert np.isnan(root(slope, np.nan, 1.0))
    assert -1.0 <= root(slope, -1.0, 1.0) <= 1.0


@pytest.mark.parametrize("kernel", [Intersection(), Linear()])
def test_large_values_that_are_numbers_are_served(kernel, data):
    X, y = data
    model = MKLClassifier(kernel, tol=1e-4).fit(1e100 * np.abs(X), y)
    same = MKLClassifier(kernel, tol=1e-4).fit(np.abs(X), y)
    assert model.duality_gap_ <= 1e-4
    np.testing.assert_allclose(model.primal_objective_, same.primal_objective_, rtol=2e-4)

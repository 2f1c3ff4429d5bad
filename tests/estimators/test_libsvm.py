"""The same optimum as LIBSVM, in scikit-learn's SVC, SVR and OneClassSVM, at tight tolerance."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor
from kernelweave.kernels import RBF, Linear, Polynomial

TIGHT = 1e-8
SAME = 1e-6  # relative difference of the objectives


@pytest.fixture
def standardised(load_real):
    """Return a function from the name of a data set to X with unit variances, and y."""

    def load(name, n=None):
        table = load_real(name)
        X = table["X"][:n].astype(float)
        return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12), table["y"][:n].astype(float)

    return load


def settings(**parameters):
    return {"normalize": None, "tol": TIGHT, **parameters}


def dual_value(K, machine, linear):
    """The dual objective of an SVM of scikit-learn; its linear part is given per support vector."""
    coef = machine.dual_coef_[0]
    support = K[np.ix_(machine.support_, machine.support_)]
    return float(linear(coef, machine.support_) - 0.5 * coef @ support @ coef)


@pytest.mark.parametrize("name", ["ionosphere", "sonar", "pima", "wdbc"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_svc(name, C, standardised):
    X, y = standardised(name)
    gamma = 1 / X.shape[1]
    machine = SVC(C=C, gamma=gamma, tol=TIGHT).fit(X, y)
    model = MKLClassifier(RBF(gamma), C=C, **settings()).fit(X, y)
    expected = dual_value(rbf_kernel(X, gamma=gamma), machine, lambda coef, _: np.abs(coef).sum())
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)
    assert model.primal_objective_ == pytest.approx(expected, rel=SAME)
    np.testing.assert_allclose(
        model.decision_function(X), machine.decision_function(X), rtol=0, atol=1e-3
    )


@pytest.mark.parametrize(
    ("kernel", "machine"),
    [
        (Linear(), SVC(kernel="linear")),
        (Polynomial(degree=3, gamma=0.1, coef0=1.0), SVC(kernel="poly", gamma=0.1, coef0=1.0)),
    ],
    ids=["linear", "polynomial"],
)
def test_other_kernels(kernel, machine, standardised):
    X, y = standardised("wdbc")
    machine.set_params(C=0.5, tol=TIGHT).fit(X, y)
    model = MKLClassifier(kernel, C=0.5, **settings()).fit(X, y)
    expected = dual_value(kernel(X), machine, lambda coef, _: np.abs(coef).sum())
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_svr(epsilon, standardised):
    X, y = standardised("cpusmall", 1500)
    y = (y - y.mean()) / y.std()
    machine = SVR(C=2.0, gamma=0.1, epsilon=epsilon, tol=TIGHT).fit(X, y)
    model = MKLRegressor(RBF(0.1), C=2.0, epsilon=epsilon, **settings()).fit(X, y)
    expected = dual_value(
        rbf_kernel(X, gamma=0.1),
        machine,
        lambda coef, support: y[support] @ coef - epsilon * np.abs(coef).sum(),
    )
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)
    np.testing.assert_allclose(model.predict(X), machine.predict(X), rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", ["pima", "cpusmall"])
@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_one_class_svm(name, nu, standardised):
    X, _ = standardised(name, 1500)
    machine = OneClassSVM(nu=nu, gamma=0.1, tol=1e-10).fit(X)
    model = MKLOneClass(RBF(0.1), nu=nu, **settings()).fit(X)
    K = rbf_kernel(X, gamma=0.1)
    assert model.dual_coef_.sum() == pytest.approx(machine.dual_coef_.sum())
    expected = dual_value(K, machine, lambda coef, _: 0.0)
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)
    np.testing.assert_allclose(
        model.decision_function(X), machine.decision_function(X), rtol=0, atol=1e-3 * nu * len(X)
    )
    clear = np.abs(machine.decision_function(X)) > 1e-3 * nu * len(X)
    np.testing.assert_array_equal(model.predict(X)[clear], machine.predict(X)[clear])


@pytest.mark.parametrize("weights", ["balanced", {-1: 0.2, 1: 3.0}])
def test_class_weights(weights, standardised):
    X, y = standardised("ionosphere")
    machine = SVC(C=2.0, gamma=0.05, class_weight=weights, tol=TIGHT).fit(X, y)
    model = MKLClassifier(RBF(0.05), C=2.0, class_weight=weights, **settings()).fit(X, y)
    expected = dual_value(rbf_kernel(X, gamma=0.05), machine, lambda coef, _: np.abs(coef).sum())
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)


def test_sample_weights(standardised, rng):
    X, y = standardised("sonar")
    weights = rng.exponential(size=len(y)) * rng.choice([0.0, 1.0], p=[0.2, 0.8], size=len(y))
    model = MKLClassifier(RBF(0.02), C=2.0, **settings()).fit(X, y, weights)
    used = weights > 0  # SVC would count its support among these only
    machine = SVC(C=2.0, gamma=0.02, tol=TIGHT).fit(X[used], y[used], weights[used])
    K = rbf_kernel(X[used], gamma=0.02)
    expected = dual_value(K, machine, lambda coef, _: np.abs(coef).sum())
    assert model.dual_objective_ == pytest.approx(expected, rel=SAME)
    assert np.all(used[model.support_])

    y = X[:, 0] + 0.1 * rng.normal(size=len(y))
    machine = SVR(C=2.0, gamma=0.02, tol=TIGHT).fit(X, y, weights)
    model = MKLRegressor(RBF(0.02), C=2.0, epsilon=0.1, **settings()).fit(X, y, weights)
    np.testing.assert_allclose(model.predict(X), machine.predict(X), rtol=0, atol=1e-3)


def one_against_rest(X, y, machine):
    return np.column_stack([machine.fit(X, y == c).decision_function(X) for c in np.unique(y)])


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(RBF(0.3), C=2.0, multi_class="ovr", **settings()).fit(X, y)
    expected = one_against_rest(X, y, SVC(C=2.0, gamma=0.3, tol=TIGHT))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert model.weights_.shape == (3, 1)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.duality_gap_.shape == model.primal_objective_.shape == (3,)
    assert max(model.duality_gap_) <= TIGHT


def test_many_classes_on_real_data(load_real):
    table = load_real("mfeat")
    index = np.arange(0, 2000, 5)
    X, y = table["X_kar"][index].astype(float), table["y"][index]
    model = MKLClassifier(RBF(1e-3), C=10.0, normalize=None).fit(X, y)
    expected = one_against_rest(X, y, SVC(C=10.0, gamma=1e-3))
    assert model.decision_function(X).shape == (400, 10)
    assert np.mean(model.predict(X) == expected.argmax(axis=1)) > 0.99


def test_labels_may_be_texts():
    X, codes = make_classification(100, 6, random_state=0)
    y = np.array(["no", "yes"])[codes]
    machine = SVC(gamma=0.2).fit(X, y)
    model = MKLClassifier(RBF(0.2), **settings()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), machine.predict(X))
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])

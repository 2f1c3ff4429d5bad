"""Models with at most k kernels, against all choices of kernels."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLClassifierCV, MKLRegressor, few_kernels, norms, verify
from kernelweave.kernels import RBF, Linear, per_feature


def data(seed, n=60, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 0] + 0.5 * rng.normal(size=n)  # correlated: the largest weights may mislead
    return X, X[:, 0] + X[:, 2] - 0.8 * X[:, 3] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("norm", [1, 2, norms.Lp(1, weights=(1.0, 2.0, 1.0, 0.5, 1.0, 1.0))])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_bounds_hold_among_all_choices(norm, k, seed):
    X, y = data(seed)
    settings = {"loss": "squared", "C": 0.1, "tol": 1e-6}
    each = MKLRegressor(per_feature(Linear()), norm=norm, **settings)
    found = few_kernels(each, X, y, max_kernels=k)
    values = []
    for chosen in combinations(range(6), k):
        some = [Linear(columns=[m]) for m in chosen]
        small = norms.as_norm(norm).among(np.array(chosen))
        values.append(MKLRegressor(some, norm=small, **settings).fit(X, y).primal_objective_)
    assert len(found.kernels) == len(found.model.weights_) == k
    assert found.objective >= min(values) * (1 - 1e-6)
    assert found.lower_bound <= min(values)
    scale = min(found.objective, found.model.constant_objective_ - found.lower_bound)
    assert found.gap == pytest.approx((found.objective - found.lower_bound) / scale)
    assert found.objective == pytest.approx(min(values), rel=1e-5)  # it finds the best one here
    assert verify(found.model, X, y).agree


def test_a_limit_that_does_not_bind_costs_nothing():
    X, y = data(0)
    each = MKLClassifier(per_feature(Linear()), norm=1, tol=1e-5)
    full = MKLClassifier(per_feature(Linear()), norm=1, tol=1e-5).fit(X, y > 0)
    found = few_kernels(each, X, y > 0, max_kernels=np.count_nonzero(full.weights_))
    assert found.gap <= 3e-5
    assert found.n_fits == 1
    assert few_kernels(each, X, y > 0, max_kernels=100).gap <= 3e-5


def test_exchanges_never_increase_the_objective():
    X, y = data(3)
    each = MKLRegressor(per_feature(RBF([0.1, 1.0])), norm=1, C=1.0, loss="squared")
    first = few_kernels(each, X, y, max_kernels=2, swaps=0)
    later = few_kernels(each, X, y, max_kernels=2, swaps=12)
    assert later.objective <= first.objective
    assert later.n_fits <= 13
    assert later.lower_bound == first.lower_bound


def test_only_warnings_of_the_returned_model_are_issued(recwarn):
    X = np.random.default_rng(1).normal(size=(200, 10))
    each = MKLClassifier(per_feature(Linear()), norm=1, C=1.0)  # single columns may be useless
    few_kernels(each, X, X[:, 0] + X[:, 3] - X[:, 7] > 0, max_kernels=1)
    assert not recwarn
    each.set_params(max_iter=1, solver="simplemkl", tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        few_kernels(each, X, X[:, 0] + X[:, 3] - X[:, 7] > 0, max_kernels=3, swaps=0)


def test_several_outputs_need_shared_weights():
    X, y = data(0)
    codes = np.digitize(y, [-1, 1])
    each = MKLClassifier(per_feature(Linear()), norm=1)
    with pytest.raises(ValueError, match="one row of weights, got 3; pass share_weights=True"):
        few_kernels(each, X, codes, max_kernels=2)
    shared = MKLClassifier(per_feature(Linear()), norm=1, share_weights=True)
    found = few_kernels(shared, X, codes, max_kernels=2)
    assert found.model.weights_.shape == (2,)
    assert found.gap > 0


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "two"])
def test_invalid_max_kernels_is_refused(k):
    X, y = data(0)
    with pytest.raises(ValueError, match="max_kernels must be an integer of at least 1"):
        few_kernels(MKLRegressor(Linear()), X, y, max_kernels=k)


def test_searches_are_refused():
    X, y = data(0)
    with pytest.raises(TypeError, match="got MKLClassifierCV"):
        few_kernels(MKLClassifierCV(Linear()), X, y > 0, max_kernels=1)

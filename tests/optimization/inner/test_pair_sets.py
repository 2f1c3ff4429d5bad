"""Pairs of classes that SMO does not solve within its number of working sets."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier
from kernelweave.engines import ClassPairsEngine
from kernelweave.kernels import RBF, Polynomial


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_ill_conditioned_pairs_are_given_to_other_working_sets(norm, monkeypatch):
    calls, solve = [], ClassPairsEngine.solve

    def noted(self, term, constants, gap, theta):
        found = solve(self, term, constants, gap, theta)
        calls.append((theta, found.max() > gap))
        return found

    monkeypatch.setattr(ClassPairsEngine, "solve", noted)
    X = np.random.default_rng(0).normal(scale=100, size=(18, 2))
    kernels = [Polynomial(degree=3, coef0=0.1), RBF()]
    model = MKLClassifier(kernels, multi_class="ovo", normalize="center", norm=norm)
    with pytest.warns(ConvergenceWarning, match="rounding alone"):
        model.fit(X, np.arange(18) % 4)
    assert any(unsolved for _, unsolved in calls)
    assert model.duality_gap_ <= model.tol
    for (theta, unsolved), (following, _) in pairwise(calls):
        assert not (unsolved and np.array_equal(theta, following))

"""Kernels that are constant on the training data get weight 0 and one warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    load,
    norms,
    verify,
)
from kernelweave.kernels import RBF, Linear, Polynomial, WeightedDegree, per_feature, prepare
from kernelweave.sequences import read_sequences

HOWS = ["variance", "unit", "trace", "center"]
N = 40


@pytest.fixture
def X(rng):
    """Three columns, the second of which is always 1."""
    X = rng.normal(size=(N, 3))
    X[:, 1] = 1.0
    return X


@pytest.fixture
def y(X):
    return np.where(X[:, 0] + X[:, 2] ** 2 > 0.5, 1, -1)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("norm", [1, 2, np.inf, norms.Lp(2, weights=(1, 2, 3, 4, 5, 6))])
def test_weights_are_those_of_the_other_kernels(how, norm, X, y):
    family = per_feature(RBF([0.5, 2.0]))
    with pytest.warns(UserWarning, match=r"^2 of 6 kernels get weight 0") as caught:
        model = MKLClassifier(family, norm=norm, normalize=how, tol=1e-6).fit(X, y)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "'RBF gamma=0.5 on column 1', 'RBF gamma=2 on column 1'" in message
    kept = np.array([0, 1, 4, 5])
    assert np.all(model.weights_[[2, 3]] == 0)
    others = per_feature(RBF([0.5, 2.0], columns=[0, 2]))
    among = norms.as_norm(norm).among(kept)
    same = MKLClassifier(others, norm=among, normalize=how, tol=1e-6).fit(X, y)
    assert np.allclose(model.weights_[kept], same.weights_, rtol=1e-9, atol=1e-12)
    assert np.allclose(model.decision_function(X), same.decision_function(X), atol=1e-9)
    assert model.history_[-1]["weights"].shape == (6,)
    assert verify(model, X, y).agree


def test_elliptic_norm_drops_constant_kernels(X, y):
    E = np.diag([1.0, 2.0, 3.0]) + 0.2
    with pytest.warns(UserWarning, match="1 of 3 kernels get weight 0"):
        model = MKLClassifier(per_feature(RBF(1.0)), norm=norms.Elliptic(E)).fit(X, y)
    assert model.weights_[1] == 0
    assert verify(model, X, y).agree


@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLRegressor, MKLOneClass])
def test_every_estimator_and_saved_models(Estimator, X, y, tmp_path):
    with pytest.warns(UserWarning, match=r"1 of 3 kernels .* 'Linear on column 1'"):
        model = Estimator([RBF(1.0), Linear(columns=1), RBF(0.1)]).fit(X, y)
    assert model.weights_[1] == 0
    model.save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.all(model.contributions(X)[:, 1] == 0)


@pytest.mark.parametrize("solver", ["analytic", "alignment", "centered-alignment", "qcqp"])
def test_every_kind_of_solver(solver, X, y):
    with pytest.warns(UserWarning, match="1 of 3 kernels get weight 0"):
        model = MKLClassifier(per_feature(RBF(1.0)), solver=solver).fit(X, y)
    assert model.weights_[1] == 0
    assert np.count_nonzero(model.weights_) == 2


def test_some_members_of_a_family(X, y):
    X[:, 1] = np.where(y > 0, 1.0, -1.0)  # x . y is 1 or -1, so that even powers are constant
    with pytest.warns(UserWarning, match=r"1 of 3 .*degree=2"):
        model = MKLClassifier(Polynomial([1, 2, 3], coef0=0, columns=1)).fit(X, y)
    assert model.weights_[1] == 0
    assert np.all(model.weights_[[0, 2]] > 0)


def test_many_are_counted_and_some_are_named(rng):
    X = np.ones((20, 30))
    X[:, 4] = rng.normal(size=20)
    with pytest.warns(UserWarning, match=r"29 of 30 kernels .*column 8' and 21 more"):
        compiled, _ = prepare(per_feature(RBF(1.0)), "variance", X)
    assert compiled.varying.tolist() == [4]


def test_a_rare_flag_in_cross_validation(rng):
    X = np.column_stack([rng.normal(size=(60, 2)), np.arange(60) == 7])
    y = np.where(X[:, 0] > 0, 1, -1)
    model = MKLClassifier([RBF(1.0), per_feature(Linear())])
    with pytest.warns(UserWarning, match=r"1 of 4 kernels .*'Linear on column 2'"):
        scores = cross_val_score(model, X, y, cv=5)
    assert np.all(scores > 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        search = MKLClassifierCV([RBF(1.0), per_feature(Linear())], Cs=[1.0], cv=3).fit(X, y)
    assert np.isfinite(search.scores_).all()


def test_a_search_warns_once(X, y):
    with pytest.warns(UserWarning, match="1 of 3 kernels get weight 0") as caught:
        model = MKLClassifierCV(per_feature(RBF(1.0)), Cs=[0.1, 1.0], norms=[1, 2], cv=3).fit(X, y)
    assert len(caught) == 1
    assert model.weights_[1] == 0


@pytest.mark.parametrize("how", HOWS)
def test_only_constant_kernels_are_an_error(how, y):
    X = np.ones((N, 2))
    with pytest.raises(ValueError, match=r"'RBF gamma=1 on column 0' is constant .* all 2"):
        MKLClassifier(per_feature(RBF(1.0)), normalize=how).fit(X, y)


def test_constant_kernels_are_kept_without_normalisation(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = MKLClassifier([RBF(1.0), Linear(columns=1)], normalize=None).fit(X, y)
    assert model.weights_.shape == (2,)


def test_splice_sites_have_no_weight_where_all_are_alike(real_data):
    """Figure 6 of Sonnenburg et al. (2006): AG is at every acceptor site, true or not."""
    found = read_sequences(real_data("sequences/C_elegans_acc_modsel.fasta.bz2"))
    y = np.array(["label=1" in name for name in found.names])
    chosen = np.concatenate([np.flatnonzero(y == sign)[:60] for sign in (True, False)])
    X = found.window(187, 209)[chosen]
    with pytest.warns(UserWarning, match="3 of 250 kernels get weight 0"):
        model = MKLClassifier(WeightedDegree(20, split="both")).fit(X, y[chosen])
    alike = [f"k={k} position={at}" for k, at in [(1, 10), (1, 11), (2, 10)]]
    constant = np.flatnonzero(model.weights_ == 0)
    assert [model.kernel_names_[m].split("degree=20 ")[1] for m in constant] == alike


def test_elliptic_norms_certify_the_problem_without_constant_kernels(rng):
    X = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    E = np.eye(3) + 0.5 * (np.ones((3, 3)) - np.eye(3))
    with pytest.warns(UserWarning, match="constant"):
        model = MKLClassifier(per_feature(RBF(1.0)), norm=norms.Elliptic(E)).fit(X, X[:, 0] > 0)
    assert model.certifies_.endswith("with weights of 0 for constant kernels")
    assert model.weights_[2] == 0.0
    model = MKLClassifier(per_feature(RBF(1.0)), norm=norms.Elliptic(E[:2, :2]))
    assert "constant" not in model.fit(X[:, :2], X[:, 0] > 0).certifies_

"""Laws of Shapley values, checked against enumeration of all coalitions."""

from itertools import product
from math import factorial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, Views
from kernelweave.common.core import _core
from kernelweave.datasets import make_motifs
from kernelweave.inspection import shapley
from kernelweave.kernels import (
    RBF,
    ChiSquared,
    Exponential,
    Identity,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    Spectrum,
    per_feature,
)

KERNELS = {
    "rbf": RBF(0.3),
    "widths": RBF([0.05, 0.2, 0.8]),
    "laplacian": Laplacian(0.4),
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.5),
    "per feature": per_feature(RBF([0.1, 1.0])),
    "sum": Linear() + 2.0 * RBF(0.3, columns=[0, 2]),
    "product": RBF(0.3, columns=[0, 1]) * Laplacian(0.2, columns=[1, 2, 3]),
    "linear times rbf": Linear(columns=[0, 1]) * RBF(0.2),
    "linear times linear": Linear(columns=[0, 1]) * Linear(columns=[1, 2, 3]),
    "polynomial times rbf": Polynomial(2, gamma=0.5, columns=[0, 3]) * RBF(0.2, columns=[1, 2]),
    "several": [Linear(), RBF(0.5), Polynomial(2)],
    "identity": RBF(0.3) + 0.5 * Identity(),
}


def enumerated(value, X, Z, weights, d):
    """Return Shapley values by their definition, shape (n, d), for value(rows) -> (rows,)."""
    phi = np.zeros((len(X), d))
    for i in range(len(X)):
        gains = {}
        for mask in product((False, True), repeat=d):
            rows = Z.copy()
            for j in np.flatnonzero(mask):
                if isinstance(rows, pd.DataFrame):
                    rows[rows.columns[j]] = X.iloc[[i] * len(Z), j].to_numpy()
                else:
                    rows[:, j] = X[i, j]
            gains[mask] = weights @ value(rows)
        for mask, before in gains.items():
            for j in np.flatnonzero(~np.array(mask)):
                share = factorial(sum(mask)) * factorial(d - 1 - sum(mask)) / factorial(d)
                after = gains[(*mask[:j], True, *mask[j + 1 :])]
                phi[i, j] += share * (after - before)
    return phi


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 4))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, 0)


@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("normalize", ["variance", None])
def test_values_equal_enumeration_over_coalitions(data, kernels, normalize):
    X, y = data
    model = MKLClassifier(kernels, normalize=normalize).fit(X, y)
    found = shapley(model, X[:3], X[20:26])
    wanted = enumerated(model.decision_function, X[:3], X[20:26], np.full(6, 1 / 6), 4)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-12 * max(1, abs(wanted).max()))


@pytest.mark.parametrize("kernels", [ChiSquared(0.3), Intersection(), None])
def test_values_of_counts_equal_enumeration(rng, kernels):
    X = rng.poisson(2.0, size=(60, 4)).astype(float)
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=60)
    model = MKLRegressor(kernels).fit(X, y)
    found = shapley(model, X[:3], X[20:26])
    wanted = enumerated(model.predict, X[:3], X[20:26], np.full(6, 1 / 6), 4)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-11)


@pytest.mark.parametrize("how", ["unit", "center", "trace"])
def test_normalised_kernels_with_constant_diagonal_equal_enumeration(data, how):
    X, y = data
    model = MKLClassifier([RBF(0.3), Laplacian(0.2)], normalize=how).fit(X, y)
    found = shapley(model, X[:2], X[20:24])
    wanted = enumerated(model.decision_function, X[:2], X[20:24], np.full(4, 0.25), 4)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-9)


def test_default_kernels_of_a_frame_have_one_player_per_original_column(rng):
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, size=80),
            "colour": rng.choice(["red", "green", "blue"], size=80),
            "size": rng.normal(size=80),
        }
    )
    X.loc[3:8, "size"] = np.nan
    y = (X["colour"] == "red").to_numpy() ^ (X["age"] > 40).to_numpy()
    model = MKLClassifier().fit(X, y)
    found = shapley(model, X[:4], X[10:15])
    assert found.feature_names == ("age", "colour", "size")
    wanted = enumerated(model.decision_function, X[:4], X[10:15], np.full(5, 0.2), 3)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-11)
    assert found.data[0, 1] == X["colour"][0]


def test_values_of_several_classes_equal_those_of_each_decision_function(rng):
    X = rng.normal(size=(60, 3))
    model = MKLClassifier(RBF([0.1, 1.0])).fit(X, np.arange(60) % 3)
    found = shapley(model, X[:3], X[10:14])
    assert found.values.shape == (3, 3, 3)
    assert found.base_values.shape == (3, 3)
    for c in range(3):
        wanted = enumerated(
            lambda rows, c=c: model.decision_function(rows)[:, c],
            X[:3],
            X[10:14],
            np.full(4, 0.25),
            3,
        )
        np.testing.assert_allclose(found.of_output(c).values, wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="output must be one of"):
        found.of_output(7)


@pytest.mark.parametrize("d", [1, 2, 9, 40, 300])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 30.0])
def test_values_sum_to_the_decision_minus_the_base_value(rng, d, gamma):
    X = rng.normal(size=(60, d))
    model = MKLRegressor([RBF(gamma / d), Laplacian(gamma / d)]).fit(X, X[:, 0] ** 2)
    found = shapley(model, X[:5], X[30:], n_background=10)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(X[:5]), rtol=0, atol=1e-10)
    assert np.isfinite(found.values).all()


def test_products_of_many_small_factors_neither_underflow_nor_divide_by_zero():
    d = 400
    a, b = np.full((d, 1, 1), 1e-3), np.full((d, 1, 1), 1e-3)
    a[0], b[0] = 1.0, 0.0
    assert np.all(_core.product_games(a, b, np.ones(1), np.ones((1, 1))) == 0.0)  # 1e-1197
    a[1:], b[1:] = 1.0, 0.0  # v(S) = 1 for the coalition of all players only
    values = _core.product_games(a, b, np.ones(1), np.ones((1, 1)))
    np.testing.assert_allclose(values, 1.0 / d, rtol=1e-12)


@pytest.mark.parametrize("spread", [1e-3, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("d", [2, 7, 33])
def test_quadrature_with_few_nodes_equals_the_exact_rule(rng, level, d, spread):
    a, b = (1 - spread * rng.random((d, 3, 21)) for _ in range(2))
    weights, coef = rng.random(3), rng.normal(size=(2, 21))
    found = _core.product_games(a, b, weights, coef)
    nodes, at = np.polynomial.legendre.leggauss((d + 1) // 2)
    t, at = (nodes + 1) / 2, at / 2
    factors = b[:, None, :, :, None] + (a[:, :, None, :, None] - b[:, None, :, :, None]) * t
    for j in range(d):
        others = np.delete(factors, j, axis=0).prod(axis=0) @ at
        gain = (a[j][:, None] - b[j][None]) * others
        wanted = np.einsum("izs,z,cs->ic", gain, weights, coef)
        np.testing.assert_allclose(found[:, :, j], wanted, rtol=0, atol=1e-14)


def test_equal_columns_have_equal_values(rng):
    X = rng.normal(size=(60, 3))
    X = np.column_stack([X, X[:, 1]])
    model = MKLClassifier([RBF(0.2), Polynomial(2)]).fit(X, X[:, 1] + X[:, 0] > 0)
    found = shapley(model, X[:5], X[20:])
    np.testing.assert_allclose(found.values[:, 1], found.values[:, 3], rtol=0, atol=1e-12)


def test_columns_that_no_kernel_reads_have_value_zero(data):
    X, y = data
    model = MKLClassifier([RBF(0.2, columns=[0, 2]), Linear(columns=[2])]).fit(X, y)
    found = shapley(model, X[:5], X[20:])
    assert not found.values[:, [1, 3]].any()
    assert found.values[:, [0, 2]].all()


def test_values_are_additive_over_kernels(data):
    X, y = data
    model = MKLClassifier([RBF(0.2), Linear(), Laplacian(0.3)], norm=2).fit(X, y)
    together = shapley(model, X[:5], X[20:]).values
    weights, apart = model._model.weights.copy(), 0.0
    for m in range(3):
        model._model.weights[:] = weights * (np.arange(3) == m)
        apart = apart + shapley(model, X[:5], X[20:]).values
    np.testing.assert_allclose(together, apart, rtol=0, atol=1e-12)


@pytest.mark.parametrize("by", ["kernel", "view"])
def test_values_of_kernels_and_views_are_contributions_minus_means(data, by):
    X, y = data
    views = Views({"left": X[:, :2], "right": X[:, 2:]})
    model = MKLClassifier({"left": RBF([0.1, 1.0]), "right": Linear()}).fit(views, y)
    found = shapley(model, views[:5], by=by)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.decision_function(views[:5]), atol=1e-12)
    np.testing.assert_allclose(found.base_values, model.decision_function(views).mean(), atol=1e-6)
    assert len(found.feature_names) == (3 if by == "kernel" else 2)
    given = shapley(model, views[:5], views[10:20], by=by)
    np.testing.assert_allclose(given.base_values, model.decision_function(views[10:20]).mean())


def test_players_of_views_are_columns_of_each_view(data):
    X, y = data
    views = Views({"left": X[:, :2], "right": X[:, 2:]})
    model = MKLClassifier({"left": RBF(0.5), "right": RBF(0.5)}).fit(views, y)
    found = shapley(model, views[:3], views[10:])
    assert found.feature_names == ("left: x0", "left: x1", "right: x0", "right: x1")
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.decision_function(views[:3]), atol=1e-12)


def test_groups_of_columns_are_one_player(data):
    X, y = data
    model = MKLClassifier([RBF(0.3), Linear()]).fit(X, y)
    found = shapley(model, X[:3], X[20:26], groups={"both": [1, 3]})
    assert found.feature_names == ("x0", "both", "x2")
    phi = np.zeros((3, 3))
    for i in range(3):
        gains = {}
        for mask in product((0, 1), repeat=3):
            rows = np.where(np.array(mask)[[0, 1, 2, 1]] == 1, X[i], X[20:26])
            gains[mask] = model.decision_function(rows).mean()
        for mask, before in gains.items():
            for j in np.flatnonzero(np.array(mask) == 0):
                share = factorial(sum(mask)) * factorial(2 - sum(mask)) / 6
                phi[i, j] += share * (gains[(*mask[:j], 1, *mask[j + 1 :])] - before)
    np.testing.assert_allclose(found.values, phi, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="in one group only"):
        shapley(model, X[:3], X, groups={"a": [0], "b": [0, 1]})


def test_sparse_and_dense_tables_give_equal_values(rng):
    X = rng.normal(size=(60, 50)) * (rng.random((60, 50)) < 0.1)
    model = MKLRegressor([Linear(), RBF(0.1)]).fit(X, X[:, 0])
    dense = shapley(model, X[:4], X[20:])
    sparse = shapley(model, sp.csr_array(X[:4]), sp.csr_array(X[20:]))
    np.testing.assert_allclose(dense.values, sparse.values, rtol=0, atol=1e-12)


def test_values_do_not_depend_on_the_number_of_threads(data):
    X, y = data
    model = MKLClassifier(RBF([0.1, 1.0])).fit(X, y)
    one, two = (shapley(model, X, X, n_jobs=n_jobs).values for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_background_defaults_to_the_support_examples(data):
    X, y = data
    model = MKLClassifier(RBF(0.5)).fit(X, y)
    found = shapley(model, X[:3])
    given = shapley(model, X[:3], X[model.support_])
    np.testing.assert_allclose(found.values, given.values, rtol=0, atol=1e-12)
    assert "support examples" in repr(found)


def test_many_background_rows_are_summarised_and_reported(data):
    X, y = data
    model = MKLClassifier(RBF(0.5)).fit(X, y)
    found = shapley(model, X[:3], X, n_background=7)
    assert found.background == "7 of 50 rows given, chosen and weighted by k-means"
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X[:3]), atol=1e-12
    )


def test_one_class_values_sum_to_the_decision(rng):
    X = rng.normal(size=(60, 3))
    model = MKLOneClass().fit(X)
    found = shapley(model, X[:5], X)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X[:5]), atol=1e-12
    )


def test_values_of_sequences_are_those_of_letters():
    X, y = make_motifs(100, positive_rate=0.5)
    model = MKLClassifier(Spectrum(3)).fit(X, y)
    found = shapley(model, X[:5])
    assert found.values.shape == (5, 50)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X[:5])
    )
    with pytest.raises(ValueError, match="background must be None for a model of sequences"):
        shapley(model, X[:5], X)


@pytest.mark.parametrize(
    ("kernels", "normalize", "message"),
    [
        (Linear(), "unit", "unit normalisation of a kernel whose"),
        (Exponential(Linear()), None, "exponential of its cosine|unit normalisation"),
        (Polynomial(9), None, "degree above 8"),
        ([lambda X, Y: X @ Y.T], None, "precomputed matrix"),
    ],
)
def test_kernels_that_are_no_product_games_are_refused_by_name(data, kernels, normalize, message):
    X, y = data
    model = MKLClassifier(kernels, normalize=normalize).fit(X, y)
    with pytest.raises(ValueError, match=message):
        shapley(model, X[:2], X)
    assert shapley(model, X[:2], by="kernel").values.shape == (2, 1)


def test_kernels_of_a_single_column_need_no_product_form(data):
    X, y = data
    model = MKLClassifier(
        [Exponential(Linear(columns=[0, 1])), RBF(0.3, columns=[2, 3])], normalize=None
    ).fit(X, y)
    groups = {"first": [0, 1]}
    found = shapley(model, X[:3], X[20:], groups=groups)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X[:3]), atol=1e-12
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "row"}, "by must be one of"),
        ({"n_background": 0}, "n_background must be an integer"),
        ({"by": "kernel", "groups": {"a": [0]}}, "groups: columns are grouped"),
        ({"groups": {"a": ["height"]}}, "there is no column 'height'"),
    ],
)
def test_mistaken_parameters_are_named(data, parameters, message):
    X, y = data
    model = MKLClassifier(RBF()).fit(X, y)
    with pytest.raises(ValueError, match=message):
        shapley(model, X[:2], X, **parameters)


def test_values_equal_those_of_kernel_explainer(rng):
    shap = pytest.importorskip("shap")
    X = rng.normal(size=(60, 6))
    model = MKLClassifier([RBF(0.2), Linear()]).fit(X, X[:, 0] * X[:, 1] > 0)
    found = shapley(model, X[:4], X[20:30])
    explainer = shap.KernelExplainer(model.decision_function, X[20:30])
    wanted = explainer.shap_values(X[:4], nsamples=2**6, l1_reg=False, silent=True)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-8)
    explanation = found.to_shap()
    assert isinstance(explanation, shap.Explanation)
    assert explanation.shape == (4, 6)


def test_columns_of_mixed_tables_have_values(rng):
    words = [" ".join(rng.choice(["plot", "cast", "score", "scene"], 5)) for _ in range(130)]
    X = pd.DataFrame({"a": rng.normal(size=130), "kind": rng.choice(["u", "v"], 130)})
    X = X.assign(text=words)
    model = MKLClassifier(C=1.0).fit(X, X["a"] > 0)
    found = shapley(model, X[:5], background=X)  # 100 rows by k-means
    assert found.feature_names == ("a", "kind", "text")
    decisions = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(decisions, model.decision_function(X[:5]), atol=1e-9)

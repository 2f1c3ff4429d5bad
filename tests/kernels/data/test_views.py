"""Views: several tables of the same examples go through all that one table goes through."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from checker import Norm, certificate
from naive_mkl import spread
from naive_normalize import normalised
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from kernelweave import (
    Grams,
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    Views,
    compare,
    load,
    verify,
)
from kernelweave.kernels import RBF, Linear, Precomputed, Spectrum, per_feature

N = 60


@pytest.fixture
def tables(rng):
    y = np.repeat([-1, 1], N // 2)[rng.permutation(N)]
    a = rng.normal(size=(N, 6)) + y[:, None]
    b = rng.normal(size=(N, 3)) + 0.5 * y[:, None]
    letters = np.where(y > 0, "ACA", "GTG")
    sequences = ["".join(rng.choice(list("ACGT"), 9)) + tail for tail in letters]
    return {"a": a, "b": b, "dna": sequences}, y


KERNELS = {"a": RBF([0.05, 0.2]), "b": Linear(), "dna": Spectrum(3)}


def with_gaps(tables, rng, share=0.3):
    gone = rng.random((N, 3)) < share
    gone[gone.all(axis=1), 0] = False
    a, b = (np.where(gone[:, [k]], np.nan, tables[name]) for k, name in enumerate("ab"))
    dna = [None if gone[i, 2] else one for i, one in enumerate(tables["dna"])]
    return Views({"a": a, "b": b, "dna": dna})


def test_views_are_indexed_like_arrays(tables):
    views, _ = tables
    X = Views(views)
    assert len(X) == N
    assert X.shape == (N, 10)
    assert X.names == ("a", "b", "dna")
    assert "a" in X
    for index in (slice(3, 9), np.array([4, 1]), np.arange(N) < 7, [2, 3]):
        some = X[index]
        rows = np.arange(N)[index]
        assert len(some) == len(rows)
        assert np.array_equal(some["a"], views["a"][rows])
        assert some["dna"] == [views["dna"][i] for i in rows]
    assert repr(X).startswith("<Views of 60 examples: a (6 columns)")
    first, _ = train_test_split(X, random_state=0)
    assert isinstance(first, Views)


def test_one_wide_array_gives_the_same_model(tables):
    views, y = tables
    X = Views({name: views[name] for name in "ab"})
    wide = np.hstack([views["a"], views["b"]])
    one = MKLClassifier({"a": RBF([0.05, 0.2]), "b": Linear()}).fit(X, y)
    other = MKLClassifier([RBF([0.05, 0.2], columns=slice(0, 6)), Linear(columns=slice(6, 9))]).fit(
        wide, y
    )
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(wide), atol=1e-9)
    assert one.kernel_names_ == ("a gamma=0.05", "a gamma=0.2", "b")
    assert one.duality_gap_ <= one.tol


def test_views_accept_frames_arrays_and_lists(tables):
    pandas = pytest.importorskip("pandas")
    views, y = tables
    a, b = views["a"], views["b"]
    kernels = {"a": RBF(0.1), "b": Linear()}
    expected = MKLClassifier(kernels).fit({"a": a, "b": b}, y).decision_function({"a": a, "b": b})
    frame = pandas.DataFrame(a, columns=list("uvwxyz"))
    blocks = pandas.concat({"a": frame, "b": pandas.DataFrame(b)}, axis=1)
    masked = np.ma.masked_array(b, mask=np.zeros_like(b, dtype=bool))
    for X in (
        Views({"a": frame, "b": b}),
        Views({"a": sp.csr_array(a), "b": masked}),
        blocks,
    ):
        model = MKLClassifier(kernels).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    by_columns = [RBF(0.1, columns="a"), Linear(columns="b")]
    model = MKLClassifier(by_columns).fit(blocks, y)
    np.testing.assert_allclose(model.decision_function(blocks), expected, atol=1e-9)
    assert model.kernel_names_ == ("RBF gamma=0.1 on a", "Linear on b")


def test_parts_of_views():
    pandas = pytest.importorskip("pandas")
    clinical = pandas.DataFrame({"age": [1.0, 2.0, 4.0], "sex": ["m", "f", "f"]})
    X = Views({"clinical": clinical, "x": np.eye(3)})
    age = Linear(columns=("clinical", "age"))
    assert np.array_equal(age(X), np.outer([1, 2, 4], [1, 2, 4]))
    assert age.resolve(X).names == ("Linear on clinical: age",)
    both = per_feature(Linear(columns="clinical"))(X)
    assert np.array_equal(both[1], [[1, 0, 0], [0, 1, 1], [0, 1, 1]])


def test_patients_are_matched_by_their_labels():
    pandas = pytest.importorskip("pandas")
    a = pandas.DataFrame({"u": [1.0, 2.0]}, index=["ann", "bob"])
    b = pandas.DataFrame({"v": [3.0, 4.0]}, index=["bob", "cid"])
    X = Views.aligned({"a": a, "b": b})
    assert X.index == ["ann", "bob", "cid"]
    assert np.array_equal(X["a"].to_numpy().ravel(), [1, 2, np.nan], equal_nan=True)
    assert np.array_equal(X["b"].to_numpy().ravel(), [np.nan, 3, 4], equal_nan=True)
    assert Views.aligned({"a": a, "b": b}, ["cid", "bob"])[1:].index == ["bob"]
    with pytest.raises(ValueError, match="no table has a row for 'dan'"):
        Views.aligned({"a": a}, ["dan"])
    with pytest.raises(ValueError, match="'a' has two rows for 'ann'"):
        Views.aligned({"a": a.loc[["ann", "ann"]]})
    with pytest.raises(ValueError, match="must be a pandas DataFrame"):
        Views.aligned({"a": np.eye(2)})
    with pytest.warns(UserWarning, match=r"'b' has no row for any of the 2 labels.*absent for all"):
        Views.aligned({"a": a, "b": b.reset_index(drop=True)}, a.index[:2])


class Halved(TransformerMixin, BaseEstimator):
    """A step of a pipeline that takes and gives views."""

    def fit(self, X, y=None):
        """Learn nothing."""
        self.fitted_ = True
        return self

    def transform(self, X):
        """Halve the numbers."""
        return Views({name: X[name] / 2 for name in X.names})


def test_scikit_learn_splits_searches_and_chains_views(tables, rng):
    views, y = tables
    X = with_gaps(views, rng)
    model = MKLClassifier(KERNELS)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    grid = {"kernels__a__gamma": [0.01, [0.1, 0.2]], "kernels__b": [Linear(), RBF(0.1)]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert model.kernels is KERNELS
    numbers = Views({name: views[name] for name in "ab"})
    chain = make_pipeline(Halved(), MKLClassifier({"a": RBF(0.2), "b": Linear()}))
    chain.set_params(mklclassifier__kernels__a__gamma=0.4)
    assert chain[-1].kernels["a"].gamma == 0.4
    assert cross_val_score(chain, numbers, y, cv=2).mean() > 0.7


def test_the_best_single_kernel_is_found_among_views(tables, rng):
    views, y = tables
    found = compare(MKLClassifier(KERNELS), with_gaps(views, rng), y, cv=2)
    assert set(found.chosen) <= {"a gamma=0.05", "a gamma=0.2", "b", "dna k=3"}


def test_norm_and_cost_are_selected_on_views(tables, rng):
    views, y = tables
    X = with_gaps(views, rng)
    model = MKLClassifierCV(KERNELS, norms=[1, 2], Cs=[0.1, 1.0], cv=2).fit(X, y)
    assert model.scores_.shape == (2, 2, 2)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_models_with_absent_views_are_certified(tables, rng, norm):
    views, y = tables
    X = with_gaps(views, rng)
    model = MKLClassifier(KERNELS, norm=norm, tol=1e-6).fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert verify(model, X, y).agree
    K = oracle(X, y)
    alpha = spread(model.dual_coef_, model.support_, N)[0]
    found = certificate(
        K, y, np.ones(N), alpha, model.weights_, model.intercept_[0], "hinge", Norm("lp", norm)
    )
    assert found.gap <= 2e-6
    np.testing.assert_allclose(found.primal, model.primal_objective_, rtol=1e-8)


def oracle(X, y):
    """The kernel matrices in NumPy: centred, 0 for absent examples, larger where others are."""
    present = [~np.isnan(X["a"]).any(axis=1), ~np.isnan(X["b"]).any(axis=1)]
    present.append(np.array([one is not None for one in X["dna"]]))
    a, b = (X[name][present[k]] for k, name in enumerate("ab"))
    words = ["".join(word) for word in itertools.product("ACGT", repeat=3)]
    dna = [one for one in X["dna"] if one is not None]
    counts = np.array(
        [[sum(one[i:].startswith(w) for i in range(12)) for w in words] for one in dna], float
    )
    distances = ((a[:, None] - a[None]) ** 2).sum(axis=2)
    grams = [np.exp(-0.05 * distances), np.exp(-0.2 * distances), b @ b.T, counts @ counts.T]
    factors = 3.0 / np.sum(present, axis=0)
    stack = []
    for K, there in zip(grams, [present[0], *present], strict=True):
        S = np.zeros((len(y), there.sum()))
        S[there] = np.eye(there.sum()) - 1.0 / there.sum()
        S *= factors[:, None]
        stack.append(S @ normalised(K, "variance") @ S.T)
    return np.stack(stack)


def test_absent_views_contribute_their_mean(tables, rng):
    """Present views are scaled up: their deviation from the mean counts more."""
    views, y = tables
    new = Views({"a": views["a"][:4], "b": None, "dna": [None, None, *views["dna"][2:4]]})
    factors = np.array([3.0, 3.0, 1.5, 1.5])
    for X, average in ((Views(views), np.mean), (with_gaps(views, rng), lambda parts: 0.0)):
        model = MKLClassifier(KERNELS, tol=1e-8).fit(X, y)
        parts = model.contributions(X)
        found = model.contributions(new)
        np.testing.assert_allclose(found[:, 2], average(parts[:, 2]), atol=1e-9)
        np.testing.assert_allclose(found[:2, 3], average(parts[:, 3]), atol=1e-9)
        whole = found.sum(axis=1) + model.intercept_
        np.testing.assert_allclose(model.decision_function(new), whole, atol=1e-9)
        complete = model.contributions(Views({name: view[:4] for name, view in views.items()}))
        for m, some in ((0, slice(0, 4)), (1, slice(0, 4)), (3, slice(2, 4))):
            middle = average(parts[:, m])
            expected = middle + factors[some] * (complete[some, m] - middle)
            np.testing.assert_allclose(found[some, m], expected, atol=1e-9)


def test_an_example_without_any_view_gets_the_average_decision(tables, rng):
    views, y = tables
    nothing = Views({"a": None, "b": None, "dna": [None, None]})
    whole = MKLClassifier(KERNELS).fit(Views(views), y)
    average = whole.decision_function(Views(views)).mean()
    np.testing.assert_allclose(whole.decision_function(nothing), average, atol=1e-9)
    gaps = MKLClassifier(KERNELS).fit(with_gaps(views, rng), y)
    np.testing.assert_array_equal(gaps.decision_function(nothing), gaps.intercept_[0])


def test_saved_models_keep_their_views(tables, rng, tmp_path):
    views, y = tables
    X = with_gaps(views, rng)
    model = MKLClassifier(KERNELS).fit(X, y)
    model.save(tmp_path / "m.kw")
    other = load(tmp_path / "m.kw")
    assert np.array_equal(other.decision_function(X), model.decision_function(X))
    assert other.weights_frame().equals(model.weights_frame())
    assert clone(other).kernels.keys() == KERNELS.keys()


def test_default_kernels_of_each_view(tables, rng):
    views, y = tables
    X = Views({name: views[name] for name in "ab"})
    model = MKLClassifier().fit(X, y)
    assert set(model.weights_frame()["view"]) == {"a", "b"}
    assert model.score(X, y) > 0.8


def test_weights_by_kernel_and_by_view(tables):
    pytest.importorskip("pandas")
    views, y = tables
    X = Views(views)
    model = MKLClassifier(KERNELS).fit(X, y)
    frame = model.weights_frame()
    assert frame["kernel"].tolist() == list(model.kernel_names_)
    assert frame["view"].tolist() == ["a", "a", "b", "dna"]
    np.testing.assert_allclose(frame["weight"], model.weights_)
    sizes = model.contributions(X).std(axis=0)
    np.testing.assert_allclose(frame["share"], sizes / sizes.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.weights_frame(X)["share"], frame["share"], rtol=1e-9)
    summed = model.weights_frame(by="view")
    assert summed["view"].tolist() == ["a", "b", "dna"]
    np.testing.assert_allclose(summed["weight"][0], model.weights_[:2].sum())
    parts = model.contributions(X)
    sizes = np.array([parts[:, :2].sum(axis=1).std(), parts[:, 2].std(), parts[:, 3].std()])
    np.testing.assert_allclose(summed["share"], sizes / sizes.sum(), rtol=1e-9)
    with pytest.raises(ValueError, match="by must be"):
        model.weights_frame(by="kernel")
    several = MKLClassifier(KERNELS).fit(X, np.arange(N) % 3).weights_frame()
    assert several["output"].tolist() == [c for c in range(3) for _ in range(4)]


def test_errors(tables):
    views, y = tables
    X = Views(views)
    with pytest.raises(ValueError, match="the same number of rows"):
        Views({"a": np.eye(3), "b": np.eye(4)})
    with pytest.raises(ValueError, match="at least one of the views"):
        Views({"a": None})
    with pytest.raises(ValueError, match="must be strings"):
        Views({1: np.eye(3)})
    with pytest.raises(ValueError, match="must be an array"):
        Views({"a": "ACGT"})
    with pytest.raises(ValueError, match="X has no view 'c'"):
        X["c"]
    with pytest.raises(ValueError, match="has the views 'a', 'b', 'dna'"):
        MKLClassifier(RBF()).fit(X, y)
    with pytest.raises(ValueError, match="has the views"):
        MKLClassifier(RBF(columns="c")).fit(X, y)
    model = MKLClassifier(KERNELS).fit(X, y)
    with pytest.raises(ValueError, match="X has no view 'dna'"):
        model.predict({"a": views["a"], "b": views["b"]})
    with pytest.raises(ValueError, match="X must be Views"):
        model.predict(np.ones((3, 10)))
    with pytest.raises(ValueError, match="X must be a single table"):
        MKLClassifier(RBF()).fit(views["a"], y).predict(X)


def test_rows_with_the_same_labels_in_different_orders_are_refused():
    pandas = pytest.importorskip("pandas")
    one = pandas.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["p", "q", "r"])
    with pytest.raises(ValueError, match="'one' and 'two' have the same labels"):
        Views({"one": one, "array": np.eye(3), "two": one[::-1]})
    aligned = Views.aligned({"one": one, "two": one[::-1]})
    np.testing.assert_array_equal(aligned["two"], one)
    for index in (["p", "q", "s"], [0, 1, 2], ["p", "p", "q"]):
        assert len(Views({"one": one, "two": one.set_axis(index)})) == 3


def given(rng, names):
    points = {name: rng.normal(size=(N, 4)) for name in names}
    y = np.sign(sum(point[:, 0] for point in points.values()))
    return {name: point @ point.T for name, point in points.items()}, y


def test_matrices_are_split_on_both_axes(rng):
    matrices, y = given(rng, ["drug", "cell"])
    X = Grams(matrices)
    assert X.shape == (N, N)
    assert Grams(np.stack(list(matrices.values()))).names == ("K0", "K1")
    train, new = np.arange(40), np.arange(40, N)
    some = X[np.ix_(new, train)]
    assert np.array_equal(some["drug"], matrices["drug"][40:, :40])
    model = MKLClassifier(Precomputed()).fit(X[np.ix_(train, train)], y[train])
    assert model.kernel_names_ == ("drug", "cell")
    expected = model.decision_function(some)
    numbers = {name: Precomputed(K) for name, K in matrices.items()}
    other = MKLClassifier(list(numbers.values())).fit(train, y[train])
    np.testing.assert_allclose(other.decision_function(new), expected, atol=1e-9)
    named = {"drug": Precomputed(), "cell": Precomputed()}
    for kernels in (Precomputed(), named):
        estimator = MKLClassifier(kernels)
        scores = cross_val_score(estimator, X, y, cv=3)
        by_number = cross_val_score(MKLClassifier(list(numbers.values())), np.arange(N), y, cv=3)
        np.testing.assert_allclose(scores, by_number)
    grid = GridSearchCV(MKLClassifier(Precomputed()), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.5
    assert MKLClassifierCV(Precomputed(), norms=[2], Cs=[1.0], cv=2).fit(X, y).score(X, y) > 0.8
    assert set(compare(MKLClassifier(Precomputed()), X, y, cv=2).chosen) <= {"drug", "cell"}
    stack = np.stack(list(matrices.values()))
    assert MKLClassifier(Precomputed()).fit(stack, y).kernel_names_ == ("K0", "K1")
    with pytest.raises(ValueError, match="same shape"):
        Grams({"a": np.eye(3), "b": np.ones((3, 4))})


def test_pairs_of_objects(load_real):
    pandas = pytest.importorskip("pandas")
    data = load_real("drug_response_pairwise")
    Kd = data[next(name for name in data if name.startswith("Kd_"))].astype(float)
    Kc = data[next(name for name in data if name.startswith("Kc_"))].astype(float)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(Kd) * len(Kc))[:300]
    drug, cell = chosen // len(Kc), chosen % len(Kc)
    X = pandas.DataFrame({"drug": drug, "cell": cell})
    y = data["Y"][drug, cell].astype(float)
    kernel = Precomputed(Kd, columns="drug") * Precomputed(Kc, columns="cell")
    np.testing.assert_allclose(kernel(X), Kd[np.ix_(drug, drug)] * Kc[np.ix_(cell, cell)])
    model = MKLRegressor(kernel, C=1.0).fit(X[:200], y[:200])
    assert model.duality_gap_ <= model.tol
    by_hand = MKLRegressor(Precomputed(), C=1.0).fit(kernel(X[:200]), y[:200])
    np.testing.assert_allclose(
        by_hand.predict(kernel(X[200:], X[:200])), model.predict(X[200:]), atol=1e-2
    )
    for bad in (X + 124, X - 1, X + 0.5):
        with pytest.raises(ValueError, match="column 'drug' of X must contain row numbers"):
            model.predict(bad)


@pytest.mark.parametrize("frame", [False, True])
def test_default_kernels_of_views_with_units_and_missing_values(frame, tables, rng, tmp_path):
    pandas = pytest.importorskip("pandas")
    a, y = tables[0]["a"], tables[1]
    b = tables[0]["b"].copy()
    b[3], b[5, 1] = np.nan, np.nan  # an absent row, and a value that is missing
    table = pandas.DataFrame(b, columns=list("xyz")) if frame else b
    if frame:
        table["kind"] = [None if i == 3 else "uv"[i % 2] for i in range(N)]
    X, scaled = Views({"a": a, "b": table}), Views({"a": 1000.0 * a, "b": table})
    model = MKLClassifier(tol=1e-6).fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert verify(model, X, y).agree
    assert set(model.weights_frame(by="view").view) == {"a", "b"}
    other = MKLClassifier(tol=1e-6).fit(scaled, y)
    np.testing.assert_allclose(
        other.decision_function(scaled), model.decision_function(X), atol=1e-2
    )
    model.save(tmp_path / "m.kw")
    restored = load(tmp_path / "m.kw")
    assert np.array_equal(restored.decision_function(X[:7]), model.decision_function(X[:7]))
    without = {"a": a, "b": None}
    assert np.isfinite(model.decision_function(without)).all()


def test_one_class_has_one_default_kernel_for_each_view(tables):
    X = Views({name: tables[0][name] for name in "ab"})
    model = MKLOneClass().fit(X)
    assert len(model.kernel_names_) == 2
    assert model.duality_gap_ <= model.tol


def test_an_array_as_kernel_is_a_one_line_error(rng):
    for kernels in (np.eye(9), [np.eye(9), Linear()]):
        with pytest.raises(ValueError, match=r"array.*Precomputed\((matrix=)?K\)"):
            MKLClassifier(kernels).fit(np.eye(9), np.arange(9) % 2)


def test_one_class_with_absent_views(tables, rng):
    """One-class models separate from the origin, which centring would move to the mean."""
    views, _ = tables
    kernels = {"a": RBF(0.2), "b": RBF(0.2), "dna": Spectrum(3)}
    X = with_gaps(views, rng)
    model = MKLOneClass(kernels, nu=0.3).fit(X)
    assert model.duality_gap_ <= 1e-3
    assert verify(model, X).agree
    assert 0.5 < np.mean(model.predict(X) == 1) < 0.9
    whole = MKLOneClass(kernels, nu=0.3).fit(Views(views))
    parts = whole.contributions(X)
    np.testing.assert_allclose(
        parts[np.isnan(X["b"]).any(axis=1), 1], whole.contributions(Views(views))[:, 1].mean()
    )
    assert np.std(whole.decision_function(X)) < 2 * np.std(whole.decision_function(Views(views)))

"""Bad input: an exception that names the argument, what was wrong and what is accepted."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor
from kernelweave.kernels import (
    RBF,
    BagOfWords,
    ChiSquared,
    Linear,
    NGram,
    Precomputed,
    WeightedDegree,
)

ESTIMATORS = [MKLClassifier, MKLRegressor, MKLOneClass]
N = 20
every_estimator = pytest.mark.parametrize("Estimator", ESTIMATORS)
DEFAULT_OR_NAMED = pytest.mark.parametrize("kernels", [None, RBF(0.5)], ids=["default", "named"])


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


@pytest.fixture
def y():
    return np.where(np.arange(N) % 2, -1.0, 1.0)


PARAMETERS = [
    (
        "C",
        [0, -1.0, np.nan, -np.inf, "1", None],
        "C must be a finite number above 0(, or inf for a hard margin)?, "
        'or "auto"(, or "scale")?, got',
    ),
    ("nu", [0.0, -0.1, 1.5, np.nan, "half"], "nu must be a number above 0 and at most 1, got"),
    (
        "epsilon",
        [-0.1, np.nan, np.inf, None],
        'epsilon must be a number of at least 0, or "scale", got',
    ),
    ("tol", [0.0, -1e-3, np.nan, np.inf, "small"], "tol must be a finite number above 0, got"),
    ("max_iter", [0, -1, 2.5, "many"], "max_iter must be None or an integer of at least 1, got"),
    ("working_set", [1, 0, -5, 2.5, "all"], 'working_set must be "auto" or an integer above 1'),
    ("cache_mb", [-1, np.nan, "big", None], "cache_mb must be a number of at least 0, got"),
    ("n_jobs", [0, 1.5, "all"], "n_jobs must be None or a non-zero integer from"),
    ("normalize", ["norm", 1, "Unit"], r"normalize must be one of \('variance', 'unit'"),
    ("verbose", ["yes", -1, 0.5, None], "verbose must be an integer of at least 0, got"),
    ("interleaved", ["no", 1, None], "interleaved must be True or False, got"),
    ("share_weights", ["no", 0, None], "share_weights must be True"),
    ("norm", [0.5, 0, -1, np.nan], "norm must be a number p >= 1, inf, or an object"),
    ("loss", ["hinges", "one_class", 3], r"loss must be one of \['"),
    ("solver", ["fast", "", None], r"solver must be one of \['auto', 'analytic'"),
    ("kernels", [[], (), "rbf", 5, [RBF(), 3], RBF], "kernels must be a kernel or a list of"),
]


@pytest.mark.parametrize(
    ("Estimator", "name", "value", "message"),
    [
        (Estimator, name, value, message)
        for Estimator in ESTIMATORS
        for name, values, message in PARAMETERS
        for value in values
        if name in Estimator().get_params()
    ],
)
def test_parameters(Estimator, name, value, message, X, y):
    model = Estimator(**{"kernels": RBF(0.5), name: value})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_objects_that_are_no_norm_are_refused(X, y):
    with pytest.raises(TypeError, match="norm must be a number p >= 1, inf, or an object"):
        MKLClassifier(RBF(0.5), norm="l2").fit(X, y)


def test_a_solver_that_cannot_serve_the_norm_names_those_that_can(X, y):
    with pytest.raises(
        ValueError, match=r"solver='uniform' does not support .* these do: \['auto'"
    ):
        MKLClassifier([RBF(0.5), Linear()], norm=2, solver="uniform").fit(X, y)


@every_estimator
@DEFAULT_OR_NAMED
@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("kind", ["array", "csr", "pandas"])
def test_missing_and_infinite_values(Estimator, kernels, value, what, kind, X, y):
    good, bad = X, X.copy()
    bad[3, 1] = value
    if kind == "csr":
        good, bad = sp.csr_array(X), sp.csr_array(bad)
    elif kind == "pandas":
        pandas = pytest.importorskip("pandas")
        good, bad = (pandas.DataFrame(values, columns=list("abc")) for values in (X, bad))
    if kernels is None and what == "NaN" and kind != "csr":  # a number that is missing
        assert len(Estimator().fit(bad, y).predict(bad)) == len(
            Estimator().fit(good, y).predict(bad)
        )
        return
    with pytest.raises(ValueError, match=f"Input X contains {what}"):
        Estimator(kernels).fit(bad, y)
    model = Estimator(kernels).fit(good, y)
    with pytest.raises(ValueError, match=f"Input X contains {what}"):
        model.predict(bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_must_be_finite(value, X, y):
    y[4] = value
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
        MKLRegressor(RBF(0.5)).fit(X, y)


def test_missing_targets_are_counted(X, y):
    y[[4, 7]] = np.nan
    with pytest.raises(ValueError, match=f"NaN for 2 of {N} examples, first for example 4; leave"):
        MKLRegressor().fit(X, y)
    labels = np.where(np.isnan(y), np.nan, y > 0).astype(object)
    with pytest.raises(ValueError, match=f"NaN for 2 of {N} examples, first for example 4; leave"):
        MKLClassifier().fit(X, labels)


def test_lists_of_dicts(X, y):
    with pytest.raises(ValueError, match=r"X is a list of dicts; pass.*DataFrame\(X\)"):
        MKLRegressor().fit([{"a": value} for value in X[:, 0]], y)


@every_estimator
@DEFAULT_OR_NAMED
def test_empty_data(Estimator, kernels):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Estimator(kernels).fit(np.empty((0, 3)), np.empty(0))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        Estimator(kernels).fit(np.empty((4, 0)), np.array([0, 1, 0, 1]))


@every_estimator
def test_empty_frames(Estimator, X, y):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"))
    model = Estimator(RBF(0.5))
    for rows in (0, 1):
        with pytest.raises(ValueError, match=rf"{rows} sample\(s\).* minimum of 2 is required"):
            model.fit(frame[:rows], y[:rows])
    with pytest.raises(ValueError, match=r"0 sample\(s\).* minimum of 1 is required"):
        model.fit(frame, y).predict(frame[:0])


@pytest.mark.parametrize("label", [1, "spam"])
def test_one_class_only(label, X):
    with pytest.raises(ValueError, match=f"y must have at least 2 classes.*only 1 class.*{label}"):
        MKLClassifier(RBF(0.5)).fit(X, [label] * N)


@pytest.mark.parametrize("form", [np.array, list, lambda y: np.array(y, dtype=object)])
def test_regression_on_texts(form, X):
    with pytest.raises(ValueError, match=r"y must contain numbers, but could not.*low.*classifier"):
        MKLRegressor(RBF(0.5)).fit(X, form(["low", "high"] * (N // 2)))


@pytest.mark.parametrize("kind", ["numpy", "polars"])
def test_missing_labels(kind, X):
    y = np.array(["low", "high", None, "low"] * (N // 4), dtype=object)
    if kind == "polars":
        y = pytest.importorskip("polars").Series(y.tolist())
    with pytest.raises(ValueError, match=r"None for 5 of 20, first for example 2; leave these"):
        MKLClassifier(RBF(0.5)).fit(X, y)


def test_several_targets_of_classes(X):
    y = np.arange(2 * N).reshape(N, 2) % 3
    with pytest.raises(ValueError, match=r"y should be a 1d array.*fit one estimator for each"):
        MKLClassifier(RBF(0.5)).fit(X, y)


def test_tables_of_three_dimensions(y):
    with pytest.raises(ValueError, match=r"X must have 2 dimensions.*shape \(20, 3, 3\).*Grams"):
        MKLClassifier().fit(np.zeros((N, 3, 3)), y)


def test_lazy_frames(X, y):
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"X is a lazy frame.*X.collect\(\)"):
        MKLClassifier().fit(polars.DataFrame(X).lazy(), y)


def test_parameters_of_default_kernels_cannot_be_set():
    with pytest.raises(ValueError, match=r"kernels=None has no parameter 'gamma'; pass a kernel"):
        MKLClassifier().set_params(kernels__gamma=1.0)


def test_classification_of_numbers(X, rng):
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*use MKLRegressor"):
        MKLClassifier(RBF(0.5)).fit(X, rng.normal(size=N))


@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLRegressor])
def test_targets_of_another_length_or_shape(Estimator, X, y):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 7\]"):
        Estimator(RBF(0.5)).fit(X, y[:7])
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        Estimator(RBF(0.5)).fit(X, None)
    with pytest.raises(ValueError, match="dim 3, while dim <= 2 is required"):
        Estimator(RBF(0.5)).fit(X, np.ones((20, 2, 2)))
    texts = ["some words", "other words"] * 10
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 7\]"):
        Estimator(BagOfWords()).fit(texts, y[:7])


@every_estimator
def test_sample_weights(Estimator, X, y):
    model = Estimator(RBF(0.5))
    with pytest.raises(ValueError, match="sample_weight must be finite and at least 0"):
        model.fit(X, y, sample_weight=np.where(np.arange(N) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match=r"(?i)sample.weight.*(non-zero|positive)"):
        model.fit(X, y, sample_weight=np.zeros(N))
    with pytest.raises(
        ValueError, match=r"sample_weight must be one number or have shape \(20,\), got"
    ):
        model.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="sample_weight must be finite and at least 0"):
        model.fit(X, y, sample_weight=np.full(N, np.nan))
    masked = np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3)
    with pytest.raises(ValueError, match="sample_weight has masked values"):
        model.fit(X, y, sample_weight=masked)


@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLRegressor])
def test_masked_targets_are_refused(Estimator, X, y):
    with pytest.raises(ValueError, match="y has masked values"):
        Estimator(RBF(0.5)).fit(X, np.ma.masked_array(y, mask=np.arange(N) == 3))
    Estimator(RBF(0.5)).fit(X, np.ma.masked_array(y))


def test_weights_that_leave_one_class(X, y):
    with pytest.raises(ValueError, match="must leave at least 2 classes with a positive weight"):
        MKLClassifier(RBF(0.5)).fit(X, y, sample_weight=(y > 0).astype(float))


@every_estimator
@DEFAULT_OR_NAMED
def test_another_number_of_columns_at_predict(Estimator, kernels, X, y):
    model = Estimator(kernels).fit(X, y)
    for ask in (model.predict, model.contributions):
        with pytest.raises(ValueError, match=r"X has 2 features, but MKL\w+ is expecting 3"):
            ask(X[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.predict(X[0])


@every_estimator
@DEFAULT_OR_NAMED
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_other_names_of_columns_at_predict(Estimator, kernels, library, X, y):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
    model = Estimator(kernels).fit(frame, y)
    other = frames.DataFrame({name: X[:, i] for i, name in enumerate("abz")})
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time.*z"):
        model.predict(other)
    with pytest.raises(ValueError, match=r"(?s)must be in the same order as they were in fit"):
        model.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match=r"(?s)seen at fit time, yet now missing.*c"):
        model.predict(frame[["a", "b"]])


@every_estimator
def test_constant_kernels_are_refused(Estimator, X, y):
    X[:, 0] = 5.0
    for kernel in (RBF(1.0, columns=[0]), Linear(columns=[0])):
        with pytest.raises(ValueError, match="is constant on the training data"):
            Estimator(kernel).fit(X, y)


@every_estimator
def test_shapes_of_data(Estimator, X, y):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        Estimator(RBF(0.5)).fit(X[:, 0], y)
    with pytest.raises(ValueError, match="X must have 2 dimensions, but has shape"):
        Estimator(RBF(0.5)).fit(X[:, :, None], y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        Estimator(RBF(0.5)).fit(X + 1j, y)


@every_estimator
def test_given_matrices(Estimator, X, y):
    model = Estimator(Precomputed(repair="error"), normalize=None)
    K = RBF(0.5)(X)
    lopsided, indefinite = K.copy(), K - 0.5 * np.eye(N)
    lopsided[0, 1] += 0.5
    with pytest.raises(ValueError, match=r"is not symmetric: K and K.T differ by up to 0.5"):
        model.fit(lopsided, y)
    smallest = np.linalg.eigvalsh(indefinite)[0]
    with pytest.raises(ValueError, match=f"smallest eigenvalue is {smallest:.6g}"):
        model.fit(indefinite, y)
    with pytest.warns(UserWarning, match=f"smallest eigenvalue is {smallest:.6g}; it was repaired"):
        Estimator(Precomputed(), normalize=None).fit(indefinite, y)
    with pytest.raises(ValueError, match=r"must be square, but its shape is \(20, 3\)"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 20"):
        model.fit(K, y).predict(X)


@every_estimator
@DEFAULT_OR_NAMED
def test_texts_where_numbers_are_needed(Estimator, kernels, X, y):
    table = X.astype(object)
    table[2, 1] = "tall"
    with pytest.raises(ValueError, match=r"X must contain numbers, but .*'tall'.*DataFrame"):
        Estimator(kernels).fit(table, y)
    with pytest.raises(ValueError, match=r"X must contain numbers, but .*'tall'"):
        Estimator(kernels).fit(X, y).predict(table)


@every_estimator
def test_lists_of_texts_have_default_kernels(Estimator, y):
    X = ["some words", "other words"] * 10
    assert len(Estimator().fit(X, y).predict(X)) == 20


def test_matrices_without_a_wrapper_name_the_wrappers(X, y):
    K = X @ X.T
    with pytest.raises(ValueError, match=r"X is a list of 2 matrices.*Grams.*Precomputed"):
        MKLClassifier().fit([K, K], y)
    with pytest.raises(ValueError, match=r"kernels must be kernel objects.*Precomputed.*Grams"):
        MKLClassifier([K, K]).fit(np.arange(len(y))[:, None], y)


def test_probabilities_of_other_losses_name_the_alternative(X, y):
    model = MKLClassifier(RBF()).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"loss='logistic'.*calibrate='sigmoid'"):
        _ = model.predict_proba


def test_absent_views_at_prediction_are_explained(X, y):
    model = MKLClassifier().fit({"rna": X, "prot": X}, y)
    with pytest.raises(ValueError, match=r"no view 'prot'.*\{'prot': None\}"):
        model.predict({"rna": X})


@every_estimator
def test_numbers_for_a_kernel_on_texts(Estimator, X, y):
    with pytest.raises(ValueError, match="columns must select the columns of texts"):
        Estimator(BagOfWords()).fit(X, y)
    with pytest.raises(ValueError, match="column 1 must contain texts, but row"):
        Estimator(BagOfWords(columns=1)).fit(X, y)
    model = Estimator(BagOfWords()).fit(["some words", "other words"] * 10, y)
    with pytest.raises(ValueError, match="X has 3 features, but the kernel is expecting 1"):
        model.predict(X)


@every_estimator
@pytest.mark.parametrize("row", [0, 3])  # the first text tells nothing of the others
@pytest.mark.parametrize("kernel", [BagOfWords(), NGram(2), WeightedDegree(2)], ids=repr)
@pytest.mark.parametrize("form", [list, lambda X: np.array(X, dtype=object), pd.Series])
def test_missing_texts(Estimator, kernel, form, row, y):
    texts = ["GATTA", "CATAC"] * 10
    model = Estimator(kernel).fit(form(texts), y)
    texts[row] = None
    message = f'None for example {row} in all columns that the kernels read; impute .*text by ""'
    with pytest.raises(ValueError, match=message):
        Estimator(kernel).fit(form(texts), y)
    with pytest.raises(ValueError, match=message):
        model.predict(form(texts))


@every_estimator
@pytest.mark.parametrize("row", [0, 3])
def test_numbers_among_texts(Estimator, row, y):
    texts = ["some words", "other words"] * 10
    texts[row] = 3
    with pytest.raises(ValueError, match=f"column 0 must contain texts, but row {row} is 3"):
        Estimator(BagOfWords()).fit(texts, y)
    texts[1] = None
    with pytest.raises(ValueError, match=f"column 0 must contain texts, but row {row} is 3"):
        Estimator(BagOfWords()).fit(texts, y)


@every_estimator
def test_negative_values_for_histograms(Estimator, X, y):
    with pytest.raises(ValueError, match=r"Negative values in data: X contains -.* require"):
        Estimator(ChiSquared()).fit(X, y)
    model = Estimator(ChiSquared()).fit(np.abs(X), y)
    with pytest.raises(ValueError, match="Negative values in data"):
        model.predict(-np.abs(X))


@every_estimator
def test_a_failed_fit_forgets_the_one_before(Estimator, X, y):
    model = Estimator(RBF(0.5)).fit(X, y)
    with pytest.raises(ValueError, match="tol must be"):
        model.set_params(tol=-1).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.set_params(tol=1e-3).fit(X, y).predict(X).shape == (N,)


def test_class_weights_of_labels_that_are_no_classes(X, y):
    with pytest.raises(
        ValueError, match=r"class_weight has 7, which is not a class of y; the classes are"
    ):
        MKLClassifier(RBF(0.5), class_weight={7: 2.0, 1: 3.0}).fit(X, y)
    MKLClassifier(RBF(0.5), class_weight={7: 2.0, 1: 3.0, -1: 1.0}).fit(X, y)

"""Standardised columns: mean 0 and variance 1 on the training data, whatever they hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernelweave.kernels.data.missing import Missing
from kernelweave.kernels.data.standardized import moments, sparse_moments, standardized


def dense(values):
    return values.toarray() if sp.issparse(values) else values


def test_means_and_variances(rng):
    X = rng.normal(size=(50, 4)) * [1, 1e3, 1e-9, 1e150] + [0, 1e5, 1, -1e150]
    weights = rng.uniform(size=50)
    Z = standardized(range(4), X, weights).values(X)
    assert np.allclose(np.average(Z, axis=0, weights=weights), 0, atol=1e-6)
    assert np.allclose(np.average(Z**2, axis=0, weights=weights), 1, atol=1e-6)


def test_examples_without_weight_do_not_count(rng):
    X = rng.normal(size=(30, 2))
    weights = (np.arange(30) < 20).astype(float)
    some, others = standardized([0, 1], X, weights), standardized([0, 1], X[:20], np.ones(20))
    assert np.allclose(some.offsets, others.offsets, rtol=1e-12)
    assert np.allclose(some.factors, others.factors, rtol=1e-12)


def test_columns_that_do_not_vary_are_left_out(rng):
    X = np.column_stack([rng.normal(size=9), np.full(9, 0.1), np.zeros(9), np.full(9, 1e300)])
    columns = standardized(range(4), X, np.ones(9))
    assert columns.n_varying == 1
    assert np.all(columns.values(X)[:, 1:] == 0)
    assert np.all(columns.values(X + 1.0)[:, 1:] == 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_single_category_does_not_vary(weighted, rng):
    """However shares of n examples are rounded: their sum is not always 1."""
    for n in range(2, 100):
        X = np.full((n, 1), "here", dtype=object)
        weights = rng.uniform(size=n) if weighted else np.ones(n)
        assert standardized([0], X, weights).factors == (0.0,)


def test_a_rare_category_varies():
    X = np.array(["here"] * 9999 + ["there"], dtype=object)[:, None]
    assert standardized([0], X, np.ones(10000)).factors == pytest.approx((10000 / 19998**0.5,))


def test_sparse_matrices_stay_sparse(rng):
    X = sp.random_array((40, 5), density=0.3, rng=rng, format="csr")
    found, expected = (
        sparse_moments(X, np.full(40, 1 / 40)),
        moments(X.toarray(), np.full(40, 1 / 40)),
    )
    assert np.allclose(found, expected)
    Z = standardized(range(5), X, np.ones(40)).values(X)
    assert sp.issparse(Z)
    assert Z.nnz == X.nnz
    assert np.allclose(Z.toarray().std(axis=0), 1)


def test_missing_numbers_are_means(rng):
    X = rng.normal(size=(30, 2)) + 7
    X[[1, 5], 0] = np.nan
    columns = standardized([0, 1], X, np.ones(30))
    Z = columns.values(X)
    assert np.array_equal(np.flatnonzero(Z[:, 0] == 0), [1, 5])
    assert columns.offsets[0] == pytest.approx(np.nanmean(X[:, 0]))
    assert np.allclose(np.delete(Z[:, 0], [1, 5]).std(), 1, atol=1e-6)
    assert np.all(columns.values(np.full((1, 2), np.nan)) == 0)
    assert np.array_equal(Missing(columns=0)(X)[1], np.isnan(X[:, 0]).astype(float))


def test_infinity_is_refused(rng):
    X = rng.normal(size=(9, 2))
    columns = standardized([0, 1], X, np.ones(9))
    X[2, 1] = np.inf
    with pytest.raises(ValueError, match="contains infinity in column 1"):
        columns.values(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_have_variance_1_together(library, rng):
    frames = pytest.importorskip(library)
    letters = [*rng.choice(["u", "v", "w"], 39), None]
    frame = frames.DataFrame({"a": letters, "b": rng.normal(size=40)})
    columns = standardized([0, 1], frame, np.ones(40))
    assert columns.categories == ((None, "u", "v", "w"), None)
    Z = dense(columns.values(frame))
    assert Z[:, :4].var(axis=0).sum() == pytest.approx(1)
    assert np.count_nonzero(Z[:, 0]) == 1
    unknown = frames.DataFrame({"a": ["z"], "b": [0.5]})
    assert np.all(dense(columns.values(unknown))[:, :4] == 0)

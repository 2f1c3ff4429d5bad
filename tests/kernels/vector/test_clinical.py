"""The clinical kernel: means of similarities by column, straight from its definition."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from kernelweave import MKLClassifier, MKLSurvival, Views, load
from kernelweave.cli.kernel_specs import parse_kernel
from kernelweave.kernels import RBF, Clinical

N = 40


@pytest.fixture
def table(rng):
    """Numbers, whole numbers and categories, with missing values."""
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, size=N),
            "sex": rng.choice(["f", "m"], size=N),
            "grade": rng.integers(1, 4, size=N),
            "site": rng.choice(["left", "right", "both"], size=N),
        }
    )
    frame.loc[3, "age"] = np.nan
    frame.loc[[5, 6], "site"] = None
    return frame


def slow(train, X, Y):
    """Return the mean of the similarities of all columns, one pair after the other."""
    total = np.zeros((len(X), len(Y)))
    for name in train:
        column, known = train[name], None
        if column.dtype != object and column.dtype.kind in "if":
            known = column.dropna()
            width = known.max() - known.min()
        for i, x in enumerate(X[name]):
            for j, y in enumerate(Y[name]):
                if known is None:
                    x_, y_ = (
                        "missing" if pd.isna(one) else one if one in set(column) else "other"
                        for one in (x, y)
                    )
                    total[i, j] += x_ == y_
                else:
                    x_, y_ = (
                        np.clip(known.mean() if pd.isna(one) else one, known.min(), known.max())
                        for one in (x, y)
                    )
                    total[i, j] += 1 - abs(x_ - y_) / width if width > 0 else 1.0
    return total / len(train.columns)


def test_values_are_mean_similarities_of_columns(table):
    np.testing.assert_allclose(Clinical()(table), slow(table, table, table), atol=1e-12)
    np.testing.assert_allclose(Clinical().resolve(table).diagonal(table), 1.0)


def test_new_examples_keep_the_range_of_the_training_data(table):
    new = pd.DataFrame(
        {
            "age": [200.0, np.nan, -3.0],
            "sex": ["f", "x", None],
            "grade": [9, 2, 1],
            "site": ["left", "unknown", None],
        }
    )
    found = Clinical().resolve(table)(new, table)
    np.testing.assert_allclose(found, slow(table, new, table), atol=1e-12)
    assert found.min() >= -1e-12


def test_matrix_is_positive_semidefinite(table):
    assert np.linalg.eigvalsh(Clinical()(table)).min() > -1e-10


@pytest.mark.parametrize(
    "make", [np.asarray, sp.csr_array, pd.DataFrame], ids=["array", "csr", "frame"]
)
def test_numbers_in_any_container_give_the_same_values(make, rng):
    X = rng.integers(0, 4, size=(N, 3)).astype(float)
    X[:, 2] = 7.0  # constant: it says nothing, and counts as equal
    frame = pd.DataFrame(X)
    np.testing.assert_allclose(Clinical()(make(X)), slow(frame, frame, frame), atol=1e-12)


def test_units_do_not_matter(rng):
    X = rng.normal(size=(N, 3))
    np.testing.assert_allclose(Clinical()(X), Clinical()(1000 * X - 5), atol=1e-10)


def test_columns_and_views_are_chosen(table, rng):
    part = Clinical(columns=["age", "sex"])
    some = table[["age", "sex"]]
    np.testing.assert_allclose(part(table), slow(some, some, some), atol=1e-12)
    views = Views({"clinical": table, "genes": rng.normal(size=(N, 5))})
    np.testing.assert_allclose(Clinical(columns="clinical")(views), Clinical()(table), atol=1e-12)


def test_absent_patients_of_a_view_are_at_the_mean(rng):
    clinical = rng.normal(size=(N, 3))
    clinical[:8] = np.nan
    views = Views({"clinical": clinical, "genes": rng.normal(size=(N, 5))})
    time = rng.exponential(np.exp(-np.nan_to_num(clinical[:, 0])))
    y = pd.DataFrame({"event": rng.random(N) < 0.8, "time": time})
    kernels = {"clinical": Clinical(), "genes": RBF(0.1)}
    model = MKLSurvival(kernels, norm=2).fit(views, y)
    assert model.duality_gap_ <= 1e-3
    assert np.isfinite(model.predict(views)).all()


def test_models_with_clinical_kernels_are_saved(table, tmp_path, rng):
    y = rng.random(N) < 0.5
    model = MKLClassifier([Clinical(), RBF(0.1, columns=["grade"])], norm=1).fit(table, y)
    assert model.duality_gap_ <= 1e-3
    model.save(tmp_path / "model.kw")
    again = load(tmp_path / "model.kw")
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))


def test_command_line_has_the_kernel():
    assert parse_kernel("clinical") == Clinical()


def test_values_that_are_not_finite_are_refused(table):
    table.loc[1, "age"] = np.inf
    with pytest.raises(ValueError, match=r"infinity in column .*age"):
        Clinical()(table)
    with pytest.raises(ValueError, match="NaN in all rows"):
        Clinical()(np.full((4, 2), np.nan))

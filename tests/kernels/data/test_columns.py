"""Selections of columns mean what they mean in scikit-learn's ColumnTransformer."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_selector

from kernelweave.kernels import RBF, Linear
from kernelweave.kernels.data.columns import choose

NAMES = ["age", "height", "job", "weight"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(8, 4))


def make_frame(library, X):
    return pytest.importorskip(library).DataFrame(dict(zip(NAMES, X.T, strict=True)))


POSITIONS = [
    (0, [0]),
    (-1, [3]),
    (np.int64(2), [2]),
    ([2, 0], [2, 0]),
    ((1, -2), [1, 2]),
    (np.array([3, 1]), [3, 1]),
    (slice(1, 3), [1, 2]),
    (slice(0, 4, 2), [0, 2]),
    ([True, False, False, True], [0, 3]),
    (np.array([False, True, True, False]), [1, 2]),
    (None, [0, 1, 2, 3]),
    (lambda X: [1, 3], [1, 3]),
]
BY_NAME = [
    ("job", [2]),
    (["weight", "age"], [3, 0]),
    (slice("height", "weight"), [1, 2, 3]),
    (lambda X: ["age"], [0]),
]


@pytest.mark.parametrize(("selection", "expected"), POSITIONS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_positions_in_arrays(X, selection, expected, form):
    assert list(choose(selection, form(X)).indices) == expected
    assert np.allclose(Linear(columns=selection)(form(X)), X[:, expected] @ X[:, expected].T)


@pytest.mark.parametrize(("selection", "expected"), POSITIONS + BY_NAME)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_positions_and_names_in_frames(X, selection, expected, library):
    frame = make_frame(library, X)
    assert list(choose(selection, frame).indices) == expected
    assert np.allclose(Linear(columns=selection)(frame), X[:, expected] @ X[:, expected].T)


@pytest.mark.parametrize(("selection", "expected"), POSITIONS[3:-2] + BY_NAME[1:])
def test_column_transformer_agrees(X, selection, expected):
    selection = list(selection) if isinstance(selection, tuple) else selection
    frame = make_frame("pandas", X)
    chosen = ColumnTransformer([("it", "passthrough", selection)]).fit_transform(frame)
    assert np.array_equal(chosen, X[:, expected])


def test_column_selector(X):
    frame = make_frame("pandas", X).assign(job=list("abcabcab"))
    assert choose(make_column_selector(dtype_include=np.number), frame).chosen == (0, 1, 3)
    assert choose(make_column_selector(pattern="^j"), frame).names == ("job",)


def test_index_of_names(X):
    frame = make_frame("pandas", X)
    assert choose(frame.columns[:2], frame).names == ("age", "height")
    assert Linear(columns=frame.columns[:2]) == Linear(columns=["age", "height"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_new_frames_may_order_their_columns_otherwise(X, library):
    frame = make_frame(library, X)
    kernel = RBF(columns=["weight", "age"]).resolve(frame)
    other = frame[["job", "age", "weight", "height"]]
    assert np.array_equal(kernel(other, frame), kernel(frame, frame))
    assert np.array_equal(kernel(X, frame), kernel(frame, frame))
    with pytest.raises(
        ValueError, match=r"X must have the columns \['weight'\] of the training data"
    ):
        kernel(frame[["job", "age"]], frame)


def test_columns_with_equal_names_are_selected_by_position(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "a", "b", "c"])
    assert np.allclose(Linear(columns=[0, 1])(frame), X[:, :2] @ X[:, :2].T)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (4, "4 is not a column of X, which has 4 columns"),
        ([0, -5], "-5 is not a column of X, which has 4 columns"),
        ("age", "'age' is a name, but X is not a data frame"),
        (1.5, "1.5 must be"),
        ([0, 1.5], "1.5 must be the position or the name"),
        ([True, False], "a mask must have one value per column of X, got 2 for 4"),
        ([], "selects no column"),
        (slice(4, None), "selects no column"),
        ([False] * 4, "selects no column"),
    ],
)
def test_bad_selections_are_named(X, selection, message):
    with pytest.raises(ValueError, match=message):
        Linear(columns=selection)(X)


def test_unknown_name(X):
    with pytest.raises(ValueError, match="X has no column 'ag'; its columns are 'age', 'height'"):
        Linear(columns=["age", "ag"])(make_frame("pandas", X))


def test_names_of_kernels_use_names_of_columns(X):
    frame = make_frame("pandas", X)
    assert Linear(columns="age").resolve(frame).names == ("Linear on age",)
    assert Linear(columns=[0, 2]).resolve(frame).names == ("Linear on age, job",)

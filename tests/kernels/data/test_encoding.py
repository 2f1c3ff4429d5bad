"""Columns of categories against scikit-learn's encoder, and bad columns."""

import datetime

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Intersection, Linear, Polynomial, per_feature

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


@pytest.fixture
def people():
    return pandas.DataFrame(
        {
            "age": [31, 45, 27, 61, 50, 33],
            "job": ["smith", "baker", "smith", "cook", "baker", "smith"],
            "grade": pandas.Categorical([1, 2, 2, 3, 1, 1]),
            "member": [True, False, True, True, False, False],
            "height": [1.7, 1.8, 1.6, 1.9, 1.75, 1.65],
        }
    )


def encoded(people):
    categories = ["job", "grade", "member"]
    indicators = OneHotEncoder(sparse_output=False).fit_transform(people[categories])
    return np.hstack([people[["age", "height"]].to_numpy(), indicators])


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.01), Polynomial(), Intersection()])
def test_categories_are_one_hot_encoded(people, kernel):
    assert np.allclose(kernel(people), kernel(encoded(people)), rtol=1e-12)


def test_polars_is_pandas(people):
    frame = polars.DataFrame(
        {
            "age": people["age"].tolist(),
            "job": polars.Series(people["job"].tolist(), dtype=polars.Categorical),
            "grade": [str(grade) for grade in people["grade"]],
            "member": people["member"].tolist(),
            "height": people["height"].tolist(),
        }
    )
    assert np.array_equal(Linear()(frame), Linear()(people))


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_every_kind_of_string_is_a_category(people, dtype):
    column = people[["job"]].astype(dtype)
    same = people["job"].to_numpy()
    assert np.array_equal(Linear()(column), (same[:, None] == same).astype(float))


def test_arrays_of_strings_are_categories(people):
    jobs = people[["job"]]
    for array in (jobs.to_numpy(dtype=object), np.array(jobs.to_numpy().tolist())):
        assert np.array_equal(Linear()(array), Linear()(jobs))


@pytest.mark.parametrize("dtype", ["Int64", "float32", "Float64", object])
def test_every_kind_of_number_is_a_number(people, dtype):
    ages = people["age"].to_numpy(dtype=float)
    assert np.array_equal(Linear()(people[["age"]].astype(dtype)), np.outer(ages, ages))


def test_gamma_counts_features_after_encoding(people):
    assert RBF().resolve(people).gamma == 1 / 10
    assert RBF(columns="job").resolve(people).gamma == 1 / 3


def test_unknown_category_matches_nothing(people):
    kernel = Linear(columns=["job", "member"]).resolve(people)
    new = people.iloc[:2].assign(job=["pilot", "cook"])
    jobs = (new["job"].to_numpy()[:, None] == people["job"].to_numpy()).astype(float)
    members = (new["member"].to_numpy()[:, None] == people["member"].to_numpy()).astype(float)
    assert np.array_equal(kernel(new, people), jobs + members)
    assert jobs[0].sum() == 0


def test_categories_in_training_and_numbers_later(people):
    """The same encoding applies to an array, where the frame had names."""
    kernel = Linear(columns="grade").resolve(people)
    array = people[["age", "height", "grade", "member", "height"]].to_numpy(dtype=float)
    assert np.array_equal(kernel(array, people), kernel(people))


def test_distances_survive_a_far_origin(people):
    """Seconds since 1970 beside categories: raw dot products would hide all other columns."""
    far = people.assign(age=people["age"] + 1.7e9)
    assert np.allclose(RBF(0.01)(far), RBF(0.01)(people), rtol=1e-6)
    assert np.allclose(RBF(0.01)(far.iloc[:2], far), RBF(0.01)(people)[:2], rtol=1e-6)


def test_per_feature_keeps_a_category_whole(people):
    stack = per_feature(Linear())(people)
    assert stack.shape == (5, 6, 6)
    assert np.array_equal(stack[1], Linear(columns="job")(people))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"job": ["smith", None, "smith", "cook", "baker", "smith"]}, "column 'job' contains NaN"),
        ({"age": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0]}, "NaN in column 'age'"),
        ({"age": pandas.array([1, 2, None, 4, 5, 6], dtype="Int64")}, "NaN in column 'age'"),
        ({"height": [1.0, 2.0, 3.0, 4.0, 5.0, np.inf]}, "infinity in column 'height'"),
        ({"age": pandas.to_datetime(["2020-01-01"] * 6)}, "column 'age' contains dates"),
        ({"age": np.arange(6) * 1j}, "Complex data not supported: column 'age'"),
    ],
)
def test_bad_columns_are_named(people, change, message):
    for kernel in (Linear(), RBF()):
        with pytest.raises(ValueError, match=message):
            kernel(people.assign(**change))


@pytest.mark.parametrize("item", [[1, 2], {"x": 1}], ids=["list", "record"])
def test_nested_columns_of_polars_are_refused(item):
    frame = polars.DataFrame({"a": [item] * 4, "b": [1.0, 2.0, 3.0, 5.0]})
    with pytest.raises(ValueError, match="column 'a' contains lists or records"):
        Linear()(frame)
    with pytest.raises(ValueError, match="column 'a' contains lists or records"):
        MKLClassifier().fit(frame, [0, 1, 0, 1])


def test_missing_values_in_polars():
    for values in (["x", None], [1, None]):
        frame = polars.DataFrame({"a": values, "b": [1.0, 2.0]})
        with pytest.raises(ValueError, match="NaN"):
            Linear()(frame)
    with pytest.raises(ValueError, match="dates or times"):
        Linear()(polars.DataFrame({"a": [datetime.date(2020, 1, 1)]}))


def test_text_where_numbers_were(people):
    kernel = Linear(columns="age").resolve(people)
    with pytest.raises(ValueError, match=r"could not convert string to float.*in column 'age'"):
        kernel(people.assign(age=["old"] * 6), people)


def test_unknown_objects_are_refused():
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        Linear()(np.array([[1.0], [{"foo": "bar"}]], dtype=object))


def test_real_categories(load_real):
    people = load_real("adult_categorical.csv.gz").iloc[:200, :14]
    numeric = people.select_dtypes("number")
    categories = people.drop(columns=numeric.columns)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(categories)
    kernel = Linear(columns=list(categories.columns))
    assert np.array_equal(kernel(people), indicators @ indicators.T)

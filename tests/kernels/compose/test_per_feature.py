"""A kernel on every column is the list of kernels on single columns."""

import numpy as np
import pytest

from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed, per_feature


@pytest.mark.parametrize("make", [Linear, RBF, lambda columns: RBF([0.1, 0.3], columns=columns)])
def test_members(make, rng):
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(3, 4))
    members = [make(columns=column)(X, Y) for column in range(4)]
    expected = np.stack(members) if members[0].ndim == 2 else np.concatenate(members)
    assert np.array_equal(per_feature(make(columns=None))(X, Y), expected)
    assert np.array_equal(
        per_feature(make(columns=[2, 0]))(X),
        np.concatenate(
            [
                np.atleast_3d(make(columns=2)(X)).reshape(-1, 9, 9),
                make(columns=0)(X).reshape(-1, 9, 9),
            ]
        ),
    )


def test_combinations(rng):
    X = rng.normal(size=(9, 3))
    kernel = RBF(0.5) * Linear() + 2.0 * Polynomial(2)
    expected = [
        (RBF(0.5, columns=c) * Linear(columns=c) + 2.0 * Polynomial(2, columns=c))(X)
        for c in range(3)
    ]
    assert np.allclose(per_feature(kernel)(X), expected, rtol=1e-14)


def test_families_combine_with_others(rng):
    X = rng.normal(size=(9, 3))
    expected = [Linear(columns=c)(X) + RBF(0.5)(X) for c in range(3)]
    assert np.allclose((per_feature(Linear()) + RBF(0.5))(X), expected, rtol=1e-14)


def test_names_are_those_of_the_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0], "height": [3.0, 5.0]})
    assert per_feature(RBF([0.1, 0.2])).resolve(frame).names == (
        "RBF gamma=0.1 on age",
        "RBF gamma=0.2 on age",
        "RBF gamma=0.1 on height",
        "RBF gamma=0.2 on height",
    )


def test_bad_use_is_named():
    with pytest.raises(ValueError, match="same columns"):
        per_feature(Linear(columns=0) + Linear(columns=1)).resolve(np.ones((2, 2)))
    with pytest.raises(ValueError, match="Precomputed does not read single columns"):
        per_feature(Precomputed()).resolve(np.eye(2))
    with pytest.raises(ValueError, match="call resolve"):
        per_feature(Linear()).names  # noqa: B018

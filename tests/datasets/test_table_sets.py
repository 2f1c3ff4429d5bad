"""The toy problems look as the papers describe them."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier

from kernelweave.datasets.tables import (
    make_mixed_table,
    make_sines,
    make_sparse_to_uniform,
    make_stars,
)

ALL = [make_stars, make_sines, make_sparse_to_uniform]


@pytest.mark.parametrize("make", ALL)
def test_the_random_state_fixes_the_sample(make):
    once, again, other = (make(30, random_state=seed) for seed in (1, 1, 2))
    for a, b in zip(once, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(once[0], other[0])
    assert make(30, random_state=np.random.RandomState(3))[0].shape[0] == 30


@pytest.mark.parametrize("make", [make_stars, make_sparse_to_uniform])
@pytest.mark.parametrize("n", [1, 50, 51])
def test_classes_are_balanced(make, n):
    y = make(n, random_state=0)[1]
    assert set(y) <= {-1.0, 1.0}
    assert np.sum(y > 0) == (n + 1) // 2


def test_stars_lie_at_their_radii():
    X, y = make_stars(4000, outer_radius=8.0, noise=0.0, random_state=0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    wave = radius - np.where(y > 0, 8.0, 4.0)
    np.testing.assert_allclose(wave, np.sin(10 * angle), atol=1e-9)


def test_star_noise_is_on_the_distance():
    X, y = make_stars(20_000, outer_radius=8.0, noise=0.3, random_state=0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    noise = radius - np.where(y > 0, 8.0, 4.0) - np.sin(10 * angle)
    assert noise.std() == pytest.approx(0.3, rel=0.05)


def test_stars_become_separable_with_the_distance():
    def accuracy(outer_radius):
        X, y = make_stars(outer_radius=outer_radius, random_state=0)
        return KNeighborsClassifier().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])

    assert accuracy(4.1) < 0.7
    assert accuracy(9.9) == 1.0


def test_sines_add_up():
    X, y = make_sines(500, frequencies=(3.0, 1.0), slope=0.5, random_state=0)
    x = X[:, 0]
    assert X.shape == (500, 1)
    assert 0 <= x.min() < 0.1
    assert 4 * np.pi - 0.1 < x.max() <= 4 * np.pi
    np.testing.assert_allclose(y, np.sin(3 * x) + np.sin(x) + 0.5 * x)


def test_sines_take_noise():
    X, y = make_sines(20_000, noise=0.2, random_state=0)
    assert (y - np.sin(X[:, 0])).std() == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("n_relevant", [1, 9, 50])
def test_the_best_error_does_not_depend_on_the_sparsity(n_relevant):
    X, y, relevance = make_sparse_to_uniform(40_000, n_relevant=n_relevant, random_state=0)
    assert X.shape == (40_000, 50)
    assert relevance.sum() == n_relevant
    error = np.mean(np.sign(X @ relevance) != y)
    assert error == pytest.approx(norm.cdf(-1.75), abs=0.003)


def test_only_relevant_features_differ_between_the_classes():
    X, y, relevance = make_sparse_to_uniform(40_000, n_relevant=4, random_state=0)
    mean = X[y > 0].mean(axis=0)
    np.testing.assert_allclose(mean, 1.75 / 2 * relevance, atol=0.04)
    np.testing.assert_allclose(X[y < 0].mean(axis=0), -1.75 / 2 * relevance, atol=0.04)
    np.testing.assert_allclose(X[y > 0].var(axis=0), 1.0, atol=0.06)


@pytest.mark.parametrize("n_relevant", [0, 51, -1])
def test_a_bad_number_of_relevant_features_is_named(n_relevant):
    with pytest.raises(ValueError, match="n_relevant must lie between 1 and n_features = 50"):
        make_sparse_to_uniform(n_relevant=n_relevant)


def test_the_mixed_table_has_columns_of_all_kinds():
    pytest.importorskip("pandas")
    X, y = make_mixed_table(200, n_noise=2, random_state=0)
    again, _ = make_mixed_table(200, n_noise=2, random_state=0)
    assert list(X) == ["age", "spend", "noise 1", "noise 2", "city", "colour", "review"]
    assert X.equals(again)
    assert set(y) == {"returned", "lost"}
    assert 0.3 < np.mean(y == "returned") < 0.7


def test_mood_and_city_of_the_mixed_table_matter_and_colour_does_not():
    pytest.importorskip("pandas")
    X, y = make_mixed_table(4000, random_state=0)
    returned = y == "returned"
    rates = {name: _spread(returned, X[name]) for name in ("city", "colour")}
    great = X["review"].str.contains("great|love|quick", regex=True).to_numpy()
    assert rates["city"] > 0.15
    assert rates["colour"] < 0.06
    assert returned[great].mean() > returned[~great].mean() + 0.1


def _spread(flags, groups):
    """Difference between the largest and the smallest rate of a group."""
    rates = [flags[groups == group].mean() for group in set(groups)]
    return max(rates) - min(rates)

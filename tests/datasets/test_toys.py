"""The papers' toy results: learned weights reflect the structure of the data."""

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.datasets import make_sines, make_sparse_to_uniform, make_stars
from kernelweave.kernels import RBF, Linear, per_feature

RADII = (4.1, 4.5, 5.0, 6.0, 9.9)
STAR_WIDTHS = np.array([0.01, 0.1, 1.0, 10.0, 100.0])  # 2 sigma^2, as in the paper
SINE_WIDTHS = np.array([0.005, 0.05, 0.5, 1.0, 10.0])
TEN_WIDTHS = np.array([0.001, 0.005, 0.01, 0.05, 0.1, 1.0, 10.0, 50.0, 100.0, 1000.0])


def mean_width(weights, widths):
    """The weighted mean on a logarithmic scale."""
    return np.exp(weights @ np.log(widths) / weights.sum())


@pytest.fixture(scope="module")
def star_svms():
    """SVMs at p = 1 with the paper's C, for stars at growing distance."""
    samples = [make_stars(400, outer_radius=radius, random_state=0) for radius in RADII]
    widths = RBF(gamma=1 / STAR_WIDTHS)
    return [MKLClassifier(widths, norm=1, C=0.5, normalize=None).fit(X, y) for X, y in samples]


def test_widths_grow_as_the_stars_part(star_svms):
    chosen = [mean_width(machine.weights_, STAR_WIDTHS) for machine in star_svms]
    assert np.all(np.diff(chosen) > 0)
    assert star_svms[0].weights_[0] > 0.9  # nearly touching: the smallest width
    assert star_svms[-1].weights_[3] > 0.9


def test_the_largest_width_is_never_chosen_for_stars(star_svms):
    assert all(machine.weights_[-1] == 0 for machine in star_svms)


def test_separated_stars_are_classified(star_svms):
    errors = []
    for radius, machine in zip(RADII, star_svms, strict=True):
        X, y = make_stars(2000, outer_radius=radius, random_state=1)
        errors.append(1 - machine.score(X, y))
    assert np.all(np.diff(errors) <= 0)
    assert errors[0] > 0.3
    assert errors[-1] == 0


@pytest.mark.parametrize(("frequency", "width"), [(1, 1.0), (2, 0.5), (5, 0.05), (10, 0.005)])
def test_the_frequency_of_a_sine_selects_the_width(frequency, width):
    X, y = make_sines(200, frequencies=(frequency,), random_state=0)
    model = MKLRegressor(RBF(gamma=1 / SINE_WIDTHS), norm=1, C=10, epsilon=0.1, normalize=None).fit(
        X, y
    )
    assert SINE_WIDTHS[model.weights_.argmax()] == width
    assert model.weights_.max() > 0.9


def test_two_sines_on_a_slope_select_a_narrow_and_a_wide_kernel():
    """The narrow kernel follows the higher frequency; the wide one does not change."""
    narrow = TEN_WIDTHS < 1
    chosen = []
    for frequency in (5, 10, 20):
        X, y = make_sines(300, frequencies=(frequency, 1), slope=0.5, random_state=0)
        model = MKLRegressor(
            RBF(gamma=1 / TEN_WIDTHS), norm=1, C=5, epsilon=0.1, normalize=None
        ).fit(X, y)
        weights = model.weights_
        assert weights[narrow].sum() > 0.5
        assert weights[~narrow].sum() > 0.2
        assert TEN_WIDTHS[~narrow][weights[~narrow].argmax()] == 10.0
        assert np.count_nonzero(weights) <= 5
        chosen.append(mean_width(weights[narrow], TEN_WIDTHS[narrow]))
    assert np.all(np.diff(chosen) < 0)


def tuned_error(p, n_relevant, seed):
    """Test error of an SVM on 50 examples, with C chosen on other examples."""
    parts = [
        make_sparse_to_uniform(n, n_relevant=n_relevant, random_state=seed + part)[:2]
        for part, n in ((0, 50), (100, 1000), (200, 2000))
    ]
    (X, y), validation, test = parts
    each = per_feature(Linear())
    models = [MKLClassifier(each, norm=p, C=C).fit(X, y) for C in (0.001, 0.01, 0.1)]
    return 1 - max(models, key=lambda model: model.score(*validation)).score(*test)


@pytest.mark.parametrize(
    ("n_relevant", "best", "worst"), [(1, 1.0, np.inf), (9, 2.0, 1.0), (50, np.inf, 1.0)]
)
def test_the_best_norm_follows_the_sparsity_of_the_truth(n_relevant, best, worst):
    errors = {
        p: np.mean([tuned_error(p, n_relevant, seed) for seed in (0, 1)])
        for p in (1.0, 2.0, np.inf)
    }
    assert min(errors, key=errors.get) == best
    assert max(errors, key=errors.get) == worst

"""Reliability diagrams draw frequencies of bins."""

import numpy as np
import pytest
from scipy.stats import binomtest

from kernelweave import MKLClassifier
from kernelweave.display.reliability import ReliabilityDisplay, wilson_interval
from kernelweave.kernels import RBF


def test_points_are_means_of_bins_with_equal_numbers_of_examples(rng):
    p = np.sort(rng.random(100))
    y = rng.random(100) < p
    display = ReliabilityDisplay(y, p, n_bins=5).plot()
    np.testing.assert_allclose(display.line_.get_xdata(), p.reshape(5, 20).mean(axis=1))
    np.testing.assert_allclose(display.line_.get_ydata(), y.reshape(5, 20).mean(axis=1))
    assert display.brier_ == pytest.approx(np.mean((p - y) ** 2))


def test_intervals_are_those_of_wilson():
    low, high = wilson_interval(np.array([0.0, 0.3, 1.0]), np.array([10, 20, 5]))
    for k, (successes, n) in enumerate([(0, 10), (6, 20), (5, 5)]):
        wanted = binomtest(successes, n).proportion_ci(method="wilson")
        assert low[k] == pytest.approx(wanted.low, abs=1e-4)
        assert high[k] == pytest.approx(wanted.high, abs=1e-4)


def test_equal_probabilities_share_a_bin():
    display = ReliabilityDisplay([0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(display.predicted_, [0.5])
    assert display.calibration_error_ == 0.0


def test_display_from_an_estimator_reads_the_probability_of_a_class(rng):
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[np.arange(90) % 3]
    model = MKLClassifier(RBF(0.5), calibrate="sigmoid").fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, target="b")
    np.testing.assert_array_equal(display.probabilities, model.predict_proba(X)[:, 1])
    with pytest.raises(ValueError, match="target must be one of the classes"):
        ReliabilityDisplay.from_estimator(model, X, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.1]), "vectors of one length"),
        (([0, 2], [0.1, 0.2]), "y must contain only 0 and 1"),
        (([0, 1], [0.1, 0.2], 0), "n_bins must be at least 1"),
    ],
)
def test_mistaken_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ReliabilityDisplay(*arguments)

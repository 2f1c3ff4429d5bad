"""Results: a certificate with alpha and weights, shifted targets, and kernels left out."""

import numpy as np
import pytest

from kernelweave.optimization.log import Progress
from kernelweave.optimization.result import Result
from kernelweave.problem.certificate import Certificate

CERTIFICATE = Certificate(primal=2.0, dual=1.0, constant=4.0, gap=0.5, bias=0.1)


@pytest.fixture
def result():
    weights = np.array([0.6, 0.8])
    progress = Progress(**vars(CERTIFICATE), seconds=1.0, weights=weights)
    return Result(
        **vars(CERTIFICATE),
        alpha=np.zeros(5),
        weights=weights,
        n_iter=1,
        history=[progress],
        converged=False,
    )


def test_results_and_progress_carry_their_certificate(result):
    assert (result.gap, result.bias, result.history[0].primal) == (0.5, 0.1, 2.0)
    assert result.scale == result.history[0].scale == CERTIFICATE.scale


def test_shifted_targets_shift_the_bias(result):
    moved = result.moved(2.0)
    assert moved.bias == moved.history[0].bias == pytest.approx(2.1)
    assert result.moved(0.0) is result
    assert (moved.primal, moved.dual, moved.gap) == (result.primal, result.dual, result.gap)


def test_kernels_left_out_get_weight_zero(result):
    spread = result.spread(np.array([3, 1]), 4)
    np.testing.assert_array_equal(spread.weights, [0.0, 0.8, 0.0, 0.6])
    np.testing.assert_array_equal(spread.history[0].weights, spread.weights)
    assert result.spread(np.arange(2), 2) is result

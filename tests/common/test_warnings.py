"""Warnings are attributed to the line of the caller's code."""

import inspect
import warnings

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.common.warnings import warn
from kernelweave.genome import Region, Regions, resize
from kernelweave.kernels import RBF, GappedKmer, Precomputed, per_feature, prepare


def here() -> int:
    """Return the number of the line that calls."""
    return inspect.currentframe().f_back.f_lineno


@pytest.fixture
def X(rng):
    """Three columns, the second of which is constant."""
    X = rng.normal(size=(40, 3))
    X[:, 1] = 1.0
    return X


def assert_points_to(caught, line, text):
    (found,) = (one for one in caught if text in str(one.message))
    assert (found.filename, found.lineno) == (__file__, line)


def test_warning_of_constant_kernel_points_to_the_call_of_fit(X):
    y = np.where(X[:, 0] > 0, 1, -1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MKLClassifier(per_feature(RBF(0.5)), norm=2).fit(X, y)
        line = here() - 1
    assert_points_to(caught, line, "get weight 0")


def test_warning_of_constant_kernel_points_to_the_call_of_prepare(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prepare(per_feature(RBF(0.5)), "variance", X)
        line = here() - 1
    assert_points_to(caught, line, "get weight 0")


def test_warning_of_a_constructor_points_to_the_call_of_the_constructor():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GappedKmer(l=6, k=4, d=1)
        line = here() - 1
    assert_points_to(caught, line, "not positive semidefinite")


def test_warning_of_a_repaired_matrix_points_to_the_evaluation_of_the_kernel():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Precomputed()(np.array([[1.0, 2.0], [2.0, 1.0]]))
        line = here() - 1
    assert_points_to(caught, line, "not positive semidefinite")


def test_warning_of_chromosome_aliases_points_to_the_call_of_resize():
    peaks = Regions([Region("1", 100, 104, "", "+")], "peaks")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        resize(peaks, "centre", 50, {"chr1": 1000})
        line = here() - 1
    assert_points_to(caught, line, "by alias")


def test_warning_outside_of_the_package_points_to_the_line_of_warn():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("text", RuntimeWarning)
        line = here() - 1
    assert caught[0].category is RuntimeWarning
    assert_points_to(caught, line, "text")

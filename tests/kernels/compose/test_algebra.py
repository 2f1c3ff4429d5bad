"""Sums and products of many kernels: as deep as they are long."""

from functools import reduce
from operator import add, mul

import numpy as np
import pytest

from kernelweave.kernels import RBF, per_feature

MANY = 60  # a question asked twice of every operand would be asked 2^60 times


@pytest.mark.parametrize(("combine", "expected"), [(add, np.add), (mul, np.multiply)])
def test_many_operands(combine, expected, rng):
    X = rng.normal(size=(5, MANY))
    parts = [RBF(0.01, columns=[column]) for column in range(MANY)]
    kernel = reduce(combine, parts)
    assert kernel.size == 1
    values = expected.reduce([part(X) for part in parts])
    np.testing.assert_allclose(kernel(X), values, rtol=1e-12)


def test_many_operands_on_each_column(rng):
    X = rng.normal(size=(5, 2))
    family = per_feature(reduce(add, [RBF(gamma) for gamma in np.linspace(0.1, 1, MANY)]))
    assert family(X).shape == (2, 5, 5)

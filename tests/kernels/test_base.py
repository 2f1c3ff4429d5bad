"""The algebra of kernels."""

import copy
import pickle

import numpy as np
import pytest

from kernelweave.kernels import RBF, Intersection, Laplacian, Linear, Polynomial, per_feature

FAMILY = RBF([0.1, 0.2, 0.7])
SINGLES = [Linear(), RBF(0.5), Polynomial(2, columns=[0, 1]), Laplacian(0.3) * Linear()]


@pytest.fixture
def tables(rng):
    return rng.uniform(size=(17, 4)), rng.uniform(size=(5, 4))


@pytest.mark.parametrize("left", [*SINGLES, FAMILY])
@pytest.mark.parametrize("right", [*SINGLES, FAMILY])
def test_sums_and_products_are_those_of_the_matrices(left, right, tables):
    assert np.allclose((left + right)(*tables), left(*tables) + right(*tables), rtol=1e-13)
    assert np.allclose((left * right)(*tables), left(*tables) * right(*tables), rtol=1e-13)
    X = tables[0]
    assert np.allclose((left + right).diagonal(X), left.diagonal(X) + right.diagonal(X))


@pytest.mark.parametrize("kernel", [*SINGLES, FAMILY])
@pytest.mark.parametrize("factor", [2, 0.5, np.float64(3.0), np.float32(0.25), np.int64(4)])
def test_multiples(kernel, factor, tables):
    expected = float(factor) * kernel(*tables)
    assert np.allclose((factor * kernel)(*tables), expected, rtol=1e-14)
    assert factor * kernel == kernel * factor


@pytest.mark.parametrize("kernel", [*SINGLES, FAMILY])
def test_distributive_law(kernel, tables):
    a, b = RBF(0.5), Intersection()
    assert np.allclose((kernel * (a + b))(*tables), (kernel * a + kernel * b)(*tables), rtol=1e-12)


def test_combinations_are_positive(tables):
    kernel = 2.0 * RBF(0.5) * Linear() + Polynomial(3, columns=[1, 2])
    K = kernel(tables[0])
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()


def test_unit_diagonal_of_products(tables):
    X = tables[0]
    for kernel in (RBF() * Laplacian(), RBF() + RBF(), RBF() * Linear(), 2.0 * RBF()):
        is_unit = np.allclose(kernel.diagonal(X), 1, rtol=1e-15)
        assert kernel.unit_diagonal == is_unit


def test_names(tables):
    kernel = 2.0 * (RBF([0.1, 0.2]) + Linear(columns=0)) * Linear()
    assert kernel.resolve(tables[0]).names == (
        "2 * (RBF gamma=0.1 + Linear on column 0) * Linear",
        "2 * (RBF gamma=0.2 + Linear on column 0) * Linear",
    )


@pytest.mark.parametrize("combine", [lambda a, b: a + b, lambda a, b: a * b])
def test_families_of_different_sizes(combine, tables):
    with pytest.raises(ValueError, match="families of 3 and 2 kernels cannot be combined"):
        combine(FAMILY, RBF([1.0, 2.0]))
    with pytest.raises(ValueError, match="families of 3 and 4 kernels cannot be combined"):
        combine(FAMILY, per_feature(Linear())).resolve(tables[0])


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf])
def test_factors_that_are_not_positive(factor):
    with pytest.raises(ValueError, match="the number must be positive"):
        factor * Linear()


@pytest.mark.parametrize("other", ["text", None, [1.0, 2.0]])
def test_other_operands(other):
    with pytest.raises(TypeError):
        Linear() + other
    with pytest.raises(TypeError):
        Linear() * other


def test_combinations_pickle_copy_and_compare(tables):
    kernel = (RBF([0.1, 0.2]) + Linear(columns=0)) * 2.0
    for original in (kernel, kernel.resolve(tables[0])):
        for clone in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
            assert clone == original
            assert np.array_equal(clone(*tables), kernel(*tables))

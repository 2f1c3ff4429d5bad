"""One kernel out of several has the values and the name it has among them."""

import pytest
from numpy.testing import assert_allclose

from kernelweave import kernels
from kernelweave.kernels import CompiledKernels, prepare
from kernelweave.kernels.compose.member import Member
from kernelweave.kernels.default import default_kernels

SEVERAL = [
    kernels.Linear(),
    kernels.RBF(gamma=[0.1, 1.0]),
    kernels.per_feature(kernels.RBF(gamma=0.5)),
    kernels.Linear() + kernels.Polynomial(degree=[2, 3]),
]


@pytest.mark.parametrize("how", [None, "unit", "variance"])
def test_members_are_the_kernels_one_by_one(rng, how):
    X = rng.normal(size=(12, 3))
    together, _ = prepare(SEVERAL, how, X)
    for m, name in enumerate(together.names):
        alone, _ = prepare(Member(SEVERAL, m), how, X)
        expected = [k(X) if k.is_family else k(X)[None] for k in together.kernels]
        stack = [matrix for family in expected for matrix in family]
        assert alone.names == (name,)
        assert_allclose(alone.kernels[0](X), stack[m])


def test_none_means_the_default_kernels(rng):
    X = rng.normal(size=(12, 3))
    every = CompiledKernels(tuple(default_kernels(X, weights=rng.uniform(1, 1, 12)))).names
    assert [Member(None, m).resolve(X).names[0] for m in range(len(every))] == list(every)


def test_an_index_beyond_the_kernels_is_refused(rng):
    with pytest.raises(ValueError, match="index must be less than the number of kernels, 8, got 9"):
        Member(SEVERAL, 9).resolve(rng.normal(size=(12, 3)))


def test_members_have_names_only_after_resolve():
    with pytest.raises(ValueError, match="call resolve"):
        _ = Member(SEVERAL, 0).names

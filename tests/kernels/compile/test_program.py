"""Programs: shared sources, chains of squarings, names, and examples that can be subset."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from kernelweave.common.core import _core
from kernelweave.engines import TrainingSet
from kernelweave.kernels import RBF, ChiSquared, Laplacian, Linear, Polynomial, per_feature, prepare
from kernelweave.kernels.compile.program import Layout, chains, link


def expressions(*kernels):
    layout = Layout()
    return layout, [e for kernel in kernels for e in kernel.expressions(layout)]


def squarings(kernel, X):
    _, found = expressions(kernel.resolve(X))
    return [len(chain) - 1 for chain in chains(found)]


X = np.random.default_rng(0).uniform(0.1, 1, (12, 4))


@pytest.mark.parametrize(
    ("gammas", "expected"),
    [
        ([0.1, 0.2, 0.4], [2]),
        ([0.4, 0.2, 0.1], [0, 0, 0]),
        ([1.0, 2.0, 3.0, 6.0, 5.0], [1, 1, 0]),
        ([1.0, 2.0000000001], [0, 0]),
        (2.0 ** np.arange(20), [8, 8, 1]),
    ],
)
def test_chains(gammas, expected):
    for kernel in (RBF(gammas), Laplacian(gammas), 3.0 * RBF(gammas), RBF(gammas) * Linear()):
        assert squarings(kernel, X) == expected


def test_chains_do_not_cross_sources():
    assert squarings(per_feature(RBF([1.0, 2.0])), X) == [1, 1, 1, 1]


def test_instructions_of_a_chain():
    _, found = expressions((2.0 * RBF([1.0, 2.0])).resolve(X))
    (chain,) = chains(found)
    assert list(link(chain)) == [
        ("exp", 0, 1.0),
        ("dup",),
        ("scale", 2.0),
        ("out",),
        ("square",),
        ("scale", 2.0),
        ("out",),
    ]


@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: 0.3 * k * Linear() + Polynomial(2)])
def test_squarings_are_accurate(wrap):
    gammas = 2.0 ** np.arange(-12, 8)
    values = wrap(RBF(gammas))(X)
    singles = [wrap(RBF(gamma))(X) for gamma in gammas]
    assert np.allclose(values, singles, rtol=1e-12, atol=1e-300)


def test_sources_are_shared():
    kernels = [
        RBF([0.1, 0.3]),
        Linear(),
        Polynomial([1, 2]),
        RBF(7.0) * Linear(),
        Laplacian(0.3),
        RBF(columns=[0, 1]),
        Linear(columns=[0, 1]),
    ]
    layout, _ = expressions(*(kernel.resolve(X) for kernel in kernels))
    kinds = [kind for kind, _ in layout.sources]
    assert kinds == ["sqdist", "dot", "l1", "sqdist", "dot"]
    compiled, examples = prepare(kernels, None, X)
    assert len(examples.tables) == 2
    assert examples.sources == (0, 0, 0, 1, 1)
    assert compiled.n_kernels == compiled.program.n_kernels == 9


@pytest.mark.parametrize("how", ["unit", None])
def test_some_kernels_read_no_sources_but_theirs(how):
    kernels = [per_feature(RBF([0.1, 0.2])), Linear(columns=[1, 2]), ChiSquared() + Linear()]
    compiled, examples = prepare(kernels, how, X)
    whole = TrainingSet(compiled.listing, examples)
    values = _core.evaluate(compiled.program, examples.side, examples.side, 1)
    for chosen, sources, tables in (([9], 2, 2), ([5, 8, 2], 3, 3), (range(10), 7, 7)):
        part = whole.part(np.array(chosen))
        side = part.examples.side
        assert (part.kernels.n_sources, len(part.examples.tables)) == (sources, tables)
        found = _core.evaluate(part.kernels.program, side, side, 1)
        np.testing.assert_allclose(found, values[chosen], rtol=1e-14)


@pytest.mark.parametrize("how", ["variance", "unit", "trace", "center", None])
def test_a_list_is_its_kernels(how):
    Y = X[:5] + 0.05
    kernels = [RBF([0.1, 0.2]), Linear(columns=[1, 2]), ChiSquared() + Linear()]
    compiled, examples = prepare(kernels, how, X)
    values = _core.evaluate(compiled.program, examples.side, compiled.examples(Y).side, 1)
    singles = [prepare(kernel, how, X)[0].kernels[0](Y, X) for kernel in kernels]
    expected = np.concatenate([K if K.ndim == 3 else K[None] for K in singles])
    assert np.allclose(np.swapaxes(values, 1, 2), expected, rtol=1e-12, atol=1e-14)


def test_names_are_unique():
    compiled, _ = prepare([RBF(0.1), RBF([0.1, 0.2]), RBF(0.2)], None, X)
    expected = ("RBF gamma=0.1", "RBF gamma=0.1 #2", "RBF gamma=0.2", "RBF gamma=0.2 #2")
    assert compiled.names == expected


@pytest.mark.parametrize("table", [X, sp.csr_array(np.eye(12, 50) + np.eye(12, 50, k=3))])
@pytest.mark.parametrize("how", ["unit", "center"])
def test_subsets_are_rows(table, how):
    compiled, examples = prepare([RBF([0.1, 0.3]), Polynomial(2), Linear()], how, table)
    chosen = np.array([7, 2, 2, 11])
    whole = _core.evaluate(compiled.program, examples.side, examples.side, 1)
    for part in (examples.take(chosen), examples.reference(chosen)):
        values = _core.evaluate(compiled.program, part.side, examples.side, 1)
        assert part.n == 4
        assert np.allclose(values, whole[:, chosen], rtol=1e-12, atol=1e-14)


def test_state_pickles_and_copies():
    compiled, examples = prepare([RBF([0.1, 0.2]), Linear()], "center", X)
    expected = _core.evaluate(compiled.program, examples.side, examples.side, 1)
    for clone in (lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy):
        program, side = clone(compiled).program, clone(examples).side
        assert np.array_equal(_core.evaluate(program, side, side, 1), expected)
        assert clone(compiled) == compiled


def test_few_values_are_stored_sparsely():
    wide = np.random.default_rng(0).uniform(size=(9, 60))
    few, many = np.where(wide < 0.2, wide, 0), np.where(wide < 0.8, wide, 0)
    for table in (few, sp.csr_array(few)):
        assert type(prepare(Linear(), None, table)[1].tables[0]).__name__ == "Sparse"
    for table in (many, sp.csr_array(many)):
        assert type(prepare(Linear(), None, table)[1].tables[0]).__name__ == "Dense"


def test_duplicates_in_sparse_matrices_add_up():
    matrix = sp.csr_array(([1.0, 2.0, 5.0], [3, 3, 0], [0, 2, 3]), shape=(2, 9))
    assert np.array_equal(Linear()(matrix), [[9, 0], [0, 25]])
    assert matrix.nnz == 3


@pytest.mark.parametrize("kernels", [[], [Linear(), "rbf"], "rbf", None, 3])
def test_bad_lists_are_named(kernels):
    with pytest.raises(ValueError, match="kernels must be a kernel or a list of kernels"):
        prepare(kernels, None, X)

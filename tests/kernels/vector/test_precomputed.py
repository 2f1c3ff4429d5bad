"""Given matrices: roles of rows and columns, and repairs."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.kernels import RBF, Precomputed, prepare


@pytest.fixture
def points(rng):
    return rng.normal(size=(20, 3)), rng.normal(size=(6, 3))


@pytest.fixture
def matrices(points):
    train, new = points
    return train @ train.T, new @ train.T


def clipped(K):
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def indefinite(rng, n=15):
    K = rng.normal(size=(n, n))
    return (K + K.T) / 2


def test_matrix_is_given_back(matrices):
    train, new = matrices
    assert np.array_equal(Precomputed()(train), train)
    assert np.array_equal(Precomputed()(new, train), new)
    assert np.array_equal(Precomputed().diagonal(train), np.diag(train))
    assert np.array_equal(Precomputed()(sp.csr_array(train)), train)


def test_matrices_side_by_side(matrices, points):
    train, new = matrices
    both = np.hstack([train, np.exp(train / 9)])
    both_new = np.hstack([new, np.exp(new / 9)])
    kernel = Precomputed(columns=slice(20, 40))
    assert np.array_equal(kernel(both_new, both), np.exp(new / 9))
    table = np.hstack([both, points[0]])
    mixed = Precomputed(columns=slice(0, 20)) * RBF(0.5, columns=slice(40, 43))
    assert np.allclose(mixed(table), train * RBF(0.5)(points[0]), rtol=1e-14)


@pytest.mark.parametrize("how", [None, "variance", "trace", "center"])
def test_support_examples_need_only_their_numbers(matrices, how):
    train, new = matrices
    compiled, examples = prepare(Precomputed(), how, train)
    support = np.array([3, 0, 17])
    reference = examples.reference(support)
    assert reference.tables[0].matrix.size == 0
    values = _core.evaluate(compiled.program, reference.side, compiled.examples(new).side, 1)
    expected = compiled.kernels[0](new, train)[:, support].T
    assert np.allclose(values[0], expected, rtol=1e-13, atol=1e-13)


def test_good_matrices_pass_in_silence(matrices, load_real):
    train, _ = matrices
    cells = load_real("drug_response_pairwise")
    real = [cells[name] for name in cells if name.startswith(("Kd_", "Kc_"))]
    assert len(real) == 22
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for K in [train, train.astype(np.float32), train + 1e-12, np.eye(4), *real]:
            assert Precomputed(repair="error").resolve(K).negative is None


def test_indefinite_matrix_is_clipped(rng):
    K = indefinite(rng)
    smallest = np.linalg.eigvalsh(K)[0]
    with pytest.warns(UserWarning, match=f"smallest eigenvalue is {smallest:.6g}"):
        kernel = Precomputed().resolve(K)
    assert np.allclose(kernel(K), clipped(K), atol=1e-12)
    assert np.linalg.eigvalsh(kernel(K))[0] > -1e-12
    # The rows of training examples, given once more as new ones, are projected alike.
    assert np.allclose(kernel(K[:4], K), clipped(K)[:4], atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*smallest eigenvalue:UserWarning")
def test_asymmetric_matrix_is_averaged(matrices):
    K = matrices[0].copy()
    K[0, 1] += 0.25
    with pytest.warns(UserWarning, match="differ by up to 0.25"):
        kernel = Precomputed().resolve(K)
    assert np.allclose(kernel(K), clipped(K), atol=1e-12)
    assert np.array_equal(kernel(K), kernel(K).T)


def test_refusals_name_the_number(rng, matrices):
    K = indefinite(rng)
    with pytest.raises(ValueError, match=f"smallest eigenvalue is {np.linalg.eigvalsh(K)[0]:.6g}"):
        Precomputed(repair="error").resolve(K)
    K = matrices[0].copy()
    K[2, 3] -= 0.5
    with pytest.raises(ValueError, match=r"'Precomputed' is not symmetric.*0.5"):
        Precomputed(repair="error").resolve(K)


@pytest.mark.filterwarnings("ignore:kernel 'Precomputed:UserWarning")
@pytest.mark.parametrize("data", ["dti_nr", "dti_ic"])
def test_real_similarities(load_real, data):
    arrays = load_real(data)
    names = [name for name in arrays if name.startswith(("Kd_", "Kp_"))]
    repaired = 0
    with single_threaded_blas():  # small eigenproblems are slow on busy cores
        for name in names:
            K = arrays[name].astype(float)
            kernel = Precomputed().resolve(K)
            repaired += kernel.negative is not None
            expected = clipped(K) if kernel.negative is not None else (K + K.T) / 2
            assert np.allclose(kernel(K), expected, atol=1e-10 * np.abs(K).max())
    assert 0 < repaired < len(names)


def test_repaired_kernel_pickles_and_copies(rng):
    K = indefinite(rng)
    with pytest.warns(UserWarning, match="repaired"):
        kernel = Precomputed().resolve(K)
    for clone in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert np.array_equal(clone(K[:3], K), kernel(K[:3], K))


def test_bad_use_is_named(matrices):
    train, new = matrices
    with pytest.raises(ValueError, match=r"repair must be .* got 'no'"):
        Precomputed(repair="no")
    with pytest.raises(ValueError, match=r"must be square, but its shape is \(6, 20\)"):
        Precomputed()(new)
    with pytest.raises(ValueError, match="must be square"):
        Precomputed().resolve(train).diagonal(new)
    with pytest.raises(ValueError, match="X has 19 features"):
        Precomputed()(new[:, :19], train)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Precomputed()(np.full((2, 2), np.nan))

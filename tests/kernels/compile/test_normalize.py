"""Normalisations on training data and on new data, against their definitions."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from naive_normalize import normalised_across

from kernelweave.kernels import (
    RBF,
    BagOfWords,
    ChiSquared,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    normalize,
    per_feature,
    prepare,
)
from kernelweave.kernels.compile import normalized_kernels

KERNELS = {
    "linear": Linear(),
    "polynomials": Polynomial([1, 2, 3]),
    "rbf": RBF(0.5),
    "widths": RBF([0.1, 0.2, 0.4, 3.0]),
    "laplacian": Laplacian([0.1, 1.0]),
    "chi squared": ChiSquared(0.3),
    "intersection": Intersection(),
    "sum": RBF([0.1, 0.2]) + 0.5 * Linear(columns=[0, 1]),
    "product": RBF(0.3) * Polynomial([1, 2]),
    "features": per_feature(Polynomial(2)),
}
HOWS = ["variance", "unit", "trace", "center"]


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture
def tables(rng):
    return rng.uniform(size=(30, 4)), rng.uniform(size=(7, 4))


def stack(K):
    return K if K.ndim == 3 else K[None]


def oracle(kernel, how, X, Y):
    """Return the normalised values of new examples Y against X, from full matrices."""
    train, new, own = stack(kernel(X)), stack(kernel(Y, X)), kernel.diagonal(Y)
    parts = zip(train, new, np.atleast_2d(own), strict=True)
    return np.stack([normalised_across(K, across.T, k, how).T for K, across, k in parts])


@pytest.mark.parametrize("how", HOWS)
def test_formula_holds_for_training_and_new_data(kernel, how, tables):
    X, Y = tables
    normal = normalize(kernel, how, X)
    resolved = kernel.resolve(X)
    assert np.allclose(stack(normal(X)), oracle(resolved, how, X, X), rtol=1e-10, atol=1e-12)
    assert np.allclose(stack(normal(Y, X)), oracle(resolved, how, X, Y), rtol=1e-10, atol=1e-12)


def test_laws(kernel, tables):
    X, _ = tables
    for K in stack(normalize(kernel, "variance", X)(X)):
        assert np.trace(K) / len(K) - K.mean() == pytest.approx(1, rel=1e-11)
    for K in stack(normalize(kernel, "trace", X)(X)):
        assert np.trace(K) == pytest.approx(len(K), rel=1e-11)
    for K in stack(normalize(kernel, "unit", X)(X)):
        assert np.allclose(np.diag(K), 1, rtol=1e-14)
        assert np.abs(K).max() <= 1 + 1e-12
    for K in stack(normalize(kernel, "center", X)(X)):
        assert np.allclose(K.mean(axis=0), 0, atol=1e-11 * np.abs(K).max())


@pytest.mark.parametrize("how", HOWS)
def test_normalised_matrices_stay_positive(kernel, how, tables):
    for K in stack(normalize(kernel, how, tables[0])(tables[0])):
        assert np.linalg.eigvalsh((K + K.T) / 2)[0] > -1e-11 * np.abs(K).max()


@pytest.mark.parametrize("how", HOWS)
def test_diagonal_and_names(kernel, how, tables):
    X, _ = tables
    normal = normalize(kernel, how, X)
    matrices = normal(X)
    assert np.allclose(normal.diagonal(X), np.diagonal(matrices, axis1=-2, axis2=-1), atol=1e-12)
    assert normal.names == kernel.resolve(X).names
    assert normal.is_family == kernel.is_family


@pytest.mark.parametrize("how", HOWS)
def test_sparse_and_frames(kernel, how, tables):
    pandas = pytest.importorskip("pandas")
    X, Y = tables
    expected = normalize(kernel, how, X)(Y, X)
    for form in (sp.csr_array, lambda table: pandas.DataFrame(table, columns=list("abcd"))):
        values = normalize(kernel, how, form(X))(form(Y), form(X))
        assert np.allclose(values, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("how", [*HOWS, None])
def test_normalised_kernels_pickle_and_copy(kernel, how, tables):
    X, Y = tables
    normal = normalize(kernel, how, X)
    for clone in (pickle.loads(pickle.dumps(normal)), copy.deepcopy(normal)):
        assert clone == normal
        assert np.array_equal(clone(Y, X), normal(Y, X))


def test_normalised_kernels_are_returned_unchanged(tables):
    X, _ = tables
    assert normalize(RBF(0.5), "unit", X) == RBF(0.5).resolve(X)
    assert normalize(Linear(), None, X) == Linear().resolve(X)


@pytest.mark.parametrize("how", HOWS)
def test_many_examples_are_sampled(how, rng, monkeypatch):
    monkeypatch.setattr(normalized_kernels, "MOST_EXAMPLES", 400)
    X = rng.normal(size=(2000, 3))
    kernel = RBF([0.5, 2.0])
    sample = X[np.linspace(0, 1999, 400).astype(int)]
    values = normalize(kernel, how, X)(X[:5], X[:9])
    if how != "trace":  # a mean over examples costs little, and is never sampled
        expected = normalize(kernel, how, sample)(X[:5], X[:9])
        assert np.allclose(values, expected, rtol=1e-10, atol=1e-12)
    assert np.allclose(values, oracle(kernel.resolve(X), how, X, X)[:, :5, :9], atol=0.05)


def test_sums_over_halves(rng):
    """Above 512 examples, pairs across halves are evaluated once and count twice."""
    X = rng.normal(size=(1301, 2))
    K = normalize(RBF(0.5), "variance", X)(X)
    assert np.trace(K) / len(K) - K.mean() == pytest.approx(1, rel=1e-11)


@pytest.mark.parametrize("how", HOWS)
def test_threads_do_not_change_values(how, rng):
    X = rng.normal(size=(600, 3))
    kernel = RBF([0.5, 2.0])
    one, two = (prepare(kernel, how, X, n_jobs=jobs)[0].kernels[0] for jobs in (1, 2))
    assert np.allclose(one(X[:9], X), two(X[:9], X), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (Linear(columns=1), "Linear on column 1"),
        (RBF(columns=[1]), "RBF gamma=1 on column 1"),
        (Polynomial([1, 2], columns=1), "Polynomial degree=1 gamma=1 coef0=1 on column 1"),
    ],
)
def test_constant_kernels_are_refused_by_name(how, kernel, name, rng):
    X = np.column_stack([rng.normal(size=9), np.full(9, 1234.5)])
    with pytest.raises(ValueError, match=f"'{name}' is constant on the training data"):
        normalize(kernel, how, X)


@pytest.mark.parametrize("how", HOWS)
def test_constant_members_become_0(how, rng):
    X = np.column_stack([rng.normal(size=9), np.full(9, 1234.5)])
    both = normalize(per_feature(RBF(2.0)), how, X)(X)
    assert np.all(both[1] == 0)
    assert np.array_equal(both[0], normalize(RBF(2.0, columns=[0]), how, X)(X))


@pytest.mark.parametrize("how", ["variance", "center", "trace", "unit", None])
@pytest.mark.parametrize("widths", [5, 40, 700])
def test_members_of_large_families_are_normalised_as_single_kernels_are(how, widths, rng):
    X = rng.normal(size=(60, 2))
    gammas = np.geomspace(0.01, 100, widths)
    family = normalize(RBF(gammas), how, X)(X)
    for m in (0, widths // 2, widths - 1):
        assert np.allclose(family[m], normalize(RBF(gammas[m]), how, X)(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [RBF, Laplacian])
@pytest.mark.parametrize("widest", [1e-6, 1.0, 1e3])
def test_variances_of_very_many_widths_are_interpolated(kind, widest, rng):
    X = rng.normal(size=(30, 2))
    gammas = rng.permutation(np.geomspace(widest, 1e3, 900))
    factors = normalize(kind(gammas), "variance", X).factors
    for m in range(0, 900, 90):
        expected = normalize(kind([gammas[m], gammas[m]]), "variance", X).factors[0]
        assert factors[m] == pytest.approx(expected, rel=1e-8)


def test_kernels_that_become_constant_are_refused():
    with pytest.raises(ValueError, match=r"'Linear' is constant"):
        normalize(Linear(), "unit", [[1.0], [2.0], [5.0]])
    assert normalize(Linear(), "unit", [[1.0], [-2.0], [5.0]]).n_kernels == 1


@pytest.mark.parametrize("how", HOWS)
def test_zero_kernels_are_refused(how):
    with pytest.raises(ValueError, match=r"kernel 'Linear'"):
        normalize(Linear(), how, np.zeros((3, 2)))


def test_zero_self_similarity():
    with pytest.raises(ValueError, match="k\\(x, x\\) = 0 for example 1"):
        normalize(Linear(), "unit", [[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]])
    texts = ["some words", "other words"]
    kernel = normalize(BagOfWords(), "unit", texts)
    assert np.array_equal(kernel(["nothing known"], texts), [[0, 0]])


def test_unit_needs_the_diagonal_of_new_examples(tables):
    X, _ = tables
    K = RBF(0.5)(X)
    assert normalize(Precomputed(), "unit", K) == Precomputed().resolve(K)
    with pytest.raises(ValueError, match="which a precomputed matrix does not contain"):
        normalize(Precomputed(), "unit", 2.0 * K)


@pytest.mark.parametrize("how", ["variance", "trace", "center"])
def test_given_matrices(how, tables):
    X, Y = tables
    kernel = Polynomial(2).resolve(X)
    train, new = kernel(X), kernel(Y, X)
    normal = normalize(Precomputed(), how, train)
    assert np.allclose(normal(new, train), normalize(kernel, how, X)(Y, X), rtol=1e-9, atol=1e-12)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"normalize must be one of .*'variance'.*, got 'norm'"):
        normalize(Linear(), "norm", np.eye(2))


def test_real_data(load_real):
    X = load_real("pima")["X"].astype(float)
    for how in HOWS:
        compiled, examples = prepare([RBF([1e-4, 1e-3]), Linear(), per_feature(RBF(0.1))], how, X)
        assert compiled.n_kernels == 11
        assert examples.n == 768
        assert np.isfinite(examples.vectors).all()

"""Every vector kernel against its formula, and the laws that all of them obey."""

import copy
import pickle

import naive_kernels as naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise as sklearn_pairwise

from kernelweave.kernels import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial

KERNELS = {
    "linear": (Linear(), [naive.linear]),
    "polynomial": (Polynomial(2, 0.5, 1.5), [naive.polynomial(2, 0.5, 1.5)]),
    "polynomial, default gamma": (Polynomial(), [naive.polynomial(3, 1 / 6, 1.0)]),
    "rbf": (RBF(0.3), [naive.rbf(0.3)]),
    "rbf, default gamma": (RBF(), [naive.rbf(1 / 6)]),
    "laplacian": (Laplacian(0.3), [naive.laplacian(0.3)]),
    "laplacian, default gamma": (Laplacian(), [naive.laplacian(1 / 6)]),
    "chi squared": (ChiSquared(0.7), [naive.chi_squared(0.7)]),
    "chi squared, default gamma": (ChiSquared(), [naive.chi_squared(1.0)]),
    "intersection": (Intersection(), [naive.intersection]),
    "degrees": (Polynomial([1, 2, 5], 0.2), [naive.polynomial(p, 0.2, 1.0) for p in (1, 2, 5)]),
    "degrees and offsets": (
        Polynomial(degree=[1, 3], gamma=0.2, coef0=[0.0, 2.0]),
        [naive.polynomial(1, 0.2, 0.0), naive.polynomial(3, 0.2, 2.0)],
    ),
    "widths": (RBF([1.0, 0.1, 3.0]), [naive.rbf(g) for g in (1.0, 0.1, 3.0)]),
    "doubling widths": (
        RBF(2.0 ** np.arange(-6, 6)),
        [naive.rbf(g) for g in 2.0 ** np.arange(-6, 6)],
    ),
    "laplacian widths": (Laplacian((0.1, 0.2)), [naive.laplacian(g) for g in (0.1, 0.2)]),
    "chi squared widths": (ChiSquared((0.1, 0.2)), [naive.chi_squared(g) for g in (0.1, 0.2)]),
}


@pytest.fixture(params=KERNELS)
def case(request):
    return KERNELS[request.param]


@pytest.fixture
def tables(rng):
    X, Y = rng.uniform(0, 2, (21, 6)), rng.uniform(0, 2, (9, 6))
    X[rng.uniform(size=X.shape) < 0.2] = 0.0
    return X, Y


def stack(kernel, values):
    return values if kernel.is_family else values[None]


def test_kernel_is_its_formula(case, tables):
    kernel, formulas = case
    X, Y = tables
    expected = [naive.pairwise(formula, X, Y) for formula in formulas]
    assert np.allclose(stack(kernel, kernel(X, Y)), expected, rtol=1e-12, atol=1e-14)
    expected = [naive.pairwise(formula, X, X) for formula in formulas]
    assert np.allclose(stack(kernel, kernel(X)), expected, rtol=1e-12, atol=1e-14)


def test_diagonal_is_that_of_the_matrix(case, tables):
    kernel, formulas = case
    X, _ = tables
    expected = [[formula(x, x) for x in X] for formula in formulas]
    assert np.allclose(stack(kernel, kernel.diagonal(X)), expected, rtol=1e-12)
    assert not kernel.unit_diagonal or np.all(kernel.diagonal(X) == 1)


def test_matrix_is_symmetric_and_positive(case, tables):
    kernel, _ = case
    for K in stack(kernel, kernel(tables[0])):
        assert np.array_equal(K, K.T)
        assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max() * len(K)


def test_a_set_against_itself_is_the_set_against_its_copy(case, tables, rng):
    kernel, _ = case
    X = tables[0][rng.integers(len(tables[0]), size=300)]  # more than fit into one tile
    assert np.allclose(kernel(X), kernel(X, X.copy()), rtol=1e-12, atol=1e-14)


def test_swapping_the_arguments_transposes(case, tables):
    kernel, _ = case
    X, Y = tables
    assert np.allclose(kernel(X, Y), np.swapaxes(kernel(Y, X), -1, -2), rtol=1e-12)


@pytest.mark.parametrize("density", [0.1, 0.9])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_is_dense(case, tables, rng, density, form):
    kernel, _ = case
    X, Y = (np.where(rng.uniform(size=T.shape) < density, T, 0.0) for T in tables)
    expected = kernel(X, Y)
    assert np.allclose(kernel(form(X), form(Y)), expected, rtol=1e-12, atol=1e-14)
    assert np.allclose(kernel.resolve(X)(form(X), Y), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in KERNELS if "default" not in name])
@pytest.mark.parametrize("densities", [(0.1, 0.1), (0.1, 0.9), (0.9, 0.1)])
def test_wide_tables_of_any_density(name, densities, rng):
    """Wide tables with few values are stored sparsely; the two sides need not be stored alike."""
    kernel, formulas = KERNELS[name]
    X, Y = (
        np.where(rng.uniform(size=(9, 50)) < p, rng.uniform(size=(9, 50)), 0) for p in densities
    )
    expected = [naive.pairwise(formula, X, Y) for formula in formulas]
    assert np.allclose(stack(kernel, kernel(X, Y)), expected, rtol=1e-11, atol=1e-14)
    assert np.allclose(stack(kernel, kernel(sp.csr_array(X), Y)), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_is_array(case, tables, library):
    frames = pytest.importorskip(library)
    kernel, _ = case
    X, Y = (frames.DataFrame(dict(zip("abcdef", T.T, strict=True))) for T in tables)
    assert np.array_equal(kernel(X, Y), kernel(*tables))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool, object])
def test_any_numbers_will_do(tables, dtype):
    X = np.round(tables[0]).astype(dtype)
    assert np.array_equal(RBF(0.3)(X), RBF(0.3)(X.astype(float)))
    assert np.array_equal(RBF(0.3)(X.tolist()), RBF(0.3)(X.astype(float)))


def test_family_is_its_members(tables):
    X, Y = tables
    gammas = [0.1, 0.2, 0.4, 5.0, 2.5]
    for family in (RBF, Laplacian, ChiSquared):
        members = [family(gamma)(X, Y) for gamma in gammas]
        assert np.allclose(family(gammas)(X, Y), members, rtol=1e-13, atol=0)


def test_sequence_of_one_is_a_family(tables):
    X, Y = tables
    assert RBF([0.5])(X, Y).shape == (1, 21, 9)
    assert RBF(0.5)(X, Y).shape == (21, 9)
    assert RBF([0.5]).diagonal(X).shape == (1, 21)
    assert RBF(0.5).diagonal(X).shape == (21,)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 8, 31, 1000, 10**9, 2**31 - 1])
def test_powers_of_any_degree(degree):
    """Bases next to 1, whose powers are numbers of ordinary size."""
    X = np.sqrt(1.0 + np.array([[-0.9], [-0.5], [0.0], [0.5], [2.0]]) / degree)
    kernel = Polynomial(degree, gamma=1.0, coef0=0.0)
    expected = np.exp(degree * np.log1p((X @ X.T) - 1.0))
    np.testing.assert_allclose(kernel(X), expected, rtol=4e-16 * degree * np.log2(2 * degree))


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        (Linear(), sklearn_pairwise.linear_kernel),
        (Polynomial(), sklearn_pairwise.polynomial_kernel),
        (RBF(), sklearn_pairwise.rbf_kernel),
        (Laplacian(), sklearn_pairwise.laplacian_kernel),
        (ChiSquared(), sklearn_pairwise.chi2_kernel),
    ],
)
def test_defaults_are_those_of_scikit_learn(kernel, function, load_real):
    X = np.abs(load_real("wdbc")["X"][:100].astype(float))
    X /= X.max(axis=0)
    assert np.allclose(kernel(X), function(X), rtol=1e-10, atol=1e-12)


def test_scale_is_that_of_svc(tables):
    X, _ = tables
    expected = 1 / (6 * X.var())
    assert RBF("scale").resolve(X).gamma == pytest.approx(expected)
    assert RBF("scale").resolve(sp.csr_matrix(X)).gamma == pytest.approx(expected)
    assert Polynomial(gamma="scale").resolve(X).gamma == pytest.approx(expected)
    assert RBF("scale", columns=[0, 1]).resolve(X).gamma == pytest.approx(1 / (2 * X[:, :2].var()))
    assert RBF("scale").resolve(np.ones((3, 2))).gamma == 1.0
    assert RBF([None, "scale", 2.0]).resolve(X).gamma == pytest.approx((1 / 6, expected, 2.0))


def test_distances_survive_a_far_origin(tables):
    """The matrix product of raw values would lose all digits of these distances."""
    X, Y = tables
    far = np.array([1e9, -3e8, 0, 0, 1e7, 0])
    kernel = RBF(0.5)
    # The coordinates themselves are rounded to about 1e-7.
    assert np.allclose(kernel(X + far, Y + far), kernel(X, Y), rtol=1e-5)
    shifted = kernel.resolve(X + far)
    assert np.allclose(shifted(sp.csr_array(Y + far), X + far), kernel(Y, X), rtol=1e-5)


@pytest.mark.parametrize("d", [1, 3, 50, 800])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_equal_vectors_are_at_no_distance(d, form, scale, rng):
    """Products that are added up in another order differ, and gamma can make much of it."""
    X = scale * rng.normal(size=(40, d))
    kernel = RBF(gamma=1e16 / scale**2)
    found = kernel(form(X), form(X[:30].copy()))[:30]
    assert np.diag(found).tolist() == [1.0] * 30
    assert np.array_equal(found, kernel(form(X))[:30, :30])


def test_threads_do_not_change_values(case, rng):
    kernel, _ = case
    X = rng.uniform(size=(300, 6))
    assert np.array_equal(kernel(X, n_jobs=2), kernel(X))


def test_resolved_kernel_stays(case, tables):
    kernel, _ = case
    resolved = kernel.resolve(tables[0])
    assert resolved.resolve(tables[1]) is resolved
    assert resolved == kernel.resolve(tables[0])
    assert hash(resolved) == hash(kernel.resolve(tables[0]))


def test_kernels_pickle_and_copy(case, tables):
    kernel, _ = case
    X, Y = tables
    for original in (kernel, kernel.resolve(X)):
        for clone in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
            assert clone == original
            assert np.array_equal(clone(Y, X), kernel(Y, X))


def test_repr_reads_like_the_call(tables):
    X, _ = tables
    assert repr(RBF(0.1, columns=[0, 1]).resolve(X)) == "RBF(gamma=0.1, columns='columns 0, 1')"
    assert repr(Linear().resolve(X)) == "Linear()"


def test_names():
    X = np.ones((3, 10))
    assert RBF(0.1).resolve(X).names == ("RBF gamma=0.1",)
    assert RBF().resolve(X).names == ("RBF gamma=0.1",)
    assert RBF([0.1, 0.1]).resolve(X).names == ("RBF gamma=0.1", "RBF gamma=0.1 #2")
    assert RBF(0.1, columns=[0, 1]).resolve(X).names == ("RBF gamma=0.1 on columns 0, 1",)
    assert Linear(columns=3).resolve(X).names == ("Linear on column 3",)
    assert Linear(columns=slice(2, 9)).resolve(X).names == ("Linear on 7 columns",)
    assert Polynomial([1, 2], 1.0, 0.0).resolve(X).names == (
        "Polynomial degree=1 gamma=1 coef0=0",
        "Polynomial degree=2 gamma=1 coef0=0",
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "RBF: gamma must be a positive number"),
        (lambda: RBF([1.0, -1.0]), "RBF: gamma must be a positive number"),
        (lambda: RBF(np.nan), "RBF: gamma must be a positive number"),
        (lambda: Laplacian("wide"), "Laplacian: gamma must be a positive number"),
        (lambda: Polynomial(gamma="median"), "Polynomial: gamma must be a positive number"),
        (lambda: RBF([]), "RBF: gamma is an empty sequence"),
        (lambda: Polynomial(0), "Polynomial: degree must be an integer from 1 to 2,147,483,647"),
        (lambda: Polynomial(2.5), "Polynomial: degree must be an integer from 1 to"),
        (lambda: Polynomial(2**31), "Polynomial: degree must be an integer .*, got 2147483648"),
        (lambda: Polynomial(10**400), "Polynomial: degree must be an integer from 1 to"),
        (lambda: Polynomial(coef0=-1.0), "Polynomial: coef0 must be a number >= 0"),
        (lambda: Polynomial([1, 2], [1, 2, 3]), "have the same length"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan]], "NaN in column 1"),
        ([[np.inf, 1.0]], "infinity in column 0"),
        (sp.csr_array([[0.0, np.nan]]), "NaN in column 1"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        (np.ones((2, 2, 2)), "Expected 2D array"),
        ([[1j]], "Complex data not supported"),
    ],
)
@pytest.mark.parametrize("kernel", [Linear(), RBF(), Intersection()])
def test_bad_data_are_named(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


@pytest.mark.parametrize("kernel", [ChiSquared(), Intersection()])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_negative_values(kernel, form):
    with pytest.raises(ValueError, match="Negative values in data: X contains -2"):
        kernel(form([[1.0, 0.0], [-2.0, 1.0]]))


def test_wrong_number_of_columns(case, tables):
    kernel, _ = case
    X, Y = tables
    with pytest.raises(ValueError, match="X has 5 features, but the kernel is expecting 6"):
        kernel(Y[:, :5], X)

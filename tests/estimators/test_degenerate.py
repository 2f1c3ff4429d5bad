"""Degenerate kernels and norms: a certified optimum, or an error with the reason."""

import naive_mkl
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses, norms, verify
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.norms import Fixed
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.named_methods import METHODS
from kernelweave.problem.problem import Problem

TWO_STAGE = [name for name, method in METHODS.items() if method.first_stage is not None]

TOL, ROUGH = 1e-3, 0.05
NORMS = {
    "l1": norms.Lp(1),
    "l1 + 1e-6": norms.Lp(1 + 1e-6),
    "l2": norms.Lp(2),
    "l1e6": norms.Lp(1e6),
    "sum": norms.Lp(np.inf),
    "block 3": norms.Block(3),
}
OFFERED = [
    (solver, name)
    for solver, entry in METHODS.items()
    for name, norm in NORMS.items()
    if entry.serves(norm)
]
every_offer = pytest.mark.parametrize(("solver", "norm"), OFFERED)


def sample(n):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 2)), np.zeros(n)])
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > X[0, 0] - 1e-9, 1.0, -1.0)


def certified(kernels, solver, norm, X, y, K=None):
    """Fit without normalisation, and compare the certificate with plain NumPy."""
    rough = solver == "mwu"
    model = MKLClassifier(
        kernels,
        norm=norm,
        solver=MWU(eps=0.05) if rough else solver,
        loss="squared_hinge" if rough else "hinge",
        normalize=None,
        tol=ROUGH if rough else TOL,
    ).fit(X, y)
    judged = Fixed(model.weights_) if solver in TWO_STAGE else norm
    K = np.concatenate([np.atleast_3d(k(X).T).T for k in kernels]) if K is None else K
    problem = Problem.of(losses.get(model.loss, "classifier"), judged, y, np.ones(len(y)))
    gap = naive_mkl.model_gap(K, problem, model)
    assert gap == pytest.approx(model.duality_gap_, abs=1e-9)
    assert gap <= model.tol + 1e-9
    return model


@every_offer
def test_a_constant_kernel_adds_nothing(solver, norm):
    """sum(alpha) = 0 makes its s zero; Linear on a column of ones is that kernel."""
    X, y = sample(40)
    X[:, 2] = 1.0
    kernels = [RBF([0.3, 3.0], columns=[0, 1]), Linear(columns=[2])]
    model = certified(kernels, solver, NORMS[norm], X, y)
    np.testing.assert_allclose(model.contributions(X)[:, 2], 0.0, atol=1e-8)


@every_offer
def test_a_kernel_of_zeros_adds_nothing(solver, norm):
    X, y = sample(40)
    kernels = [RBF([0.3, 3.0], columns=[0, 1]), Linear(columns=[2])]
    model = certified(kernels, solver, NORMS[norm], X, y)
    shares = model.contributions(X)
    np.testing.assert_array_equal(shares[:, 2], 0.0)


@every_offer
def test_identical_kernels_are_one_kernel_of_their_total_weight(solver, norm):
    """The sum of their weights multiplies C of an SVM on one copy."""
    X, y = sample(40)
    model = certified([RBF([0.3, 0.3, 0.3])], solver, NORMS[norm], X, y)
    total = model.weights_.sum()
    alone = MKLClassifier(RBF(0.3), C=total, loss=model.loss, normalize=None, tol=1e-6).fit(X, y)
    assert model.primal_objective_ * total == pytest.approx(
        alone.primal_objective_, rel=2 * model.tol
    )


@every_offer
def test_one_kernel_leaves_no_choice(solver, norm):
    X, y = sample(40)
    model = certified([RBF(0.3)], solver, NORMS[norm], X, y)
    np.testing.assert_allclose(model.weights_, 1.0, rtol=1e-9)


@every_offer
@pytest.mark.parametrize("n", [2, 9])
def test_few_examples(solver, norm, n):
    X, y = sample(n)
    assert len(set(y)) == 2
    certified([RBF([0.3, 3.0]), Linear()], solver, NORMS[norm], X, y)


def table_of_switches(n, seed):
    """Three columns of 0 and 1, in equal numbers, and two of anything; the first decides most."""
    rng, i = np.random.default_rng(seed), np.arange(n)
    X = np.column_stack([i % 2, i // 2 % 2, i // 4 % 2, rng.normal(size=(n, 2))])
    return X, np.where(2 * X[:, 0] + X[:, 1] - 1.5 + 0.5 * X[:, 3] > 0, 1.0, -1.0)


@every_offer
@pytest.mark.parametrize("seed", [0, 3])
def test_columns_with_two_values(solver, norm, seed):
    X, y = table_of_switches(120, seed)
    certified([RBF(1.0, columns=[j]) for j in range(5)], solver, NORMS[norm], X, y)


@pytest.mark.parametrize("working_set", [20, 60, 1000])
@pytest.mark.parametrize("p", [1.35, 1.5, 2, 4])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_kernel_whose_w_vanishes_comes_back(seed, p, working_set):
    """With as many alphas at +C as at -C on either side a switch has no w for a while."""
    X, y = table_of_switches(240, seed)
    kernels = [RBF(1.0, columns=[j]) for j in range(5)]
    settings = {"solver": "analytic", "normalize": None, "working_set": working_set}
    model = MKLClassifier(kernels, norm=p, **settings).fit(X, y)
    problem = Problem.of(losses.Hinge(), norms.Lp(p), y, np.ones(len(y)))
    gap = naive_mkl.model_gap(np.stack([k(X) for k in kernels]), problem, model)
    assert gap <= model.tol + 1e-9


def test_a_kernel_that_gets_no_weight_changes_nothing():
    """A hundredth of another kernel can never be worth its weight at p = 1."""
    X, y = sample(60)
    X[:, 2] = 0.1 * X[:, 0]
    useful = [RBF(0.3, columns=[0, 1]), Linear(columns=[0])]
    settings = {"norm": 1, "normalize": None, "tol": 1e-6}
    model = MKLClassifier([*useful, Linear(columns=[2])], **settings).fit(X, y)
    without = MKLClassifier(useful, **settings).fit(X, y)
    assert model.weights_[2] == 0
    assert model.weights_[1] > 0
    assert model.primal_objective_ == pytest.approx(without.primal_objective_, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-2)


def test_p_near_1_and_large_p_are_near_their_limits():
    X, y = sample(60)
    family = RBF([0.1, 0.3, 1.0, 3.0])

    def objective(p):
        return MKLClassifier(family, norm=p, tol=1e-6).fit(X, y).primal_objective_

    assert objective(1 + 1e-6) == pytest.approx(objective(1), rel=1e-4)
    assert objective(1e6) == pytest.approx(objective(np.inf), rel=1e-4)


@pytest.mark.parametrize(
    ("E", "message"),
    [
        (np.diag([1.0, -1.0]), "positive definite, but its smallest eigenvalue is -1"),
        (np.ones((2, 2)), "positive definite"),
        (np.eye(3), "3 .*2|2 .*3"),
    ],
)
def test_a_matrix_that_makes_no_ellipse_is_refused(E, message):
    X, y = sample(20)
    with pytest.raises(ValueError, match=message):
        MKLClassifier(RBF([0.3, 3.0]), norm=norms.Elliptic(E)).fit(X, y)


INDEFINITE = [
    (data, name, solver)
    for data, name in (("dti_nr", "Kp_go"), ("dti_nr", "Kd_minmaxTanimoto"), ("dti_ic", "Kp_ppi"))
    for solver in ("hessian", "cutting-plane", "level", "gradient", "skm", "qcqp")
]


@pytest.mark.parametrize(("data", "name", "solver"), INDEFINITE)
def test_indefinite_similarities_are_repaired_with_a_warning(data, name, solver, load_real):
    """The optimum is that of the clipped matrix, and the warning names what was clipped."""
    tables = load_real(data)
    K = tables[name].astype(float)
    y = interactions(tables, name)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    other = np.eye(len(K))
    both = np.hstack([K, other])
    kernels = [Precomputed(columns=slice(k * len(K), (k + 1) * len(K))) for k in (0, 1)]
    with pytest.warns(
        UserWarning, match=f"smallest eigenvalue is {values[0]:.6g}; it was repaired"
    ):
        certified(kernels, solver, norms.Lp(1), both, y, K=np.stack([clipped, other]))


def interactions(tables, name):
    """Whether a drug or a protein has more partners than half of its kind."""
    partners = tables["Y"].sum(axis=0 if name.startswith("Kd_") else 1)
    return np.where(partners > np.median(partners), 1.0, -1.0)


@pytest.mark.parametrize("norm", [1, 2])
def test_one_class_around_the_origin_ends_with_a_reason(norm, rng):
    """No half-space separates the examples from the origin: the optimum is 0."""
    X = rng.normal(size=(100, 3))
    kernels = [Linear(), Linear(columns=[0, 1])]
    model = MKLOneClass(kernels, norm=norm, normalize=None, nu=0.5)
    with pytest.warns(ConvergenceWarning, match="the objective is 0"):
        model.fit(X)
    assert np.abs(model.decision_function(X)).max() < 1e-6


def test_one_class_whose_mean_is_moved_to_the_origin_is_refused(rng):
    X = rng.normal(size=(30, 3))
    with pytest.raises(ValueError, match="normalize='center' moves the mean"):
        MKLOneClass(RBF(1.0), normalize="center").fit(X)


def test_an_objective_far_below_its_first_values_is_not_zero(rng):
    """A classifier with a large C may have an objective far below its first values."""
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    model = MKLClassifier([RBF(0.1), Linear()], loss="smooth_hinge", C=1e13, max_iter=30)
    with pytest.warns(ConvergenceWarning) as warned:
        model.fit(X, y)
    assert "origin" not in str(warned[0].message)


@pytest.mark.parametrize("C", [1.0, 22.20622681789637, 1e3])
@pytest.mark.parametrize("n", [30, 3241])
def test_a_few_values_that_occur_often(n, C):
    """Three merged examples of large cost: a working set must contain all of them."""
    X = np.random.default_rng(291).integers(0, 3, size=(n, 1)).astype(float)
    y = np.sin(X[:, 0])
    model = MKLRegressor(Linear(), loss="squared", C=C).fit(X, y)
    assert model.duality_gap_ <= model.tol
    assert model.n_iter_ <= 5
    assert verify(model, X, y).agree

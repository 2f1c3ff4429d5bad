"""The certificate of every kind of model, recomputed in NumPy from fitted attributes.

Every solver with every norm and loss that it serves, on four real sets of each kind, with 1 to 100
kernels, with and without an intercept. Only `dual_coef_`, `support_`, `weights_` and `intercept_`
are used.
"""

import naive_mkl
import numpy as np
import pytest
from mkl_cases import standardised, table_for

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, losses, norms
from kernelweave.kernels import RBF, Polynomial
from kernelweave.norms import Fixed
from kernelweave.optimization.methods.mwu import MWU
from kernelweave.optimization.named_methods import METHODS
from kernelweave.problem.problem import Problem

N, C, NU = 40, 2.0, 0.3
COUNTS = (1, 5, 20, 100)  # of kernels
TWO_STAGE = ("alignment", "centered-alignment", "easymkl")
TOL = {"mwu": 0.05}  # two examples a round: a rough model is what it is for


def costs(M):
    return tuple(1.0 + np.arange(M) % 3)


def ellipse(M):
    return np.eye(M) + 0.3 * (np.eye(M, k=1) + np.eye(M, k=-1))


NORMS = {
    "l1": lambda M: norms.Lp(1),
    "weighted l1": lambda M: norms.Lp(1, costs(M)),
    "l1.2": lambda M: norms.Lp(1.2),
    "l2": lambda M: norms.Lp(2),
    "weighted l4": lambda M: norms.Lp(4, costs(M)),
    "sum": lambda M: norms.Lp(np.inf),
    "elastic": lambda M: norms.Elastic(0.6),
    "l1 + l2": lambda M: norms.SumOfNorms(0.4),
    "elliptic": lambda M: norms.Elliptic(ellipse(M)),
    "block 1.5": lambda M: norms.Block(1.5),
    "block 3": lambda M: norms.Block(3),
    "block inf": lambda M: norms.Block(np.inf),
}
ESTIMATORS = {
    "one_class": MKLOneClass,
    "epsilon_insensitive": MKLRegressor,
    "squared": MKLRegressor,
} | dict.fromkeys(("hinge", "squared_hinge", "logistic", "smooth_hinge"), MKLClassifier)


def loss_of(name):
    """The loss of a name."""
    kinds = {MKLOneClass: "one-class", MKLRegressor: "regressor", MKLClassifier: "classifier"}
    return losses.get(name, kinds[ESTIMATORS[name]])


OFFERED = [
    (solver, norm, loss)
    for solver, entry in METHODS.items()
    for norm, make in NORMS.items()
    for loss in ESTIMATORS
    if entry.serves(make(3)) and entry.serves_loss(loss_of(loss))
]
CASES = [
    (*case, intercept)
    for intercept in (True, False)
    for case in OFFERED
    if intercept or case[2] != "one_class"  # which has a threshold
]


def sample(loss, number, load_real):
    """X and y of N random examples of one of four real sets that suit a loss."""
    table = table_for(loss, number, load_real)
    chosen = np.random.default_rng(number).permutation(len(table["y"]))[:N]
    X, y = standardised(table["X"][chosen].astype(float)), table["y"][chosen].astype(float)
    if ESTIMATORS[loss] is MKLRegressor:
        return X, (y - y.mean()) / y.std()
    return X, np.where(y == y.max(), 1.0, -1.0)


def fitted(solver, norm, loss, gammas, X, y, intercept=True):
    """An estimator with default parameters but for these."""
    kernels = [Polynomial(2, gamma=1 / X.shape[1], coef0=1.0)]
    if gammas:
        kernels = [RBF(gamma=gammas), *kernels]
    cost = {"nu": NU}
    if loss != "one_class":
        cost = {"C": C, "loss": loss, "fit_intercept": intercept}
    tol = TOL.get(solver, 1e-3)
    solver = MWU(eps=0.05) if solver == "mwu" else solver
    model = ESTIMATORS[loss](kernels, norm=norm, solver=solver, normalize=None, tol=tol, **cost)
    return model.fit(X, y)


def recomputed_gap(model, norm, loss, K, y, intercept=True):
    """The gap in plain NumPy."""
    if loss == "one_class":
        problem = Problem.of(losses.OneClass(), norm, np.ones(len(y)), np.ones(len(y)), NU * len(y))
    else:
        tau = 0.0 if intercept else None
        problem = Problem.of(loss_of(loss), norm, y, np.full(len(y), C), tau)
    return naive_mkl.model_gap(K, problem, model)


@pytest.mark.parametrize(("solver", "norm", "loss", "intercept"), CASES)
def test_reported_gap_is_the_recomputed_gap_and_at_most_tol(
    solver, norm, loss, intercept, load_real
):
    number = OFFERED.index((solver, norm, loss))
    M = COUNTS[number // 4 % len(COUNTS)]
    X, y = sample(loss, number, load_real)
    gammas = list(np.geomspace(0.01, 10.0, M - 1) / X.shape[1])
    norm = NORMS[norm](M)
    model = fitted(solver, norm, loss, gammas, X, y, intercept)
    if solver in TWO_STAGE:  # the weights are given: what is certified is the machine on them
        norm = Fixed(model.weights_)
    gap = recomputed_gap(model, norm, loss, naive_mkl.kernel_stack(X, gammas), y, intercept)
    assert gap == pytest.approx(model.duality_gap_, abs=1e-9)
    assert gap <= TOL.get(solver, 1e-3) + 1e-9
    assert intercept or not model.intercept_.any()

"""The checker accepts correct certificates and detects every kind of wrong one."""

import checker
import numpy as np
import pytest
from checker import Infeasible, Norm
from naive_mkl import spread
from naive_normalize import normalised

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, norms
from kernelweave.kernels import RBF, Linear

N, M, C, NU = 24, 3, 2.0, 0.4
E = np.eye(M) + 0.4 * (np.eye(M, k=1) + np.eye(M, k=-1))
COSTS = np.array([1.0, 2.0, 0.5])
PARAMETERS = {"epsilon_insensitive": 0.1, "smooth_hinge": 10.0}
BALLS = {  # as the checker and as the library have them
    "l1": (Norm("lp", 1.0), norms.Lp(1)),
    "weighted l1": (Norm("lp", 1.0, COSTS), norms.Lp(1, COSTS)),
    "l1.5": (Norm("lp", 1.5), norms.Lp(1.5)),
    "weighted l4": (Norm("lp", 4.0, COSTS), norms.Lp(4, COSTS)),
    "sum": (Norm("lp", np.inf), norms.Lp(np.inf)),
    "elliptic": (Norm("elliptic", E=E), norms.Elliptic(E)),
    "block 1": (Norm("block", 1.0), norms.Block(1)),
    "block 1.5": (Norm("block", 1.5), norms.Block(1.5)),
    "block 4": (Norm("block", 4.0), norms.Block(4)),
    "block inf": (Norm("block", np.inf), norms.Block(np.inf)),
}
every_loss = pytest.mark.parametrize("loss", sorted(checker.LOSS))
every_ball = pytest.mark.parametrize("ball", BALLS)


def estimator(loss, norm):
    kernels = [RBF(gamma=[0.1, 1.0]), Linear()]
    if loss == "one_class":
        return MKLOneClass(kernels, norm=norm, nu=NU)
    if loss in ("squared", "epsilon_insensitive"):
        return MKLRegressor(kernels, norm=norm, loss=loss, C=C, epsilon=0.1)
    return MKLClassifier(kernels, norm=norm, loss=loss, C=C)


class Judged:
    """A fitted model and all arguments of the checker."""

    def __init__(self, loss, ball, rng):
        X = rng.normal(size=(N, 2))
        self.y = np.sign(X[:, 0] + 0.3 * rng.normal(size=N))
        if loss in ("squared", "epsilon_insensitive"):
            self.y = X[:, 0] ** 2
        weights = rng.integers(0, 3, N).astype(float)
        self.model = estimator(loss, BALLS[ball][1]).fit(X, self.y, weights)
        products = X @ X.T
        distances = np.add.outer(np.diag(products), np.diag(products)) - 2 * products
        matrices = [np.exp(-0.1 * distances), np.exp(-distances), products]
        self.K = np.stack([normalised(K, "variance", weights) for K in matrices])
        self.costs = weights if loss == "one_class" else C * weights
        self.tau = NU * weights.sum() if loss == "one_class" else 0.0
        self.alpha = spread(self.model.dual_coef_, self.model.support_, N)[0]
        self.loss, self.norm = loss, BALLS[ball][0]

    def values(self, **lies):
        truth = {"alpha": self.alpha, "theta": self.model.weights_, "bias": self.model.intercept_}
        return checker.certificate(
            self.K,
            self.y,
            self.costs,
            loss=self.loss,
            norm=self.norm,
            parameter=PARAMETERS.get(self.loss, 0.0),
            tau=self.tau,
            **truth | lies,
        )

    def caught(self, **lies):
        """Whether an altered model is infeasible, or has other values than the reported ones."""
        try:
            found = self.values(**lies)
        except Infeasible:
            return True
        said = self.model.primal_objective_, self.model.dual_objective_
        return (found.primal, found.dual) != pytest.approx(said, rel=1e-6)


@pytest.fixture
def judged(loss, ball, rng):
    return Judged(loss, ball, rng)


@every_loss
@every_ball
def test_reported_objectives_agree_with_the_checker(judged):
    found, model = judged.values(), judged.model
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-9)
    assert found.dual == pytest.approx(model.dual_objective_, rel=1e-9)
    assert found.constant == pytest.approx(model.constant_objective_, rel=1e-9)
    assert 0 <= found.gap <= 1e-3 + 1e-9


@every_loss
@every_ball
def test_no_dual_value_exceeds_a_primal_value(judged, ball, rng):
    """Weak duality holds for any feasible points: wrong formulas of the checker would break it."""
    reach, last = judged.alpha.copy(), judged.model.weights_
    for _ in range(20):
        alpha = reach * rng.random() if judged.tau == 0 else reach
        theta = last * rng.random(M)
        if ball == "elliptic":  # smaller weights may be longer
            theta /= max(1.0, BALLS[ball][1].value(theta))
        found = judged.values(alpha=alpha, theta=theta, bias=rng.normal())
        best = judged.values()
        assert found.dual <= best.primal * (1 + 1e-12)
        assert found.primal >= best.dual * (1 - 1e-12)


@every_loss
@every_ball
def test_changed_models_are_caught(judged):
    theta, alpha, support = judged.model.weights_, judged.alpha, np.flatnonzero(judged.alpha)
    assert not judged.caught()
    assert judged.caught(theta=0.9 * theta)
    assert judged.caught(theta=1.1 * theta)
    assert judged.caught(theta=theta - 0.01)
    assert judged.caught(alpha=1.01 * alpha)
    assert judged.caught(alpha=np.where(np.arange(N) == support[0], 0.0, alpha))
    assert judged.caught(alpha=alpha + 1e-3)
    assert judged.caught(bias=judged.model.intercept_ + 0.1)


def test_infeasible_alphas_and_weights_are_named(rng):
    judged = Judged("hinge", "l1.5", rng)
    y, C_of = judged.y, judged.costs
    paid = [np.flatnonzero((y == side) & (C_of > 0))[:2] for side in (1, -1)]
    pair = np.zeros(N)
    pair[[paid[0][0], paid[1][0]]] = 1.0, -1.0
    lies = {
        "above 1": {"theta": 2.0 * judged.model.weights_},
        "negative": {"theta": np.array([-0.1, 0.1, 0.1])},
        "outside its box": {"alpha": 10 * C * pair},
        "add up to": {"alpha": np.abs(pair)},
        "not finite": {"alpha": np.nan * pair},
    }
    for words, lie in lies.items():
        with pytest.raises(Infeasible, match=words):
            judged.values(**lie)
    with pytest.raises(Infeasible, match="outside its box"):
        judged.values(alpha=-0.1 * pair)


def test_each_row_of_alphas_is_one_output(rng):
    X = rng.normal(size=(30, 2))
    labels = np.arange(30) % 3
    model = MKLClassifier(RBF(gamma=[0.1, 1.0]), normalize=None, share_weights=True).fit(X, labels)
    found = checker.certificate(
        RBF(gamma=[0.1, 1.0])(X),
        np.where(labels == np.arange(3)[:, None], 1.0, -1.0),
        np.ones(30),
        spread(model.dual_coef_, model.support_, 30),
        model.weights_,
        model.intercept_,
        "hinge",
        Norm("lp", 2.0),
    )
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-9)
    assert found.dual == pytest.approx(model.dual_objective_, rel=1e-9)
    assert found.constant == pytest.approx(model.constant_objective_, rel=1e-9)


def test_normalisations_follow_their_definitions(rng):
    features = rng.normal(size=(12, 4)) + 1.0
    shares = rng.random(12)
    shares /= shares.sum()
    K = features @ features.T
    mean = shares @ features
    spread = shares @ np.sum((features - mean) ** 2, axis=1)
    close = pytest.approx
    assert normalised(K, "variance", shares) == close(K / spread)
    assert shares @ np.diag(normalised(K, "trace", shares)) == close(1.0)
    assert np.diag(normalised(K, "unit", shares)) == close(1.0)
    centred = (features - mean) @ (features - mean).T
    assert normalised(K, "center", shares) == close(centred)
    assert normalised(K, None) is K


def test_normalisation_keeps_extended_precision(rng):
    K = normalised(np.eye(4, dtype=np.longdouble) + np.longdouble(1e-18), "variance")
    assert K.dtype == np.longdouble
    assert K[0, 1] != 0

"""The problem in plain NumPy: kernels, losses, conjugates and dual norms from their formulas."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import nnls
from scipy.special import xlogy
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from kernelweave import norms
from kernelweave.norms import Fixed

# From outputs f, targets y and the loss, whose parameters some formulas need.
LOSS = {
    "hinge": lambda f, y, loss: np.maximum(0, 1 - y * f),
    "squared_hinge": lambda f, y, loss: np.maximum(0, 1 - y * f) ** 2,
    "logistic": lambda f, y, loss: np.logaddexp(0, -y * f),
    "smooth_hinge": lambda f, y, loss: np.logaddexp(0, loss.sigma * (1 - y * f)) / loss.sigma,
    "epsilon_insensitive": lambda f, y, loss: np.maximum(0, np.abs(y - f) - loss.epsilon),
    "squared": lambda f, y, loss: (y - f) ** 2,
    "one_class": lambda f, y, loss: np.maximum(0, -f),
}


def _entropy(a):
    return xlogy(a, a) + xlogy(1 - a, 1 - a)


# C V*(-a / C, y) on its domain.
CONJUGATE = {
    "hinge": lambda a, y, C, loss: -y * a,
    "squared_hinge": lambda a, y, C, loss: -y * a + a**2 / (4 * C),
    "logistic": lambda a, y, C, loss: C * _entropy(y * a / C),
    "smooth_hinge": lambda a, y, C, loss: -y * a + C / loss.sigma * _entropy(y * a / C),
    "epsilon_insensitive": lambda a, y, C, loss: -y * a + loss.epsilon * np.abs(a),
    "squared": lambda a, y, C, loss: -y * a + a**2 / (4 * C),
    "one_class": lambda a, y, C, loss: np.zeros_like(a),
}


def kernel_stack(X, gammas):
    """RBF kernels and one polynomial, shape (M, n, n)."""
    kernels = [rbf_kernel(X, gamma=gamma) for gamma in gammas]
    return np.stack([*kernels, polynomial_kernel(X, degree=2, gamma=1 / X.shape[1], coef0=1)])


def dual_norm(norm, s):
    """The largest theta . s over the feasible weights."""
    if isinstance(norm, Fixed):
        return norm.theta @ s
    if isinstance(norm, norms.Elliptic):
        return _largest_on_ellipse(norm.E, s)
    if isinstance(norm, norms.Block):
        r = {1: np.inf, np.inf: 0.5}.get(norm.q) or norm.q / (2 * (norm.q - 1))
        return np.max(s) if r == np.inf else np.sum(s**r) ** (1 / r)
    costs = np.ones_like(s) if norm.weights is None else np.array(norm.weights)
    if norm.p == 1:
        return np.max(s / costs)
    if norm.p == np.inf:
        return np.sum(s)
    q, s = norm.p / (norm.p - 1), s / costs ** (1 / norm.p)
    top = np.max(s)  # taken out, or a large q overflows
    return top * np.sum((s / top) ** q) ** (1 / q) if top > 0 else 0.0


def _largest_on_ellipse(E, s):
    """The best direction theta >= 0 is the minimiser of theta' E theta / 2 - theta . s."""
    L = np.linalg.cholesky(E)
    theta, _ = nnls(L.T, np.linalg.solve(L, s))
    return np.sqrt(theta @ s)


def certificate(K, problem, result):
    """Primal, dual and relative gap of a result, from its alpha, weights and bias alone."""
    loss, norm, y, C = problem.loss, problem.norm, problem.y, problem.C
    alpha, theta = result.alpha, result.weights
    g = K @ alpha
    s = np.maximum(g @ alpha, 0)  # of a kernel that is constant, but for roundings
    f = theta @ g + result.bias
    if isinstance(norm, norms.Block):
        size = theta * np.sqrt(s)
        regularizer = np.linalg.norm(size, norm.q) ** 2
    else:
        assert norm.value(theta) <= 1 + 1e-9
        regularizer = theta @ s
    primal = C @ LOSS[loss.name](f, y, loss) + problem.tau * result.bias + 0.5 * regularizer
    dual = -np.sum(CONJUGATE[loss.name](alpha, y, C, loss)) - 0.5 * dual_norm(norm, s)
    return primal, dual, (primal - dual) / abs(primal)


def model_gap(K, problem, model):
    """The relative duality gap of a fitted estimator with one output."""
    alpha = np.zeros(len(problem.y))
    alpha[model.support_] = model.dual_coef_[0]
    found = SimpleNamespace(alpha=alpha, weights=model.weights_, bias=model.intercept_[0])
    return certificate(K, problem, found)[2]

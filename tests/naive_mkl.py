"""Problems of the library as `checker` reads them, and kernels from their formulas."""

import checker
import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from kernelweave import norms
from kernelweave.norms import Fixed

LOSS = checker.LOSS


def kernel_stack(X, gammas):
    """RBF kernels and one polynomial, shape (M, n, n)."""
    kernels = [rbf_kernel(X, gamma=gamma) for gamma in gammas]
    return np.stack([*kernels, polynomial_kernel(X, degree=2, gamma=1 / X.shape[1], coef0=1)])


def spread(coef, support, n):
    """Return the alphas of all n examples, shape (n_outputs, n), from `dual_coef_`, `support_`."""
    alpha = np.zeros((len(coef), n))
    alpha[:, support] = coef
    return alpha


def plain_norm(norm):
    """A norm as plain numbers."""
    if isinstance(norm, Fixed):
        return checker.Norm("fixed")
    if isinstance(norm, norms.Elliptic):
        return checker.Norm("elliptic", E=norm.E)
    if isinstance(norm, norms.Elastic):
        return checker.Norm("elastic", norm.mix)
    if isinstance(norm, norms.SumOfNorms):
        return checker.Norm("sum", norm.p, mix=norm.mix)
    if isinstance(norm, norms.Block):
        return checker.Norm("block", norm.q)
    norm = norms.as_norm(norm)
    return checker.Norm("lp", norm.p, None if norm.weights is None else np.array(norm.weights))


def values(K, problem, alpha, theta, bias):
    """Primal and dual value of a model of a problem of the library."""
    loss = problem.loss
    return checker.certificate(
        K,
        problem.y.reshape(problem.n_outputs, -1),
        problem.C[: len(problem.C) // problem.n_outputs],
        alpha.reshape(problem.n_outputs, -1),
        theta,
        bias,
        loss.name,
        plain_norm(problem.norm),
        getattr(loss, "epsilon", getattr(loss, "sigma", 0.0)),
        problem.tau,
    )


def certificate(K, problem, result):
    """Primal, dual and relative gap of a result, from its alpha, weights and bias alone."""
    found = values(K, problem, result.alpha, result.weights, result.bias)
    return found.primal, found.dual, found.gap


def model_values(K, problem, model):
    """Primal and dual value of a fitted estimator with one row of weights."""
    alpha = spread(model.dual_coef_, model.support_, K.shape[-1])
    return values(K, problem, alpha, model.weights_, model.intercept_)


def model_gap(K, problem, model):
    """The relative duality gap of a fitted estimator with one row of weights."""
    return model_values(K, problem, model).gap

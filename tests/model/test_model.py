"""The fitted state: decision values follow the formula, and need the support vectors only."""

import pickle

import numpy as np
import pytest
from kernel_cases import CASES, vectors

from kernelweave import MKLClassifier
from kernelweave.common.core import single_threaded_blas
from kernelweave.kernels import RBF, Linear, WeightedDegree, per_feature, prepare
from kernelweave.model.model import Model
from kernelweave.model.statistics import spread
from kernelweave.optimization.result import Result

N = 280  # more than one tile of columns
SHARES = np.full(N, 1 / N)
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def result(alpha, weights, bias):
    certificate = {"primal": 1.0, "dual": 1.0, "constant": 1.0, "gap": 0.0, "bias": bias}
    return Result(**certificate, alpha=alpha, weights=weights, n_iter=1, history=[], converged=True)


def random_model(case, X, rng, outputs=2, support=0.2):
    """A model with random numbers, and the parts (n, outputs, M) that it should find."""
    with single_threaded_blas():
        compiled, examples = prepare(case.kernels, case.how, X)
    M = compiled.n_kernels
    alphas = rng.normal(size=(outputs, N)) * (rng.random(N) < support)
    weights, biases = rng.exponential(size=(outputs, M)), rng.normal(size=outputs)
    weights[0, 0] = 0.0
    model = Model.of(compiled, examples, list(map(result, alphas, weights, biases)), SHARES)
    parts = np.einsum("cm,ci,mij->jcm", weights, alphas, case.oracle(X))
    return model, parts, biases


def close(actual, expected, scale=None):
    most = np.abs(expected if scale is None else scale).max()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11 * most)


@every_case
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_decisions_and_contributions(case, n_jobs, rng):
    X = case.data(rng, N)
    model, parts, biases = random_model(case, X, rng)
    close(model.decide(X, n_jobs=n_jobs), parts.sum(axis=2) + biases)
    close(model.contributions(X, n_jobs=n_jobs), parts)


@every_case
@pytest.mark.parametrize("most", [N, 100], ids=["all examples", "a sample"])
def test_mean_contributions_equal_those_of_all_examples(case, most, rng, monkeypatch):
    monkeypatch.setattr("kernelweave.model.statistics.MOST_OF_SEVERAL", most)
    model, parts, _ = random_model(case, case.data(rng, N), rng)
    parts = parts[np.linspace(0, N - 1, most).astype(int)]
    close(model.means, parts.mean(axis=0), scale=parts)
    close(model.deviations, parts.std(axis=0))
    views = np.array(model.compiled.views)
    by_view = [parts[:, :, views == view].sum(axis=2).std(axis=0) for view in dict.fromkeys(views)]
    close(model.view_deviations, np.transpose(by_view))


@every_case
def test_a_stored_model_decides_alike(case, rng):
    X = case.data(rng, N)
    model, _, _ = random_model(case, X, rng)
    stored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(stored.decide(X), model.decide(X))
    np.testing.assert_array_equal(stored.contributions(X), model.contributions(X))


@every_case
def test_only_the_support_is_kept(case, rng):
    X = case.data(rng, N)
    model, _, _ = random_model(case, X, rng, support=0.1)
    assert model.coef.shape == (2, model.examples.n)
    assert 0 < model.examples.n < 0.25 * N
    assert np.all((model.coef != 0).any(axis=0))


@pytest.mark.parametrize("outputs", [1, 4])
def test_a_model_without_support_is_its_intercept(outputs, rng):
    case = CASES["distances and dot products"]
    X = case.data(rng, N)
    model, _, biases = random_model(case, X, rng, outputs=outputs, support=0.0)
    assert model.examples.n == 0
    np.testing.assert_array_equal(model.decide(X), np.tile(biases, (N, 1)))
    np.testing.assert_array_equal(model.contributions(X), np.zeros((N, outputs, 5)))


def test_a_single_new_example(rng):
    case = CASES["normalised by center"]
    X = case.data(rng, N)
    model, parts, biases = random_model(case, X, rng)
    close(model.decide(X[7:8]), parts[7:8].sum(axis=2) + biases)


def test_new_examples_do_not_change_normalisations(rng):
    """Normalisations use the statistics of the training data only."""
    X = vectors(rng, 50)
    with single_threaded_blas():
        compiled, examples = prepare([RBF(0.1), Linear()], "center", X)
    shares = np.full(50, 1 / 50)
    model = Model.of(compiled, examples, [result(rng.normal(size=50), np.ones(2), 0.0)], shares)
    alone = model.decide(X[:1])
    among = model.decide(np.concatenate([X[:1], 100 * vectors(rng, 30)]))[:1]
    close(among, alone)


def test_deviations_of_contributions_of_any_size(rng):
    """Squared contributions may overflow; their standard deviations do not."""
    values, shares = rng.normal(size=(20, 2, 3)), np.full(20, 1 / 20)
    means, deviations = spread(1e200 * values, shares)
    np.testing.assert_allclose(means, 1e200 * values.mean(axis=0))
    np.testing.assert_allclose(deviations, 1e200 * values.std(axis=0))
    np.testing.assert_array_equal(spread(np.ones((5, 2)), np.full(5, 0.2))[1], np.zeros(2))


@pytest.mark.parametrize(
    ("kernels", "n", "engine", "settings"),
    [
        ([Linear(), RBF([0.1, 1.0])], 60, "dense", {"norm": 2}),
        ([Linear(), RBF([0.1, 1.0])], 60, "plain sum", {"norm": np.inf}),
        (RBF(np.geomspace(0.01, 1.0, 8)), 1000, "family", {"norm": 2}),
        (RBF(np.geomspace(0.01, 1.0, 8)), 1000, "family", {"norm": 1}),
        (WeightedDegree(4, split="degree"), 60, "linear", {"norm": 2}),
        (per_feature(RBF(np.geomspace(0.01, 1.0, 600))), 60, "streamed", {"solver": "skm"}),
    ],
)
def test_engines_of_fits_give_mean_contributions(kernels, n, engine, settings, rng):
    """Whether they have outputs at hand or not."""
    X, y = rng.normal(size=(n, 2)), np.resize([-1, 1], n)
    if engine == "linear":
        X = ["".join(letters) for letters in rng.choice(list("ACGT"), (n, 12))]
    fitted = MKLClassifier(kernels, **{"norm": 1, **settings}).fit(X, y)
    parts = fitted.contributions(X)[:, None]
    assert fitted.plan_.engine == engine
    rounding = 1e-6 if engine == "family" else 1e-11  # see `Engine.outputs_at`
    most = rounding * np.abs(parts).max()
    np.testing.assert_allclose(fitted._model.means, parts.mean(axis=0), rtol=0, atol=most)
    np.testing.assert_allclose(fitted._model.deviations, parts.std(axis=0), rtol=0, atol=most)

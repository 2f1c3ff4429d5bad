"""Passes in single precision: close to exact ones, the same for any threads, and never last."""

import numpy as np
import pytest
from kernel_cases import training_set

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.common.core import _core
from kernelweave.engines import FamilyEngine, family
from kernelweave.kernels import RBF, Polynomial
from kernelweave.losses import Hinge
from kernelweave.model.verification import verify
from kernelweave.optimization.inner.subproblem import Subproblem
from kernelweave.optimization.inner.working_sets import solve_subproblem
from kernelweave.optimization.single_precision import SinglePrecision

WIDTHS = RBF(np.geomspace(1e-3, 3.0, 9))
TWO = [WIDTHS, RBF(np.geomspace(0.1, 1.0, 4), columns=[0, 2, 3])]


@pytest.fixture(autouse=True)
def three_hundred_are_many(monkeypatch):
    monkeypatch.setattr(family, "MANY_EXAMPLES", 100)


def engine_of(kernels, X, **given):
    return FamilyEngine.of(training_set(kernels, X, **given))


def single_engine(kernels, X, **given):
    engine = engine_of(kernels, X, **given)
    engine.single_precision = True
    return engine


def vectors(rng, n=331, d=6):
    X = 3.0 + rng.normal(size=(n, d))
    X[7], X[11] = X[3], X[3] + 1e-9
    return X


def few_values(rng, n=331, d=300):
    X = np.where(rng.random((n, d)) < 0.03, rng.normal(size=(n, d)), 0.0)
    X[7], X[11] = X[3], 0.0
    return X


@pytest.mark.parametrize("kernels", [WIDTHS, TWO], ids=["one distance", "two distances"])
@pytest.mark.parametrize("d", [5, 80, "sparse"])
def test_single_precision_outputs_are_close(rng, level, kernels, d):
    X = few_values(rng) if d == "sparse" else vectors(rng, d=d) * np.sqrt(5 / d)
    exact, single = engine_of(kernels, X), single_engine(kernels, X)
    theta, other = rng.random((2, exact.n_kernels))
    for _ in range(3):
        idx = np.sort(rng.choice(len(X), 90, replace=False))
        values = rng.normal(size=90)
        for engine in (exact, single):
            engine.combined(theta)
            engine.change(idx, values)
        size = np.abs(exact.alpha).sum()
        far = 3e-6 * size
        assert np.abs(single.combined(theta) - exact.combined(theta)).max() <= far * theta.sum()
        assert np.abs(single.quadratic() - exact.quadratic()).max() <= far * size
        assert np.abs(single.outputs_at(idx) - exact.outputs()[:, idx]).max() <= far
        # New weights after that cost no pass, and are no worse.
        assert np.abs(single.combined(other) - exact.combined(other)).max() <= far * other.sum()
        part = np.arange(0, len(X), 2)
        np.testing.assert_array_equal(
            single.subset(part).combined(other), single.combined(other)[part]
        )


@pytest.mark.parametrize("kernels", [WIDTHS, TWO], ids=["one distance", "two distances"])
@pytest.mark.parametrize("d", [5, 80, "sparse"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_single_precision_blocks_are_close(rng, level, kernels, d, n_jobs):
    X = few_values(rng) if d == "sparse" else vectors(rng, d=d) * np.sqrt(5 / d)
    exact, single = engine_of(kernels, X), single_engine(kernels, X, n_jobs=n_jobs)
    theta = rng.random(exact.n_kernels)
    for size in (1, 31, 64, 200, len(X)):
        idx = np.sort(rng.choice(len(X), size, replace=False))
        block, wanted = single.block(idx, theta, exact=False), exact.block(idx, theta)
        np.testing.assert_array_equal(block, block.T)
        assert np.abs(block - wanted).max() <= 3e-6 * theta.sum()
        np.testing.assert_array_equal(single.block(idx, theta), wanted)
        np.testing.assert_array_equal(exact.block(idx, theta, exact=False), wanted)


def test_subproblem_falls_back_to_double_precision(rng):
    """Interior points factorise the kernel, which rounding leaves indefinite."""
    X, q = vectors(rng, n=200), 200
    y, theta = np.sign(X[:, 0] - 3.0 + rng.normal(size=q)), np.eye(9)[4]
    engine, idx = single_engine(WIDTHS, X), np.arange(q)
    term = Hinge().dual_term(y, np.full(q, 1e4))
    asked = []

    def exact():
        asked.append(None)
        return engine.block(idx, theta)

    kernel = engine.block(idx, theta, exact=False)
    start = Subproblem(kernel, term, np.zeros(q), np.zeros(q), exact)
    alpha = solve_subproblem(start, 1e-4)
    assert len(asked) == 1
    assert start.exact().after(alpha).violation <= 1e-4


def test_single_precision_outputs_are_cached(rng, level):
    """Until alpha changes; sums in double precision do not use them."""
    X = vectors(rng)
    exact, single = engine_of(WIDTHS, X), single_engine(WIDTHS, X)
    alpha, theta = rng.normal(size=len(X)), rng.random(exact.n_kernels)
    for engine in (exact, single):
        engine.move_to(alpha)
    single.quadratic()
    pairs = single.work.pairs["every kernel"]
    known = single.outputs_at(every := np.arange(len(X)))
    np.testing.assert_array_equal(single.outputs_at(every), known)
    assert single.work.pairs["every kernel"] == pairs
    single.single_precision = False
    np.testing.assert_array_equal(single.combined(theta), exact.combined(theta))
    np.testing.assert_array_equal(single.quadratic(), exact.quadratic())
    before = single.snapshot()
    single.change(every[:3], np.zeros(3))
    single.move_to(*before)
    np.testing.assert_array_equal(single.combined(theta), exact.combined(theta))


@pytest.mark.parametrize("known", [False, True])
def test_outputs_of_some_examples_with_and_without_an_alpha(rng, level, known):
    X, support = vectors(rng), np.arange(3, 331, 4)
    exact, single = engine_of(WIDTHS, X), single_engine(WIDTHS, X)
    alpha, idx = rng.normal(size=len(support)), rng.permutation(331)[:150]
    for engine in (exact, single):
        engine.change(support, alpha)
    if known:
        single.quadratic()
    found = single.outputs_at(idx)
    assert np.abs(found - exact.outputs()[:, idx]).max() <= 3e-6 * np.abs(alpha).sum()
    new = np.count_nonzero(single.alpha[idx] == 0) if known else len(idx)
    old = len(support) if known else 0
    assert single.work.pairs["every kernel"] == len(support) * (old + new)


def test_new_weights_cost_a_pass_over_the_examples_without_an_alpha(rng, level):
    X, support = vectors(rng), np.arange(0, 331, 3)
    exact, single = engine_of(WIDTHS, X), single_engine(WIDTHS, X)
    alpha, theta = rng.normal(size=len(support)), rng.random(9)
    for engine in (exact, single):
        engine.change(support, alpha)
    single.quadratic()
    off = np.abs(single.combined(theta) - exact.combined(theta)).max()
    assert off <= 3e-6 * np.abs(alpha).sum() * theta.sum()
    assert single.work.pairs["new weights"] == len(support) * (331 - len(support))
    assert "changed alphas" not in single.work.pairs


def test_outputs_and_s_in_double_precision_are_made_together(rng, level):
    X, theta = vectors(rng), rng.random(9)
    exact, was_rough = engine_of(WIDTHS, X), single_engine(WIDTHS, X)
    alpha = np.where(rng.random(331) < 0.6, rng.normal(size=331), 0.0)
    for engine in (exact, was_rough):
        engine.move_to(alpha)
        engine.combined(theta)
    was_rough.single_precision = False
    was_rough.work.clear()
    np.testing.assert_allclose(was_rough.quadratic(), exact.quadratic(), rtol=1e-12)
    size = np.abs(alpha).sum() * theta.sum()
    np.testing.assert_allclose(was_rough.combined(theta), exact.combined(theta), atol=1e-14 * size)
    assert set(was_rough.work.pairs) == {"new weights"}
    other = rng.random(9)  # weights that could not be foreseen
    np.testing.assert_allclose(was_rough.combined(other), exact.combined(other), atol=1e-14 * size)


def test_few_support_vectors_take_a_single_precision_pass(rng, level):
    X, some = vectors(rng), np.arange(5)
    exact, engine = engine_of(WIDTHS, X), engine_of(WIDTHS, X)
    alpha = rng.normal(size=5)
    exact.change(some, alpha)
    engine.change(some, alpha)
    far = 3e-6 * np.abs(alpha).sum()
    assert np.abs(engine.outputs_at(np.arange(len(X))) - exact.outputs()).max() <= far
    assert engine.work.pairs["every kernel"] == 5 * len(X)


def test_simd_levels_agree_up_to_rounding(rng):
    X, before, found = vectors(rng), _core.simd_level(), []
    alpha = rng.normal(size=len(X))
    for name in _core.simd_levels():
        _core.use_simd(name)
        engine = single_engine(WIDTHS, X)
        engine.move_to(alpha)
        found.append((engine.combined(np.ones(9)).copy(), engine.quadratic()))
    _core.use_simd(before)
    for combined, block_norms in found[1:]:
        np.testing.assert_allclose(combined, found[0][0], atol=1e-6 * np.abs(alpha).sum())
        np.testing.assert_allclose(block_norms, found[0][1], rtol=1e-5)


def test_outputs_do_not_depend_on_the_number_of_threads(rng):
    X, alpha = vectors(rng), rng.normal(size=331)
    engines = [single_engine(WIDTHS, X, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for engine in engines:
        engine.move_to(alpha)
    for other in engines[1:]:
        np.testing.assert_array_equal(other.quadratic(), engines[0].quadratic())
        theta = np.arange(9.0)
        np.testing.assert_array_equal(other.combined(theta), engines[0].combined(theta))


def test_double_precision_outputs_do_not_depend_on_single_precision(rng):
    X, alpha, theta = vectors(rng), rng.normal(size=331), rng.random(9)
    exact, was_rough = engine_of(WIDTHS, X), single_engine(WIDTHS, X)
    for engine in (exact, was_rough):
        engine.move_to(alpha)
    assert np.any(was_rough.combined(theta) != exact.combined(theta))
    was_rough.quadratic()
    was_rough.single_precision = False
    np.testing.assert_array_equal(was_rough.combined(theta), exact.combined(theta))
    np.testing.assert_array_equal(was_rough.quadratic(), exact.quadratic())


@pytest.mark.parametrize(
    ("kernels", "d"),
    [
        (Polynomial(degree=[1, 2, 3, 4]), 5),  # no distances
        (WIDTHS, 81),  # longer vectors: distances are cheaper to keep
        (WIDTHS, "many"),
        (WIDTHS, "wide"),
        (RBF(np.geomspace(1e-3, 1e5, 9)), 5),  # rounding of distances would move the narrow ones
        ([WIDTHS, RBF(np.geomspace(1e4, 1e5, 9), columns=[0])], 5),
    ],
    ids=["dot products", "long vectors", "many values", "wide", "narrow", "one narrow family"],
)
def test_families_without_single_precision_stay_exact(rng, kernels, d):
    if d == "many":
        X = few_values(rng, d=1000) + np.tile(np.arange(1000) < 80, (331, 1))
    else:
        X = few_values(rng, d=1025) if d == "wide" else vectors(rng, d=d)
    engine = engine_of(kernels, X)
    assert not engine.has_single_precision
    engine.single_precision = True
    assert not engine.single_precision


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (MKLClassifier, {"norm": 1}),
        (MKLClassifier, {"norm": 1, "max_iter": 2}),
        (MKLClassifier, {"norm": 2, "loss": "logistic"}),
        (MKLClassifier, {"norm": 4}),
        (MKLClassifier, {"norm": np.inf, "C": 30.0}),
        (MKLRegressor, {"norm": 1, "loss": "squared"}),
        (MKLRegressor, {"norm": 1.3}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_certificates_after_single_precision_are_exact(rng, kind, settings, tol):
    X = vectors(rng)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 5 + 0.3 * rng.normal(size=len(X))
    y = y > np.median(y) if kind is MKLClassifier else y
    model = kind(WIDTHS, tol=tol, **settings).fit(X, y)
    assert isinstance(model.plan_.solver, SinglePrecision)
    assert verify(model, X, y).agree
    assert model.duality_gap_ <= tol or "max_iter" in settings


def test_work_is_counted_by_kind(rng):
    engine, theta = single_engine(WIDTHS, vectors(rng)), rng.random(9)
    n, idx = engine.n, np.arange(40)
    engine.combined(theta)
    engine.change(idx, rng.normal(size=40))
    engine.combined(theta)
    engine.block(idx, theta)
    engine.quadratic()
    part = engine.subset(np.arange(100))
    part.change(np.arange(20), np.ones(20))
    part.combined(theta)
    expected = {"new weights": 0, "changed alphas": 40 * n + 20 * 100, "blocks": 800}
    assert engine.work.pairs == expected | {"every kernel": 40 * 40}
    assert set(engine.work.seconds) == set(engine.work.pairs)
    assert "changed alphas 1.52e+04 pairs in " in str(engine.work)


def test_combined_outputs_follow_changes_of_alpha(rng):
    engine, theta = single_engine(WIDTHS, vectors(rng)), rng.random(9)
    engine.combined(theta)
    engine.change(np.arange(40), rng.normal(size=40))
    engine.quadratic()
    combined = engine.combined(theta).copy()
    engine.move_to(engine.alpha.copy())
    np.testing.assert_allclose(combined, engine.combined(theta), atol=1e-5 * theta.sum())


def test_restoring_a_snapshot_evaluates_nothing(rng):
    engine, theta = single_engine(WIDTHS, vectors(rng)), rng.random(9)
    engine.move_to(rng.normal(size=engine.n))
    combined, before = engine.combined(theta).copy(), engine.snapshot()
    engine.change(np.arange(50), np.zeros(50))
    engine.combined(rng.random(9))
    engine.work.clear()
    engine.move_to(*before)
    np.testing.assert_array_equal(engine.combined(theta), combined)
    assert not engine.work.pairs


def test_subset_with_all_support_vectors_keeps_combined_outputs(rng):
    engine, part = single_engine(WIDTHS, vectors(rng)), np.arange(0, 331, 3)
    engine.change(part[:50], rng.normal(size=50))
    theta, block_norms = rng.random(9), engine.quadratic()
    combined = engine.combined(theta).copy()
    engine.work.clear()
    smaller = engine.subset(part)
    np.testing.assert_array_equal(smaller.combined(theta), combined[part])
    assert not engine.work.pairs
    np.testing.assert_allclose(smaller.quadratic(), block_norms, rtol=1e-12)
    smaller.change(np.arange(3), np.zeros(3))
    assert np.all(smaller.quadratic() != block_norms)
    assert smaller.work.pairs["every kernel"] == 50 * 50 + 47 * 47


def test_history_counts_evaluated_pairs(rng, capsys):
    X = vectors(rng)
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=len(X)) > 0
    model = MKLClassifier(WIDTHS, norm=1, verbose=2).fit(X, y)
    seen = [sum(entry["pairs"].values()) for entry in model.history_]
    assert seen == sorted(seen)
    assert set(model.history_[-1]["pairs"]) == {
        "changed alphas",
        "every kernel",
        "blocks",
        "new weights",
    }
    shown = " ".join(capsys.readouterr().err.split())
    assert "every kernel" in shown

"""Ablation: CPU time of a suite of fits with each special case of the training path switched off.

A special case stays if it saves 20 % or more on some problem of the suite, or if some fit does not
converge without it. `ABLATIONS` lists the special cases: each is a set of attributes of the library
that are replaced. When a special case is deleted from the library, its entry is deleted here.
"""

from __future__ import annotations

import inspect
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLRegressorCV,
    fold,
    kkt_system,
    plan,
)
from kernelweave.datasets import make_sines, make_splice
from kernelweave.engines import base as engine_base
from kernelweave.engines import dense, family, kept_energies, linear, seen_products, stacked
from kernelweave.estimators import base as estimator_base
from kernelweave.kernels import (
    RBF,
    GappedKmer,
    Linear,
    Polynomial,
    Spectrum,
    WeightedDegree,
    per_feature,
)
from kernelweave.solvers import skm
from kernelweave.steps import analytic, master, newton
from kernelweave.training import (
    conjugate_gradients,
    descent,
    history,
    inner_hessian,
    loop,
    path,
    shrinking,
    solve,
    violations,
    working_sets,
)

from . import data
from .large_noisy import noisy
from .report import Table
from .settings import Settings
from .svm_condition import scaled
from .timing import blas_threads

QUICK = False
GAIN = 1.2  # ratio of CPU times from which on a special case stays
LIMIT = 10.0  # an ablated fit is stopped after this many times the CPU time of the complete one,
LEAST_SECONDS = 2.0  # but not before this many seconds
NEAR = 1.03, 1.8  # ratios between which a fit is timed several times
UNCHANGED = 1.15  # ratio below which a fit with an identical result is timed only once
NEVER = 10**12
WIDTHS = np.geomspace(1e-3, 1.0, 20)
COLUMNS = ("switched off", "file", "largest ratio", "on", "geometric mean", "verdict")
NOTE = (
    "Ratio: CPU seconds without the special case / CPU seconds of the complete library, best of "
    "alternating runs, one thread, kernel evaluation included. Geometric mean: over the problems "
    f"whose fits run the changed code. Verdict: keep if a ratio is at least {GAIN:g} or if a fit "
    "fails without the special case (the failing problem is then named)."
)

Fit = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Ablation:
    """A special case that can be switched off.

    Attributes
    ----------
    name : what is switched off.
    file : where it is implemented.
    patches : (owner, attribute, replacement) for each attribute that is replaced.
    needed : why it stays whatever time it takes, or an empty string.
    """

    name: str
    file: str
    patches: tuple[tuple[Any, str, Any], ...]
    needed: str = ""

    @contextmanager
    def off(self) -> Iterator[None]:
        """Switch the special case off inside the context."""
        with ExitStack() as stack:
            for owner, attribute, replacement in self.patches:
                stack.enter_context(mock.patch.object(owner, attribute, replacement))
            yield

    def touches(self, called: set[CodeType]) -> bool:
        """Return whether code that was called reads or is an attribute that is replaced."""
        return any(
            not called.isdisjoint(_readers(owner, attribute))
            for owner, attribute, _ in self.patches
        )


def _readers(owner: Any, attribute: str) -> set[CodeType]:
    """Return the code that depends on an attribute of a module or a class."""
    if inspect.isclass(owner):
        member = inspect.getattr_static(owner, attribute)
        function = _function(member)
        if isinstance(function, FunctionType):
            return {function.__code__}
        functions = [_function(member) for member in vars(owner).values()]
        return {one.__code__ for one in functions if isinstance(one, FunctionType)}
    found = set()
    for member in vars(owner).values():
        if getattr(member, "__module__", None) != owner.__name__:
            continue
        for part in vars(member).values() if inspect.isclass(member) else [member]:
            function = _function(part)
            if isinstance(function, FunctionType):
                found |= {code for code in _nested(function.__code__) if attribute in code.co_names}
    return found


def _function(member: Any) -> Any:
    """Return the function behind a property or a static method; anything else as it is."""
    member = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return getattr(member, "__func__", member)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _value(value: Any) -> Callable[..., Any]:
    """Return a function that returns a value whatever it is called with."""
    return lambda *arguments, **options: value


def _property(value: Any) -> property:
    return property(lambda self: value)


def _no_iterations(problem: Any) -> Iterator[np.ndarray]:
    """Stand in for a method inside working sets that finds nothing."""
    return iter(())


def _multiplies_freely(engine: Any, term: Any) -> bool:
    """Allow conjugate gradients for losses without bounds on alpha only."""
    return bool(term.is_free and engine.multiplies_linearly)


def _without_kept_examples(self: Any, q: int, keep: np.ndarray) -> np.ndarray:
    return SELECT(self, q, keep[:0])


def _quadratic_anew(self: Any) -> np.ndarray:
    """Compute the squared block norms of a family engine from rows of the support."""
    support = np.flatnonzero(self._alpha)
    return np.asarray(self._core.quadratic(support, self._alpha[support]))


def _follow_changes(self: Any) -> None:
    """Update the combined outputs of a family engine change by change."""
    changes, self._changes = self._changes, []
    for idx, delta in [] if self._stale else changes:
        self._add("changed alphas", idx, delta)


def _first_kernels(solve_: Any, problem: Any, engine: Any, history_: Any) -> Any:
    """Start sifting from evenly spaced kernels at equal weights."""
    M = engine.n_kernels
    return problem.norm.start(M), np.unique(np.linspace(0, M - 1, 8).astype(int))


def _cold(problem: Any, engine: Any, weights: np.ndarray) -> np.ndarray:
    """Start the next point of a grid from alpha = 0 and equal weights."""
    engine.move_to(solve.feasible_alpha(problem))
    return np.asarray(problem.norm.start(len(weights)))


SELECT = violations.Violations.select
ABLATIONS = (
    # How the inner problem is solved.
    Ablation(
        "joint descent in alpha and weights",
        "training/joint_gradients.py",
        ((plan, "JOINT_FROM", np.inf),),
    ),
    Ablation(
        "conjugate gradients of every kind (working sets instead)",
        "training/conjugate_gradients.py, descent.py",
        ((plan, "parts_multiply", _value(False)),),
    ),
    Ablation(
        "conjugate gradients for bounded losses (kept for the squared loss)",
        "training/loop.py: multiplies",
        (
            (plan, "parts_multiply", _multiplies_freely),
            (loop, "multiplies", _multiplies_freely),
        ),
    ),
    Ablation(
        "conjugate gradients for the squared loss on linear kernels",
        "training/loop.py: multiplies",
        (
            (plan, "parts_multiply", lambda engine, term: engine.subset(np.arange(2)).multiplies),
            (loop, "multiplies", lambda engine, term: engine.multiplies),
        ),
    ),
    Ablation(
        "conjugate directions (gradient steps instead)",
        "training/descent.py",
        ((descent.Descent, "last", property(lambda self: None, lambda self, value: None)),),
    ),
    Ablation(
        "quadratic model from recorded products",
        "engines/seen_products.py, modelled.py",
        ((conjugate_gradients.ModelledDescent, "models", _property(False)),),
    ),
    Ablation(
        "correction of that model by kernels with cheap products",
        "engines/corrected.py",
        ((linear, "SeenProducts", lambda quick, slow: seen_products.SeenProducts()),),
    ),
    Ablation(
        "separate engine for kernels with cheap products",
        "engines/linear.py: quick_kernels",
        ((linear, "quick_kernels", lambda costs: np.flatnonzero([])),),
    ),
    Ablation(
        "Hessian from recorded products",
        "training/inner_hessian.py: seen_hessian",
        ((seen_products.SeenProducts, "knows_well", _value(False)),),
    ),
    Ablation(
        "long gradient steps after short moves",
        "training/descent.py: SHORT_MOVES",
        ((descent, "SHORT_MOVES", NEVER), (conjugate_gradients, "SHORT_MOVES", NEVER)),
    ),
    Ablation(
        "Newton-CG for the logistic loss",
        "training/newton_cg.py",
        ((loop, "newton_cg", _value(None)),),
    ),
    Ablation(
        "interior points after many SMO steps",
        "training/interior_points.py",
        ((working_sets, "interior_points", _no_iterations),),
    ),
    Ablation(
        "Newton's method on margins after many SMO steps",
        "training/margin_newton.py",
        ((working_sets, "margin_newton", _no_iterations),),
    ),
    Ablation(
        "several rounds of SMO and interior points",
        "training/working_sets.py: ROUNDS",
        ((working_sets, "ROUNDS", 1),),
    ),
    # Working sets.
    Ablation(
        "shrinking of bounded examples between working sets",
        "training/working_sets.py: SHRINK_BELOW",
        ((working_sets, "SHRINK_BELOW", 0.0),),
    ),
    Ablation(
        "skip margin of bounded examples (full violation instead)",
        "training/working_sets.py: IN_QUESTION",
        ((working_sets, "IN_QUESTION", 1.0),),
    ),
    Ablation(
        "all active examples as one working set when all values are cached",
        "training/working_sets.py: keeps_values",
        ((stacked.StackedEngine, "keeps_values", False),),
    ),
    Ablation(
        "accurate subproblems when all values are cached",
        "training/working_sets.py: PRECISION_*",
        (
            (working_sets, "PRECISION_OF_VALUES", 0.1),
            (working_sets, "PRECISION_BETWEEN_STEPS", 0.1),
        ),
    ),
    Ablation(
        "separate subproblem accuracy of one and of many kernels (0.1 for both)",
        "training/working_sets.py: PRECISION_*",
        ((working_sets, "PRECISION_MANY_KERNELS", 0.1),),
    ),
    Ablation(
        "separate subproblem accuracy of one and of many kernels (0.3 for both)",
        "training/working_sets.py: PRECISION_*",
        ((working_sets, "PRECISION_ONE_KERNEL", 0.3),),
    ),
    Ablation(
        "several working sets between weight steps",
        "training/working_sets.py: LEAST_TURNS_PER_STEP",
        (
            (working_sets, "LEAST_TURNS_PER_STEP", 1),
            (working_sets, "EXAMPLES_PER_TURN", NEVER),
        ),
    ),
    Ablation(
        "free examples stay in the next working set",
        "training/violations.py: select",
        ((violations.Violations, "select", _without_kept_examples),),
    ),
    Ablation(
        "repair of the sum of alpha after rounding",
        "training/working_sets.py: _balanced",
        ((working_sets.WorkingSets, "_balanced", lambda self, work, alpha, output: alpha),),
    ),
    Ablation(
        "smaller working sets for expensive kernels",
        "engines/base.py: LARGEST_COSTLY_BLOCK",
        ((engine_base, "LARGEST_COSTLY_BLOCK", engine_base.LARGEST_BLOCK),),
    ),
    Ablation(
        "every rule for expensive kernels",
        "engines/base.py: COSTLY_PAIR",
        ((engine_base, "COSTLY_PAIR", np.inf),),
    ),
    # Where training starts.
    Ablation(
        "growing active sets",
        "training/shrinking.py",
        ((plan, "MANY_EXAMPLES", NEVER),),
    ),
    Ablation(
        "random samples instead of violators when most examples are support vectors",
        "training/shrinking.py: noisy",
        ((shrinking, "is_crowded", _value(False)),),
    ),
    Ablation(
        "first weights from a sample",
        "training/solve.py: first_weights",
        ((solve, "SMALLEST_SAMPLED", NEVER),),
    ),
    Ablation(
        "original costs in samples of overlapping classes",
        "training/solve.py: is_crowded",
        ((solve, "is_crowded", _value(False)),),
    ),
    Ablation(
        "merging of equal examples",
        "merged_examples.py",
        ((estimator_base, "mergeable", _value(False)),),
    ),
    Ablation(
        "warm starts along the grid of a search",
        "training/path.py",
        ((path, "at_norm", _cold), (path, "at_cost", _cold)),
    ),
    Ablation(
        "scaling of alpha for the next cost of a search",
        "training/path.py: best_factor",
        ((path, "best_factor", _value(1.0)),),
    ),
    # How weights and inner problem alternate.
    Ablation(
        "end of inner problems once the whole problem is solved",
        "training/loop.py: Solved",
        ((loop.Solved, "__call__", _value(False)),),
    ),
    Ablation(
        "no weight step when the weights are good enough",
        "training/loop.py: GOOD_WEIGHTS",
        ((loop, "GOOD_WEIGHTS", -np.inf),),
    ),
    Ablation(
        "coarser inner problems when alpha is expensive",
        "training/loop.py: INNER_SHARE",
        ((loop, "INNER_SHARE", 0.0),),
    ),
    Ablation(
        "least decrease of the inner gap",
        "training/loop.py: INNER_FALL",
        ((loop, "INNER_FALL", 1.0),),
    ),
    Ablation(
        "adaptive weights for the test of the constant model",
        "training/loop.py: EveryKernel",
        ((loop.EveryKernel, "weights", lambda self, s: self._norm.start(len(s))),),
        needed="constant models among thousands of kernels (tests/test_nothing_to_learn.py)",
    ),
    # Weight steps.
    Ablation(
        "Newton steps for 1 < p <= 2 (analytic steps instead)",
        "plan.py: NEWTON_UP_TO_*",
        ((plan, "NEWTON_UP_TO_CHEAP", 1.0), (plan, "NEWTON_UP_TO_EXPENSIVE", 1.0)),
    ),
    Ablation(
        "Newton limit for expensive weights (1.3 for all engines)",
        "plan.py: NEWTON_UP_TO_EXPENSIVE",
        ((plan, "NEWTON_UP_TO_EXPENSIVE", plan.NEWTON_UP_TO_CHEAP),),
    ),
    Ablation(
        "Newton limit for cheap weights (2 for all engines)",
        "plan.py: NEWTON_UP_TO_CHEAP",
        ((plan, "NEWTON_UP_TO_CHEAP", plan.NEWTON_UP_TO_EXPENSIVE),),
    ),
    Ablation(
        "analytic steps for many kernels at 1 < p <= 1.3",
        "plan.py: NEWTON_KERNELS",
        ((plan, "NEWTON_KERNELS", NEVER),),
    ),
    Ablation(
        "over-relaxed analytic steps",
        "steps/analytic.py: _beyond",
        ((analytic.Analytic, "_beyond", lambda self, before, theta: theta),),
    ),
    Ablation(
        "rank-one model in Newton steps (quadratic model instead)",
        "steps/newton.py: RankOneModel",
        ((newton, "SEVERAL", 0),),
    ),
    Ablation(
        "quadratic model for more than 100 kernels (rank-one model instead)",
        "steps/newton.py: SEVERAL",
        ((newton, "SEVERAL", NEVER),),
    ),
    Ablation(
        "secant scaling of the Hessian",
        "steps/newton.py: _secant",
        ((newton.Newton, "_secant", _value(1.0)),),
    ),
    Ablation(
        "upper bound on the eigenvalues of the Hessian",
        "steps/newton.py: _limited",
        ((newton, "_limited", lambda hessian, limit: hessian),),
    ),
    Ablation(
        "return to the best weights after idle steps",
        "steps/newton.py: PATIENCE",
        ((newton, "PATIENCE", NEVER),),
    ),
    Ablation(
        "SMO on weights at p = 1 (interior points instead)",
        "steps/master.py: _by_pairs",
        ((master, "_by_pairs", _value(None)),),
    ),
    Ablation(
        "active set of weights in the model minimum",
        "steps/master.py: FEW",
        ((master, "FEW", NEVER),),
    ),
    Ablation(
        "low-rank Hessians",
        "kkt_system.py: LowRank",
        ((kkt_system, "MANY", NEVER),),
    ),
    Ablation(
        "landmarks for Hessians of many free examples",
        "training/inner_hessian.py: landmark_hessian",
        ((inner_hessian, "MANY", 0),),
    ),
    Ablation(
        "fewer examples in Hessians of family and linear engines",
        "training/inner_hessian.py: FEW_EXAMPLES",
        ((inner_hessian, "FEW_EXAMPLES", NEVER),),
    ),
    # Engines.
    Ablation(
        "family engine",
        "engines/family.py",
        ((family.FamilyEngine, "serves", staticmethod(_value(False))),),
    ),
    Ablation(
        "single-precision passes",
        "engines/family.py, training/solve.py: rough",
        ((family.FamilyEngine, "has_rough_outputs", _property(False)),),
    ),
    Ablation(
        "cached outputs of support vectors",
        "engines/family.py: _of_support",
        ((family.FamilyEngine, "quadratic", _quadratic_anew),),
    ),
    Ablation(
        "outputs computed anew instead of many updates",
        "engines/family.py: _catch_up",
        ((family.FamilyEngine, "_catch_up", _follow_changes),),
    ),
    Ablation(
        "one pass over the support for outputs of many examples",
        "engines/family.py: _one_pass_pays",
        ((family.FamilyEngine, "_one_pass_pays", _value(False)),),
    ),
    Ablation(
        "linear engine",
        "engines/linear.py",
        ((linear.LinearEngine, "serves", staticmethod(_value(False))),),
    ),
    Ablation(
        "cached outputs of single kernels in the linear engine",
        "engines/linear.py: _keeps_single",
        (
            (linear.LinearEngine, "_keeps_single", _property(False)),
            (linear.LinearEngine, "separates", _property(False)),
        ),
    ),
    Ablation(
        "products of single kernels where these cost as much as their sum",
        "engines/linear.py: separates",
        ((linear.LinearEngine, "separates", _property(False)),),
    ),
    Ablation(
        "sums over few changed examples instead of products",
        "engines/linear.py: FEW",
        ((linear, "FEW", 0),),
    ),
    Ablation(
        "products of a single kernel in the dense engine",
        "engines/dense.py: _product",
        ((dense.DenseEngine, "_product", _property(None)),),
    ),
    Ablation(
        "plain-sum engine",
        "engines/dense.py: of_sum",
        ((dense.DenseEngine, "sums", staticmethod(_value(False))),),
    ),
    Ablation(
        "stacked engine",
        "engines/stacked.py",
        ((stacked.StackedEngine, "serves", staticmethod(_value(False))),),
    ),
    Ablation(
        "reuse of the last and the first block",
        "engines/stacked.py: Block",
        ((stacked.Block, "part", _value(None)),),
    ),
    Ablation(
        "copies of the values of a fold",
        "fold.py: CopiedFold",
        ((fold, "FEWEST_MACHINES", NEVER),),
    ),
    Ablation(
        "streamed engine and sifting",
        "engines/streamed.py, solvers/sifting.py",
        ((skm.SKM, "streams", _value(False)),),
    ),
    Ablation(
        "first kernels of sifting from a sample of examples",
        "solvers/sifting.py: first_guess",
        ((skm, "first_guess", _first_kernels),),
    ),
    Ablation(
        "cached squared block norms of the streamed engine",
        "engines/kept_energies.py",
        ((kept_energies.KeptEnergies, "quadratic", lambda self: self._quadratic()),),
    ),
    # How training ends.
    Ablation(
        "iterations that adapt alpha before small weights are dropped",
        "training/solve.py: FEW_TURNS",
        ((solve, "FEW_TURNS", 0),),
        needed="weights of 0 are exact",
    ),
    Ablation(
        "second, smaller threshold for small weights",
        "training/solve.py: SMALL_WEIGHTS",
        ((solve, "SMALL_WEIGHTS", solve.SMALL_WEIGHTS[:1]),),
    ),
    Ablation(
        "exact zeros at p = 1",
        "training/solve.py: drop_small_weights",
        ((solve, "drop_small_weights", lambda problem, engine, result, *rest: result),),
        needed="weights of 0 are exact",
    ),
    Ablation(
        "rounding bound of the certificate",
        "training/confirm.py, digits.py",
        ((solve, "confirmed", lambda problem, engine, result, digits, tol: result),),
        needed="the certificate",
    ),
    Ablation(
        "further attempts at a gap beyond rounding",
        "training/solve.py: ATTEMPTS",
        ((solve, "ATTEMPTS", 1),),
    ),
    Ablation(
        "stop when rounding dominates the gap",
        "training/history.py: NOISY_TURNS",
        ((history, "NOISY_TURNS", NEVER),),
    ),
    Ablation(
        "stop when half of the iterations brought little",
        "training/history.py: SLOW_PROGRESS",
        ((history, "SLOW_PROGRESS", -1e9),),
    ),
    Ablation(
        "stop after three stalled inner problems",
        "training/history.py: STUCK_INNER",
        ((history, "STUCK_INNER", NEVER),),
        needed="a past finding does not end without it (tests/test_fuzz_corpus.py)",
    ),
    Ablation(
        "shorter patience of inner problems",
        "training/loop.py: INNER_PATIENCE",
        ((loop, "INNER_PATIENCE", history.STUCK_TURNS),),
    ),
    Ablation(
        "end of conjugate gradients whose gap falls slowly",
        "training/descent.py: slow",
        ((descent, "slow", _value(False)),),
    ),
)


def classifier(kernels: Any, X: Any, y: Any, **options: Any) -> Fit:
    """Return a fit of a classifier."""
    return lambda: MKLClassifier(kernels, n_jobs=1, **options).fit(X, y)


def regressor(kernels: Any, X: Any, y: Any, **options: Any) -> Fit:
    """Return a fit of a regressor."""
    return lambda: MKLRegressor(kernels, n_jobs=1, **options).fit(X, y)


def problems(settings: Settings) -> Iterator[tuple[str, Fit]]:
    """Yield the problems of the suite: a name and a fit."""

    def size(n: int) -> int:
        return settings.size(n, max(60, n // 50), max(200, n // 4))

    def table(n: int) -> tuple[np.ndarray, np.ndarray]:
        made = data.generated(size(n))
        return made.X, made.y

    def overlapping(n: int) -> tuple[np.ndarray, np.ndarray]:
        made = noisy(size(n))
        return made.X, made.y

    def separated(n: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = make_classification(
            size(n), 20, n_informative=8, class_sep=2.5, flip_y=0, random_state=0
        )
        return X, y

    def sites(n: int) -> tuple[Any, np.ndarray]:
        return make_splice(size(n), positive_rate=0.3)

    def sines(n: int) -> tuple[np.ndarray, np.ndarray]:
        return make_sines(size(n), noise=0.3, random_state=0)

    many = settings.size(1000, 30, 200)
    widths, few = RBF(list(WIDTHS)), RBF(list(WIDTHS[::4]))
    sine_widths = RBF(list(np.geomspace(0.01, 100.0, 20)))
    mixed = [Linear(), Polynomial(2), Polynomial(3), RBF(0.01), RBF(0.1)]
    rng = np.random.default_rng(0)

    # Tables.
    yield "200 rows, 20 RBF, p=1", classifier(widths, *table(200), norm=1)
    yield "2,000 rows, 20 RBF, p=1", classifier(widths, *table(2000), norm=1)
    yield "2,000 rows, 20 RBF, p=4/3", classifier(widths, *table(2000), norm=4 / 3)
    yield "2,000 rows, 20 RBF, p=2", classifier(widths, *table(2000), norm=2)
    yield "2,000 rows, 20 RBF, p=inf", classifier(widths, *table(2000), norm=np.inf)
    yield "1,000 rows, 20 RBF, tol=1e-6", classifier(widths, *table(1000), norm=1, tol=1e-6)
    yield "8,000 noisy rows, 1 RBF", classifier(RBF(0.05), *overlapping(8000))
    yield "8,000 noisy rows, 20 RBF, p=1", classifier(widths, *overlapping(8000), norm=1)
    yield "8,000 noisy rows, 20 RBF, p=2", classifier(widths, *overlapping(8000), norm=2)
    yield "30,000 rows, 1 RBF", classifier(RBF(0.05), *separated(30_000))
    yield "30,000 rows, 5 RBF, p=1", classifier(few, *separated(30_000), norm=1)
    yield "100,000 rows, 5 RBF, p=1", classifier(few, *separated(100_000), norm=1)
    yield (
        "300 rows, 1,000 RBF, p=1",
        classifier(RBF(list(np.geomspace(1e-3, 1.0, many))), *table(300), norm=1),
    )
    yield (
        "500 rows, 200 RBF, p=4/3",
        classifier(RBF(list(np.geomspace(1e-3, 1.0, many // 5))), *table(500), norm=4 / 3),
    )
    yield "2,000 rows, 5 mixed, p=1", classifier(mixed, *table(2000), norm=1)
    yield "2,000 rows, 50 linear, p=1", classifier(per_feature(Linear()), *table(2000), norm=1)
    yield "2,000 rows, 50 linear, p=2", classifier(per_feature(Linear()), *table(2000), norm=2)
    yield "1,000 rows, 50 RBF, p=1", classifier(per_feature(RBF()), *table(1000), norm=1)
    yield "1,000 rows, 50 RBF, p=inf", classifier(per_feature(RBF()), *table(1000), norm=np.inf)
    cancer = load_breast_cancer(return_X_y=True)
    yield "breast cancer, default kernels", classifier(None, *cancer)
    unscaled = {"norm": np.inf, "normalize": None}
    yield "breast cancer, linear, unscaled", classifier(Linear(), *cancer, C=100.0, **unscaled)
    scales = scaled(size(2000))
    yield "10 scales, linear, unscaled", classifier(Linear(), scales.X, scales.y, **unscaled)
    rows, labels = table(500)
    chosen = rng.integers(0, len(rows), size(5000))
    yield "5,000 rows, 500 distinct", classifier(widths, rows[chosen], labels[chosen], norm=1)
    random = np.random.default_rng(2).normal(size=(size(1000), 5))
    rare = np.where(np.arange(len(random)) % 20, -1, 1)
    wide = RBF([1e-4, 1e-3])
    yield "1,000 rows, constant model, 2 RBF", classifier(wide, random, rare, norm=1, C=1e-2)
    counts, rare = rng.integers(0, 4, (size(1500), 20)), np.where(np.arange(size(1500)) % 25, -1, 1)
    yield "1,500 rows, rare class, p=1", classifier(per_feature(Linear()), counts, rare, norm=1)
    yield "400 rows, hard margin", classifier(widths, *table(400), norm=1, C=np.inf)
    yield (
        "400 rows, wide RBF, C=1e6",
        classifier(RBF([1e-6, 1e-5, 1e-4]), *table(400), norm=1, C=1e6, tol=1e-6, normalize=None),
    )
    genes = rng.normal(size=(50, many + many // 5))
    signs = np.sign(genes[:, :5].sum(axis=1))
    yield "50 rows, 1,200 linear, p=1", classifier(per_feature(Linear()), genes, signs, norm=1)
    half = genes[:, : many // 2 + 1]
    yield "50 rows, 501 linear, p=1.2", classifier(per_feature(Linear()), half, signs, norm=1.2)
    columns = per_feature(Linear())
    yield "breast cancer, 30 linear, unscaled", classifier(columns, *cancer, norm=1, normalize=None)
    yield (
        "breast cancer, squared hinge, C=1e4",
        classifier(Linear(), *cancer, C=1e4, loss="squared_hinge", **unscaled),
    )
    yield (
        "600 rows, 500 RBF, SKM",
        classifier(
            RBF(list(np.geomspace(1e-3, 1.0, many // 2))), *table(600), norm=1, solver="skm"
        ),
    )
    # Other losses.
    yield "1,000 rows, 20 RBF, logistic", classifier(widths, *table(1000), norm=1, loss="logistic")
    yield "2,000 rows, 5 mixed, logistic", classifier(mixed, *table(2000), norm=2, loss="logistic")
    yield (
        "2,000 rows, 5 mixed, logistic, p=1",
        classifier(mixed, *table(2000), norm=1, loss="logistic"),
    )
    yield (
        "breast cancer, linear, logistic",
        classifier(Linear(), *cancer, C=100.0, loss="logistic", **unscaled),
    )
    yield (
        "10 scales, linear, squared",
        regressor(Linear(), scales.X, scales.y, C=100.0, loss="squared", **unscaled),
    )
    yield "8,000 rows, linear, logistic", classifier(Linear(), *table(8000), loss="logistic")
    yield (
        "2,000 rows, 5 RBF, squared hinge",
        classifier(few, *table(2000), norm=2, loss="squared_hinge"),
    )
    yield (
        "2,500 rows, 5 mixed, squared hinge",
        classifier(mixed, *table(2500), norm=1, loss="squared_hinge"),
    )
    yield "2,000 rows, 20 RBF, epsilon", regressor(sine_widths, *sines(2000), norm=1)
    yield (
        "2,000 rows, 20 RBF, squared",
        regressor(sine_widths, *sines(2000), norm=2, loss="squared"),
    )
    features = table(2000)[0]
    target = features[:, 0] + 0.3 * rng.normal(size=len(features))
    yield (
        "2,000 rows, 50 linear, squared",
        regressor(per_feature(Linear()), features, target, norm=1, loss="squared"),
    )
    yield "2,000 rows, one class", lambda: MKLOneClass(few, n_jobs=1).fit(features)
    # Several outputs, and searches.
    digits, classes = load_digits(return_X_y=True)
    digits, classes = digits[: size(800)], classes[: size(800)]
    digit_widths = RBF([1e-4, 5e-4, 2e-3, 1e-2])
    yield "digits, one against rest", classifier(digit_widths, digits, classes, norm=2)
    yield (
        "digits, shared weights",
        classifier(digit_widths, digits, classes, norm=1, share_weights=True),
    )
    grid: dict[str, Any] = {"Cs": [0.1, 1.0, 10.0], "cv": 3, "n_jobs": 1}
    first = classes < 4
    yield (
        "search, 4 digits",
        lambda: MKLClassifierCV(digit_widths, norms=[1, 2, np.inf], **grid).fit(
            digits[first], classes[first]
        ),
    )
    few_rows = table(1200)
    yield (
        "search, 1,200 rows",
        lambda: MKLClassifierCV(few, norms=[1, 2], **grid).fit(*few_rows),
    )
    fewer_rows = table(500)
    yield "search, default grid", lambda: MKLClassifierCV(few, n_jobs=1).fit(*fewer_rows)
    waves = sines(500)
    yield (
        "search, regression",
        lambda: MKLRegressorCV(sine_widths, norms=[1, 2], **grid).fit(*waves),
    )
    # Strings.
    lengths, degrees = Spectrum([3, 4, 5]), WeightedDegree(20, split="degree")
    yield "2,000 strings, 3 spectra, p=1", classifier(lengths, *sites(2000), norm=1)
    yield "2,000 strings, 3 spectra, p=2", classifier(lengths, *sites(2000), norm=2)
    yield "4,000 strings, WD", classifier(WeightedDegree(20), *sites(4000))
    yield "4,000 strings, WD per degree, p=1", classifier(degrees, *sites(4000), norm=1)
    yield "4,000 strings, WD per degree, p=2", classifier(degrees, *sites(4000), norm=2)
    yield (
        "4,000 strings, WD, logistic",
        classifier(degrees, *sites(4000), norm=2, loss="logistic"),
    )
    yield (
        "2,000 strings, WD per position, p=1",
        classifier(WeightedDegree(10, split="position"), *sites(2000), norm=1),
    )
    yield "1,500 strings, gapped", classifier(GappedKmer(), *sites(1500))
    gapped = GappedKmer([6, 8, 10], [4, 5, 6])
    yield "2,000 strings, 3 gapped, p=1", classifier(gapped, *sites(2000), norm=1)
    yield "2,000 strings, 3 gapped, p=2", classifier(gapped, *sites(2000), norm=2)
    unit = {"normalize": "unit"}
    yield "2,000 strings, 3 gapped, unit, p=2", classifier(gapped, *sites(2000), norm=2, **unit)
    pair = GappedKmer([8, 11], [5, 7])
    yield "1,500 strings, 2 gapped, unit, p=1", classifier(pair, *sites(1500), norm=1, **unit)
    yield "1,500 strings, 2 gapped, unit, p=2", classifier(pair, *sites(1500), norm=2, **unit)
    # Large fits.
    yield "5,000 rows, default kernels", classifier(None, *table(5000))
    yield "30,000 noisy rows, 1 RBF", classifier(RBF(0.05), *overlapping(30_000), tol=3e-2)


class TooLong(Exception):
    """A fit has used up its CPU time."""


@dataclass(frozen=True)
class Run:
    """One fit: CPU seconds, whether it converged, iterations, largest gap, weights that are not 0.

    `error` names the exception where there is no model.
    """

    seconds: float
    converged: bool
    iterations: int = 0
    gap: float = np.inf
    dual: float = np.nan
    nonzero: int = 0
    error: str = ""

    def same(self, other: Run) -> bool:
        """Return whether two fits ended with the same model after as many iterations."""
        mine, theirs = (
            (run.iterations, run.gap, run.dual, run.nonzero, run.error) for run in (self, other)
        )
        return mine == theirs


def measure(fit: Fit, limit: float | None = None) -> Run:
    """Fit once, for at most `limit` seconds of CPU time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    started = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            signal.setitimer(signal.ITIMER_PROF, limit or 0.0)
            model = fit()
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            seconds = time.process_time() - started
    except Exception as error:  # whatever the library lacks without a special case
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return Run(time.process_time() - started, False, error=type(error).__name__)
    finally:
        signal.signal(signal.SIGPROF, before)
    return Run(
        seconds,
        not any(issubclass(one.category, ConvergenceWarning) for one in raised),
        int(model.n_iter_),
        float(np.max(model.duality_gap_)),
        float(np.sum(model.dual_objective_)),
        int(np.count_nonzero(model.weights_)),
    )


def called_by(fit: Fit) -> set[CodeType]:
    """Return the code of the Python functions that a fit calls."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    sys.setprofile(note)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit()
    finally:
        sys.setprofile(None)
    return called


@dataclass(frozen=True)
class Comparison:
    """A problem without a special case, against the complete library."""

    ablation: str
    problem: str
    ratio: float
    complete: Run
    ablated: Run

    @property
    def failed(self) -> bool:
        """Whether only the complete library converges; a fit that was stopped is merely slow."""
        stopped = self.ablated.error == TooLong.__name__
        return self.complete.converged and not self.ablated.converged and not stopped


def best(runs: list[Run]) -> Run:
    """Return the fastest run; one that did not converge comes first."""
    return min(runs, key=lambda run: (run.converged, run.seconds))


def compare(
    name: str, fit: Fit, ablations: tuple[Ablation, ...], repeats: int
) -> Iterator[Comparison]:
    """Time a problem without each of the special cases that it meets."""
    called = called_by(fit)
    complete = [measure(fit) for _ in range(max(repeats, 1))]
    seconds = min(run.seconds for run in complete)
    limit = max(LEAST_SECONDS, LIMIT * seconds)
    for ablation in ablations:
        if not ablation.touches(called):
            continue
        with ablation.off():
            ablated = [measure(fit, limit)]
        unchanged = ablated[0].same(complete[0]) and ablated[0].seconds < UNCHANGED * seconds
        paired = list(complete) if unchanged else []
        if ablated[0].error:  # no model, and no time to compare
            paired = list(complete)
        near = NEAR[0] * seconds < ablated[0].seconds < NEAR[1] * seconds
        for _ in range(0 if paired else repeats if near else 1):
            paired.append(measure(fit))
            with ablation.off():
                ablated.append(measure(fit, limit))
        found = best(ablated)
        ratio = found.seconds / min(run.seconds for run in paired)
        yield Comparison(ablation.name, name, ratio, best(complete), found)


def verdict(
    rows: list[Comparison], needed: str = ""
) -> tuple[float | None, str, float | None, str]:
    """Return the largest ratio, its problem, the geometric mean, and the verdict.

    `needed` says why the special case stays whatever the ratios are.
    """
    if not rows:
        return None, "no problem runs this code", None, f"keep: {needed}" if needed else "delete"
    failing = [row for row in rows if row.failed]
    largest = max(failing or rows, key=lambda row: row.ratio)
    mean = float(np.exp(np.mean([np.log(row.ratio) for row in rows])))
    decision = "keep" if largest.ratio >= GAIN else "delete"
    if failing:
        decision = "keep: fails without it"
    elif needed:
        decision = f"keep: {needed}"
    return largest.ratio, largest.problem, mean, decision


def summary(rows: list[Comparison], ablations: tuple[Ablation, ...] = ABLATIONS) -> Table:
    """Return the table of verdicts."""
    table = Table("Ablation", COLUMNS, notes=[NOTE])
    for ablation in ablations:
        own = [row for row in rows if row.ablation == ablation.name]
        ratio, problem, mean, decision = verdict(own, ablation.needed)
        table.add(ablation.name, ablation.file, ratio, problem, mean, decision)
    return table


def run(settings: Settings) -> Table:
    """Compare all problems without each special case; print each ratio as it comes."""
    rows = []
    with blas_threads(1):
        for name, fit in problems(settings):
            for row in compare(name, fit, ABLATIONS, settings.repeats):
                rows.append(row)
                print(f"{row.ratio:.2f}\t{row.problem}\t{row.ablation}", file=sys.stderr)
    return summary(rows)

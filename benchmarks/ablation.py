"""Ablation: CPU time of a suite of fits with each special case of the training path switched off.

A special case stays if it saves 20 % or more on some problem of the suite, or if some fit does not
converge without it. `ABLATIONS` lists the special cases. Most are switched off in the plan: by
other costs of the engine, by another `PlanTuning`, or by another composition of solvers. The others
replace a function. When a special case is deleted from the library, its entry is deleted here.
"""

from __future__ import annotations

import inspect
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLRegressorCV
from kernelweave.datasets import make_sines, make_splice
from kernelweave.engines import dense, family, linear, stacked
from kernelweave.engines.costs import Products
from kernelweave.engines.recorded_products import RecordedProducts
from kernelweave.estimators import base as estimator_base
from kernelweave.estimators import fit as estimator_fit
from kernelweave.estimators import formulation
from kernelweave.kernels import (
    RBF,
    GappedKmer,
    Linear,
    Polynomial,
    Spectrum,
    WeightedDegree,
    per_feature,
)
from kernelweave.optimization import (
    engine_choice,
    named_methods,
    path,
    plan,
    solve,
    start,
    stopping,
    wrapper,
)
from kernelweave.optimization import run as run_module
from kernelweave.optimization.active_sets import ActiveSets
from kernelweave.optimization.fallback import Fallback
from kernelweave.optimization.inner import descent, violations, working_sets
from kernelweave.optimization.inner.conjugate_gradients import ConjugateGradients
from kernelweave.optimization.inner.joint_gradients import JointDescent
from kernelweave.optimization.inner.newton_cg import NewtonCG
from kernelweave.optimization.inner.working_sets import WorkingSets
from kernelweave.optimization.methods import sifting, skm
from kernelweave.optimization.sparsity import DropSmallWeights
from kernelweave.optimization.steps import analytic, gradient, master, newton
from kernelweave.optimization.steps.inner_hessian import InnerHessian
from kernelweave.optimization.wrapper import Wrapper

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
    "whose plan changes, or whose fits run the changed code. Verdict: keep if a ratio is at least "
    f"{GAIN:g} or if a fit fails without the special case (the failing problem is then named)."
)

Fit = Callable[[], Any]
Case = plan.Case
COMPOSE, SELECT = plan.compose, violations.Violations.select
OUTPUTS_AT = family.FamilyEngine.outputs_at
BEGIN = newton.Newton.begin


@dataclass(frozen=True, eq=False)
class Ablation:
    """A special case that can be switched off.

    Attributes
    ----------
    name : what is switched off.
    file : where it is implemented, below src/kernelweave.
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

    def met(self, trace: Trace) -> bool:
        """Return whether a fit called code that uses a replaced attribute."""
        return any(
            not trace.called.isdisjoint(_readers(owner, attribute))
            for owner, attribute, _ in self.patches
        )


class Choice(Ablation):
    """A special case that is an engine, or a part of a plan."""

    def met(self, trace: Trace) -> bool:
        """Return whether a fit has another engine or another plan without the special case."""
        return self.name in trace.rechosen


def planned(
    name: str,
    file: str,
    change: Callable[[Case], Case] = lambda case: case,
    rewrite: Callable[[plan.Plan], plan.Plan] = lambda made: made,
    needed: str = "",
) -> Choice:
    """Return the ablation of a choice that `make_plan` makes.

    Parameters
    ----------
    change : from the complete case to one with other costs or another tuning.
    rewrite : from a plan to another composition.
    """

    def without(case: Case, engine: str) -> plan.Plan:
        return rewrite(COMPOSE(change(case), engine))

    return Choice(name, file, ((plan, "compose", without),), needed)


def costs(**others: Any) -> Callable[[Case], Case]:
    """Return a change of the costs of the engine."""
    return lambda case: replace(case, costs=replace(case.costs, **others))


def tuning(**others: Any) -> Callable[[Case], Case]:
    """Return a change of the thresholds of the plan."""
    return lambda case: replace(case, tuning=replace(case.tuning, **others))


def each(kind: type | tuple[type, ...], change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a rewriting of compositions that changes every part of a kind."""

    def rewrite(part: Any) -> Any:
        if not is_dataclass(part) or isinstance(part, type):
            return part
        inner = {field.name: rewrite(getattr(part, field.name)) for field in fields(part)}
        part = replace(part, **inner)
        return change(part) if isinstance(part, kind) else part

    return rewrite


def with_fields(**others: Any) -> Callable[[Any], Any]:
    """Return a change of fields of a part."""
    return lambda part: replace(part, **others)


def with_tuning(**others: Any) -> Callable[[Any], Any]:
    """Return a change of the tuning of a part."""
    return lambda part: replace(part, tuning=replace(part.tuning, **others))


@dataclass(frozen=True)
class Trace:
    """The choices and special cases of a fit.

    Attributes
    ----------
    called : code of the Python functions that it calls.
    rechosen : names of the ablations that give it another engine or another plan.
    """

    called: set[CodeType]
    rechosen: set[str]


def trace(fit: Fit, ablations: tuple[Ablation, ...]) -> Trace:
    """Return the choices and special cases of a fit, by fitting once."""
    called: set[CodeType] = set()
    rechosen: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    def compared(choose: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that chooses, and compares the choices without each special case."""

        def chosen(*arguments: Any, **options: Any) -> Any:
            complete = choose(*arguments, **options)
            for ablation in ablations:
                if isinstance(ablation, Choice) and ablation.name not in rechosen:
                    with ablation.off():
                        if choose(*arguments, **options) != complete:
                            rechosen.add(ablation.name)
            return complete

        return chosen

    with (
        mock.patch.object(estimator_base, "choose_engine", compared(engine_choice.choose_engine)),
        mock.patch.object(estimator_fit, "make_plan", compared(plan.make_plan)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        sys.setprofile(note)
        try:
            fit()
        finally:
            sys.setprofile(None)
    return Trace(called, rechosen)


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


def _with_products(change: Callable[[Products], Products | None]) -> Callable[[Case], Case]:
    """Return a change of the costs of products, for losses but the logistic.

    The logistic loss has Newton-CG, an ablation of its own.
    """

    def changed(case: Case) -> Case:
        if case.problem.term.is_entropy:
            return case
        products, part_products = (
            None if one is None else change(one)
            for one in (case.costs.products, case.costs.part_products)
        )
        return costs(products=products, part_products=part_products)(case)

    return changed


def _without_kept_examples(self: Any, q: int, keep: np.ndarray) -> np.ndarray:
    return SELECT(self, q, keep[:0])


def _outputs_by_rows(self: Any, idx: np.ndarray) -> np.ndarray:
    """Compute outputs of no more examples at a time than there are support vectors."""
    parts = -(-len(idx) // max(np.count_nonzero(self.alpha), 1))
    return np.concatenate(
        [OUTPUTS_AT(self, part) for part in np.array_split(idx, max(parts, 1))], axis=1
    )


def _first_kernels(solver: Any, problem: Any, engine: Any, run_: Any, most: int = 0) -> Any:
    """Start sifting from evenly spaced kernels at equal weights."""
    M = engine.n_kernels
    return problem.norm.start(M), np.unique(np.linspace(0, M - 1, 8).astype(int))


def _cold(problem: Any, engine: Any, weights: np.ndarray) -> np.ndarray:
    """Start the next point of a grid from alpha = 0 and equal weights."""
    engine.move_to(start.feasible_alpha(problem))
    return np.asarray(problem.norm.start(len(weights)))


def _without(kind: type) -> Callable[[Fallback], Any]:
    """Return a change of fallbacks that leaves out a first solver of a kind."""
    return lambda part: part.then if isinstance(part.first, kind) else part


def _unscaled_steps(self: Any, *begun: Any) -> newton.NewtonSteps:
    unscaled = newton.NewtonTuning(secant=(1.0, 1.0))
    return BEGIN(replace(self, tuning=unscaled), *begun)


ALL_WEIGHTS = partial(master.model_minimum, tuning=master.MasterTuning(first_weights=NEVER))
ABLATIONS = (
    # How the inner problem is solved.
    planned(
        "joint descent in alpha and weights",
        "optimization/inner/joint_gradients.py",
        tuning(joint_from=np.inf),
    ),
    planned(
        "conjugate gradients of every kind (working sets instead)",
        "optimization/inner/conjugate_gradients.py, newton_cg.py",
        costs(products=None, part_products=None),
    ),
    planned(
        "conjugate gradients for bounded losses (kept for the squared loss)",
        "optimization/plan.py: INNER",
        _with_products(lambda products: replace(products, cheap=False)),
    ),
    planned(
        "conjugate gradients for the squared loss on linear kernels",
        "optimization/plan.py: INNER",
        _with_products(lambda products: products if products.cheap else None),
    ),
    Ablation(
        "conjugate directions (gradient steps instead)",
        "optimization/inner/descent.py",
        ((descent.Descent, "last", property(lambda self: None, lambda self, value: None)),),
    ),
    planned(
        "quadratic model from recorded products",
        "engines/recorded_products.py, quadratic_model.py",
        rewrite=each((ConjugateGradients, JointDescent), with_fields(record=False)),
    ),
    Ablation(
        "correction of that model by kernels with cheap products",
        "engines/surrogate.py",
        ((linear, "RecordedProducts", lambda quick, slow: RecordedProducts()),),
    ),
    Ablation(
        "separate engine for kernels with cheap products",
        "engines/linear.py: quick_kernels",
        ((linear, "quick_kernels", lambda costs: np.flatnonzero([])),),
    ),
    planned(
        "Hessian from recorded products (kernels with costly pairs)",
        "optimization/steps/inner_hessian.py: recorded_hessian",
        rewrite=each(InnerHessian, with_fields(recorded=False)),
    ),
    planned(
        "Newton-CG for the logistic loss",
        "optimization/inner/newton_cg.py",
        rewrite=each(Fallback, _without(NewtonCG)),
    ),
    Ablation(
        "interior points after many SMO steps",
        "optimization/inner/interior_points.py",
        ((working_sets, "interior_points", _no_iterations),),
    ),
    Ablation(
        "Newton's method on margins after many SMO steps",
        "optimization/inner/margin_newton.py",
        ((working_sets, "margin_newton", _no_iterations),),
    ),
    Ablation(
        "end of conjugate gradients whose gap falls slowly",
        "optimization/inner/descent.py: slow",
        ((descent, "slow", _value(False)),),
    ),
    # Working sets.
    planned(
        "all active examples as one working set when all values are cached",
        "optimization/inner/working_sets.py: cached_values",
        costs(values="computed"),
    ),
    planned(
        "several working sets between weight steps",
        "optimization/inner/working_sets.py: least_sets",
        rewrite=each(WorkingSets, with_fields(free_weights=True)),
    ),
    Ablation(
        "free examples stay in the next working set",
        "optimization/inner/violations.py: select",
        ((violations.Violations, "select", _without_kept_examples),),
    ),
    Ablation(
        "repair of the sum of alpha after rounding",
        "optimization/inner/working_sets.py: _balanced",
        ((working_sets.Decomposition, "_balanced", lambda self, work, alpha, output: alpha),),
    ),
    # Where training starts.
    planned(
        "growing active sets",
        "optimization/active_sets.py",
        rewrite=each(ActiveSets, lambda part: part.then),
    ),
    planned(
        "first weights from a sample",
        "optimization/start.py: Sample",
        rewrite=each(start.Sample, lambda part: start.Uniform()),
    ),
    Ablation(
        "merging of equal examples",
        "estimators/merged_examples.py",
        ((formulation, "mergeable", _value(False)),),
    ),
    Ablation(
        "warm starts along the grid of a search",
        "optimization/path.py",
        ((path, "at_norm", _cold), (path, "at_cost", _cold)),
    ),
    # How weights and inner problem alternate.
    planned(
        "no weight step when the weights are good enough",
        "optimization/wrapper.py: good_weights",
        rewrite=each(Wrapper, with_tuning(good_weights=-np.inf)),
        needed="Newton steps at tol = 1e-5 end (tests/optimization/methods/test_sifting.py)",
    ),
    planned(
        "coarser inner problems when alpha is expensive",
        "optimization/plan.py: outer_share",
        tuning(outer_share=0.0),
    ),
    planned(
        "least decrease of the inner gap",
        "optimization/wrapper.py: inner_decrease",
        rewrite=each(Wrapper, with_tuning(inner_decrease=1.0)),
        needed="Newton steps at tol = 1e-5 end (tests/optimization/methods/test_sifting.py)",
    ),
    planned(
        "stop after three stalled inner problems",
        "optimization/wrapper.py: inner_failures",
        rewrite=each(Wrapper, with_tuning(inner_failures=NEVER)),
        needed="a past finding does not end without it (tests/test_fuzz_corpus.py)",
    ),
    Ablation(
        "adaptive weights for the test of the constant model",
        "optimization/wrapper.py: ProbeWeights",
        ((wrapper.ProbeWeights, "next", lambda self, s: self._norm.start(len(s))),),
        needed="constant models among thousands of kernels (tests/optimization/test_wrapper.py)",
    ),
    # Weight steps.
    planned(
        "Newton steps for 1 < p <= 2 (analytic steps instead)",
        "optimization/plan.py: newton_free, newton_costly",
        tuning(newton_free=1.0, newton_costly=1.0),
    ),
    planned(
        "Newton limit for expensive weights (1.3 for all engines)",
        "optimization/plan.py: newton_costly",
        tuning(newton_costly=plan.TUNING_OF_PLANS.newton_free),
    ),
    planned(
        "Newton limit for cheap weights (2 for all engines)",
        "optimization/plan.py: newton_free",
        tuning(newton_free=plan.TUNING_OF_PLANS.newton_costly),
    ),
    planned(
        "analytic steps for many kernels at 1 < p <= 1.3",
        "optimization/plan.py: newton_kernels",
        tuning(newton_kernels=NEVER),
    ),
    Ablation(
        "over-relaxed analytic steps",
        "optimization/steps/analytic.py: _beyond",
        ((analytic.AnalyticSteps, "_beyond", lambda self, before, theta: theta),),
    ),
    Ablation(
        "rank-one model in Newton steps (quadratic model instead)",
        "optimization/steps/newton.py: RankOneModel",
        ((newton, "SLIGHT", np.inf),),
    ),
    Ablation(
        "secant scaling of the Hessian",
        "optimization/steps/newton.py: _secant",
        ((newton.Newton, "begin", _unscaled_steps),),
    ),
    Ablation(
        "upper bound on the eigenvalues of the Hessian",
        "optimization/steps/newton.py: _limited",
        ((newton, "_limited", lambda hessian, limit: hessian),),
    ),
    Ablation(
        "SMO on weights at p = 1 (interior points instead)",
        "optimization/steps/master.py: _by_pairs",
        ((master, "_by_pairs", _value(None)),),
    ),
    Ablation(
        "active set of weights in the model minimum",
        "optimization/steps/master.py: first_weights",
        ((newton, "model_minimum", ALL_WEIGHTS), (gradient, "model_minimum", ALL_WEIGHTS)),
    ),
    planned(
        "samples of many free examples in Hessians",
        "optimization/plan.py: hessian_blocks",
        tuning(hessian_share=1.0, hessian_blocks=(1e9, 1e9)),
    ),
    planned(
        "smaller Hessians on few rows",
        "optimization/plan.py: hessian_share",
        tuning(hessian_share=1.0),
    ),
    planned(
        "less accurate subproblems with several kernels",
        "optimization/plan.py: costly_changes",
        tuning(costly_changes=0.1),
    ),
    # Engines.
    Choice(
        "family engine",
        "engines/family.py",
        ((family.FamilyEngine, "serves", staticmethod(_value(False))),),
    ),
    planned(
        "single-precision passes",
        "optimization/single_precision.py",
        costs(single_precision=False),
    ),
    Ablation(
        "cached outputs of support vectors",
        "engines/family.py: _of_support",
        (
            (
                family.FamilyEngine,
                "_outputs_of_support",
                lambda self, support: self._every_kernel(support, support),
            ),
        ),
    ),
    Ablation(
        "one pass over the support for outputs of many examples",
        "engines/family.py: outputs_at",
        ((family.FamilyEngine, "outputs_at", _outputs_by_rows),),
    ),
    Choice(
        "linear engine",
        "engines/linear.py",
        ((linear.LinearEngine, "serves", staticmethod(_value(False))),),
    ),
    Ablation(
        "cached outputs of single kernels in the linear engine",
        "engines/linear.py: _keeps_single",
        (
            (linear.LinearEngine, "_keeps_single", _property(False)),
            (linear.LinearEngine, "_separates", _property(False)),
        ),
    ),
    Ablation(
        "products of single kernels where these cost as much as their sum",
        "engines/linear.py: _separates",
        ((linear.LinearEngine, "_separates", _property(False)),),
    ),
    Ablation(
        "products of a single kernel in the dense engine",
        "engines/dense.py: _product",
        ((dense.DenseEngine, "_product", _property(None)),),
    ),
    Choice(
        "plain-sum engine",
        "engines/dense.py: of_sum",
        ((dense.DenseEngine, "sums", staticmethod(_value(False))),),
    ),
    Choice(
        "stacked engine",
        "engines/stacked.py",
        ((stacked.StackedEngine, "serves", staticmethod(_value(False))),),
    ),
    Choice(
        "streamed engine and sifting",
        "engines/streamed.py, optimization/methods/sifting.py",
        ((named_methods.Trained, "streams", _value(False)), (skm.SKM, "streams", _value(False))),
    ),
    Ablation(
        "first kernels of sifting from a sample of examples",
        "optimization/methods/sifting.py: first_guess",
        ((sifting, "first_guess", _first_kernels), (skm, "first_guess", _first_kernels)),
    ),
    # How training ends.
    planned(
        "iterations that adapt alpha before small weights are dropped",
        "optimization/plan.py: adapt",
        tuning(adapt=0),
        needed="weights of 0 are exact",
    ),
    planned(
        "exact zeros at p = 1",
        "optimization/sparsity.py",
        rewrite=each(DropSmallWeights, lambda part: part.solver),
        needed="weights of 0 are exact",
    ),
    Ablation(
        "rounding bound of the certificate",
        "optimization/confirm.py",
        ((solve, "confirmed", lambda problem, engine, result, digits, tol: result),),
        needed="the certificate",
    ),
    Ablation(
        "further attempts at a gap beyond rounding",
        "optimization/solve.py: ATTEMPTS",
        ((solve, "ATTEMPTS", 1),),
    ),
    Ablation(
        "stop when rounding dominates the gap",
        "optimization/stopping.py: noisy_patience",
        (
            (
                run_module,
                "StoppingRule",
                partial(stopping.StoppingRule, tuning=stopping.StallTuning(noisy_patience=NEVER)),
            ),
        ),
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
    yield "2,000 rows, 20 RBF, p=4", classifier(widths, *table(2000), norm=4)
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
    """A fit has exceeded its CPU time."""


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
    met = trace(fit, ablations)
    complete = [measure(fit) for _ in range(max(repeats, 1))]
    seconds = min(run.seconds for run in complete)
    limit = max(LEAST_SECONDS, LIMIT * seconds)
    for ablation in ablations:
        if not ablation.met(met):
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
            for row in compare(name, fit, ABLATIONS, settings.size(settings.repeats, 1)):
                rows.append(row)
                print(f"{row.ratio:.2f}\t{row.problem}\t{row.ablation}", file=sys.stderr)
    return summary(rows)

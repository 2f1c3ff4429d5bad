"""Estimators with the conventions of scikit-learn: validate, solve, store."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import losses, norms
from .core import single_threaded_blas
from .distinct import Distinct, mergeable
from .engines import DenseEngine, Engine, MixtureEngine, Stack
from .engines.remembering import Checkpoint, Remembering
from .kernels import CompiledKernels, Kernel, Precomputed
from .kernels.default import default_kernels
from .kernels.examples import Examples
from .kernels.prepare import prepare, resolve
from .model import Model, alphas
from .problem import Problem, Result
from .progress import live_line
from .solvers.chunking import Budget
from .solvers.registry import solver_for
from .solvers.start import first_start
from .validation import check_examples, check_parameters, check_targets

WORKING_SET = 1000


class _MKL(BaseEstimator):
    """What the estimators share: kernels in, certified solutions out."""

    def _train(
        self, X: Any, problems: list[Problem], targets: np.ndarray, shared: bool = False
    ) -> None:
        """Solve one problem per output on the examples X and store what was learned.

        Parameters
        ----------
        targets : what tells examples with equal x apart, shape (n,).
        shared : whether the outputs share their weights.
        """
        shared = shared and len(problems) > 1
        solver = solver_for(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        kernels = self.kernels
        if kernels is not None:  # parameters that depend on the data depend on all of it
            kernels = resolve(kernels, X)
        distinct = None
        if mergeable(kernels or [], X):
            distinct = Distinct.of(X, targets, problems[0].C)
        if distinct:
            X, problems = X[distinct.chosen], [distinct.merge(problem) for problem in problems]
        with single_threaded_blas(), live_line(type(self).__name__, self.verbose) as watch:
            families = solver.combines and not shared
            compiled, examples, engine = self._prepare(kernels, X, problems[0].C, families)
            problems, engine = sharing(problems, engine) if shared else (problems, engine)
            results = [
                self._solve_kept(problem, engine, watch, compiled.names, number)
                for number, problem in enumerate(problems)
            ]
        self._learn(compiled, examples, results, distinct)

    def _solve_kept(
        self, problem: Problem, engine: Engine, watch: Any, names: tuple[str, ...], number: int
    ) -> Result:
        """Solve a problem, where there is a checkpoint from what it says, keeping it up to date."""
        if self.checkpoint is None:
            return self._solve(problem, engine, watch)
        checkpoint = Checkpoint(f"{self.checkpoint}.{number}", problem, names)
        alpha, theta = checkpoint.load() or first_start(problem, engine)
        engine.rebuild(alpha)
        remembering = Remembering(engine, alpha, theta, checkpoint.keep)
        result = self._solve(problem, remembering, watch, (alpha, theta))
        checkpoint.remove()
        return result

    def _prepare(
        self, kernels: list[Kernel] | None, X: Any, costs: np.ndarray, families: bool = False
    ) -> tuple[CompiledKernels, Examples, Engine]:
        """Normalise and compile the kernels on the examples X, and give them an engine.

        `families`: whether combined outputs will do, so that families may be taken as a whole.
        """
        n_jobs = effective_n_jobs(self.n_jobs)
        kernels = kernels or default_kernels(X, costs)
        compiled, examples = prepare(kernels, self.normalize, X, weights=costs, n_jobs=n_jobs)
        kind = (
            MixtureEngine
            if families and MixtureEngine.serves(compiled, examples.n)
            else DenseEngine
        )
        engine = kind(compiled, examples, cache_mb=self.cache_mb, n_jobs=n_jobs)
        return compiled, examples, engine

    def _solve(
        self, problem: Problem, engine: Engine, watch: Any, start: tuple | None = None
    ) -> Result:
        """Solve a problem from `start`, an alpha whose outputs the engine holds and weights."""
        shared = problem.machines > 1
        solver = solver_for(self.solver, problem.norm, problem.loss, shared=shared)
        budget = Budget(
            tol=self.tol,
            max_iter=self.max_iter,
            working_set=WORKING_SET if self.working_set == "auto" else self.working_set,
            watch=watch,
        )
        alpha, theta = start or first_start(problem, engine)
        return solver.solve(problem, engine, alpha, theta, budget, self.interleaved)

    def _learn(
        self,
        compiled: CompiledKernels,
        examples: Examples,
        results: list[Result],
        distinct: Distinct | None = None,
    ) -> None:
        """Keep what the results say of all examples, or of the distinct ones."""
        self._warn_unless_converged(results)
        self._model = Model.of(compiled, examples, results)
        alpha = alphas(results, examples.n)
        self._store(results, distinct.expand(alpha) if distinct else alpha)

    def _warn_unless_converged(self, results: list[Result]) -> None:
        worst = max(results, key=lambda result: result.gap)
        if not worst.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {worst.n_iter} turns at a relative duality "
                f"gap of {worst.gap:.2e}, above tol={self.tol:g}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _store(self, results: list[Result], alpha: np.ndarray) -> None:
        """Set the public attributes; alpha has shape (outputs, n)."""
        model = self._model
        self.kernel_names_ = model.compiled.names
        self.support_ = np.flatnonzero(alpha.any(axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self.intercept_ = model.intercept
        single = len(results) == 1
        self.weights_ = model.weights[0] if single else model.weights
        for name in ("primal", "dual"):
            values = np.array([getattr(result, name) for result in results])
            setattr(self, f"{name}_objective_", float(values[0]) if single else values)
        gaps = np.array([result.gap for result in results])
        self.duality_gap_ = float(gaps[0]) if single else gaps
        histories = [[vars(progress) for progress in result.history] for result in results]
        self.history_ = histories[0] if single else histories
        self.n_iter_ = max(result.n_iter for result in results)

    def _forget(self) -> None:
        """Drop what an earlier fit has learned: an interrupted fit must leave nothing behind."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_model"]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")  # the columns of X are noted before anything is learned

    def _decide(self, X: Any) -> np.ndarray:
        """Return decision values, shape (n, outputs)."""
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        return self._model.decide(X, n_jobs=effective_n_jobs(self.n_jobs))

    def contributions(self, X: Any) -> np.ndarray:
        """Return what each kernel adds to the decision values.

        Parameters
        ----------
        X : n examples.

        Returns
        -------
        Array of shape (n, M), or (n, classes, M) with more than two classes. Summed over the
        kernels, plus the intercept, it is the decision value.
        """
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values = self._model.contributions(X, n_jobs=effective_n_jobs(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _all_precomputed(self.kernels)
        return tags


def sharing(problems: list[Problem], engine: Engine) -> tuple[list[Problem], Engine]:
    """Return the one problem of machines that share their weights, and the engine for it."""
    return [Problem.sharing(problems)], Stack(engine, len(problems))


def _all_precomputed(kernels: Any) -> bool:
    """Return whether X is one given matrix, whose columns scikit-learn must split like its rows."""
    one = kernels[0] if isinstance(kernels, list | tuple) and len(kernels) == 1 else kernels
    return isinstance(one, Precomputed) and one.columns is None


class MKLClassifier(ClassifierMixin, _MKL):
    """Classification with learned kernel weights.

    Solves, for two classes (and one against the rest for more),

        min  C sum_i V(f(x_i), y_i) + 1/2 sum_m ||w_m||^2 / theta_m,   ||theta|| <= 1, theta >= 0

    to a certified relative duality gap of `tol`.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        Each may be a family. None: a linear kernel and RBF kernels of seven widths.
    norm : float >= 1, inf, or an object of `kernelweave.norms`
        1 gives sparse weights, inf the plain sum of the kernels.
    C : float
        Cost of a loss.
    loss : {"hinge", "squared_hinge", "logistic", "smooth_hinge"} or a loss object
    solver : str
        "auto", or a solver by name.
    interleaved : bool
        Whether weights change between working sets, or only between complete solutions.
    normalize : {"variance", "unit", "trace", "center", None}
        How kernels are made comparable.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int or None
        Bound on the number of turns of the outer loop.
    working_set : int or "auto"
        Number of examples worked on in a turn.
    cache_mb : float
        Memory for rows of distances and dot products.
    n_jobs : int or None
        Threads; None is one, -1 all processors.
    class_weight : dict, "balanced" or None
        Factors of C for the examples of each class.
    share_weights : bool
        With more than two classes: whether all of them use the same kernel weights. The sum of
        their problems is then solved, as one problem with one duality gap.
    checkpoint : path or None
        Where a long run saves its state every two minutes, a file ``<path>.<output>`` for each
        output. A run that was killed goes on from there; one that ends removes its files.
    verbose : int
        1 shows a live line.
    random_state : int, RandomState or None
        Only for solvers that draw random numbers.

    Attributes
    ----------
    weights_ : array of shape (M,), or (classes, M) unless they are shared
    kernel_names_ : tuple of M strings
    support_ : array of shape (n_support,)
    dual_coef_ : array of shape (1 or classes, n_support)
    intercept_ : array of shape (1 or classes,)
    primal_objective_, dual_objective_, duality_gap_ : float, or one for each row of weights_
    n_iter_ : int
    history_ : list of dict
        Seconds, primal, dual, gap and weights after every turn; a list for each row of weights_.
    classes_ : array
    """

    def __init__(
        self,
        kernels=None,
        *,
        norm=2.0,
        C=1.0,
        loss="hinge",
        solver="auto",
        interleaved=True,
        normalize="variance",
        tol=1e-3,
        max_iter=None,
        working_set="auto",
        cache_mb=1024,
        n_jobs=None,
        class_weight=None,
        share_weights=False,
        checkpoint=None,
        verbose=0,
        random_state=None,
    ):
        self.kernels = kernels
        self.norm = norm
        self.C = C
        self.loss = loss
        self.solver = solver
        self.interleaved = interleaved
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.working_set = working_set
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.share_weights = share_weights
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Learn from n examples X with labels y, shape (n,)."""
        self._forget()
        check_parameters(self)
        X = check_examples(self, X, reset=True)
        classes, codes = self._labels(X, y)
        costs = self.C * self._costs(classes, codes, sample_weight)
        problems = self._machines(codes, costs, norms.as_norm(self.norm))
        self._train(X, problems, codes, self.share_weights)
        self.classes_ = classes
        return self

    def _labels(self, X, y):
        """Return the classes, and which of them each example belongs to, shape (n,)."""
        y = check_targets(self, X, y, numeric=False)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "y must have at least 2 classes, but the data have only 1 class: "
                f"{classes.tolist()[0]!r}"
            )
        return classes, codes

    def _machines(self, codes, costs, norm):
        """Return one problem per class, or a single one for two."""
        loss, count = losses.get(self.loss, "classifier"), codes.max() + 1
        positives = [1] if count == 2 else range(count)
        return [Problem(loss, norm, np.where(codes == c, 1.0, -1.0), costs) for c in positives]

    def _costs(self, classes, codes, sample_weight=None):
        per_class = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
        weights = _check_sample_weight(sample_weight, codes, ensure_non_negative=True)
        costs = weights * per_class[codes]
        if np.count_nonzero(np.bincount(codes, costs)) < 2:
            raise ValueError("sample_weight must leave at least 2 classes with a positive weight")
        return costs

    def decision_function(self, X):
        """Return decision values, shape (n,), or (n, classes) with more than two classes."""
        values = self._decide(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Return the predicted labels, shape (n,)."""
        values = self.decision_function(X)
        index = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[index]


class MKLRegressor(RegressorMixin, _MKL):
    """Regression with learned kernel weights.

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared"} or a loss object
    epsilon : float
        Half the width of the tube inside which errors are free (epsilon_insensitive).
    """

    def __init__(
        self,
        kernels=None,
        *,
        norm=2.0,
        C=1.0,
        loss="epsilon_insensitive",
        epsilon=0.1,
        solver="auto",
        interleaved=True,
        normalize="variance",
        tol=1e-3,
        max_iter=None,
        working_set="auto",
        cache_mb=1024,
        n_jobs=None,
        checkpoint=None,
        verbose=0,
        random_state=None,
    ):
        self.kernels = kernels
        self.norm = norm
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.solver = solver
        self.interleaved = interleaved
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.working_set = working_set
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Learn from n examples X with targets y, shape (n,)."""
        self._forget()
        check_parameters(self)
        X = check_examples(self, X, reset=True)
        y = check_targets(self, X, y, numeric=True).astype(float)
        costs = self.C * _check_sample_weight(sample_weight, y, ensure_non_negative=True)
        self._train(X, self._machines(y, costs, norms.as_norm(self.norm)), y)
        return self

    def _machines(self, y, costs, norm):
        """Return the only problem."""
        params = {"epsilon": self.epsilon} if self.loss == "epsilon_insensitive" else {}
        return [Problem(losses.get(self.loss, "regressor", **params), norm, y, costs)]

    def predict(self, X):
        """Return the predicted targets, shape (n,)."""
        return self._decide(X)[:, 0]


class MKLOneClass(OutlierMixin, _MKL):
    """Novelty detection with learned kernel weights (Schölkopf et al. 2001).

    Parameters are those of `MKLClassifier`, with these differences.

    Parameters
    ----------
    nu : float in (0, 1]
        Bound on the part of the training examples that are left outside.

    Attributes
    ----------
    offset_ : float
        decision_function(X) = score_samples(X) - offset_.
    """

    def __init__(
        self,
        kernels=None,
        *,
        norm=2.0,
        nu=0.5,
        solver="auto",
        interleaved=True,
        normalize="variance",
        tol=1e-3,
        max_iter=None,
        working_set="auto",
        cache_mb=1024,
        n_jobs=None,
        checkpoint=None,
        verbose=0,
        random_state=None,
    ):
        self.kernels = kernels
        self.norm = norm
        self.nu = nu
        self.solver = solver
        self.interleaved = interleaved
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.working_set = working_set
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Learn the region of n examples X; y is ignored."""
        self._forget()
        check_parameters(self)
        X = check_examples(self, X, reset=True)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        costs = _check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
        problem = Problem(
            losses.OneClass(), norms.as_norm(self.norm), np.ones(n), costs, self.nu * costs.sum()
        )
        self._train(X, [problem], problem.y)
        self.offset_ = -float(self.intercept_[0])
        return self

    def decision_function(self, X):
        """Return how far inside the region each example lies, shape (n,)."""
        return self._decide(X)[:, 0]

    def score_samples(self, X):
        """Return the decision values without the offset, shape (n,)."""
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """Return +1 for examples inside the region and -1 for those outside, shape (n,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

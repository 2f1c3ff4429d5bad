"""A linear baseline: explicit features for every kernel, side by side, and LIBLINEAR on them.

Moeller et al. (2018) compare with it under the name LIBLINEAR+. It solves

    min  C sum_i V(f(x_i), y_i) + 1/2 sum_m ||w_m||^2,     f(x) = sum_m <w_m, z_m(x)> + b,

z_m being features with <z_m(x), z_m(y)> about k_m(x, y): the problem of `MKLClassifier(norm=inf)`,
but for the approximation and for b, which LIBLINEAR regularises. Features are centred first: b then
has less to do, and a kernel whose values are all large no longer hides how they differ from the
solver. Memory is O(n M n_components).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..core import _core, single_threaded_blas
from ..documentation import Documented
from ..kernels import RBF, Kernel
from ..kernels.default_of_views import default_of_views
from ..kernels.examples import Examples
from ..kernels.per_feature import Stack
from ..kernels.prepare import prepare
from ..kernels.program import CompiledKernels
from ..numeric import is_whole, thread_count
from ..validation import check_examples, check_parameters, check_targets

RANK = 1e-10  # eigenvalues below this part of the largest one are dropped
FEATURES = ("nystroem", "fourier")


class LinearizedMKL(ClassifierMixin, Documented, BaseEstimator):
    """Classification on approximate features of several kernels.

    Parameters
    ----------
    kernels : kernel, list of kernels, or None
        As for `MKLClassifier`.
    features : {"nystroem", "fourier"}
        Similarities to some training examples (Williams and Seeger, 2001), for any kernel, or
        random cosines (Rahimi and Recht, 2007), for RBF kernels.
    n_components : int
        Number of features for each kernel, at most.
    C : float
        Cost of a loss.
    loss : {"squared_hinge", "hinge"}
    normalize : {"variance", "unit", "trace", "center", None}
        How kernels are made comparable; "unit" or None for Fourier features.
    tol : float
        Tolerance of LIBLINEAR.
    max_iter : int
        Bound on its iterations.
    n_jobs : int or None
        Threads for the evaluation of kernels.
    class_weight : dict, "balanced" or None
    random_state : int, RandomState or None
        For the choice of examples or frequencies.

    Attributes
    ----------
    weights_ : array of shape (M,), or (classes, M)
        Norms ||w_m|| of each kernel's part of the model, scaled to add up to 1.
    kernel_names_ : tuple of M strings
    coef_, intercept_ : the linear model on the concatenated features
    classes_ : array

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelweave import LinearizedMKL
    >>> from kernelweave.kernels import RBF
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = LinearizedMKL(RBF([0.01, 0.1]), n_components=50, random_state=0)
    >>> model = model.fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.1f}")
    1.0
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        features: str = "nystroem",
        n_components: int = 150,
        C: float = 1.0,
        loss: str = "squared_hinge",
        normalize: str | None = "variance",
        tol: float = 1e-3,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernels = kernels
        self.features = features
        self.n_components = n_components
        self.C = C
        self.loss = loss
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LinearizedMKL:
        """Learn from n examples X with labels y, shape (n,)."""
        check_parameters(self)
        self._check_features()
        X = check_examples(self, X, reset=True)
        y = check_targets(self, X, y, numeric=False)
        check_classification_targets(y)
        random = check_random_state(self.random_state)
        self._map = self._make_map(X, random)
        features = self._features(X)
        centre = features.mean(axis=0)
        features -= centre
        linear = LinearSVC(
            C=self.C, loss=self.loss, tol=self.tol, max_iter=self.max_iter, dual=self._dual(),
            class_weight=self.class_weight, random_state=random,
        ).fit(features, y)  # fmt: skip
        self.classes_, self.coef_ = linear.classes_, linear.coef_
        self.intercept_ = linear.intercept_ - linear.coef_ @ centre
        self.kernel_names_ = self._map.names
        self.weights_ = self._group_norms()
        self.n_iter_ = int(linear.n_iter_)
        return self

    def _check_features(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"features must be one of {list(FEATURES)}, got {self.features!r}")
        if not (is_whole(self.n_components) and self.n_components >= 1):
            raise ValueError(
                f"n_components must be an integer of at least 1, got {self.n_components!r}"
            )
        if not (is_whole(self.max_iter) and 1 <= self.max_iter < 2**31):
            raise ValueError(
                f"max_iter must be an integer from 1 to {2**31 - 1}, got {self.max_iter!r}"
            )
        if self.loss not in ("hinge", "squared_hinge"):
            raise ValueError(f"loss must be 'hinge' or 'squared_hinge', got {self.loss!r}")

    def _dual(self) -> bool:
        """Whether to solve the dual: where the loss has no gradient.

        Coordinates of features that are alike are slow: on sonar with 720 kernels the dual of the
        squared hinge was a hundred times its optimum after 1,000 rounds, and Newton's method in
        the primal there after 68.
        """
        return self.loss == "hinge"

    def _make_map(self, X: Any, random: np.random.RandomState) -> Nystroem | Fourier:
        kernels = self.kernels
        if kernels is None:
            kernels = default_of_views(X, np.ones(X.shape[0]))
        if self.features == "fourier":
            return Fourier.of(kernels, self.normalize, X, self.n_components, random)
        n_jobs = thread_count(self.n_jobs)
        return Nystroem.of(kernels, self.normalize, X, self.n_components, random, n_jobs)

    def _features(self, X: Any) -> np.ndarray:
        with single_threaded_blas():
            return self._map(X, thread_count(self.n_jobs))

    def _group_norms(self) -> np.ndarray:
        ends = np.cumsum(self._map.sizes)[:-1]
        groups = np.split(self.coef_, ends, axis=1)
        norms = np.stack([np.linalg.norm(group, axis=1) for group in groups], axis=1)
        total = norms.sum(axis=1, keepdims=True)
        weights = np.divide(norms, total, out=np.zeros_like(norms), where=total > 0)
        shares: np.ndarray = weights[0] if len(weights) == 1 else weights
        return shares

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values, shape (n,), or (n, classes) with more than two classes."""
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values: np.ndarray = self._features(X) @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.coef_) == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, shape (n,)."""
        values = self.decision_function(X)
        index = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        labels: np.ndarray = self.classes_[index]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.kernels is None
        return tags


@dataclass(frozen=True, eq=False)
class Nystroem:
    """Features k_m(x, landmarks) K_m^(-1/2) of each kernel.

    Attributes
    ----------
    roots : for each kernel an (s, rank) matrix
    """

    compiled: CompiledKernels
    landmarks: Examples
    roots: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, kernels: Any, how: str | None, X: Any, count: int, random: Any, n_jobs: int
    ) -> Nystroem:
        """Choose landmarks among the training examples X."""
        with single_threaded_blas():
            compiled, examples = prepare(kernels, how, X, n_jobs=n_jobs)
            chosen = np.sort(random.permutation(examples.n)[:count])
            inside = examples.take(chosen).side
            squares = _core.evaluate(compiled.program, inside, inside, n_jobs)
            roots = tuple(_inverse_root(square) for square in squares)
        return cls(compiled, examples.reference(chosen), roots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return self.compiled.names

    @property
    def sizes(self) -> list[int]:
        """Number of features of each kernel."""
        return [root.shape[1] for root in self.roots]

    def __call__(self, X: Any, n_jobs: int) -> np.ndarray:
        """Return the features of new examples, shape (n, sum of sizes)."""
        new = self.compiled.examples(X, n_jobs=n_jobs).side
        values = _core.evaluate(self.compiled.program, self.landmarks.side, new, n_jobs)
        return np.hstack([v.T @ root for v, root in zip(values, self.roots, strict=True)])


def _inverse_root(square: np.ndarray) -> np.ndarray:
    """Return R, shape (s, rank), with R R' the pseudo-inverse of a matrix."""
    values, vectors = np.linalg.eigh(square)
    keep = values > RANK * values[-1]
    root: np.ndarray = vectors[:, keep] / np.sqrt(values[keep])
    return root


@dataclass(frozen=True, eq=False)
class Fourier:
    """Features sqrt(2 / D) cos(omega . x + phase) of each RBF kernel."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    frequencies: tuple[np.ndarray, ...]
    phases: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, kernels: Any, how: str | None, X: Any, count: int, random: Any) -> Fourier:
        """Draw frequencies from the spectrum of each kernel."""
        if how not in ("unit", None):
            raise ValueError(f"normalize must be 'unit' or None for Fourier features, got {how!r}")
        compiled, _ = prepare(kernels, None, X)
        members = [one for kernel in _flat(compiled.kernels) for one in _members(kernel)]
        columns = tuple(view for view, _ in members)
        widths = [(view.values(X).shape[1], gamma) for view, gamma in members]
        frequencies = tuple(
            np.sqrt(2 * gamma) * random.standard_normal((d, count)) for d, gamma in widths
        )
        phases = tuple(random.uniform(0, 2 * np.pi, size=count) for _ in members)
        return cls(compiled.names, columns, frequencies, phases)

    @property
    def sizes(self) -> list[int]:
        """Number of features of each kernel."""
        return [len(phase) for phase in self.phases]

    def __call__(self, X: Any, n_jobs: int) -> np.ndarray:
        """Return the features of new examples, shape (n, sum of sizes)."""
        parts = zip(self.columns, self.frequencies, self.phases, strict=True)
        return np.hstack([_cosines(view.values(X), omega, phase) for view, omega, phase in parts])


def _cosines(values: Any, omega: np.ndarray, phase: np.ndarray) -> np.ndarray:
    product = values @ omega if sp.issparse(values) else np.asarray(values) @ omega
    cosines: np.ndarray = np.sqrt(2.0 / len(phase)) * np.cos(product + phase)
    return cosines


def _flat(kernels: Sequence[Kernel]) -> list[Kernel]:
    return [
        part
        for kernel in kernels
        for part in (_flat(kernel.kernels) if isinstance(kernel, Stack) else [kernel])
    ]


def _members(kernel: Kernel) -> list[tuple[Any, float]]:
    """Return the columns and the gamma of each member of an RBF kernel or family."""
    if not isinstance(kernel, RBF):
        raise ValueError(
            f"features='fourier' needs RBF kernels, not {kernel.names[0]!r}; "
            "features='nystroem' takes all kernels"
        )
    return [(kernel.columns, member["gamma"]) for member in kernel.members]

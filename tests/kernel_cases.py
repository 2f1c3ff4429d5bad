"""Kernels of every kind with data for them, and their matrices in plain NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from naive_normalize import normalised
from sklearn.metrics.pairwise import (
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from kernelweave.common.core import single_threaded_blas
from kernelweave.engines import (
    DenseEngine,
    Engine,
    FamilyEngine,
    LinearEngine,
    OutputsEngine,
    StackedEngine,
    StreamedEngine,
    TrainingSet,
)
from kernelweave.engines.fetched import LocalEngines
from kernelweave.engines.shard import Shard, VaryingKernels
from kernelweave.engines.sharded import ShardedEngine
from kernelweave.engines.shards import LocalShards
from kernelweave.kernels import (
    RBF,
    ChiSquared,
    GappedKmer,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    WeightedDegree,
    per_feature,
    prepare,
)


def training_set(kernels: Any, X: Any, how: str | None = None, **resources: float) -> TrainingSet:
    """Return kernels, normalised, and the examples X, for any kind of engine."""
    with single_threaded_blas():
        compiled, examples = prepare(kernels, how, X)
    return TrainingSet(compiled.listing, examples, **resources)


def dense(kernels: Any, X: Any, how: str | None = None, **resources: float) -> DenseEngine:
    """Return an engine for kernels and the examples X."""
    return DenseEngine.of(training_set(kernels, X, how, **resources))


@dataclass(frozen=True)
class Case:
    """Kernels, data for them, and the slow way to their matrices.

    Attributes
    ----------
    kernels : what an estimator is given.
    data : from a generator and n to n examples.
    matrices : from the examples to the list of their kernel matrices, before normalisation.
    how : the normalisation.
    planes : number of shared quantities in a cached row; 0 where rows are not worth caching.
    """

    kernels: Any
    data: Callable[[np.random.Generator, int], Any]
    matrices: Callable[[Any], list[np.ndarray]]
    how: str | None = None
    planes: int = 1

    n: ClassVar[int] = 300  # more than one tile of columns, and several of rows

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> DenseEngine:
        """Return an engine for the examples X."""
        return dense(self.kernels, X, self.how, cache_mb=cache_mb, n_jobs=n_jobs)

    def oracle(self, X: Any) -> np.ndarray:
        """Return the normalised kernel matrices, shape (M, n, n)."""
        return np.stack([normalised(K, self.how) for K in self.matrices(X)])


class SumCase(Case):
    """The plain sum of the kernels of a case, as one kernel."""

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> DenseEngine:
        """Return an engine for the examples X."""
        parts = training_set(self.kernels, X, self.how, cache_mb=cache_mb, n_jobs=n_jobs)
        return DenseEngine.of_sum(parts)

    def oracle(self, X: Any) -> np.ndarray:
        """Return the matrix of the sum, shape (1, n, n)."""
        return super().oracle(X).sum(axis=0, keepdims=True)


class FamilyCase(Case):
    """Kernels that are functions of a few shared quantities, combined."""

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X."""
        given = training_set(self.kernels, X, self.how, cache_mb=cache_mb, n_jobs=n_jobs)
        return FamilyEngine.of(given)


class LinearCase(Case):
    """String kernels whose matrices multiply vectors."""

    n: ClassVar[int] = 80

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X."""
        given = training_set(self.kernels, X, self.how, cache_mb=cache_mb, n_jobs=n_jobs)
        return LinearEngine.of(given)


class StackedCase(Case):
    """The kernels of a case with all kernel values in memory."""

    n: ClassVar[int] = 60

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X."""
        return StackedEngine.of(training_set(self.kernels, X, self.how, n_jobs=n_jobs))


class StreamedCase(Case):
    """The kernels of a case, streamed."""

    n: ClassVar[int] = 60

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X."""
        return StreamedEngine(training_set(self.kernels, X, self.how, n_jobs=n_jobs))


class ShardedCase(Case):
    """The examples of a case in shards of unequal sizes."""

    n: ClassVar[int] = 90
    sizes: ClassVar[tuple[int, ...]] = (1, 40, 17, 32)

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X."""
        with single_threaded_blas():
            compiled, examples = prepare(self.kernels, self.how, X)
        sizes, every = self.sizes, np.arange(examples.n)
        if examples.n != sum(sizes):
            sizes = (1, examples.n - 1)
        one = TrainingSet(compiled.listing, examples)
        kernels = VaryingKernels(compiled, family=isinstance(self, FamilyCase))
        local = LocalEngines(kernels, LinearEngine.serves(one), cache_mb, n_jobs)
        parts = np.split(every, np.cumsum(sizes)[:-1])
        shards = [Shard(kernels, examples.take(part), n_jobs) for part in parts]
        return ShardedEngine(LocalShards(shards), local)


class ShardedFamilyCase(ShardedCase, FamilyCase):
    """The same of kernels that are functions of a few shared quantities, combined."""


class OutputsCase(Case):
    """Three decision functions over the examples of a case."""

    n: ClassVar[int] = 50
    n_outputs: ClassVar[int] = 3

    def engine(self, X: Any, *, cache_mb: float = 100.0, n_jobs: int = 1) -> Engine:
        """Return an engine for the examples X, three times."""
        below = super().engine(X, cache_mb=cache_mb, n_jobs=n_jobs)
        return OutputsEngine(below, self.n_outputs)

    def oracle(self, X: Any) -> np.ndarray:
        """Return block-diagonal matrices, shape (M, 3 n, 3 n)."""
        return np.stack([np.kron(np.eye(self.n_outputs), K) for K in super().oracle(X)])


def vectors(rng, n):
    return rng.normal(size=(n, 20))  # rows of 16 columns or fewer are not cached


def histograms(rng, n):
    return rng.poisson(1.5, size=(n, 12)).astype(float)


def sparse_vectors(rng, n):
    return sp.csr_array(rng.normal(size=(n, 60)) * (rng.random((n, 60)) < 0.1))


def similarities(rng, n):
    X = vectors(rng, n)
    return rbf_kernel(X, gamma=0.1) + linear_kernel(X)


def _mixed_matrices(X):
    return [
        rbf_kernel(X[:, :3], gamma=0.4),
        linear_kernel(X),
        polynomial_kernel(X, degree=3, gamma=0.1, coef0=1.0),
    ]


MIXED = [RBF(0.4, columns=[0, 1, 2]), Linear(), Polynomial(degree=3, gamma=0.1)]

CASES = {
    "widths on a grid of powers": Case(
        RBF(gamma=[0.05, 0.1, 0.2]),
        vectors,
        lambda X: [rbf_kernel(X, gamma=gamma) for gamma in (0.05, 0.1, 0.2)],
    ),
    "distances and dot products": Case(
        [RBF(gamma=[0.03, 0.5]), Polynomial(degree=[2, 3], gamma=0.1, coef0=0.5), Linear()],
        vectors,
        lambda X: [
            rbf_kernel(X, gamma=0.03),
            rbf_kernel(X, gamma=0.5),
            polynomial_kernel(X, degree=2, gamma=0.1, coef0=0.5),
            polynomial_kernel(X, degree=3, gamma=0.1, coef0=0.5),
            linear_kernel(X),
        ],
        planes=2,
    ),
    "sums over features": Case(
        [Laplacian(0.2), ChiSquared([0.1, 0.3]), Intersection()],
        histograms,
        lambda X: [
            laplacian_kernel(X, gamma=0.2),
            chi2_kernel(X, gamma=0.1),
            chi2_kernel(X, gamma=0.3),
            np.minimum(X[:, None], X[None]).sum(axis=2),
        ],
        planes=3,
    ),
    "sparse": Case(
        [RBF(0.3), Linear(), Laplacian(0.1)],
        sparse_vectors,
        lambda X: [
            rbf_kernel(X, gamma=0.3),
            linear_kernel(X.toarray()),
            laplacian_kernel(X.toarray(), gamma=0.1),
        ],
        planes=3,
    ),
    "given": Case(Precomputed(), similarities, lambda K: [K], planes=0),
    "per feature": Case(
        per_feature(RBF(0.5)),
        vectors,
        lambda X: [rbf_kernel(column[:, None], gamma=0.5) for column in X.T],
        planes=0,
    ),
    "algebra": Case(
        [RBF(0.1) * Linear() + 0.5 * Polynomial(degree=2, gamma=0.1), RBF([0.1, 0.4]) * RBF(0.2)],
        vectors,
        lambda X: [
            rbf_kernel(X, gamma=0.1) * linear_kernel(X)
            + 0.5 * polynomial_kernel(X, degree=2, gamma=0.1, coef0=1.0),
            rbf_kernel(X, gamma=0.1) * rbf_kernel(X, gamma=0.2),
            rbf_kernel(X, gamma=0.4) * rbf_kernel(X, gamma=0.2),
        ],
        planes=2,
    ),
    **{
        f"normalised by {how}": Case(MIXED, vectors, _mixed_matrices, how, planes=2)
        for how in ("variance", "unit", "trace", "center")
    },
}

WIDTHS = tuple(np.geomspace(1e-4, 1e2, 12))
DOUBLINGS = tuple(2.0 ** np.arange(-10, 10))
FEW_WIDTHS = tuple(np.geomspace(1e-3, 1, 9))
DEGREES = (1, 2, 3, 4, 5)


def _widths(X, gammas):
    return [rbf_kernel(X, gamma=gamma) for gamma in gammas]


FAMILIES = {
    "many widths": (RBF(gamma=list(WIDTHS)), lambda X: _widths(X, WIDTHS)),
    "doublings": (RBF(gamma=list(DOUBLINGS)), lambda X: _widths(X, DOUBLINGS)),
    "degrees": (
        Polynomial(degree=list(DEGREES), gamma=0.1, coef0=1.0),
        lambda X: [polynomial_kernel(X, degree=d, gamma=0.1, coef0=1.0) for d in DEGREES],
    ),
    "two quantities": (
        [Linear(), RBF(gamma=list(FEW_WIDTHS))],
        lambda X: [linear_kernel(X), *_widths(X, FEW_WIDTHS)],
    ),
}


def strings(rng, n):
    ancestors = rng.choice(list("ACGT"), size=(3, 24))[rng.integers(0, 3, n)]
    changed = rng.random(ancestors.shape) < 0.3
    ancestors[changed] = rng.choice(list("ACGT"), size=changed.sum())
    return np.array(["".join(row) for row in ancestors])


def matches(X, degree):
    """Return whether k letters from position i on are equal, shape (degree, length, n, n)."""
    letters = np.array([list(x) for x in X])
    equal = (letters[:, None] == letters[None]).transpose(2, 0, 1)
    runs = np.zeros((degree, *equal.shape))
    for k in range(degree):
        for i in range(len(equal) - k):
            runs[k, i] = equal[i : i + k + 1].all(axis=0)
    weights = 2 * (degree - np.arange(degree)) / (degree * (degree + 1))
    return runs * weights[:, None, None, None]


LINEAR = {
    "matches by degree": LinearCase(
        WeightedDegree(5, split="degree"), strings, lambda X: [*matches(X, 5).sum(axis=1)]
    ),
    "matches by position": LinearCase(
        WeightedDegree(3, split="position"),
        strings,
        lambda X: [*matches(X, 3).sum(axis=0)],
        "variance",
    ),
    "matches by degree and position": LinearCase(
        WeightedDegree(2, split="both"),
        strings,
        lambda X: [K for k, each in enumerate(matches(X, 2)) for K in each[: 24 - k]],
        "unit",
    ),
    "matches by range of positions": LinearCase(
        WeightedDegree(4, split=[(0, 9), (12, 24)]),
        strings,
        lambda X: [matches(X, 4)[:, a:b].sum(axis=(0, 1)) for a, b in ((0, 9), (12, 24))],
    ),
    "gapped words with norms of their own": LinearCase(
        GappedKmer([4, 5, 5], [2, 3, 4], store="table"),
        strings,
        lambda X: [*GappedKmer([4, 5, 5], [2, 3, 4], store="rows")(X)],
        "unit",
    ),
}

SUMS = {f"sum of {name}": SumCase(**(vars(case) | {"planes": 1})) for name, case in CASES.items()}
COMBINED = {
    f"family of {name}, normalised by {how}": FamilyCase(kernels, vectors, matrices, how)
    for name, (kernels, matrices) in FAMILIES.items()
    for how in (None, "variance")
}
OUTPUTS = {f"outputs of {name}": OutputsCase(**vars(case)) for name, case in CASES.items()}
STACKED = {f"stacked {name}": StackedCase(**vars(case)) for name, case in CASES.items()}
STREAMED = {f"streamed {name}": StreamedCase(**vars(case)) for name, case in CASES.items()}
# Given similarities are those to all examples, which no shard has.
SHARDED = {
    f"shards of {name}": (ShardedFamilyCase if name in COMBINED else ShardedCase)(**vars(case))
    for name, case in {**CASES, **COMBINED, **LINEAR}.items()
    if name != "given" and not (name in COMBINED and "two quantities" not in name)
}
EVERY_ENGINE = {**CASES, **SUMS, **COMBINED, **LINEAR, **OUTPUTS, **STACKED, **STREAMED, **SHARDED}

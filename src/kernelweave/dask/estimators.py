"""The estimators on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..estimators import MKLClassifier, MKLOneClass, MKLRegressor
from ..estimators.selection import MKLClassifierCV, MKLRegressorCV
from .base import DaskEstimator, DaskSearch


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifier(DaskEstimator, MKLClassifier):
    """`MKLClassifier` on the examples of a Dask cluster.

    Parameters and attributes are those of `MKLClassifier`, and:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Threads of this process; workers use those that they have.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelweave.dask import DaskMKLClassifier
    >>> from kernelweave.kernels import RBF
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(400, 3), chunks=(200, 3))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = DaskMKLClassifier(RBF(gamma=[0.1, 1.0]), norm=1, client=client).fit(X, y)
    >>> model.duality_gap_ <= model.tol
    True
    >>> model.predict(X).shape
    (400,)
    >>> client.close()
    """

    plain = MKLClassifier

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DaskMKLClassifier:
        """Learn from a collection X with labels y, a collection or an array, shape (n,)."""
        super().fit(*self._told(X, y, sample_weight))
        return self

    def decision_function(self, X: Any) -> Any:
        """Return decision values, lazily for a Dask collection."""
        return self._ask("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLRegressor(DaskEstimator, MKLRegressor):
    """`MKLRegressor` on the examples of a Dask cluster; see `DaskMKLClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelweave.dask import DaskMKLRegressor
    >>> from kernelweave.kernels import RBF
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> model = DaskMKLRegressor(RBF(gamma=[0.1, 1.0]), client=client).fit(X, X[:, 0] ** 2)
    >>> model.duality_gap_ <= model.tol
    True
    >>> client.close()
    """

    plain = MKLRegressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DaskMKLRegressor:
        """Learn from a collection X with targets y, shape (n,) or (n, outputs)."""
        super().fit(*self._told(X, y, sample_weight))
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLOneClass(DaskEstimator, MKLOneClass):
    """`MKLOneClass` on the examples of a Dask cluster; see `DaskMKLClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelweave.dask import DaskMKLOneClass
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> model = DaskMKLOneClass(nu=0.2, client=client).fit(X)
    >>> print(f"{(model.predict(X) < 0).mean().compute():.1f} of the examples are outside")
    0.2 of the examples are outside
    >>> client.close()
    """

    plain = MKLOneClass

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DaskMKLOneClass:
        """Learn the region of a collection X; y is ignored."""
        super().fit(*self._told(X, None, sample_weight))
        return self

    def decision_function(self, X: Any) -> Any:
        """Return how far inside the region examples lie, lazily for a Dask collection."""
        return self._ask("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifierCV(DaskSearch, MKLClassifierCV):
    """`MKLClassifierCV` on the examples of a Dask cluster; see `DaskMKLClassifier`.

    Folds are positions among all examples: those that a fold holds out have cost 0, and stay where
    they are.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelweave.dask import DaskMKLClassifierCV
    >>> from kernelweave.kernels import RBF
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> search = DaskMKLClassifierCV(RBF(1.0), norms=[2], Cs=[0.1, 1.0], cv=2, client=client)
    >>> search.fit(X, X[:, 0] > 0).scores_.shape
    (1, 2, 2)
    >>> client.close()
    """

    plain = MKLClassifierCV

    def decision_function(self, X: Any) -> Any:
        """Return decision values, lazily for a Dask collection."""
        return self._ask("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLRegressorCV(DaskSearch, MKLRegressorCV):
    """`MKLRegressorCV` on the examples of a Dask cluster; see `DaskMKLClassifierCV`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kernelweave.dask import DaskMKLRegressorCV
    >>> from kernelweave.kernels import RBF
    >>> client = Client(processes=False, n_workers=1, dashboard_address=None)
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> search = DaskMKLRegressorCV(RBF(1.0), norms=[2], Cs=[0.1, 1.0], cv=2, client=client)
    >>> search.fit(X, X[:, 0] ** 2).scores_.shape
    (1, 2, 2)
    >>> client.close()
    """

    plain = MKLRegressorCV

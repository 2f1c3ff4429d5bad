"""Estimators for Dask clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..common.types import Data
from ..estimators import MKLClassifier, MKLOneClass, MKLRegressor
from ..estimators.selection import MKLClassifierCV, MKLRegressorCV
from .base import DaskEstimator, DaskSearch


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifier(DaskEstimator, MKLClassifier):
    """`MKLClassifier` for training examples in a Dask collection.

    It has the parameters and attributes of `MKLClassifier`, and these:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Number of threads of the local process. Workers use all their threads.

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

    def fit(  # type: ignore[override]  # no groups: calibrate needs local examples
        self, X: Data, y: object, sample_weight: object = None
    ) -> DaskMKLClassifier:
        """Fit the model.

        Parameters
        ----------
        X : Dask collection of n examples
        y : array or Dask collection of n class labels
        sample_weight : array or Dask collection of n weights, optional

        Returns
        -------
        self
        """
        super().fit(*self._gathered(X, y, sample_weight))
        return self

    def decision_function(self, X: Data) -> Any:
        """Return decision values.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n,), or (n, classes) for more than two classes
            A Dask array if X is a Dask collection.
        """
        return self._apply("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLRegressor(DaskEstimator, MKLRegressor):
    """`MKLRegressor` for training examples in a Dask collection.

    It has the parameters and attributes of `MKLRegressor`, and these:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Number of threads of the local process. Workers use all their threads.

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

    def fit(  # type: ignore[override]  # no groups: calibrate needs local examples
        self, X: Data, y: object, sample_weight: object = None
    ) -> DaskMKLRegressor:
        """Fit the model.

        Parameters
        ----------
        X : Dask collection of n examples
        y : array or Dask collection of shape (n,) or (n, outputs)
        sample_weight : array or Dask collection of n weights, optional

        Returns
        -------
        self
        """
        super().fit(*self._gathered(X, y, sample_weight))
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLOneClass(DaskEstimator, MKLOneClass):
    """`MKLOneClass` for training examples in a Dask collection.

    It has the parameters and attributes of `MKLOneClass`, and these:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Number of threads of the local process. Workers use all their threads.

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

    def fit(self, X: Data, y: object = None, sample_weight: object = None) -> DaskMKLOneClass:
        """Fit the model.

        Parameters
        ----------
        X : Dask collection of n examples
        y : ignored
        sample_weight : array or Dask collection of n weights, optional

        Returns
        -------
        self
        """
        super().fit(*self._gathered(X, None, sample_weight))
        return self

    def decision_function(self, X: Data) -> Any:
        """Return decision values, which are positive for inliers.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n,)
            A Dask array if X is a Dask collection.
        """
        return self._apply("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifierCV(DaskSearch, MKLClassifierCV):
    """`MKLClassifierCV` for training examples in a Dask collection.

    The test examples of a fold get cost 0 and are not moved. It has the parameters and attributes
    of `MKLClassifierCV`, and these:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Number of threads of the local process. Workers use all their threads.

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

    def decision_function(self, X: Data) -> Any:
        """Return decision values.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n,), or (n, classes) for more than two classes
            A Dask array if X is a Dask collection.
        """
        return self._apply("decision_function", X)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLRegressorCV(DaskSearch, MKLRegressorCV):
    """`MKLRegressorCV` for training examples in a Dask collection.

    It has the parameters and attributes of `MKLRegressorCV`, and these:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Number of threads of the local process. Workers use all their threads.

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

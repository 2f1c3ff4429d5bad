"""Estimators for Dask clusters."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import MKLClassifier, MKLOneClass, MKLRegressor
from ..estimators.selection import MKLClassifierCV, MKLRegressorCV
from .base import DaskEstimator, DaskSearch, WithDecisions


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifier(  # type: ignore[misc]  # no groups: calibrate needs local examples
    WithDecisions, DaskEstimator, MKLClassifier
):
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


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLRegressor(DaskEstimator, MKLRegressor):  # type: ignore[misc]  # no groups, as above
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


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLOneClass(WithDecisions, DaskEstimator, MKLOneClass):
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


@dataclass(eq=False, repr=False, kw_only=True)
class DaskMKLClassifierCV(WithDecisions, DaskSearch, MKLClassifierCV):
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

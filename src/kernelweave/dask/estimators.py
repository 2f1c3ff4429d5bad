"""The estimators on a cluster: the same problems, solved on an engine of shards."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from distributed import Client

from ..checkpoint import try_out
from ..core import single_threaded_blas
from ..estimators import MKLClassifier, MKLOneClass, MKLRegressor
from ..estimators.base import MKLEstimator
from ..kernels import Kernel, Linear
from ..kernels.inputs import is_numeric_array
from ..kernels.prepare import listed
from ..numeric import thread_count
from ..plan import find_method
from ..problem import Problem
from ..progress import live_line
from ..training.history import Progress, ignore
from ..validation import check_examples
from .blame import blamed
from .cluster import Cluster
from .collections import is_collection
from .data import Data
from .lazy import lazily, local
from .preparation import far_prepared
from .resolution import resolved
from .time_left import TimeLeft


class DaskEstimator(MKLEstimator):
    """What the estimators on a cluster share."""

    plain: type[MKLEstimator]

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if not isinstance(X, Data):
            return check_examples(self, X, reset=reset)
        with blamed(self._readers(X), X):
            check_examples(self, X.sample, reset=reset)
        return X

    def _readers(self, X: Data) -> list[Kernel]:
        """Return kernels that read all that is learned from."""
        if self.kernels is not None:
            return listed(self.kernels)
        return [Linear()] if is_numeric_array(X.sample) else []

    def _data(self, X: Any) -> Data:
        """Return the examples of a fit, looked at; refuse what another tool should do."""
        if any(frame.function == "_fit_and_score" for frame in inspect.stack(0)):
            raise TypeError(
                f"{type(self).__name__} in a search of scikit-learn would copy X for every fold; "
                "DaskMKLClassifierCV searches over norms and C on the examples where they are"
            )
        return Data.of(X, Cluster(self.client))

    def _train(
        self, X: Data, problems: list[Problem], targets: np.ndarray, shared: bool = False
    ) -> None:
        deadline, shared = self._deadline(), shared and len(problems) > 1
        if self.checkpoint is not None:
            try_out(self.checkpoint, len(targets) * (len(problems) if shared else 1))
        method = find_method(self.solver, problems[0].norm, problems[0].loss, shared=shared)
        if not method.combines:
            raise ValueError(
                f"solver={self.solver!r} needs the outputs of every kernel in one place; on a "
                'cluster take "auto", or another one with weight steps'
            )
        costs, n_jobs = problems[0].C, thread_count(self.n_jobs)
        with single_threaded_blas(), self._far_line(X.cluster) as watch:
            with blamed(self._readers(X), X):
                kernels = None if self.kernels is None else resolved(listed(self.kernels), X)
                prepared = far_prepared(
                    kernels or self._default_kernels(X.sample, costs[X.chosen]),
                    self.normalize,
                    X,
                    costs,
                    cache_mb=self.cache_mb,
                    n_jobs=n_jobs,
                    keyed=self.checkpoint is not None,
                )
            results = self._results(prepared, problems, kernels, deadline, watch, shared=shared)
            self._learn(prepared, results)

    def _far_line(self, cluster: Cluster) -> AbstractContextManager[Callable[[Progress], None]]:
        """Return a context with what shows progress, bytes and the time left, if anything does."""
        if not self.verbose:
            return nullcontext(ignore)
        clock = TimeLeft(self.tol)

        def more(progress: Progress) -> str:
            return f", {cluster.sent / 1e6:,.1f} MB sent, {clock.after(progress)}"

        return live_line(type(self).__name__, more)

    def as_plain(self) -> MKLEstimator:
        """Return the fitted estimator as one that knows nothing of Dask."""
        parameters = self.get_params(deep=False)
        del parameters["client"]
        plain = self.plain(**parameters)
        for name, value in vars(self).items():
            if name != "client" and name not in parameters:
                setattr(plain, name, value)
        return plain

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, from which a plain one is loaded."""
        self.as_plain().save(path)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}  # which is of no use elsewhere

    def contributions(self, X: Any) -> Any:
        """Return what each kernel adds to the decision values, lazily for a Dask collection."""
        return self._ask("contributions", X)

    def _ask(self, what: str, X: Any) -> Any:
        """Return what a method of the plain estimator says of X."""
        if is_collection(X):
            return lazily(self.as_plain(), what, X)
        method: Callable[[Any], Any] = getattr(super(), what)
        return method(X)


def with_client(cls: Any) -> Any:
    """Give an estimator the parameters of the plain one, and a client."""
    plain: Any = cls.plain.__init__

    def __init__(
        self: Any, kernels: Any = None, *, client: Client | None = None, **parameters: Any
    ) -> None:
        plain(self, kernels, **parameters)
        self.client = client

    known = inspect.signature(plain)
    last = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    made: Any = __init__
    made.__signature__ = known.replace(parameters=[*known.parameters.values(), last])
    cls.__init__ = made
    return cls


@with_client
class DaskMKLClassifier(DaskEstimator, MKLClassifier):
    """`MKLClassifier` on the examples of a Dask cluster.

    Parameters and attributes are those of `MKLClassifier`, and:

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    n_jobs : int or None
        Threads of this process; workers use those that they have.
    """

    plain = MKLClassifier

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DaskMKLClassifier:
        """Learn from a collection X with labels y, a collection or an array, shape (n,)."""
        data = self._data(X)
        weights = local(sample_weight, data.cluster)
        super().fit(data, local(y, data.cluster), weights)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return decision values, lazily for a Dask collection."""
        return self._ask("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Return the predicted labels, lazily for a Dask collection."""
        return self._ask("predict", X)


@with_client
class DaskMKLRegressor(DaskEstimator, MKLRegressor):
    """`MKLRegressor` on the examples of a Dask cluster; see `DaskMKLClassifier`."""

    plain = MKLRegressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DaskMKLRegressor:
        """Learn from a collection X with targets y, shape (n,) or (n, outputs)."""
        data = self._data(X)
        weights = local(sample_weight, data.cluster)
        super().fit(data, local(y, data.cluster), weights)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted targets, lazily for a Dask collection."""
        return self._ask("predict", X)


@with_client
class DaskMKLOneClass(DaskEstimator, MKLOneClass):
    """`MKLOneClass` on the examples of a Dask cluster; see `DaskMKLClassifier`."""

    plain = MKLOneClass

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DaskMKLOneClass:
        """Learn the region of a collection X; y is ignored."""
        data = self._data(X)
        super().fit(data, None, local(sample_weight, data.cluster))
        return self

    def decision_function(self, X: Any) -> Any:
        """Return how far inside the region examples lie, lazily for a Dask collection."""
        return self._ask("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Return +1 inside the region and -1 outside, lazily for a Dask collection."""
        return self._ask("predict", X)

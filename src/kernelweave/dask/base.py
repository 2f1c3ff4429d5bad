"""Base classes of the Dask estimators. They train on shards: encoded partitions on workers."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from distributed import Client

from ..common.numbers import thread_count
from ..estimators.base import MKLEstimator
from ..estimators.documentation import REFERENCE
from ..estimators.prepared import Prepared
from ..estimators.validation import check_examples
from ..kernels import Kernel, Linear
from ..kernels.compile.normalize import listed, prepare
from ..kernels.data.inputs import is_numeric_array
from ..optimization.engine_choice import Workload
from ..optimization.log import Progress, Watch
from ..optimization.progress import live_line
from ..optimization.time_left import TimeLeft
from .cluster import Cluster
from .collections import is_collection
from .data import Data
from .failing_partition import naming_partition
from .lazy import lazily, local
from .preparation import ShardOptions, prepared_shards
from .resolution import resolved

Fitted = TypeVar("Fitted", bound="DaskEstimator")


@dataclass(eq=False, repr=False, kw_only=True)
class DaskEstimator(MKLEstimator):
    """An estimator whose training examples are in a Dask collection.

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None for the current client.
    **parameters
        Parameters of the local estimator, an instance of the class `plain`.
    """

    plain: ClassVar[type[MKLEstimator]]
    _local: ClassVar[bool] = False
    _chooses: ClassVar[bool] = False  # folds need all examples on one machine

    client: Client | None = None

    _doc_link_template = f"{REFERENCE}/kernelweave.dask.{{estimator_name}}.html"

    def fit(self: Fitted, X: object, y: object = None, sample_weight: object = None) -> Fitted:
        """Fit the model.

        Parameters
        ----------
        X : Dask collection of n examples
        y : array or Dask collection of shape (n,) or (n, outputs)
            Targets; `DaskMKLOneClass` ignores them.
        sample_weight : array or Dask collection of n weights, optional

        Returns
        -------
        self
        """
        super().fit(*self._gathered(X, y, sample_weight))
        return self

    def _checked(self, X: Data, *, reset: bool) -> Data:
        with naming_partition(self._readers(X), X):
            check_examples(self, X.sample, reset=reset)
        return X

    @staticmethod
    def _resolve(kernels: object, X: Data) -> list[Kernel]:
        with naming_partition(listed(kernels), X):
            return resolved(listed(kernels), X)

    def _default_kernels(self, X: Data, costs: np.ndarray) -> list[Kernel]:
        return super()._default_kernels(X.sample, costs[X.chosen])

    def _readers(self, X: Data) -> list[Kernel]:
        """Return the kernels that read each partition to find one that causes an error.

        These are the kernels that the user passed. Without any, it is one kernel on all columns of
        a numeric array; the list is empty for other data.
        """
        if self.kernels is not None:
            return listed(self.kernels)
        return [Linear()] if is_numeric_array(X.sample) else []

    def _gathered(self, X: object, y: object, sample_weight: object) -> tuple[Data, object, object]:
        """Return the inspected partitions, and the targets and weights as local arrays.

        Raises
        ------
        TypeError
            If scikit-learn's search calls `fit`, which would copy the examples.
        """
        if any(frame.function == "_fit_and_score" for frame in inspect.stack(0)):
            raise TypeError(
                f"{type(self).__name__} cannot be used in a search of scikit-learn, which would "
                "copy X for every fold; use DaskMKLClassifierCV to search over norms and C"
            )
        data = Data.of(X, Cluster(self.client))
        return data, local(y, data.cluster), local(sample_weight, data.cluster)

    def _prepare(
        self,
        kernels: list[Kernel],
        X: Data,
        costs: np.ndarray,
        workload: Workload,
    ) -> Prepared:
        """Normalise kernels on a sample, and return them with an engine for examples on workers."""
        with naming_partition(kernels, X):
            compiled, sample = prepare(
                kernels,
                self.normalize,
                X.sample,
                weights=costs[X.chosen],
                n_jobs=self.n_jobs,
                extrapolate=self._extrapolates,
            )
        if "given" in compiled.kinds:
            raise ValueError(
                f"kernels: {compiled.names[0]!r} needs the similarities to all training examples, "
                "which no partition contains; use a local estimator for precomputed matrices and "
                "functions"
            )
        if not all(method.remote for method in workload.methods):
            raise ValueError(
                f"solver={self.solver!r} needs the outputs of every kernel on one machine; on a "
                'cluster use "auto", "mwu", or another solver with weight steps'
            )
        keyed = getattr(self, "checkpoint", None) is not None
        options = ShardOptions(
            cache_mb=self.cache_mb,
            n_jobs=thread_count(self.n_jobs),
            keyed=keyed,
            combines=all(method.combines for method in workload.methods),
        )
        return prepared_shards(compiled, X, sample, costs, options)

    def _live_line(self, X: Any = None) -> AbstractContextManager[Watch | None]:
        """Return a context that displays progress, bytes sent and remaining time if verbose."""
        if not self.verbose or X is None:
            return super()._live_line()
        clock = TimeLeft(self.tol)

        def more(progress: Progress) -> str:
            return f", {X.cluster.sent / 1e6:,.1f} MB sent, {clock.after(progress)}"

        return live_line(type(self).__name__, more)

    def as_plain(self) -> MKLEstimator:
        """Return the fitted estimator as a local one, which does not need Dask.

        Returns
        -------
        MKLEstimator
            Such as an `MKLClassifier` with the same parameters and fitted attributes.
        """
        parameters = self.get_params(deep=False)
        del parameters["client"]
        plain = self.plain(**parameters)
        for name, value in vars(self).items():
            if name != "client" and name not in parameters:
                setattr(plain, name, value)
        return plain

    def save(self, path: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        """Save the fitted estimator; `kernelweave.load` returns a local one.

        Parameters
        ----------
        path : str or path
            The file to write.
        key : bytes, optional
            The key of the file's signature.
        """
        self.as_plain().save(path, key=key)

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        return state | {"client": None}  # connections cannot be pickled

    def predict(self, X: object) -> Any:
        """Return predictions.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n,) or (n, outputs)
            A Dask array if X is a Dask collection.
        """
        return self._apply("predict", X)

    def contributions(self, X: object) -> Any:
        """Return the contribution of each kernel to the decision values.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n, M) or (n, outputs, M)
            A Dask array if X is a Dask collection.
        """
        return self._apply("contributions", X)

    def _apply(self, name: str, X: object) -> object:
        """Return the result of a method of the local estimator, lazily for a Dask collection."""
        if is_collection(X):
            return lazily(self.as_plain(), name, X)
        method: Callable[[object], object] = getattr(super(), name)
        return method(X)


class WithDecisions:
    """Decision values of classifiers and one-class models: a mixin of `DaskEstimator`."""

    _apply: Callable[[str, object], object]

    def decision_function(self, X: object) -> Any:
        """Return decision values.

        Parameters
        ----------
        X : n examples, local or in a Dask collection

        Returns
        -------
        array of shape (n,), or (n, classes) for more than two classes
            A Dask array if X is a Dask collection. For one-class models, inliers have positive
            values.
        """
        return self._apply("decision_function", X)


class DaskSearch(DaskEstimator):
    """A search over norms and values of C on a cluster."""

    def fit(
        self, X: object, y: object = None, sample_weight: object = None, *, groups: object = None
    ) -> DaskSearch:
        """Search over norms and values of C by cross-validation, and fit the best model.

        Parameters
        ----------
        X : Dask collection of n examples
        y : array or Dask collection of n targets
        sample_weight : array or Dask collection of n weights, optional
        groups : array of shape (n,), optional
            Groups of examples for the splitter ``cv``.

        Returns
        -------
        self
        """
        super(DaskEstimator, self).fit(*self._gathered(X, y, sample_weight), groups=groups)
        return self

    def _splits(self, X: object, y: np.ndarray, groups: object) -> Any:
        return super()._splits(np.zeros((len(y), 1)), y, groups)  # splitters use only its length

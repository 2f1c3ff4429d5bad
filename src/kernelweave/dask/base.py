"""What the estimators on a cluster share: the same problems, solved on an engine of shards."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from distributed import Client

from ..estimators.base import MKLEstimator, Prepared
from ..estimators.documentation import REFERENCE
from ..estimators.parameters import thread_count
from ..estimators.validation import check_examples
from ..kernels import Kernel, Linear
from ..kernels.compile.normalize import listed, prepare
from ..kernels.data.inputs import is_numeric_array
from ..norms import Norm
from ..optimization.history import Progress
from ..optimization.methods.base import Method
from ..optimization.progress import Watch, live_line
from ..optimization.time_left import TimeLeft
from .blame import blamed
from .cluster import Cluster
from .collections import is_collection
from .data import Data
from .lazy import lazily, local
from .preparation import far_prepared
from .resolution import resolved


@dataclass(eq=False, repr=False, kw_only=True)
class DaskEstimator(MKLEstimator):
    """What the estimators on a cluster share: the parameters of the plain ones, and a client."""

    plain: ClassVar[type[MKLEstimator]]
    _chooses: ClassVar[bool] = False  # folds would need the examples in one place

    client: Client | None = None

    _doc_link_template = f"{REFERENCE}/kernelweave.dask.{{estimator_name}}.html"

    def _checked(self, X: Data, *, reset: bool) -> Data:
        with blamed(self._readers(X), X):
            check_examples(self, X.sample, reset=reset)
        return X

    @staticmethod
    def _resolve(kernels: Any, X: Data) -> list[Kernel]:
        with blamed(listed(kernels), X):
            return resolved(listed(kernels), X)

    def _default_kernels(self, X: Data, costs: np.ndarray) -> list[Kernel]:
        return super()._default_kernels(X.sample, costs[X.chosen])

    def _readers(self, X: Data) -> list[Kernel]:
        """Return kernels that read all that is learned from."""
        if self.kernels is not None:
            return listed(self.kernels)
        return [Linear()] if is_numeric_array(X.sample) else []

    def _told(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Any, Any]:
        """Return the examples of a fit, looked at, and their targets and weights, fetched.

        A search that would copy them is refused.
        """
        if any(frame.function == "_fit_and_score" for frame in inspect.stack(0)):
            raise TypeError(
                f"{type(self).__name__} in a search of scikit-learn would copy X for every fold; "
                "DaskMKLClassifierCV searches over norms and C on the examples where they are"
            )
        data = Data.of(X, Cluster(self.client))
        return data, local(y, data.cluster), local(sample_weight, data.cluster)

    def _prepare(
        self,
        kernels: list[Kernel],
        X: Data,
        costs: np.ndarray,
        methods: Sequence[Method],
        norms: Sequence[Norm],
        *,
        shared: bool,
        fits: int,
    ) -> Prepared:
        """Normalise kernels on a sample, and give them an engine of shards."""
        with blamed(kernels, X):
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
                f"kernels: {compiled.names[0]!r} and others like it are similarities to all "
                "training examples, which no partition holds; matrices and functions are for "
                "plain estimators"
            )
        if not all(method.far for method in methods):
            raise ValueError(
                f"solver={self.solver!r} needs the outputs of every kernel in one place; on a "
                'cluster take "auto", "mwu", or another one with weight steps'
            )
        keyed = getattr(self, "checkpoint", None) is not None
        return far_prepared(
            compiled,
            X,
            sample,
            costs,
            cache_mb=self.cache_mb,
            n_jobs=thread_count(self.n_jobs),
            keyed=keyed,
            combines=all(method.combines for method in methods),
        )

    def _live_line(self, X: Any = None) -> AbstractContextManager[Watch | None]:
        """Return a context with what shows progress, bytes and the time left, if anything does."""
        if not self.verbose or X is None:
            return super()._live_line()
        clock = TimeLeft(self.tol)

        def more(progress: Progress) -> str:
            return f", {X.cluster.sent / 1e6:,.1f} MB sent, {clock.after(progress)}"

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

    def predict(self, X: Any) -> Any:
        """Return what the plain estimator predicts, lazily for a Dask collection."""
        return self._ask("predict", X)

    def contributions(self, X: Any) -> Any:
        """Return what each kernel adds to the decision values, lazily for a Dask collection."""
        return self._ask("contributions", X)

    def _ask(self, what: str, X: Any) -> Any:
        """Return what a method of the plain estimator says of X."""
        if is_collection(X):
            return lazily(self.as_plain(), what, X)
        method: Callable[[Any], Any] = getattr(super(), what)
        return method(X)


class DaskSearch(DaskEstimator):
    """A search over norms and costs on a cluster."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> DaskSearch:
        """Learn from a collection X with targets y; `groups`, an array, are for the splitter."""
        super().fit(*self._told(X, y, sample_weight), groups=groups)
        return self

    def _splits(self, X: Any, y: np.ndarray, groups: Any) -> Any:
        return super()._splits(np.zeros((len(y), 1)), y, groups)  # which splitters only count

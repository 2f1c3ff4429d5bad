"""Parameters of an estimator's kernels, within reach of a search."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..kernels.compose.nested_parameters import nested_params, with_params
from .documentation import Documented


class KernelParameters(Documented, BaseEstimator):
    """An estimator with ``kernels``: ``kernels__0__gamma``, ``kernels__mrna__gamma`` are theirs."""

    kernels: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, and where deep those of the kernels too."""
        params: dict[str, Any] = super().get_params(deep=False)
        return params | nested_params({"kernels": self.kernels}) if deep else params

    def set_params(self, **params: Any) -> KernelParameters:
        """Set parameters; those of kernels give the estimator other kernels."""
        inner = {name: params.pop(name) for name in [*params] if name.startswith("kernels__")}
        super().set_params(**params)
        if inner:
            own = {"kernels": self.kernels}
            self.kernels = with_params(own, inner, type(self).__name__)["kernels"]
        return self

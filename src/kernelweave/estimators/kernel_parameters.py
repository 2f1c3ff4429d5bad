"""Nested parameters: those of the kernels of an estimator, for searches."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..kernels.compose.nested_parameters import nested_params, with_params
from .documentation import Documented


class KernelParameters(Documented, BaseEstimator):
    """An estimator with nested parameters such as ``kernels__0__gamma``, ``kernels__a__gamma``."""

    kernels: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to include the parameters of the kernels, such as ``kernels__0__gamma``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=False)
        return params | nested_params({"kernels": self.kernels}) if deep else params

    def set_params(self, **params: object) -> KernelParameters:
        """Set parameters of the estimator and of its kernels.

        Parameters
        ----------
        **params : dict
            Values by name. For parameters such as ``kernels__0__gamma`` the kernels are replaced by
            copies; the objects that were passed do not change.

        Returns
        -------
        estimator instance

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        inner = {name: params.pop(name) for name in [*params] if name.startswith("kernels__")}
        super().set_params(**params)
        if inner:
            own = {"kernels": self.kernels}
            self.kernels = with_params(own, inner, type(self).__name__)["kernels"]
        return self

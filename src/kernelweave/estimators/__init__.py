"""Estimators with the conventions of scikit-learn: validate, solve, store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import MKLClassifier
    from .one_class import MKLOneClass
    from .regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLOneClass", "MKLRegressor"]

_MODULES = {"MKLClassifier": "classifier", "MKLOneClass": "one_class", "MKLRegressor": "regressor"}


def __getattr__(name: str) -> Any:
    """Import an estimator on first use: kernels import `estimators.parameters`, not estimators."""
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

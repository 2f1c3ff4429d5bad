"""Estimators with the conventions of scikit-learn. They validate data, solve, and store models."""

from .classifier import MKLClassifier
from .one_class import MKLOneClass
from .regressor import MKLRegressor
from .survival import MKLSurvival

__all__ = ["MKLClassifier", "MKLOneClass", "MKLRegressor", "MKLSurvival"]

"""Estimators for Dask clusters: examples stay on the workers, and the fitted model is local."""

from .cluster import ClusterError
from .collections import SequenceBlocks
from .estimators import (
    DaskMKLClassifier,
    DaskMKLClassifierCV,
    DaskMKLOneClass,
    DaskMKLRegressor,
    DaskMKLRegressorCV,
)
from .sequences import read_sequences

__all__ = [
    "ClusterError",
    "DaskMKLClassifier",
    "DaskMKLClassifierCV",
    "DaskMKLOneClass",
    "DaskMKLRegressor",
    "DaskMKLRegressorCV",
    "SequenceBlocks",
    "read_sequences",
]

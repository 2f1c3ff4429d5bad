"""Learning on a Dask cluster: examples stay where they are, and the model is an ordinary one."""

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

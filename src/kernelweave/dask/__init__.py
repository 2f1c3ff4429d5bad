"""Learning on a Dask cluster: examples stay where they are, and the model is an ordinary one."""

from .cluster import ClusterError
from .collections import SequenceBlocks
from .estimators import DaskMKLClassifier, DaskMKLOneClass, DaskMKLRegressor
from .sequences import read_sequences

__all__ = [
    "ClusterError",
    "DaskMKLClassifier",
    "DaskMKLOneClass",
    "DaskMKLRegressor",
    "SequenceBlocks",
    "read_sequences",
]

"""Engines: they keep the examples and alpha, and evaluate kernels for the solvers."""

from .base import Engine, TrainingSet
from .class_pairs import ClassPairsEngine
from .dense import DenseEngine
from .family import FamilyEngine
from .linear import LinearEngine
from .outputs import OutputsEngine
from .snapshot import Snapshot
from .stacked import StackedEngine
from .streamed import StreamedEngine

__all__ = [
    "ClassPairsEngine",
    "DenseEngine",
    "Engine",
    "FamilyEngine",
    "LinearEngine",
    "OutputsEngine",
    "Snapshot",
    "StackedEngine",
    "StreamedEngine",
    "TrainingSet",
]

"""Multiple kernel learning: train a kernel machine and learn how much each kernel counts."""

from . import datasets, kernels, losses, norms
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor

__all__ = [
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "datasets",
    "kernels",
    "losses",
    "norms",
]
__version__ = "0.1.0"

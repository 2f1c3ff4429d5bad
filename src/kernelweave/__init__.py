"""Multiple kernel learning: train a kernel machine and learn how much each kernel counts."""

from . import datasets, kernels, losses, norms, plots
from .comparison import compare
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor
from .linearized import LinearizedMKL

__all__ = [
    "LinearizedMKL",
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "compare",
    "datasets",
    "kernels",
    "losses",
    "norms",
    "plots",
]
__version__ = "0.1.0"

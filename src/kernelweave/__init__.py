"""Multiple kernel learning: train a kernel machine and learn how much each kernel counts."""

from . import datasets, kernels, losses, norms, plots
from .comparison import compare
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor
from .linearized import LinearizedMKL
from .selection import MKLClassifierCV, MKLRegressorCV

__all__ = [
    "LinearizedMKL",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "compare",
    "datasets",
    "kernels",
    "losses",
    "norms",
    "plots",
]
__version__ = "0.1.0"

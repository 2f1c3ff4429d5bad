"""Multiple kernel learning: train a kernel machine and learn how much each kernel counts."""

from . import datasets, kernels, losses, norms, plots
from .alignment import kernel_alignment
from .baselines import LinearizedMKL
from .comparison import compare
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor
from .lsgkm import export_lsgkm
from .model_file import load
from .plots import AlignmentDisplay, ComparisonDisplay, ConvergenceDisplay, WeightsDisplay
from .selection import MKLClassifierCV, MKLRegressorCV
from .verify import Verification, verify

__all__ = [
    "AlignmentDisplay",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "LinearizedMKL",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "Verification",
    "WeightsDisplay",
    "compare",
    "datasets",
    "export_lsgkm",
    "kernel_alignment",
    "kernels",
    "load",
    "losses",
    "norms",
    "plots",
    "verify",
]
__version__ = "0.1.0"

from . import datasets, kernels, losses, norms, plots
from .alignment import kernel_alignment
from .baselines import LinearizedMKL
from .comparison import compare
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor
from .model_file import load
from .plots import AlignmentDisplay, ComparisonDisplay, ConvergenceDisplay, WeightsDisplay
from .reports import report
from .selection import MKLClassifierCV, MKLRegressorCV
from .verification import Verification, verify
from .views import Grams, Views

__all__ = [
    "AlignmentDisplay",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "Grams",
    "LinearizedMKL",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "Verification",
    "Views",
    "WeightsDisplay",
    "compare",
    "datasets",
    "kernel_alignment",
    "kernels",
    "load",
    "losses",
    "norms",
    "plots",
    "report",
    "verify",
]
__version__: str

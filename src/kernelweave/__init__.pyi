from . import datasets, inspection, kernels, losses, norms, plots
from .alignment import kernel_alignment
from .baselines import LinearizedMKL
from .comparison import compare
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor
from .logo_plot import LogoDisplay
from .lsgkm import export_lsgkm
from .model_file import load
from .plots import AlignmentDisplay, ComparisonDisplay, ConvergenceDisplay, WeightsDisplay
from .reports import report
from .selection import MKLClassifierCV, MKLRegressorCV
from .sequence_plots import ImportanceDisplay, KmerDisplay, PositionWeightsDisplay
from .stability_plot import StabilityDisplay
from .verification import Verification, verify
from .views import Grams, Views

__all__ = [
    "AlignmentDisplay",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "Grams",
    "ImportanceDisplay",
    "KmerDisplay",
    "LinearizedMKL",
    "LogoDisplay",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "PositionWeightsDisplay",
    "StabilityDisplay",
    "Verification",
    "Views",
    "WeightsDisplay",
    "compare",
    "datasets",
    "export_lsgkm",
    "inspection",
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

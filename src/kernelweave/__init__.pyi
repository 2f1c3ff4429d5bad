from . import datasets, inspection, kernels, losses, norms, plots
from .baselines import LinearizedMKL
from .display.displays import (
    AlignmentDisplay,
    ComparisonDisplay,
    ConvergenceDisplay,
    WeightsDisplay,
)
from .display.logo import LogoDisplay
from .display.reliability import ReliabilityDisplay
from .display.reports import report
from .display.sequence_displays import ImportanceDisplay, KmerDisplay, PositionWeightsDisplay
from .display.shapley import BeeswarmDisplay, WaterfallDisplay
from .display.stability import StabilityDisplay
from .estimators import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival
from .estimators.comparison import compare
from .estimators.few_kernels import FewKernels, few_kernels
from .estimators.learned_widths import MKLWidths
from .estimators.selection import MKLClassifierCV, MKLRegressorCV, MKLSurvivalCV
from .inspection.alignment import kernel_alignment
from .inspection.kernel_pca import MKLKernelPCA
from .kernels.data.views import Grams, Views
from .model.files.kw import load
from .model.files.lsgkm import export_lsgkm
from .model.verification import Verification, verify

__all__ = [
    "AlignmentDisplay",
    "BeeswarmDisplay",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "FewKernels",
    "Grams",
    "ImportanceDisplay",
    "KmerDisplay",
    "LinearizedMKL",
    "LogoDisplay",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLKernelPCA",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLSurvival",
    "MKLSurvivalCV",
    "MKLWidths",
    "PositionWeightsDisplay",
    "ReliabilityDisplay",
    "StabilityDisplay",
    "Verification",
    "Views",
    "WaterfallDisplay",
    "WeightsDisplay",
    "compare",
    "datasets",
    "export_lsgkm",
    "few_kernels",
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

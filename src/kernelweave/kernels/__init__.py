"""Kernels and families of kernels on vectors, texts and precomputed similarities.

A kernel is a small frozen object; ``k(X, Y)`` gives its matrix and ``k.diagonal(X)`` its diagonal.
"""

from kernelweave.kernels.algebra import Product, Scaled, Sum
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.exponential import Exponential
from kernelweave.kernels.function import Function, Sigmoid
from kernelweave.kernels.gapped import GappedKmer, Mismatch
from kernelweave.kernels.histograms import ChiSquared, Intersection
from kernelweave.kernels.identity import Identity
from kernelweave.kernels.locality import LocalityImproved
from kernelweave.kernels.normalize import normalize, prepare, resolve
from kernelweave.kernels.per_feature import per_feature
from kernelweave.kernels.precomputed import Precomputed
from kernelweave.kernels.program import CompiledKernels
from kernelweave.kernels.spectrum import NGram, Spectrum
from kernelweave.kernels.strings import WeightedDegree, WeightedDegreeShift
from kernelweave.kernels.text import BagOfWords
from kernelweave.kernels.vectors import RBF, Laplacian, Linear, Polynomial

__all__ = [
    "RBF",
    "BagOfWords",
    "ChiSquared",
    "CompiledKernels",
    "Exponential",
    "Function",
    "GappedKmer",
    "Identity",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalityImproved",
    "Mismatch",
    "NGram",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
    "WeightedDegree",
    "WeightedDegreeShift",
    "normalize",
    "per_feature",
    "prepare",
    "resolve",
]

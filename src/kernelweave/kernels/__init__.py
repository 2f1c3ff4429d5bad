"""Kernels and families of kernels on vectors, sequences, texts and precomputed similarities.

A kernel k is an immutable object: ``k(X, Y)`` returns the kernel matrix of the examples X and Y,
and ``k.diagonal(X)`` the values k(x, x).
"""

from kernelweave.kernels.base import Kernel
from kernelweave.kernels.compile.normalize import normalize, prepare, resolve
from kernelweave.kernels.compile.program import CompiledKernels
from kernelweave.kernels.compose.algebra import Product, Scaled, Sum
from kernelweave.kernels.compose.exponential import Exponential
from kernelweave.kernels.compose.per_feature import per_feature
from kernelweave.kernels.string.bag_of_words import BagOfWords
from kernelweave.kernels.string.gapped_kmer import GappedKmer
from kernelweave.kernels.string.locality_improved import LocalityImproved
from kernelweave.kernels.string.mismatch import Mismatch
from kernelweave.kernels.string.spectrum import NGram, Spectrum
from kernelweave.kernels.string.substring import Substring
from kernelweave.kernels.string.weighted_degree import WeightedDegree, WeightedDegreeShift
from kernelweave.kernels.vector.clinical import Clinical
from kernelweave.kernels.vector.function import Function
from kernelweave.kernels.vector.histograms import ChiSquared, Intersection
from kernelweave.kernels.vector.identity import Identity
from kernelweave.kernels.vector.linear import Linear
from kernelweave.kernels.vector.polynomial import Polynomial
from kernelweave.kernels.vector.precomputed import Precomputed
from kernelweave.kernels.vector.rbf import RBF, Laplacian
from kernelweave.kernels.vector.sigmoid import Sigmoid

__all__ = [
    "RBF",
    "BagOfWords",
    "ChiSquared",
    "Clinical",
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
    "Substring",
    "Sum",
    "WeightedDegree",
    "WeightedDegreeShift",
    "normalize",
    "per_feature",
    "prepare",
    "resolve",
]

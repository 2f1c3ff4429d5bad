"""The compiled core, made ready: BLAS handed over, SIMD level chosen."""

from __future__ import annotations

import os

from scipy.linalg import cython_blas

from . import _core

_core.use_blas(cython_blas.__pyx_capi__["dgemm"])
if level := os.environ.get("KERNELWEAVE_SIMD"):
    _core.use_simd(level)

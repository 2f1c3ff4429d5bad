"""The compiled core, made ready: BLAS handed over, SIMD level chosen."""

from __future__ import annotations

import os
from functools import cache

from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from . import _core  # type: ignore[attr-defined]  # compiled, without stubs

__all__ = ["_core", "single_threaded_blas"]

_core.use_blas(cython_blas.__pyx_capi__["dgemm"])
if level := os.environ.get("KERNELWEAVE_SIMD"):
    _core.use_simd(level)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def single_threaded_blas():
    """Return a context in which BLAS uses one thread: the core brings its own threads."""
    return _controller().limit(limits=1, user_api="blas")

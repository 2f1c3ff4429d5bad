"""Which partition an error is about."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Reading
from .data import Data


@contextmanager
def blamed(kernels: Sequence[Kernel], data: Data) -> Iterator[None]:
    """Let an error about a sample name the partition that it is about, if one alone has it.

    Parameters
    ----------
    kernels : that read the examples.
    """
    try:
        yield
    except ValueError as error:
        message = data.cluster.share(_resolved(kernels, data.sample), len(data.parts))
        tasks = [data.cluster.submit("blame", complaint, part, message) for part in data.parts]
        for label, said in zip(data.labels, data.cluster.gather(tasks), strict=True):
            if said:
                raise ValueError(f"X, {label}: {said}") from error
        raise


def complaint(part: Any, message: bytes) -> str:
    """Return what is wrong with a partition that kernels, packed, read; nothing as a rule."""
    try:
        kernels = tuple(kernel.resolve(part) for kernel in pickle.loads(message))
        CompiledKernels(kernels).read(Reading(part, training=False))
    except ValueError as error:
        return str(error)
    return ""


def _resolved(kernels: Sequence[Kernel], sample: Any) -> list[Kernel]:
    """Return kernels as they are on all examples, where a sample tells."""
    try:
        return [kernel.resolve(sample) for kernel in kernels]
    except ValueError:
        return list(kernels)

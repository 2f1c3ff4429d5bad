"""Add the name of the failing partition to errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..kernels import CompiledKernels, Kernel
from ..kernels.compile.examples import Reading
from .data import Data


@contextmanager
def naming_partition(kernels: Sequence[Kernel], data: Data) -> Iterator[None]:
    """Return a context in which a ValueError about the sample names the failing partition.

    All partitions are read by the kernels, and the first one that fails is reported. The original
    error is raised if none does.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels that read the examples.
    data : Data
        The partitions, and the sample in which the error occurs.
    """
    try:
        yield
    except ValueError as error:
        message = data.cluster.share(_resolved(kernels, data.sample), len(data.parts))
        tasks = [data.cluster.submit("check", error_of_part, part, message) for part in data.parts]
        for label, text in zip(data.labels, data.cluster.gather(tasks), strict=True):
            if text:
                raise ValueError(f"X, {label}: {text}") from error
        raise


def error_of_part(part: object, message: bytes) -> str:
    """Return the error of reading a partition by pickled kernels, or an empty text."""
    try:
        kernels = tuple(kernel.resolve(part) for kernel in pickle.loads(message))
        CompiledKernels(kernels).read(Reading(part, training=False))
    except ValueError as error:
        return str(error)
    return ""


def _resolved(kernels: Sequence[Kernel], sample: object) -> list[Kernel]:
    """Return kernels with data-dependent parameters set from a sample; unchanged on ValueError."""
    try:
        return [kernel.resolve(sample) for kernel in kernels]
    except ValueError:
        return list(kernels)

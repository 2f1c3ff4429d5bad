"""The exponential of a kernel, which is an RBF kernel in its feature space."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelweave.common.types import Data
from kernelweave.kernels.base import Kernel, TransformedKernel
from kernelweave.kernels.compile.normalized_kernels import Unit
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import broadcast
from kernelweave.kernels.parameters import Parameter, checked
from kernelweave.model.files.registry import registered


@registered("Exponential")
@dataclass(frozen=True)
class Exponential(TransformedKernel):
    """Exponential exp(gamma (k(x, y) - 1)) of a kernel that is normalised to k(x, x) = 1.

    Since ||phi(x) - phi(y)||^2 = 2 - 2 k(x, y), this is an RBF kernel with parameter gamma / 2 in
    the feature space of k. For gapped k-mers it is the kernel gkmrbf of LS-GKM (Lee, 2016).

    Parameters
    ----------
    kernel : Kernel
        A kernel or family. Precomputed matrices must have a unit diagonal.
    gamma : float > 0, or a sequence of them
        A sequence makes a family: one kernel for each value, or, if `kernel` is a family of the
        same size, value i for its member i.

    Raises
    ------
    ValueError
        If `gamma` is not positive, or its length differs from the size of the family.

    Examples
    --------
    >>> from kernelweave.kernels import Exponential, Spectrum
    >>> sequences = ["GATTACA", "GATTTCA", "CCCCCCC"]
    >>> print(Spectrum(2)(sequences))
    [[ 6.  5.  0.]
     [ 5.  8.  0.]
     [ 0.  0. 36.]]
    >>> print(Exponential(Spectrum(2), gamma=1.0)(sequences).round(2))
    [[1.   0.76 0.37]
     [0.76 1.   0.37]
     [0.37 0.37 1.  ]]
    """

    gamma: Parameter = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Exponential: kernel must be a Kernel, got {self.kernel!r}")
        try:
            gamma = checked("Exponential", "gamma", self.gamma)
        except ValueError:
            gamma = None
        if gamma is None or isinstance(gamma, str):
            raise ValueError(
                "Exponential: gamma must be a positive number, or a sequence of them, got "
                f"{self.gamma!r}"
            )
        object.__setattr__(self, "gamma", gamma)
        if {self.kernel.size, len(self._gammas)} - {1, None} not in ({self.size}, set()):
            raise ValueError(
                f"Exponential: {len(self._gammas)} values of gamma cannot be combined with a "
                f"family of {self.kernel.size} kernels; their numbers must be equal, or one of "
                "them 1"
            )

    @property
    def _gammas(self) -> tuple[float, ...]:
        return self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)

    @property
    def size(self) -> int | None:
        return None if self.kernel.size is None else max(self.kernel.size, len(self._gammas))

    @property
    def is_family(self) -> bool:
        return self.kernel.is_family or isinstance(self.gamma, tuple)

    def resolve(self, X: Data) -> Kernel:
        kernel = self.kernel.resolve(X)
        if kernel.unit_diagonal or isinstance(kernel, Unit):
            return replace(self, kernel=kernel)
        if "given" in CompiledKernels((kernel,)).kinds:
            raise ValueError(
                f"Exponential: {kernel.names[0]!r} is a precomputed matrix, which does not contain "
                "k(x, x) of new examples; normalise the matrix to a unit diagonal and pass its "
                "exponential as Precomputed"
            )
        return replace(self, kernel=Unit(kernel))

    @property
    def labels(self) -> tuple[str, ...]:
        pairs = broadcast(self.kernel.labels, self._gammas)
        return tuple(f"Exponential({label}) gamma={gamma:g}" for label, gamma in pairs)

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(view for view, _ in broadcast(self.kernel.views, self._gammas))

    @property
    def unit_diagonal(self) -> bool:
        return not self.may_vanish

    @property
    def may_vanish(self) -> bool:
        return self.kernel.may_vanish

    def expressions(self, layout: Layout) -> list[Expression]:
        pairs = broadcast(self.kernel.expressions(layout), self._gammas)
        return [(*expression, ("exponential", gamma)) for expression, gamma in pairs]

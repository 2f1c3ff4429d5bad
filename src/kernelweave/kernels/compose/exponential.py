"""A radial function of any kernel: exp(gamma (k - 1)) of its cosine k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernelweave.kernels.base import Kernel, Wrapper
from kernelweave.kernels.compile.normalized_kernels import Unit
from kernelweave.kernels.compile.program import CompiledKernels, Expression, Layout
from kernelweave.kernels.compose.algebra import broadcast
from kernelweave.kernels.parameters import checked
from kernelweave.model.files.registry import stored


@stored("Exponential")
@dataclass(frozen=True)
class Exponential(Wrapper):
    """exp(gamma (k(x, y) - 1)) of a kernel, which is normalised to k(x, x) = 1 first.

    With ||phi(x) - phi(y)||^2 = 2 - 2 k(x, y) it is the RBF kernel in the feature space of k, of
    width gamma / 2. Of gapped k-mers it is what LS-GKM calls gkmrbf (Lee, 2016).

    Parameters
    ----------
    kernel : any kernel or family whose self-similarities can be computed. A precomputed matrix
        must have a unit diagonal.
    gamma : positive number, or a sequence of them, which makes a family: with one kernel, or with
        as many members as there are numbers.

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

    gamma: Any = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Exponential: kernel must be a kernel, not {self.kernel!r}")
        try:
            gamma = checked("Exponential", "gamma", self.gamma)
        except ValueError:
            gamma = None
        if gamma is None or isinstance(gamma, str):
            raise ValueError(
                "Exponential: gamma must be a positive number, or a sequence of them, not "
                f"{self.gamma!r}"
            )
        object.__setattr__(self, "gamma", gamma)
        if {self.kernel.size, len(self._gammas)} - {1, None} not in ({self.size}, set()):
            raise ValueError(
                f"Exponential: {len(self._gammas)} values of gamma cannot go with a family of "
                f"{self.kernel.size} kernels"
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

    def resolve(self, X: Any) -> Kernel:
        kernel = self.kernel.resolve(X)
        if kernel.unit_diagonal or isinstance(kernel, Unit):
            return replace(self, kernel=kernel)
        if "given" in CompiledKernels((kernel,)).kinds:
            raise ValueError(
                f"Exponential: {kernel.names[0]!r} is a precomputed matrix, which does not hold "
                "k(x, x) of new examples: normalise it to a unit diagonal, and take its exponential"
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

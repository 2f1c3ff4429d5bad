"""The methods that `solver=` of an estimator names, and the norms and losses that each supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..losses import Loss
from ..norms import Norm
from .methods.alignment import Aligned
from .methods.base import Method
from .methods.easymkl import EasyMKL
from .methods.mwu import MWU
from .methods.qcqp import QCQP
from .methods.skm import SKM
from .start import Start
from .wrapper import ACCURATE, COMPLETE, Accuracy


@dataclass(frozen=True)
class Trained(Method):
    """A method that alternates between inner solutions and weight steps, or has fixed weights.

    Attributes
    ----------
    norms : callable
        Returns whether the method supports a norm.
    step : str or None
        Weight step, a key of `plan.WEIGHT_STEPS`. None if the weights are fixed or, for `AUTO`,
        if `plan.STEPS` determines the step.
    accuracy : Accuracy or None
        Accuracy of inner solutions; None if `plan.ACCURACIES` determines it.
    stage : Start or None
        Rule that fixes the weights before training; None if training finds them.
    sift_kernels : int
        Number of kernels above which p = 1 is solved on a growing set of kernels (`sifting`).
    """

    norms: Callable[[Norm], bool]
    step: str | None = None
    accuracy: Accuracy | None = None
    stage: Start | None = None
    sift_kernels: int = 300

    @property
    def first_stage(self) -> Start | None:
        return self.stage

    @property
    def shares(self) -> bool:
        return self.stage is None

    @property
    def combines(self) -> bool:
        return self.stage is None

    def serves(self, norm: Norm) -> bool:
        return self.norms(norm)

    def streams(self, M: int, n: int) -> bool:
        """Return whether p = 1 with M kernels is solved on a growing set of them (`sifting`)."""
        sifts = self.stage is None and self.accuracy is not COMPLETE
        return sifts and self.sift_kernels < M

    def serves_loss(self, loss: Loss) -> bool:
        return self.stage is None or loss.kind not in ("one-class", "survival")


AUTO = Trained(lambda norm: True)
NEWTON = Trained(lambda norm: norm.is_curved or norm.is_sparse, "newton", ACCURATE)

METHODS: dict[str, Method] = {
    "analytic": Trained(lambda norm: not norm.is_sparse, "analytic"),
    "newton": NEWTON,
    "hessian": NEWTON,  # the name of the method in Chapelle and Rakotomamonjy (2008)
    "cutting-plane": Trained(lambda norm: norm.has_ball, "cutting plane"),
    "level": Trained(lambda norm: norm.has_ball, "level"),
    "gradient": Trained(lambda norm: norm.is_sparse, "gradient", COMPLETE),
    "simplemkl": Trained(lambda norm: norm.is_sparse, "reduced gradient", COMPLETE),
    "uniform": Trained(lambda norm: norm.is_plain_sum),
    "alignment": Trained(lambda norm: norm.allows_zeros, stage=Aligned("plain")),
    "centered-alignment": Trained(lambda norm: norm.allows_zeros, stage=Aligned("centred")),
    "easymkl": EasyMKL(),
    "qcqp": QCQP(),
    "skm": SKM(),
    "mwu": MWU(),
}


def find_method(choice: object, norm: Norm, loss: Loss, *, shared: bool = False) -> Method:
    """Return the method of a name, or an object such as `SKM(...)` as it is.

    Raises
    ------
    ValueError
        If there is no such method, or if it does not support the norm, the loss, or (`shared`)
        outputs that share their weights.
    """

    def able(method: Method) -> bool:
        return method.serves(norm) and method.serves_loss(loss) and (method.shares or not shared)

    known: dict[str, Method] = {"auto": AUTO, **METHODS}
    method = known.get(choice) if isinstance(choice, str) else choice
    if not isinstance(method, Method):
        raise ValueError(f"solver must be one of {list(known)}, got {choice!r}")
    if not able(method):
        sharing = " and share_weights=True" if shared else ""
        raise ValueError(
            f"solver={choice!r} does not support norm={norm!r} with loss={loss.name!r}{sharing}; "
            f"these do: {[name for name, other in known.items() if able(other)]}"
        )
    return method

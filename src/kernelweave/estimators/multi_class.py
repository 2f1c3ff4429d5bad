"""The choice of the problem for several classes: against the rest, in pairs, or joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import losses
from ..common.types import Data
from ..common.warnings import warn
from ..kernels.vector.base import VectorKernel
from ..kernels.vector.linear import Linear
from .joint_classes import RISKS, warn_of_large
from .one_vs_one import warn_of_many
from .parameters import is_auto

if TYPE_CHECKING:
    from .classifier import BaseClassifier

LARGE = 50_000_000  # dual variables from which on a fit against the rest warns about its memory
BYTES = 34  # peak memory of a dual variable in a fit of 1,000 classes on 6,000 examples
MANY_CLASSES = 100  # above, multi_class="auto" does not train all pairs


def form_of(
    model: BaseClassifier, classes: np.ndarray, codes: np.ndarray, costs: np.ndarray, X: Data
) -> str:
    """Return the form of the problem that a classifier solves: "ovr", "ovo" or "joint".

    Parameters
    ----------
    model : BaseClassifier
        The estimator, of which the parameters are read.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,)
        Index of the class of each example.
    costs : ndarray of shape (n,)
        Costs of the examples; classes that only have costs of 0 count as absent.
    X : n examples

    Raises
    ------
    ValueError
        If another parameter is incompatible with ``multi_class``.
    """
    if len(classes) < 3 or model.multi_class == "ovr":
        warn_of_large_rest(classes, len(codes))
        return "ovr"
    if model.multi_class == "joint":
        _check_joint(model, costs)
        warn_of_large(classes, len(codes))
        return "joint"
    absent = classes[np.bincount(codes, costs > 0) == 0]
    if is_auto(model.multi_class) and (len(absent) > 1 or not _suits_pairs(model, classes, X)):
        warn_of_large_rest(classes, len(codes))
        return "ovr"
    _check_pairs(model, absent)
    warn_of_many(classes)
    return "ovo"


def warn_of_large_rest(classes: np.ndarray, n: int) -> None:
    """Warn if one against the rest has so many dual variables that they fill the memory."""
    count = len(classes)
    if count > 2 and count * n > LARGE:
        warn(
            f"multi_class='ovr' trains {count:,} classes on {n:,} examples, one after the other, "
            f"and keeps {count * n:,} dual variables, which take about "
            f"{BYTES * count * n / 1e9:.0f} GB; merge rare classes, or train on a part of the "
            "examples",
            UserWarning,
        )


def _suits_pairs(model: BaseClassifier, classes: np.ndarray, X: Data) -> bool:
    """Return whether multi_class="auto" chooses one against one; see docs/classes.md.

    "auto" avoids pairs for linear and string kernels: one against the rest trains fast with them,
    and gives one weight vector per class, which can be interpreted.
    """
    needs_rest = model.calibrate is not None or model.checkpoint is not None
    loss = losses.get(model.loss, "classifier")
    if needs_rest or model.kernels is None or isinstance(loss, losses.Logistic):
        return False
    if model.share_weights is True or len(classes) > MANY_CLASSES or not model._local:
        return False
    found = model._resolve(model.kernels, X)
    alone = len(found) == 1 and found[0].n_kernels == 1
    return alone and isinstance(found[0], VectorKernel) and not isinstance(found[0], Linear)


def _check_pairs(model: BaseClassifier, absent: np.ndarray) -> None:
    """Raise ValueError if a parameter is incompatible with multi_class="ovo".

    `absent` are the classes without any positive weight.
    """
    if len(absent) > 1:
        raise ValueError(
            "sample_weight and class_weight must leave a positive weight to all classes but "
            f"one with multi_class='ovo', but {absent.tolist()} have none; remove "
            "their examples, or pass multi_class='ovr'"
        )
    if not model._local:
        raise _not_on_clusters("ovo", "pairs of classes share kernel rows inside one process")


def _check_joint(model: BaseClassifier, costs: np.ndarray) -> None:
    """Raise ValueError if a parameter is incompatible with multi_class="joint"."""
    loss = losses.get(model.loss, "classifier")
    if type(loss) not in RISKS:
        raise ValueError(
            "loss must be 'hinge' (Crammer and Singer) or 'logistic' (multinomial) with "
            f"multi_class='joint', got {model.loss!r}; pass one of them, or multi_class='ovr'"
        )
    if np.isinf(costs).any():
        raise ValueError(
            "C must be finite with multi_class='joint', got inf; pass multi_class='ovr' or "
            "'ovo' for hard margins"
        )
    if model.share_weights is False:
        raise ValueError(
            "share_weights must be True or 'auto' with multi_class='joint', got False: all "
            "classes are one problem; pass multi_class='ovr' for weights of each class"
        )
    if not model._local:
        raise _not_on_clusters("joint", "the dual variables of all classes change together")


def _not_on_clusters(form: str, why: str) -> ValueError:
    return ValueError(
        f"multi_class must be 'ovr' or 'auto' for examples on other machines, got {form!r}: {why}"
    )

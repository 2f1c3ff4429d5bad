"""The interface of losses, their convex conjugates, and the registry of their names."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

# Distance to a bound, as a fraction of the box hi - lo, below which an alpha with an entropy term
# counts as being at the bound, where the slope of the entropy is infinite: about 45 roundings.
EDGE = 1e-14
# Lower bound on a (1 - a), the product of the fractions of the box below and above alpha, so that
# the second derivative of the entropy stays finite.
LEAST_PRODUCT = 1e-14

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class DualTerm:
    """The convex conjugates of the loss terms of n examples, as functions of alpha.

    The conjugate of each example is::

        conj(alpha) = lin alpha + eps |alpha| + curv alpha^2 / 2 + ent h((alpha - lo) / (hi - lo)),
        h(a) = a log a + (1 - a) log(1 - a)

    for lo <= alpha <= hi, and infinity elsewhere.

    Parameters
    ----------
    lin : array of shape (n,)
        Coefficient of the linear part.
    eps : array of shape (n,)
        Coefficient of abs(alpha).
    curv : array of shape (n,)
        Second derivative of the quadratic part.
    ent : array of shape (n,)
        Coefficient of the binary entropy.
    lo, hi : arrays of shape (n,)
        Bounds of alpha; infinite if there is none. Examples with C_i = 0 have lo = hi = 0.

    Notes
    -----
    If a loss has no entropy, for example, `DualTerm.of` sets `ent` to a read-only array of zeros
    that takes no memory. `take` always returns contiguous arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.losses import Hinge
    >>> term = Hinge().dual_term(np.array([1.0, -1.0]), np.array([10.0, 10.0]))
    >>> print(term.lo, term.hi)
    [  0. -10.] [10.  0.]
    >>> print(term.conjugate(np.array([2.0, -3.0])))
    [-2. -3.]
    """

    lin: np.ndarray
    eps: np.ndarray
    curv: np.ndarray
    ent: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @property
    def is_quadratic(self) -> bool:
        """Whether conj has no entropy term, and so is quadratic on each side of alpha = 0."""
        return not self.ent.any()

    @property
    def is_free(self) -> bool:
        """Whether no alpha has a finite bound, apart from those fixed at 0 by C_i = 0."""
        bounds = self.lo[self.lo < self.hi], self.hi[self.lo < self.hi]
        return not np.isfinite(bounds).any()

    @property
    def is_entropy(self) -> bool:
        """Whether conj is linear plus entropy: the loss is then twice differentiable."""
        return bool(self.ent.any()) and not (self.eps.any() or self.curv.any())

    @classmethod
    def of(
        cls,
        lo: np.ndarray,
        hi: np.ndarray,
        *,
        lin: ArrayLike = 0.0,
        eps: ArrayLike = 0.0,
        curv: ArrayLike = 0.0,
        ent: ArrayLike = 0.0,
    ) -> DualTerm:
        """Return the conjugates with given bounds and coefficients of their parts.

        Parameters
        ----------
        lo, hi : arrays of shape (n,)
            Bounds of alpha.
        lin, eps, curv, ent : float or array of shape (n,)
            Coefficients of alpha, of its absolute value, of alpha^2 / 2 and of the binary entropy;
            a float applies to all examples.

        Returns
        -------
        DualTerm of n examples
        """
        lin, eps, curv, ent = (np.broadcast_to(part, lo.shape) for part in (lin, eps, curv, ent))
        return cls(lin, eps, curv, ent, lo, hi)

    def take(self, index: np.ndarray) -> DualTerm:
        """Return the conjugates of a subset of the examples.

        Parameters
        ----------
        index : array of k positions, or bool mask of shape (n,)
            The examples of the subset.

        Returns
        -------
        DualTerm of k examples
        """
        return DualTerm(*(part[index] for part in self.arrays))

    def with_free_alpha(self) -> DualTerm:
        """Return the conjugates with one more example, which has no loss and no bounds.

        Returns
        -------
        DualTerm of n + 1 examples
        """
        ends = (0.0, 0.0, 0.0, 0.0, -np.inf, np.inf)
        return DualTerm(*(np.append(a, end) for a, end in zip(self.arrays, ends, strict=True)))

    @property
    def arrays(self) -> Arrays:
        """The six fields, each of shape (n,), in the order of the arguments of the core."""
        return self.lin, self.eps, self.curv, self.ent, self.lo, self.hi

    def conjugate(self, alpha: np.ndarray) -> np.ndarray:
        """Return conj(alpha) of each example.

        Parameters
        ----------
        alpha : array of shape (n,)

        Returns
        -------
        array of shape (n,)
            Infinite outside the bounds.
        """
        value = (self.lin + 0.5 * self.curv * alpha) * alpha + self.eps * np.abs(alpha)
        if self.ent.any():
            a, rest = self._fractions(alpha)
            value = value + self.ent * (xlogy(a, a) + xlogy(rest, rest))
        return np.where((alpha >= self.lo) & (alpha <= self.hi), value, np.inf)

    def slopes(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the left and right derivatives of conj at alpha.

        Parameters
        ----------
        alpha : array of shape (n,)

        Returns
        -------
        left, right : arrays of shape (n,)
            `left` is -inf at lo, and `right` is inf at hi. The slope of an entropy term is
            unbounded near the bounds. With such a term, an alpha within `EDGE` times hi - lo of a
            bound is therefore treated as being at the bound.
        """
        slope, margin = self.lin + self.curv * alpha, np.zeros(())
        if self.ent.any():
            a, rest = (np.maximum(fraction, EDGE) for fraction in self._fractions(alpha))
            slope = slope + self.ent / self._width * (np.log(a) - np.log(rest))
            margin = EDGE * self._width * (self.ent > 0)
        inner = self.eps * np.sign(alpha)
        left = np.where(
            alpha > self.lo + margin, slope + np.where(alpha == 0, -self.eps, inner), -np.inf
        )
        right = np.where(
            alpha < self.hi - margin, slope + np.where(alpha == 0, self.eps, inner), np.inf
        )
        return left, right

    def curvature(self, alpha: np.ndarray) -> np.ndarray:
        """Return the second derivative of conj at alpha, ignoring the kink at 0 and the bounds.

        Parameters
        ----------
        alpha : array of shape (n,)

        Returns
        -------
        array of shape (n,)
        """
        if not self.ent.any():
            return self.curv
        a, rest = self._fractions(alpha)
        # Two divisions, because the square of a tiny width underflows to 0.
        bend = self.ent / self._width / self._width / np.maximum(a * rest, LEAST_PRODUCT)
        return np.asarray(self.curv + bend)

    def _fractions(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (alpha - lo) / (hi - lo) and (hi - alpha) / (hi - lo), each exact even if tiny."""
        a = np.clip((alpha - self.lo) / self._width, 0.0, 1.0)
        return a, np.clip((self.hi - alpha) / self._width, 0.0, 1.0)

    @property
    def _width(self) -> np.ndarray:
        """The width hi - lo, or 1 where lo = hi, shape (n,)."""
        width = self.hi - self.lo
        return np.where(width > 0, width, 1.0)


@runtime_checkable
class Loss(Protocol):
    """The interface of a loss V(f, y).

    Attributes
    ----------
    name : str
        The name that estimators accept for ``loss=``.
    kind : {"classifier", "regressor", "one-class"}
        The kind of estimator that the loss is for.

    Examples
    --------
    >>> from kernelweave.losses import Hinge, Loss
    >>> isinstance(Hinge(), Loss)
    True
    >>> Hinge().kind
    'classifier'
    """

    name: ClassVar[str]
    kind: ClassVar[str]

    @abstractmethod
    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the loss V(f, y) of each example.

        Parameters
        ----------
        f : array of shape (n,)
            Decision values.
        y : array of shape (n,)
            Targets: -1 or +1 for classifiers, real numbers for regressors, ignored for one class.

        Returns
        -------
        array of shape (n,)
        """

    @abstractmethod
    def dual_term(self, y: np.ndarray, C: np.ndarray) -> DualTerm:
        """Return the convex conjugates of C_i V(f_i, y_i), which are terms of the dual objective.

        Parameters
        ----------
        y : array of shape (n,)
            Targets.
        C : array of shape (n,)
            Costs, >= 0. The dual variable of an example with C_i = 0 is fixed at 0.

        Returns
        -------
        DualTerm of n examples
        """

    @abstractmethod
    def best_bias(self, F: np.ndarray, y: np.ndarray, C: np.ndarray, tau: float = 0.0) -> float:
        """Return the intercept b that minimises sum_i C_i V(F_i + b, y_i) + tau b.

        The duality gap is computed with this b. A b estimated from the free support vectors would
        make the gap larger.

        Parameters
        ----------
        F : array of shape (n,)
            Decision values without intercept.
        y : array of shape (n,)
            Targets.
        C : array of shape (n,)
            Costs, >= 0.
        tau : float
            Coefficient of b, which is nu n for one-class problems and 0 for others.

        Returns
        -------
        float
            If the minimisers form an interval: its midpoint, or its finite end if it has only one.
        """


Class = TypeVar("Class", bound=type[Loss])

_REGISTERED: dict[tuple[str, str], type[Loss]] = {}


def selectable(cls: Class) -> Class:
    """Register a loss class under its name and kind, so that `get` finds it (a decorator)."""
    _REGISTERED[cls.kind, cls.name] = cls
    return cls


def selectable_losses() -> list[type[Loss]]:
    """Return all loss classes that a name selects."""
    return list(_REGISTERED.values())


def get(loss: str | Loss, kind: str, **params: object) -> Loss:
    """Return the loss with a given name; a loss object is returned unchanged.

    Parameters
    ----------
    loss : str or Loss
        A name such as "hinge", or an object of `kernelweave.losses`.
    kind : {"classifier", "regressor", "one-class"}
        The kind of estimator that the loss is for.
    **params
        Parameters of a loss given by name, such as ``sigma``.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If no loss of this kind has the name, if the object is of another kind, or if parameters
        are given together with an object.

    Examples
    --------
    >>> from kernelweave import losses
    >>> losses.get("smooth_hinge", "classifier", sigma=5.0)
    SmoothHinge(sigma=5.0)
    """
    known = {name: cls for (of, name), cls in _REGISTERED.items() if of == kind}
    if isinstance(loss, str) and loss in known:
        return known[loss](**params)
    if _is_loss(loss) and loss.kind == kind and not params:
        return loss
    raise ValueError(
        f"loss must be one of {sorted(known)} or an object of kernelweave.losses for a {kind}, "
        f"got {loss!r}" + (f" with {params}" if params else "")
    )


def _is_loss(value: object) -> TypeGuard[Loss]:
    return isinstance(value, Loss) and not isinstance(value, type)

"""Decision functions of string models as weights of words.

Each kernel of a model is a sum of terms, factor * u(x) * u(z) * value(x, z). u is a product of
normalisation factors, such as 1 / sqrt(k(x, x)). value is one of the numbers that the core computes
for a pair of sequences (a plane), such as the number of matches of one length. For weighted degree
kernels the decision function has a weight for each word by position and length; for spectrum
kernels a weight for each k-mer regardless of position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..kernels.compile.examples import View
from ..kernels.compile.program import READING, Expression
from ..kernels.string.spectrum import SpectrumQuantity
from ..kernels.string.string_columns import PlaneTable, SequenceTable
from ..kernels.string.wd_quantity import WdQuantity
from ..model.model import Model
from ..sequences import Sequences
from ..sequences.alphabets import Alphabet

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


Q = TypeVar("Q")  # type of a quantity, such as WdQuantity


@dataclass(frozen=True)
class PlaneTerm:
    """A term factor * u(x) * u(z) * value(x, z) of a kernel.

    Attributes
    ----------
    plane : int
        Number of the plane that contains value(x, z).
    factor : float
        A constant.
    slots : tuple of int
        Indices, in `Examples.vectors`, of the normalisation factors whose product is u.
    """

    plane: int
    factor: float
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class PositionalWords:
    """The part of a decision function that is a weighted sum over words and their positions.

    Attributes
    ----------
    sequences : Sequences
        n support vectors of one length.
    delta : ndarray of shape (n,)
        Coefficients of the support vectors, times their normalisations.
    weights : ndarray of shape (shifts, length, degree)
        Entry [s, p, k] is the weight of a match of k + 1 letters that starts at position p of the
        scored sequence, under the shift ``shifts[s]``.
    shifts : tuple of int
        Shifts of the support vectors relative to the scored sequence.
    """

    sequences: Sequences
    delta: np.ndarray
    weights: np.ndarray
    shifts: tuple[int, ...]

    @property
    def alphabet(self) -> Alphabet:
        """Alphabet of the sequences."""
        return self.sequences.alphabet

    @property
    def length(self) -> int:
        """Number of positions."""
        return int(self.weights.shape[1])

    @property
    def degree(self) -> int:
        """Length of the longest words that have a weight."""
        return int(self.weights.shape[2])


def plane_terms(expression: Expression) -> list[PlaneTerm] | None:
    """Return the terms whose sum is a kernel, given by its instructions in postfix order.

    None if the kernel is not such a sum, for example a product or an exponential.
    """
    stack: list[list[PlaneTerm]] = []
    for name, *arguments in expression:
        if name == "copy":
            stack.append([PlaneTerm(arguments[0], 1.0)])
        elif name == "scale":
            stack[-1] = [PlaneTerm(t.plane, t.factor * arguments[0], t.slots) for t in stack[-1]]
        elif name == "unit":
            stack[-1] = [PlaneTerm(t.plane, t.factor, (*t.slots, arguments[0])) for t in stack[-1]]
        elif name == "center":  # adds a constant if the coefficients sum to 0
            pass
        elif name == "add":
            top = stack.pop()
            stack[-1] = stack[-1] + top
        else:
            return None
    return stack[0]


def fitted_model(estimator: FittedEstimator) -> Model:
    """Return the model of a fitted estimator; a model is returned unchanged."""
    if isinstance(estimator, Model):
        return estimator
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
        estimator = best_estimator(estimator)
    model = getattr(estimator, "_model", None)
    if not isinstance(model, Model):
        raise TypeError(f"model must be a fitted estimator, got {type(estimator).__name__}")
    return model


def best_estimator(estimator: FittedEstimator) -> FittedEstimator:
    """Return the best estimator of a search; other estimators are returned unchanged."""
    return estimator.best_estimator_ if hasattr(estimator, "best_estimator_") else estimator


def output_of(estimator: FittedEstimator, target: object) -> int:
    """Return the index of the decision function of a class, 0 if there is only one.

    Raises
    ------
    ValueError
        If `target` is not one of several classes.
    """
    model = fitted_model(estimator)
    if len(model.intercept) == 1:
        return 0
    classes = estimator._output_names()
    if target not in classes:
        raise ValueError(f"target must be one of the classes {classes}, got {target!r}")
    return classes.index(target)


@dataclass(frozen=True, eq=False)
class Source(Generic[Q]):
    """The values of string kernels on one column that the core computes together.

    Attributes
    ----------
    quantity : object
        Says which values are computed for a pair of sequences: its planes.
    view : View
        The column of sequences.
    first : int
        Number of the first of its planes among all planes of the model.
    table : SequenceTable or PlaneTable
        The support vectors.
    """

    quantity: Q
    view: View
    first: int
    table: SequenceTable | PlaneTable


def sources_of(model: Model, kind: type[Q]) -> Iterator[Source[Q]]:
    """Yield the sources whose quantity has the type `kind`."""
    examples = model.examples
    sources = model.compiled.listing.layout.sources.items()
    for number, ((quantity, view), first) in enumerate(sources):
        if isinstance(quantity, kind):
            table = examples.tables[examples.sources[number]]
            assert isinstance(table, SequenceTable | PlaneTable)
            yield Source(quantity, view, first, table)


def weighted_terms(
    model: Model, output: int, first: int, planes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a string kernel in a decision function, one for each plane.

    A plane is one value of the kernel for a pair of sequences, such as one match length.

    Parameters
    ----------
    model : Model
    output : int
        Position of the decision function.
    first, planes : int
        Number of the first plane of the kernel, and how many it has.

    Returns
    -------
    weights : ndarray of shape (planes,)
    delta : ndarray of shape (n_support,)
        Coefficients of the support vectors, times their normalisations.

    Raises
    ------
    ValueError
        If the kernel is not a sum over words.
    """
    listing, theta = model.compiled.listing, model.weights[output]
    weights, slots = np.zeros(planes), set()
    for m in np.flatnonzero(theta):
        expression = listing.expressions[m]
        if not _reads(expression, first, planes):
            continue
        terms = plane_terms(expression)
        centred = any(step[0] == "center" for step in expression)
        if terms is None or (centred and not _balanced(model.coef[output])):
            raise ValueError(
                f"kernel {model.compiled.names[m]!r} is not a sum over words, so words have no "
                "weights; this holds for products, exponentials, and centred kernels of one-class "
                "models"
            )
        for term in terms:
            if first <= term.plane < first + planes:
                same, apart = _norms(model, term)
                weights[term.plane - first] += theta[m] * term.factor * same
                slots.add(apart)
    return weights, _scaled(model, output, slots)


def _reads(expression: Expression, first: int, planes: int) -> bool:
    return any(s[0] in READING and first <= s[1] < first + planes for s in expression)


def _balanced(coef: np.ndarray) -> bool:
    """Return whether coefficients sum to 0, up to rounding."""
    return bool(abs(coef.sum()) <= 1e-9 * np.abs(coef).sum())


def _norms(model: Model, term: PlaneTerm) -> tuple[float, tuple[int, ...]]:
    """Split the normalisation u(x) u(z) of a term into a constant and a variable part.

    Returns
    -------
    same : float
        Product of u(x) u(z) over the factors u that have the same value for all sequences.
    apart : tuple of int
        Indices, in `Examples.vectors`, of the factors u that differ between sequences.
    """
    vectors = model.examples.vectors
    apart = tuple(slot for slot in term.slots if np.ptp(vectors[slot]) > 0)
    same = [vectors[slot][0] ** 2 for slot in term.slots if slot not in apart]
    return float(np.prod(same)), apart


def _scaled(model: Model, output: int, slots: set[tuple[int, ...]]) -> np.ndarray:
    """Return the coefficients of the support vectors times their normalisation factors, (n,).

    `slots` are the indices of the factors that differ between sequences, one tuple for each kernel
    (`_norms`). The factors of the sequence that is scored are not included.

    Raises
    ------
    ValueError
        If kernels normalise the sequences differently.
    """
    norms = [np.prod(model.examples.vectors[list(some)], axis=0) for some in slots]
    if any(not np.allclose(norm, norms[0]) for norm in norms):
        raise ValueError(
            "model: its kernels normalise each sequence differently, so that words have no common "
            "weight; fit with normalize='variance'"
        )
    return model.coef[output] * (norms[0] if norms else 1.0)


def positional_words(estimator: FittedEstimator, target: object = None) -> PositionalWords:
    """Return the weights of words by position of a fitted model.

    Raises
    ------
    ValueError
        If the model has no weighted degree kernels, or has them on several columns.
    """
    model, output = fitted_model(estimator), output_of(estimator, target)
    sources = list(sources_of(model, WdQuantity))
    if not sources:
        raise ValueError(
            "model has no weighted degree kernel, so words have no weight by position; "
            "top_kmers(model, n) ranks words of Spectrum and GappedKmer models"
        )
    if len({source.view for source in sources}) > 1:
        raise ValueError(
            "model has weighted degree kernels on several columns, of which words cannot be "
            "ranked together; fit a model on one column"
        )
    parts = []
    for source in sources:
        planes, delta = weighted_terms(model, output, source.first, source.quantity.planes)
        parts.append((source.quantity, planes, delta))
    deltas = [delta for _, planes, delta in parts if planes.any()] or [parts[0][2]]
    if any(not np.allclose(delta, deltas[0]) for delta in deltas):
        raise ValueError(
            "the kernels of this model normalise sequences differently; fit with "
            "normalize='variance'"
        )
    shifts, weights = combined_weights([(quantity, planes) for quantity, planes, _ in parts])
    return PositionalWords(sources[0].table.sequences, deltas[0], weights, shifts)


def combined_weights(
    parts: list[tuple[WdQuantity, np.ndarray]],
) -> tuple[tuple[int, ...], np.ndarray]:
    """Return all shifts, and the weights of matches summed over kernels.

    `parts` has the quantity of weighted degree kernels and the weights of its planes. The result is
    `shifts` and `weights` of `PositionalWords`.
    """
    length = parts[0][0].length
    farthest = max([0, *(shift for quantity, _ in parts for shift in quantity.shifts)])
    shifts = tuple(range(-farthest, farthest + 1))
    degree = max(len(quantity.weights) for quantity, _ in parts)
    weights = np.zeros((len(shifts), length, degree))
    for quantity, planes in parts:
        for row, shift in enumerate(shifts):
            _add_weights(weights[row], quantity, planes, shift)
    return shifts, weights


def _add_weights(out: np.ndarray, quantity: WdQuantity, planes: np.ndarray, shift: int) -> None:
    """Add the weights of matches under one shift to `out`, shape (length, degree).

    `planes` are the weights of the planes of `quantity`.
    """
    allowed = quantity.shifts or (0,) * quantity.length
    for position in range(quantity.length):
        first = min(position, position + shift)  # a match is indexed by the smaller position
        if first < 0 or max(position, position + shift) >= quantity.length:
            continue
        if abs(shift) > allowed[first]:
            continue
        near = 1.0 if shift == 0 else 1.0 / (2 * (abs(shift) + 1))
        place = quantity.position_weights[first] if quantity.position_weights else 1.0
        for k, weight in enumerate(quantity.weights):
            plane = quantity.plane(first, k)
            if plane is not None:
                out[position, k] += near * place * weight * planes[plane]


def spectrum_parts(
    estimator: FittedEstimator, target: object = None
) -> Iterator[tuple[SpectrumQuantity, Sequences, np.ndarray]]:
    """Yield the spectrum kernels of a model, with support vectors and their coefficients, (n,)."""
    model, output = fitted_model(estimator), output_of(estimator, target)
    for source in sources_of(model, SpectrumQuantity):
        planes, delta = weighted_terms(model, output, source.first, 1)
        if planes[0]:
            yield source.quantity, source.table.sequences, planes[0] * delta

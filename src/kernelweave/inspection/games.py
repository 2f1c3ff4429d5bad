"""Kernels as cooperative games between columns, the players of Shapley values.

The expression of a kernel, its list of instructions (see `kernelweave.kernels.compile.program`),
is expanded into terms

    factor * prod_e exp(-gamma_e q_e(x, s)) * prod_f (gamma_f q_f(x, s) + coef0_f)

of an example x and a support vector s. The quantities q are sums over columns: squared and absolute
differences, dot products, minima. Each exponential is then a product of one factor per column, and
each form, gamma_f q_f + coef0_f, a sum of one number per column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import factorial
from typing import Any

import numpy as np

from ..common.core import _core
from ..kernels.compile.examples import Examples
from ..kernels.compile.program import Expression
from ..model.model import Model
from .players import Players, vectors

DISTANCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "sqdist": lambda x, s: (x - s) ** 2,
    "l1": lambda x, s: np.abs(x - s),
    "chi2": lambda x, s: (x - s) ** 2 / np.where(x + s > 0, x + s, 1.0),
}
SUMS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "dot": lambda x, s: x * s,
    "min": np.minimum,
}
BALANCED = 1e-9  # |sum of coefficients| / sum of |coefficients| below which centring has no effect
# Maximum number of forms in a product. If they differ, the product takes 2^(forms - 1) powers.
MOST_POLARIZED = 4
BLOCK_BYTES = 2**26  # memory of the factors that are computed at a time


class NotAProductGame(ValueError):
    """Raised if the value of a kernel is not a sum of products of one factor per column."""


@dataclass(frozen=True)
class Form:
    """The value gamma * q(x, s) + coef0 of an example x and a support vector s.

    Attributes
    ----------
    source : number of the quantity q, which kernels share.
    gamma, coef0 : constants.
    """

    source: int
    gamma: float
    coef0: float


@dataclass(frozen=True)
class Term:
    """A product of a constant, exponentials of shared quantities, and forms (`Form`).

    Attributes
    ----------
    factor : the constant.
    exponents : a pair (source, gamma) for each exponential exp(-gamma q), where source is the
        number of q.
    forms : the forms; a power repeats its form.
    slots : indices of the vectors, one number per example, by which the kernel is multiplied for
        absent views.
    centred : whether the kernel is centred; with coefficients that sum to 0 this adds a constant.
    """

    factor: float = 1.0
    exponents: tuple[tuple[int, float], ...] = ()
    forms: tuple[Form, ...] = ()
    slots: tuple[int, ...] = ()
    centred: bool = False

    def times(self, other: Term) -> Term:
        """Return the product with another term."""
        if self.centred or other.centred or self.slots or other.slots:
            raise NotAProductGame("a product of centred kernels")
        return Term(
            self.factor * other.factor,
            self.exponents + other.exponents,
            self.forms + other.forms,
        )


def terms_of(expression: Expression, sources: Sequence[tuple[int, object]]) -> list[Term]:
    """Return the terms whose sum is a kernel.

    Parameters
    ----------
    expression : instructions of the kernel in postfix order.
    sources : for each plane (one shared quantity per pair of examples), number and kind of the
        source that computes it.

    Raises
    ------
    NotAProductGame : if the kernel is not a sum of such terms.
    """
    stack: list[list[Term]] = []
    for name, *arguments in expression:
        if name in ("copy", "power", "exp"):
            number, kind = sources[arguments[0]]
            stack.append(_read(name, number, kind, arguments[1:]))
        elif name == "scale":
            stack[-1] = [replace(t, factor=t.factor * arguments[0]) for t in stack[-1]]
        elif name == "add":
            top = stack.pop()
            stack[-1] = stack[-1] + top
        elif name == "mul":
            top = stack.pop()
            stack[-1] = [one.times(other) for one, other in product(stack[-1], top)]
        elif name == "unit":
            stack[-1] = _unit(stack[-1])
        elif name == "center":
            stack[-1] = [replace(t, centred=True) for t in stack[-1]]
        elif name == "multiply":
            if any(t.centred for t in stack[-1]):
                raise NotAProductGame("a centred kernel of views that are absent in training")
            stack[-1] = [replace(t, slots=(*t.slots, arguments[0])) for t in stack[-1]]
        else:
            raise NotAProductGame(f"a kernel with {_what(name)}")
    return [term for term in stack[0] if term.factor != 0.0]


def _read(name: str, number: int, kind: object, arguments: list[Any]) -> list[Term]:
    if kind == "identity":
        return []  # 0 for every new example
    if name == "exp" and kind in DISTANCES:
        return [Term(exponents=((number, float(arguments[0])),))]
    if name == "copy" and kind in SUMS:
        return [Term(forms=(Form(number, 1.0, 0.0),))]
    if name == "power" and kind in SUMS:
        gamma, coef0, degree = arguments
        if degree > _core.MAX_GAME_DEGREE:
            raise NotAProductGame(f"a polynomial of degree above {_core.MAX_GAME_DEGREE}")
        return [Term(forms=(Form(number, gamma, coef0),) * degree)]
    raise NotAProductGame("a precomputed matrix, a function, or a kernel on strings or texts")


def _unit(terms: list[Term]) -> list[Term]:
    """Return terms divided by sqrt(k(x, x) k(s, s)); raise if that is not a constant."""
    if any(t.forms or t.slots or t.centred for t in terms):
        raise NotAProductGame("unit normalisation of a kernel whose k(x, x) is not constant")
    constant = sum(t.factor for t in terms)
    return [replace(t, factor=t.factor / constant) for t in terms] if constant else []


def _what(name: str) -> str:
    return {
        "exponential": "an exponential of its cosine",
        "absent": "views that may be absent",
    }.get(name, f"the instruction {name!r}")


@dataclass(frozen=True, eq=False)
class Games:
    """Computes Shapley values of decision functions, kernel by kernel.

    Attributes
    ----------
    model : the fitted model.
    players : P columns or groups of columns.
    new : the n examples to explain.
    background : B examples; a column that is not in a coalition takes its value from these.
    weights : (B,) weights of the background examples; their sum is 1.
    n_jobs : number of threads.
    """

    model: Model
    players: Players
    new: Examples
    background: Examples
    weights: np.ndarray
    n_jobs: int

    def values(self) -> np.ndarray:
        """Return the Shapley values of the decision functions, shape (n, outputs, P)."""
        model = self.model
        found = np.zeros((self.new.n, len(model.intercept), len(self.players.names)))
        whole: dict[int, np.ndarray] = {}  # weights of kernels that read one player only
        for m in np.flatnonzero(model.weights.any(axis=0)).tolist():
            player = self._only_player(m)
            if player is not None:
                mask = whole.setdefault(player, np.zeros_like(model.weights))
                mask[:, m] = model.weights[:, m]
            else:
                self._add_terms(m, found)
        for player, weights in whole.items():
            found[:, :, player] += self._gain(weights)
        return found

    def _only_player(self, m: int) -> int | None:
        """Return the one player that a kernel reads, or None if it reads several."""
        part = self.model.compiled.listing.part(np.array([m]))
        each = [self.players.reading(view) for _, view in part.layout.sources]
        read = set().union(*(one for one in each if one is not None))
        return read.pop() if len(read) == 1 and None not in each else None

    def _gain(self, weights: np.ndarray) -> np.ndarray:
        """Return the contribution of some kernels minus its background mean, (n, outputs)."""
        part = replace(self.model, weights=weights)
        mean = self.weights @ part.contributions_of(self.background, self.n_jobs).sum(axis=2)
        return part.contributions_of(self.new, self.n_jobs).sum(axis=2) - mean

    def _add_terms(self, m: int, found: np.ndarray) -> None:
        """Add the values of kernel m to `found`, shape (n, outputs, P)."""
        model, listing = self.model, self.model.compiled.listing
        kinds = [kind for kind, _ in listing.layout.sources]
        counts = np.diff([*listing.layout.sources.values(), listing.layout.n_planes])
        planes = [(k, kind) for k, kind in enumerate(kinds) for _ in range(counts[k])]
        try:
            for term in terms_of(listing.expressions[m], planes):
                coef = model.weights[:, m, None] * model.coef * term.factor
                coef = coef * model.examples.vectors[list(term.slots)].prod(axis=0)
                self._check(term, coef)
                self._add_term(term, coef, found)
        except NotAProductGame as error:
            raise ValueError(
                f"kernel {model.compiled.names[m]!r} has no Shapley values over columns: it "
                f'contains {error}; use by="kernel" or by="view", or group all columns that it '
                "reads into one player with groups="
            ) from error

    def _check(self, term: Term, coef: np.ndarray) -> None:
        for slot in term.slots:
            if any((side.vectors[slot] != 1.0).any() for side in (self.new, self.background)):
                raise NotAProductGame("views that are absent for an example or background row")
        sums, sizes = np.abs(coef.sum(axis=1)), np.abs(coef).sum(axis=1)
        if term.centred and (sums > BALANCED * sizes).any():
            raise NotAProductGame("centring, which matters as the coefficients do not sum to 0")

    def _add_term(self, term: Term, coef: np.ndarray, found: np.ndarray) -> None:
        """Add the Shapley values of a term to `found`, shape (n, outputs, P).

        `coef`, shape (outputs, n_support), are the coefficients of the support vectors.
        """
        distinct = Counter(term.forms)
        if not term.exponents and len(term.forms) == 1:
            form = term.forms[0]
            self._add_sum(form, coef, found)
        elif len(distinct) <= 1:
            constant = sum(form.coef0 for form in distinct)
            game = PowerGame(term.exponents, tuple(distinct), len(term.forms), constant)
            self._add_game(game, coef, found)
        else:
            for factor, game in polarized(term):
                self._add_game(game, factor * coef, found)

    def _owners(self, source: int) -> np.ndarray:
        (_, view) = list(self.model.compiled.listing.layout.sources)[source]
        owners = self.players.owners(view)
        if owners is None:
            raise NotAProductGame("several columns of texts that are read as one")
        return owners

    def _add_sum(self, form: Form, coef: np.ndarray, found: np.ndarray) -> None:
        """Add the Shapley values of a kernel that is a sum over columns to `found`."""
        kind, _ = list(self.model.compiled.listing.layout.sources)[form.source]
        assert isinstance(kind, str)  # a key of SUMS
        owners = self._owners(form.source)
        X, Z, S = self._sides(form.source)
        if kind == "dot":
            gains = (X - self.weights @ Z)[:, None] * (form.gamma * (coef @ S))
        else:
            gains = np.empty((len(X), len(coef), X.shape[1]))
            for f in range(X.shape[1]):
                at_x = form.gamma * SUMS[kind](X[:, f, None], S[:, f]) @ coef.T
                at_z = form.gamma * SUMS[kind](Z[:, f, None], S[:, f]) @ coef.T
                gains[:, :, f] = at_x - self.weights @ at_z
        for f in range(X.shape[1]):
            found[:, :, owners[f % len(owners)]] += gains[:, :, f]

    def _sides(self, source: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the vectors of examples, background and support vectors, each (rows, d)."""
        sides = [vectors(side, source) for side in (self.new, self.background, self.model.examples)]
        if any(side is None for side in sides):
            raise NotAProductGame("a table without vectors")
        return sides[0], sides[1], sides[2]  # type: ignore[return-value]

    def _add_game(self, game: PowerGame, coef: np.ndarray, found: np.ndarray) -> None:
        """Add the Shapley values of a game to `found`, computed in blocks of bounded memory."""
        sources = [source for source, _ in game.exponents] + [form.source for form in game.forms]
        used = np.unique(np.concatenate([self._owners(source) for source in sources]))
        kinds = [kind for kind, _ in self.model.compiled.listing.layout.sources]
        fill = _Fill({source: str(kinds[source]) for source in sources}, used, self._owners)
        sides = {source: self._sides(source) for source in set(sources)}
        n, background = self.new.n, self.background.n
        for support in _blocks(coef.shape[1], BLOCK_BYTES // (8 * len(used) * background), 16):
            at_z = fill(game, {k: (Z, S[support]) for k, (_, Z, S) in sides.items()})
            weights = np.ascontiguousarray(coef[:, support])
            width = weights.shape[1]
            for rows in _blocks(n, BLOCK_BYTES // (8 * len(used) * width), 1):
                at_x = fill(game, {k: (X[rows], S[support]) for k, (X, _, S) in sides.items()})
                values = _core.product_games(
                    at_x[0],
                    at_z[0],
                    self.weights,
                    weights,
                    at_x[1],
                    at_z[1],
                    game.constant,
                    game.degree,
                    not game.exponents,
                    self.n_jobs,
                )
                found[rows][:, :, used] += values  # a slice is a view of the array


@dataclass(frozen=True)
class PowerGame:
    """One term of a kernel, written as a power, as a game between columns.

    For each support vector, the value of the game is
    prod_e exp(-gamma_e q_e) * (constant + sum_f gamma_f q_f)^degree, with quantities q that are
    sums over columns.

    Attributes
    ----------
    exponents : a pair (source, gamma) for each exponential.
    forms : the forms f. Their coef0 is not used: `constant` contains it.
    degree : the exponent of the power.
    constant : the sum of all coef0.
    """

    exponents: tuple[tuple[int, float], ...]
    forms: tuple[Form, ...]
    degree: int
    constant: float


def polarized(term: Term) -> Iterator[tuple[float, PowerGame]]:
    """Yield pairs (factor, game); a term with forms y_i is the sum of factor * game.

    By polarisation, y_1 ... y_m is the sum over all signs e_2, ..., e_m of
    (prod e_i) (y_1 + sum e_i y_i)^m / (2^(m-1) m!).
    """
    first, *others = term.forms
    m = len(term.forms)
    if m > MOST_POLARIZED:
        raise NotAProductGame(f"a product of more than {MOST_POLARIZED} linear kernels")
    for signs in product((1.0, -1.0), repeat=m - 1):
        forms = [first] + [
            Form(form.source, sign * form.gamma, sign * form.coef0)
            for sign, form in zip(signs, others, strict=True)
        ]
        constant = sum(form.coef0 for form in forms)
        factor = float(np.prod(signs)) / (2.0 ** (m - 1) * factorial(m))
        yield factor, PowerGame(term.exponents, tuple(forms), m, constant)


@dataclass(frozen=True, eq=False)
class _Fill:
    """Computes the factor and the summand that each player contributes to a `PowerGame`.

    Attributes
    ----------
    kinds : from the number of a source to the name of its quantity, a key of DISTANCES or SUMS
    used : numbers of the players that the game reads, shape (k,)
    owners : function from the number of a source to the player of each of its features
    """

    kinds: dict[int, str]
    used: np.ndarray
    owners: Callable[[int], np.ndarray]

    def __call__(
        self, game: PowerGame, tables: dict[int, tuple[np.ndarray, np.ndarray]]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the factor and the summand of each player, each (players, rows, support).

        `tables` has the vectors of rows and support vectors by source. The summand is None if the
        game has no forms.
        """
        rows, support = next(iter(tables.values()))
        shape = (len(self.used), len(rows), len(support))
        exponents = np.zeros(shape)
        for source, gamma in game.exponents:
            self._add(exponents, tables[source], source, DISTANCES, -gamma)
        factors = np.exp(exponents, out=exponents)
        if not game.degree:
            return factors, None
        sums = np.zeros(shape)
        for form in game.forms:
            self._add(sums, tables[form.source], form.source, SUMS, form.gamma)
        return factors, sums

    def _add(
        self,
        to: np.ndarray,
        tables: tuple[np.ndarray, np.ndarray],
        source: int,
        functions: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]],
        gamma: float,
    ) -> None:
        """Add gamma times the function of each feature to `to`, at the player of the feature.

        `functions` maps the names of quantities to their functions of one feature.
        """
        X, S = tables
        owners = np.searchsorted(self.used, self.owners(source))
        for f in range(X.shape[1]):
            to[owners[f % len(owners)]] += gamma * functions[self.kinds[source]](
                X[:, f, None], S[:, f]
            )


def _blocks(count: int, most: int, least: int) -> Iterator[slice]:
    """Yield slices of range(count) of length `most`, rounded to a positive multiple of `least`."""
    step = max(least, most // least * least)
    for first in range(0, count, step):
        yield slice(first, min(count, first + step))

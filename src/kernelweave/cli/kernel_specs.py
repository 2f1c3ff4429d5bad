"""Kernel specifications: ``rbf(gamma=0.1,1,10)``, ``wd(20, split=degree)``, ``rbf(1) * linear``.

    kernels :  term + term + ...
    term    :  factor * factor * ...
    factor  :  name, name(arguments), per_feature(kernels), or exponential(kernels, gamma=...)

Arguments are separated by commas. ``name=value`` sets a parameter; values without a name after it
are further values of the same parameter, which define a family. Values before the first name are
positional; a kernel with one positional parameter takes all of them as a family. A parameter that
is a pair, such as the centre of a gapped k-mer kernel, has the same form: ``centre=50,50``.

Length, nesting and the number of combined kernels are bounded, since each level of a combination
takes a level of recursion wherever the kernel is used.
"""

from __future__ import annotations

import re
from dataclasses import fields

from .. import kernels
from ..kernels import Kernel, per_feature

NAMES: dict[str, type[Kernel]] = {
    "linear": kernels.Linear,
    "poly": kernels.Polynomial,
    "sigmoid": kernels.Sigmoid,
    "rbf": kernels.RBF,
    "laplacian": kernels.Laplacian,
    "chi2": kernels.ChiSquared,
    "clinical": kernels.Clinical,
    "intersection": kernels.Intersection,
    "words": kernels.BagOfWords,
    "ngram": kernels.NGram,
    "spectrum": kernels.Spectrum,
    "substring": kernels.Substring,
    "wd": kernels.WeightedDegree,
    "wds": kernels.WeightedDegreeShift,
    "locality": kernels.LocalityImproved,
    "gkm": kernels.GappedKmer,
    "mismatch": kernels.Mismatch,
}
PER_FEATURE, EXPONENTIAL = "per_feature", "exponential"  # kernels made of kernels
TOKEN = re.compile(r"\s*(?:([+*(),=])|'([^']*)'|\"([^\"]*)\"|([^\s+*(),='\"][^+*(),='\"]*))")
PLUS = re.compile(r"\+\d+")
EXPONENT = re.compile(r"(\d\.?)[eE]$")
WORDS = {"true": True, "false": False, "none": None}
MAX_CHARACTERS = 100_000  # of a specification
MAX_DEPTH = 20  # nesting depth of per_feature(...) and exponential(...)
MAX_COMBINED = 100  # kernels joined by + and *
SHOWN = 200  # number of characters of a specification in messages


def parse_kernel(spec: str) -> Kernel:
    """Return the kernel that a specification describes.

    Parameters
    ----------
    spec : str

    Raises
    ------
    ValueError
        If the specification is malformed or too large; the message contains it and the accepted
        forms.
    """
    try:
        if len(spec) > MAX_CHARACTERS:
            raise ValueError(f"has {len(spec)} characters; at most {MAX_CHARACTERS} are accepted")
        parser = _Parser(_tokens(spec))
        kernel = parser.sum()
        parser.end()
    except (ValueError, TypeError) as error:
        shown = spec if len(spec) <= SHOWN else f"{spec[:SHOWN]}..."
        raise ValueError(f"kernel {shown!r}: {error}") from None
    return kernel


def _tokens(spec: str) -> list[tuple[str, str]]:
    """Return the tokens of a specification as pairs (kind, text).

    The kind is "word", "text" for quoted text, or a punctuation mark itself.
    """
    tokens: list[tuple[str, str]] = []
    at, end = 0, len(spec.rstrip())
    while at < end:
        match = TOKEN.match(spec, at)
        if match is None:
            raise ValueError(f"cannot parse {spec[at:end].strip()[:SHOWN]!r}")
        mark, *quoted, word = match.groups()
        at = match.end()
        if mark:
            tokens.append((mark, mark))
        elif word is None:
            tokens.append(("text", next(text for text in quoted if text is not None)))
        else:
            if EXPONENT.search(word) and (rest := PLUS.match(spec, at)):  # 1e+3
                word, at = word + rest[0], rest.end()
            tokens.append(("word", word.strip()))
    return tokens


def _value(kind: str, text: str) -> object:
    """Return a word as int, float, bool or None if it is one of these; quoted text as it is."""
    if kind == "text":
        return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return WORDS.get(text.lower(), text)


class _Parser:
    """Recursive-descent parser."""

    def __init__(self, tokens: list[tuple[str, str]]):
        self.tokens, self.at = tokens, 0
        self.depth, self.combined = 0, 0

    def peek(self, ahead: int = 0) -> str:
        """Return the kind of the token `ahead` tokens after the next, "end" after the last."""
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else "end"

    def take(self, *kinds: str) -> str:
        """Return the text of the next token, which must be of one of the kinds."""
        if self.peek() not in kinds:
            found = self.tokens[self.at][1] if self.peek() != "end" else "the end"
            raise ValueError(f"expected {' or '.join(kinds)}, found {found}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def end(self) -> None:
        """Raise ValueError if there are more tokens."""
        if self.peek() != "end":
            self.take("end")

    def sum(self) -> Kernel:
        kernel = self.product()
        while self.peek() == "+":
            self.take("+")
            kernel = kernel + self.product()
        return kernel

    def product(self) -> Kernel:
        kernel = self.factor()
        while self.peek() == "*":
            self.take("*")
            kernel = kernel * self.factor()
        return kernel

    def factor(self) -> Kernel:
        name = self.take("word").lower()
        if name in (PER_FEATURE, EXPONENTIAL):
            return self.wrapped(name)
        if name not in NAMES:
            known = ", ".join([*NAMES, PER_FEATURE, EXPONENTIAL])
            raise ValueError(f"there is no {name[:SHOWN]!r}; kernels are {known}")
        self.combined += 1
        if self.combined > MAX_COMBINED:
            raise ValueError(
                f"more than {MAX_COMBINED} kernels are combined; pass several --kernel options "
                "instead"
            )
        if self.peek() != "(":
            return _made(NAMES[name], [], {})
        self.take("(")
        return _made(NAMES[name], *self.arguments())

    def wrapped(self, name: str) -> Kernel:
        """Parse the arguments of `per_feature` or `exponential`, and return the kernel."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"{name} is nested more than {MAX_DEPTH} times")
        self.take("(")
        kernel = self.sum()
        if name == EXPONENTIAL and self.peek() == ",":
            self.take(",")
            bare, named = self.arguments()
            kernel = _made(kernels.Exponential, [kernel, *([several(bare)] if bare else [])], named)
        else:
            self.take(")")
            kernel = per_feature(kernel) if name == PER_FEATURE else kernels.Exponential(kernel)
        self.depth -= 1
        return kernel

    def arguments(self) -> tuple[list[object], dict[str, object]]:
        """Return positional and named arguments, up to the closing bracket."""
        bare: list[object] = []
        named: dict[str, list[object]] = {}
        values = bare
        while self.peek() != ")":
            if self.peek(1) == "=":
                values = named.setdefault(self.take("word"), [])
                self.take("=")
            values.append(self.tuple() if self.peek() == "(" else self.value())
            if self.peek() != ")":
                self.take(",")
        self.take(")")
        return bare, {name: several(found) for name, found in named.items()}

    def tuple(self) -> tuple[object, ...]:
        """Return the values in a pair of brackets, such as those of ``centre=(50, 50)``."""
        self.take("(")
        values = [self.value()]
        while self.peek() == ",":
            self.take(",")
            values.append(self.value())
        self.take(")")
        return tuple(values)

    def value(self) -> object:
        """Return a word or a quoted text."""
        kind = self.peek()
        return _value(kind, self.take("word", "text"))


def several(values: list[object]) -> object:
    """Return a single value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def _made(kernel: type[Kernel], bare: list[object], named: dict[str, object]) -> Kernel:
    """Return a kernel with positional parameters, `bare`, and named ones."""
    places = [field.name for field in fields(kernel) if field.init and not field.kw_only]  # type: ignore[arg-type]
    if len(places) == 1 and len(bare) > 1:
        bare = [tuple(bare)]
    accepted = [field.name for field in fields(kernel) if field.init]  # type: ignore[arg-type]
    unknown = [name for name in named if name not in accepted]
    if unknown or len(bare) > len(places):
        wrong = f"has no parameter {unknown[0]!r}" if unknown else f"takes {len(places)} values"
        raise ValueError(f"{kernel.__name__} {wrong}; its parameters are {', '.join(accepted)}")
    return kernel(*bare, **named)

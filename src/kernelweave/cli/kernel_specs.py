"""Kernels as short texts: ``rbf(gamma=0.1,1,10)``, ``wd(20, split=degree)``, ``rbf(1) * linear``.

    kernels :  term + term + ...
    term    :  factor * factor * ...
    factor  :  name, name(arguments), or per_feature(kernels)

Arguments are separated by commas. One with ``=`` names a parameter, and bare values behind it are
further values of the same parameter, which make a family. Bare values in front are the parameters
in their order; a kernel with one such parameter takes all of them.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from .. import kernels
from ..kernels import Kernel, per_feature

NAMES: dict[str, type[Kernel]] = {
    "linear": kernels.Linear,
    "poly": kernels.Polynomial,
    "rbf": kernels.RBF,
    "laplacian": kernels.Laplacian,
    "chi2": kernels.ChiSquared,
    "intersection": kernels.Intersection,
    "words": kernels.BagOfWords,
    "ngram": kernels.NGram,
    "spectrum": kernels.Spectrum,
    "wd": kernels.WeightedDegree,
    "wds": kernels.WeightedDegreeShift,
    "locality": kernels.LocalityImproved,
}
TOKEN = re.compile(r"\s*(?:([+*(),=])|'([^']*)'|\"([^\"]*)\"|([^\s+*(),='\"][^+*(),='\"]*))")
EXPONENT = re.compile(r"(\d\.?)[eE]$")
WORDS = {"true": True, "false": False, "none": None}


def parse_kernel(spec: str) -> Kernel:
    """Return the kernel that a text describes.

    Raises
    ------
    ValueError : where it describes none; the message shows the text and what is accepted.
    """
    try:
        parser = _Parser(_tokens(spec))
        kernel = parser.sum()
        parser.end()
    except (ValueError, TypeError) as error:
        raise ValueError(f"kernel {spec!r}: {error}") from None
    return kernel


def _tokens(spec: str) -> list[tuple[str, Any]]:
    """Return (mark, None) for punctuation and ("value", value) for names, numbers and texts."""
    tokens: list[tuple[str, Any]] = []
    at = 0
    while spec[at:].strip():
        match = TOKEN.match(spec, at)
        if match is None:
            raise ValueError(f"cannot read {spec[at:].strip()!r}")
        mark, *quoted, word = match.groups()
        at = match.end()
        if mark:
            tokens.append((mark, None))
        elif word is None:
            tokens.append(("text", next(text for text in quoted if text is not None)))
        else:
            if EXPONENT.search(word) and (rest := re.match(r"\+\d+", spec[at:])):  # as in 1e+3
                word, at = word + rest[0], at + rest.end()
            tokens.append(("word", word.strip()))
    return tokens


def _value(kind: str, text: str) -> Any:
    """Return a text as a number, a truth value or None where it is one of these."""
    if kind == "text":
        return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return WORDS.get(text.lower(), text)


class _Parser:
    """Reads tokens from first to last."""

    def __init__(self, tokens: list[tuple[str, Any]]):
        self.tokens, self.at = tokens, 0

    def peek(self, ahead: int = 0) -> str:
        """The kind of the next token; "end" behind the last."""
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else "end"

    def take(self, *kinds: str) -> Any:
        if self.peek() not in kinds:
            found = self.tokens[self.at][1] or self.peek() if self.peek() != "end" else "the end"
            raise ValueError(f"expected {' or '.join(kinds)}, found {found}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def end(self) -> None:
        self.take("end") if self.peek() != "end" else None

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
        name = str(self.take("word")).lower()
        if name == "per_feature":
            self.take("(")
            kernel = self.sum()
            self.take(")")
            return per_feature(kernel)
        if name not in NAMES:
            raise ValueError(f"there is no {name!r}; kernels are {', '.join(NAMES)}, per_feature")
        return _made(NAMES[name], *(self.arguments() if self.peek() == "(" else ([], {})))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        bare: list[Any] = []
        named: dict[str, list[Any]] = {}
        values = bare
        self.take("(")
        while self.peek() != ")":
            if self.peek(1) == "=":
                values = named.setdefault(self.take("word"), [])
                self.take("=")
            kind = self.peek()
            values.append(_value(kind, self.take("word", "text")))
            if self.peek() != ")":
                self.take(",")
        self.take(")")
        return bare, {name: several(found) for name, found in named.items()}


def several(values: list[Any]) -> Any:
    """Return the only value, or all of them as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def _made(kernel: type[Kernel], bare: list[Any], named: dict[str, Any]) -> Kernel:
    """Return a kernel with its parameters."""
    places = [field.name for field in fields(kernel) if field.init and not field.kw_only]  # type: ignore[arg-type]
    if len(places) == 1 and len(bare) > 1:
        bare = [tuple(bare)]
    accepted = [field.name for field in fields(kernel) if field.init]  # type: ignore[arg-type]
    unknown = [name for name in named if name not in accepted]
    if unknown or len(bare) > len(places):
        wrong = f"has no parameter {unknown[0]!r}" if unknown else f"takes {len(places)} values"
        raise ValueError(f"{kernel.__name__} {wrong}; its parameters are {', '.join(accepted)}")
    return kernel(*bare, **named)

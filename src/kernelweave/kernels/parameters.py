"""Checks of kernel parameters, members of families, and names of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from kernelweave.common.numbers import as_number, is_whole
from kernelweave.kernels.data.columns import Columns

GAMMAS = ("auto", "scale", "median")
LEARNED = "learn"  # gamma of RBF kernels for `MKLWidths`, which replaces it by learned values
MOST = 2**31 - 1  # largest integer that the core accepts (32 bits)
Parameter: TypeAlias = Any
"""A parameter as users pass it, such as a number, or a sequence of numbers that makes a family.
Kernels check it and keep it in one form: a value, a tuple, an `Alphabet`."""

Parameters: TypeAlias = dict[str, Parameter]
"""Checked parameters of a kernel, by name."""


def _gamma(value: Parameter) -> float | str | None:
    if value is None or (isinstance(value, str) and value in GAMMAS):
        return value
    if 0 < as_number(value) < np.inf:
        return float(value)
    raise ValueError('a positive number, None or "auto" (1 / n_features), "scale" or "median"')


def _degree(value: Parameter) -> int:
    if 1 <= as_number(value) <= MOST and value == int(value):
        return int(value)
    raise ValueError(f"an integer from 1 to {MOST:,}")


def _coef0(value: Parameter) -> float:
    if 0 <= as_number(value) < np.inf:
        return float(value)
    raise ValueError("a number >= 0 (with a negative one the kernel is not positive semidefinite)")


def whole(kernel: str, name: str, value: Parameter, least: int = 1, most: int = MOST) -> int:
    """Return an integer parameter as an int.

    Parameters
    ----------
    kernel, name : str
        Names of the kernel and the parameter, for the error message.
    value : any object
        Value to check.
    least, most : int
        Range of accepted values.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `value` is not an integer in the range.
    """
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise ValueError(f"{kernel}: {name} must be an integer from {least} to {most:,}, got {value!r}")


def as_family(kernel: str, name: str, value: Parameter) -> object:
    """Return a single value unchanged, and a sequence as a tuple; NumPy integers become ints.

    Parameters
    ----------
    kernel, name : str
        Names of the kernel and the parameter, for the error message.
    value : any object
        A single value, or the sequence of a family.

    Raises
    ------
    ValueError
        If `value` is an empty sequence.
    """
    if not isinstance(value, list | tuple | range | np.ndarray):
        return int(value) if is_whole(value) else value
    if len(value) == 0:
        raise ValueError(f"{kernel}: {name} is an empty sequence; a family has at least one member")
    return tuple(int(one) if is_whole(one) else one for one in value)


def one_of(kernel: str, name: str, value: object, accepted: Sequence[str]) -> None:
    """Raise ValueError unless a parameter has one of the accepted values.

    Parameters
    ----------
    kernel, name : str
        Names of the kernel and the parameter, for the error message.
    value : any object
        Value to check.
    accepted : sequence of str
        The accepted values.
    """
    if value not in accepted:
        raise ValueError(f"{kernel}: {name} must be one of {accepted}, got {value!r}")


def _finite(value: Parameter) -> float:
    if -np.inf < as_number(value) < np.inf:
        return float(value)
    raise ValueError("a finite number")


CHECKS: dict[str, Callable[[object], object]] = {
    "gamma": _gamma,
    "degree": _degree,
    "coef0": _coef0,
}
OTHER_CHECKS = {("Sigmoid", "coef0"): _finite}  # exceptions from CHECKS, by kernel
NO_DISTANCE = ("Polynomial", "Sigmoid")  # kernels that gamma="median" does not apply to


def checked(kernel: str, name: str, value: Parameter) -> object:
    """Return a validated parameter; a sequence (of a family) becomes a tuple.

    Parameters
    ----------
    kernel : str
        Name of the kernel, for the error message.
    name : {"gamma", "degree", "coef0"}
        Name of the parameter.
    value : any object
        Value to check.

    Returns
    -------
    float, int, str or None, or a tuple of them

    Raises
    ------
    ValueError
        If `value` is not accepted.
    """
    if (kernel, name) == ("RBF", "gamma") and isinstance(value, str) and value == LEARNED:
        return value
    many = isinstance(value, list | tuple | range) or getattr(value, "ndim", 0) == 1
    if kernel in NO_DISTANCE and "median" in (value if many else [value]):
        raise ValueError(
            f'{kernel}: gamma must be a positive number, None or "auto" (1 / n_features) or '
            f'"scale", got {value!r}; "median" is for functions of a distance, such as RBF'
        )
    if many and len(value) == 0:
        raise ValueError(f"{kernel}: {name} is an empty sequence; a family has at least one member")
    check = OTHER_CHECKS.get((kernel, name), CHECKS[name])
    try:
        return tuple(check(one) for one in value) if many else check(value)
    except ValueError as accepted:
        raise ValueError(f"{kernel}: {name} must be {accepted}, got {value!r}") from None


def members(kernel: str, parameters: Parameters) -> list[Parameters]:
    """Return the parameters of each member of a family; single values apply to all members.

    Raises
    ------
    ValueError
        If there are sequences of different lengths.
    """
    lengths = {name: len(v) for name, v in parameters.items() if isinstance(v, tuple)}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"{kernel}: sequences of parameters must have the same length, got {lengths}"
        )
    if not lengths:
        return [parameters]
    columns = [v if name in lengths else repeat(v) for name, v in parameters.items()]
    return [dict(zip(parameters, member, strict=True)) for member in zip(*columns, strict=False)]


def label(kernel: str, parameters: Parameters, columns: object) -> str:
    """Return the name of a kernel, such as ``RBF gamma=0.1 on 200 columns``."""
    written = [f"{name}={_formatted(v)}" for name, v in parameters.items() if v is not None]
    where = columns.label if isinstance(columns, Columns) else columns
    on = [f"on {where}"] if where is not None and where != "" else []
    return " ".join([kernel, *written, *on])


def _formatted(value: object) -> str:
    if isinstance(value, tuple):
        values = [_formatted(one) for one in value]
        return f"({', '.join(values if len(values) <= 3 else [values[0], '...', values[-1]])})"
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def hashable(selection: object) -> object:
    """Return a value of ``columns=`` in a hashable form: lists and arrays become tuples."""
    if hasattr(selection, "tolist"):  # an array, or the index of a frame
        selection = selection.tolist()
    if isinstance(selection, list | tuple):
        return tuple(hashable(one) for one in selection)
    return selection

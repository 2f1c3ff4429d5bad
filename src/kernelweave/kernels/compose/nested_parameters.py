"""Parameters of kernels for scikit-learn's searches, such as ``kernels__mrna__gamma``.

Kernels are immutable: `set_params` returns a new kernel, and clones are the kernel itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

Same = TypeVar("Same", bound="Nested")

DETERMINED = ("vocabulary", "length", "negative", "reference")  # fields that `resolve` determines


class Nested:
    """A frozen dataclass with scikit-learn's ``get_params`` and ``set_params`` for its fields."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to include the parameters of nested kernels, as in ``left__gamma``.

        Returns
        -------
        dict from str to values
        """
        names = [f.name for f in fields(self) if f.name not in DETERMINED]  # type: ignore[arg-type]
        params = {name: getattr(self, name) for name in names}
        return params | nested_params(params) if deep else params

    def set_params(self: Same, **params: object) -> Same:
        """Return a kernel with other parameters; this kernel is not changed.

        Parameters
        ----------
        **params
            New values by name. ``left__gamma`` is the parameter gamma of the kernel ``left``.

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            If the kernel has no parameter of a given name.
        """
        own = self.get_params(deep=False)
        changed = with_params(own, params, type(self).__name__)
        return replace(self, **changed)  # type: ignore[type-var]

    def __sklearn_clone__(self: Same) -> Same:
        return self

    def __deepcopy__(self: Same, memo: dict[int, object]) -> Same:
        return self


def by_name(kernels: object) -> dict[str, object]:
    """Return the kernels of a collection by the names that parameters use: keys or positions."""
    if isinstance(kernels, Mapping):
        return {str(key): kernel for key, kernel in kernels.items()}
    if isinstance(kernels, list | tuple):
        return {str(position): kernel for position, kernel in enumerate(kernels)}
    return {}


def nested_params(params: dict[str, object]) -> dict[str, object]:
    """Return the parameters of all kernels in `params`, by names such as ``kernels__0__gamma``."""
    found: dict[str, object] = {}
    for name, value in params.items():
        if isinstance(value, Nested):
            inner = value.get_params()
        else:
            inner = {key: one for key, one in by_name(value).items() if isinstance(one, Nested)}
            inner |= nested_params(inner)
        found |= {f"{name}__{key}": one for key, one in inner.items()}
    return found


def with_params(
    values: dict[str, object], params: dict[str, object], owner: str
) -> dict[str, object]:
    """Return a copy of `values` in which some values, or parameters of kernels, are replaced.

    Parameters
    ----------
    values : dict from names to values
        All parameters of an object.
    params : dict from names, such as ``kernels__0__gamma``, to new values
        The parameters to replace.
    owner : str
        Name of the object that has the values, for the error message.

    Raises
    ------
    ValueError
        If a parameter does not exist.
    """
    changed = dict(values)
    for name, value in sorted(params.items(), key=lambda one: one[0].count("__")):
        first, _, rest = name.partition("__")
        if first not in changed:
            raise ValueError(
                f"{owner} has no parameter {first!r}; it has {', '.join(map(repr, changed))}"
            )
        if rest and not isinstance(changed[first], Nested) and not by_name(changed[first]):
            raise ValueError(
                f"{owner}: {first}={changed[first]!r} has no parameter {rest!r}; pass a kernel "
                f"that has it, such as {first}=RBF()"
            )
        changed[first] = _with_part(changed[first], rest, value, owner) if rest else value
    return changed


def _with_part(value: Any, name: str, part: object, owner: str) -> object:
    """Return a kernel, or a collection of kernels, with one parameter replaced."""
    if isinstance(value, Nested):
        return value.set_params(**{name: part})
    parts = with_params(by_name(value), {name: part}, owner)
    if isinstance(value, Mapping):
        return dict(zip(value, parts.values(), strict=True))
    return type(value)(parts.values())

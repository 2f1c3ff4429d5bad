"""Parameters of kernels within reach of a search, such as ``kernels__mrna__gamma``.

Kernels never change: `set_params` returns another one. So there is no need to copy them either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

Same = TypeVar("Same", bound="Nested")

FOUND = ("vocabulary", "length", "negative", "reference")  # by `resolve`: no choice of a user


class Nested:
    """A frozen dataclass whose fields can be read and replaced by name, however deep."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep``: those of the kernels that it is made of too."""
        names = [f.name for f in fields(self) if f.name not in FOUND]  # type: ignore[arg-type]
        params = {name: getattr(self, name) for name in names}
        return params | nested_params(params) if deep else params

    def set_params(self: Same, **params: Any) -> Same:
        """Return the same kernel with other parameters; ``left__gamma`` is one of its ``left``."""
        own = self.get_params(deep=False)
        changed = with_params(own, params, type(self).__name__)
        return replace(self, **changed)  # type: ignore[type-var]

    def __sklearn_clone__(self: Same) -> Same:
        return self

    def __deepcopy__(self: Same, memo: dict[int, Any]) -> Same:
        return self


def by_name(kernels: Any) -> dict[str, Any]:
    """Return several kernels by what a parameter calls them: a key, or a position."""
    if isinstance(kernels, Mapping):
        return {str(key): kernel for key, kernel in kernels.items()}
    if isinstance(kernels, list | tuple):
        return {str(position): kernel for position, kernel in enumerate(kernels)}
    return {}


def nested_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of all kernels among some values, such as ``kernels__0__gamma``."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, Nested):
            inner = value.get_params()
        else:
            inner = {key: one for key, one in by_name(value).items() if isinstance(one, Nested)}
            inner |= nested_params(inner)
        found |= {f"{name}__{key}": one for key, one in inner.items()}
    return found


def with_params(values: dict[str, Any], params: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return values by name, some of them replaced, or parts of them.

    Raises
    ------
    ValueError : for a name that `owner` does not have.
    """
    changed = dict(values)
    for name, value in sorted(params.items(), key=lambda one: one[0].count("__")):
        first, _, rest = name.partition("__")
        if first not in changed:
            raise ValueError(
                f"{owner} has no parameter {first!r}; it has {', '.join(map(repr, changed))}"
            )
        changed[first] = _with_part(changed[first], rest, value, owner) if rest else value
    return changed


def _with_part(value: Any, name: str, part: Any, owner: str) -> Any:
    """Return a kernel, or several of them, with one parameter replaced."""
    if isinstance(value, Nested):
        return value.set_params(**{name: part})
    parts = with_params(by_name(value), {name: part}, owner)
    if isinstance(value, Mapping):
        return dict(zip(value, parts.values(), strict=True))
    return type(value)(parts.values())

"""Registry of the classes whose objects model files may contain, under permanent names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from ...common.cached_property import cached_property

Class = TypeVar("Class", bound=type)
Factory = TypeVar("Factory", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """Entry of the registry.

    Attributes
    ----------
    name : str
        Name of the class in files; it never changes.
    cls : type
        The registered class.
    fields : tuple of str
        Arguments of the constructor, which are attributes of the object, too.
    check : callable
        Called with each object that is written or was read; raises ValueError for objects that a
        file must not contain.
    make : callable
        Returns an object, given its fields as keyword arguments.
    """

    name: str
    cls: type
    fields: tuple[str, ...]
    check: Callable[[Any], None]
    make: Callable[..., object]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """Types of the fields."""
        from ...kernels import Kernel  # which some modules import for type checking only

        cls: Any = self.cls
        annotated = cls if dataclasses.is_dataclass(cls) else cls.__init__
        return get_type_hints(annotated, localns={"Kernel": Kernel})


_BY_NAME: dict[str, Entry] = {}
_BY_CLASS: dict[type, Entry] = {}


def registered(
    name: str,
    *,
    fields: Sequence[str] | None = None,
    check: Callable[[Any], None] = lambda value: None,
) -> Callable[[Class], Class]:
    """Return a decorator that registers a class whose objects files may contain.

    Parameters
    ----------
    name : str
        Permanent name of the class in files; the class itself may be renamed.
    fields : sequence of str, optional
        Arguments of the constructor. Default: the fields of the dataclass.
    check : callable
        Raises ValueError for an object that a file must not contain.

    Raises
    ------
    ValueError
        If the name is in use.
    """

    def register(cls: Class) -> Class:
        if name in _BY_NAME:
            raise ValueError(f"{name!r} is registered for {_BY_NAME[name].cls}")
        found = fields
        if found is None:
            found = [field.name for field in dataclasses.fields(cls) if field.init]
        _BY_NAME[name] = _BY_CLASS[cls] = Entry(name, cls, tuple(found), check, cls)
        return cls

    return register


def formerly(name: str, cls: type) -> Callable[[Factory], Factory]:
    """Return a decorator for a function that converts objects of earlier versions.

    Parameters
    ----------
    name : str
        Name of the class in files of earlier versions; nothing is written under it.
    cls : type
        The registered class, whose fields had another meaning.
    """

    def register(make: Factory) -> Factory:
        now = _BY_CLASS[cls]
        _BY_NAME[name] = dataclasses.replace(now, name=name, make=make)
        return make

    return register


def entry_of_name(name: object) -> Entry:
    """Return the entry of a name; raise ValueError if it is not registered."""
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ValueError(f"{name!r} is not the name of a registered class")
    return _BY_NAME[name]


def entry_of_class(cls: type) -> Entry | None:
    """Return the entry of a class, or None; subclasses of registered classes are not registered."""
    return _BY_CLASS.get(cls)

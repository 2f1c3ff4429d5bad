"""The classes that model files may hold, each under a name that outlives its name in the code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

Class = TypeVar("Class", bound=type)
Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class Stored:
    """What a file says of the objects of a class.

    Attributes
    ----------
    name : what files call the class; it never changes.
    cls : the class.
    fields : the arguments that make an equal object, which are its attributes too.
    check : is called with an object that is written or was read; raises ValueError where a file
        may not hold it.
    make : makes an object of its fields.
    """

    name: str
    cls: type
    fields: tuple[str, ...]
    check: Callable[[Any], None]
    make: Callable[..., Any]

    def hints(self, names: dict[str, Any]) -> dict[str, Any]:
        """Return the types of the fields; `names` are those that annotations do not import."""
        typed: Any = self.cls
        return get_type_hints(
            typed if dataclasses.is_dataclass(typed) else typed.__init__, localns=names
        )


_BY_NAME: dict[str, Stored] = {}
_BY_CLASS: dict[type, Stored] = {}


def stored(
    name: str,
    *,
    fields: Sequence[str] | None = None,
    check: Callable[[Any], None] = lambda value: None,
) -> Callable[[Class], Class]:
    """Return a decorator for a class whose objects may be in files.

    Parameters
    ----------
    name : what files call the class, whatever becomes of its name in the code.
    fields : the arguments of its constructor; those of a dataclass by default.
    check : raises ValueError for an object that a file may not hold.
    """

    def register(cls: Class) -> Class:
        if name in _BY_NAME:
            raise ValueError(f"{name!r} is the name of {_BY_NAME[name].cls} in files")
        found = fields
        if found is None:
            found = [field.name for field in dataclasses.fields(cls) if field.init]
        _BY_NAME[name] = _BY_CLASS[cls] = Stored(name, cls, tuple(found), check, cls)
        return cls

    return register


def formerly(name: str, cls: type) -> Callable[[Maker], Maker]:
    """Return a decorator for what makes objects of a class from what earlier versions wrote.

    Parameters
    ----------
    name : what files called the class at that time; nothing is written under it.
    cls : the class, whose fields meant something else.
    """

    def register(make: Maker) -> Maker:
        now = _BY_CLASS[cls]
        _BY_NAME[name] = dataclasses.replace(now, name=name, make=make)
        return make

    return register


def stored_as(name: Any) -> Stored:
    """Return what has a name in files; raise ValueError where nothing has it."""
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ValueError(f"{name!r} is the name of nothing that files hold")
    return _BY_NAME[name]


def stored_class(cls: type) -> Stored | None:
    """Return what files say of a class; None where they cannot hold it. Subclasses are others."""
    return _BY_CLASS.get(cls)

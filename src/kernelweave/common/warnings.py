"""Warnings that point at the line of the caller's code, not at a line of this package."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

PACKAGE = __name__.partition(".")[0]
# Modules of the standard library whose Python frames lie between two frames of the package:
# cached properties, dataclasses.replace and context managers.
BETWEEN = ("contextlib", "dataclasses", "functools")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that is attributed to the first frame outside the package.

    Parameters
    ----------
    message : str
    category : subclass of Warning
    """
    warnings.warn(message, category, stacklevel=_levels_to_caller(sys._getframe(1)) + 1)


def _levels_to_caller(frame: FrameType) -> int:
    """Return the level of the first frame outside the package; `frame` is level 1.

    If the whole stack belongs to the package, as in a thread that it has started, the level of the
    outermost frame is returned.
    """
    level = 1
    while _is_inside(frame) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(frame: FrameType) -> bool:
    # Methods that dataclasses generate have no file, but the globals of the module of the class.
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == PACKAGE or module in BETWEEN

"""Findings of the fuzzers: crashes, hangs, undocumented errors, and false statements."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

DOCUMENTED = (ValueError, TypeError, MemoryError, NotFittedError, InvalidParameterError)
FINDINGS = ("crash", "hang", "error", "warning", "lie")


class Lie(Exception):
    """A reported value of a model is false."""


class Rounded(Exception):
    """A gap exceeds the reported one by rounding that a warning names, or that is below `tol`."""


@dataclass(frozen=True)
class Verdict:
    """The result of an input: `kind` is "done", "refused", "rounded" or one of `FINDINGS`."""

    kind: str
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether the library must be corrected."""
        return self.kind in FINDINGS


def judged(run: Callable[[bytes], None], data: bytes) -> Verdict:
    """Return the verdict of a target on an input."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)  # NumPy's: something went wrong unseen
            run(data)
    except Lie as error:
        return Verdict("lie", str(error))
    except Rounded as error:
        return Verdict("rounded", str(error))
    except RuntimeWarning as error:
        kind = "refused" if _is_of_validation(error) else "warning"
        return Verdict(kind, traceback.format_exc())
    except MemoryError:
        return Verdict("refused", "MemoryError")
    except Exception as error:
        documented = type(error) in DOCUMENTED and str(error)  # no subclasses
        return Verdict("refused" if documented else "error", traceback.format_exc())
    return Verdict("done")


def _is_of_validation(warning: Warning) -> bool:
    """Whether scikit-learn warned while it looked for values that are not finite."""
    frames = traceback.extract_tb(warning.__traceback__)
    return any("/sklearn/utils/validation.py" in frame.filename for frame in frames)

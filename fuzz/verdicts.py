"""What counts as a finding: crashes, hangs, errors outside the documented types, and lies."""

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
    """What a model says of itself is not so."""


class Rounded(Exception):
    """A gap is larger than reported by rounding that was told, or that is below `tol`."""


@dataclass(frozen=True)
class Verdict:
    """What came of an input: `kind` is "done", "refused", "rounded" or one of `FINDINGS`."""

    kind: str
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether it has to be mended."""
        return self.kind in FINDINGS


def judged(run: Callable[[bytes], None], data: bytes) -> Verdict:
    """Run a target on an input and say what came of it."""
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

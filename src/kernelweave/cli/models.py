"""Loading the model of a command, and reading its classes."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..estimators.fitted import FittedEstimator


# Endings, before .gz, of compressed files that are not models.
OTHER_FILES = (".fa", ".fasta", ".fna", ".fq", ".bed", ".narrowpeak", ".csv", ".tsv", ".vcf")


def load_model(
    path: str, jobs: int | None = None, other: str | None = None, key: bytes | None = None
) -> FittedEstimator:
    """Return the fitted estimator in a file.

    Parameters
    ----------
    path : str
        The argument MODEL.
    jobs : int or None
        Number of threads of the estimator; None for one.
    other : str or None
        The second positional argument; if it is a model and `path` is not, the error asks
        whether the two were swapped.
    key : bytes or None
        Secret key of the model's signature; None: the signature is not checked.

    Raises
    ------
    ValueError
        If the file is not a model, or its signature does not match the key.
    """
    from .. import load

    if os.path.isfile(path) and not _may_be_model(path):
        if other is not None and os.path.isfile(other) and _may_be_model(other):
            hint = f"did you swap the arguments? {other!r} looks like one, and MODEL comes first"
        else:
            hint = "MODEL must be a file that `kernelweave fit` or LS-GKM has written"
        raise ValueError(f"{path!r} is not a kernelweave model; {hint}")
    return load(path, key=key).set_params(n_jobs=jobs)


def _may_be_model(path: str) -> bool:
    """Return whether the first bytes of a file are those of a .kw file or an LS-GKM model."""
    from ..model.files.lsgkm import is_lsgkm

    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(b"\x1f\x8b"):  # gzip: LS-GKM models, but also FASTA and BED files
        return not path.lower().removesuffix(".gz").endswith(OTHER_FILES)
    return zipfile.is_zipfile(path) or is_lsgkm(start)


def class_of(model: FittedEstimator, target: str | None) -> object:
    """Return the class label whose text is `target`; None for a single decision function.

    Raises
    ------
    ValueError
        If the model has several decision functions and `target` is not one of its classes.
    """
    outputs = len(model.intercept_)
    if outputs == 1:
        return None
    written = {str(label): label for label in getattr(model, "classes_", range(outputs))}
    if target not in written:
        raise ValueError(
            f"--target: the model has {outputs} classes; choose one of {', '.join(written)}"
        )
    return written[target]

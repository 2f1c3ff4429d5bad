"""Model files of LS-GKM (Lee, 2016), the gkm-SVM for large data sets.

A file is text, plain or compressed by gzip: a header with a name and its values per line, a line
``SV``, and one line per support vector with its coefficient and its sequence. Kernels are
normalised, k(x, x) = 1. As in LS-GKM, letters other than A, C, G and T are read as A in support
vectors. Unlike in LS-GKM, such letters of new sequences match no letter.
"""

from __future__ import annotations

import gzip
import os
import re
import warnings
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from ...kernels import CompiledKernels, Exponential, GappedKmer, Kernel
from ...kernels.compile.normalized_kernels import Unit
from ...kernels.compose.algebra import Named
from ..model import Model
from .atomic_write import atomic_write
from .registry import entry_of_name

if TYPE_CHECKING:
    from ...estimators.fitted import FittedEstimator

GZIP = b"\x1f\x8b"
EXPANSION = 64  # a compressed file may expand by this factor,
MAX_FREE = 1 << 24  # or to this number of bytes
LONGEST_WORD, LONGEST_SEQUENCE, MOST_MISMATCHES = 12, 2047, 11  # limits of LS-GKM
ESTIMATORS = {"c_svc": "MKLClassifier", "epsilon_svr": "MKLRegressor"}


class KernelType(NamedTuple):
    """A kernel type of LS-GKM.

    Attributes
    ----------
    filter : {"truncated", "full", "count"}
        The filter of `GappedKmer`.
    centre : bool
        Whether words near the middle of a sequence have larger weights.
    radial : bool
        Whether the kernel is an RBF of the gapped k-mer features.
    """

    filter: str
    centre: bool = False
    radial: bool = False


KERNELS = {
    "gkm_cnt": KernelType("count"),
    "gkm_estfull": KernelType("full"),
    "gkm_esttrunc": KernelType("truncated"),
    "gkmrbf": KernelType("truncated", radial=True),
    "wgkm": KernelType("truncated", centre=True),
    "wgkmrbf": KernelType("truncated", centre=True, radial=True),
    "gkm_cnt_rbf": KernelType("count", radial=True),
}


def is_lsgkm(start: bytes) -> bool:
    """Return whether a file with these first bytes may be a model of LS-GKM."""
    return start.startswith((b"svm_type", GZIP))


def read_lsgkm(file: BinaryIO) -> FittedEstimator:
    """Return the model of an LS-GKM file as a fitted estimator.

    Parameters
    ----------
    file : binary file

    Raises
    ------
    ValueError
        If the file is not a model of LS-GKM, or is truncated.
    """
    header, lines = _parts(_text(file))
    kernel = _kernel(header)
    coef, sequences = _support(lines, int(_one(header, "total_sv")))
    rho = float(_one(header, "rho"))
    flip = header.get("label") == ["-1", "1"]
    signed = -coef if flip else coef
    return _estimator(header, kernel, signed, sequences, rho if flip else -rho)


def _text(file: BinaryIO) -> str:
    content = file.read()
    if content.startswith(GZIP):
        most = max(MAX_FREE, EXPANSION * len(content))
        file.seek(0)
        with gzip.open(file) as packed:
            content = packed.read(most + 1)
        if len(content) > most:
            raise ValueError(f"it expands to more than {most} bytes, which no model has")
    return content.decode("ascii")


def _parts(text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Return the header, as a dict from names to values, and the lines of the support vectors."""
    head, found, tail = text.partition("\nSV\n")
    if not found:
        raise ValueError("it has no line 'SV', and ends in its header")
    header = {name: values for name, *values in map(str.split, head.splitlines())}
    return header, tail.splitlines()


def _one(header: dict[str, list[str]], name: str) -> str:
    if len(header.get(name, [])) != 1:
        raise ValueError(f"its header must have one {name!r}")
    return header[name][0]


def _kernel(header: dict[str, list[str]]) -> Kernel:
    name = _one(header, "kernel_type")
    if name not in KERNELS:
        raise ValueError(f"kernel_type must be one of {[*KERNELS]}, got {name!r}")
    kind = KERNELS[name]
    centre = (float(_one(header, "M")), float(_one(header, "H"))) if kind.centre else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "GappedKmer.* is not positive semidefinite")
        kernel = GappedKmer(
            l=int(_one(header, "L")),
            k=int(_one(header, "k")),
            d=int(_one(header, "d")),
            filter=kind.filter,
            centre=centre,
            both_strands=header.get("norc", ["0"]) == ["0"],
        )
    return Exponential(kernel, float(_one(header, "gamma"))) if kind.radial else kernel


def _support(lines: list[str], count: int) -> tuple[np.ndarray, list[str]]:
    if len(lines) != count or not count:
        raise ValueError(f"it must have {count} support vectors, and has {len(lines)}")
    pairs = [line.split() for line in lines]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("a line of a support vector must be its coefficient and its letters")
    coef = np.array([float(pair[0]) for pair in pairs])
    sequences = [re.sub("[^ACGT]", "A", pair[1].upper()) for pair in pairs]
    return coef, sequences


def _estimator(
    header: dict[str, list[str]],
    kernel: Kernel,
    coef: np.ndarray,
    sequences: list[str],
    intercept: float,
) -> FittedEstimator:
    """Return the fitted estimator with coefficients of shape (n_support,)."""
    kind = _one(header, "svm_type")
    if kind not in ESTIMATORS or header.get("nr_class") != ["2"]:
        raise ValueError(f"it must be one of {[*ESTIMATORS]} with two classes, got {kind!r}")
    estimator: FittedEstimator = entry_of_name(ESTIMATORS[kind]).cls(kernel, normalize="unit")
    resolved = kernel.resolve(sequences)
    compiled = CompiledKernels((resolved if isinstance(kernel, Exponential) else Unit(resolved),))
    estimator._model = Model(
        compiled,
        compiled.training(sequences).reference(np.arange(len(sequences))),
        coef=coef[None, :],
        weights=np.ones((1, 1)),
        intercept=np.array([intercept]),
        support=np.arange(len(sequences)),
    )
    estimator._model.check()
    estimator.n_features_in_ = 1
    if kind == "c_svc":
        estimator.classes_ = np.array([-1, 1])
    return estimator


def export_lsgkm(model: FittedEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that gkmpredict of LS-GKM reads.

    Parameters
    ----------
    model : fitted MKLClassifier of two classes, or MKLRegressor
        With normalize="unit" and one kernel: `GappedKmer`, or `Exponential` of one. LS-GKM supports
        words of at most 12 letters.
    path : str or path-like
        Conventionally ends in ``.model.txt``.

    Raises
    ------
    ValueError
        If LS-GKM does not support the model.

    Examples
    --------
    >>> from kernelweave import MKLClassifier, export_lsgkm, load
    >>> from kernelweave.datasets import make_motifs
    >>> from kernelweave.kernels import GappedKmer
    >>> X, y = make_motifs(100, positive_rate=0.5)
    >>> model = MKLClassifier(GappedKmer(l=6, k=4), normalize="unit").fit(X, y)
    >>> export_lsgkm(model, "motifs.model.txt")
    >>> again = load("motifs.model.txt")
    >>> print(abs(again.decision_function(X) - model.decision_function(X)).max() < 1e-4)
    True
    """
    fitted: Model = model._model
    if fitted.weights.shape != (1, 1):
        raise ValueError("model must have one kernel and one decision function")
    (outer,) = fitted.compiled.kernels
    kernel, gamma = _exported(outer)
    sequences = list(fitted.examples.tables[0].sequences)  # type: ignore[attr-defined]
    _check_sequences(sequences, kernel.l)
    coef = fitted.weights[0, 0] * fitted.coef[0]
    order = np.argsort(coef < 0, kind="stable")  # LS-GKM expects the first class first
    lines = _header(kernel, gamma, coef, float(fitted.intercept[0]), hasattr(model, "classes_"))
    lines += [f"{coef[i]:.16g} {sequences[i]}" for i in order]
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode("ascii"))


def _exported(outer: Kernel) -> tuple[GappedKmer, float | None]:
    """Return the gapped k-mer kernel, and gamma if it is an RBF."""
    outer = outer.kernel if isinstance(outer, Named) else outer
    if isinstance(outer, Unit) and isinstance(outer.kernel, Exponential):
        outer = outer.kernel  # an RBF of a normalised kernel is normalised
    radial = outer if isinstance(outer, Exponential) else None
    inner = radial.kernel if radial is not None else outer
    kernel = inner.kernel if isinstance(inner, Unit) else inner
    gamma = None if radial is None else radial.gamma
    fits = isinstance(inner, Unit) and isinstance(kernel, GappedKmer) and not kernel.is_family
    if not isinstance(kernel, GappedKmer) or not fits or isinstance(gamma, tuple):
        raise ValueError(
            "model must be of one GappedKmer, or Exponential of one, fitted with "
            f"normalize='unit' (--normalize unit), got one of {outer.names[0]}"
        )
    if not 1 <= kernel.l <= LONGEST_WORD or kernel.alphabet.name not in ("DNA", "RNA"):
        raise ValueError(f"LS-GKM has DNA words of at most {LONGEST_WORD} letters")
    if _kernel_type(kernel, gamma) not in KERNELS:
        raise ValueError(f"LS-GKM has no kernel with filter={kernel.filter!r} of this kind")
    if kernel.centre is not None and not float(kernel.centre[0]).is_integer():
        raise ValueError("LS-GKM requires an integer weight M in centre=(M, H)")
    return kernel, gamma


def _kernel_type(kernel: GappedKmer, gamma: float | None) -> str:
    wanted = KernelType(kernel.filter, kernel.centre is not None, gamma is not None)
    return next((name for name, kind in KERNELS.items() if kind == wanted), "")


def _check_sequences(sequences: list[str], length: int) -> None:
    for i, letters in enumerate(sequences):
        if set(letters) - set("ACGT") or not length <= len(letters) <= LONGEST_SEQUENCE:
            raise ValueError(
                f"support vector {i} has unknown letters, fewer than {length} or more than "
                f"{LONGEST_SEQUENCE}, which LS-GKM would read otherwise"
            )


def _header(
    kernel: GappedKmer, gamma: float | None, coef: np.ndarray, intercept: float, classes: bool
) -> list[str]:
    reach = max(m for m, value in enumerate(kernel.members[0].values) if value)
    lines = [
        f"svm_type {'c_svc' if classes else 'epsilon_svr'}",
        f"kernel_type {_kernel_type(kernel, gamma)}",
        f"L {kernel.l}",
        f"k {kernel.k}",
        f"d {min(reach, MOST_MISMATCHES)}",
    ]
    lines += [] if gamma is None else [f"gamma {gamma!r}"]
    if kernel.centre is not None:
        lines += [f"M {kernel.centre[0]:.0f}", f"H {kernel.centre[1]!r}"]
    lines += [] if kernel.both_strands else ["norc 1"]
    lines += ["nr_class 2", f"total_sv {len(coef)}", f"rho {-intercept!r}"]
    if classes:
        negative = int(np.count_nonzero(coef < 0))
        lines += ["label 1 -1", f"nr_sv {len(coef) - negative} {negative}"]
    return [*lines, "SV"]

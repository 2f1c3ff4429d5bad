"""The list of kernels in `fit --help`: names, parameters and their default values."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING

from .. import MKLClassifier  # noqa: F401  # must be imported before the kernels
from ..kernels.compose.nested_parameters import DETERMINED
from .kernel_specs import EXPONENTIAL, NAMES, PER_FEATURE

if TYPE_CHECKING:
    import click

SHARED = ("columns", "name", "alphabet", "unknown", "store")  # parameters described once
KERNELS_OF_KERNELS = {
    PER_FEATURE: ("(kernel)", "the kernel on each column"),
    EXPONENTIAL: ("(kernel, gamma=1.0)", "exp(gamma (k(x, y) - 1)) of a normalised kernel"),
}


def signatures() -> dict[str, str]:
    """Return the parameters of each kernel with their defaults, by name on the command line."""
    found = {}
    for name, kernel in NAMES.items():
        parameters = [one for one in fields(kernel) if one.init]  # type: ignore[arg-type]
        own = [one for one in parameters if one.name not in (*SHARED, *DETERMINED)]
        positional_first = sorted(own, key=lambda one: bool(one.kw_only))
        found[name] = ", ".join(map(_parameter, positional_first))
    return found


def _parameter(field: Field[object]) -> str:
    """Return the name of a parameter and its default, as a specification writes them."""
    if field.default is MISSING:
        return field.name
    several = field.default if isinstance(field.default, tuple) else (field.default,)
    return f"{field.name}={','.join(str(one).lower() for one in several)}"


def write_kernels(formatter: click.HelpFormatter) -> None:
    """Write the list of kernels to the help of a command."""
    with formatter.section("Kernels, their parameters and default values"):
        formatter.write_dl([(name, text or "-") for name, text in signatures().items()])
        formatter.write_dl(
            [(f"{name}{form}", text) for name, (form, text) in KERNELS_OF_KERNELS.items()]
        )
        formatter.write_paragraph()
        formatter.write_text(
            "All kernels: columns=, name=. On strings: alphabet= (dna, rna, protein, bytes), "
            "unknown= (mismatch, error); store= of some. `centre=50,50` of gkm weights words in "
            "the middle."
        )

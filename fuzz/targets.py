"""The targets by name."""

from __future__ import annotations

from collections.abc import Iterable

from . import (
    checkpoints,
    class_fits,
    fits,
    genome_files,
    hard_fits,
    kernel_texts,
    model_files,
    multi_output,
    sequence_files,
    survival_fits,
    view_fits,
)

TARGETS = {
    "fits": fits.run,
    "hard_fits": hard_fits.run,
    "view_fits": view_fits.run,
    "class_fits": class_fits.run,
    "survival_fits": survival_fits.run,
    "multi_output": multi_output.run,
    "sequence_files": sequence_files.run,
    "genome_files": genome_files.run,
    "kernel_texts": kernel_texts.run,
    "model_files": model_files.run,
    "checkpoints": checkpoints.run,
}


def warm_up(names: Iterable[str]) -> None:
    """Create what the workers of some targets need before they are forked."""
    if "model_files" in names:
        model_files.templates()
    if "genome_files" in names:
        genome_files.model()
    if "checkpoints" in names:
        for name in checkpoints.MODELS:
            checkpoints.template(name)

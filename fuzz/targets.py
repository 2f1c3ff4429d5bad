"""The targets by name."""

from __future__ import annotations

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


def warm_up() -> None:
    """Create what every worker needs before workers are forked."""
    model_files.templates()
    genome_files.model()
    for name in checkpoints.MODELS:
        checkpoints.template(name)

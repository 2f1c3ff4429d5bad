"""The targets by name."""

from __future__ import annotations

from . import checkpoints, fits, hard_fits, model_files, sequence_files, view_fits

TARGETS = {
    "fits": fits.run,
    "hard_fits": hard_fits.run,
    "view_fits": view_fits.run,
    "sequence_files": sequence_files.run,
    "model_files": model_files.run,
    "checkpoints": checkpoints.run,
}


def warm_up() -> None:
    """Make what every worker needs, once, before workers are forked."""
    model_files.templates()
    for name in checkpoints.MODELS:
        checkpoints.template(name)

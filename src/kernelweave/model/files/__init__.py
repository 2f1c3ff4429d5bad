"""Files: saved models, checkpoints and models of LS-GKM."""

"""Weight steps: from the state of a solver to new kernel weights, one file each."""

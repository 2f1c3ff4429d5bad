"""Fuzzing: inputs made of bytes for fits, sequence files, model files and checkpoints.

Every target is a function ``run(data: bytes)``. It reads its decisions from the bytes (`choices`),
so that one input is one small file whether random numbers, Hypothesis or atheris made it, and
``python -m fuzz --replay FILE`` runs it again. A worker under limits of memory and time runs
the inputs (`pool`), and `verdicts` says what counts as a finding.
"""

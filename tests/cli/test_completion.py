"""Shell completion of commands, options, files and kernels."""

import os
import subprocess
import sys

import pytest

from kernelweave.cli import COMMANDS

CALL = [sys.executable, "-c", "from kernelweave.cli import main; main(prog_name='kernelweave')"]


def completed(*words):
    """Return what bash would offer for the last of some words, as (kind, text)."""
    line = " ".join(["kernelweave", *words])
    place = {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    given = {**os.environ, **place, "_KERNELWEAVE_COMPLETE": "bash_complete"}
    found = subprocess.run(CALL, env=given, capture_output=True, text=True, check=True)
    return [tuple(row.split(",", 1)) for row in found.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_given_a_script(shell):
    given = {**os.environ, "_KERNELWEAVE_COMPLETE": f"{shell}_source"}
    text = subprocess.run(CALL, env=given, capture_output=True, text=True, check=True).stdout
    assert "_KERNELWEAVE_COMPLETE" in text


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("",), {("plain", name) for name in COMMANDS}),
        (("fit", "--cv"), {("plain", "--cv"), ("plain", "--cv-groups")}),
        (("fit", "-k", "w"), {("plain", "words"), ("plain", "wd"), ("plain", "wds")}),
        (("fit", "--positive", "x"), {("file", "x")}),
        (("scan", "m"), {("file", "m")}),
        (
            ("scan", "m", "g", "--strand", ""),
            {("plain", one) for one in ("auto", "both", "+", "-")},
        ),
    ],
)
def test_words_are_completed(words, offered):
    assert set(completed(*words)) == offered

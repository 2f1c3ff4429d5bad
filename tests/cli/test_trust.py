"""Promises of commands: signed models, no partial files after SIGTERM, reproducible outputs."""

import os
import signal
import subprocess
import sys
import time

import pytest

WRITE = """
import sys, time
import click
from kernelweave.cli.command import Command, text_output

@click.command(cls=Command)
def command():
    with text_output(sys.argv[1]) as file:
        file.write("half")
        file.flush()
        print("writing", flush=True)
        time.sleep(60)

command(args=[])
"""


def test_sigterm_removes_the_partial_file(tmp_path):
    path = tmp_path / "out.tsv"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, path], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "writing\n"
        assert len(os.listdir(tmp_path)) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert os.listdir(tmp_path) == []


def test_handlers_are_restored(run, table):
    before = signal.getsignal(signal.SIGTERM)
    run("fit", table, "--target", "back", "-q")
    assert signal.getsignal(signal.SIGTERM) is before


def test_signed_models(run, table, tmp_path):
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    (tmp_path / "other").write_bytes(b"another key of 16 bytes")
    (tmp_path / "short").write_bytes(b"short")
    run("fit", table, "--target", "back", "-q", "--key-file", "key")
    run("predict", "model.kw", table, "--key-file", "key")
    run("predict", "model.kw", table)
    said = run("predict", "model.kw", table, "--key-file", "other", code=2)
    assert "signature does not match" in said.output
    said = run("predict", "model.kw", table, "--key-file", "short", code=2)
    assert "--key-file: short: key must have at least 16 bytes" in said.output
    run("fit", table, "--target", "back", "-q")
    said = run("predict", "model.kw", table, "--key-file", "key", code=2)
    assert "no signature" in said.output


@pytest.mark.parametrize("name", ["scores.tsv", "scores.tsv.gz"])
def test_equal_inputs_give_equal_outputs(run, table, name):
    contents = []
    for _ in range(2):
        run("fit", table, "--target", "back", "-q")
        run("predict", "model.kw", table, "-o", name)
        with open(name, "rb") as file, open("model.kw", "rb") as model:
            contents.append((file.read(), model.read()))
        time.sleep(2.1)  # the resolution of dates in zip files is two seconds
    assert contents[0] == contents[1]

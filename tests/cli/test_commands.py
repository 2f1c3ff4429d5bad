"""All commands have help, a version, and errors of one line."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import kernelweave
from kernelweave.cli import COMMANDS, main


def test_help_lists_every_command(run):
    text = run("--help").output
    assert [name for name in COMMANDS if f"  {name} " not in text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, run):
    text = run(name, "--help").output
    assert "--debug" in text
    assert "Example" in text


def test_the_version_is_that_of_the_package(run):
    assert kernelweave.__version__ in run("--version").output


def test_help_imports_no_numbers():
    """Help must be fast."""
    code = (
        "import sys; from kernelweave.cli import main; "
        "main(['--help'], standalone_mode=False); print('numpy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    "arguments", [("info", "nothing.kw"), ("fit", "nothing.csv", "--target", "y")]
)
def test_errors_are_one_line_and_exit_code_2(arguments, run):
    result = run(*arguments, code=2)
    assert result.output.startswith(f"kernelweave {arguments[0]}: nothing.")
    assert len(result.output.splitlines()) == 1


def test_debug_shows_the_whole_error(tmp_path):
    result = CliRunner().invoke(main, ["info", str(tmp_path / "nothing.kw"), "--debug"])
    assert isinstance(result.exception, FileNotFoundError)


def test_an_interrupted_command_reports_the_interrupt(run, monkeypatch):
    def interrupt(path, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelweave.model.files.kw.load", interrupt)
    monkeypatch.setattr(kernelweave, "load", interrupt, raising=False)
    assert "interrupted" in run("info", "model.kw", code=130).output

"""`make papers`: steps are run once, whatever happens in between."""

import json
import sys

import numpy as np
import pytest
from benchmarks import papers


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run steps that are given as functions; return what each file holds."""
    monkeypatch.setattr(papers, "FOLDER", tmp_path / "papers")

    def main(steps, *arguments):
        monkeypatch.setattr(papers, "steps", lambda: steps)
        monkeypatch.setattr(sys, "argv", ["papers", *arguments])
        papers.main()

    return main


def results(tmp_path):
    files = sorted((tmp_path / "papers").iterdir())
    return {path.name: json.loads(path.read_text())["results"] for path in files}


def test_a_step_is_run_once(run, tmp_path, capsys):
    calls = []
    steps = {"one": lambda: calls.append(1) or papers.plain({"x": np.arange(2)})}
    run(steps)
    run(steps)
    assert len(calls) == 1
    assert results(tmp_path) == {"one.json": {"x": [0, 1]}}
    assert "one: done before" in capsys.readouterr().out
    run(steps, "--again")
    assert len(calls) == 2


def test_a_stopped_run_resumes(run, tmp_path):
    def stopped():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run({"one": lambda: 1, "two": stopped, "three": lambda: 3})
    assert results(tmp_path) == {"one.json": 1}
    run({"one": lambda: 10, "two": lambda: 2, "three": lambda: 3})
    assert results(tmp_path) == {"one.json": 1, "two.json": 2, "three.json": 3}


def test_failing_steps_are_named_and_do_not_stop_others(run, tmp_path):
    with pytest.raises(SystemExit, match="failed: one"):
        run({"one": lambda: 1 / 0, "two": lambda: 2})
    assert results(tmp_path) == {"two.json": 2}


def test_names_pick_steps(run, tmp_path):
    steps = {"bach": lambda: 1, "kloft": lambda: 2, "kloft-table": lambda: 3}
    run(steps, "kloft")
    assert list(results(tmp_path)) == ["kloft-table.json", "kloft.json"]
    with pytest.raises(SystemExit, match="no such step: nobody; there are bach"):
        run(steps, "nobody")


def test_every_script_is_a_step():
    scripts = {path.stem.removeprefix("plot_") for path in papers.SCRIPTS.glob("plot_*.py")}
    assert scripts <= set(papers.steps())
    assert len(scripts) >= 10

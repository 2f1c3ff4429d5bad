"""All files of a release name the same version."""

import re
from pathlib import Path

import pytest

import kernelweave

ROOT = Path(__file__).parents[1]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_day_of_the_changelog():
    released = re.search(
        r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", text_of("CHANGELOG.md"), re.M
    )
    cited = text_of("CITATION.cff")
    assert released[1] == kernelweave.__version__
    assert re.search(r"^version: (.*)$", cited, re.M)[1] == released[1]
    assert re.search(r"^date-released: (.*)$", cited, re.M)[1] == released[2]


def test_the_version_is_written_in_one_place():
    assert 'dynamic = ["version"]' in text_of("pyproject.toml")
    assert re.search(r"^version\s*=", text_of("pyproject.toml"), re.M) is None
    assert "VERSION" not in re.search(r"^project\((.*)\)$", text_of("CMakeLists.txt"), re.M)[1]


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_run_targets_that_exist(workflow):
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.M))
    asked = set(re.findall(r"\bmake ([a-z-]+)", workflow.read_text(encoding="utf-8")))
    assert asked <= targets


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_pin_their_actions(workflow):
    for action in re.findall(r"\buses: (.*)", workflow.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action)

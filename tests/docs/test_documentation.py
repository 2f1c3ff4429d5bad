"""Estimators link to their pages, and the reference has a page for every public name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_docstrings import OBJECTS

import kernelweave
from kernelweave import dask
from kernelweave.baselines import MarkovChain
from kernelweave.estimators.documentation import REFERENCE, SITE

ROOT = Path(__file__).resolve().parents[2]
ESTIMATORS = [
    kernelweave.LinearizedMKL,
    kernelweave.MKLClassifier,
    kernelweave.MKLClassifierCV,
    kernelweave.MKLOneClass,
    kernelweave.MKLRegressor,
    kernelweave.MKLRegressorCV,
    MarkovChain,
    dask.DaskMKLClassifier,
    dask.DaskMKLRegressorCV,
]


@pytest.fixture(scope="module")
def pages() -> set[str]:
    """The names that the reference has a page for."""
    lines = (ROOT / "docs" / "api" / "index.rst").read_text().splitlines()
    return {f"kernelweave.{line.strip()}" for line in lines if re.fullmatch(r"   [\w.]+", line)}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_the_picture_of_an_estimator_links_to_its_page(estimator, pages):
    links = re.findall(rf'href="({SITE}[^"#]*)', estimator()._repr_html_())
    (link,) = set(links)  # parameters link to it as well
    folder, page = link.rsplit("/", 1)
    assert folder == REFERENCE
    assert page.removesuffix(".html") in pages


def test_the_package_names_the_same_site():
    assert f'Documentation = "{SITE}"' in (ROOT / "pyproject.toml").read_text()


def test_the_reference_shows_every_public_name(pages):
    shown = {id(OBJECTS[name]) for name in OBJECTS if name in pages}
    assert [name for name in OBJECTS if id(OBJECTS[name]) not in shown] == []
    assert [name for name in pages if name not in OBJECTS] == []


def test_the_chart_is_drawn_as_its_script_says_and_leads_to_pages(pages):
    docs = ROOT / "docs"
    chart = (docs / "choose.svg").read_text()
    script = [sys.executable, docs / "flow_chart.py"]
    assert subprocess.run(script, capture_output=True, text=True, check=True).stdout == chart
    for link in re.findall(r'href="([^"#]+)', chart):
        page = Path(link).with_suffix("").name
        assert page in pages if link.startswith("api/") else (docs / f"{page}.md").exists(), link

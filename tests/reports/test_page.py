"""Reports: what stands on the page is what the model and the folds say."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, datasets, report
from kernelweave.kernels import RBF, Linear, WeightedDegree

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


class Outline(HTMLParser):
    """Headings, addresses that a page fetches, and tags that were left open."""

    VOID = ("meta", "br", "link", "img", "hr", "input")

    def __init__(self, page):
        super().__init__()
        self.headings, self.fetched, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.fetched += [found[name] for name in ("src", "data") if name in found]
        if tag in ("link", "script") and "href" in found:
            self.fetched.append(found["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)


def written(path, *arguments, **settings):
    report(*arguments[:1], path, *arguments[1:], **settings)
    return path.read_text()


def embedded(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def two_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], np.where(y[50:] == 2, "virginica", "versicolor")
    return MKLClassifier([RBF([0.1, 1.0]), Linear()], norm=1).fit(X, y), X, y


def test_all_sections_of_a_classifier(two_classes, tmp_path):
    model, X, y = two_classes
    folds = StratifiedKFold(3)
    page = written(tmp_path / "r.html", model, X, y, cv=folds, compare=True, command="make it")
    outline = Outline(page)
    assert outline.open == []
    assert outline.headings == [
        "Kernelweave report", "Certificate", "Weights", "Contributions", "Likeness of kernels",
        "Held-out examples", "Is learning the weights worth it?", "How it was made",
    ]  # fmt: skip
    assert "make it" in page
    scores = cross_val_predict(model, X, y, cv=folds, method="decision_function")
    found = embedded(page)["Held-out examples"]
    assert found["scores"] == pytest.approx(scores.tolist())
    assert found["auROC"] == pytest.approx(roc_auc_score(y == "virginica", scores))
    assert embedded(page)["Weights"]["weights"] == model.weights_.tolist()


def test_a_page_fetches_nothing(two_classes, tmp_path):
    page = written(tmp_path / "r.html", *two_classes)
    assert Outline(page).fetched == []
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert all(
        "w3.org" in one or "purl.org" in one or "creativecommons" in one or "matplotlib" in one
        for one in addresses
    )


def test_a_model_alone_has_a_page(two_classes, tmp_path):
    page = written(tmp_path / "r.html", two_classes[0], title="<b>My & model</b>")
    assert Outline(page).headings[1:] == ["Certificate", "Weights", "How it was made"]
    assert "&lt;b&gt;My &amp; model" in page


def test_other_tasks_have_pages(tmp_path, rng):
    X, y = load_iris(return_X_y=True)
    for model, target in (
        (MKLClassifier(RBF([0.1, 1.0])), y),
        (MKLRegressor(RBF([0.1, 1.0])), X[:, 0]),
        (MKLOneClass(RBF([0.1, 1.0])), None),
    ):
        fitted = model.fit(X, target)
        page = written(tmp_path / "r.html", fitted, X, target, cv=2)
        assert ("Held-out examples" in page) == (target is not None)
        assert Outline(page).open == []


def test_sequences_have_pages(tmp_path):
    X, y = datasets.make_splice(120, positive_rate=0.4)
    page = written(tmp_path / "r.html", MKLClassifier(WeightedDegree(3)).fit(X, y), X, y, cv=2)
    assert "auROC" in page


def test_many_kernels_are_summed_up(tmp_path, rng):
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    model = MKLClassifier(RBF(list(np.geomspace(0.1, 10, 50))), norm=2).fit(X, y)
    page = written(tmp_path / "r.html", model, X)
    assert "30 others together" in page
    assert "Likeness" not in page


def test_the_same_model_gives_the_same_page(two_classes, tmp_path):
    one, other = (written(tmp_path / name, *two_classes) for name in ("a.html", "b.html"))
    assert one == other


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")
def test_a_browser_shows_it_without_complaints(two_classes, tmp_path):
    path = tmp_path / "r.html"
    report(two_classes[0], path, *two_classes[1:])
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    call = ["chromium", *options, path.as_uri()]
    found = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    assert "Held-out examples" in found.stdout
    assert "CONSOLE" not in found.stderr

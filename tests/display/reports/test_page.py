"""Reports contain the numbers of the model and of the folds."""

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

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor, datasets, inspection, report
from kernelweave.common.core import _core
from kernelweave.display.reports import redraw
from kernelweave.display.reports.held_out import _thin
from kernelweave.kernels import RBF, GappedKmer, Linear, Spectrum, WeightedDegree
from kernelweave.kernels.data.views import Views

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


def whole(page):
    """Return the sections that a page holds as JSON."""
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])["sections"]


def embedded(page):
    """Return the numbers of each section by its title."""
    return {section["title"]: section["data"] for section in whole(page)}


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
        "Kernelweave report", "Data", "Certificate", "Weights", "Contributions",
        "Shapley values", "Kernel alignment", "Held-out examples",
        "Comparison with baselines", "Parameters",
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
    assert Outline(page).headings[1:] == ["Certificate", "Weights", "Parameters"]
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


@pytest.fixture(scope="module")
def sequences():
    X, y = datasets.make_motifs(300, random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("kernel", "drawn"),
    [
        (WeightedDegree(3), ["logo", "importance", "kmers"]),
        (WeightedDegree(6), ["logo", "importance", "kmers", *["logo"] * 5]),
        (WeightedDegree(2, split="both"), ["logo", "importance", "kmers", "places"]),
        (Spectrum(3), ["bars"]),
    ],
    ids=["wd", "motifs", "positions", "spectrum"],
)
def test_models_on_sequences_show_their_words(kernel, drawn, sequences, tmp_path):
    X, y = sequences
    model = MKLClassifier(kernel, C=2.0).fit(X, y)
    (section,) = (
        one
        for one in whole(written(tmp_path / "r.html", model))
        if one["title"] == "Motifs and k-mers"
    )
    assert [figure["kind"] for figure in section["figures"]] == drawn
    if "logo" in drawn:
        k = min(6, model.kernels.degree)
        (word, place, weight), *_ = inspection.top_kmers(model, 1, k=k)
        assert section["rows"][1] == [word, str(place), f"{weight:.4g}"]
        found = inspection.poim(model, 1)
        logo = section["figures"][0]["data"]
        np.testing.assert_allclose(logo["heights"], found.W[:, logo["positions"]], rtol=1e-4)


def test_reports_have_one_section_of_words_per_class(sequences, tmp_path):
    X, _ = sequences
    model = MKLClassifier(WeightedDegree(2)).fit(X, np.arange(len(X)) % 3)
    titles = [one["title"] for one in whole(written(tmp_path / "r.html", model))]
    assert [title for title in titles if "Motifs" in title] == [
        f"Motifs and k-mers of class {c}" for c in range(3)
    ]


def test_support_sequences_are_read_twice_per_class(sequences, tmp_path, monkeypatch):
    """Once for maps, once for motifs, whose k-mers are longer."""
    X, _ = sequences
    model = MKLClassifier(WeightedDegree(4)).fit(X, np.arange(len(X)) % 3)
    made, tables = [], _core.WordTables

    class Counted:
        bytes = staticmethod(tables.bytes)

        def __new__(cls, *given):
            made.append(given)
            return tables(*given)

    monkeypatch.setattr(_core, "WordTables", Counted)
    written(tmp_path / "r.html", model)
    assert len(made) == 6


def test_word_lengths_are_limited_by_memory(sequences, tmp_path, monkeypatch):
    X, y = sequences
    model = MKLClassifier(WeightedDegree(5), C=2.0).fit(X, y)
    room = _core.WordTables.bytes(4, 2, X.length)
    monkeypatch.setattr("kernelweave.display.reports.words.MOST_BYTES", room)
    sections = whole(written(tmp_path / "r.html", model))
    (section,) = (one for one in sections if one["title"] == "Motifs and k-mers")
    (word, place, weight), *_ = inspection.top_kmers(model, 1, k=2)
    assert section["rows"][1] == [word, str(place), f"{weight:.4g}"]


def test_bootstrapped_weights_have_intervals(two_classes, tmp_path):
    model, X, y = two_classes
    page = written(tmp_path / "r.html", model, X, y, cv=2, bootstrap=4)
    found = inspection.bootstrap_weights(model, X, y, n=4, n_permutations=0)
    assert embedded(page)["Weights"]["bootstrap"] == found.samples.tolist()
    (section,) = (one for one in whole(page) if one["title"] == "Weights")
    order = np.argsort(-model.weights_, kind="stable")
    low, high = found.quantiles([0.05, 0.95])[:, order]
    np.testing.assert_allclose(section["figures"][0]["data"]["low"], low, rtol=1e-4, atol=1e-9)
    assert [row[2:] for row in section["rows"][1:]] == [
        [f"{a:.4f}", f"{b:.4f}"] for a, b in zip(low, high, strict=True)
    ]
    with pytest.raises(ValueError, match="bootstrap=3 requires examples"):
        report(model, tmp_path / "r.html", bootstrap=3)


def test_views_have_shares_of_their_own(rng, tmp_path):
    X = Views({"a": rng.normal(size=(60, 2)), "b": rng.normal(size=(60, 2))})
    kernels = [RBF([0.1, 1.0], columns="a"), RBF(1.0, columns="b")]
    model = MKLClassifier(kernels).fit(X, np.repeat([0, 1], 30))
    found = embedded(written(tmp_path / "r.html", model, X))["Contributions"]["views"]
    assert set(found) == {"a", "b"}
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)


def test_curves_of_many_examples_are_thinned_and_keep_their_ends(rng):
    x = np.sort(rng.random(50_000))
    drawn = _thin(x, x**3)
    assert len(drawn["x"]) <= 400
    assert [drawn["x"][0], drawn["x"][-1]] == pytest.approx([x[0], x[-1]], rel=1e-5)
    np.testing.assert_allclose(np.interp(x, drawn["x"], drawn["y"]), x**3, atol=1e-4)


def test_a_page_is_drawn_again_from_its_numbers(two_classes, tmp_path):
    page = written(tmp_path / "r.html", *two_classes, command="make it </script>")
    redraw(tmp_path / "r.html", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page
    (tmp_path / "other.html").write_text("<p>hello</p>")
    with pytest.raises(ValueError, match=r"other\.html' is no report"):
        redraw(tmp_path / "other.html", tmp_path / "again.html")


def test_no_markup_inside_the_embedded_json(two_classes, tmp_path):
    page = written(tmp_path / "r.html", *two_classes, command="<!-- <script> </script>")
    embedded = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1]
    assert "<" not in embedded
    assert json.loads(embedded)["command"] == "<!-- <script> </script>"


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
def test_reports_open_in_a_browser_without_console_errors(two_classes, tmp_path):
    path = tmp_path / "r.html"
    report(two_classes[0], path, *two_classes[1:])
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    call = ["chromium", *options, path.as_uri()]
    found = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    assert "Held-out examples" in found.stdout
    assert "CONSOLE" not in found.stderr


def test_shapley_values_are_means_over_the_examples(two_classes, tmp_path):
    model, X, _ = two_classes
    found = embedded(written(tmp_path / "r.html", model, X))["Shapley values"]["mean_abs"]
    values = inspection.shapley(model, X, X, n_background=30).values
    assert list(found.values()) == pytest.approx(np.abs(values).mean(axis=0), rel=1e-4)


def test_kernels_without_shapley_values_have_no_such_section(two_classes, tmp_path):
    _, X, y = two_classes
    model = MKLClassifier(Linear(), normalize="unit").fit(X, y)
    assert "Shapley values" not in embedded(written(tmp_path / "r.html", model, X))


@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLRegressor])
def test_coverage_of_calibrated_models_is_that_of_held_out_folds(Estimator, tmp_path, rng):
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    how, y = ("residuals", y) if Estimator is MKLRegressor else ("sigmoid", (y > 0).astype(int))
    model = Estimator(RBF(0.3), calibrate=how).fit(X, y)
    found = embedded(written(tmp_path / "r.html", model, X, y, cv=2))["Coverage"]
    assert found["levels"] == [0.8, 0.9, 0.95]
    assert np.all(np.abs(np.array(found["coverage"]) - found["levels"]) < 0.15)
    plain = Estimator(RBF(0.3)).fit(X, y)
    assert "Coverage" not in embedded(written(tmp_path / "r.html", plain, X, y, cv=2))


def test_gapped_kmer_models_show_their_motifs_as_logos(sequences, tmp_path):
    model = MKLClassifier(GappedKmer(l=6, k=4)).fit(*sequences)
    (section,) = (
        one
        for one in whole(written(tmp_path / "r.html", model))
        if one["title"] == "Motifs and k-mers"
    )
    found = inspection.motifs(model)
    *logos, bars = section["figures"]
    assert bars["kind"] == "bars"
    assert len(logos) == len(found) > 0
    for drawn, motif in zip(logos, found, strict=True):
        assert drawn["kind"] == "logo"
        np.testing.assert_allclose(drawn["data"]["heights"], motif.heights, rtol=1e-4)

"""Default kernels: what each kind of column gets, and mixed tables from fit to file."""

from __future__ import annotations

import warnings
from collections import Counter
from datetime import date, time

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernelweave import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, load, verify
from kernelweave.kernels import CompiledKernels
from kernelweave.kernels.data.views import Views
from kernelweave.kernels.default import Contents, alphabet_of, default_candidates, default_kernels
from kernelweave.kernels.default_of_views import default_of_views
from kernelweave.sequences import as_sequences
from kernelweave.sequences.alphabets import DNA, PROTEIN, RNA

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
N = 60


def mixed(frames, rng, missing=True):
    """A frame with two numbers, two columns of categories and one of texts; and targets."""
    a, b = rng.normal(size=(2, N))
    notes = [" ".join(rng.choice(WORDS, 6)) for _ in range(N)]
    kind = rng.choice(["red", "green", "blue"], N).tolist()
    y = np.where(a + 2.0 * (np.array(kind) == "red") > 0.5, "yes", "no")
    age = a.tolist()
    if missing:
        age[3], kind[4], notes[5] = None, None, None
    table = {"age": age, "b": b, "kind": kind, "flag": b > 0, "notes": notes}
    return frames.DataFrame(table), y


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    return pytest.importorskip(request.param)


def test_every_kind_of_column_has_its_kernels(frames, rng):
    X, _ = mixed(frames, rng)
    assert Contents.of(X) == Contents([0, 1], [2, 3], [4], [], [])
    names = CompiledKernels(tuple(default_kernels(X, np.ones(N)))).names
    assert len(names) == 8 + 8 + 6 + 6 + 1 + 1
    assert names[0] == "Linear on age, b"
    assert names[8] == "Linear on kind, flag"
    assert all(name.endswith(" on 4 columns") for name in names[16:28])
    assert names[-2:] == ("BagOfWords on notes", "Missing on age")


@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLRegressor, MKLOneClass])
def test_mixed_tables_from_fit_to_file(Estimator, frames, rng, tmp_path):
    X, y = mixed(frames, rng)
    y = (y == "yes").astype(float) if Estimator is MKLRegressor else y
    model = Estimator().fit(X, y)
    if Estimator is not MKLOneClass:
        assert model.score(X, y) > 0.6
    assert verify(model, X, y).agree
    model.save(tmp_path / "m.kw")
    again, (new, _) = load(tmp_path / "m.kw"), mixed(frames, rng, missing=False)
    for table in (X, new):
        assert np.array_equal(again.predict(table), model.predict(table))


def test_values_that_were_never_missing_may_be(frames, rng):
    X, y = mixed(frames, rng, missing=False)
    new, _ = mixed(frames, rng)
    model = MKLClassifier().fit(X, y)
    assert not any("Missing" in name for name in model.kernel_names_)
    assert np.isfinite(model.decision_function(new)).all()


def test_categorical_columns_are_never_texts(rng):
    pandas = pytest.importorskip("pandas")
    X, _ = mixed(pandas, rng)
    X["notes"] = X["notes"].astype("category")
    assert Contents.of(X) == Contents([0, 1], [2, 3, 4], [], [], [])


def named(frames, rng):
    """A frame with a number and two columns of strings that hardly repeat; and targets."""
    prefix = rng.choice(["abc", "xyz"], N)
    codes = [f"{start}/{rng.integers(10**6):06d}" for start in prefix]
    codes[3], codes[4], codes[5] = None, "", "é"
    table = {"a": rng.normal(size=N), "code": codes, "id": [f"{k:04x}" for k in range(N)]}
    return frames.DataFrame(table), prefix


def three_letters(text):
    """The counts of three bytes in a row, slowly."""
    letters = text.encode() if isinstance(text, str) else b""
    return Counter(letters[k : k + 3] for k in range(len(letters) - 2))


def test_strings_that_hardly_repeat_are_compared_by_letters(frames, rng):
    X, _ = named(frames, rng)
    with pytest.warns(UserWarning, match="hardly repeat in columns 'code', 'id' and are") as warned:
        *_, kernel, other = default_kernels(X, np.ones(N))
    assert len(warned) == 1
    counts = [three_letters(text) for text in X["code"].to_list()]
    dots = np.array([[sum(a[u] * b[u] for u in a) for b in counts] for a in counts], dtype=float)
    norms = np.sqrt(np.where(dots.diagonal() > 0, dots.diagonal(), 1.0))
    np.testing.assert_allclose(kernel(X), dots / norms / norms[:, None], atol=1e-12)
    assert CompiledKernels((kernel, other)).names == ("NGram n=3 on code", "NGram n=3 on id")


DAYS = [f"2020-0{1 + k // 28}-{1 + k % 28:02d}" for k in range(60)]


@pytest.mark.parametrize(
    "days",
    [
        DAYS,
        [f"{day} 10:30:00" for day in DAYS],
        [f"{day[8:]}/{day[5:7]}/2020" for day in DAYS],
        [None, *(f"{k % 24:02d}:15" for k in range(59))],
        [date.fromisoformat(day) for day in DAYS],
        [time(k % 24) for k in range(60)],
    ],
    ids=["ISO", "with a time", "slashes", "times", "date objects", "time objects"],
)
def test_dates_are_refused(days, frames, rng):
    X = frames.DataFrame({"number": rng.normal(size=60), "day": days})
    with pytest.raises(ValueError, match="column 'day' contains dates, times or intervals"):
        MKLClassifier().fit(X, np.arange(60) % 2)


def test_strings_of_which_some_are_dates_are_no_dates(frames, rng):
    X = frames.DataFrame({"number": rng.normal(size=60), "day": ["unknown", *DAYS[1:]]})
    with pytest.warns(UserWarning, match="hardly repeat in column 'day'"):
        assert default_kernels(X, np.ones(60))


@pytest.mark.parametrize("first", [0, 1, 101])
def test_row_numbers_are_named(first, frames, rng):
    table = {"number": rng.normal(size=60), "id": np.arange(60) + first}
    with pytest.warns(UserWarning, match=f"'id' counts the rows .{first}, {first + 1}, "):
        default_kernels(frames.DataFrame(table), np.ones(60))
    shuffled = frames.DataFrame(table | {"id": rng.permutation(60)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default_kernels(shuffled, np.ones(60))


@pytest.mark.filterwarnings("ignore:X. strings hardly repeat")
@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLOneClass])
@pytest.mark.parametrize("views", [False, True])
def test_strings_that_hardly_repeat_from_fit_to_file(Estimator, views, frames, rng, tmp_path):
    X, y = named(frames, rng)
    new, truth = named(frames, rng)
    if views:
        X, new = ({"all": table, "a": table[["a"]]} for table in (X, new))
    model = Estimator().fit(X, y)
    if Estimator is MKLClassifier:
        assert model.score(new, truth) > 0.9  # as categories they would say nothing of new rows
    assert verify(model, X, y).agree
    model.save(tmp_path / "m.kw")
    assert np.array_equal(load(tmp_path / "m.kw").predict(new), model.predict(new))


@pytest.mark.parametrize(
    "strings",
    [
        [f"level {k % 25}" for k in range(N)],  # too few,
        [f"level {k % 45}" for k in range(2 * N)],  # repeated more than twice,
        [f"{k}" for k in range(N)],  # too short,
        [f"level {k}" if k % 9 else k for k in range(N)],  # or not all strings
    ],
)
def test_other_strings_are_categories(strings):
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X: column 'a' contains numbers as strings")
        assert Contents.of(pandas.DataFrame({"a": strings})) == Contents([], [0], [], [], [])


def test_categorical_columns_may_have_many_levels():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [f"level {k}" for k in range(N)]})
    assert Contents.of(X) == Contents([], [], [], [0], [])
    assert Contents.of(X.astype("category")) == Contents([], [0], [], [], [])


def test_numbers_alone(rng):
    names = CompiledKernels(tuple(default_kernels(rng.normal(size=(9, 4)), np.ones(9)))).names
    assert names[0] == "Linear on all columns"
    assert names[4] == "RBF gamma=0.25 on all columns"


def test_arrays_with_missing_numbers(rng):
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[::4, 0] = np.nan
    model = MKLClassifier().fit(X, y)
    assert "Missing on column 0" in model.kernel_names_
    assert model.score(X, y) > 0.8


def test_many_columns_with_gaps_share_an_indicator(rng):
    X = rng.normal(size=(40, 50))
    X[np.arange(40), np.arange(40)] = np.nan
    names = CompiledKernels(tuple(default_kernels(X, np.ones(40)))).names
    assert sum("Missing" in name for name in names) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2], [3], [4]], r"column 'a' contains \[1\]; default kernels read numbers, strings"),
        ([1.0, np.inf, 2.0, 3.0], "contains infinity in column 'a'"),
    ],
)
def test_unsupported_columns_are_errors(values, message):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=message):
        MKLClassifier().fit(pandas.DataFrame({"a": values, "b": [1, 2, 3, 5]}), [0, 1, 0, 1])


def test_dates_periods_and_intervals_are_refused():
    pandas = pytest.importorskip("pandas")
    columns = (
        pandas.date_range("2020-01-01", periods=4),
        pandas.date_range("2020-01-01", periods=4, tz="UTC"),
        pandas.period_range("2020-01", periods=4, freq="M"),
        pandas.to_timedelta(np.arange(4), "D"),
        pandas.interval_range(0, 4),
    )
    for values in columns:
        with pytest.raises(ValueError, match="column 'a' contains dates, times or intervals"):
            MKLClassifier().fit(pandas.DataFrame({"a": values}), [0, 1, 0, 1])


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[s]"])
def test_arrays_of_dates_are_refused(dtype):
    X = np.arange(4).astype(dtype)[:, None]
    with pytest.raises(ValueError, match="X must contain numbers, got dates or times"):
        MKLClassifier().fit(X, [0, 1, 0, 1])


def test_arrays_of_strings_are_categories():
    X = np.array([["u"], ["v"]] * 10)
    y = np.arange(20) % 2
    model = MKLClassifier().fit(X, y)
    assert np.array_equal(model.predict(X), y)
    table = np.array([[float(i), "uv"[i % 2]] for i in range(20)], dtype=object)
    assert MKLClassifier().fit(table, y).score(table, y) == 1.0


def test_lists_of_sequences_have_candidates_for_sequences(rng):
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(60)]
    y = np.array(["AC" in text[:8] for text in X])
    names = {one["kernels"] for one in MKLClassifier().fit(X, y).candidates_}
    assert {"gapped k-mers", "k-mers", "weighted degree"} <= names
    ragged = [text + "A" * (i % 3) for i, text in enumerate(X)]
    model = MKLClassifier().fit(ragged, y)
    assert {one["kernels"] for one in model.candidates_} == {"gapped k-mers", "k-mers"}
    assert model.predict(ragged).shape == y.shape


def test_proteins_have_words_with_a_mismatch(rng):
    """A motif of five letters, one of which varies: words of three letters often miss it."""
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    X = ["".join(rng.choice(letters, size)) for size in rng.integers(15, 30, 120)]
    y = np.arange(120) % 2
    for i in np.flatnonzero(y):
        motif = list("WHCMY")
        motif[2] = rng.choice(letters)
        X[i] = X[i][:7] + "".join(motif) + X[i][7:]
    model = MKLClassifier().fit(as_sequences(X[:100], "protein"), y[:100])
    names = [one["kernels"] for one in model.candidates_]
    assert names == ["k-mers with mismatches", "k-mers"]
    assert model.kernel_names_[0].startswith("Mismatch")
    assert model.score(as_sequences(X[100:], "protein"), y[100:]) > 0.9


def test_unbalanced_classes_are_ranked_best_by_kernels_chosen_for_the_ranking(rng):
    """A motif of seven letters, one of which varies, in a fifth of the proteins.

    Words with a mismatch rank these first, but their decision values are almost all negative.
    """
    letters, y = list("ACDEFGHIKLMNPQRSTVWY"), np.arange(400) % 5 == 0
    texts = ["".join(rng.choice(letters, size)) for size in rng.integers(60, 80, len(y))]
    for i in np.flatnonzero(y):
        motif = list("WCHMKYF")
        motif[rng.integers(7)] = rng.choice(letters)
        texts[i] = texts[i][:5] + "".join(motif) + texts[i][12:]
    model, ranking = (
        MKLClassifierCV(norms=[2], Cs=[10.0], cv=3, scoring=scoring).fit(texts[:120], y[:120])
        for scoring in (None, "roc_auc")
    )
    assert model.kernel_names_[0].startswith("Spectrum")
    assert ranking.kernel_names_[0].startswith("Mismatch")
    assert model.score(texts[120:], y[120:]) > ranking.score(texts[120:], y[120:])
    areas = [roc_auc_score(y[120:], one.decision_function(texts[120:])) for one in (model, ranking)]
    assert areas[1] > areas[0]


def test_bytes_have_no_words_with_mismatches(rng):
    texts = ["".join(rng.choice(list("abc"), 9 + i % 2)) for i in range(20)]
    X = as_sequences(texts, "bytes")
    assert list(default_candidates(X, np.ones(20))) == ["k-mers"]


def test_alphabets_are_recognised():
    assert alphabet_of(["ACGTNACGT", "acgtacgtac"]) is DNA
    assert alphabet_of(["ACGUACGUAC"]) is RNA
    assert alphabet_of(["MKVLAAGIVGLLLAQWERTYPS"]) is PROTEIN
    assert alphabet_of(["MKVLAAGI", "DDWERTYPS"]) is PROTEIN  # peptides without ambiguous codes
    assert alphabet_of(["MKVLAAGX", "DDWERTYPS"]) is None
    assert alphabet_of(["red", "green"]) is None
    assert alphabet_of(["a long text of several words"]) is None


@pytest.mark.parametrize(("columns", "narrowest"), [(1, 64.0), (2, 64.0), (4, 16.0), (9, 4.0)])
def test_narrowest_width_depends_on_the_number_of_columns(rng, columns, narrowest):
    X = rng.normal(size=(30, columns))
    gammas = default_kernels(X, np.ones(30))[1].gamma
    assert gammas[-1] == pytest.approx(narrowest / columns)


def test_irrelevant_columns_lose_their_weight(rng):
    X = rng.uniform(size=(300, 8))
    y = 10.0 * (X[:, 0] - 0.5) ** 2 + 3.0 * X[:, 1] + rng.normal(scale=0.1, size=300)
    model = MKLRegressor().fit(X, y)
    assert min(model.candidates_, key=lambda one: one["loss"])["kernels"].endswith("each pair")
    alone = [m for m, name in enumerate(model.kernel_names_) if " on column " in name]
    weights = model.weights_[alone]
    assert len(alone) == 8
    assert weights[:2].min() > 5.0 * weights[2:].max()


@pytest.mark.parametrize(
    ("d", "sizes"), [(1, [14]), (2, [14, 16]), (3, [13, 19]), (10, [12, 67]), (11, [12, 23])]
)
def test_few_columns_and_pairs_have_kernels(d, sizes, rng):
    X = rng.normal(size=(20, d))
    found = default_candidates(X, np.ones(20))
    assert [len(CompiledKernels(tuple(kernels)).names) for kernels in found.values()] == sizes


def test_names_of_default_kernels_are_unique_and_contain_columns(frames, rng):
    X, _ = mixed(frames, rng)
    views = Views({"table": X, "b": X[["b"]], "matrix": rng.normal(size=(N, 5))})
    for kernels in (
        *default_candidates(X, np.ones(N)).values(),
        *default_candidates(X[["age", "kind"]], np.ones(N)).values(),
        default_of_views(views, np.ones(N)),
    ):
        names = CompiledKernels(tuple(kernels)).names
        assert not any("#" in name for name in names)
        assert all(" on " in name for name in names)
    kernels = CompiledKernels(tuple(default_of_views(views, np.ones(N))))
    assert set(kernels.views) == {"table", "b", "matrix"}
    assert {"Missing on table: age", "RBF gamma=1 on b", "Linear on matrix"} <= set(kernels.names)


def test_all_constant_kernels_are_an_error():
    with pytest.raises(ValueError, match="is constant on the training data"):
        MKLClassifier().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("letters", "kernel"),
    [("ACGT", "GappedKmer"), ("ACGU", "GappedKmer"), ("ACDEFGHIKLMNPQRSTVWY", "Mismatch")],
)
@pytest.mark.parametrize("Estimator", [MKLClassifier, MKLOneClass])
def test_sequences_beside_numbers_have_kernels_of_sequences(
    Estimator, letters, kernel, frames, rng, tmp_path
):
    drawn = ["".join(rng.choice(list(letters), 30)) for _ in range(80)]
    y = np.arange(80) % 2
    texts = ["AAGCCAAGCA" * k + text for k, text in zip(y, drawn, strict=True)]
    texts[3] = None
    X = frames.DataFrame({"site": texts, "age": rng.normal(size=80).tolist()})
    assert Contents.of(X) == Contents([1], [], [], [], [0])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="X: strings hardly repeat")
        model = Estimator().fit(X, y)
    assert any(kernel in name and "site" in name for name in model.kernel_names_)
    assert any("age" in name for name in model.kernel_names_)
    if Estimator is MKLClassifier:
        assert any("Spectrum" in name and "site" in name for name in model.kernel_names_)
        assert model.score(X, y) > 0.9
    assert verify(model, X, y).agree
    model.save(tmp_path / "m.kw")
    assert np.array_equal(load(tmp_path / "m.kw").predict(X), model.predict(X))

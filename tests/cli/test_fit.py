"""`kernelweave fit`, and the commands that read its models: `info`, `predict`, `compare`."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelweave import MKLClassifier, load
from kernelweave.cli.kernel_help import KERNELS_OF_KERNELS
from kernelweave.cli.kernel_specs import NAMES
from kernelweave.kernels import WeightedDegree
from kernelweave.sequences import Sequences, read_sequences

KERNELS = ["-k", "per_feature(rbf(gamma=scale, columns=age,spend))", "-k", "linear(columns=city)"]


def test_a_table_becomes_the_model_of_the_library(run, table):
    found = json.loads(run("fit", table, "--target", "back", *KERNELS, "-C", 0.5, "--json").output)
    model = load("model.kw")
    assert found["classes"] == list(model.classes_) == ["lost", "returned"]
    assert found["weights"] == pytest.approx(model.weights_.tolist())
    assert found["kernels"] == list(model.kernel_names_)
    assert found["duality_gap"] <= found["tol"]
    assert model.C == 0.5
    frame = pd.read_csv(table)
    again = model.fit(frame.drop(columns="back"), frame["back"])
    assert found["primal"] == pytest.approx(again.primal_objective_)


def test_the_summary_is_readable(run, table):
    text = run("fit", table, "--target", "back", *KERNELS, "--cv", 3).output
    for part in (
        "certificate",
        "relative duality gap",
        "support",
        "auROC",
        "mean of 3 folds",
        "weight",
    ):
        assert part in text


def test_defaults_are_explained(run, table):
    found = json.loads(run("fit", table, "--target", "back", "--json").output)
    frame = pd.read_csv(table)
    largest = frame["back"].value_counts(normalize=True).max()
    assert f"({largest:.2f} for the largest class)" in found["held_out"]
    assert set(found["columns"]) <= set(frame) - {"back"}
    assert list(found["columns"].values()) == sorted(found["columns"].values(), reverse=True)
    assert sum(one["chosen"] for one in found["candidates"]) == 1
    text = run("fit", table, "--target", "back").output
    assert text.index("held out ") < text.index("certificate ")
    assert "-k and -C override" in " ".join(text.split())
    assert "Plan(" not in text  # `info` prints it
    assert "Plan(" in run("info", "model.kw").output


def test_quiet_prints_nothing(run, table):
    assert run("fit", table, "--target", "back", *KERNELS, "--quiet").output == ""


def test_folds_keep_groups_whole(run, table):
    arguments = ["fit", table, "--target", "back", *KERNELS, "--cv", 3, "--json"]
    plain = json.loads(run(*arguments, "-k", "linear(columns=spend)").output)
    grouped = json.loads(run(*arguments, "--cv-groups", "shop").output)
    assert len(plain["cross_validation"]["auPRC"]["folds"]) == 3
    assert not any("shop" in name for name in grouped["kernels"])
    few = run(*arguments[:-2], 7, "--cv-groups", "shop", code=2).output
    assert "6 groups cannot make 7 folds" in few


def test_numbers_make_a_regression(run, table):
    found = json.loads(
        run("fit", table, "--target", "spend", "-k", "rbf(columns=age)", "--cv", 2, "--json").output
    )
    assert found["estimator"] == "MKLRegressor"
    assert set(found["cross_validation"]) == {"R^2", "root mean squared error"}


def test_two_files_of_sequences(run, two_files):
    sites, decoys = two_files
    found = json.loads(
        run("fit", "--positive", sites, "--negative", decoys, "-k", "wd(5)", "--json").output
    )
    model = load("model.kw")
    assert found["examples"] == 200
    assert (model.predict(read_sequences(sites)) == 1).mean() > 0.9


def test_sequences_choose_their_kernel(run, two_files):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "--quiet")
    model = load("model.kw")
    tried = {one["kernels"]: one["loss"] for one in model.candidates_}
    assert {"gapped k-mers", "k-mers", "weighted degree"} <= tried.keys()
    assert np.isfinite(list(tried.values())).all()


def test_labels_in_headers(run, tmp_path, two_files):
    lines = []
    for label, path in enumerate(two_files):
        for i, letters in enumerate(read_sequences(tmp_path / path)):
            lines.append(f"> s{i} chrom=c{i % 4}, label={label}, strand=+\n{letters}\n")
    (tmp_path / "both.fa").write_text("".join(lines))
    found = json.loads(
        run(
            "fit",
            "both.fa",
            "--target",
            "label",
            "-k",
            "wd(3)",
            "--cv-groups",
            "chrom",
            "--cv",
            2,
            "--json",
        ).output
    )
    assert found["classes"] == [0.0, 1.0]
    assert "has no field kind=" in run("fit", "both.fa", "--target", "kind", code=2).output


def test_regions_of_a_genome(run, tmp_path):
    rng = np.random.default_rng(0)
    letters = "".join(rng.choice(list("ACGT"), 4000))
    (tmp_path / "genome.fa").write_text(f">one two\n{letters}\n")
    for name, first in (("a.bed", 0), ("b.bed", 2000)):
        rows = [f"one\t{s}\t{s + 30}\t.\t0\t{'+-'[s % 2]}" for s in range(first, first + 1900, 65)]
        (tmp_path / name).write_text("\n".join(rows))
    run(
        "fit",
        "--positive",
        "a.bed",
        "--negative",
        "b.bed",
        "--genome",
        "genome.fa",
        "-k",
        "wd(3)",
        "-q",
    )
    rows = run("predict", "model.kw", "a.bed", "--genome", "genome.fa").output.splitlines()
    first, second = rows[2].split("\t"), rows[3].split("\t")
    assert [first[0], second[0]] == ["one:0-30(+)", "one:65-95(-)"]
    turned = letters[65:95][::-1].translate(str.maketrans("ACGT", "TGCA"))
    wanted = load("model.kw").decision_function([letters[:30], turned])
    assert [float(first[1]), float(second[1])] == wanted.tolist()
    assert "regions need --genome" in run("predict", "model.kw", "a.bed", code=2).output


def test_options_go_to_a_file_and_back(run, table):
    run("fit", table, "--target", "back", *KERNELS, "-C", 0.25, "-q", "--save-config", "fit.toml")
    first = load("model.kw")
    run("fit", table, "--config", "fit.toml", "-q", "-o", "again.kw")
    second = load("again.kw")
    assert second.C == 0.25
    assert second.weights_.tolist() == first.weights_.tolist()
    run("fit", table, "--config", "fit.toml", "-C", 2, "-q", "-o", "again.kw")
    assert load("again.kw").C == 2
    with open("fit.toml", "a") as file:
        file.write("colour = 1\n")
    assert "there is no option 'colour'" in run("fit", table, "--config", "fit.toml", code=2).output


@pytest.mark.parametrize(("text", "wanted"), [("unit", "unit"), ("none", None)])
def test_options_of_the_fit_reach_the_model(run, table, text, wanted):
    options = ["--normalize", text, "--class-weight", "balanced", "--max-time", 60]
    run("fit", table, "--target", "back", *KERNELS, *options, "-q")
    model = load("model.kw")
    assert model.normalize == wanted
    assert (model.class_weight, model.max_time) == ("balanced", 60)
    assert "'--normalize'" in run("fit", table, "--normalize", "range", code=2).output


@pytest.mark.parametrize("form", ["ovr", "ovo", "joint"])
def test_form_of_several_classes_reaches_the_model(run, table, form):
    call = ["fit", table, *KERNELS, "--multi-class", form, "-q"]
    run(*call, "--target", "shop")
    model = load("model.kw")
    assert (model.multi_class_, len(model.classes_)) == (form, 6)
    lines = run("predict", "model.kw", table).output.splitlines()
    assert len(lines) == 122  # two lines of header
    call[call.index(form)] = "pairs"
    assert "'--multi-class'" in run(*call, "--target", "shop", code=2).output


def test_model_has_no_intercept_on_request(run, table):
    call = ["fit", table, "--target", "back", *KERNELS, "--no-intercept", "-q"]
    run(*call, "--save-config", "fit.toml")
    model = load("model.kw")
    assert not model.fit_intercept
    assert model.intercept_ == 0
    run("fit", table, "--config", "fit.toml", "-q", "-o", "again.kw")
    assert not load("again.kw").fit_intercept


@pytest.mark.parametrize(
    ("option", "named"), [(["-C", 2], "-C"), (["--no-intercept"], "--no-intercept")]
)
def test_an_option_of_another_task_is_named(option, named, run, table):
    call = ["fit", table, "--target", "back", *KERNELS, "--task", "one-class", *option]
    assert f"{named} does not apply to the task one-class" in run(*call, code=2).output


def test_predictions_are_those_of_the_library(run, table):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    model, frame = load("model.kw"), pd.read_csv(table).drop(columns="back")
    run("predict", "model.kw", table, "-o", "scores.tsv", "--contributions")
    found = pd.read_csv("scores.tsv", sep="\t", comment="#", float_precision="round_trip")
    assert found["score"].tolist() == model.decision_function(frame).tolist()
    assert found["prediction"].tolist() == model.predict(frame).tolist()
    parts = found[list(model.kernel_names_)].to_numpy()
    assert parts.sum(axis=1) + model.intercept_ == pytest.approx(found["score"])


def test_standard_input_is_scored_as_a_file(run, two_files, monkeypatch):
    sites, decoys = two_files
    run("fit", "--positive", sites, "--negative", decoys, "-k", "wd(3)", "-q")
    text = run("predict", "model.kw", sites).stdout
    monkeypatch.setattr("kernelweave.cli.data.BLOCK", 7)
    monkeypatch.setattr("kernelweave.sequences.files.PIECE", 300)
    with open(sites, "rb") as file:
        assert run("predict", "model.kw", "-", input=file.read()).stdout == text
    run("predict", "model.kw", sites, "-o", "scores.tsv.gz")
    assert len(pd.read_csv("scores.tsv.gz", sep="\t", comment="#")) == len(read_sequences(sites))


def test_info_prints_the_results_of_fit(run, table):
    fitted = json.loads(run("fit", table, "--target", "back", *KERNELS, "--json").output)
    printed = json.loads(run("info", "model.kw", "--json").output)
    assert all(printed[name] == fitted[name] for name in printed)
    assert "relative duality gap" in run("info", "model.kw").output


def test_compare_scores_three_models(run, table):
    found = json.loads(
        run("compare", table, "--target", "back", *KERNELS, "--cv", 2, "--json").output
    )
    assert {"learned combination", "plain sum", "best single kernel"} <= set(found["scores"])


def test_equal_warnings_of_folds_are_shown_once(run, tmp_path, rng):
    rows = [f"{x:.3f},name {k:03d},{int(x > 0)}" for k, x in enumerate(rng.normal(size=80))]
    (tmp_path / "named.csv").write_text("\n".join(["x,name,class", *rows]))
    for _ in range(2):  # once for each call
        text = run("compare", "named.csv", "--target", "class", "--cv", "2").stderr
        assert text.count("strings hardly repeat in column 'name'") == 1
    quiet = run("compare", "named.csv", "--target", "class", "--cv", "2", "-q")
    assert quiet.stderr == ""


def test_missing_columns_are_named(run, table):
    run("fit", table, "--target", "back", *KERNELS, "-q")
    pd.read_csv(table).drop(columns=["age", "city"]).to_csv("less.csv", index=False)
    text = run("predict", "model.kw", "less.csv", "-o", "scores.tsv", code=2).output
    assert "lack columns that the model was trained on: age, city" in text
    assert not Path("scores.tsv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give DATA"),
        (["table.csv"], "--target is required"),
        (["table.csv", "--target", "nope"], "there is no column 'nope'"),
        (["table.csv", "--target", "back", "--cv-groups", "nope"], "there is no column 'nope'"),
        (["table.doc", "--target", "back"], "the file name must end in one of"),
        (["--positive", "table.csv", "--negative", "table.csv"], "take sequences or regions"),
        (["table.csv", "--target", "back", "-k", "rbf(columns=nope)"], "X has no column 'nope'"),
        (["table.csv", "--target", "back", "-k", "rbf(columns=age)", "-C", "0"], "C must be"),
        (["table.csv", "--target", "back", "-k", "rbf(columns=age)", "-o", "no/m.kw"], "no"),
        (["table.csv", "--target", "back", "--norm", "two"], "--norm must be a number"),
        (["empty.csv", "--target", "back"], "No columns to parse"),
        (["rows.csv", "--target", "back"], "contains no rows"),
    ],
)
def test_bad_calls_are_answered_in_one_line(arguments, message, run, table, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "rows.csv").write_text("age,back\n")
    text = run("fit", *arguments, "-q", code=2).output
    assert message in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_calibrated_probabilities_are_those_of_held_out_scores(method, run, two_files):
    """`--calibrate` is `calibrate=` of the estimator."""
    sites, decoys = two_files
    files = ("--positive", sites, "--negative", decoys, "-k", "wd(5)")
    run("fit", *files, "--calibrate", method, "-q")
    text = run("predict", "model.kw", sites, "-q").stdout
    table = pd.read_csv(StringIO(text), sep="\t", comment="#")
    X = Sequences.concatenated([read_sequences(sites), read_sequences(decoys)])
    y = np.repeat([1, -1], [len(read_sequences(sites)), len(read_sequences(decoys))])
    how = {"platt": "sigmoid", "isotonic": "isotonic"}[method]
    model = MKLClassifier(WeightedDegree(5), calibrate=how).fit(X, y)
    wanted = model.predict_proba(read_sequences(sites))[:, 1]
    np.testing.assert_allclose(table["probability"], wanted, rtol=1e-6)
    Path("genome.fa").write_text(f">c1\n{read_sequences(sites)[0] * 3}\n")
    hits = run("scan", "model.kw", "genome.fa", "-q").stdout
    rows = [line.split("\t") for line in hits.split("\n")]
    assert all(0 <= float(row[6]) <= 1 for row in rows if len(row) > 1)
    run("scan", "model.kw", "genome.fa", "--all", "--probability", "-q", "-o", "p.bedgraph")
    values = pd.read_csv("p.bedgraph", sep="\t", header=None)[3]
    assert values.between(0, 1).all()
    loaded = load("model.kw")
    assert loaded.calibrate == how
    chances = loaded.predict_proba(read_sequences(sites))[:, 1]
    np.testing.assert_allclose(chances, table["probability"], rtol=1e-5)
    assert loaded.predict_set(X, alpha=0.5).shape == (len(y), 2)


def test_calibration_needs_classes(run, table):
    kernels = ("-k", "rbf(columns=age)")
    call = ("fit", table, "--target", "spend", *kernels, "--calibrate", "platt")
    assert "--calibrate needs a classifier" in run(*call, code=2).stderr


def test_probabilities_of_three_classes_add_up_to_one(run):
    pd.DataFrame({"a": np.arange(60.0), "kind": np.repeat(["x", "y", "z"], 20)}).to_csv("t.csv")
    run("fit", "t.csv", "--target", "kind", "-k", "rbf(columns=a)", "--calibrate", "platt", "-q")
    text = run("predict", "model.kw", "t.csv", "-q").stdout
    found = pd.read_csv(StringIO(text), sep="\t", comment="#")
    each = [f"probability {name}" for name in "xyz"]
    np.testing.assert_allclose(found[each].sum(axis=1), 1.0)
    assert (found[each].to_numpy().argmax(axis=1) == np.repeat([0, 1, 2], 20)).mean() > 0.9


def test_help_lists_every_kernel_with_its_parameters(run):
    text = run("fit", "--help").output
    for name in (*NAMES, *KERNELS_OF_KERNELS):
        assert f"\n  {name}" in text
    assert "l=11, k=7, d=none" in text


@pytest.mark.parametrize(
    "kernel",
    [
        "gkm(l=6,k=4)",
        "gkm(l=6,k=4,centre=50,50)",
        "exponential(gkm(l=6,k=4,centre=50,50), gamma=2)",
    ],
)
def test_models_are_exported_for_lsgkm(run, two_files, kernel):
    sites, decoys = two_files
    files = ("--positive", sites, "--negative", decoys, "-k", kernel)
    run("fit", *files, "--normalize", "unit", "-q")
    run("export", "model.kw", "-o", "model.gkm.txt")
    X = read_sequences(sites)
    one, other = (load(name).decision_function(X) for name in ("model.kw", "model.gkm.txt"))
    assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize(("values", "task"), [(60, "regress"), (20, "classify")])
def test_many_different_numbers_are_a_quantity(run, tmp_path, values, task):
    target = np.arange(120) % values
    frame = pd.DataFrame({"a": target + 0.1, "target": target.astype(float)})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    call = ["fit", "numbers.csv", "--target", "target", "-k", "rbf(gamma=1)"]
    found = run(*call)
    estimator = {"regress": "MKLRegressor", "classify": "MKLClassifier"}
    assert estimator[task] in found.output
    assert f"the target has {values} different numbers; --task" in found.stderr
    other = "classify" if task == "regress" else "regress"
    assert estimator[other] in run(*call, "--task", other).output


def test_cross_validation_shows_one_bar(run, table):
    found = run("fit", table, "--target", "back", *KERNELS, "--cv", 3)
    assert "cross-validation" in found.stderr
    assert found.stderr.count("MKLClassifier") == 1

"""`kernelweave fit --time --event`, and the commands that read such models."""

import json

import numpy as np
import pandas as pd
import pytest
from censored_cases import make_study

from kernelweave import MKLSurvival, load


@pytest.fixture
def patients(tmp_path, rng):
    """A table of four numbers, days, and three codes of the event."""
    X, y = make_study(rng)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(days=y["time"])
    frame["died"], frame["status"] = y["event"], np.where(y["event"], "dead", "alive")
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return "patients.csv"


TIMES = ("--time", "days", "--columns", "a,b,c,d")


@pytest.mark.parametrize("event", ["died", "status=dead"])
def test_a_table_becomes_the_survival_model_of_the_library(event, run, patients):
    found = json.loads(run("fit", patients, *TIMES, "--event", event, "--cv", 3, "--json").output)
    assert found["estimator"] == "MKLSurvival"
    assert found["cross_validation"]["concordance"]["mean"] > 0.55
    frame = pd.read_csv(patients)
    again = MKLSurvival().fit(frame[list("abcd")], frame[["died", "days"]])
    assert found["primal"] == pytest.approx(again.primal_objective_)
    lines = run("predict", "model.kw", patients).output.splitlines()[2:]
    scores = [float(line.split("\t")[1]) for line in lines]
    np.testing.assert_allclose(scores, load("model.kw").predict(frame[list("abcd")]))


def test_events_and_times_are_no_features(run, patients):
    run("fit", patients, "--time", "days", "--event", "died", "-k", "linear(columns=a)")
    assert list(load("model.kw").feature_names_in_) == [*"abcd", "status"]


def test_comparisons_score_concordance(run, patients):
    output = run("compare", patients, *TIMES, "--event", "died", "--cv", 2, "--json").output
    assert json.loads(output)["scoring"] == "concordance"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--event", "died"], "--time and --event are needed together"),
        (["--time", "days"], "--time and --event are needed together"),
        ([*TIMES, "--event", "died", "--target", "a"], "leave out --target and --task"),
        ([*TIMES, "--event", "nothing"], "no column 'nothing'"),
        ([*TIMES, "--event", "status=2"], "no row has the code '2' in column status"),
        ([*TIMES, "--event", "status"], "the event 'status' must be boolean"),
        (["--time", "status", "--event", "died"], "the time 'status' must be a number"),
        ([*TIMES, "--event", "died", "--no-intercept"], "does not apply to the task survival"),
    ],
)
def test_mistakes_are_named(options, message, run, patients):
    assert message in " ".join(run("fit", patients, *options, code=2).output.split())

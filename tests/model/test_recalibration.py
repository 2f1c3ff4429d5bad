"""`verify` computes calibrators, scores, leave-one-out models and hazards again."""

import copy
import dataclasses

import numpy as np
import pytest

from kernelweave import (
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvival,
    load,
    verify,
)
from kernelweave.kernels import RBF, Linear

KERNELS = [RBF([0.1, 1.0]), Linear()]
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
TWICE, WEIGHTS = np.concatenate([X, X[:30]]), rng.random(90) + 0.1
two = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
mixed = np.concatenate([two, 1 - two[:15], two[15:30]])  # equal rows with different labels
times = np.array(
    list(zip(rng.random(90) < 0.7, rng.exponential(size=90) * np.exp(X[:, 0]), strict=True)),
    dtype=[("event", "?"), ("time", "f8")],
)

CASES = {
    "sigmoid": (MKLClassifier(KERNELS, calibrate="sigmoid"), X, two, WEIGHTS),
    "isotonic, merged examples": (
        MKLClassifier(KERNELS, norm=1, calibrate="isotonic"), TWICE, mixed, None),
    "plain sum": (MKLClassifier(KERNELS, norm=np.inf, calibrate="sigmoid"), X, two, None),
    "three classes": (
        MKLClassifier(KERNELS, multi_class="ovr", calibrate="isotonic"),
        X, np.arange(90) % 3, None),
    "shared weights": (
        MKLClassifier(KERNELS, multi_class="ovr", share_weights=True, calibrate="sigmoid"),
        X, np.arange(90) % 3, WEIGHTS),
    "pairs of classes, merged examples": (
        MKLClassifier(KERNELS, multi_class="ovo", calibrate="sigmoid"),
        TWICE, np.arange(120) % 3, None),
    "several labels": (MKLClassifier(KERNELS, calibrate="sigmoid"), X, (X > 0) * 1, None),
    "search": (MKLClassifierCV(KERNELS, norms=(1, 2), Cs=(1.0,), cv=2, calibrate="sigmoid"),
               X, two, None),
    "residuals, merged examples": (
        MKLRegressor(KERNELS, calibrate="residuals"), TWICE, TWICE[:, 0] ** 2, None),
    "residuals of several targets": (
        MKLRegressor(KERNELS, share_weights=True, calibrate="residuals"), X, X[:, :2], WEIGHTS),
    "search of residuals": (
        MKLRegressorCV(KERNELS, norms=(1, 2), Cs=(1.0,), cv=2, calibrate="residuals"),
        X, X[:, 0] ** 2, None),
    "jackknife+": (
        MKLRegressor(KERNELS, loss="squared", calibrate="jackknife+"), TWICE, TWICE[:, 0] ** 2,
        np.concatenate([WEIGHTS, WEIGHTS[:30]])),
    "hazards": (MKLSurvival(KERNELS), X, times, WEIGHTS),
}  # fmt: skip


def fitted(name):
    model, data, y, weights = CASES[name]
    if "search" in name:
        return model.fit(data, y), data, y, weights
    return model.fit(data, y, sample_weight=weights), data, y, weights


@pytest.mark.parametrize("name", CASES)
def test_recalibration_agrees_with_the_fit(name, tmp_path):
    model, data, y, weights = fitted(name)
    model.save(tmp_path / "m.kw")
    assert verify(load(tmp_path / "m.kw"), data, y, weights).agree


def inverted(one):
    if hasattr(one, "slope"):
        return dataclasses.replace(one, slope=-one.slope)
    return dataclasses.replace(one, heights=1.0 - one.heights)


CHANGES = {
    "calibrators_": lambda value: (inverted(value[0]), *value[1:]),
    "conformity_": lambda value: 0.5 * value,
    "left_out_": lambda value: value * np.where(np.arange(value.shape[1]) % 2, 1.0, 1.1),
    "event_times_": lambda value: value * 1.01,
    "cumulative_baseline_hazard_": lambda value: value * 1.01,
}


OF_CALIBRATION = {
    "sigmoid": ("calibrators_", "conformity_"),
    "isotonic": ("calibrators_", "conformity_"),
    "residuals": ("conformity_",),
    "jackknife+": ("left_out_", "conformity_"),
    None: ("event_times_", "cumulative_baseline_hazard_"),
}
ALTERED = [
    (name, attribute)
    for name, (model, *_) in CASES.items()
    for attribute in OF_CALIBRATION[getattr(model, "calibrate", None)]
    if (name, attribute) != ("several labels", "conformity_")  # which has no prediction sets
]


@pytest.mark.parametrize(("name", "attribute"), ALTERED)
def test_altered_attributes_are_reported(name, attribute, tmp_path):
    model, data, y, weights = fitted(name)
    other = copy.copy(model)
    setattr(other, attribute, CHANGES[attribute](getattr(model, attribute)))
    other.save(tmp_path / "m.kw")
    found = verify(load(tmp_path / "m.kw"), data, y, weights)
    assert not found.agree
    assert not found.calibration_agrees
    assert "do not follow from X and y" in repr(found)


def test_calibrators_of_a_model_that_was_not_calibrated_are_reported():
    model = MKLClassifier(KERNELS, loss="logistic").fit(X, two)
    calibrated = MKLClassifier(KERNELS, loss="logistic", calibrate="sigmoid").fit(X, two)
    assert verify(model, X, two).agree
    model.calibrators_ = (inverted(calibrated.calibrators_[0]),)
    assert not verify(model, X, two).agree


def test_calibration_that_was_removed_is_reported():
    model = MKLClassifier(KERNELS, loss="logistic", calibrate="sigmoid").fit(X, two)
    del model.calibrators_
    assert not verify(model, X, two).agree


@pytest.mark.parametrize("repeated", [False, True])
def test_folds_of_groups_are_trained_again(repeated, tmp_path):
    rows = np.arange(90) // 2 if repeated else np.arange(90)  # equal rows are merged
    data, y, groups = X[rows], two[rows], rows % 4
    model = MKLClassifier(KERNELS, class_weight="balanced", calibrate="isotonic")
    model.fit(data, y, groups=groups).save(tmp_path / "m.kw")
    again = load(tmp_path / "m.kw")
    assert len(np.unique(again.calibration_folds_)) == 4
    assert verify(again, data, y).agree
    again.calibrators_ = (inverted(again.calibrators_[0]),)
    assert not verify(again, data, y).agree


def test_folds_of_another_number_of_examples_are_refused(tmp_path):
    model = MKLClassifier(KERNELS, calibrate="sigmoid").fit(X, two)
    model.calibration_folds_ = np.arange(5)
    model.save(tmp_path / "m.kw")
    with pytest.raises(ValueError, match="calibration_folds_ must have an integer for each"):
        load(tmp_path / "m.kw")

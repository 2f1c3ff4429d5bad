"""Forms of classifiers: scores, labels and probabilities of classes from decision values."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from kernelweave.estimators.class_forms import FORMS, LABELS, form_named
from kernelweave.estimators.one_vs_one import class_scores
from kernelweave.estimators.pair_calibration import coupled

CLASSES = np.array(["a", "b", "c", "d"])
OUTPUTS = {"ovr": 4, "ovo": 6, "joint": 4}


@pytest.mark.parametrize("name", FORMS)
def test_labels_have_the_largest_score(name, rng):
    form, values = FORMS[name], rng.normal(size=(50, OUTPUTS[name]))
    assert form.scores(values).shape == (50, 4)
    np.testing.assert_array_equal(
        form.labels(values, CLASSES), CLASSES[form.scores(values).argmax(axis=1)]
    )


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("calibrated", [False, True])
def test_probabilities_of_classes_add_up_to_one(name, calibrated, rng):
    form, values = FORMS[name], rng.normal(size=(50, OUTPUTS[name]))
    p = form.probabilities(values, [expit] * OUTPUTS[name] if calibrated else None)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p.min() >= 0.0


def test_probabilities_of_each_form(rng):
    values, pairs = rng.normal(size=(9, 4)), rng.normal(size=(9, 6))
    each = expit(values)
    rest = each / each.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(FORMS["ovr"].probabilities(values, None), rest)
    np.testing.assert_allclose(FORMS["joint"].probabilities(values, None), softmax(values, axis=1))
    np.testing.assert_allclose(FORMS["ovo"].probabilities(pairs, None), coupled(expit(pairs)))
    np.testing.assert_allclose(LABELS.probabilities(values, None), each)
    np.testing.assert_allclose(FORMS["ovo"].scores(pairs), class_scores(pairs, 4))


def test_two_classes_have_one_output():
    form, values = FORMS["ovr"], np.array([[-1.0], [2.0]])
    np.testing.assert_array_equal(form.labels(values, CLASSES[:2]), ["a", "b"])
    p = expit(values)
    np.testing.assert_allclose(form.probabilities(values, None), np.hstack([1 - p, p]))
    assert form.names(CLASSES[:2]) == [0]


def test_labels_are_independent():
    values = np.array([[1.0, -1.0, 2.0]])
    np.testing.assert_array_equal(LABELS.labels(values, np.arange(3)), [[1, 0, 1]])
    assert not LABELS.has_sets


@pytest.mark.parametrize("name", FORMS)
def test_classes_must_suit_the_outputs(name):
    form, outputs = FORMS[name], OUTPUTS[name]
    form.check(CLASSES, outputs)
    for classes, count in [
        (CLASSES, outputs + 1),
        (CLASSES[:3], outputs),
        (np.array(list("aabc")), outputs),
    ]:
        with pytest.raises(ValueError, match="classes_"):
            form.check(classes, count)


def test_names_of_outputs():
    assert FORMS["ovo"].names(CLASSES[:3]) == ["a / b", "a / c", "b / c"]
    assert FORMS["joint"].names(CLASSES) == list(CLASSES)


def test_unknown_form_is_refused():
    with pytest.raises(ValueError, match="multi_class_ must be one of"):
        form_named("other")

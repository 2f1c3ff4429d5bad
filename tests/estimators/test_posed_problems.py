"""Problems of many classes, posed one at a time."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelweave import MKLClassifier
from kernelweave.estimators import classes
from kernelweave.estimators.posed_problems import PosedProblems, mapped
from kernelweave.kernels import RBF


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_posed_problems_give_the_same_model(share, calibrate, monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = np.repeat(StandardScaler().fit_transform(X), 2, axis=0)  # equal rows are merged
    y = np.repeat(y, 2)
    model = MKLClassifier(
        RBF([0.01, 0.1]), multi_class="ovr", share_weights=share, calibrate=calibrate
    )
    kept = model.fit(X, y)
    expected, gaps = kept.decision_function(X), kept.duality_gap_
    monkeypatch.setattr(classes, "MOST_KEPT", 0)
    posed = model.fit(X, y)
    np.testing.assert_array_equal(posed.decision_function(X), expected)
    np.testing.assert_array_equal(posed.duality_gap_, gaps)


def test_posed_problems_are_a_sequence():
    posed = PosedProblems(3, str)
    assert list(posed) == ["0", "1", "2"]
    assert (len(posed), posed[-1], posed[:2]) == (3, "2", ["0", "1"])
    assert list(mapped(posed, lambda one: one + "!")) == ["0!", "1!", "2!"]
    assert mapped(["a"], str.upper) == ["A"]
    with pytest.raises(IndexError):
        posed[3]

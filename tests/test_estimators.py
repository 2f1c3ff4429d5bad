"""Estimators: scikit-learn's conventions, and the same optimum as its machines."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelweave import MKLClassifier, MKLOneClass, MKLRegressor


@parametrize_with_checks([MKLClassifier(), MKLRegressor(), MKLOneClass()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)

"""Forms of classifiers: how decision functions become scores, labels and probabilities of classes.

A classifier has one decision function for two classes, one for each class or label, or one for each
pair of classes. `ClassForm` is the only place that tells them apart after a fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit, softmax

from ..engines.class_pairs import class_pairs, n_classes_of
from .calibration import normalized
from .joint_classes import leads
from .one_vs_one import class_scores
from .pair_calibration import coupled

Calibrate = Callable[[np.ndarray], np.ndarray]  # decision values of an output to probabilities


class ClassForm(ABC):
    """The relation of the outputs (decision functions) of a classifier to its K classes.

    Attributes
    ----------
    has_sets : bool
        Whether each example has one class, so that sets of classes can be predicted.
    """

    has_sets = True

    @abstractmethod
    def check(self, classes: np.ndarray, outputs: int) -> None:
        """Raise ValueError if classes do not suit the number of outputs of a loaded model."""

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Return a score of each class, (n, K), from decision values, (n, outputs).

        With two classes there is one score, of the second class, shape (n, 1).
        """
        return values

    def labels(self, values: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return the predicted class of each example, shape (n,)."""
        scores = self.scores(values)
        if scores.shape[1] == 1:
            return np.asarray(classes[(scores[:, 0] > 0).astype(int)])
        return np.asarray(classes[scores.argmax(axis=1)])

    def calibrated(self, values: np.ndarray) -> np.ndarray:
        """Return the values, shape (n, outputs), that calibrators map to probabilities."""
        return values

    def probabilities(
        self, values: np.ndarray, calibrators: Sequence[Calibrate] | None
    ) -> np.ndarray:
        """Return the probabilities of the classes, shape (n, K).

        Parameters
        ----------
        values : ndarray of shape (n, outputs)
            Decision values.
        calibrators : one for each output, or None
            Functions from decision values to probabilities. None: those of the logistic loss.
        """
        each = calibrators or [expit] * values.shape[1]
        columns = zip(each, self.calibrated(values).T, strict=True)
        return self.combined(np.column_stack([one(column) for one, column in columns]))

    @abstractmethod
    def combined(self, each: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (n, K), from those of the outputs."""

    def names(self, classes: np.ndarray) -> list[object]:
        """Return the name of each output."""
        return list(classes)


class AgainstRest(ClassForm):
    """One output for each class against the others, or a single one for two classes."""

    def check(self, classes: np.ndarray, outputs: int) -> None:
        _check_distinct(classes)
        if classes.shape != (max(outputs, 2),) or outputs == 2:
            raise ValueError(
                f"classes_ must have one class per decision function, or two for one, got shape "
                f"{classes.shape} for {outputs} decision functions"
            )

    def combined(self, each: np.ndarray) -> np.ndarray:
        return normalized(each)

    def names(self, classes: np.ndarray) -> list[object]:
        return [0] if len(classes) == 2 else list(classes)


class Joint(AgainstRest):
    """One output for each class, all trained with one loss (multinomial, Crammer-Singer)."""

    def calibrated(self, values: np.ndarray) -> np.ndarray:
        return leads(values)

    def probabilities(
        self, values: np.ndarray, calibrators: Sequence[Calibrate] | None
    ) -> np.ndarray:
        if calibrators is None:
            return np.asarray(softmax(values, axis=1))
        return super().probabilities(values, calibrators)


class Pairs(ClassForm):
    """One output for each pair of classes (one against one)."""

    def check(self, classes: np.ndarray, outputs: int) -> None:
        _check_distinct(classes)
        count = len(classes)
        if classes.ndim != 1 or count < 3 or outputs != count * (count - 1) // 2:
            raise ValueError(
                f"classes_ must have one decision function for each pair, got {count} classes "
                f"for {outputs} decision functions"
            )

    def scores(self, values: np.ndarray) -> np.ndarray:
        return class_scores(values, n_classes_of(values.shape[1]))

    def combined(self, each: np.ndarray) -> np.ndarray:
        return coupled(each)

    def names(self, classes: np.ndarray) -> list[object]:
        return [f"{classes[a]} / {classes[b]}" for a, b in class_pairs(len(classes))]


class Labels(ClassForm):
    """One output for each label; an example may have any number of labels (multilabel)."""

    has_sets = False

    def check(self, classes: np.ndarray, outputs: int) -> None:
        if not np.array_equal(classes, np.arange(outputs)):
            raise ValueError(
                f"classes_ must be the positions of {outputs} labels, got {classes.tolist()}"
            )

    def labels(self, values: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return 0 or 1 for each label, shape (n, n_labels)."""
        return (values > 0).astype(int)

    def combined(self, each: np.ndarray) -> np.ndarray:
        return each


FORMS: dict[str, ClassForm] = {"ovr": AgainstRest(), "ovo": Pairs(), "joint": Joint()}
LABELS = Labels()


def form_named(name: str) -> ClassForm:
    """Return the form of a fitted `multi_class_`."""
    if name not in FORMS:
        raise ValueError(f"multi_class_ must be one of {list(FORMS)}, got {name!r}")
    return FORMS[name]


def _check_distinct(classes: np.ndarray) -> None:
    if len(np.unique(classes)) < classes.size:
        raise ValueError(f"classes_ must differ, got {classes.tolist()}")

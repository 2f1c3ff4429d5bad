"""Methods of fitted estimators: decision values, contributions of kernels, model files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.numbers import thread_count
from ..common.types import Data
from ..model.files import kw as model_file
from ..model.model import Model
from ..model.weights import weights_frame
from ..norms import Norm, as_norm
from .kernel_parameters import KernelParameters
from .validation import check_examples, check_values

if TYPE_CHECKING:
    from pandas import DataFrame


NO_SUPPORT = (
    "the model file (format 1 or 2) merged equal training examples and does not contain their "
    "indices, so that support_ and dual_coef_ are unknown; fit and save the model again"
)


class FittedEstimator(KernelParameters):
    """Attributes and methods of fitted estimators that read the model."""

    _model: Model
    n_jobs: int | None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")  # n_features_in_ is set before training ends

    @property
    def _fitted_model(self) -> Model:
        """The model; raises NotFittedError, which is an AttributeError, before `fit`."""
        check_is_fitted(self)
        return self._model

    @property
    def kernel_names_(self) -> tuple[str, ...]:
        """Names of the M kernels."""
        return self._fitted_model.compiled.names

    @property
    def weights_(self) -> np.ndarray:
        """Kernel weights, shape (M,), or (n_outputs, M) if each output has its own."""
        model = self._fitted_model
        return model.weights[0] if model.n_weight_vectors == 1 else model.weights

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts, shape (n_outputs,)."""
        return self._fitted_model.intercept

    @property
    def support_(self) -> np.ndarray:
        """Indices of the support vectors among the training examples, shape (n_support,)."""
        support = self._fitted_model.support
        if support is None:
            raise AttributeError(NO_SUPPORT)
        return support

    @property
    def dual_coef_(self) -> np.ndarray:
        """Signed dual coefficients of the support vectors, shape (n_outputs, n_support)."""
        if self._fitted_model.support is None:
            raise AttributeError(NO_SUPPORT)
        return self._model.dual_coef

    @property
    def _used_norm(self) -> Norm:
        """The norm that a search has chosen, or else the parameter `norm`."""
        return as_norm(self.norm_ if hasattr(self, "norm_") else self.norm)

    def _decide(self, X: Data) -> np.ndarray:
        """Return decision values, shape (n, outputs)."""
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values = self._model.decide(X, self._extrapolates, n_jobs=thread_count(self.n_jobs))
        return check_values("decision values", values)

    def save(self, path: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        """Write the fitted estimator to a file without code; `kernelweave.load` reads it.

        Parameters
        ----------
        path : str or path-like
        key : bytes, optional
            At least 16 secret bytes with which the file is signed (HMAC-SHA256).

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        model_file.save(self, path, key=key)

    def _check_loaded(self) -> None:
        """Raise ValueError if attributes that were read from a file contradict the model in it."""
        if len(self._model.intercept) != 1:
            raise ValueError(
                f"intercept must have 1 decision function, got {len(self._model.intercept)}"
            )

    def _output_names(self) -> list[object]:
        """Return the name of each output: a class, a pair of classes, or a number."""
        return list(range(len(self._model.intercept)))

    def contributions(self, X: Data) -> np.ndarray:
        """Return the contributions of the kernels to the decision values.

        Parameters
        ----------
        X : array, table, views or sequences with n examples

        Returns
        -------
        ndarray of shape (n, M), or (n, n_outputs, M) with several outputs
            The sum over the kernels plus the intercept is the decision value.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        X = check_examples(self, X, reset=False)
        values = check_values("contributions", self._added(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def weights_frame(
        self, X: Data = None, y: object = None, *, by: str | None = None
    ) -> DataFrame:
        """Return the weight and the importance of each kernel or view.

        Parameters
        ----------
        X : n examples, optional
            Examples over which shares are computed; by default the training examples.
        y : array-like of shape (n,) or (n, n_outputs), optional
            Targets of X, to compute the held-out share by cross-fitting on X, which should be the
            training examples. Estimators with default kernels have computed it in `fit`.
        by : {None, "view"}
            None gives a row per kernel, "view" the sums over the kernels of each view.

        Returns
        -------
        pandas DataFrame
            The columns are kernel (unless by view), view, output (if there are several), weight,
            share and held_out_share.

            The share of a kernel (or view) is the standard deviation of its contributions to the
            decision values, divided by the sum over all kernels (or views). It is large for narrow
            kernels that overfit.

            The held-out share is the covariance of the contributions with the targets on held-out
            examples, divided by the sum over all kernels (or views). Negative covariances count as
            0. To compute it, the SVM is trained again on each training fold
            with fixed kernel weights. The column exists with default kernels, or if `y` is given.
        """
        check_is_fitted(self)
        added, held_out = None, getattr(self, "held_out_covariances_", None)
        if y is not None:
            held_out = self._held_out(X, y)
        if X is not None:
            X = check_examples(self, X, reset=False)
            added = self._added(X)
        each = None if held_out is None else np.atleast_2d(held_out)
        return weights_frame(self, added, by, each)

    def _held_out(self, X: Data, y: object) -> np.ndarray:
        """Return the covariances of held-out contributions with targets, shape (outputs, M)."""
        from ..model.verification import problems_of
        from .held_out_shares import held_out_covariances

        if X is None:
            raise ValueError("weights_frame: y was given without X; pass both")
        if getattr(self, "multi_class_", "ovr") == "joint":
            raise ValueError(
                "weights_frame: y must be None for a model with multi_class='joint'; fit with "
                "multi_class='ovr' or 'ovo' to compute held-out shares"
            )
        X = check_examples(self, X, reset=False)
        if self.kernels is None and not hasattr(self, "_default"):
            raise ValueError(
                "weights_frame: a loaded model with default kernels cannot be cross-fitted; call "
                "weights_frame() without y for the held-out shares of its fit"
            )
        kernels = self._default if self.kernels is None else self._resolve(self.kernels, X)
        problems, weights = problems_of(self, X, y, None), np.atleast_2d(self.weights_)
        found = held_out_covariances(self, kernels, X, problems, weights)
        if found is None:
            raise ValueError(
                f"weights_frame: y must have enough examples of each class for held-out folds, got "
                f"{len(np.asarray(y))} examples; call weights_frame() without X and y"
            )
        return found

    def _added(self, X: Data) -> np.ndarray:
        """Return the contributions of the kernels, shape (n, n_outputs, M)."""
        n_jobs = thread_count(self.n_jobs)
        return self._model.contributions(X, self._extrapolates, n_jobs=n_jobs)

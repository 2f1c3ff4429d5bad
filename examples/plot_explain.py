"""
Explaining single predictions
=============================

Shapley values divide the difference between a prediction and the average prediction among the
columns. For kernel models they are exact.
"""

from sklearn.datasets import load_diabetes

from kernelweave import BeeswarmDisplay, MKLRegressor, WaterfallDisplay
from kernelweave.inspection import shapley

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "female", 2.0: "male"})  # a column of categories is one player
model = MKLRegressor().fit(X, y)

# %%
# One point per patient and column: a high body mass index (orange) raises the prediction, a high
# value of s3 lowers it.

found = shapley(model, X, background=X)
display = BeeswarmDisplay(found).plot()

# %%
# One patient: from the mean prediction to the prediction for this patient.

display = WaterfallDisplay(found, example=3).plot()

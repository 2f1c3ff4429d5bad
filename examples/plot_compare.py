"""
Learned weights, plain sum and best single kernel
=================================================

``compare`` scores the learned combination, the plain sum of the kernels and the best single kernel
on the same folds. C is chosen for each model inside the training folds.
"""

import numpy as np

from kernelweave import MKLClassifier, compare
from kernelweave.kernels import RBF, per_feature

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 12))
y = np.sin(3 * X[:, 0]) + np.sin(3 * X[:, 1]) + 0.4 * rng.normal(size=300) > 0

# %%
# Two of twelve columns determine the class. With one kernel per column, learned weights select
# them. In the plain sum all columns have the same weight, noise included.

result = compare(MKLClassifier(per_feature(RBF(1.0))), X, y, cv=4, Cs=[0.3, 3], norms=[1])
print(result)

# %%
# Grey lines are folds, and bars are means.

display = result.plot()

"""
Was learning the weights worth it?
==================================

``compare`` scores the learned combination, the plain sum of the kernels and the best single kernel
on the same folds. For each of them C is chosen inside the training folds.
"""

import numpy as np

from kernelweave import MKLClassifier, compare
from kernelweave.kernels import RBF, per_feature

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 12))
y = np.sin(3 * X[:, 0]) + np.sin(3 * X[:, 1]) + 0.4 * rng.normal(size=300) > 0

# %%
# Two of twelve columns matter, each by itself. A kernel for each column, with a learned weight, can
# find them; in the plain sum the noise of the others counts as much.

result = compare(MKLClassifier(per_feature(RBF(1.0))), X, y, cv=4, Cs=[0.3, 3], norms=[1])
print(result)

# %%
# A grey line is a fold, a bar the mean.

display = result.plot()

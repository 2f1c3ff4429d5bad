"""
Weights that follow the problem (Sonnenburg et al., 2006)
=========================================================

Figures 2 to 4 of *Large scale multiple kernel learning*: two stars with growing distance, a sine
wave of growing frequency, and two sines on a slope. Each column of a picture is one model; its
colours are the weights of kernels from narrow to wide. :doc:`What agrees with the paper
</papers/sonnenburg-2006>`.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.datasets import make_sines, make_stars
from kernelweave.kernels import RBF

plt.style.use("tableau-colorblind10")

FULL = os.environ.get("KERNELWEAVE_PAPERS") == "full"  # the paper's sizes: make papers


def show(ax, columns, widths, weights, xlabel):
    """Draw weights: a column for each model, a row for each width."""
    ax.imshow(np.transpose(weights), origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=1)
    shown = np.linspace(0, len(columns) - 1, min(len(columns), 7)).round().astype(int)
    ax.set_xticks(shown, [f"{columns[i]:g}" for i in shown])
    ax.set_yticks(range(len(widths)), [f"{width:g}" for width in widths])
    ax.set(xlabel=xlabel, ylabel=r"width $2\sigma^2$")


# %%
# Stars (figure 2): C = 0.5, five widths. If the stars nearly touch, narrow kernels have weight;
# with growing distance, wider ones. The line is the test error.

widths = [0.01, 0.1, 1, 10, 100]
n, radii = (2000, np.arange(4.1, 10.0, 0.2)) if FULL else (300, np.arange(4.1, 10.0, 0.4))
stars, errors = [], []
for radius in radii:
    X, y = make_stars(n, outer_radius=radius, random_state=0)
    new, truth = make_stars(n, outer_radius=radius, random_state=1)
    model = MKLClassifier(RBF(gamma=1 / np.array(widths)), norm=1, C=0.5, normalize=None, n_jobs=1)
    stars.append(model.fit(X, y).weights_)
    errors.append(1 - model.score(new, truth))

fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
show(ax, radii.round(1), widths, stars, "radius of the outer star")
right = ax.twinx()
right.plot(errors, "o-", color="tab:red")
label = right.set_ylabel("test error", color="tab:red")

# %%
# A sine wave (figure 3): C = 10. The faster the wave, the narrower the kernel.

sine_widths = [0.005, 0.05, 0.5, 1, 10]
n, frequencies = (1000, np.arange(1, 21)) if FULL else (200, np.arange(1, 15))
sines = []
for frequency in frequencies:
    X, y = make_sines(n, frequencies=[frequency], random_state=0)
    kernel = RBF(gamma=1 / np.array(sine_widths))
    model = MKLRegressor(kernel, norm=1, C=10, epsilon=0.1, normalize=None, n_jobs=1)
    sines.append(model.fit(X, y).weights_)

fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
show(ax, frequencies, sine_widths, sines, "frequency")

# %%
# Two sines on a slope (figure 4): C = 5, ten widths, the frequency of one of the sines grows. A
# wide kernel fits the slope and the slow sine, a narrow one the fast sine.

wide = [0.001, 0.005, 0.01, 0.05, 0.1, 1, 10, 50, 100, 1000]
mixed = []
for frequency in frequencies:
    X, y = make_sines(n, frequencies=[1, frequency], slope=1.0, random_state=0)
    model = MKLRegressor(
        RBF(gamma=1 / np.array(wide)), norm=1, C=5, epsilon=0.1, normalize=None, n_jobs=1
    )
    mixed.append(model.fit(X, y).weights_)

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
show(ax, frequencies, wide, mixed, "frequency of the fast sine")

results = {
    "stars": {"radii": radii, "widths": widths, "weights": stars, "errors": errors},
    "sine": {"frequencies": frequencies, "widths": sine_widths, "weights": sines},
    "sines": {"frequencies": frequencies, "widths": wide, "weights": mixed},
}

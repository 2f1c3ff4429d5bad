"""Every loss, its parameters not the defaults."""

import pytest

from kernelweave import losses

LOSSES = [
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.Logistic(),
    losses.SmoothHinge(sigma=3.0),
    losses.EpsilonInsensitive(epsilon=0.2),
    losses.Squared(),
    losses.OneClass(),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)

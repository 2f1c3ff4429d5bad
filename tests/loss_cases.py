"""Every loss that has a name, its parameters not the defaults."""

import pytest

from kernelweave.losses.base import selectable_losses

PARAMETERS = {"smooth_hinge": {"sigma": 3.0}, "epsilon_insensitive": {"epsilon": 0.2}}
LOSSES = [loss(**PARAMETERS.get(loss.name, {})) for loss in selectable_losses()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)

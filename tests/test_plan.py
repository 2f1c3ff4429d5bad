"""Which solver `solver="auto"` stands for, and who may be asked for by name."""

import numpy as np
import pytest

from kernelweave import losses, norms
from kernelweave.plan import METHODS, automatic, solver_for

CHOICES = [  # norm, where new weights cost nothing, where they are dear
    (norms.Lp(1), "hessian", "hessian"),
    (norms.Lp(1, (1.0, 2.0)), "hessian", "hessian"),
    (norms.Lp(1.2), "newton", "newton"),
    (norms.Lp(1.5), "analytic", "newton"),
    (norms.Lp(2), "analytic", "newton"),
    (norms.Block(4 / 3), "analytic", "newton"),
    (norms.Lp(3), "analytic", "analytic"),
    (norms.Lp(1e6), "analytic", "analytic"),
    (norms.Elliptic(np.eye(2)), "analytic", "analytic"),
    (norms.Block(3), "analytic", "analytic"),
    (norms.Lp(np.inf), "uniform", "uniform"),
    (norms.Block(2), "uniform", "uniform"),
]


@pytest.mark.parametrize(("norm", "free", "dear"), CHOICES)
def test_auto_takes_the_fastest_that_serves_the_norm(norm, free, dear):
    assert (automatic(norm, dear=False), automatic(norm, dear=True)) == (free, dear)
    assert METHODS[free].serves(norm)
    assert METHODS[dear].serves(norm)
    assert solver_for("auto", norm, losses.Hinge()).name == "auto"


def test_who_cannot_serve_names_those_that_can():
    with pytest.raises(ValueError, match=r"these can: \['auto', 'analytic'") as error:
        solver_for("gradient", norms.Lp(2), losses.Hinge())
    assert "'gradient'" not in str(error.value).split("these can:")[1]

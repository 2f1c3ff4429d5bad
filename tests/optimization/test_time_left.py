"""The estimate of the remaining time follows from the decrease of the gap."""

import numpy as np
import pytest

from kernelweave.optimization.log import Progress
from kernelweave.optimization.time_left import TimeLeft
from kernelweave.problem.certificate import Certificate


def estimate(*seen):
    clock, said = TimeLeft(1e-3), ""
    for seconds, gap in seen:
        values = Certificate(primal=1.0, dual=1.0 - gap, constant=2.0, gap=gap, bias=0.0)
        said = clock.after(Progress(**vars(values), seconds=seconds, weights=np.ones(1)))
    return said


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ([(0.0, 1.0)], "time left unknown"),
        ([(0.0, 1.0), (1.0, 1.0)], "time left unknown"),
        ([(1.0, 1.0), (3.0, 1e-1), (5.0, 1e-2)], "about 2 s left"),  # a tenth in two seconds
        ([(0.0, 1.0), (1.0, 1e-1), (2.0, 0.5)], "about 4 s left"),  # the best counts
        ([(5.0, 1e-2), (0.5, 1.0), (1.5, 1e-1)], "about 2 s left"),  # another output begins
        ([(0.0, 1.0), (1.0, 1e-4)], "about 0 s left"),
    ],
)
def test_the_time_left_follows_from_how_the_gap_falls(seen, text):
    assert estimate(*seen) == text

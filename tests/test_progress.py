"""What users see while a solver runs."""

import pytest

from kernelweave.progress import _left


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ([(0.0, 1.0)], ""),  # nothing is known yet
        ([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)], ""),  # nor where nothing falls
        ([(1.0, 1.0), (3.0, 1e-1), (5.0, 1e-2)], ", about 2 s left"),  # a tenth in two seconds
        ([(0.0, 1.0), (9.0, 1e-1), (10.0, 1e-2)], ", about 1 s left"),  # the later half counts
        ([(0.0, 1.0), (1.0, 1e-2), (2.0, 1e-4)], ""),  # it is there
    ],
)
def test_the_time_left_follows_from_how_the_gap_falls(seen, text):
    assert _left(seen, 1e-3) == text

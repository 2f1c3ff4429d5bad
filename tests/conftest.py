"""Fixtures that every test file shares."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from kernelweave.common.core import _core

settings.register_profile("untimed", deadline=None)  # no test measures time
settings.load_profile("untimed")

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture(params=_core.simd_levels())
def level(request):
    """Every SIMD level of this machine in turn."""
    before = _core.simd_level()
    _core.use_simd(request.param)
    yield request.param
    _core.use_simd(before)


@pytest.fixture
def real_data():
    """Return a function from a file's name to its path; it skips the test without the file."""

    def find(name: str) -> Path:
        path = REAL_DATA / name
        if not path.exists():
            pytest.skip(f"real data {name!r} is not at {REAL_DATA} (it is no part of the project)")
        return path

    return find


@pytest.fixture
def load_real(real_data):
    """Return a function from a data set's name to its content, read from `real_data`.

    ``load_real("wdbc")`` gives the arrays of ``wdbc.npz`` as a dict; a name with a suffix, such as
    ``"splice_seq.csv.gz"`` or ``"sequences/kebabs_ccoil.tsv.xz"``, gives a pandas DataFrame.
    """

    def load(name: str):
        if "." in Path(name).name:
            pandas = pytest.importorskip("pandas")
            return pandas.read_csv(real_data(name), sep="\t" if ".tsv" in name else ",")
        with np.load(real_data(f"{name}.npz"), allow_pickle=False) as arrays:
            return dict(arrays)

    return load

"""Outputs that exceed the memory are refused with their size, or not cached."""

import tracemalloc

import numpy as np
import pytest

from kernelweave import MKLClassifier, kernels
from kernelweave.engines.memory import check_memory, free_memory

FAMILY = kernels.per_feature(kernels.RBF(gamma=np.geomspace(0.01, 10, 1000)))  # 3,000 kernels


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] > 0


@pytest.fixture
def little(monkeypatch):
    """Two megabytes are free: the outputs of 3,000 kernels on 200 examples take 4.6."""
    monkeypatch.setattr("kernelweave.engines.memory.free_memory", lambda: 2.0**21)


def test_error_states_the_memory_needed(monkeypatch):
    monkeypatch.setattr("kernelweave.engines.memory.free_memory", lambda: 2.0**30)
    with pytest.raises(
        ValueError, match=r"2,000,000 kernels on 100 examples need 1\.5 GB.*1\.0 GB"
    ):
        check_memory(2_000_000, 100)
    check_memory(1_000_000, 100)


@pytest.mark.parametrize("solver", ["simplemkl", "gradient"])
def test_solvers_that_keep_all_outputs_refuse(solver, data, little):
    model = MKLClassifier(FAMILY, norm=1, loss="squared_hinge", solver=solver)
    with pytest.raises(ValueError, match="3,000 kernels on 200 examples need"):
        model.fit(*data)


def test_a_sample_of_the_kernels_needs_less(data, little, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.methods.sifting.MOST_KERNELS", 500)
    for solver in ("skm", "auto", "cutting-plane"):
        model = MKLClassifier(FAMILY, norm=1, solver=solver).fit(*data)
        assert model.duality_gap_ <= 1e-3
    settings = {"loss": "squared_hinge", "normalize": "unit", "tol": 0.1}
    assert MKLClassifier(FAMILY, norm=1, solver="mwu", **settings).fit(*data).duality_gap_ <= 0.1


def test_mwu_samples_beyond_memory_are_refused(data, little, monkeypatch):
    monkeypatch.setattr("kernelweave.optimization.methods.mwu.FIRST", 2000)
    model = MKLClassifier(FAMILY, norm=1, loss="squared_hinge", solver="mwu")
    with pytest.raises(ValueError, match="2,000 kernels on 200 examples need"):
        model.fit(*data)


def system(root, available, cgroup="", **groups):
    """Write the memory files of a system: available kilobytes, and control groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 9999 kB\nMemAvailable: {available} kB\n")
    (root / "proc/self/cgroup").write_text(cgroup)
    for folder, files in groups.items():
        path = root / "sys/fs/cgroup" / folder.replace("__", "/").rstrip("/")
        path.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (path / name).write_text(text)
    return free_memory(root)


def v2(limit, usage, idle=0):
    stat = f"anon 1\ninactive_file {idle}\n"
    return {"memory.max": f"{limit}\n", "memory.current": f"{usage}\n", "memory.stat": stat}


def v1(limit, usage, idle=0):
    return {
        "memory.limit_in_bytes": f"{limit}\n",
        "memory.usage_in_bytes": f"{usage}\n",
        "memory.stat": f"inactive_file 1\ntotal_inactive_file {idle}\n",
    }


def test_free_memory_is_read_from_meminfo(tmp_path):
    assert system(tmp_path, 5000) == 5000 * 1024


def test_free_memory_is_unknown_without_system_files(tmp_path):
    assert free_memory(tmp_path) == np.inf


@pytest.mark.parametrize(
    ("cgroup", "groups", "left"),
    [
        ("0::/\n", {"": v2(1000, 300)}, 700),
        ("0::/\n", {"": v2(1000, 300, idle=100)}, 800),
        ("0::/\n", {"": v2("max", 300)}, 5000 * 1024),
        ("0::/\n", {"": v2(1000, 1100)}, 0),
        ("0::/a/b\n", {"a__b": v2("max", 10), "a": v2(1000, 300)}, 700),
        ("0::/a/b\n", {"a__b": v2(500, 10), "a": v2(1000, 900)}, 100),
        ("0::/not/seen/here\n", {"": v2(1000, 300)}, 700),
        ("4:cpu:/x\n3:memory,other:/job\n", {"memory__job": v1(2000, 500, idle=50)}, 1550),
        ("3:memory:/docker/0123\n0::/\n", {"memory__": v1(2000, 500)}, 1500),
        ("3:memory:/\n", {"memory__": v1(2**63 - 4096, 500)}, 5000 * 1024),
    ],
)
def test_free_memory_is_limited_by_the_control_group(cgroup, groups, left, tmp_path):
    assert system(tmp_path, 5000, cgroup, **groups) == left


def test_numbers_of_any_type_are_copied_once_at_most(rng):
    X = rng.integers(0, 2, size=(600, 1000)).astype(float)
    y, size = X[:, 0] > 0, X.nbytes

    def peak(kind):
        examples = X.astype(kind)
        tracemalloc.start()
        model = MKLClassifier(kernels.RBF(1e-3), cache_mb=1, C=0.1).fit(examples, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, model.decision_function(examples[:5])

    usual, expected = peak(float)
    for kind in (np.float32, np.int8, bool):
        most, values = peak(kind)
        assert most <= usual + 1.1 * size
        np.testing.assert_array_equal(values, expected)

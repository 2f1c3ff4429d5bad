"""The compiled core: the same numbers at every SIMD level and for every team of threads."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from kernel_cases import CASES, vectors

from kernelweave.common.core import _core, single_threaded_blas
from kernelweave.kernels import RBF, prepare

N = 300
KNOWN_LEVELS = ["baseline", "avx2", "avx512"]
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_level = pytest.mark.parametrize("level", _core.simd_levels())


def run_python(script, *, level=None, arguments=(), timeout=120):
    """Run a script in a fresh interpreter, at a SIMD level of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "KERNELWEAVE_SIMD"}
    if level is not None:
        environment["KERNELWEAVE_SIMD"] = level
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture
def at_level():
    """Return a function that computes something at a SIMD level; the old level comes back."""
    before = _core.simd_level()

    def compute(level, work):
        _core.use_simd(level)
        try:
            return work()
        finally:
            _core.use_simd(before)

    yield compute
    assert _core.simd_level() == before


def everything(case, X, n_jobs=1):
    """Results of the core for the examples X: arrays whose first axis is the kernel."""
    engine = case.engine(X, n_jobs=n_jobs)
    with single_threaded_blas():
        compiled, examples = prepare(case.kernels, case.how, X)
    side, program, M = examples.side, compiled.program, compiled.n_kernels
    rng = np.random.default_rng(1)
    coef, idx = rng.normal(size=(M, N)), np.arange(0, N, 3)
    first, second = rng.normal(size=(2, N))
    engine.change(idx, first[idx])  # rows are computed
    engine.change(np.arange(N), engine.alpha + second)  # some of them are found
    return {
        "evaluate": _core.evaluate(program, side, side, n_jobs),
        "diagonal": _core.diagonal(program, side),
        "decide": _core.decide(program, side, side, coef, np.eye(M), n_jobs),
        "outputs": engine.outputs().copy(),
        "block": engine.block(idx, np.linspace(0.5, 1.0, M))[None],
        "blocks": engine.blocks(idx),
    }


def assert_same(actual, expected, tolerance):
    for name, values in expected.items():
        scale = np.abs(values).max(axis=tuple(range(1, values.ndim)), keepdims=True)
        np.testing.assert_allclose(
            actual[name] / scale, values / scale, rtol=0, atol=tolerance, err_msg=name
        )


@every_case
def test_all_levels_agree(case, at_level, rng):
    X = case.data(rng, N)
    expected = at_level("baseline", lambda: everything(case, X))
    for level in _core.simd_levels():
        assert_same(at_level(level, lambda: everything(case, X)), expected, 1e-12)


@every_level
def test_the_environment_chooses_a_level(level, at_level, tmp_path):
    script = """
import sys
import numpy as np
from kernelweave.common.core import _core
from kernelweave.kernels import RBF, ChiSquared
X = np.random.default_rng(0).poisson(2.0, size=(300, 9)).astype(float)
np.save(sys.argv[1], np.concatenate([RBF([0.05, 0.1])(X), ChiSquared([0.1, 0.2])(X)]))
print(_core.simd_level())
"""
    path = tmp_path / "values.npy"
    done = run_python(script, level=level, arguments=[path])
    assert done.stdout.strip() == level, done.stderr
    X = np.random.default_rng(0).poisson(2.0, size=(300, 9)).astype(float)
    expected = at_level("baseline", lambda: RBF([0.05, 0.1])(X))
    np.testing.assert_allclose(np.load(path)[:2], expected, rtol=1e-12)


def test_the_best_level_is_the_default():
    script = """
from kernelweave.common.core import _core
assert _core.simd_level() == _core.simd_levels()[-1]
"""
    assert run_python(script).returncode == 0
    assert _core.simd_levels() == KNOWN_LEVELS[: len(_core.simd_levels())]


@pytest.mark.parametrize("level", ["sse9", *KNOWN_LEVELS[len(_core.simd_levels()) :]])
def test_unknown_simd_levels_are_errors_that_name_accepted_ones(level):
    done = run_python("from kernelweave import MKLClassifier", level=level)
    assert done.returncode != 0
    accepted = ", ".join(_core.simd_levels())
    assert f"KERNELWEAVE_SIMD={level} is not available" in done.stderr
    assert f"accepted here: {accepted}" in done.stderr
    with pytest.raises(ValueError, match=f"accepted here: {accepted}"):
        _core.use_simd(level)


@every_case
def test_any_number_of_threads_gives_the_same_numbers(case, rng):
    X = case.data(rng, N)
    expected = everything(case, X)
    for n_jobs in (2, 4):
        assert_same(everything(case, X, n_jobs), expected, 0.0)


@pytest.mark.parametrize("n_jobs", [0, -2])
def test_a_team_without_threads_is_refused(n_jobs, rng):
    compiled, examples = prepare(RBF(0.1), None, vectors(rng, 10))
    ones = np.ones((1, 10)), np.ones((1, 1))
    for ask in (
        lambda: _core.Engine(compiled.program, examples.side, 0, n_jobs),
        lambda: _core.evaluate(compiled.program, examples.side, examples.side, n_jobs),
        lambda: _core.decide(compiled.program, examples.side, examples.side, *ones, n_jobs),
    ):
        with pytest.raises(ValueError, match="n_jobs must be at least 1"):
            ask()


def test_threads_of_python_may_compute_at_once(rng):
    case = CASES["distances and dot products"]
    tasks = [case.data(rng, N) for _ in range(6)]
    expected = [everything(case, X) for X in tasks]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda X: everything(case, X, n_jobs=2), tasks))
    for actual, wanted in zip(found, expected, strict=True):
        assert_same(actual, wanted, 0.0)


def test_a_forked_child_can_compute():
    script = """
import os, sys
import numpy as np
from kernelweave.kernels import RBF
X = np.random.default_rng(0).normal(size=(600, 5))
expected = RBF(0.1)(X, n_jobs=2)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(RBF(0.1)(X, n_jobs=2), expected) else 7)
status = os.waitpid(child, 0)[1]
assert np.array_equal(RBF(0.1)(X, n_jobs=2), expected)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    assert run_python(script, timeout=60).returncode == 0


def test_other_threads_of_python_run_while_the_core_works(rng):
    case = CASES["widths on a grid of powers"]
    engine = case.engine(case.data(rng, 4000), cache_mb=0)
    idx, ones = np.arange(4000), np.ones(4000)

    def ticks_in_the_middle_of_a_call():
        span, ticks = [], []

        def work():
            span.append(time.perf_counter())
            engine.change(idx, ones)
            span.append(time.perf_counter())

        worker = threading.Thread(target=work)
        worker.start()
        while worker.is_alive():
            ticks.append(time.perf_counter())
            time.sleep(1e-3)
        start, end = span
        return [t for t in ticks if start + (end - start) / 4 < t < end - (end - start) / 4]

    # A lock held through the call would leave no tick in the middle of any. On a busy machine the
    # scheduler may leave none in the middle of one.
    assert any(ticks_in_the_middle_of_a_call() for _ in range(20))

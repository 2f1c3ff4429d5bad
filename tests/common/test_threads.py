"""Many threads of Python that use one model at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from kernelweave import MKLClassifier
from kernelweave.common.core import single_threaded_blas
from kernelweave.kernels import RBF, Spectrum, WeightedDegree
from kernelweave.sequences.weight_stores import WeightStore

THREADS = 6


def texts(rng, n):
    return ["".join(row) for row in rng.choice(list("ACGT"), size=(n, 60))]


MODELS = {
    "rows": (RBF([0.1, 1.0]), lambda rng, n: rng.normal(size=(n, 5))),
    "store": (WeightedDegree(8, store="trie"), texts),
    "several": ([WeightedDegree(8), Spectrum(3)], texts),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_predictions(name, n_jobs, rng):
    kernels, draw = MODELS[name]
    X, new = draw(rng, 200), draw(rng, 300)
    model = MKLClassifier(kernels, n_jobs=n_jobs).fit(X, np.arange(200) % 2 == 0)
    with ThreadPoolExecutor(THREADS) as pool:  # the first ones compile the sums, all at once
        found = list(pool.map(lambda _: model.decision_function(new), range(5 * THREADS)))
    for values in found:
        np.testing.assert_array_equal(values, found[0])


def test_fits(rng):
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + X[:, 1] ** 2 > 0.5

    def fit(_):
        return MKLClassifier(RBF([0.1, 1.0]), n_jobs=2).fit(X, y).decision_function(X)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(fit, range(2 * THREADS)))
    for values in found:
        np.testing.assert_allclose(values, found[0], rtol=1e-9, atol=1e-9)


def test_lookups(rng):
    X = texts(rng, 300)
    store = WeightStore(WeightedDegree(8).resolve(X))
    store.add(X, rng.normal(size=300))
    expected = store.lookup(X)
    with ThreadPoolExecutor(THREADS) as pool:
        for values in pool.map(lambda _: store.lookup(X, n_jobs=2), range(4 * THREADS)):
            np.testing.assert_array_equal(values, expected)


@pytest.fixture
def blas_of_two_threads():
    """Let BLAS use two threads, and return its controller."""
    controller = ThreadpoolController()
    with controller.limit(limits=2, user_api="blas"):
        yield controller


def test_every_thread_can_keep_blas_to_one_thread(blas_of_two_threads):
    """Threads may enter and leave in any order."""
    controller, seen, entered, leave = blas_of_two_threads, [], Event(), Event()

    def numbers():
        blas = controller.select(user_api="blas")
        return {lib.get_num_threads() for lib in blas.lib_controllers}

    def work():
        with single_threaded_blas():
            entered.set()
            seen.append(numbers())
            leave.wait(60)
        seen.append(numbers())

    before = numbers()
    assert before == {2}
    with single_threaded_blas():
        pass
    thread = Thread(target=work)
    thread.start()
    entered.wait(60)
    with single_threaded_blas():
        leave.set()
        thread.join()
        assert numbers() == {1}
    assert seen[0] == {1}
    assert numbers() == before

"""Arrays passed to the core are checked for type, size and range."""

import numpy as np
import pytest

from kernelweave.common.core import _core
from kernelweave.kernels import CompiledKernels, Linear, Precomputed, Spectrum, WeightedDegree
from kernelweave.kernels.compile.examples import Given
from kernelweave.sequences import Sequences, alphabets, as_sequences

DNA, PROTEIN = alphabets.DNA, alphabets.PROTEIN
HP = alphabets.as_alphabet("HP")


def words(*values):
    return np.array(values, dtype=np.uint64)


WRONG = {
    "fewer data than n says": (DNA, {"n": 1000, "length": 64, "data": words(1, 2)}),
    "more data than n says": (DNA, {"n": 1, "length": 64, "data": words(1, 2, 3)}),
    "a length beyond the data": (DNA, {"n": 1, "length": 10**6, "data": words(1, 2)}),
    "a negative length": (DNA, {"n": 1, "length": -64, "data": words(1, 2)}),
    "a size that overflows": (DNA, {"n": 2**40, "length": 2**47, "data": words()}),
    "a negative n": (DNA, {"n": -1, "length": 64, "data": words(1, 2)}),
    "many of no length": (DNA, {"n": 10**15, "length": 0, "data": words()}),
    "another type": (DNA, {"n": 1, "length": 64, "data": np.array([1, 2])}),
    "floats": (DNA, {"n": 1, "length": 64, "data": np.array([1.0, 2.0])}),
    "bytes for words": (DNA, {"n": 1, "length": 64, "data": np.zeros(16, np.uint8)}),
    "words for bytes": (PROTEIN, {"n": 1, "length": 2, "data": words(1, 2)}),
    "gaps between items": (DNA, {"n": 1, "length": 64, "data": words(1, 2, 3, 4)[::2]}),
    "two dimensions": (DNA, {"n": 1, "length": 64, "data": words(1, 2)[None]}),
    "a list": (DNA, {"n": 1, "length": 64, "data": [1, 2]}),
    "no letters": (PROTEIN, {"n": 1, "length": 2, "data": np.array([20, 1], np.uint8)}),
    "codes of another alphabet": (HP, {"n": 1, "length": 2, "data": words(0, 1)}),
    "a short mask": (
        DNA, {"n": 2, "length": 64, "data": words(1, 2, 3, 4), "unknown": words(1)}),
    "a mask of bytes": (
        DNA, {"n": 1, "length": 64, "data": words(1, 2), "unknown": np.zeros(8, np.uint8)}),
    "a mask beside bytes": (
        PROTEIN, {"n": 1, "length": 2, "data": np.zeros(2, np.uint8), "unknown": words(1)}),
    "lengths beyond the data": (
        DNA, {"n": 2, "length": None, "data": words(1, 2), "lengths": np.array([64, 64])}),
    "negative lengths": (
        DNA, {"n": 2, "length": None, "data": words(1, 2), "lengths": np.array([128, -64])}),
    "lengths whose sum overflows": (
        DNA, {"n": 2, "length": None, "data": words(1, 2), "lengths": np.array([2**62, 2**62])}),
    "too few lengths": (
        DNA, {"n": 9, "length": None, "data": words(1, 2), "lengths": np.array([64])}),
    "lengths of another type": (
        DNA, {"n": 1, "length": None, "data": words(1, 2), "lengths": np.array([64.0])}),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_sequences_that_lie_are_refused(what):
    alphabet, parts = WRONG[what]
    with pytest.raises((ValueError, TypeError)):
        Sequences(alphabet, **parts).packed  # noqa: B018
    with pytest.raises((ValueError, TypeError, IndexError)):
        Sequences(alphabet, **parts)[parts["n"] - 1]


def test_the_core_keeps_viewed_arrays_alive():
    packed = Sequences(DNA, n=1, length=4, data=words(0b1010, 0b1100)).packed
    assert packed.codes(0) == bytes([0, 1, 2, 3])


def test_tables_of_another_kind_than_a_kernel_reads_are_refused(rng):
    X = rng.normal(size=(4, 3))
    texts = ["ACGT"] * 4
    kinds = {
        "vectors": CompiledKernels((Linear().resolve(X),)).training(X),
        "matrix": CompiledKernels((Precomputed().resolve(X @ X.T),)).training(X @ X.T),
        "planes": CompiledKernels((WeightedDegree(2).resolve(texts),)).training(texts),
        "sequences": CompiledKernels((Spectrum(2).resolve(texts),)).training(texts),
    }
    programs = {
        "vectors": CompiledKernels((Linear().resolve(X),)).program,
        "matrix": CompiledKernels((Precomputed().resolve(X @ X.T),)).program,
        "planes": CompiledKernels((WeightedDegree(2).resolve(texts),)).program,
        "sequences": CompiledKernels((Spectrum(2).resolve(texts),)).program,
    }
    for kind, program in programs.items():
        for other, examples in kinds.items():
            if kind == other:
                _core.evaluate(program, examples.side, examples.side)
                continue
            with pytest.raises(ValueError, match="another kind"):
                _core.evaluate(program, kinds[kind].side, examples.side)
            with pytest.raises(ValueError, match="another kind"):
                _core.diagonal(program, examples.side)
            with pytest.raises(ValueError, match="another kind"):
                _core.Engine(program, examples.side, 10**6)


def side_of(table, n):
    side = _core.Side(n)
    table.add_to(side)
    return side


@pytest.mark.parametrize("ids", [[0, 3], [0, -1], [2**40, 0], []])
def test_ids_of_given_similarities_lie_inside_the_matrix(ids):
    program = CompiledKernels((Precomputed().resolve(np.eye(3)),)).program
    reference = side_of(Given(np.empty((0, 0)), np.array(ids, dtype=np.int64)), 2)
    new = side_of(Given(np.ones((5, 3)), np.arange(0)), 5)
    one = np.ones((1, 1))
    with pytest.raises(ValueError, match="given similarities"):
        _core.evaluate(program, reference, new)
    with pytest.raises(ValueError, match="given similarities"):
        _core.Decision(program, reference, np.ones((1, 2)), one).decide(new)
    square = side_of(Given(np.ones((2, 2)), np.array(ids, dtype=np.int64)), 2)
    with pytest.raises(ValueError, match="given similarities"):
        _core.diagonal(program, square)
    with pytest.raises(ValueError, match="given similarities"):
        _core.evaluate(program, square, square)


def test_examples_that_only_serve_as_a_reference_are_no_new_ones():
    program = CompiledKernels((Precomputed().resolve(np.eye(3)),)).program
    reference = side_of(Given(np.empty((0, 0)), np.arange(3)), 3)
    with pytest.raises(ValueError, match="given similarities"):
        _core.evaluate(program, reference, reference)


def test_letters_of_another_alphabet_are_refused():
    dna, protein = ["ACGT"] * 3, as_sequences(["WYWY"] * 3, "protein")
    kernels = {
        "planes": (WeightedDegree(2), WeightedDegree(2, alphabet="protein")),
        "k-mers": (Spectrum(2, store="table"), Spectrum(2, alphabet="protein")),
    }
    for kernel, other in kernels.values():
        compiled = CompiledKernels((kernel.resolve(dna),))
        foreign = CompiledKernels((other.resolve(protein),)).training(protein)
        with pytest.raises(ValueError, match="alphabet"):
            _core.evaluate(compiled.program, compiled.training(dna).side, foreign.side)
        with pytest.raises(ValueError, match="alphabet"):
            _core.evaluate(compiled.program, foreign.side, compiled.training(dna).side)


def test_sides_have_no_negative_size():
    with pytest.raises(ValueError, match="at least 0"):
        _core.Side(-1)

"""Sequences in many files and blocks: those of the files read at once, and the same model."""

import gzip

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.dask import DaskMKLClassifier, SequenceBlocks, read_sequences
from kernelweave.dask.preparation import is_light
from kernelweave.datasets import make_splice
from kernelweave.engines.shard import Shard, VaryingKernels
from kernelweave.kernels import Linear, Spectrum, WeightedDegree
from kernelweave.kernels.compile.normalize import prepare
from kernelweave.sequences import Sequences, write_sequences
from kernelweave.sequences import read_sequences as read_file


def texts(blocks):
    return [text for block in blocks.blocks for text in block.compute()]


@pytest.fixture
def fasta(tmp_path):
    """Two files of sequences, all of them, and labels."""
    X, y = make_splice(300, positive_rate=0.3)
    for name, part in (("a.fa", X[:100]), ("b.fa", X[100:])):
        write_sequences(tmp_path / name, part)
    return tmp_path, X, y


@pytest.mark.parametrize("blocksize", [None, 1, 151, 1000, 4096, 10**9])
def test_blocks_hold_whole_records(blocksize, fasta):
    folder, X, _ = fasta
    blocks = read_sequences(str(folder / "*.fa"), blocksize=blocksize)
    assert isinstance(blocks, SequenceBlocks)
    assert texts(blocks) == list(X)
    if blocksize == 1:
        assert blocks.npartitions == len(X)
    if blocksize is None:
        assert blocks.npartitions == 2
    assert str(blocks.npartitions) in repr(blocks)


def test_lines_of_any_length_and_packed_files(tmp_path):
    plain = ">1 >no record\nACGT\nAC\n\n>2\nGT\n>3\nA\nC\nG\nT\n"
    (tmp_path / "x.fa").write_text(plain)
    with gzip.open(tmp_path / "y.fa.gz", "wt") as file:
        file.write(plain)
    (tmp_path / "z.fq").write_text("@1\nACG\n+\n>@>\n@2\nAC\n+\n>>\n")
    expected = ["ACGTAC", "GT", "ACGT"]
    for blocksize in (1, 5, 17, 40, None):
        files = [tmp_path / "x.fa", tmp_path / "y.fa.gz"]
        assert texts(read_sequences(files, blocksize=blocksize)) == 2 * expected
        assert texts(read_sequences(tmp_path / "z.fq", blocksize=blocksize)) == ["ACG", "AC"]


def test_bad_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_sequences(str(tmp_path / "*.fa"))
    with pytest.raises(ValueError, match="at least one file"):
        read_sequences([])
    with pytest.raises(ValueError, match="blocksize"):
        read_sequences("x.fa", blocksize=0)


@pytest.mark.parametrize(
    "kernel", [WeightedDegree(6), WeightedDegree(4, split="degree"), Spectrum(3)]
)
def test_models_of_files_in_blocks_equal_local_models(kernel, fasta, client):
    folder, X, y = fasta
    blocks = read_sequences(str(folder / "*.fa"), blocksize=8000)
    ours = DaskMKLClassifier(kernel, tol=1e-4).fit(blocks, y)
    plain = MKLClassifier(kernel, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(ours.primal_objective_, plain.primal_objective_, rtol=2e-4)
    values = ours.decision_function(blocks).compute()
    np.testing.assert_allclose(values, plain.decision_function(X), atol=0.05)
    assert isinstance(ours.as_plain()._model.examples.tables[0].sequences, Sequences)


def test_lengths_that_differ_name_the_file(fasta, client):
    folder, _, y = fasta
    text = (folder / "b.fa").read_text().splitlines()
    text[2 * 17 + 1] += "A"
    (folder / "b.fa").write_text("\n".join(text) + "\n")
    with pytest.raises(ValueError, match=r"partition 1 \(.*b\.fa\): X: sequence 17 has 142"):
        DaskMKLClassifier(WeightedDegree(6)).fit(read_sequences(str(folder / "*.fa")), y)


def test_a_missing_sequence_file_is_an_error(fasta, client):
    folder, _, y = fasta
    blocks = read_sequences(str(folder / "*.fa"))
    (folder / "b.fa").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.fa"):
        DaskMKLClassifier(WeightedDegree(6)).fit(blocks, y)
    assert read_file(folder / "a.fa").n == 100


def test_sequences_are_light_and_wide_tables_are_not(rng):
    """Many sequences are fetched at once: a round trip costs more than their bytes."""
    for kernel, X, light in (
        (WeightedDegree(8), make_splice(20)[0], True),
        (Linear(), rng.normal(size=(20, 10)), True),
        (Linear(), rng.normal(size=(20, 100)), False),
    ):
        compiled, examples = prepare(kernel, "variance", X)
        assert is_light(Shard(VaryingKernels(compiled, family=False), examples)) == light

"""Models of LS-GKM: read, written, and compared with its published scores."""

import gzip

import numpy as np
import pytest

from kernelweave import MKLClassifier, MKLRegressor, export_lsgkm, load, verify
from kernelweave.kernels import Exponential, GappedKmer, Spectrum

pytestmark = pytest.mark.filterwarnings("ignore:GappedKmer:UserWarning")

# The first scores that LS-GKM publishes with its tests (words of 10 letters, k = 6, d = 3, stopped
# at violations of 1e-3), for positive test sequences in the order of its file.
PUBLISHED = [0.871409, 0.492784, 0.361597, -0.0734241, 0.878029, 2.05588, 1.79133, 0.92323]
PUBLISHED += [0.433447, 1.94753, 0.97827, 0.290125, 0.740583, 1.12748, 0.659298, 0.364817]
PUBLISHED_SUPPORT, PUBLISHED_RHO = 958, 0.379216

TEXT = """svm_type c_svc
kernel_type gkm_esttrunc
L 6
k 4
d 2
nr_class 2
total_sv 3
rho 0.25
label 1 -1
nr_sv 2 1
SV
0.5 ACGTACGTACGT
1 GGGATTTCANACC
-1.5 TTGCATGACTGGTTG
"""
NEW = ["ACGTTGCATGACC", "TTTTTACGTACGT"]


def fitted(rng, kernel, n=60, estimator=MKLClassifier):
    X = ["".join(rng.choice(list("ACGT"), rng.integers(20, 40))) for _ in range(n)]
    y = np.array([1.0 if "TA" in x[10:16] else -1.0 for x in X])
    return estimator(kernel, normalize="unit").fit(X, y), X


def test_lsgkm_files_are_read_exactly(tmp_path):
    path = tmp_path / "m.model.txt"
    path.write_text(TEXT)
    model = load(path)
    support = ["ACGTACGTACGT", "GGGATTTCAAACC", "TTGCATGACTGGTTG"]
    kernel = GappedKmer(6, 4, 2)
    K = kernel(NEW, support) / np.sqrt(np.outer(kernel.diagonal(NEW), kernel.diagonal(support)))
    np.testing.assert_allclose(model.decision_function(NEW), K @ [0.5, 1.0, -1.5] - 0.25)
    packed = tmp_path / "m.model.txt.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    np.testing.assert_array_equal(load(packed).decision_function(NEW), model.decision_function(NEW))
    swapped = tmp_path / "swapped"
    swapped.write_text(TEXT.replace("label 1 -1", "label -1 1"))
    np.testing.assert_allclose(load(swapped).decision_function(NEW), -model.decision_function(NEW))


@pytest.mark.parametrize(
    "kernel",
    [
        GappedKmer(6, 4),
        GappedKmer(6, 3, filter="count"),
        GappedKmer(5, 3, filter="full"),
        GappedKmer(6, 4, 3, both_strands=False),
        GappedKmer(6, 4, centre=(50, 12.5)),
        Exponential(GappedKmer(6, 4), 2.0),
        Exponential(GappedKmer(6, 4, filter="count"), 0.5),
        Exponential(GappedKmer(6, 4, centre=(20, 10)), 2.0),
    ],
    ids=lambda kernel: kernel.names[0],
)
@pytest.mark.parametrize("estimator", [MKLClassifier, MKLRegressor])
def test_exported_lsgkm_models_load_with_equal_scores(kernel, estimator, rng, tmp_path):
    model, X = fitted(rng, kernel, estimator=estimator)
    export_lsgkm(model, tmp_path / "m")
    again = load(tmp_path / "m")
    decide = "decision_function" if estimator is MKLClassifier else "predict"
    np.testing.assert_allclose(getattr(again, decide)(X), getattr(model, decide)(X), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[: len(t) - 20], "coefficient and its letters"),
        (lambda t: "\n".join(t.splitlines()[:-1]), "3 support vectors, and has 2"),
        (lambda t: t[:60], "no line 'SV'"),
        (lambda t: t.replace("L 6\n", ""), "one 'L'"),
        (lambda t: t.replace("k 4", "k 7"), "k, which is at most l"),
        (lambda t: t.replace("gkm_esttrunc", "rbf"), "kernel_type must be one of"),
        (lambda t: t.replace("c_svc", "nu_svc"), "must be one of"),
        (lambda t: t.replace("0.5 ACGT", "0,5 ACGT"), "could not convert"),
        (lambda t: t.replace("0.5 ACGT", "nan ACGT"), "NaN or infinity"),
        (lambda t: t.replace("ACGTACGT", "\xff"), "ascii"),
        (lambda t: t.replace("nr_class 2", "nr_class 3"), "two classes"),
    ],
)
def test_broken_files(change, message, tmp_path):
    path = tmp_path / "m"
    path.write_text(change(TEXT), encoding="latin-1")
    with pytest.raises(ValueError, match=f"is not a model of LS-GKM: .*{message}"):
        load(path)


def test_packed_files_that_are_cut_or_blown_up(tmp_path):
    path = tmp_path / "m.gz"
    path.write_bytes(gzip.compress(TEXT.encode())[:-30])
    with pytest.raises(ValueError, match="is not a model of LS-GKM"):
        load(path)
    path.write_bytes(gzip.compress(bytes(1 << 25)))
    with pytest.raises(ValueError, match="expands to more"):
        load(path)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Spectrum(3), "one GappedKmer"),
        (GappedKmer([5, 6], 3), "one kernel"),
        (GappedKmer(13, 8), "at most 12 letters"),
        (Exponential(GappedKmer(5, 3, filter="full"), 1.0), "no kernel with filter='full'"),
    ],
    ids=str,
)
def test_export_refuses_kernels_unknown_to_lsgkm(kernel, message, rng, tmp_path):
    model, _ = fitted(rng, kernel, 20)
    with pytest.raises(ValueError, match=message):
        export_lsgkm(model, tmp_path / "m")


def test_other_normalisations_and_unknown_letters_are_refused(rng, tmp_path):
    _, X = fitted(rng, GappedKmer(5, 3), 20)
    other = MKLClassifier(GappedKmer(5, 3)).fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="normalize='unit'"):
        export_lsgkm(other, tmp_path / "m")
    holes = MKLClassifier(GappedKmer(5, 3), normalize="unit")
    holes.fit([x[:8] + "N" + x[9:] for x in X], np.arange(20) % 2)
    with pytest.raises(ValueError, match="unknown letters"):
        export_lsgkm(holes, tmp_path / "m")


def test_published_scores(load_real):
    """The same sequences, trained here: as near as the tolerance of LS-GKM allows."""
    frame = load_real("sequences/lsgkm_nfe2_gm12878.tsv.xz")
    train = frame[frame["split"] == "train"]
    test = frame[(frame["split"] == "test") & (frame["label"] == 1)]
    model = MKLClassifier(GappedKmer(10, 6, 3), normalize="unit", tol=1e-7)
    model.fit(list(train.sequence), train["label"])
    scores = model.decision_function(list(test.sequence))[: len(PUBLISHED)]
    np.testing.assert_allclose(scores, PUBLISHED, atol=5e-4)
    assert model.intercept_ == pytest.approx(-PUBLISHED_RHO, abs=1e-4)
    assert abs(len(model.support_) - PUBLISHED_SUPPORT) <= 2


def test_models_without_certificate_cannot_be_verified(tmp_path):
    path = tmp_path / "m"
    path.write_text(TEXT, encoding="latin-1")
    model = load(path)
    with pytest.raises(ValueError, match="model has no certificate"):
        verify(model, ["ACGTACGT"] * 4, [1, -1, 1, -1])

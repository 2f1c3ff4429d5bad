"""Kernels as short texts."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.cli.kernel_specs import NAMES, parse_kernel
from kernelweave.kernels import (
    RBF,
    BagOfWords,
    Exponential,
    GappedKmer,
    Linear,
    Polynomial,
    Sigmoid,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
    per_feature,
)


@pytest.mark.parametrize(
    ("spec", "kernel"),
    [
        ("linear", Linear()),
        ("rbf(0.5)", RBF(0.5)),
        ("rbf(gamma=0.1,1,10)", RBF([0.1, 1.0, 10.0])),
        ("rbf(0.1, 1, 10)", RBF([0.1, 1.0, 10.0])),
        ("rbf(gamma=1e-3, 1e+3)", RBF([1e-3, 1e3])),
        (
            "RBF(gamma=scale, columns=age, hours-per-week)",
            RBF("scale", columns=["age", "hours-per-week"]),
        ),
        ("rbf(gamma=none)", RBF(None)),
        ("poly(2, coef0=0)", Polynomial(2, coef0=0)),
        ("words(columns='my notes')", BagOfWords(columns="my notes")),
        ('words(columns="a+b (c)")', BagOfWords(columns="a+b (c)")),
        ("linear(columns=0, 3)", Linear(columns=[0, 3])),
        ("wd(20, split=degree)", WeightedDegree(20, split="degree")),
        ("wds(20, 5)", WeightedDegreeShift(20, 5)),
        ("spectrum(3, 4, both_strands=true)", Spectrum([3, 4], both_strands=True)),
        ("gkm(10, 6)", GappedKmer(10, 6)),
        ("gkm(l=8,10, k=6,6)", GappedKmer([8, 10], [6, 6])),
        ("rbf(1) * linear + poly(2)", RBF(1.0) * Linear() + Polynomial(2)),
        ("per_feature(rbf(1, 2))", per_feature(RBF([1.0, 2.0]))),
        ("sigmoid(0.1)", Sigmoid(0.1)),
        (
            "gkm(10, 6, centre=50, 30, filter=count)",
            GappedKmer(10, 6, None, "count", centre=(50, 30)),
        ),
        ("gkm(l=10, k=6, centre=(50, 30))", GappedKmer(10, 6, centre=(50, 30))),
        ("rbf((0.1, 1))", RBF((0.1, 1.0))),
        ("exponential(gkm)", Exponential(GappedKmer())),
        ("exponential(gkm(10, 6), gamma=2)", Exponential(GappedKmer(10, 6), 2.0)),
        (
            "exponential(wd(3) + spectrum, 1, 2)",
            Exponential(WeightedDegree(3) + Spectrum(), [1, 2]),
        ),
        ("exponential(wd(3)) * rbf(1)", Exponential(WeightedDegree(3)) * RBF(1.0)),
    ],
)
def test_texts_are_kernels(spec, kernel):
    assert repr(parse_kernel(spec)) == repr(kernel)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rbg(1)", "there is no 'rbg'; kernels are linear"),
        ("rbf(1", "expected"),
        ("rbf(1))", "expected"),
        ("rbf(=1)", "expected"),
        ("", "expected word, found the end"),
        ("rbf(gama=1)", "RBF has no parameter 'gama'; its parameters are columns, name, gamma"),
        ("wd(20, 3)", "degree"),
        ("poly(1, 2, 3, 4)", "takes 3 values"),
        ("rbf(-1)", "gamma"),
        ("rbf(1) linear", "expected"),
        ("exponential", "expected (, found the end"),
        ("exponential(gkm, gama=1)", "Exponential has no parameter 'gama'"),
        ("exponential(gkm, gamma=-1)", "gamma must be a positive number"),
        ("gkm(centre=50)", "centre must be None or (M, H)"),
        ("gkm(centre=(50", "expected ), found the end"),
        ("gkm(centre=())", "expected word or text, found )"),
        ("per_feature(rbf, 2)", "expected )"),
    ],
)
def test_other_texts_are_refused_with_a_reason(spec, message):
    with pytest.raises(ValueError, match=r"^kernel ") as caught:
        parse_kernel(spec)
    assert message in str(caught.value)
    assert repr(spec) in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("exponential(" * 30 + "rbf" + ")" * 30, "nested more than 20 times"),
        ("per_feature(" * 3000 + "rbf" + ")" * 3000, "nested more than 20 times"),
        ("*".join(["rbf"] * 3000), "more than 100 kernels are combined"),
        ("+".join(["rbf"] * 3000), "more than 100 kernels are combined"),
        ("rbf(" + "1," * 60_000 + "1)", "at most 100000 are accepted"),
        ("x" * 50_000, "there is no"),
        ("'" + "x" * 50_000, "cannot parse"),
    ],
)
def test_size_of_texts_is_bounded(spec, message):
    with pytest.raises(ValueError, match=r"^kernel ") as caught:
        parse_kernel(spec)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_the_largest_combination_can_be_used():
    kernel = parse_kernel("per_feature(" + "*".join(["rbf(1)"] * 100) + ")")
    MKLClassifier(kernel).fit(np.arange(12.0)[:, None], np.arange(12) % 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_a_kernel(name):
    assert isinstance(parse_kernel(name), NAMES[name])

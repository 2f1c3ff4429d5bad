"""Bags of words against counting by hand."""

import re
from collections import Counter

import numpy as np
import pytest

from kernelweave.kernels import RBF, BagOfWords, Linear, per_feature, prepare

TEXTS = [
    "The cat sat on the mat.",
    "A dog sat; a dog ran!",
    "the cat ran to the dog",
    "Nothing in common here",
]
NEW = ["the unseen zebra sat", "dog dog dog"]


def count(text, lowercase=True, binary=False):
    words = re.findall(r"\w\w+", text.lower() if lowercase else text)
    return Counter(set(words) if binary else words)


def product(a, b):
    return sum(a[word] * b[word] for word in a)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("binary", [True, False])
def test_counts(lowercase, binary):
    kernel = BagOfWords(lowercase=lowercase, binary=binary)
    old = [count(text, lowercase, binary) for text in TEXTS]
    new = [count(text, lowercase, binary) for text in NEW]
    assert np.array_equal(kernel(TEXTS), [[product(a, b) for b in old] for a in old])
    assert np.array_equal(kernel(NEW, TEXTS), [[product(a, b) for b in old] for a in new])
    assert np.array_equal(kernel.diagonal(TEXTS), [product(a, a) for a in old])


def test_every_form_of_texts():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = BagOfWords()(TEXTS)
    for X in (
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object)[:, None],
        pandas.Series(TEXTS),
        polars.Series(TEXTS),
        pandas.DataFrame({"text": TEXTS}),
        polars.DataFrame({"text": TEXTS}),
    ):
        assert np.array_equal(BagOfWords()(X), expected)


def test_several_columns_are_one_text():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"title": TEXTS, "x": [1, 2, 3, 4], "body": TEXTS[::-1]})
    joined = [f"{a} {b}" for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    assert np.array_equal(BagOfWords(columns=["title", "body"])(frame), BagOfWords()(joined))
    stack = per_feature(BagOfWords(columns=["title", "body"]))(frame)
    assert np.array_equal(stack[1], BagOfWords()(TEXTS[::-1]))


def test_words_may_be_anything():
    kernel = BagOfWords(token_pattern=r"(?u)\b\w\b")
    assert np.array_equal(kernel(["a b b", "b c"]), [[5, 2], [2, 2]])


def test_tables_that_mix_everything():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"age": [1.0, 2.0, 4.0, 8.0], "job": list("abab"), "text": TEXTS, "size": [3, 1, 2, 2]}
    )
    kernels = [RBF(columns=["age", "size"]), Linear(columns=["job"]), BagOfWords(columns="text")]
    compiled, examples = prepare(kernels, "variance", frame)
    assert compiled.names == (
        "RBF gamma=0.5 on age, size",
        "Linear on job",
        "BagOfWords on text",
    )
    assert len(examples.tables) == 3


def test_names():
    assert BagOfWords().resolve(TEXTS).names == ("BagOfWords",)
    assert BagOfWords(binary=True).resolve(TEXTS).names == ("BagOfWords binary=True",)


def test_bad_texts_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "x": [1, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"columns must select .* X has 2 columns"):
        BagOfWords()(frame)
    with pytest.raises(ValueError, match="column 'x' must contain texts, but row 0 is 1"):
        BagOfWords(columns="x")(frame)
    with pytest.raises(ValueError, match="'more' contains NaN or missing"):
        BagOfWords(columns=["text", "more"])(frame.assign(more=["a", None, "b", "c"]))
    with pytest.raises(ValueError, match=r"X contains no words that match .*; pass texts"):
        BagOfWords()(["a", "b"])
    with pytest.raises(ValueError, match="must contain texts"):
        BagOfWords()(np.ones((2, 1)))

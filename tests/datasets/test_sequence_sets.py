"""Generated sequences follow their rules, at any size and from any piece."""

import numpy as np
import pytest

from kernelweave import datasets
from kernelweave.datasets import sequences as datasets_strings


def test_splice_sites_have_their_consensus():
    X, y = datasets.make_splice(5000, 0.2, random_state=3)
    assert (X.n, X.length) == (5000, 141)
    assert set(X.window(60, 62)) == {"AG"}
    assert abs((y > 0).mean() - 0.2) < 0.02
    before = np.array([list(text) for text in X.window(56, 59)])
    share = (before == "T").mean(axis=1)
    assert share[y > 0].mean() > share[y < 0].mean() + 0.2


def test_pieces_do_not_depend_on_the_size(monkeypatch):
    monkeypatch.setattr(datasets_strings, "BLOCK", 100)
    few, labels = datasets.make_splice(100)
    many, more = datasets.make_splice(350)
    assert list(many[:100]) == list(few)
    assert (more[:100] == labels).all()
    assert many.n == 350


def test_motifs_are_planted():
    X, y = datasets.make_motifs(400, random_state=1)
    planted = np.array([text == "GATTACA" for text in X.window(10, 17)])
    assert planted[y > 0].all()
    assert planted[y < 0].mean() < 0.05
    assert abs((datasets.make_motifs(5000)[1] > 0).mean() - 1 / 11) < 0.02
    assert abs((datasets.make_motifs(5000, positive_rate=0.7)[1] > 0).mean() - 0.7) < 0.03
    X, y = datasets.make_motifs(400, replaced=2, random_state=1)
    kept = np.array(
        [sum(a == b for a, b in zip(text, "AGTAGTG", strict=True)) for text in X.window(30, 37)]
    )
    assert kept[y > 0].min() >= 5


def test_shifted_motifs_are_planted():
    X, y = datasets.make_shifted_motif(400, random_state=1)
    found = np.array(["AAA" in text for text in X.window(49, 68)])
    assert found[y > 0].all()
    assert found[y < 0].mean() < 0.1
    assert all(text.count("A") == 3 for text in X.window(49, 68))
    letters = "".join(X)
    assert letters.count("A") == 3 * 400
    assert abs(letters.count("C") / len(letters) - 0.5) < 0.03
    assert 0.4 < (y > 0).mean() < 0.6


@pytest.mark.parametrize(
    "make",
    [
        lambda: datasets.make_splice(0),
        lambda: datasets.make_motifs(10, length=20),
        lambda: datasets.make_motifs(10, replaced=8),
        lambda: datasets.make_motifs(10, positive_rate=0),
        lambda: datasets.make_shifted_motif(10, length=60),
        lambda: datasets.make_shifted_motif(10, positive_rate=1),
    ],
)
def test_bad_sizes_are_refused(make):
    with pytest.raises(ValueError, match=r"must be"):
        make()


@pytest.mark.parametrize("name", ["make_splice", "make_motifs", "make_shifted_motif"])
def test_random_state_is_that_of_scikit_learn(name):
    make = getattr(datasets, name)

    def texts(state):
        return list(make(20, random_state=state)[0])

    assert texts(0) == texts(np.int64(0)) == list(make(20)[0]) != texts(1)
    assert texts(np.random.RandomState(3)) == texts(np.random.RandomState(3)) != texts(3)
    assert texts(None) != texts(None)
    with pytest.warns(FutureWarning, match=f"{name}: seed is deprecated, use random_state"):
        assert list(make(20, seed=1)[0]) == texts(1)

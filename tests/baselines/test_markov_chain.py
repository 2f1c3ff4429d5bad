"""Markov chains along sequences, against counting by hand."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernelweave.baselines import MarkovChain
from kernelweave.datasets import make_splice


def texts(rng, n, length=9, letters="ACGT"):
    return np.array(["".join(rng.choice(list(letters), size=length)) for _ in range(n)])


def by_hand(X, y, x, order, pseudocount, letters="ACGT"):
    """log P(x | 1) - log P(x | 0), one letter at a time; unknown letters count in no context."""
    score = 0.0
    for sign, label in ((1, 1), (-1, 0)):
        own = [text for text, value in zip(X, y, strict=True) if value == label]
        for p in range(len(x)):
            first = max(0, p - order)
            if not set(x[first : p + 1]) <= set(letters):
                continue
            same = [text[p] for text in own if text[first:p] == x[first:p] and text[p] in letters]
            seen = same.count(x[p]) + pseudocount
            score += sign * np.log(seen / (len(same) + len(letters) * pseudocount))
    return score


@pytest.mark.parametrize("order", [0, 1, 3, 4])
@pytest.mark.parametrize("letters", ["ACGT", "ACGTN"])
def test_scores_are_log_odds(order, letters, rng):
    X, y = texts(rng, 60, letters=letters), rng.integers(0, 2, 60)
    model = MarkovChain(order, pseudocount=0.7).fit(X, y)
    new = texts(rng, 8, letters=letters)
    expected = [by_hand(X, y, x, order, 0.7) for x in new]
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)
    assert set(model.predict(new)) <= {0, 1}


def test_weights_are_repetitions(rng):
    X, y = texts(rng, 20), np.tile(["no", "yes"], 10)
    weights = rng.integers(1, 4, 20)
    weighed = MarkovChain(2).fit(X, y, sample_weight=weights)
    repeated = MarkovChain(2).fit(np.repeat(X, weights), np.repeat(y, weights))
    np.testing.assert_allclose(weighed.log_odds_, repeated.log_odds_)
    assert set(weighed.predict(X)) <= {"no", "yes"}


def test_markov_chains_find_splice_sites():
    X, y = make_splice(4000, 0.3)
    model = MarkovChain(1).fit(X[:3000], y[:3000])
    assert roc_auc_score(y[3000:], model.decision_function(X[3000:])) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": -1}, "order must be"),
        ({"order": 40}, "order must be"),
        ({"pseudocount": 0}, "pseudocount must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message, rng):
    with pytest.raises(ValueError, match=message):
        MarkovChain(**parameters).fit(texts(rng, 10), np.tile([0, 1], 5))


def test_bad_data_are_named(rng):
    X, y = texts(rng, 10), np.tile([0, 1], 5)
    with pytest.raises(ValueError, match="two classes"):
        MarkovChain().fit(X, np.zeros(10))
    with pytest.raises(ValueError, match="equal length"):
        MarkovChain().fit(np.append(X, "ACG"), np.append(y, 1))
    with pytest.raises(ValueError, match=r"must have 9 letters.*got 5"):
        MarkovChain().fit(X, y).decision_function(texts(rng, 3, 5))

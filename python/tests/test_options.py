"""Keywords: epsilon by its place, the names of policies, output weights, a metric of the user's."""
import math
import typing

import numpy
import pytest
from conftest import SURE, WORDS

import tem
import tem.pandas
from tem import _options, _tem


def test_epsilon_by_its_place(small):
    import pandas

    assert small.privatize("the movie", 90, gamma=1) == "the movie"
    assert small.privatize(["the movie"], 90, gamma=1) == ["the movie"]
    assert small.privatize_report("the movie", 2)[1].spent == 4
    assert list(pandas.Series(["bad film"]).tem.privatize(90, gamma=1, model=small)) == ["bad film"]
    with pytest.raises(TypeError, match="epsilon"):
        small.privatize("the movie", 90, epsilon=90)
    assert small.privatize("the movie", **SURE) == "the movie"  # both spellings, one cache


def test_the_old_name_of_oov(small):
    with pytest.raises(TypeError, match="'unknown': did you mean 'oov'"):
        small.privatize("the movie", 2, unknown="mask")


@pytest.mark.parametrize("name", ["oov", "punctuation", "missing", "order", "style",
                                  "repeat"])
def test_policies_are_those_of_the_library(small, name):
    """Each name of the type is a policy of the library, and the library refuses all others."""
    policies = _options.Style if name == "style" else _options.ALL[name][0]
    names = typing.get_args(policies)
    for policy in names:
        values = {"oov": "uniform", "punctuation": "drop", "missing": "empty", "order": "kept",
                  "style": "words", "repeat": "each", name: policy}
        _tem.Job(small._mechanism(2), values["oov"], values["punctuation"], False, False,
                 values["missing"], values["order"], values["style"], values["repeat"])
    with pytest.raises(tem.ArgumentError) as refused:
        small.privatize("movie", 2, **{name: "no such policy"})
    assert all(policy in str(refused.value) for policy in names), refused.value


def test_sentences(small):
    assert small.privatize("the MOVIE was bad!", style="sentence", **SURE) == "The movie was bad."
    assert small.privatize_report(["the movie"], 2, style="sentence")[1].style == "sentence"


def test_joined(small):
    """The style is the library's: pieces come together only in a model that has them."""
    model = tem.Model.build([[0.0], [100.0], [200.0]], ["don", "t", "film"], space="raw")
    assert model.privatize("Don't film!", **SURE) == "don t film"
    assert model.privatize("Don't film!", style="joined", **SURE) == "don't film"
    assert model.privatize_report(["film"], 2, style="joined")[1].style == "joined"


def test_repeated_words_once(small, tmp_path):
    text = "zz movie ZZ the the bad zz"
    for _ in range(20):
        drawn = small.privatize(text, 0.5, repeat="once").split()
        assert drawn[0] == drawn[2] == drawn[6]
    path = tmp_path / "ledger"
    report = small.privatize_report([text, "movie movie"], 2, repeat="once", ledger=path,
                                    budget=100)[1]
    assert (report.words, report.charged, report.repeat) == (9, 6, "once")
    assert report.spent == 2 * report.charged
    assert "repeat at the same places" in report.condition
    assert report.unit.startswith("once/")
    both = report + report
    assert (both.charged, both.spent) == (12, 24)
    with pytest.raises(tem.BudgetError, match="repeated words"):
        small.privatize(["movie"], 2, ledger=path, budget=100)
    plain = small.privatize_report([text], 2)[1]
    assert (plain.charged, plain.condition, plain.repeat) == (7, None, "each")
    with pytest.raises(tem.ArgumentError, match="order or counts"):
        small.privatize(text, 2, repeat="once", order="shuffled")


def test_kinds_are_those_of_the_library(small):
    for kind in typing.get_args(_options.Metric):
        assert kind == "matrix" or _tem.parse_metric(kind) > 0
    for kind in typing.get_args(_options.Space):
        assert kind == "sphere" or tem.Model.build([[0.0], [1.0]], ["a", "b"], space=kind)
    for kind in typing.get_args(_options.WeightsKind):
        with pytest.raises(tem.CertificateError, match=f"calibrate.*{kind}"):
            small.privatize("movie", 7, calibrated=True, weights=kind)


# ---- output weights ----

def weights_of(**given):
    return [given.get(word, 1) for word in WORDS]


def test_weights_change_the_law_exactly(small):
    """P(y | w) is in proportion to a_y exp(-s d), so the ratio to the equal law is a_y Z / Z'."""
    heavy = weights_of(film=5, paris=0)
    equal = {e.word: e.probability for e in small.explain("movie", 2, top=22).entries}
    own = {e.word: e.probability for e in small.explain("movie", 2, top=22, weights=heavy).entries}
    assert own["paris"] == 0 and math.isclose(sum(own.values()), 1)
    scale = own["movie"] / equal["movie"]
    for word, weight in zip(WORDS, heavy):
        assert math.isclose(own[word], weight * scale * equal[word], rel_tol=1e-12), word
    private, report = small.privatize_report(["paris"] * 500, 1, weights=heavy)
    assert report.weights == "own" and report.private and "paris" not in private


def test_weights_wherever_a_mechanism_is_made(small):
    heavy = weights_of(film=50)
    assert small.audit(2, weights=heavy).weights == "own"
    assert small.audit(2, weights=heavy).realised <= 2
    assert small.channel(2, weights=heavy) is not None
    for kind in (list, tuple, numpy.array):
        assert small.explain("bad", 1, weights=kind(heavy)) == small.explain("bad", 1,
                                                                             weights=heavy)
    assert small.explain("bad", 1, weights="equal") == small.explain("bad", 1)


@pytest.mark.parametrize("wrong", [[1, 2], [1.5] * 22, [-1] * 22, [2 ** 32] * 22, [0] * 22,
                                   "balanced", "no such kind", [None] * 22])
def test_weights_that_are_refused(small, wrong):
    for call in (lambda: small.privatize("movie", 2, weights=wrong),
                 lambda: small.explain("movie", 2, weights=wrong)):
        with pytest.raises(ValueError, match="weights"):
            call()


def test_weights_with_a_certificate(built):
    """`weights` names the certificate among several for one epsilon."""
    equal = built.calibrate(3, weights="equal")
    balanced = built.calibrate(3, weights="balanced")
    for made in (equal, balanced):
        report = built.privatize_report("movie", 3, calibrated=True, weights=made.weights)[1]
        assert report.certificate == made.hash and report.weights == made.weights
    with pytest.raises(ValueError, match="weights"):
        built.privatize("movie", 3, calibrated=True, weights=weights_of(film=2))


# ---- a metric of the user's ----

def edits(a, b):
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(last + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def test_a_function_as_metric(vectors):
    model = tem.Model.build(None, WORDS, metric=edits)
    assert model.metric == "matrix" and model.distance("bad", "a") == pytest.approx(2, abs=1e-4)
    assert model.privatize("the movie", **SURE) == "the movie"
    assert model.audit(2).is_metric  # few words: all triangles were checked
    stages = []
    points = tem.Model.build(vectors, WORDS, limit=9, progress=lambda *told: stages.append(told),
                             metric=lambda a, b: float(numpy.abs(a - b).sum()))
    plain = tem.Model.build(vectors, WORDS, limit=9, metric="l1")
    assert len(points) == 9 and ("measuring", 9, 9) in stages
    for word in plain.words:  # the library adds one step of 2^-16 to a distance it has not computed
        assert points.distance("movie", word) == pytest.approx(plain.distance("movie", word),
                                                                abs=2 / 2 ** 16)


@pytest.mark.parametrize("wrong", [lambda a, b: 1.0 + (a < b) * (a != b),  # d(x, x) is not 0
                                   lambda a, b: float((a != b) * (1 + (a < b))),  # asymmetric
                                   lambda a, b: float(abs(len(a) - len(b)) ** 3),  # triangles
                                   lambda a, b: math.nan, lambda a, b: -1.0])
def test_functions_that_are_no_metric(wrong):
    with pytest.raises((tem.MetricError, tem.RangeError)):
        tem.Model.build(None, WORDS, metric=wrong)


def test_functions_with_arguments_that_are_refused(vectors, tmp_path):
    def broken(a, b):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tem.Model.build(None, WORDS, metric=broken)
    for more in ({"space": "sphere"}, {"exclude": ["bad"]}, {"dimensions": 3}):
        with pytest.raises(tem.ArgumentError):
            tem.Model.build(None, WORDS, metric=edits, **more)
    with pytest.raises(tem.ArgumentError):
        tem.Model.build(str(tmp_path / "file"), metric=edits)
    with pytest.raises(tem.ArgumentError):
        tem.Model.build(vectors[:3], WORDS, metric=edits)
    with pytest.raises(tem.RangeError, match="32,768"):
        tem.Model.build(None, map(str, range(32769)), metric=broken)

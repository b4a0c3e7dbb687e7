"""tem.learn and tem.estimate: exact against enumeration on small vocabularies."""
import itertools
import json
import pickle
import warnings

import numpy
import pandas
import pytest
from conftest import SURE, WORDS
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from test_ecosystem import LABELS, TEXTS
from test_privatize import interrupt_after

import tem
import tem.learn
from tem import _released

PUBLIC = ["the movie was great", "a good film of paris", "the film was bad", "an awful movie zzz",
          "to london do", "it's rome", "x café naïve"] * 3

OPINIONS = ["great good film", "good great movie", "bad awful film", "awful bad movie"] * 10


def law_matrix(model, **how):
    """P by `explain`: a row per input."""
    place = {word: i for i, word in enumerate(model.words)}
    rows = []
    for word in [*model.words, "zzz"]:
        law = numpy.zeros(len(model))
        for entry in model.explain(word, top=len(model), **how).entries:
            law[place[entry.word]] = entry.probability
        rows.append(law)
    return numpy.array(rows)


@pytest.fixture(scope="module")
def vectors3():
    return numpy.random.default_rng(3).normal(size=(len(WORDS), 3))


# ---- channels ----

@pytest.mark.parametrize("how", [{"epsilon": 2}, {"epsilon": 1, "gamma": 2, "mechanism": "tem"},
                                 {"epsilon": 1.5, "mechanism": "em"}])
def test_products(small, how):
    channel, law = small.channel(**how), law_matrix(small, **how)
    assert (channel.inputs, channel.outputs) == law.shape == (len(WORDS) + 1, len(WORDS))
    random = numpy.random.default_rng(1)
    shares, values = random.random((len(WORDS) + 1, 2)), random.normal(size=(len(WORDS), 4))
    assert channel.forward(shares) == pytest.approx(law.T @ shares, rel=1e-12)
    assert channel.backward(values) == pytest.approx(law @ values, rel=1e-11)
    assert channel.backward(values[:, 0]).shape == (len(WORDS) + 1,)
    assert channel.forward(numpy.asfortranarray(shares)[:, :1]).shape == (len(WORDS), 1)


def test_calibrated_channel(built):
    built.calibrate(2, weights="balanced")
    how = {"epsilon": 2, "calibrated": True}
    law, shares = law_matrix(built, **how), numpy.eye(len(WORDS) + 1)
    assert built.channel(**how).forward(shares) == pytest.approx(law.T, rel=1e-12)


def test_expected_shares(small, tmp_path):
    """A text counts half an occurrence more for each word, and knows its unknown words."""
    path = tmp_path / "public"
    path.write_text("the movie movie zzz\n")
    channel = small.channel(2)
    expected = numpy.full(len(WORDS), 0.5)
    expected[[WORDS.index("the"), WORDS.index("movie")]] += 1, 2
    expected = numpy.append(expected / expected.sum() * 0.75, 0.25)
    series = pandas.Series(["the movie movie", None, "zzz"])
    for prior in (path, ["The movie,\tmovie\nzzz"], series):
        assert channel.expect(prior=prior) == pytest.approx(expected, rel=1e-12)
    assert channel.expect(prior=path, unknown=0)[-1] == 0
    assert channel.expect()[0] / channel.expect()[1] == pytest.approx(2)


def test_posterior(small, vectors3):
    channel, law = small.channel(2), law_matrix(small, epsilon=2)
    shares = channel.expect(prior=PUBLIC)
    mean = shares[:-1] @ vectors3 / shares[:-1].sum()
    behind = shares[:, None] * law
    expected = behind.T @ numpy.vstack((vectors3, mean)) / behind.sum(0)[:, None]
    assert channel.posterior(vectors3, prior=PUBLIC) == pytest.approx(expected, rel=1e-11)


def test_deconvolve(small):
    """One step is q * P (c / (transpose(P) q)); at a large epsilon shares are those released."""
    channel, law = small.channel(2), law_matrix(small, epsilon=2)
    counts = numpy.random.default_rng(5).integers(1, 50, (len(WORDS), 2)).astype(float)
    start, released = channel.expect(prior=PUBLIC)[:, None], counts / counts.sum(0)
    once = start * (law @ (released / (law.T @ start)))
    found = channel.deconvolve(counts, steps=1, prior=PUBLIC)
    assert found.steps == 1 and found.shares == pytest.approx(once, rel=1e-10)
    assert found.shares.sum(0) == pytest.approx(1)
    more = channel.deconvolve(counts, steps=20, prior=PUBLIC)
    assert more.likelihood > found.likelihood
    held = channel.deconvolve(counts, held_out=counts[:, ::-1], prior=PUBLIC)
    assert held.steps < 100
    sure = small.channel(**SURE).deconvolve(counts, unknown=0)
    assert sure.shares[:-1] == pytest.approx(released, abs=1e-9)


def test_estimate_of_a_channel(small):
    counts = numpy.full((len(WORDS), 2), 1000.0)
    counts[0, 1] = 50_000
    members = numpy.zeros((len(WORDS) + 1, 3))
    members[0, 0] = members[1, 1] = members[1:4, 2] = 1
    found = small.channel(**SURE).estimate(counts, members, prior="zipf:0", unknown=0, ratio=30)
    assert [len(each) for each in found] == [3, 3]
    assert found[0][0].share == pytest.approx(1 / len(WORDS), rel=1e-3)
    assert found[1][0].share == pytest.approx(50 / (50 + len(WORDS) - 1), rel=1e-3)
    assert found[0][2].expected == pytest.approx(3 / len(WORDS))
    assert all(one.low <= one.share <= one.high and one.tells for each in found for one in each)


def test_channel_refuses(small):
    channel = small.channel(2)
    good = numpy.ones((len(WORDS), 1))
    for wrong in (good[:-1], numpy.ones((len(WORDS), 0)), numpy.ones((len(WORDS), 1, 1)), 3.0):
        with pytest.raises(tem.ArgumentError):
            channel.backward(wrong)
    for share in (1, -0.1, numpy.nan):
        with pytest.raises(tem.ArgumentError):
            channel.expect(unknown=share)
    with pytest.raises(tem.ArgumentError):
        channel.posterior(good * numpy.inf)
    with pytest.raises(tem.ArgumentError):
        channel.deconvolve(good, held_out=numpy.ones((len(WORDS), 2)))
    with pytest.raises(tem.ArgumentError):
        channel.deconvolve(good * 0)
    with pytest.raises(tem.ArgumentError):
        channel.estimate(good, numpy.ones((len(WORDS) + 1, 1)), ratio=1)
    with pytest.raises(tem.UnsupportedError):
        small.channel(2, mechanism="madlib")
    with pytest.raises(TypeError):
        tem.learn.Channel()
    with pytest.raises(ValueError):
        channel._handle.forward(good, 1, good, 0, None)


def test_a_channel_can_be_stopped(medium):
    channel, seen = medium.channel(2), []
    channel.backward(numpy.ones(len(medium)), progress=lambda *told: seen.append(told))
    assert seen

    def stop(*told):
        raise KeyError("enough")
    with pytest.raises(KeyError):
        channel.posterior(numpy.ones((len(medium), 30)), progress=stop)
    values = numpy.ones((len(medium), 2000))
    assert interrupt_after(0.2, lambda: channel.backward(values, threads=1)) < 5


# ---- words of texts ----

RUN = _released.Run()


def test_words_of_released_text(small):
    words = _released.words_of(small, ["the café", None, "The  movie,\nbad", ""], RUN)
    unknown = _released.NO_WORD
    assert list(words.starts) == [0, 2, 2, 5, 5]
    assert list(words.ids) == [0, WORDS.index("café"), unknown, unknown, WORDS.index("bad")]
    original = _released.words_of(small, ["The  movie,\nbad"], None)
    assert list(original.ids) == [0, 1, WORDS.index("bad")]
    assert list(_released.known(words).starts) == [0, 2, 2, 3, 3]
    counts = _released.counts_of(words, [1, 1, 0, 0], 2, len(WORDS))
    assert counts[WORDS.index("bad"), 0] == 1 and counts[0, 1] == 1 and counts.sum() == 3
    missing = pandas.Series([None, numpy.nan, pandas.NA], dtype=object)
    assert list(_released.words_of(small, missing, RUN).starts) == [0] * 4
    for wrong in ("the movie", ["the", 3], ["the", b"movie"]):
        with pytest.raises(TypeError):
            _released.words_of(small, wrong, RUN)
    with pytest.raises(tem.FormatError) as why:
        _released.words_of(small, ["\ud800"], RUN)
    assert "\ud800" not in str(why.value)


def test_excluded_words_are_never_released():
    model = tem.Model.build([[0.0], [1], [2]], ["good", "great", "bad"], exclude=["bad"])
    assert list(_released.words_of(model, ["good bad"], RUN).ids) == [0, _released.NO_WORD]
    assert list(_released.words_of(model, ["good bad"], None).ids) == [0, 2]


def test_blanks_between_released_words(small):
    words = _released.words_of(small, ["the\rmovie\tbad\vthe\fmovie\r\nbad the"], RUN)
    assert [WORDS[i] for i in words.ids] == "the movie bad the movie bad the".split()
    assert list(_released.words_of(small, ["the\u00a0movie"], RUN).ids) == [_released.NO_WORD]


def test_words_that_a_run_did_not_draw():
    """Masks and punctuation never count, kept ones only if the report does not say so."""
    model = tem.Model.build([[0.0], [1], [2], [3]], ["good", "great", ",", "bad"], exclude=["bad"])
    strange = _released.NO_WORD

    def ids(**kept):
        run, text = _released.Run(**kept), "good <unk> , ! ... zzz bad <UNK> great,"
        return list(_released.words_of(model, [text], run).ids)
    assert ids() == [0, 2, strange, strange, strange, strange]
    assert ids(keeps_punctuation=True) == [0, strange, strange, strange, strange]
    assert ids(keeps_unknown=True) == [0, 2, strange]
    assert list(_released.words_of(model, ["good! <unk>"], None).ids) == [0, strange]


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
@pytest.mark.parametrize("policy", ["mask", "keep-unsafe", "drop"])
def test_learns_from_masked_and_kept_words(small, vectors3, policy):
    """Half of the released words are masks, unknown words or punctuation: none of them counts."""
    original = ["The zzz, movie was xyz great!", "the, (film) qqq was bad..."] * 10
    plain, labels = ["the movie was great", "the film was bad"] * 10, [1, 0] * 10
    released, report = small.privatize_report(original, **SURE, oov=policy, punctuation="keep")
    assert _released.check_report(report, small, SURE) == (0, policy == "keep-unsafe", True)
    assert released[0].count("<unk>") == (2 if policy == "mask" else 0) and "!" in released[0]
    vectorizer = make_vectorizer(small, vectors3, **SURE, report=report).fit()
    assert vectorizer.transform(released) == pytest.approx(vectorizer.transform(plain))
    learner = tem.learn.DeconvolvedNB(**SURE, model=small, report=report, kind="released")
    assert learner.fit(released, labels).score(released, labels) == 1
    found = tem.estimate(pandas.DataFrame({"text": released}), sets={"film": ["film", "movie"]},
                         **SURE, model=small, prior="zipf", report=report, ratio=9)
    assert found["words"][0] == 80 and found["share"][0] == pytest.approx(0.25, abs=0.02)


# ---- posterior vectors of texts ----

def make_vectorizer(small, vectors3, **more):
    return tem.learn.PosteriorVectorizer(**{"epsilon": 2, "model": small, "prior": PUBLIC,
                                            "vectors": vectors3, **more})


def test_vectorizer(small, vectors3):
    vectorizer = make_vectorizer(small, vectors3).fit()
    posterior = small.channel(2).posterior(vectors3, prior=PUBLIC)
    the, bad = WORDS.index("the"), WORDS.index("bad")
    expected = (posterior[the] * 2 + posterior[bad]) / 3
    assert vectorizer.transform(["the bad the"])[0] == pytest.approx(expected)
    twin = vectorizer.original()
    assert twin.transform(["The zzz, BAD the"])[0] == pytest.approx(
        (vectors3[the] * 2 + vectors3[bad]) / 3)
    assert twin.table_ is vectorizer.table_ and vectorizer.kind == "released"
    shares = small.channel(2).expect(prior=PUBLIC)[:-1]
    for each in (vectorizer, twin):  # without words: the mean of both sides
        assert each.transform(["", None])[1] == pytest.approx(shares @ vectors3 / shares.sum())
    assert list(vectorizer.get_feature_names_out()) == ["posterior0", "posterior1", "posterior2"]


def test_public_moments_are_exact(small, vectors3):
    """Against all possible outputs of texts of one and two words."""
    public = ["the movie", "bad", "zzz great", "rome"]
    table = make_vectorizer(small, vectors3, prior=public, match="public").fit().table_
    law, posterior = law_matrix(small, epsilon=2), table.vectors["released"]
    place = {word: i for i, word in enumerate([*WORDS, "zzz"])}
    mean = square = 0
    for text in public:
        laws = [law[place[word]] for word in text.split()]
        for drawn in itertools.product(range(len(WORDS)), repeat=len(laws)):
            chance = numpy.prod([one[y] for one, y in zip(laws, drawn)]) / len(public)
            feature = posterior[list(drawn)].mean(0)
            mean, square = mean + chance * feature, square + chance * feature ** 2
    released, original = table.moments["released"], table.moments["original"]
    assert released.mean == pytest.approx(mean, rel=1e-9)
    assert released.deviation == pytest.approx(numpy.sqrt(square - mean ** 2), rel=1e-9)
    rows = numpy.array([vectors3[[place[w] for w in text.split() if w != "zzz"]].mean(0)
                        for text in public])
    assert original.mean == pytest.approx(rows.mean(0))
    assert original.deviation == pytest.approx(rows.std(0))


def test_matching(small, vectors3, tmp_path):
    texts = [f"{a} {b}" for a in WORDS for b in WORDS][:150]
    batch = make_vectorizer(small, vectors3, match="batch").fit()
    for each in (batch, batch.original()):
        features = each.transform(texts)
        assert features.mean(0) == pytest.approx(0, abs=1e-12)
        assert features.std(0) == pytest.approx(1)
        with pytest.raises(tem.ArgumentError, match="100"):
            each.transform(texts[:99])
    public = make_vectorizer(small, vectors3, match="public", kind="original").fit()
    assert public.transform(PUBLIC).std(0) == pytest.approx(1)
    late = make_vectorizer(small, vectors3).fit().set_params(match="public")
    with pytest.raises(tem.ArgumentError, match="fit again"):
        late.transform(TEXTS)
    assert late.fit().original().transform(PUBLIC) == pytest.approx(public.transform(PUBLIC))
    counts = tmp_path / "counts.tsv"
    counts.write_text("the\t3\nbad\t1\n")
    for prior in ("zipf", 0.5, counts):
        with pytest.raises(tem.ArgumentError, match="public"):
            make_vectorizer(small, vectors3, match="public", prior=prior).fit()


def test_vectors(small, vectors3, tmp_path):
    """By a file, whose other words get the mean; by an array; the default ones."""
    path = tmp_path / "some.vec"
    path.write_text("the 1 2\nbad 3 6\nother 5 5\n")
    with pytest.warns(UserWarning, match="20 of 22"):
        made = make_vectorizer(small, path).fit().table_.vectors["original"]
    assert list(made[WORDS.index("bad")]) == [3, 6] and list(made[WORDS.index("movie")]) == [2, 4]
    with pytest.warns(UserWarning):
        assert make_vectorizer(small, None).fit().table_.vectors["original"].shape[1] == 300
    for wrong in (vectors3[:-1], vectors3[:, 0], [[numpy.nan] * 2] * len(WORDS), 0, True + 2000):
        with pytest.raises(tem.Error):
            make_vectorizer(small, wrong).fit()
    with pytest.raises(tem.ArgumentError, match="public"):
        make_vectorizer(small, 2, prior="zipf").fit()


def test_vectors_from_public_texts(small):
    made = make_vectorizer(small, 2, prior=OPINIONS).fit().table_.vectors["original"]
    great, good, bad, awful = (made[WORDS.index(w)] for w in ("great", "good", "bad", "awful"))
    assert numpy.linalg.norm(great - good) < 0.1 * numpy.linalg.norm(great - bad)
    assert numpy.linalg.norm(bad - awful) < 0.1 * numpy.linalg.norm(great - bad)
    assert not made[WORDS.index("paris")].any()
    for columns in (numpy.int64(2), numpy.uint8(2)):
        again = make_vectorizer(small, columns, prior=OPINIONS[:-1]).fit()
        assert again.table_.vectors["original"].shape == (len(WORDS), 2)


def test_refuses_original_text(small, vectors3):
    """Text that this model cannot have released; no word of it is in the message."""
    vectorizer = make_vectorizer(small, vectors3).fit()
    with pytest.raises(tem.FormatError) as why:
        vectorizer.transform(["The secret, movie"])
    assert "secret" not in str(why.value) and "2 of 3" in str(why.value)
    vectorizer.transform([" ".join(["the"] * 99 + ["<unk>"])])
    with pytest.raises(tem.FormatError):
        tem.learn.DeconvolvedNB(epsilon=2, model=small).fit(["Secret", "the"], [0, 1])


def test_warns_of_released_text(small, vectors3):
    """Text that looks released, where the estimator expects original text."""
    released, original = ["the movie was great"] * 25, ["The movie was great!"] * 25
    nb = tem.learn.DeconvolvedNB(epsilon=2, model=small).fit(OPINIONS, [0, 1] * 20)
    learner = tem.learn.PosteriorClassifier(make_vectorizer(small, vectors3))
    learner.fit(OPINIONS, [0, 1] * 20)
    for each in (nb, learner):
        with pytest.warns(UserWarning, match="look released"):
            each.predict(released)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            each.predict(original)
            each.predict(released[:24])  # 96 words say too little
            each.set_params(kind="released").predict(released)


def test_tables_are_shared(small, vectors3):
    first = make_vectorizer(small, vectors3).fit().table_
    assert make_vectorizer(small, vectors3.copy()).fit().table_ is first
    assert make_vectorizer(small, vectors3 + 1).fit().table_ is not first
    assert make_vectorizer(small, vectors3, prior=PUBLIC[:-1]).fit().table_ is not first
    assert make_vectorizer(small, vectors3, epsilon=2.5).fit().table_ is not first


# ---- reports ----

@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_reports(small, vectors3, tmp_path):
    _, report = small.privatize_report(TEXTS, epsilon=2)
    path = tmp_path / "report.json"
    path.write_text(report.to_json())
    for given in (report, report.to_dict(), path, str(path)):
        make_vectorizer(small, vectors3, report=given).fit()
        tem.learn.DeconvolvedNB(epsilon=2, model=small, report=given).fit(TEXTS, LABELS)
    other = {"model": "0" * 64, "mechanism": "em", "epsilon": 2.5, "s": 1.5, "gamma": 3.0,
             "certificate": "0" * 64}
    for name, value in other.items():
        wrong = {**report.to_dict(), name: value}
        for refused in (make_vectorizer(small, vectors3, report=wrong).fit,
                        lambda given=wrong: tem.learn.DeconvolvedNB(
                            epsilon=2, model=small, report=given).fit(TEXTS, LABELS),
                        lambda given=wrong: tem.estimate(
                            pandas.DataFrame({"text": TEXTS}), sets={"a": ["the"]}, epsilon=2,
                            model=small, prior="zipf", report=given)):
            with pytest.raises(tem.ArgumentError, match=name):
                refused()
    dropped = small.privatize_report(TEXTS, epsilon=2, oov="drop")[1]
    with_report = make_vectorizer(small, vectors3, report=dropped).fit()
    assert with_report.table_ is make_vectorizer(small, vectors3, unknown=0).fit().table_
    assert with_report.table_ is not make_vectorizer(small, vectors3).fit().table_
    with pytest.raises(tem.VersionError):
        make_vectorizer(small, vectors3, report={**report.to_dict(), "report": "x"}).fit()
    with pytest.raises(tem.ArgumentError, match="dry run"):
        make_vectorizer(small, vectors3, report={**report.to_dict(), "dry_run": True}).fit()


# ---- classifiers ----

def test_pipelines(small, small_path, vectors3):
    vectorizer = make_vectorizer(small, vectors3, **SURE)
    pipeline = make_pipeline(vectorizer, LogisticRegression(C=1e3))
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=2).mean() == 1
    learner = tem.learn.PosteriorClassifier(vectorizer, penalty=1e-4).fit(TEXTS, LABELS)
    assert learner.score(["The GOOD movie!", "awful, film"], [1, 0]) == 1
    assert learner.classifier_.C == pytest.approx(1 / (1e-4 * len(TEXTS)))
    assert learner.predict_proba(TEXTS).shape == (len(TEXTS), 2)
    other = tem.learn.PosteriorClassifier(vectorizer, RidgeClassifier(1e-6)).fit(TEXTS, LABELS)
    assert other.score(TEXTS, LABELS) == 1 and not hasattr(other, "predict_proba")
    again = pickle.loads(pickle.dumps(learner.set_params(vectorizer__model=small)))
    assert again.score(TEXTS, LABELS) == 1
    search = GridSearchCV(tem.learn.PosteriorClassifier(vectorizer, kind="released"),
                          {"penalty": [1e-4, 10], "vectorizer__unknown": [0, 0.1]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_params_["penalty"] == 1e-4
    with pytest.raises(tem.ArgumentError):
        tem.learn.PosteriorClassifier(vectorizer, kind="both").fit(TEXTS, LABELS)


def test_trains_on_released_and_predicts_original(small, vectors3):
    """At an epsilon at which the two sides have different vectors."""
    vectorizer = make_vectorizer(small, vectors3).fit()
    plain = LogisticRegression(C=1 / (0.01 * len(TEXTS)), max_iter=1000)
    plain.fit(vectorizer.transform(TEXTS), LABELS)
    learner = tem.learn.PosteriorClassifier(make_vectorizer(small, vectors3)).fit(TEXTS, LABELS)
    assert learner.classifier_.coef_ == pytest.approx(plain.coef_)
    scores = {kind: plain.decision_function(vectorizer._twin(kind).transform(TEXTS))
              for kind in ("original", "released")}
    assert abs(scores["original"] - scores["released"]).max() > 1e-3
    for kind, expected in scores.items():
        found = learner.set_params(kind=kind).decision_function(TEXTS)
        assert found == pytest.approx(expected, abs=1e-6)


def test_recommended_learner(small):
    learner = tem.learn.classifier(**SURE, model=small, public=OPINIONS, columns=2)
    assert learner.vectorizer.match == "public" and learner.vectorizer.vectors == 2
    assert learner.fit(TEXTS, LABELS).score(["a Great movie", "BAD of to"], [1, 0]) == 1


def two_topics(texts, seed):
    """Texts of two classes over the words of the small model, 20 words each."""
    random, n = numpy.random.default_rng(seed), len(WORDS)
    shares = numpy.ones((2, n))
    shares[0, :6], shares[1, -6:] = 3, 3
    labels = random.integers(0, 2, texts)
    return [" ".join(random.choice(WORDS, 20, p=shares[label] / shares[label].sum()))
            for label in labels], labels


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_naive_bayes_knows_the_law(small):
    """500 texts released at an epsilon at which most words change. The classes are far enough
    apart that naive Bayes on the true shares is right in about 98 % of the cases; below 85 % is
    more than 8 standard deviations of 400 texts away."""
    texts, labels = two_topics(500, 1)
    tests, test_labels = two_topics(400, 2)
    released = small.privatize(texts, epsilon=2, insecure_seed=1)
    learner = tem.learn.DeconvolvedNB(epsilon=2, model=small, prior="zipf:0")
    assert learner.fit(released, labels).score(tests, test_labels) > 0.85
    assert learner.shares_.sum(0) == pytest.approx(1)
    assert 1 <= learner.n_iter_ < 100  # the held-out texts stopped it
    expected = small.channel(2).forward(learner.shares_)
    assert numpy.exp(learner.word_log_prob_["released"]) == pytest.approx(expected)
    assert numpy.exp(learner.word_log_prob_["original"]) == pytest.approx(learner.shares_[:-1])
    assert learner.predict_proba(tests).sum(1) == pytest.approx(1)
    test_released = small.privatize(tests, epsilon=2, insecure_seed=2)
    seen = learner.set_params(kind="released").score(test_released, test_labels)
    assert 0.6 < seen < 1
    again = pickle.loads(pickle.dumps(learner))
    assert (again.predict(test_released) == learner.predict(test_released)).all()


def test_naive_bayes_of_many_classes(small):
    learner = tem.learn.DeconvolvedNB(**SURE, model=small, held_out=None, steps=3)
    labels = numpy.array(["b", "a", "c", "c"] * 10)
    assert cross_val_score(learner, TEXTS, labels, cv=2).mean() == 1
    learner.fit(TEXTS, labels)
    assert learner.n_iter_ == 3 and list(learner.classes_) == ["a", "b", "c"]
    assert list(learner.predict(["Great", "good"])) == ["a", "b"]
    assert numpy.exp(learner.class_log_prior_) == pytest.approx([0.25, 0.25, 0.5])
    assert clone(learner).get_params()["steps"] == 3
    uneven = clone(learner).set_params(fit_prior=False).fit(TEXTS, labels)
    assert numpy.exp(uneven.class_log_prior_) == pytest.approx([1 / 3] * 3)


def test_classifiers_refuse(small, vectors3):
    for learner in (tem.learn.DeconvolvedNB(epsilon=2, model=small),
                    tem.learn.PosteriorClassifier(make_vectorizer(small, vectors3))):
        for targets in (numpy.linspace(0, 1, len(TEXTS)), numpy.eye(2)[LABELS].astype(int),
                        LABELS[:-1]):
            with pytest.raises(ValueError):
                learner.fit(TEXTS, targets)
        with pytest.raises(ValueError):  # scikit-learn's NotFittedError
            learner.predict(TEXTS)
    learner = tem.learn.DeconvolvedNB(epsilon=2, model=small)
    for texts in (["the", "bad", "bad"], ["the", "", "bad", "bad"]):
        with pytest.raises(tem.ArgumentError, match="two texts"):
            learner.fit(texts, [1, 1, 0, 0][-len(texts):])
    with pytest.raises(tem.ArgumentError, match="no released word"):
        clone(learner).set_params(held_out=None).fit(["the", ""], [0, 1])
    for name, value in (("held_out", 1), ("kind", "x"), ("unknown", 1), ("steps", 0)):
        with pytest.raises(tem.ArgumentError):
            clone(learner).set_params(**{name: value}).fit(TEXTS, LABELS)


# ---- scikit-learn's own checks ----

# Why a check of scikit-learn cannot pass. Most give the estimator tables of numbers, and it refuses
# these with a TypeError; NOT_APPLICABLE has the others.
LEARNS = "expects fit to read its input; fit looks at the settings alone"
INSIDE = "gives the estimator numbers, and hides its TypeError"
NOT_APPLICABLE = {
    "check_n_features_in_after_fitting": LEARNS, "check_complex_data": LEARNS,
    "check_estimators_empty_data_messages": LEARNS, "check_estimator_sparse_tag": LEARNS,
    "check_n_features_in": LEARNS, "check_fit1d": LEARNS,
    "check_estimator_sparse_array": INSIDE, "check_estimator_sparse_matrix": INSIDE,
    "check_positive_only_tag_during_fit": INSIDE, "check_classifiers_one_label": INSIDE}
ALWAYS = {"check_estimator_cloneable", "check_no_attributes_set_in_init", "check_set_params",
          "check_get_params_invariance", "check_parameters_default_constructible",
          "check_estimator_repr", "check_estimator_tags_renamed", "check_estimators_unfitted"}


class Tabular:
    """Claims to accept tables: scikit-learn checks almost nothing of an estimator that accepts only
    texts."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class TabularVectorizer(Tabular, tem.learn.PosteriorVectorizer):
    pass


class TabularClassifier(Tabular, tem.learn.PosteriorClassifier):
    pass


class TabularNB(Tabular, tem.learn.DeconvolvedNB):
    pass


def refuses_numbers(result):
    said = str(result["exception"])
    return isinstance(result["exception"], TypeError) and ("expected a" in said
                                                           or "texts must be a str" in said)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [TabularVectorizer, TabularClassifier, TabularNB])
def test_check_estimator(small, vectors3, kind):
    estimator = (kind(make_vectorizer(small, vectors3)) if kind is TabularClassifier
                 else kind(epsilon=2, model=small))
    if kind is TabularVectorizer:
        estimator.set_params(vectors=vectors3)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"] for r in results
              if r["status"] == "failed" and not refuses_numbers(r)}
    assert failed <= set(NOT_APPLICABLE)
    assert ALWAYS <= {r["check_name"] for r in results if r["status"] == "passed"}


# ---- tem.estimate ----

def test_estimate(small, tmp_path):
    frame = pandas.DataFrame({"text": TEXTS, "label": ["b" if one else "a" for one in LABELS]})
    sets = {"praise": ["Good", "great", "zzz"], "film": ["movie", "film"]}
    how = {**SURE, "model": small, "prior": "zipf", "unknown": 0}
    with pytest.warns(UserWarning, match="1 of the 5 words"):
        found = tem.estimate(frame, by="label", sets=sets, ratio=9, **how)
    assert list(found.columns) == ["group", "set", "documents", "words", "share", "low", "high",
                                   "expected", "tells"]
    assert list(found["group"]) == ["a", "a", "b", "b"]
    assert list(found["set"]) == ["praise", "film"] * 2
    assert list(found["documents"]) == [20] * 4 and list(found["words"]) == [50] * 4
    assert list(found["share"]) == pytest.approx([0, 0.4, 0.4, 0.4], abs=0.02)
    assert ((found["low"] <= found["share"]) & (found["share"] <= found["high"])).all()
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("# film words\npraise\tgood\npraise\tgreat\n\nfilm\tmovie\nfilm\tfilm\n")
    again = tem.estimate(frame, by="label", sets=lexicon, ratio=9, **how)
    pandas.testing.assert_frame_equal(found, again)
    whole = tem.estimate(frame, sets=lexicon, **how)
    assert list(whole["group"]) == ["all", "all"] and list(whole["words"]) == [100, 100]


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_estimate_of_a_run_without_unknown_words(small):
    """The report says that the run dropped them, and the keyword says more than the report."""
    frame = pandas.DataFrame({"text": TEXTS})
    how = {"sets": {"a": ["the"]}, "epsilon": 2, "model": small, "prior": PUBLIC}
    report = small.privatize_report(TEXTS, epsilon=2, oov="drop")[1]
    none, some = (tem.estimate(frame, unknown=share, **how) for share in (0, 0.5))
    assert none["expected"][0] > some["expected"][0]
    pandas.testing.assert_frame_equal(tem.estimate(frame, report=report, **how), none)
    pandas.testing.assert_frame_equal(tem.estimate(frame, report=report, unknown=0.5, **how), some)
    assert tem.estimate(frame, **how)["expected"][0] < none["expected"][0]


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_estimate_asks_for_the_share_of_unknown_words(small, tmp_path):
    """Unless the prior has unknown words, or the run did not draw for them."""
    frame = pandas.DataFrame({"text": TEXTS})
    how = {"sets": {"a": ["the"]}, "epsilon": 2, "model": small}
    known, counts = tmp_path / "known.tsv", tmp_path / "counts.tsv"
    known.write_text("the\t3\nbad\t1\n")
    counts.write_text("the\t3\nzzz\t1\n")
    drawn = small.privatize_report(TEXTS, epsilon=2)[1]
    for prior in ("zipf", "zipf:0", 0.5, known, ["the bad movie"]):
        for report in (None, drawn):
            with pytest.raises(ValueError, match="unknown=SHARE"):
                tem.estimate(frame, prior=prior, report=report, **how)
        for share in (0, 0.25):
            tem.estimate(frame, prior=prior, unknown=share, **how)
    for policy in ("drop", "mask", "keep-unsafe"):
        report = small.privatize_report(TEXTS, epsilon=2, oov=policy)[1]
        pandas.testing.assert_frame_equal(tem.estimate(frame, prior="zipf", report=report, **how),
                                          tem.estimate(frame, prior="zipf", unknown=0, **how))
    pandas.testing.assert_frame_equal(tem.estimate(frame, prior=counts, **how),
                                      tem.estimate(frame, prior=counts, unknown=0.25, **how))
    with pytest.raises(TypeError, match="prior"):
        tem.estimate(frame, unknown=0, **how)


def test_estimate_refuses(small, tmp_path):
    frame = pandas.DataFrame({"text": TEXTS[:2], "label": ["a", None]})
    how = {"epsilon": 2, "model": small, "prior": "zipf", "unknown": 0}
    for sets in ({}, {"a": ["zzz"]}, {"a": ["the movie"]}, {"a": "the"}, {"a": []}):
        with pytest.raises(tem.ArgumentError):
            tem.estimate(frame, sets=sets, **how)
    good = {"a": ["the"]}
    with pytest.raises(tem.ArgumentError, match="no group"):
        tem.estimate(frame, sets=good, by="label", **how)
    with pytest.raises(tem.ArgumentError, match="no released word"):
        tem.estimate(pandas.DataFrame({"text": ["the", ""], "label": [1, 2]}), sets=good,
                     by="label", **how)
    with pytest.raises(tem.ArgumentError, match="no released word"):
        tem.estimate(frame[:0], sets=good, **how)
    with pytest.raises(tem.FormatError):
        tem.estimate(pandas.DataFrame({"text": ["Secret movie"]}), sets=good, **how)
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("praise\tgood\npraise great\n")
    with pytest.raises(tem.FormatError) as why:
        tem.estimate(frame, sets=lexicon, **how)
    assert why.value.line == 2 and json.dumps(str(why.value))

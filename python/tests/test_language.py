"""Public language models: objects of a user's own, files, and words that are never released.

The statistical tests compare draws with the exact law of `explain` (test_tokens.assert_law); each
says its number of draws and the probability of a false alarm.
"""
import copy
import gc
import gzip
import math
import pathlib
import pickle
import threading
import warnings
import weakref

import numpy
import pandas
import pytest
from conftest import SURE, WORDS
from test_tokens import assert_law, law_of

import tem
from tem import _cluster, _default, _language, _tem

TEXTS = ["the movie was great", "the film was bad", "an awful film", "paris was great"]


class Fixed:
    """Weighs by a rule of the past; notes what it was asked."""

    def __init__(self, rule):
        self.rule, self.pasts, self.threads = rule, [], set()

    def weights(self, past_ids):
        self.pasts.append(list(past_ids))
        self.threads.add(threading.get_ident())
        return self.rule(past_ids)


def ones(past):
    return [1] * len(WORDS)


def mixed(past):
    """Floats that differ after each past."""
    return [0.01 + ((7 * y + 3 * sum(past) + len(past)) % 13) / 13 for y in range(len(WORDS))]


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    path = tmp_path_factory.mktemp("public") / "texts.txt"
    path.write_text("\n".join(TEXTS * 5) + "\n")
    return path


@pytest.fixture(scope="module")
def trained(small, public):
    return tem.LanguageModel.train(small, public, order=3, name="small", origin="a test",
                                   license="none")


@pytest.fixture(scope="module")
def saved(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("language") / "small.temlm"
    trained.save(path)
    return path


# ---- an object of one's own ----

def test_one_question_for_each_word(small):
    """With the ids of the words that were released before, and nothing else; on one thread."""
    asked = Fixed(mixed)
    out = small.privatize(["the movie was zzz", "", "x was"], epsilon=1, language_model=asked,
                          threads=3, style="words")
    released = [[WORDS.index(word) for word in text.split()] for text in out]
    assert asked.pasts == [ids[:i] for ids in released for i in range(len(ids))]
    assert len(asked.pasts) == 6 and asked.threads == {threading.get_ident()}


def test_what_nobody_drew_is_negative(small):
    for text, options, kind in [
            ("zzz x", {"oov": "keep-unsafe"}, -1), ("zzz x", {"oov": "mask"}, -2),
            ("! x", {"punctuation": "keep"}, -3), ("\nx", {"keep_lines": True}, -4)]:
        asked = Fixed(ones)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tem.NotPrivateWarning)
            small.privatize(text, epsilon=1, language_model=asked, **options)
        assert asked.pasts == [[kind]]


def test_past_words(small):
    asked = Fixed(ones)
    asked.past_words = 2
    small.privatize("x x x x", epsilon=1, language_model=asked)
    assert [len(past) for past in asked.pasts] == [0, 1, 2, 2]


def test_the_law_is_that_of_the_weights(small):
    """a K / Z, by brute force, for whole numbers and for floats by the documented rule."""
    for rule in (mixed, lambda past: [1 + (5 * y + len(past)) % 7 for y in range(len(WORDS))]):
        for make in (list, numpy.array, tuple, lambda given: numpy.array(given, dtype="f4")):
            for past in ([], ["the"], ["great", "x", "the"]):
                given = make(rule([WORDS.index(word) for word in past]))
                if isinstance(given[0], (int, numpy.integer)):
                    weights = [int(weight) for weight in given]
                else:
                    most = max(map(float, given))
                    weights = [math.floor(2 ** 31 * (float(w) / most)) + 1 for w in given]
                found = small.explain("movie", 1.5, gamma=2, top=len(WORDS), after=past,
                                      language_model=Fixed(lambda _, given=given: given))
                sizes = [weight * math.exp(-found.s * min(small.distance("movie", word), 2))
                         for word, weight in zip(WORDS, weights)]
                law = {entry.word: entry.probability for entry in found.entries}
                for word, size in zip(WORDS, sizes):
                    assert law[word] == pytest.approx(size / sum(sizes), rel=1e-11)
                assert found.after == past
                shown = [entry.probability for entry in found.entries]
                assert shown == sorted(shown, reverse=True)  # the likeliest first


def test_draws_follow_the_law(small):
    """20,000 draws each; false alarm 1e-9."""
    asked = Fixed(mixed)
    for word in ("movie", "zzz"):
        out = small.privatize([word] * 20_000, epsilon=1, language_model=asked)
        assert_law(law_of(small, word, 1, language_model=asked), out)
    # the second word, where the first is "the"
    pairs = [pair.split() for pair in
             small.privatize(["the movie"] * 20_000, epsilon=2, language_model=asked,
                             style="words")]
    assert_law(law_of(small, "movie", 2, language_model=asked, after=["the"]),
               [second for first, second in pairs if first == "the"])


def test_all_weight_on_one_word(small):
    """Another one each time that somebody asks: each answer is the law of one word."""
    wanted = iter(range(1000))
    asked = Fixed(lambda past: numpy.eye(len(WORDS), dtype="i8")[next(wanted) % len(WORDS)])
    out = small.privatize(["the movie was great"] * 8, epsilon=9, language_model=asked,
                          style="words")
    assert " ".join(out).split() == [WORDS[i % len(WORDS)] for i in range(32)]


def test_excluded_words_weigh_nothing():
    model = tem.Model.build([[0.0], [1], [2]], ["a", "b", "c"], exclude=["b"])
    for weights in ([1, 2 ** 62, 1], [1.0, 1e300, 1.0], numpy.array([1.0, 1e300, 1.0])):
        law = law_of(model, "b", 1, language_model=Fixed(lambda past, given=weights: given))
        assert law["b"] == 0 and law["a"] == pytest.approx(0.5)


REFUSED = [
    ([math.nan] * len(WORDS), tem.RangeError, "NaN"),
    (numpy.full(len(WORDS), math.inf), tem.RangeError, "infinite"),
    ([-0.5] + [1.0] * (len(WORDS) - 1), tem.RangeError, "negative"),
    (numpy.full(len(WORDS), -1), tem.RangeError, "negative"),
    ([-1] * len(WORDS), tem.RangeError, "negative"),
    ([0.0] * len(WORDS), tem.RangeError, "all 0"),
    (numpy.zeros(len(WORDS)), tem.RangeError, "all 0"),
    ([0] * len(WORDS), tem.RangeError, "no output any weight"),
    (numpy.zeros(len(WORDS), dtype="i4"), tem.RangeError, "no output any weight"),
    ([2 ** 62] * len(WORDS), tem.RangeError, "2.63 or more"),
    ([2 ** 70] * len(WORDS), tem.RangeError, "2.63 or more"),
    ([1] * (len(WORDS) - 1), tem.ArgumentError, f"gave {len(WORDS) - 1} weights"),
    (numpy.ones((2, len(WORDS))), tem.ArgumentError, "weights: expected one for each"),
    (numpy.ones(len(WORDS), dtype=bool), tem.ArgumentError, "numbers, not bool"),
    (["1"] * (len(WORDS) - 1) + ["x"], tem.ArgumentError, "are numbers"),
    ("1" * len(WORDS), tem.ArgumentError, "array or a list"),
    (None, tem.ArgumentError, "array or a list"),
]


@pytest.mark.parametrize("given,kind,message", REFUSED)
def test_refused_weights(small, tmp_path, given, kind, message):
    """At the third word: nothing is released, and nothing is charged."""
    asked = Fixed(lambda past: given if len(past) == 2 else ones(past))
    ledger = tmp_path / "ledger"
    for texts in ("the movie was great", ["x", "the movie was great", "x"]):
        with pytest.raises(kind, match=message):
            small.privatize(texts, epsilon=1, language_model=asked)
    with pytest.raises(kind, match=message):
        small.privatize(["the movie was"], epsilon=1, language_model=asked, ledger=ledger)
    assert len(ledger.read_text().splitlines()) == 1  # the header, and no charge
    for call in (small.draw, lambda *a, **k: small.privatize_tokens([a[0]], **k)):
        with pytest.raises(kind, match=message):
            call(["the", "movie", "was"], epsilon=1, language_model=asked)


def test_exceptions_come_through(small):
    class Mine(Exception):
        pass

    def fail(past):
        raise Mine("sorry")

    for call in (lambda m: small.privatize("the movie", epsilon=1, language_model=m),
                 lambda m: small.privatize(["the movie"], epsilon=1, language_model=m, threads=4),
                 lambda m: small.draw(["the"], epsilon=1, language_model=m),
                 lambda m: small.explain("the", 1, language_model=m)):
        asked = Fixed(fail)
        with pytest.raises(Mine, match="sorry"):
            call(asked)
        assert len(asked.pasts) == 1
    assert small.privatize("the movie", **SURE) == "the movie"  # no exception is left behind


def test_an_object_is_collected():
    """Also if it holds the model, which holds the mechanism, which holds the object."""
    class Holder:
        def __init__(self, model):
            self.model = model

        def weights(self, past):
            return [1] * len(self.model)

    model = tem.Model.build([[0.0], [1]], ["a", "b"])
    asked = Holder(model)
    model.privatize(["a b"], epsilon=1, language_model=asked)
    assert len(model.privatize("a b", epsilon=1, language_model=asked).split()) == 2
    seen = weakref.ref(model), weakref.ref(asked)
    del model, asked
    gc.collect()
    assert [one() for one in seen] == [None, None]


# ---- files ----

def test_trained_saved_and_opened(small, trained, saved, public):
    opened = tem.LanguageModel.open(saved, small)
    assert opened == trained and opened.hash == trained.hash != "" and hash(opened) == hash(trained)
    assert (opened.name, opened.order, opened.path) == ("small", 3, str(saved))
    assert opened.info["origin"] == "a test" and opened.info["bigrams"] > 5
    assert opened.model is small and trained.path is None and "order 3" in repr(opened)
    with pytest.raises(tem.ExistsError):
        trained.save(saved)
    trained.save(saved, overwrite=True)
    assert copy.deepcopy(opened) is opened


def test_texts_or_paths(small, trained, public, tmp_path):
    """Texts, a path and a gzip file make the same model; several paths make the same n-grams, of
    other texts."""
    lines = public.read_text().splitlines()
    packed, half, other = (tmp_path / name for name in ("a.gz", "half", "other"))
    packed.write_bytes(gzip.compress(public.read_bytes()))
    half.write_text("\n".join(lines[:7]) + "\n")
    other.write_text("\n".join(lines[7:]) + "\n")
    how = {"order": 3, "name": "small", "origin": "a test", "license": "none"}
    for texts in (lines, tuple(lines), pandas.Series(lines), packed,
                  [line.replace(" ", "\n", 1) for line in lines]):
        assert tem.LanguageModel.train(small, texts, **how).hash == trained.hash
    halves = tem.LanguageModel.train(small, [half, other], **how)
    assert halves.hash != trained.hash  # it notes which texts it was made of
    assert halves.evaluate(TEXTS) == trained.evaluate(TEXTS)
    assert tem.LanguageModel.train(small, lines, **{**how, "order": 2}).hash != trained.hash
    with pytest.raises(TypeError, match="texts as str"):
        tem.LanguageModel.train(small, [1, 2])
    for wrong in ({"order": 4}, {"temper": 0}, {"temper": -1}, {"lift": 0.5}, {"name": "a\nb"}):
        with pytest.raises(tem.Error):
            tem.LanguageModel.train(small, lines, **wrong)


def test_evaluate(small, trained):
    found = trained.evaluate(TEXTS)
    assert (found.documents, found.words, found.unknown) == (4, 14, 0)
    assert 1 < found.perplexity < found.without
    assert trained.evaluate(["zzz the"]).unknown == 1
    with pytest.raises(tem.FormatError):
        trained.evaluate(["zzz"])
    with pytest.raises(tem.FormatError, match="surrogate"):
        trained.evaluate(["\ud800"])


def test_words_follow_it(small, trained):
    """20,000 draws; false alarm 1e-9. And it decides: at a small epsilon the output is public
    text."""
    pairs = [pair.split() for pair in
             small.privatize(["the movie"] * 20_000, epsilon=1, language_model=trained,
                             style="words")]
    assert_law(law_of(small, "movie", 1, language_model=trained, after=["the"]),
               [second for first, second in pairs if first == "the"])
    law = law_of(small, "x", 0.01, language_model=trained, after=["was"])
    assert law["great"] > 0.3 > law["movie"]


def test_trust(small, saved, state, monkeypatch):
    """A file that nobody here has made or verified is not opened."""
    (state / "tem" / "trusted").write_text("")
    monkeypatch.setattr(_language, "_default_model", lambda model: small)
    with pytest.raises(tem.UntrustedError, match=r"tem.LanguageModel.verify\("):
        tem.LanguageModel.open(saved)
    with pytest.raises(tem.UntrustedError):
        small.privatize("the movie", epsilon=1, language_model=saved)
    with pytest.raises(tem.UntrustedError, match="not the one"):
        tem.LanguageModel.open(saved, language_hash="0" * 64)
    known = tem.LanguageModel.verify(saved).hash
    assert tem.LanguageModel.open(saved, language_hash=known).hash == known
    assert small.privatize("the movie", epsilon=1, language_model=saved)


def test_damaged_files(small, saved, tmp_path):
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 1
    bad = tmp_path / "bad.temlm"
    bad.write_bytes(content)
    with pytest.raises(tem.Error):
        tem.LanguageModel.verify(bad, small)
    bad.write_bytes(b"what is this")
    with pytest.raises(tem.FormatError):
        tem.LanguageModel.open(bad, small)
    with pytest.raises(tem.NotFoundError):
        small.privatize("the movie", epsilon=1, language_model=tmp_path / "none.temlm")
    other = tem.Model.build([[0.0], [1]], ["a", "b"])
    with pytest.raises(tem.UnsupportedError):
        tem.LanguageModel.open(saved, other)
    with pytest.raises(tem.ArgumentError, match="other words"):
        other.privatize("a", epsilon=1, language_model=tem.LanguageModel.open(saved, small))


def test_pickled(small, trained, saved):
    opened = tem.LanguageModel.open(saved, small)
    assert pickle.loads(pickle.dumps(opened)) == opened
    with pytest.raises(tem.ArgumentError, match="save it"):
        pickle.dumps(trained)


def test_on_a_cluster(small, small_path, trained, saved, state, tmp_path):
    """The driver opens the file, and a worker, whose model is elsewhere, trusts it by its hash."""
    elsewhere = tmp_path / "elsewhere.tem"
    elsewhere.write_bytes(small_path.read_bytes())
    for language in (saved, tem.LanguageModel.open(saved, small)):
        recipe, nothing = _cluster.make_recipe(small, 1, 1, {"language_model": language,
                                                             "never": ["x"]})
        assert nothing.words == 0 and nothing.language_model_hash == trained.hash
        (state / "tem" / "trusted").write_text("")
        sent = pickle.loads(pickle.dumps(recipe))
        private, report = sent.privatize(TEXTS, str(elsewhere))
        assert report.words == 14 and len(private) == 4
        assert report.language_model_hash == trained.hash
        assert len(_cluster._open(str(elsewhere), small.hash, None)._mechanisms) == 1
        tem.LanguageModel.verify(saved, small)
    with pytest.raises(tem.ArgumentError, match="save it"):
        _cluster.make_recipe(small, 1, 1, {"language_model": trained})
    recipe = _cluster.make_recipe(small, 1, 1, {"language_model": saved})[0]
    moved = tmp_path / "moved.temlm"
    moved.write_bytes(saved.read_bytes())
    at_worker = pickle.loads(pickle.dumps(recipe))
    assert at_worker.language.path == str(saved)
    private, report = at_worker.privatize(TEXTS, str(small_path), str(moved))
    assert report.language_model_hash == trained.hash
    moved.write_bytes(b"what is this")
    with pytest.raises(tem.FormatError):
        at_worker.privatize(TEXTS, str(elsewhere), str(moved))
    other = tmp_path / "other.temlm"
    tem.LanguageModel.train(small, TEXTS, order=2).save(other)
    with pytest.raises(tem.DamagedError, match="not the language model that the driver opened"):
        small.privatize(TEXTS, epsilon=1, language_model=_language.Sent(
            str(other), recipe.options["language_model"].hash))


# ---- English ----

def test_english(default, small):
    """As the build makes it, and as the package makes it where there is none."""
    english = tem.LanguageModel.open("english")
    assert english.name == "english" and english.order == 3 and "Sphinx" in english.info["origin"]
    text = "my doctor says that the pain will not go away"
    private, report = default.privatize_report([text], 2, language_model="english",
                                               style="words")
    assert len(private[0].split(" ")) == 10
    assert (report.language_model, report.language_model_hash) == ("english", english.hash)
    law = law_of(default, "zzqz", 2, language_model="english", after=["one", "of"])
    assert law["the"] > 0.1 > law["of"]
    with pytest.raises(tem.UnsupportedError):
        small.privatize("the movie", epsilon=1, language_model="english")


def test_english_beside_a_named_model(default, state, tmp_path):
    """Its place vouches for it only beside the model whose place vouches for that."""
    english = tem.LanguageModel.open("english")
    for file in (default.path, english.path):
        (tmp_path / pathlib.Path(file).name).symlink_to(file)
    (state / "tem" / "trusted").write_text("")
    named = tem.Model.open(tmp_path / "default.tem", model_hash=default.hash)
    for use in (lambda: tem.LanguageModel.open("english", named),
                lambda: named.privatize("the movie", epsilon=1, language_model="english")):
        with pytest.raises(tem.UntrustedError, match=r"tem.LanguageModel.verify\('/.*/english"):
            use()
    assert tem.LanguageModel.verify(tmp_path / "english.temlm", named) == english
    assert tem.LanguageModel.open("english", named).path == str(tmp_path / "english.temlm")
    assert named.privatize("the movie", epsilon=1, language_model="english")


def test_english_in_the_cache(default, monkeypatch, tmp_path):
    english = tem.LanguageModel.open("english")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if not (pathlib.Path(tem.__file__).parent / _default.ENGLISH_NGRAMS).exists():
        pytest.skip("the package has no n-grams: it was not installed")
    found = _default.find_english(None, False)
    assert found.path.startswith(str(tmp_path / "cache")) and found.is_own
    made = _tem.open_language(default._handle, found.path, english.hash, False)
    assert made.info()["hash"] == english.hash
    pathlib.Path(found.path).chmod(0o666)
    with pytest.raises(tem.DamagedError, match="written by others"):
        _default.find_english(None, False)


# ---- everywhere ----

def test_containers_and_fronts(small, small_path, trained, saved):
    import tem.pandas
    import tem.sklearn
    from sklearn.base import clone

    series = pandas.Series(["the movie", None, "x"], index=[3, 5, 7])
    for language in (trained, saved, str(saved), Fixed(mixed)):
        how = {"epsilon": 1, "language_model": language}
        assert len(small.privatize("the movie", style="words", **how).split()) == 2
        assert list(small.privatize(series, **how).index) == [3, 5, 7]
        assert [len(each) for each in small.privatize_tokens([["the"], ["a", "zzz"]], **how)] == [
            1, 2]
        assert small.draw_ids(numpy.array([[1, 2], [3, 4]]), **how).shape == (2, 2)
        assert small.privatize_report(["the movie"], **how)[1].private
        assert len(series.tem.privatize(model=small, **how)) == 3
        step = clone(tem.sklearn.Privatizer(model=small_path, **how))
        assert len(step.fit_transform(["the movie", "x"])) == 2
    seeded = {"epsilon": 1, "language_model": trained, "insecure_seed": 3}
    with pytest.warns(tem.NotPrivateWarning):
        assert (small.privatize(TEXTS, threads=1, **seeded)
                == small.privatize(TEXTS, threads=4, **seeded))


def test_learners_refuse_it(small, trained):
    """They take each word as drawn for itself."""
    released, report = small.privatize_report(TEXTS, epsilon=1, language_model=trained)
    with pytest.raises(tem.ArgumentError, match="language_model=None"):
        tem.estimate(pandas.DataFrame({"text": released}), sets={"a": ["movie"]}, epsilon=1,
                     prior="zipf", model=small, report=report)
    assert report.language_model == "small" and report.language_model_hash == trained.hash
    report = small.privatize_report(TEXTS, epsilon=1, language_model=Fixed(ones), never=["x"])[1]
    assert (report.language_model, report.language_model_hash, report.never) == ("Fixed", "", 1)
    plain = small.privatize_report(TEXTS, epsilon=1)[1]
    assert (plain.language_model, plain.language_model_hash, plain.never) == (None, None, None)


def test_a_report_charges_as_without(small, trained):
    plain = small.privatize_report(TEXTS, epsilon=2, gamma=2)[1]
    weighed = small.privatize_report(TEXTS, epsilon=2, gamma=2, language_model=trained)[1]
    assert (weighed.spent, weighed.spent_worst) == (plain.spent, plain.spent_worst)


def test_what_does_not_go_together(small, trained):
    for options, kind, message in [
            ({"order": "shuffled"}, tem.UnsupportedError, "leave out shuffling"),
            ({"order": "counts"}, tem.UnsupportedError, "leave out shuffling"),
            ({"weights": [1] * len(WORDS)}, tem.ArgumentError, "weighs the outputs itself"),
            ({"calibrated": True}, tem.ArgumentError, "leave out one"),
            ({"mechanism": "madlib"}, tem.UnsupportedError, "takes no language model")]:
        for language in (trained, Fixed(ones)):
            with pytest.raises(kind, match=message):
                small.privatize("the movie", epsilon=1, language_model=language, **options)
    for wrong in (3, ["x"], object(), trained.evaluate):
        with pytest.raises(TypeError, match="language_model must be"):
            small.privatize("the movie", epsilon=1, language_model=wrong)
    with pytest.raises(tem.ArgumentError, match="no language model"):
        small.explain("the", 1, after=["movie"])
    for after, message in (("the movie", "not one text"), (["zzz"], "does not have"),
                           (["the movie"], "2 words")):
        with pytest.raises(tem.ArgumentError, match=message):
            small.explain("the", 1, language_model=trained, after=after)
    with pytest.raises(TypeError, match="made by"):
        tem.LanguageModel()


def test_warnings(small, trained):
    """With a language model, by the same law without one: the warnings say so."""
    model = tem.Model.open(small.path)
    for language in (trained, Fixed(ones)):
        with pytest.warns(tem.PrivacyWarning, match="without the language model") as caught:
            model.privatize("movie", epsilon=50, language_model=language)
        told = [str(warning.message) for warning in caught
                if warning.category is tem.PrivacyWarning]
        assert len(told) == 2 and "nearly no privacy" in told[0] and "unchanged" in told[1]
        assert not any("choose(" in message for message in told)


def test_an_unknown_word_has_no_distance(small, trained):
    """Where there is no gamma."""
    for options in ({"mechanism": "coin"}, {"language_model": trained, "mechanism": "coin"}):
        found = small.explain("zzz", 1, top=2, **options)
        assert all(math.isnan(entry.distance) for entry in found.entries)
        assert "        -  0." in str(found)
    assert small.explain("zzz", 1, gamma=3, top=1).entries[0].distance == 3
    assert small.explain("movie", 1, mechanism="coin", top=1).entries[0].distance == 0


def test_its_own_text(small, tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("the movie was great good\nthe film was an awful\n" * 3)
    own = tem.LanguageModel.train(small, path, order=2)
    with pytest.warns(tem.PrivacyWarning, match="lines of the text that the language model"):
        small.privatize("The movie: was great good!", epsilon=1, language_model=own)
    with pytest.warns(tem.PrivacyWarning, match="lines of the text that the language model"):
        small.privatize(["the movie was great GOOD", "The film was an awful", "x"], epsilon=1,
                        language_model=own)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tem.PrivacyWarning)
        small.privatize(["the movie was great good", "the film was great", "x"], epsilon=1,
                        language_model=own)


# ---- words that are never released ----

def test_never(small, trained):
    """20,000 draws each; false alarm 1e-9."""
    for language in (None, trained, Fixed(mixed)):
        law = law_of(small, "movie", 1, never=["The", "movie"], language_model=language)
        assert law["the"] == law["movie"] == 0 and math.isclose(sum(law.values()), 1)
        out = small.privatize(["movie"] * 20_000, epsilon=1, never=("the", "movie"),
                              language_model=language)
        assert_law(law, out)
    with pytest.warns(UserWarning, match="never: 1 of 2"):
        small.privatize("movie", epsilon=1, never={"zzz", "bad"})
    with pytest.raises(tem.ArgumentError, match="never: give a list"):
        small.privatize("movie", epsilon=1, never="movie")
    with pytest.raises(tem.RangeError):
        small.privatize("movie", epsilon=1, never=WORDS)

"""Texts: the same draws as the library's, in every container, with any number of threads."""
import collections
import contextlib
import ctypes
import fcntl
import functools
import gc
import inspect
import json
import math
import multiprocessing
import os
import re
import shutil
import signal
import sys
import threading
import time
import tracemalloc
import warnings

import numpy
import pandas
import pyarrow
import pytest
from conftest import SURE, WORDS

import tem

pytestmark = pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")

TEXTS = ["The movie was great, the film was not.", "", "It's naïve: café, CAFÉ!",
         "bad\nawful movie", "αθήνα x", "<br />of to <b>do</b>", "zzz unknown words", "  "]


def test_the_same_draws_as_the_command(small, small_path, command):
    """A seed gives the same bytes, text by text."""
    lines = [text.replace("\n", " ") for text in TEXTS] * 50
    for options, flags in [({}, []), ({"oov": "mask", "punctuation": "keep"},
                                      ["--oov", "mask", "--punctuation", "keep"]),
                           ({"strip_tags": True, "oov": "drop", "punctuation": "word"},
                            ["--strip-tags", "--oov", "drop", "--punctuation", "word"]),
                           ({"gamma": 2.5}, ["--gamma", "2.5"]), ({"beta": 0.1}, ["--beta", "0.1"]),
                           ({"mechanism": "em"}, ["--mechanism", "em"]),
                           ({"mechanism": "madlib"}, ["--mechanism", "madlib"])]:
        expected = command("privatize", "-q", "-m", small_path, "--epsilon", "1.5",
                           "--insecure-seed", "42", *flags, stdin="\n".join(lines) + "\n")
        for threads in (1, 2, 7):
            found = small.privatize(lines, epsilon=1.5, insecure_seed=42,
                                    threads=threads, **options)
            assert found == expected.split("\n")[:-1], (options, threads)
    one = command("privatize", "-q", "-m", small_path, "--epsilon", "2", "--insecure-seed", "3",
                  stdin=TEXTS[0])
    assert small.privatize(TEXTS[0], epsilon=2, insecure_seed=3) + "\n" == one


def chi_square(found, expected):
    return sum((found[key] - e) ** 2 / e for key, e in expected.items())


@pytest.mark.parametrize("draw", ["one", "many"])
def test_draws_have_the_law(small, draw):
    """22 words, so 21 degrees of freedom: chance exceeds the threshold once in 10^7 runs."""
    count, epsilon = 40000, 1.2
    if draw == "one":
        drawn = [small.privatize("movie", epsilon=epsilon) for _ in range(count)]
    else:
        drawn = small.privatize(["movie"] * count, epsilon=epsilon)
    law = small.explain("movie", epsilon, top=len(small))
    assert math.isclose(sum(e.probability for e in law.entries), 1, rel_tol=1e-12)
    expected = {e.word: count * e.probability for e in law.entries}
    assert min(expected.values()) > 5
    assert chi_square(collections.Counter(drawn), expected) < 75


def test_unknown_words_are_drawn_from_all(small):
    count = 20000
    drawn = collections.Counter(small.privatize("zzz " * count, epsilon=3).split())
    expected = {word: count / len(WORDS) for word in WORDS}
    assert chi_square(drawn, expected) < 75


def test_policies(small):
    def private(text, **options):
        return small.privatize(text, **SURE, **options)
    assert private("The MOVIE, zzz") .split()[:2] == ["the", "movie"]
    assert private("the zzz movie", oov="drop") == "the movie"
    assert private("the zzz movie", oov="mask") == "the <unk> movie"
    assert private("the Zzz movie", oov="keep-unsafe") == "the zzz movie"
    assert private("the, movie!", punctuation="keep") == "the , movie !"
    assert len(private("the, movie!", punctuation="word").split()) == 4
    assert private("the<br />movie", strip_tags=True) == "the movie"
    assert private(" the\r\n\nmovie\n") == "the movie"
    assert private(" the\r\n\nmovie\n", keep_lines=True) == "the\n\nmovie\n"


UNBOUNDED = [({"oov": "drop"}, "left out"), ({"oov": "mask"}, "<unk>"),
             ({"oov": "keep-unsafe"}, "unknown words are released"),
             ({"punctuation": "keep"}, "punctuation is released"),
             ({"mechanism": "madlib"}, "Madlib"), ({"insecure_seed": 1}, "seed")]


@pytest.mark.parametrize("options, why", UNBOUNDED)
@pytest.mark.parametrize("text", ["the movie", "the zzz, movie!"])
def test_what_is_not_private_says_so(small_path, tmp_path, text, options, why):
    """Whatever the text: a warning, the report and the ledger say so, and tem keeps no budget."""
    model, ledger = tem.Model.open(small_path), tmp_path / "ledger"
    with pytest.warns(tem.NotPrivateWarning, match=f"the output is NOT private: .*{why}.*;"):
        report = model.privatize_report(text, epsilon=4, ledger=ledger, **options)[1]
    assert report.private is False and report.spent_worst is None and why in report.why_not_private
    assert json.loads(report.to_json())["why_not_private"] == report.why_not_private
    charge = json.loads(ledger.read_text().splitlines()[1])
    assert charge["private"] is False and charge["spent_worst"] is None
    with pytest.raises(tem.ArgumentError, match=f"no budget can be kept: .*{why}"):
        model.privatize(text, epsilon=4, ledger=tmp_path / "new", budget=99, **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("options", [{}, {"mechanism": "em"}, {"punctuation": "word"},
                                     {"strip_tags": True}])
def test_what_is_private_says_so(small_path, options):
    model = tem.Model.open(small_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tem.NotPrivateWarning)
        report = model.privatize_report("the zzz, movie!", epsilon=4, **options)[1]
    assert report.private is True and report.why_not_private is None
    assert report.spent_worst == report.words * report.epsilon_gamma


# ---- containers ----

def words_of(texts):
    return [None if text is None or text != text else len(text.split()) for text in texts]


def test_plain_containers(small):
    for kind in (list, tuple):
        texts = kind(["the movie", None, "x", float("nan"), pandas.NA])
        private = small.privatize(texts, epsilon=2)
        assert type(private) is kind and words_of(private) == [2, 0, 1, 0, 0]
        kept = small.privatize(texts, epsilon=2, missing="keep")
        assert words_of(kept[:4]) == [2, None, 1, None] and kept[4] is pandas.NA
    assert small.privatize([], epsilon=2) == [] and small.privatize((), epsilon=2) == ()
    assert type(small.privatize("", epsilon=2)) is str
    texts = ["x"]
    assert small.privatize(texts, epsilon=2) is not texts and texts == ["x"]


class Text(str):
    """A subclass of str."""


def test_subclasses_of_str(small):
    assert small.privatize(Text("x"), **SURE) == "x"
    assert small.privatize([Text("x")], **SURE) == ["x"]


@pytest.mark.parametrize("dtype", [object, "string", pandas.ArrowDtype(pyarrow.string()), "str"])
def test_series(small, dtype):
    texts = pandas.Series(["the movie", None, "x", "a of to"], index=[3, 1, 4, 1], name="review",
                          dtype=dtype)
    texts.attrs["first"] = "the movie"  # a note of a program about its texts
    private = small.privatize(texts, epsilon=2)
    assert list(private.index) == [3, 1, 4, 1] and private.name == "review"
    assert private.attrs == {} and texts.attrs == {"first": "the movie"}
    kept = small.privatize(texts, epsilon=2, missing="keep")
    assert kept.attrs == {}
    if dtype != "str":
        assert private.dtype == kept.dtype == texts.dtype
    assert words_of(private) == [2, 0, 1, 3]
    assert list(kept.isna()) == list(texts.isna()) and len(kept.iloc[0].split()) == 2


def test_series_of_other_things(small):
    objects = pandas.Series(["x", None, float("nan"), pandas.NA], dtype=object)
    assert list(small.privatize(objects, **SURE)) == ["x", "", "", ""]
    private = small.privatize(objects, missing="keep", **SURE)
    assert private[0] == "x" and private[1] is None and private[2] != private[2]
    assert private[3] is pandas.NA
    numbers = pandas.Series([float("nan")] * 2)  # a column without texts, as pandas reads it
    assert list(small.privatize(numbers, **SURE)) == ["", ""]
    assert small.privatize(numbers, missing="keep", **SURE).dtype == float
    assert len(small.privatize(pandas.Series([], dtype=object), epsilon=2)) == 0
    categories = small.privatize(pandas.Series(["x", "x", None], dtype="category"), **SURE)
    assert categories.dtype == object and list(categories[:2]) == ["x", "x"]
    with pytest.raises(TypeError, match=r"texts\[0\]"):
        small.privatize(pandas.Series([1, 2]), epsilon=2)
    with pytest.raises(TypeError, match="Index"):
        small.privatize(pandas.Index(["x"]), epsilon=2)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()])
def test_arrow(small, kind):
    array = pyarrow.array(["the movie", None, "x"], type=kind)
    keep = {"missing": "keep", **SURE}
    private = small.privatize(array, **SURE)
    assert private.type == kind and private.to_pylist() == ["the movie", "", "x"]
    sliced = small.privatize(array.slice(1), **keep)
    assert sliced.to_pylist() == [None, "x"]
    chunks = pyarrow.chunked_array([array, array.slice(1)])
    private = small.privatize(chunks, **keep)
    assert private.type == kind and [len(c) for c in private.chunks] == [3, 2]
    assert private.to_pylist() == chunks.to_pylist()
    coded = small.privatize(array.dictionary_encode(), **keep)
    assert coded.type == kind and coded.to_pylist() == array.to_pylist()
    for nulls in (pyarrow.nulls(2), pyarrow.chunked_array([pyarrow.nulls(1)] * 2)):
        private = small.privatize(nulls, **SURE)
        assert private.type == pyarrow.string() and private.to_pylist() == ["", ""]
        assert small.privatize(nulls, **keep).type == pyarrow.null()
    with pytest.raises(TypeError, match="int64"):
        small.privatize(pyarrow.array([1]), epsilon=2)


def test_numpy(small):
    objects = numpy.array([["the movie", None], ["x", "of"]], dtype=object)
    private = small.privatize(objects, **SURE)
    assert private.dtype == object and private.tolist() == [["the movie", ""], ["x", "of"]]
    assert (small.privatize(objects, missing="keep", **SURE) == objects).all()
    private = small.privatize(numpy.array(["the movie", "x"]), **SURE)
    assert private.dtype.kind == "U" and list(private) == ["the movie", "x"]
    with pytest.raises(TypeError, match="float64"):
        small.privatize(numpy.zeros(3), epsilon=2)


@pytest.mark.parametrize("texts", [b"bytes", 5, None, {"a": 1}, {"x"}, (t for t in "ab"), 1.5])
def test_containers_that_are_refused(small, texts):
    with pytest.raises(TypeError):
        small.privatize(texts, epsilon=2)


@pytest.mark.parametrize("item", [b"bytes", 5, ["x"], 1.5])
def test_items_that_are_refused(small, item):
    with pytest.raises(TypeError, match=r"texts\[1\]"):
        small.privatize(["x", item], epsilon=2)


# ---- texts ----

def test_surrogates_are_refused_without_the_text(small):
    for texts, place in [("secret \ud800", "character 7"),
                         (["x", "secret \ud800"], r"texts\[1\]: .* character 7"),
                         (("x", None, "ü secret \ud800\ud801"), r"texts\[2\]: .* character 9")]:
        with pytest.raises(tem.FormatError, match=f"{place}, counted from 0$") as caught:
            small.privatize(texts, epsilon=2)
        chain = [caught.value, caught.value.__cause__, caught.value.__context__]
        assert "secret" not in "".join(map(repr, chain)) and caught.value.status == "format"


def test_surrogates_of_words_and_people(small, tmp_path):
    with pytest.raises(tem.FormatError, match=r"words\[1\]: .* character 0"):
        tem.Model.build([[0.0], [1]], ["a", "\ud800"])
    with pytest.raises(tem.FormatError, match=r"by\[1\]: .* character 2"):
        small.privatize(["x", "x"], epsilon=2, ledger=tmp_path / "ledger",
                        by={"user": ["ann", "bo\udfff"]})
    with pytest.raises(tem.FormatError, match="found a lone surrogate: character 1"):
        small.explain("a\ud800", 2)


def test_odd_texts(small):
    assert small.privatize("x\0x", **SURE).split() == ["x", "x"]
    assert small.privatize("\0", epsilon=3) == ""
    assert small.privatize("αθήνα", **SURE) == "αθήνα"
    long = small.privatize("movie " * 300000, **SURE)
    assert len(long.split()) == 300000


@pytest.mark.parametrize("options", [
    {"epsilon": math.nan}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.inf},
    {"epsilon": 1e-300}, {"epsilon": 3, "beta": 0}, {"epsilon": 3, "beta": math.nan},
    {"epsilon": 3, "beta": 2}, {"epsilon": 3, "gamma": -1}, {"epsilon": 3, "gamma": 1e9},
    {"epsilon": 3, "beta": 0.1, "gamma": 1}, {"epsilon": 3, "oov": "keep"},
    {"epsilon": 3, "punctuation": "x"}, {"epsilon": 3, "mechanism": "x"},
    {"epsilon": 3, "missing": "null"},
    {"epsilon": 3, "threads": 0}, {"epsilon": 3, "insecure_seed": -1},
    {"epsilon": 3, "mechanism": "em", "gamma": 1}, {"epsilon": 3, "insecure_seed": 2 ** 64}])
def test_options_that_are_refused(small, options):
    with pytest.raises(tem.Error) as caught:
        small.privatize(["x"], **options)
    assert isinstance(caught.value, ValueError) and caught.value.detail


def test_options_of_wrong_types(small):
    for options in ({"epsilon": "3"}, {"epsilon": None}, {"epsilon": [3]}, {},
                    {"epsilon": 3, "x": 1}, {"epsilon": 3, "oov": None},
                    {"epsilon": 3, "progress": 5}, {"epsilon": 3, "threads": 1.5},
                    {"epsilon": 3, "insecure_seed": 1.5}):
        with pytest.raises((TypeError, ValueError)):
            small.privatize(["x"] * 10, **options)


def test_numbers_of_other_types(small):
    for epsilon in (90, 90.0, numpy.float32(90), numpy.int64(90)):
        assert small.privatize("x", epsilon=epsilon, gamma=1) == "x"
    seeded = {tuple(small.privatize(["movie"] * 20, epsilon=1, insecure_seed=kind(7),
                                    threads=numpy.int64(2))) for kind in (int, numpy.uint64)}
    assert len(seeded) == 1
    assert len(small._mechanisms) <= 8


# ---- warnings ----

def test_warnings(small, medium):
    """Warns where the command warns, once for each mechanism, at the line of the call."""
    model = tem.Model.open(small.path)
    for call in (model.privatize, model.privatize_report):
        with pytest.warns(tem.PrivacyWarning, match=r"more than about 99\.\d+ % of the time.*"
                          "nearly no privacy") as caught:
            call(["movie"], epsilon=50 if call == model.privatize else 51)
        assert {warning.filename for warning in caught} == {__file__}
        assert len(caught) == 2  # in most cases the median word stays itself, too
        assert re.search(r"itself about 9\d\.\d % of the time: most", str(caught[1].message))
    with pytest.warns(tem.UtilityWarning, match="nearly no text"):
        medium.privatize("w1", epsilon=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", tem.NotPrivateWarning)  # Madlib
        for epsilon, mechanism in ((50, "tem"), (51, "tem"), (1, "tem"), (50, "madlib")):
            model.privatize("movie", epsilon=epsilon, mechanism=mechanism)


def test_warns_of_another_language(small):
    foreign = ["Der Film war wunderbar"] * 5
    one = " ".join(foreign)
    for texts in (foreign, one, one):  # the second time goes a short way
        with pytest.warns(tem.UtilityWarning, match="not in the language of the model") as caught:
            small.privatize(texts, epsilon=1)
        assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(tem.UtilityWarning, match="not in the language of the model") as caught:
        small.privatize_report(one, epsilon=1)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small.privatize(foreign[:4], epsilon=1)  # 16 words say too little
        small.privatize(" ".join(foreign[:4]), epsilon=1)
        small.privatize(["the movie was great zzz"] * 20, epsilon=1)


# ---- the keywords ----

def test_keywords_are_written_once(small):
    """Every front has the keywords, with their types and defaults, of one definition."""
    import tem.dask
    import tem.datasets
    import tem.pandas
    import tem.sklearn
    import tem.spacy
    import tem.spark
    from tem import _options

    fronts = {tem.Model.privatize: _options.ALL, tem.Model.privatize_report: _options.ALL,
              tem.pandas.Accessor.privatize: _options.ALL,
              tem.pandas.Accessor.privatize_report: _options.ALL,
              tem.datasets.privatize_batch: _options.ALL,
              tem.sklearn.Privatizer.__init__: ("epsilon", *_options.SETTINGS),
              tem.spacy.make_privatizer: tem.spacy.CONFIGURED,
              tem.spark.privatize: _options.POLICIES, tem.spark.privatize_to: _options.POLICIES,
              tem.dask.privatize: _options.POLICIES, tem.dask.privatize_to: _options.POLICIES}
    for front, names in fronts.items():
        shown = inspect.signature(front).parameters
        assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in shown.values()}
        for name in names:
            kind, option = _options.ALL[name]
            assert shown[name].annotation == kind and shown[name].default == option.default, name
        assert "{options}" not in front.__doc__
    for name, (_, option) in _options.ALL.items():
        assert f"{name}: {option.meaning[:20]}" in tem.Model.privatize.__doc__
    # What is left out is the default: the same words from the same seed.
    plain = small.privatize(["the movie"] * 9, epsilon=1, insecure_seed=5)
    assert plain == small.privatize(["the movie"] * 9, **{**_options.DEFAULTS, "epsilon": 1,
                                                          "insecure_seed": 5})


def test_keywords_that_are_none(small):
    import tem.datasets
    import tem.sklearn

    calls = [functools.partial(small.privatize, "x"), functools.partial(small.privatize, ["x"]),
             functools.partial(small.privatize_report, "x"), tem.sklearn.Privatizer,
             functools.partial(tem.datasets.privatize_batch, "text")]
    small.privatize("x", epsilon=3)
    for call in calls:
        with pytest.raises(TypeError, match="'punctation': did you mean 'punctuation'"):
            call(epsilon=3, punctation="keep")
        with pytest.raises(TypeError, match="epsilon"):
            call()
    with pytest.raises(TypeError, match="there are epsilon, beta"):
        small.privatize("x", epsilon=3, x=1)
    with pytest.raises(tem.ArgumentError, match="by"):  # it has no hash
        small.privatize("x", epsilon=3, by={"user": ["ann"]})


# ---- the report ----

def test_report_of_another_version(small):
    """Keys that are not known are skipped; another version is refused."""
    report = small.privatize_report("the movie", epsilon=2)[1]
    assert report.report == "tem 1" and report.dry_run is False
    later = json.dumps({**report.to_dict(), "weather": "fine"})
    assert tem.Report.from_json(later) == report == tem.Report.from_json(report.to_json())
    with pytest.raises(tem.VersionError, match="tem 1"):
        tem.Report.from_json(later.replace("tem 1", "tem 2"))


def test_report_is_the_commands(small, small_path, command, tmp_path):
    lines = [text.replace("\n", " ") for text in TEXTS]
    for options, flags in [({}, []), ({"oov": "keep-unsafe", "punctuation": "keep"},
                                      ["--oov", "keep-unsafe", "--punctuation", "keep"]),
                           ({"mechanism": "madlib"}, ["--mechanism", "madlib"]),
                           ({"missing": "keep", "keep_lines": True},
                            ["--missing", "keep", "--keep-lines"]),
                           ({"order": "shuffled"}, ["--shuffle"]),
                           ({"order": "counts"}, ["--counts"]),
                           ({"insecure_seed": 1}, ["--insecure-seed", "1"])]:
        path = tmp_path / "report.json"
        command("privatize", "-q", "-f", "-m", small_path, "--epsilon", "1.5", "--report", path,
                *flags, stdin="\n".join(lines) + "\n")
        expected = json.loads(path.read_text())
        private, report = small.privatize_report(lines, epsilon=1.5, **options)
        assert len(private) == len(lines)
        found = json.loads(report.to_json())
        assert expected.pop("time")[:10] == found.pop("time")[:10]
        assert (expected.pop("format"), found.pop("format")) == ("text", None)
        assert found == expected
    assert "<table>" in report._repr_html_() and "words=" in repr(report)


def test_words_without_order(small):
    """The words of the same run with the order kept, in another order or counted."""
    texts = [" ".join(["the movie was great"] * 20), "", "film"]
    kept, shuffled, counted = (small.privatize(texts, epsilon=2, insecure_seed=3, order=order)
                               for order in ("kept", "shuffled", "counts"))
    assert kept == small.privatize(texts, epsilon=2, insecure_seed=3) != shuffled
    for before, after, counts in zip(kept, shuffled, counted):
        words = sorted(before.split())
        assert sorted(after.split()) == words
        assert list(json.loads(counts).items()) == [(w, words.count(w)) for w in sorted(set(words))]
    assert sorted(small.privatize("the movie", epsilon=2, order="shuffled")) != []
    for wrong in ({"order": "random"}, {"order": "shuffled", "keep_lines": True},
                  {"order": "counts", "oov": "mask"},
                  {"order": "shuffled", "punctuation": "keep"}):
        with pytest.raises(tem.ArgumentError):
            small.privatize(texts, epsilon=2, **wrong)


def test_report_of_missing_texts(small):
    """A missing text that becomes "" is a document, like ""; one that stays is not."""
    reports = [small.privatize_report(["the movie", text], epsilon=2)[1] for text in (None, "")]
    assert reports[0].documents == reports[1].documents == 2 and reports[0].words == 2
    private, report = small.privatize_report(["the movie", None], epsilon=2, missing="keep")
    assert report.documents == 1 and report.words == 2 and report.spent == 4 and report.private
    assert (report.missing, reports[0].missing, report.keep_lines) == ("keep", "empty", False)
    one, report = small.privatize_report("the movie", epsilon=2)
    assert len(one.split()) == 2 and report.documents == 1


# ---- threads and processes ----

def test_python_threads_share_a_model(small):
    results = []

    def work():
        results.append([small.privatize("movie film", epsilon=1 + i % 9) for i in range(500)])
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(text.split()) == 2 for result in results for text in result)
    assert len(results) == 8 and len({tuple(r) for r in results}) == 8


def test_the_gil_is_released(small):
    """While a thread draws, another one runs, although no thread is forced to yield."""
    text, ticks, done = "movie " * 200000, [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=tick)
    try:
        thread.start()
        for call in (lambda: small.privatize(text, epsilon=1),
                     lambda: small.privatize([text], epsilon=1, threads=1)):
            begin = time.monotonic()
            call()
            assert sum(begin < moment < time.monotonic() for moment in ticks) >= 3
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)


def _draw(model, count):
    return model.privatize(["movie film bad good"] * count, epsilon=0.5)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_draw_different_words(small, method):
    small.privatize("warm", epsilon=0.5)  # so that there is a generator to inherit
    with multiprocessing.get_context(method).Pool(2) as pool:
        jobs = [pool.apply_async(_draw, (small, 50)) for _ in range(4)]
        drawn = [tuple(job.get(60)) for job in jobs] + [tuple(_draw(small, 50))]
    assert len(set(drawn)) == len(drawn)


def test_a_fork_of_one_call_draws_different_words(small):
    """Parent and child continue from the same state, word for word."""
    read, write = os.pipe()
    small.privatize("movie " * 10, epsilon=0.5)
    child = os.fork()
    if child == 0:
        os.write(write, small.privatize("movie " * 100, epsilon=0.5).encode())
        os._exit(0)
    mine = small.privatize("movie " * 100, epsilon=0.5)
    os.waitpid(child, 0)
    assert os.read(read, 65536).decode() != mine


# ---- stopping ----

def test_progress(small):
    calls = []
    small.privatize(["movie"] * 1000, epsilon=1, progress=lambda *call: calls.append(call))
    assert calls[-1] == ("privatizing", 1000, 1000)
    assert all(0 <= done <= total for _, done, total in calls)


class Stop(Exception):
    pass


def test_progress_can_stop(small):
    def stop(stage, done, total):
        raise Stop
    with pytest.raises(Stop):
        small.privatize(["movie"] * 100000, epsilon=1, threads=2, progress=stop)
    assert len(small.privatize("movie", epsilon=1).split()) == 1


def interrupt_after(seconds, call):
    """Calls, and sends Ctrl-C meanwhile; returns the seconds until the end."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    return time.monotonic() - begin


def test_interrupt_between_slow_texts(default):
    """Madlib takes 16 microseconds per word here: these texts take seconds."""
    texts = ["what a wonderful movie " * 1000] * 64
    assert interrupt_after(0.3, lambda: default.privatize(texts, epsilon=9, threads=1,
                                                          mechanism="madlib")) < 5


def test_interrupt(small):
    texts = ["movie " * 2000] * 20000
    assert interrupt_after(0.3, lambda: small.privatize(texts, epsilon=1, threads=2)) < 5


HUGE = "what a wonderful movie " * 150000  # ten seconds of Madlib


@pytest.mark.parametrize("texts", [
    HUGE, [HUGE], [HUGE, HUGE], ["x"] * 16 + [HUGE] + ["x"] * 31, ["x"] * 47 + [HUGE]])
def test_interrupt_within_a_huge_text(default, texts):
    """Also while the caller only waits for the thread that has the text."""
    call = functools.partial(default.privatize, texts, epsilon=9, threads=2, mechanism="madlib")
    assert interrupt_after(0.5, call) < 6


def test_a_fault_in_another_text_is_the_one_that_is_told(default):
    """The error is not that the huge text was stopped because of it."""
    begin = time.monotonic()
    with pytest.raises(tem.RangeError, match=r"^texts\[32\]: .*MiB"):
        default.privatize([HUGE] + ["x"] * 31 + ["a" * (17 << 20)], epsilon=9, threads=2,
                          mechanism="madlib")
    assert time.monotonic() - begin < 20


# ---- waiting ----

@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@contextlib.contextmanager
def locked(path):
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_interrupt_while_waiting_for_a_pipe(small, pipe):
    assert interrupt_after(0.3, lambda: tem.Model.build(pipe)) < 5
    assert interrupt_after(0.3, lambda: small.choose(self=0.5, prior=pipe)) < 5


def test_a_waiting_thread_leaves_the_others_alone(pipe):
    """It does not hold the GIL."""
    waiting = threading.Thread(target=lambda: tem.Model.build(pipe))
    waiting.start()
    time.sleep(0.2)
    assert waiting.is_alive() and sum(range(1000)) == 499500
    pipe.write_text("a 1 2\nb 2 1\n")
    waiting.join(20)
    assert not waiting.is_alive()


def test_interrupt_while_waiting_for_a_ledger(small, tmp_path):
    path = tmp_path / "ledger"
    small.privatize("movie", epsilon=1, ledger=path)
    before = path.read_bytes()
    with locked(path):
        assert interrupt_after(0.3, lambda: small.privatize("movie", epsilon=1, ledger=path)) < 5
    assert path.read_bytes() == before


def test_interrupt_while_waiting_for_certificates(small, tmp_path, state):
    path = tmp_path / "m.tem"
    shutil.copy(small.path, path)
    model = tem.Model.open(path)
    model.calibrate(1, weights="equal", save=True)
    with locked(f"{path}.cert"):
        assert interrupt_after(0.3, lambda: model.calibrate(2, weights="equal", save=True)) < 5
    assert sorted(file.name for file in tmp_path.iterdir() if "m.tem" in file.name) == [
        "m.tem", "m.tem.cert"]


# ---- memory ----

def resident():
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_nothing_leaks(small):
    texts = ["movie film " * 20, None, "bad"] * 20

    def work(rounds):
        for _ in range(rounds):
            small.privatize(texts, epsilon=2)
            small.privatize("movie film", epsilon=2)
            small.explain("movie", 2)
            for wrong in ("\ud800", ["x", 5]):
                with pytest.raises((tem.Error, TypeError)):
                    small.privatize(wrong, epsilon=2)
    work(50)
    gc.collect()
    tracemalloc.start()
    work(1)
    gc.collect()
    before, counts = tracemalloc.get_traced_memory()[0], [sys.getrefcount(t) for t in texts[:3]]
    memory = resident()
    work(300)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20000
    assert [sys.getrefcount(t) for t in texts[:3]][0] == counts[0]
    assert resident() - memory < 4 << 20


def test_models_and_mechanisms_are_freed(vectors):
    def work(rounds):
        for i in range(rounds):
            model = tem.Model.build(vectors, WORDS)
            model.privatize(["x"], epsilon=1 + i)
            model.audit(1 + i)
            del model
    work(20)
    gc.collect()
    memory = resident()
    work(200)
    gc.collect()
    assert resident() - memory < 4 << 20


def test_few_mechanisms_are_kept(small_path):
    model = tem.Model.open(small_path)
    for i in range(100):
        model.privatize("x", epsilon=1 + i / 100)
    assert len(model._mechanisms) <= 8 and len(model._jobs) <= 64


def test_mechanisms_without_a_guarantee(small):
    """They are made only with leave, and the report has their numbers."""
    with pytest.raises(tem.ArgumentError, match="no guarantee"):
        small.privatize("the movie", epsilon=1, mechanism="custext")
    allowed = {"mechanism": "custext", "allow_no_guarantee": True}
    with pytest.warns(tem.NotPrivateWarning):
        report = small.privatize_report("the movie", epsilon=1, numbers={"k": 3}, **allowed)[1]
    assert report.numbers == "k=3" and not report.private and report.spent_worst is None
    with pytest.raises(tem.ArgumentError, match="no number of that name"):
        small.privatize("the movie", epsilon=1, numbers={"p": 3}, **allowed)


def test_listed_words(small):
    """They are folded as text is; words that the model does not have are counted."""
    plus = {"epsilon": 1, "mechanism": "santext-plus", "numbers": {"p": 0.0001}}
    for listed in (["Movie"], ["movie"], {"MOVIE"}):
        assert small.explain("movie", 1, mechanism="santext-plus",
                             listed=listed).self_probability == 1
        assert small.explain("film", listed=listed, **plus).self_probability > 0.99
    with pytest.warns(UserWarning, match="1 of 2"):
        small.explain("movie", listed=["movie", "xyzzy"], **plus)
    with pytest.raises(tem.ArgumentError, match="not one text"):
        small.explain("movie", listed="movie", **plus)
    with pytest.raises(tem.ArgumentError, match="needs a public list"):
        small.explain("movie", **plus)

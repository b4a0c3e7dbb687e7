"""Words that are cut already: tokens, lists of tokens, and ids of a tokenizer's vocabulary.

The statistical tests compare draws with the exact law of `explain` by a chi-square statistic; each
says its number of draws and the probability of a false alarm.
"""
import collections
import inspect
import threading

import numpy
import pandas
import pyarrow
import pytest
from conftest import SURE, WORDS
from scipy.stats import chi2

import tem
from tem import _options

FALSE_ALARM = 1e-9


def assert_law(law, drawn):
    """Whether draws follow the law: a chi-square test over all outputs that are expected five times
    or more, the others together."""
    counts, n = collections.Counter(drawn), len(drawn)
    expected = {key: n * p for key, p in law.items()}
    common = [key for key, number in expected.items() if number >= 5]
    bins = [(counts[key], expected[key]) for key in common]
    rest = n - sum(number for number, _ in bins), n - sum(number for _, number in bins)
    if rest[1] >= 5:
        bins.append(rest)
    statistic = sum((seen - number) ** 2 / number for seen, number in bins)
    assert statistic < chi2.isf(FALSE_ALARM, len(bins) - 1), (statistic, len(bins))
    assert not set(counts) - {key for key, p in law.items() if p > 0}


def law_of(model, word, epsilon, **options):
    entries = model.explain(word, epsilon, top=len(model), **options).entries
    return {entry.word: entry.probability for entry in entries}


# ---- tokens ----

def test_one_token_one_word(small):
    assert small.draw(["the", "movie", "was", "bad"], **SURE) == ["the", "movie", "was", "bad"]
    assert small.draw(("the", "film"), 90, gamma=1) == ("the", "film")
    assert small.draw([], 3) == []
    assert len(small.draw(["zzz", "", " ", "the movie", "!?", "the"], 1)) == 6


def test_tokens_are_folded_as_text(small):
    """NFC and case, U+2019 as an apostrophe; and a token is one piece, whatever is in it."""
    given = ["THE", " Movie\n", "CAFE\u0301", "it\u2019s", "N\u2019T"]
    assert small.draw(given, **SURE) == ["the", "movie", "caf\u00e9", "it's", "n't"]
    pieces = tem.Model.build([[0.0], [9], [18]], ["new york", "new", "york"])
    assert pieces.draw(["New York", "york"], **SURE) == ["new york", "york"]
    with pytest.warns(tem.NotPrivateWarning) as told:
        assert pieces.draw(["new york city"], oov="mask", **SURE) == ["<unk>"]  # not "new"
    assert told[0].filename == __file__


def test_the_law_of_a_token(small):
    """20,000 draws each; a false alarm in 10^-9 of the runs each."""
    for word in ("movie", "bad"):
        assert_law(law_of(small, word, 1), small.draw([word] * 20000, 1))
    assert_law(law_of(small, "zzz", 1), small.draw(["zzz"] * 20000, 1))
    weights = [5 if word == "film" else 1 for word in WORDS]
    assert_law(law_of(small, "movie", 1, weights=weights),
               small.draw(["movie"] * 20000, 1, weights=weights))


def test_no_token_passes_unseen(small):
    """A secret that the model does not have never comes out, whatever it looks like; nor does its
    case, spacing or script."""
    secrets = ["Xk7!", "4111-1111", "jane@example.org", "the movie was", "\u5317\u4eac", "THE.",
               "\t", "a" * 5000, "paris\u200b", "MOVIE MOVIE", ",", "\U0001f600"]
    for epsilon in (0.5, 90):
        drawn = small.draw(secrets * 50, epsilon)
        assert len(drawn) == 50 * len(secrets) and set(drawn) <= set(WORDS)
    documents = small.privatize_tokens([secrets, ["the", *secrets]], 1)
    assert [len(each) for each in documents] == [12, 13]
    assert set(sum(documents, [])) <= set(WORDS)


def test_policies_for_unknown_tokens(small):
    given = ["the", "Zzz", "movie"]
    for oov, expected in {"mask": ["the", "<unk>", "movie"], "drop": ["the", "movie"],
                          "keep-unsafe": ["the", "Zzz", "movie"]}.items():
        with pytest.warns(tem.NotPrivateWarning):
            fresh = tem.Model.open(small.path)
            assert fresh.draw(given, oov=oov, **SURE) == expected
        private, report = fresh.privatize_tokens_report([given], oov=oov, **SURE)
        assert private == [expected] and not report.private and report.oov == oov
        assert report.released_unseen == (oov == "keep-unsafe")
    with pytest.raises(tem.ArgumentError, match="drop"), pytest.warns(tem.NotPrivateWarning):
        small.draw(numpy.array(given), oov="drop", **SURE)
    with pytest.raises(tem.ArgumentError):
        small.draw(given, oov="no such policy", **SURE)


def test_report_and_ledger(small, tmp_path):
    documents = [["the", "zzz"], [], ["bad", ",", "film"]]  # of ann, bob and ann: bob owes nothing
    private, report = small.privatize_tokens_report(documents, 2)
    assert (report.documents, report.words, report.unknown, report.spent) == (3, 5, 2, 10)
    assert report.private and report.punctuation == "word" and report.special is None
    assert "special" not in report.to_dict()
    paid = {"epsilon": 2, "ledger": tmp_path / "ledger", "budget": 25}
    assert small.privatize_tokens_report(documents, **paid)[1].left == 15
    assert len(small.draw(["the"] * 5, **paid)) == 5
    with pytest.raises(tem.BudgetError):
        small.privatize_tokens([["the"] * 3], **paid)
    people = {"by": {"user": ["ann", "bob", "ann"]}, "ledger": tmp_path / "people", "budget": 10}
    report = small.privatize_tokens_report(documents, 2, **people)[1]
    assert report.people == 1 and report.left == 0
    with pytest.raises(tem.BudgetError):
        small.privatize_tokens(documents, 2, **people)


def test_missing_documents(small, tmp_path):
    given = [["the"], None, float("nan")]
    private, report = small.privatize_tokens_report(given, **SURE)
    assert private == [["the"], [], []] and report.documents == 3
    private, report = small.privatize_tokens_report(given, missing="keep", **SURE)
    assert private[:2] == [["the"], None] and private[2] != private[2] and report.documents == 1
    paid = {"ledger": tmp_path / "ledger", "by": {"user": ["ann", "bob", "bob"]}}
    assert small.privatize_tokens_report(given, 2, missing="keep", **paid)[1].people == 1
    with pytest.raises(TypeError, match="missing"):
        small.draw(["the"], 2, missing="keep")
    with pytest.raises(TypeError):
        small.draw(["the", None], 2)


def test_containers_of_tokens(small):
    words = ["the", "movie"]
    table = small.draw(numpy.array([words, ["bad", "film"]]), **SURE)
    assert table.tolist() == [words, ["bad", "film"]] and table.shape == (2, 2)
    series = small.draw(pandas.Series(words, index=[7, 8], name="x"), **SURE)
    assert list(series) == words and list(series.index) == [7, 8] and series.name == "x"
    assert small.draw(pyarrow.array(words), **SURE).to_pylist() == words


def test_containers_of_documents(small):
    documents = [["the", "movie"], ["bad"]]
    assert small.privatize_tokens(tuple(map(tuple, documents)), **SURE) == (("the", "movie"),
                                                                           ("bad",))
    column = pandas.Series(documents, index=[3, 4], name="tokens")
    column.attrs["secret"] = "the movie"
    private = small.privatize_tokens(column, **SURE)
    assert list(private) == documents and list(private.index) == [3, 4] and not private.attrs
    assert private.name == "tokens"
    for kind in (pyarrow.list_, pyarrow.large_list):
        arrow = pyarrow.array([*documents, None], type=kind(pyarrow.string()))
        private = small.privatize_tokens(arrow, **SURE)
        assert private.type == arrow.type and private.to_pylist() == [*documents, []]
    chunked = small.privatize_tokens(pyarrow.chunked_array([documents]), **SURE)
    assert chunked.to_pylist() == documents
    objects = numpy.empty(2, dtype=object)
    objects[:] = documents
    assert small.privatize_tokens(objects, **SURE).tolist() == documents
    table = small.privatize_tokens(numpy.array([["the", "movie"], ["bad", "film"]]), **SURE)
    assert table.tolist() == [["the", "movie"], ["bad", "film"]]
    inner = small.privatize_tokens([numpy.array(["the", "bad"])], **SURE)
    assert isinstance(inner[0], numpy.ndarray) and inner[0].tolist() == ["the", "bad"]


def test_tokens_that_are_refused(small):
    for wrong in ("the movie", 7, None, [1, 2], ["the", b"x"], {"the": 1}):
        with pytest.raises(TypeError):
            small.draw(wrong, 2)
    for wrong in ("the movie", ["the movie"], [["the", 1]], 7, numpy.zeros((2, 2)),
                  pyarrow.array([1])):
        with pytest.raises(TypeError):
            small.privatize_tokens(wrong, 2)
    with pytest.raises(tem.FormatError) as refused:
        small.draw(["the", "secret\ud800"], 2)
    assert "secret" not in str(refused.value) and "tokens[1]" in str(refused.value)
    for call in (small.draw, small.privatize_tokens, small.draw_ids):
        with pytest.raises(TypeError, match="epsilon"):
            call([])
        with pytest.raises(TypeError, match="punctuation"):
            call([], 2, punctuation="keep")


def test_signatures(small):
    for call, names in {tem.Model.draw: _options.TOKEN_KEYWORDS,
                        tem.Model.privatize_tokens: _options.TOKEN_LIST_KEYWORDS,
                        tem.Model.privatize_tokens_report: _options.TOKEN_LIST_KEYWORDS,
                        tem.Model.draw_ids: _options.ID_KEYWORDS,
                        tem.Model.draw_ids_report: _options.ID_KEYWORDS}.items():
        assert set(names) < set(inspect.signature(call).parameters)
        assert "{options}" not in call.__doc__


def test_seeds_and_threads(small):
    documents = [["movie"] * 5000, ["bad"] * 5000]
    with pytest.warns(tem.NotPrivateWarning) as told:
        first = small.privatize_tokens(documents, 1, insecure_seed=5, threads=1)
    assert told[0].filename == __file__
    with pytest.warns(tem.NotPrivateWarning):
        assert small.privatize_tokens(documents, 1, insecure_seed=5, threads=3) == first
    assert small.privatize_tokens(documents, 1) != first


def test_the_gil_is_released(medium):
    """Another thread runs while tem draws: the law at this epsilon takes long to draw from."""
    done, ticks = threading.Event(), []

    def work():
        medium.draw(["w1"] * 300000, 0.1)
        done.set()
    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        ticks.append(1)
    thread.join()
    assert len(ticks) > 3


def test_progress_stops_the_draws(medium):
    def stop(stage, done, total):
        raise KeyError(stage)

    with pytest.raises(KeyError):
        medium.draw(["w1"] * 200000, 0.1, progress=stop)


# ---- ids ----

PAD, CLS, SEP, UNK = 0, 1, 2, 3
SPECIAL = [PAD, CLS, SEP]
COUNT = 60


@pytest.fixture(scope="module")
def over_ids():
    """Ids 0 to 3 are special tokens or unknown; [PAD] has a vector of zeros, as in PyTorch."""
    vectors = numpy.random.default_rng(3).normal(size=(COUNT, 8))
    vectors[PAD] = 0
    return tem.Model.from_embeddings(vectors, special_ids=SPECIAL, exclude_ids=[UNK])


def test_the_shape_stays(over_ids):
    given = numpy.array([[CLS, 10, 11, SEP, PAD, PAD], [CLS, 12, 13, 14, 15, SEP]])
    mask = (given != PAD).astype(int)
    for dtype in ("i8", "i4", "u2", "i2"):
        drawn = over_ids.draw_ids(given.astype(dtype), 1, attention_mask=mask, special_ids=SPECIAL)
        assert drawn.shape == given.shape and drawn.dtype == numpy.dtype(dtype)
        special = numpy.isin(given, SPECIAL)
        assert (drawn[special] == given[special]).all()
        assert not numpy.isin(drawn[~special], [*SPECIAL, UNK]).any()
    deep = numpy.full((2, 3, 4), 20)
    assert over_ids.draw_ids(deep, 1).shape == (2, 3, 4)
    assert given[0, 1] == 10  # the input is as it was
    assert over_ids.draw_ids(numpy.zeros((3, 0), "i8"), 1).shape == (3, 0)


def test_lists_of_ids(over_ids):
    drawn = over_ids.draw_ids([[CLS, 10, SEP], [CLS, SEP], []], 1, special_ids=SPECIAL)
    assert [len(row) for row in drawn] == [3, 2, 0] and drawn[1] == [CLS, SEP]
    assert type(drawn[0][1]) is int and drawn[0][0] == CLS
    flat = over_ids.draw_ids([10, 11], 1)
    assert isinstance(flat, list) and len(flat) == 2
    assert over_ids.draw_ids([], 1) == []


def test_the_law_of_an_id(over_ids):
    """20,000 draws each; a false alarm in 10^-9 of the runs each."""
    for number in (10, UNK):
        law = {int(word): p for word, p in law_of(over_ids, number, 1).items()}
        assert all(law[special] == 0 for special in (*SPECIAL, UNK))
        assert_law(law, over_ids.draw_ids(numpy.full(20000, number), 1, special_ids=SPECIAL))


def test_special_ids_only_by_the_public_list(over_ids):
    """Without the list special ids are drawn for, as all others are; a part of the list keeps only
    that part."""
    given = numpy.array([CLS, 10, SEP] * 200)
    drawn = over_ids.draw_ids(given, 1)
    assert not numpy.isin(drawn, [*SPECIAL, UNK]).any()
    drawn = over_ids.draw_ids(given, 1, special_ids=[CLS])
    assert (drawn[given == CLS] == CLS).all() and not (drawn == SEP).any()


def test_an_output_that_is_listed_as_special(over_ids):
    """Else nobody could tell whether a 10 was drawn or stayed."""
    with pytest.raises(tem.ArgumentError, match="this model draws 1"):
        over_ids.draw_ids([10, 11], 1, special_ids=[CLS, 10])


def test_attention_releases_nothing_unseen(over_ids):
    """A position with attention 0 must hold a special id."""
    given = numpy.array([[CLS, 10, 11, PAD]])
    with pytest.raises(tem.ArgumentError, match="1 positions.*unseen") as refused:
        over_ids.draw_ids(given, 1, special_ids=SPECIAL, attention_mask=[[1, 1, 0, 0]])
    assert "11" not in str(refused.value)
    with pytest.raises(tem.ArgumentError, match="unseen"):  # no list: nothing may stay
        over_ids.draw_ids(given, 1, attention_mask=[[1, 1, 1, 0]])
    for mask in ([[1, 1, 1]], [[1, 1], [1, 0]], [[1, 1, 1, 2]]):
        with pytest.raises(tem.ArgumentError):
            over_ids.draw_ids(given, 1, special_ids=SPECIAL, attention_mask=mask)


def test_ids_that_are_refused(over_ids):
    for wrong in ([-100, 10], [COUNT], numpy.array([2 ** 40])):
        with pytest.raises(tem.ArgumentError, match="1 ids are not of this model") as refused:
            over_ids.draw_ids(wrong, 1)
        assert "100" not in str(refused.value)
    for wrong in (7, numpy.array(7), ["x"], [[1.5]], numpy.zeros(3), [[1, [2]]]):
        with pytest.raises((TypeError, ValueError)):
            over_ids.draw_ids(wrong, 1)
    kept = over_ids.draw_ids([-100, 10], 1, special_ids=[-100])  # a public mark of the caller's
    assert kept[0] == -100
    for wrong in ([1.5], [None], ["1"]):
        with pytest.raises(TypeError):
            over_ids.draw_ids([10], 1, special_ids=wrong)
        with pytest.raises(TypeError):
            tem.Model.from_embeddings(numpy.eye(4), special_ids=wrong)


def test_a_dtype_that_cannot_hold_the_ids():
    """An int8 would turn the drawn id 256 into 0, which is special here."""
    wide = tem.Model.from_embeddings(numpy.random.default_rng(5).normal(size=(300, 4)),
                                     special_ids=[PAD])
    for dtype in ("i1", "u1"):
        with pytest.raises(tem.ArgumentError, match="cannot hold the ids"):
            wide.draw_ids(numpy.full(8, 7, dtype), 1, special_ids=[PAD])
    assert wide.draw_ids(numpy.full(8, 7, "i2"), 1, special_ids=[PAD]).min() > 0


def test_report_of_ids(over_ids, tmp_path):
    given = numpy.array([[CLS, 10, SEP, PAD], [CLS, 11, 12, SEP]])
    drawn, report = over_ids.draw_ids_report(given, 2, special_ids=SPECIAL)
    assert (report.words, report.documents, report.special, report.spent) == (3, 2, 5, 6)
    assert report.private and report.to_dict()["special"] == 5
    assert (report + report).special == 10 and tem.Report.from_json(report.to_json()) == report
    path = tmp_path / "ids.tem"
    over_ids.save(path)
    model = tem.Model.open(path)
    paid = {"ledger": tmp_path / "ledger", "budget": 5, "special_ids": SPECIAL}
    with pytest.raises(tem.BudgetError):
        model.draw_ids(given, 2, **paid)
    by = model.draw_ids_report(given, 2, by={"user": ["ann", "bob"]}, **paid)[1]
    assert by.people == 2 and by.left == 1


def test_a_saved_model_keeps_its_ids(over_ids, tmp_path):
    path = tmp_path / "ids.tem"
    over_ids.save(path)
    model = tem.Model.open(path)
    assert model.excluded == 4 and list(model.words) == [str(number) for number in range(COUNT)]
    assert model.draw_ids([CLS, 10], special_ids=SPECIAL, **SURE) == [CLS, 10]


def test_names_of_ids():
    rows = numpy.random.default_rng(3).normal(size=(8, 4))
    names = ["[PAD]", "\u0120the", "\n", "\u0120The", "", "\ud800x"]
    model = tem.Model.from_embeddings(rows, tokens=names, special_ids=[0])
    assert list(model.words) == ["[PAD]", "\u0120the", "<id 2>", "\u0120The", "<id 4>", "<id 5>",
                                 "<row 6>", "<row 7>"]
    assert model.excluded == 3  # [PAD], and the rows that have no token
    assert model.explain(3, 2).word == "\u0120The"
    same = tem.Model.from_embeddings(rows, tokens={name: i for i, name in enumerate(names)},
                                     special_ids=[0])
    assert list(same.words) == list(model.words)
    drawn = model.draw_ids(numpy.full(500, 1), 0.5, special_ids=[0])
    assert set(drawn.tolist()) <= {1, 2, 3, 4, 5}
    for wrong in ({"special_ids": [8]}, {"exclude_ids": [-1]}, {"special_ids": range(8)},
                  {"tokens": ["x"] * 9}, {"tokens": {"x": 8}}):
        with pytest.raises(tem.ArgumentError):
            tem.Model.from_embeddings(rows, **wrong)
    with pytest.raises(tem.ArgumentError):
        tem.Model.from_embeddings(rows[0])
    with pytest.raises(IndexError):
        model.explain(8, 2)


# ---- a tokenizer of Hugging Face ----

TEXTS = ["the movie was great", "a bad film of london", "the great film", "unbelievable ending",
         "great acting and a bad ending"]


@pytest.fixture(scope="module")
def wordpiece():
    """A WordPiece tokenizer, trained here: no download."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=80, special_tokens=["[PAD]", "[CLS]", "[SEP]", "[UNK]"], show_progress=False)
    made.train_from_iterator(TEXTS, trainer)
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    made.enable_padding(pad_id=0, pad_token="[PAD]")
    return made


def test_a_wordpiece_tokenizer(wordpiece):
    size = wordpiece.get_vocab_size()
    special = [wordpiece.token_to_id(token) for token in ("[PAD]", "[CLS]", "[SEP]")]
    embeddings = numpy.random.default_rng(1).normal(size=(size + 5, 16))  # padded, as models are
    model = tem.Model.from_embeddings(embeddings, tokens=wordpiece.get_vocab(), special_ids=special,
                                      exclude_ids=[wordpiece.token_to_id("[UNK]")])
    encoded = wordpiece.encode_batch(TEXTS)
    ids = numpy.array([each.ids for each in encoded])
    mask = numpy.array([each.attention_mask for each in encoded])
    assert (mask == 0).any()
    drawn, report = model.draw_ids_report(ids, 2, attention_mask=mask, special_ids=special)
    assert drawn.shape == ids.shape and drawn.max() < size
    assert report.words == int((~numpy.isin(ids, special)).sum())
    assert report.words + report.special == ids.size and report.documents == len(TEXTS)
    assert (numpy.isin(drawn, special) == numpy.isin(ids, special)).all()
    for row in drawn:  # what a model of language would read
        assert isinstance(wordpiece.decode(row.tolist()), str)
    # A word of k tokens costs k draws.
    pieces = wordpiece.encode("unbelievable", add_special_tokens=False).ids
    assert model.draw_ids_report([pieces], 2)[1].spent == 2 * len(pieces)
    same = model.draw_ids(ids, special_ids=special, attention_mask=mask, epsilon=200, gamma=0.3)
    assert (same == ids).all()
